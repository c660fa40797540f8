//! The simulated world: a server, its disks, its clients and one virtual clock.

mod answers;
mod end;

use crate::{
    client::{Client, Envelope, Kind},
    disk::Disk,
    model::{Check, Model, Moment},
    op::{Carrier, Op, Oplock, Request},
    rng::Rng,
    rules::{SHARES, USERS},
};
use coax_logon::{
    accounts::{Accounts, User},
    policy::Policy,
    text::Ascii,
};
use coax_server::{
    Server,
    config::Config,
    share::ShareKind,
    table::{Exclusive, Tables},
};
use coax_wire::time::Time;
use std::sync::{Arc, Mutex, PoisonError};

/// Midnight of 2026-11-21, ns: the start time of every program.
const BEGIN: u64 = 1_795_219_200_000_000_000;
/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests answered with success.
    pub succeeded: u64,
    /// Requests refused.
    pub refused: u64,
    /// Oplock breaks.
    pub breaks: u64,
    /// Requests that waited.
    pub waited: u64,
    /// Disk calls that failed.
    pub faults: u64,
    /// Disk calls.
    pub calls: u64,
    /// Virtual time, ns.
    pub time: u64,
    /// A hash of all bytes sent and received and of their times.
    pub trace: u64,
}

/// The world.
#[derive(Debug)]
pub struct World {
    server: Arc<Server>,
    /// The disks of the shares.
    pub disks: Vec<Disk>,
    /// The clients.
    pub clients: Vec<Client>,
    /// The model that judges the answers.
    pub model: Model,
    /// Requests without a final answer.
    pub pending: Vec<Request>,
    now: u64,
    wall: i64,
    figures: Figures,
    audited: Vec<u64>,
    faults_before: u64,
    /// A log of events in words, if requested.
    pub log: Option<Vec<String>>,
}

impl World {
    /// Creates the world of a seed: number of clients, dialects, limits, contents of the disks.
    #[must_use]
    pub fn new(rng: &mut Rng, verbose: bool) -> Self {
        let disks: Vec<Disk> = (0..SHARES.len())
            .map(|share| Disk::new(share as u64 + 1))
            .collect();
        let mut config = Config {
            encrypt_passwords: false,
            policy: Policy::anything(),
            ..Config::default()
        };
        config.limits.opens = rng.of([5, 8, 64]);
        let mut accounts = Accounts::default();
        for (name, password) in USERS {
            // The names are distinct constants.
            let _ = accounts.add(User::with_password(name, password, &Ascii));
        }
        let streams = rng.chance(20);
        let shares = SHARES
            .iter()
            .zip(&disks)
            .enumerate()
            .map(|(id, (rule, disk))| {
                let mut share = rule.share(
                    id as u32 + 1,
                    ShareKind::Disk(Arc::new(disk.faulty.clone())),
                );
                share.options.streams = streams;
                Arc::new(share)
            });
        let model = Model::new(config.limits.opens, config.oplock_break_timeout.0);
        let tables = Arc::new(Locked(Mutex::new(Tables::new(config.tables()))));
        let server = Arc::new(Server {
            shares: shares.collect(),
            config,
            accounts,
            tables,
        });
        let clients = (0..2 + rng.below(3))
            .map(|_| Client::new(&server, rng.chance(85)))
            .collect();
        // The first audit comes before any change, and learns the identities of the first files.
        let audited = vec![u64::MAX; disks.len()];
        let log = verbose.then(Vec::new);
        let mut world = Self {
            server,
            disks,
            clients,
            model,
            pending: Vec::new(),
            now: BEGIN,
            wall: BEGIN as i64,
            figures: Figures::default(),
            audited,
            faults_before: 0,
            log,
        };
        world.furnish();
        world
    }

    fn furnish(&mut self) {
        for (share, disk) in self.disks.iter().enumerate() {
            disk.set_time(self.wall);
            for path in ["DIR", "A.TXT", "RUN.EXE", "DIR/A.TXT", "BIG.BIN"] {
                let bytes = match path {
                    "DIR" => None,
                    "BIG.BIN" => Some((0..20_000u32).map(|at| (at % 251) as u8).collect()),
                    path => Some(path.as_bytes().to_vec()),
                };
                // An empty disk has no conflicting names.
                let _ = match &bytes {
                    Some(bytes) => disk.memory.add_file(path, bytes),
                    None => disk.memory.add_dir(path),
                };
                self.model.put(&(share, path.into()), bytes.as_deref());
            }
        }
    }

    /// The current time, ns.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Logs an event, if requested.
    pub fn tell(&mut self, words: impl FnOnce() -> String) {
        let at = (self.now - BEGIN) / MS;
        if let Some(log) = &mut self.log {
            log.push(format!("{at:>7} ms  {}", words()));
        }
    }

