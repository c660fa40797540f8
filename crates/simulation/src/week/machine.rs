//! A machine: when it is there, and what it does.

mod tasks;

use std::{collections::BTreeMap, sync::Arc};

use coax_server::{Connection, Event, Peer};
use coax_wire::time::Time;

use super::{
    office::Office,
    terms::{BEGIN, DAY, DEADTIME, Defect, Figures, HOUR, MINUTE, SECOND},
};
use crate::{
    client::Bell,
    op::{Op, Request},
    reply::{self, Message, Reply},
    rng::Rng,
    rules::PID,
    speak::{Speaker, block},
};

/// Failed log-ons are forgotten after 15 minutes without another one.
const FORGIVEN: u64 = 15 * MINUTE;

/// How a machine leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It closes everything and disconnects.
    Clean,
    /// The connection is lost, with files open and requests waiting.
    Lost,
    /// It closes its files and says nothing more: `deadtime` ends the connection.
    Silent,
}

/// A machine.
pub(crate) struct Machine {
    number: usize,
    nt: bool,
    /// When it does something next.
    next: u64,
    /// When a log-on from its address last failed.
    failed: Option<u64>,
    /// Numbers its connections.
    visits: u16,
    pub(crate) visit: Option<Visit>,
    /// Bytes that it knows were read and written.
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// Finished print jobs, whose command has not run yet.
    pub(crate) jobs: Vec<String>,
    /// The first word of the last answer.
    word: u16,
}

/// A connection.
pub(crate) struct Visit {
    pub(crate) conn: Connection,
    bell: Arc<Bell>,
    speaker: Speaker,
    uid: u16,
    tid: u16,
    printer: u16,
    mid: u16,
    /// FIDs with their trees.
    open: Vec<(u16, u16)>,
    /// Requests without an answer.
    pending: BTreeMap<u16, Request>,
    /// The last request.
    heard: u64,
    leaves: u64,
    manner: Manner,
    silent: bool,
}

impl Machine {
    pub(crate) fn new(number: usize, rng: &mut Rng) -> Self {
        Self {
            number,
            nt: rng.chance(70),
            next: BEGIN + 6 * HOUR + rng.below(3 * 3600) as u64 * SECOND,
            failed: None,
            visits: 0,
            visit: None,
            read: 0,
            written: 0,
            jobs: Vec::new(),
            word: 0,
        }
    }

    /// When it, or its connection, has something to do.
    pub(crate) fn next(&self, misses_timers: bool) -> u64 {
        let Some(visit) = &self.visit else {
            return self.next;
        };
        let timer = visit.conn.poll_timeout().filter(|_| !misses_timers);
        let own = if visit.silent { u64::MAX } else { self.next };
        let idle = visit.conn.is_idle().then_some(visit.heard + DEADTIME);
        let timers = timer.map(|time| time.0).into_iter().chain(idle);
        timers.chain([own]).min().unwrap_or(own)
    }

    pub(crate) fn is_woken(&self) -> bool {
        let visit = self.visit.as_ref();
        visit.is_some_and(|visit| visit.bell.is_set())
    }

    /// Delivers what other connections did to this one.
    pub(crate) fn wake(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        if let Some(visit) = &mut self.visit {
            visit.bell.take();
            visit.conn.handle_wake(Time(now));
            self.take(now, figures)?;
        }
        Ok(())
    }

    /// Lets waits end that are due, and a connection that is idle.
    pub(crate) fn expire(
        &mut self,
        now: u64,
        figures: &mut Figures,
        misses_timers: bool,
    ) -> Result<(), String> {
        let Some(visit) = &mut self.visit else {
            return Ok(());
        };
        let is_due = |visit: &Visit| visit.conn.poll_timeout().is_some_and(|time| time.0 <= now);
        if is_due(visit) && !misses_timers {
            visit.conn.handle_timeout(Time(now));
            if is_due(visit) {
                return Err(format!("a deadline of machine {} stays", self.number));
            }
            self.take(now, figures)?;
        }
        Ok(())
    }

    /// Does what it does now.
    pub(crate) fn act(
        &mut self,
        now: u64,
        rng: &mut Rng,
        (office, defect): (&Office, Option<Defect>),
        figures: &mut Figures,
    ) -> Result<(), String> {
        let Some(visit) = &self.visit else {
            return match now >= self.next {
                true => self.come(now, rng, office, figures),
                false => Ok(()),
            };
        };
        if visit.conn.is_idle() && now >= visit.heard + DEADTIME {
            figures.idle += 1;
            return self.end(now, rng, (office, None), figures);
        }
        if now < self.next || visit.silent {
            return Ok(());
        }
        if now < visit.leaves {
            self.next = now + SECOND * (20 + rng.below(600) as u64);
            return self.work(now, rng, figures);
        }
        match visit.manner {
            Manner::Lost => self.end(now, rng, (office, defect), figures),
            Manner::Clean => {
                self.close_all(now, figures)?;
                self.ask(now, Op::Disconnect, figures)?;
                self.ask(now, Op::LogOff, figures)?;
                self.end(now, rng, (office, None), figures)
            }
            Manner::Silent => {
                self.close_all(now, figures)?;
                self.ask(now, Op::Exit, figures)?;
                if let Some(visit) = &mut self.visit {
                    visit.silent = true;
                    // what it waits for is cancelled, so that the connection is idle
                    let waiting: Vec<Request> = visit.pending.values().cloned().collect();
                    for request in waiting {
                        let bytes = visit.speaker.cancel(&request);
                        visit.conn.handle_message(Time(now), &bytes);
                    }
                }
                self.take(now, figures)
            }
        }
    }

