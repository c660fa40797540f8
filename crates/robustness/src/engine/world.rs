//! A server on an in-memory file system, its clients, and what must hold after every step.

use super::{client::Client, flag::Flag};
use crate::choices::Choices;
use coax_logon::{
    accounts::{Accounts, User},
    text::Ascii,
};
use coax_server::{
    Connection, Held, Peer, Server,
    config::{Config, Limits, Security, Signing},
    memfs::{MemFs, MemOptions},
    share::{Share, ShareKind, ShareOptions},
    table::{Census, Exclusive, Tables},
    vfs::FsTime,
};
use coax_wire::time::{Span, Time};
use std::sync::{Arc, Mutex};

/// When it begins: midnight of 2026-11-21.
pub const START: Time = Time(1_795_219_200_000_000_000);
/// Most that one message may make the server queue for its client, bytes.
const MOST_QUEUED: usize = 8 << 20;

#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap());
    }
}

/// What differs between worlds.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's configuration.
    pub config: Config,
    /// The share's switches.
    pub share: ShareOptions,
    /// Room on the disk, bytes.
    pub capacity: u64,
    /// Shares have passwords.
    pub passwords: bool,
    /// What the disk's share is called.
    pub disk: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config: Config::default(),
            share: ShareOptions::default(),
            capacity: 64 << 20,
            passwords: false,
            disk: "DISK",
        }
    }
}

/// Caps low enough to be reached within a script.
pub const TIGHT: Limits = Limits {
    opens: 12,
    sessions: 3,
    trees: 4,
    searches: 4,
    parked: 3,
    transaction_bytes: 20_000,
};

impl Options {
    /// One of the ways to set up a server; takes one byte.
    pub fn from_choices(choices: &mut Choices<'_>) -> Self {
        let mut options = Self {
            capacity: 4 << 20,
            ..Self::default()
        };
        let bits = choices.u8();
        let bit = |n: u8| bits & (1 << n) != 0;
        if bit(0) {
            options.config.limits = TIGHT;
        }
        if bit(1) {
            options.config.security = Security::Share;
        }
        options.config.signing = match (bit(2), bit(3)) {
            (false, _) => Signing::Off,
            (true, false) => Signing::Offered,
            (true, true) => Signing::Required,
        };
        options.config.encrypt_passwords = !bit(4);
        options.share.strict_locking = !bit(5);
        options.share.fake_oplocks = bit(6);
        options.share.case_sensitive = bit(7);
        options.share.streams = bit(0) != bit(5);
        options.passwords = bit(7);
        options
    }

    /// A share, which guests may write to.
    fn share(&self, id: u32, name: &str, kind: ShareKind) -> Arc<Share> {
        let mut share = Share::for_guests(id, name, kind);
        share.admission.passwords.write = self.passwords.then(|| "Secret".into());
        share.options = self.share.clone();
        Arc::new(share)
    }
}

/// A server and its clients.
#[derive(Debug)]
pub struct World {
    /// The server.
    pub server: Arc<Server>,
    /// Its disk.
    pub fs: Arc<MemFs>,
    /// Its clients, gone ones too.
    pub clients: Vec<Client>,
    /// Now.
    pub now: Time,
}

impl World {
    /// A server with a disk (some files in it), the shares `PRINT` and `IPC$`, and a user `ann` with password `Secret`.
    pub fn new(options: Options) -> Self {
        let fs = Arc::new(disk(options.capacity));
        let mut accounts = Accounts::default();
        accounts
            .add(User::with_password("ann", "Secret", &Ascii))
            .unwrap();
        let spool = Arc::new(disk(1 << 20));
        let shares = vec![
            options.share(1, options.disk, ShareKind::Disk(fs.clone())),
            options.share(2, "IPC$", ShareKind::Ipc),
            options.share(3, "PRINT", ShareKind::Printer(spool)),
        ];
        let server = Server {
            config: options.config,
            shares,
            accounts,
            tables: Arc::new(Locked(Mutex::new(Tables::default()))),
        };
        Self {
            server: Arc::new(server),
            fs,
            clients: Vec::new(),
            now: START,
        }
    }

    /// Another client; its number.
    pub fn connect(&mut self) -> usize {
        let woken = Arc::new(Flag::default());
        let conn = Connection::new(
            self.server.clone(),
            woken.clone(),
            Peer::default(),
            *b"12345678",
        );
        self.clients.push(Client::new(conn, woken));
        self.clients.len() - 1
    }