    fn trace(&mut self, bytes: &[u8]) {
        // FNV-1a.
        for byte in bytes.iter().chain(&self.now.to_le_bytes()) {
            self.figures.trace =
                (self.figures.trace ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Connects a client: negotiates, logs on and connects a share.
    ///
    /// # Errors
    /// The violated rule of the server's answers.
    pub fn connect(&mut self, client: usize, user: Option<&'static str>, share: usize) -> Check {
        let nt = self.clients[client].speaker.nt;
        if self.clients[client].gone {
            self.clients[client] = Client::new(&self.server, nt);
        }
        let request = self.request(client, Op::Echo, (0, 0, 1));
        let hello = self.clients[client].speaker.negotiate(&request);
        self.pending.retain(|pending| pending.client != client);
        self.trace(&hello);
        self.clients[client]
            .conn
            .handle_message(Time(self.now), &hello);
        while self.clients[client].conn.poll_transmit().is_some() {}
        self.send(client, Op::LogOn { user }, (0, 0, 1));
        self.deliver(client)?;
        let uid = self.clients[client]
            .sessions
            .first()
            .map_or(0, |session| session.0);
        self.send(client, Op::Connect { share }, (uid, 0, 1));
        self.deliver(client)
    }

    /// Ends a connection; messages in transit are lost.
    ///
    /// # Errors
    /// State that remains.
    pub fn disconnect(&mut self, client: usize) -> Check {
        self.tell(|| format!("client {client} is gone"));
        self.clients[client].conn.handle_disconnect(Time(self.now));
        self.clients[client].gone = true;
        self.pending.retain(|pending| pending.client != client);
        self.judge(client, |model, at| model.disconnected(client, at))?;
        let held = self.clients[client].conn.held();
        if (held.opens, held.parked, held.transactions) != (0, 0, 0) {
            return Err(format!("a connection that is gone still holds {held:?}"));
        }
        self.step_done()
    }

    /// Puts a request in transit.
    pub fn send(&mut self, client: usize, op: Op, ids: (u16, u16, u16)) -> u16 {
        let request = self.request(client, op, ids);
        let mid = request.mid;
        let from = &mut self.clients[client];
        let mut messages = from.speaker.messages(&request).into_iter();
        let bytes = messages.next().unwrap_or_default();
        let rest: Vec<_> = messages.collect();
        if !rest.is_empty() {
            from.pieces.insert(mid, rest);
        }
        from.outbox.push_back(Envelope {
            kind: Kind::Request(mid),
            request: request.clone(),
            bytes,
        });
        match &request.op {
            Op::Write {
                by: Carrier::Raw, ..
            } => from.raw = true,
            Op::Write { .. } | Op::SetLength { .. } => from.forget_cached(),
            _ => {}
        }
        self.pending.push(request);
        mid
    }

    fn request(&mut self, client: usize, op: Op, (uid, tid, pid): (u16, u16, u16)) -> Request {
        let mid = self.clients[client].next_mid();
        Request {
            client,
            op,
            uid,
            tid,
            pid,
            mid,
            arrived: 0,
            delivered: false,
            waited: false,
            cancelled: false,
            abandoned: false,
        }
    }

    /// Sends NT_CANCEL for a request.
    pub fn cancel(&mut self, request: &Request) {
        let from = &mut self.clients[request.client];
        let bytes = from.speaker.cancel(request);
        from.outbox.push_back(Envelope {
            kind: Kind::Cancel(request.mid),
            request: request.clone(),
            bytes,
        });
    }

    /// Sends the acknowledgement of a break.
    pub fn acknowledge(&mut self, client: usize, fid: u16, level: Oplock) {
        let Some(ids) = self.clients[client].file(fid).map(|file| file.ids) else {
            return;
        };
        let request = self.request(client, Op::Echo, ids);
        let from = &mut self.clients[client];
        from.acknowledged.push(request.mid);
        if let Some(file) = from.file(fid) {
            file.oplock = file.oplock.min(level);
        }
        let bytes = from.speaker.acknowledge(&request, fid, level);
        from.outbox.push_back(Envelope {
            kind: Kind::Acknowledge(fid, level),
            request,
            bytes,
        });
    }

    /// Lets the model judge an event at the current time.
    fn judge<T>(&mut self, client: usize, judge: impl FnOnce(&mut Model, Moment<'_>) -> T) -> T {
        let faults = self.disks.iter().map(Disk::faults).sum::<u64>() - self.faults_before;
        let at = Moment {
            now: self.now,
            faults,
            pending: &self.pending,
            nt: self.clients[client].speaker.nt,
        };
        judge(&mut self.model, at)
    }

    /// Delivers a client's next message to the server, which answers if it can.
    ///
    /// # Errors
    /// The violated rule of its answers.
    pub fn deliver(&mut self, client: usize) -> Check {
        self.drain(client)?;
        let Some(Envelope {
            kind,
            request,
            bytes,
        }) = self.clients[client].outbox.pop_front()
        else {
            return Ok(());
        };
        self.trace(&bytes);
        self.tell(|| format!("client {client} > {kind:?} {}", describe(&request)));
        let now = self.now;
        let known = self
            .pending
            .iter_mut()
            .find(|pending| (pending.client, pending.mid) == (client, request.mid));
        match (kind, known) {
            (Kind::Request(_), Some(known)) => (known.delivered, known.arrived) = (true, now),
            (Kind::Cancel(_), Some(known)) => known.cancelled |= known.delivered,
            (Kind::Acknowledge(fid, level), _) => {
                self.model.break_acknowledged(&request, fid, level)
            }
            _ => {}
        }
        self.clients[client].conn.handle_message(Time(now), &bytes);
        if kind == Kind::Piece(request.mid) && matches!(request.op, Op::Write { .. }) {
            self.clients[client].raw = false;
            self.clients[client].forget_cached();
            if matches!(request.op, Op::Write { through: false, .. }) {
                self.pending
                    .retain(|pending| (pending.client, pending.mid) != (client, request.mid));
                self.judge(client, |model, at| model.raw_data_taken(&request, at))?;
            }
        }
        self.take_answers(client, Some(request.mid))
    }

    /// Handles the pending events of the connection.
    ///
    /// # Errors
    /// The violated rule of its messages.
    pub fn drain(&mut self, client: usize) -> Check {
        if !self.clients[client].bell.take() || self.clients[client].gone {
            return Ok(());
        }
        self.clients[client].conn.handle_wake(Time(self.now));
        self.take_answers(client, None)
    }

    /// Handles the events of all connections until none is left.
    ///
    /// # Errors
    /// The violated rule of their messages, or a missing message.
    pub fn drain_all(&mut self) -> Check {
        const ENOUGH: usize = 10_000;
        for _ in 0..ENOUGH {
            let Some(client) = self.clients.iter().position(|client| client.bell.is_set()) else {
                return self.model.settled(&self.pending);
            };
            self.drain(client)?;
        }
        Err("connections wake each other for ever".into())
    }

    /// Advances the time; deadlines in between fire on time.
    ///
    /// # Errors
    /// The violated rule of the resulting messages.
    pub fn pass(&mut self, ns: u64) -> Check {
        self.drain_all()?;
        let until = self.now + ns;
        self.fire(until)?;
        self.advance(until);
        Ok(())
    }

    /// Fires the due deadlines.
    ///
    /// # Errors
    /// The violated rule of the resulting messages.
    pub fn fire_due(&mut self) -> Check {
        let due = |client: &Client| {
            client
                .conn
                .poll_timeout()
                .is_some_and(|time| time.0 <= self.now)
        };
        if self.clients.iter().any(due) {
            self.pass(0)
        } else {
            Ok(())
        }
    }

    fn fire(&mut self, until: u64) -> Check {
        const ENOUGH: usize = 10_000;
        for _ in 0..ENOUGH {
            let due = |client: &Client| client.conn.poll_timeout().map(|time| time.0);
            let next = (0..self.clients.len())
                .filter_map(|at| Some((due(&self.clients[at])?, at)))
                .min();
            let Some((time, client)) = next.filter(|(time, _)| *time <= until) else {
                return Ok(());
            };
            self.advance(time.max(self.now));
            self.clients[client].conn.handle_timeout(Time(self.now));
            self.take_answers(client, None)?;
            self.drain_all()?;
        }
        Err("a deadline that has passed stays due".into())
    }

    fn advance(&mut self, to: u64) {
        let passed = to.saturating_sub(self.now);
        self.now += passed;
        self.model.expire(self.now);
        self.step_wall(passed as i64);
    }

    /// Steps the wall clock, without the clock of the engine.
    pub fn step_wall(&mut self, ns: i64) {
        self.wall = self.wall.saturating_add(ns);
        self.disks.iter().for_each(|disk| disk.set_time(self.wall));
    }

    /// Ends a step of the server: applies the disk delays and compares the disks with the model.
    fn step_done(&mut self) -> Check {
        let delay: u64 = self.disks.iter().map(Disk::take_delay).sum();
        for share in 0..self.disks.len() {
            let changes = self.disks[share].changes();
            if self.audited[share] != changes {
                self.audited[share] = changes;
                self.model.audit(share, &self.disks[share].listing())?;
                self.disks[share].forget_calls();
            }
        }
        self.model.end_step();
        self.faults_before = self.disks.iter().map(Disk::faults).sum();
        if delay > 0 {
            // The events of other connections precede the delay.
            self.drain_all()?;
            self.now += delay;
        }
        Ok(())
    }
}

/// Describes a request in words.
fn describe(request: &Request) -> String {
    let mut op = format!("{:?}", request.op);
    if op.len() > 260 {
        op.truncate(op.floor_char_boundary(260));
        op.push('…');
    }
    format!(
        "{op} (UID {}, TID {}, PID {}, MID {})",
        request.uid, request.tid, request.pid, request.mid
    )
}