    fn come(
        &mut self,
        now: u64,
        rng: &mut Rng,
        office: &Office,
        figures: &mut Figures,
    ) -> Result<(), String> {
        self.visits = self.visits.wrapping_add(1);
        let bell = Arc::new(Bell::default());
        let peer = Peer {
            address: format!("10.0.0.{}:{}", self.number + 1, 1024 + self.visits % 60_000),
            number: u64::from(self.visits),
            ..Peer::default()
        };
        let conn = Connection::new(office.server.clone(), bell.clone(), peer, *b"12345678");
        let until_night = BEGIN + ((now - BEGIN) / DAY) * DAY + 22 * HOUR;
        let stays = MINUTE * (5 + rng.below(180) as u64);
        self.visit = Some(Visit {
            conn,
            bell,
            speaker: Speaker { nt: self.nt },
            uid: 0,
            tid: 0,
            printer: 0,
            mid: 0,
            open: Vec::new(),
            pending: BTreeMap::new(),
            heard: now,
            leaves: (now + stays).min(until_night + rng.below(3600) as u64 * SECOND),
            manner: rng.of([Manner::Clean, Manner::Lost, Manner::Silent]),
            silent: false,
        });
        self.next = now + SECOND;
        let hello = self.echo(0);
        let hello = self.speaker().negotiate(&hello);
        self.send(now, &hello, figures)?;
        self.log_on(now, rng, figures)
    }

    /// Logs on and connects a share and the printer.
    fn log_on(&mut self, now: u64, rng: &mut Rng, figures: &mut Figures) -> Result<(), String> {
        let user = rng.of([None, Some("ann"), Some("bob")]);
        let logged_on = self.ask(now, Op::LogOn { user }, figures)?;
        let is_forgiven = self.failed.is_none_or(|at| now > at + FORGIVEN);
        let Some(reply) = logged_on else {
            if user.is_some() && is_forgiven {
                return Err(format!(
                    "machine {} must wait for its log-on although it is forgiven",
                    self.number
                ));
            }
            // it gives up; another time
            return Ok(());
        };
        if let Some(visit) = &mut self.visit {
            visit.uid = reply.uid;
        }
        let tree = self.ask(now, Op::Connect { share: 0 }, figures)?;
        let name = b"\0\\\\COAX\\LASER\0?????\0";
        let printer = self.raw(now, 0x75, (&[0xff, 0, 0, 1], name), figures)?;
        if let Some(visit) = &mut self.visit {
            visit.tid = tree.map_or(0, |reply| reply.tid);
            visit.printer = printer.map_or(0, |reply| reply.tid);
        }
        Ok(())
    }

    /// The connection ends; a driver with a defect forgets it, or what it moved.
    fn end(
        &mut self,
        now: u64,
        rng: &mut Rng,
        (office, defect): (&Office, Option<Defect>),
        figures: &mut Figures,
    ) -> Result<(), String> {
        let Some(mut visit) = self.visit.take() else {
            return Ok(());
        };
        figures.connections += 1;
        let hour = (now - BEGIN) % DAY / HOUR;
        let later = match hour {
            0..20 => now + MINUTE * (1 + rng.below(90) as u64),
            _ => {
                BEGIN
                    + ((now - BEGIN) / DAY + 1) * DAY
                    + 6 * HOUR
                    + rng.below(3 * 3600) as u64 * SECOND
            }
        };
        self.next = later;
        if defect == Some(Defect::ForgottenConnection) && rng.chance(5) {
            return Ok(());
        }
        visit.conn.handle_disconnect(Time(now));
        let held = visit.conn.held();
        if (held.opens, held.parked, held.transactions) != (0, 0, 0) {
            return Err(format!("a connection that is gone still holds {held:?}"));
        }
        let moved = visit.conn.take_moved();
        if defect != Some(Defect::UncountedBytes) {
            office.count(moved);
        }
        Ok(())
    }

    fn close_all(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        let visit = self.visit.as_mut();
        let open = visit.map(|visit| std::mem::take(&mut visit.open));
        for (fid, tid) in open.unwrap_or_default() {
            let words = [fid, 0, 0];
            self.raw_on(now, (0x04, tid), (&words, b""), figures)?;
        }
        Ok(())
    }

    fn speaker(&self) -> Speaker {
        Speaker { nt: self.nt }
    }