    /// Gives the server a message of a client, and checks all there is to check. What the server sends is returned.
    pub fn give(&mut self, client: usize, message: &[u8]) -> Vec<Vec<u8>> {
        let now = self.now;
        let sender = &mut self.clients[client];
        if sender.gone {
            return Vec::new();
        }
        sender.note_sent(message);
        sender.conn.handle_message(now, message);
        let queued = sender.conn.held().queued_bytes;
        assert!(queued <= MOST_QUEUED, "one message queued {queued} bytes");
        let mut sent = self.settle();
        if self.clients[client].conn.is_closing() {
            self.disconnect(client);
        }
        std::mem::take(&mut sent[client])
    }

    /// Sends a request of this block with the client's header and returns what the server sends.
    pub fn request(&mut self, client: usize, command: u8, block: &[u8]) -> Vec<Vec<u8>> {
        let message = self.clients[client].message(command, block);
        self.give(client, &message)
    }

    /// Lets time pass, and what was due happen.
    pub fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        let now = self.now;
        self.fs.set_time(FsTime(now.unix_ns()));
        for client in self.clients.iter_mut().filter(|client| !client.gone) {
            if client.conn.poll_timeout().is_some_and(|due| due <= now) {
                client.conn.handle_timeout(now);
            }
        }
        self.settle();
        for client in self.clients.iter().filter(|client| !client.gone) {
            let due = client.conn.poll_timeout();
            assert!(
                due.is_none_or(|due| due > now),
                "the deadline does not advance: the driver would spin"
            );
        }
    }

    /// A client is gone: nothing of it stays.
    pub fn disconnect(&mut self, client: usize) {
        let now = self.now;
        let leaving = &mut self.clients[client];
        if !std::mem::replace(&mut leaving.gone, true) {
            leaving.conn.handle_disconnect(now);
            while leaving.conn.poll_transmit().is_some() {}
            let held = leaving.conn.held();
            let left = held.opens + held.searches + held.parked + held.transactions;
            assert_eq!(left, 0, "{held:?}");
            self.settle();
        }
    }

    /// All are gone: nothing stays at all.
    pub fn end(mut self) {
        for client in 0..self.clients.len() {
            self.disconnect(client);
        }
        assert_eq!(self.census(), Census::default());
    }

    /// Rows of the shared tables.
    pub fn census(&self) -> Census {
        self.server.locked(|tables| tables.census())
    }

    /// Wakes whoever is to be woken and takes what is to be sent until nothing moves any more.
    fn settle(&mut self) -> Vec<Vec<Vec<u8>>> {
        let mut sent: Vec<Vec<Vec<u8>>> = vec![Vec::new(); self.clients.len()];
        for round in 0.. {
            assert!(round < 1000, "clients wake each other endlessly");
            let mut moved = false;
            for (client, sent) in self.clients.iter_mut().zip(&mut sent) {
                let woken = client.woken.take() && !client.gone;
                if woken {
                    client.conn.handle_wake(self.now);
                }
                moved |= woken;
                while let Some(transmit) = client.conn.poll_transmit() {
                    let mut message = transmit.head;
                    message.extend(transmit.tail.into_bytes());
                    client.note_received(&message);
                    sent.push(message);
                    moved = true;
                }
                while client.conn.poll_event().is_some() {}
            }
            if !moved {
                break;
            }
        }
        self.check_limits();
        sent
    }

    fn check_limits(&self) {
        let limits = self.server.config.limits;
        let mut opens = 0;
        for client in self.clients.iter().filter(|client| !client.gone) {
            let Held {
                opens: own,
                sessions,
                trees,
                parked,
                searches,
                ..
            } = client.conn.held();
            assert!(
                own <= limits.opens && sessions <= limits.sessions,
                "{own} opens, {sessions} sessions"
            );
            assert!(
                trees <= limits.trees && parked <= limits.parked && searches <= limits.searches,
                "{trees} trees, {parked} parked, {searches} searches"
            );
            opens += own;
        }
        let census = self.census();
        assert!(
            census.opens <= opens,
            "{} opens in the table, {opens} in connections",
            census.opens
        );
        let present = self.clients.iter().filter(|client| !client.gone).count();
        assert_eq!(census.connections, present);
    }
}

fn disk(capacity: u64) -> MemFs {
    let fs = MemFs::with_options(MemOptions {
        capacity,
        ..MemOptions::default()
    });
    fs.set_time(FsTime(START.unix_ns()));
    for (path, contents) in [
        ("A.TXT", &b"hello"[..]),
        ("B.TXT", &[7; 5000]),
        ("Long file name.text", b"long"),
        ("DIR/INNER.DAT", &[1; 70_000]),
        ("DIR/SUB/DEEP.BIN", b""),
        ("prog.exe", b"MZ"),
    ] {
        fs.add_file(path, contents).unwrap();
    }
    fs
}