    fn echo(&self, tid: u16) -> Request {
        let uid = self.visit.as_ref().map_or(0, |visit| visit.uid);
        Request {
            client: self.number,
            op: Op::Echo,
            uid,
            tid,
            pid: PID,
            mid: 0,
            arrived: 0,
            delivered: false,
            waited: false,
            cancelled: false,
            abandoned: false,
        }
    }

    /// Sends an operation; `None` if it waits.
    fn ask(&mut self, now: u64, op: Op, figures: &mut Figures) -> Result<Option<Reply>, String> {
        let tid = self.visit.as_ref().map_or(0, |visit| visit.tid);
        let mut request = self.echo(tid);
        request.op = op;
        request.mid = self.next_mid();
        let messages = self.speaker().messages(&request);
        let mid = request.mid;
        if let Some(visit) = &mut self.visit {
            visit.pending.insert(mid, request);
        }
        let mut answer = None;
        for message in messages {
            answer = self.send(now, &message, figures)?;
        }
        let answer = answer.filter(|(of, _)| *of == mid).map(|(_, reply)| reply);
        figures.waited += u64::from(answer.is_none());
        Ok(answer)
    }

    /// Sends a command with these words and bytes on the tree of the files.
    fn raw(
        &mut self,
        now: u64,
        command: u8,
        body: (&[u16], &[u8]),
        figures: &mut Figures,
    ) -> Result<Option<Reply>, String> {
        let tid = self.visit.as_ref().map_or(0, |visit| visit.tid);
        self.raw_on(now, (command, tid), body, figures)
    }

    fn raw_on(
        &mut self,
        now: u64,
        (command, tid): (u8, u16),
        (words, bytes): (&[u16], &[u8]),
        figures: &mut Figures,
    ) -> Result<Option<Reply>, String> {
        let mut request = self.echo(tid);
        request.mid = self.next_mid();
        let mut message = self.speaker().messages(&request).swap_remove(0);
        message.truncate(32);
        message[4] = command;
        message.extend(block(words, bytes));
        let answer = self.send(now, &message, figures)?;
        Ok(answer
            .filter(|(mid, _)| *mid == request.mid)
            .map(|(_, reply)| reply))
    }

    fn next_mid(&mut self) -> u16 {
        let Some(visit) = &mut self.visit else {
            return 0;
        };
        visit.mid = if visit.mid >= 0xff00 {
            1
        } else {
            visit.mid + 1
        };
        visit.mid
    }

    /// Sends a message and takes what comes back; the last answer.
    fn send(
        &mut self,
        now: u64,
        message: &[u8],
        figures: &mut Figures,
    ) -> Result<Option<(u16, Reply)>, String> {
        figures.requests += 1;
        if let Some(visit) = &mut self.visit {
            visit.heard = now;
            visit.conn.handle_message(Time(now), message);
        }
        self.take_last(now, figures)
    }

    fn take(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        self.take_last(now, figures).map(drop)
    }

    fn take_last(
        &mut self,
        now: u64,
        figures: &mut Figures,
    ) -> Result<Option<(u16, Reply)>, String> {
        let mut last = None;
        while let Some(visit) = &mut self.visit
            && let Some(transmit) = visit.conn.poll_transmit()
        {
            let raw = transmit.head.is_empty();
            let mut bytes = transmit.head;
            bytes.extend(transmit.tail.into_bytes());
            trace(figures, &bytes, now);
            let message = reply::parse(&bytes, raw).ok_or("a malformed message")?;
            if let Message::Answer { mid, reply } = message {
                let word = bytes.get(33..35).and_then(|word| word.first_chunk());
                self.word = word.map_or(0, |word| u16::from_le_bytes(*word));
                last = Some((mid, self.answered(mid, reply, &bytes)?));
            }
        }
        if let Some(visit) = &mut self.visit {
            while let Some(event) = visit.conn.poll_event() {
                if let Event::Printed { path, .. } = event {
                    figures.printed += 1;
                    self.jobs.push(path);
                }
            }
            visit.conn.take_acts();
            if visit.conn.is_closing() {
                return Err("the server closes a connection whose client did nothing wrong".into());
            }
        }
        Ok(last)
    }

    /// Learns from an answer.
    fn answered(&mut self, mid: u16, mut reply: Reply, bytes: &[u8]) -> Result<Reply, String> {
        let Some(visit) = &mut self.visit else {
            return Ok(reply);
        };
        let Some(request) = visit.pending.remove(&mid) else {
            return Ok(reply);
        };
        if reply.is_ok() && !reply.complete(&request, bytes) {
            return Err(format!("a malformed answer to {:?}", request.op));
        }
        if let Some(opened) = reply.opened.filter(|_| reply.is_ok()) {
            visit.open.push((opened.fid, request.tid));
        }
        self.read += reply.data.as_ref().map_or(0, |data| data.len() as u64);
        if reply.is_ok() && matches!(request.op, Op::Write { .. }) {
            self.written += reply.written as u64;
        }
        Ok(reply)
    }
}

/// FNV-1a.
fn trace(figures: &mut Figures, bytes: &[u8], now: u64) {
    for byte in bytes.iter().chain(&now.to_le_bytes()) {
        figures.trace = (figures.trace ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}
