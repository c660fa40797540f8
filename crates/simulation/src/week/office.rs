//! The server with its shares.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use coax_logon::{
    accounts::{Accounts, User},
    policy::Policy,
    text::Ascii,
};
use coax_server::{
    Server,
    act::Moved,
    config::Config,
    memfs::MemFs,
    share::{Share, ShareKind},
    table::{Exclusive, Tables},
    vfs::{FsTime, Vfs},
};

use crate::rules::{SHARES, USERS};

#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The server.
pub(crate) struct Office {
    pub(crate) server: Arc<Server>,
    pub(crate) disks: Vec<MemFs>,
    pub(crate) spool: MemFs,
    /// Bytes that the server says it moved, by share, and those that the clients know of.
    pub(crate) counted: RefCell<BTreeMap<String, Moved>>,
}

impl Office {
    /// A server with a folder for each machine on the first share.
    pub(crate) fn new(machines: usize) -> Self {
        let disks: Vec<MemFs> = SHARES.iter().map(|_| MemFs::new()).collect();
        let spool = MemFs::new();
        let config = Config {
            encrypt_passwords: false,
            policy: Policy::anything(),
            audit: true,
            ..Config::default()
        };
        let mut accounts = Accounts::default();
        for (name, password) in USERS {
            // The names are distinct constants.
            let _ = accounts.add(User::with_password(name, password, &Ascii));
        }
        let mut shares: Vec<Arc<Share>> = Vec::new();
        for (rule, disk) in SHARES.iter().zip(&disks) {
            let id = shares.len() as u32 + 1;
            let kind = ShareKind::Disk(Arc::new(disk.clone()));
            shares.push(Arc::new(rule.share(id, kind)));
        }
        let printer = ShareKind::Printer(Arc::new(spool.clone()));
        shares.push(Arc::new(Share::for_guests(9, "LASER", printer)));
        let tables = Arc::new(Locked(Mutex::new(Tables::new(config.tables()))));
        for disk in &disks {
            let _ = disk.add_file("SHARED.DAT", &[7; 4_000]);
            for machine in 0..machines {
                let _ = disk.add_dir(&format!("M{machine}"));
            }
        }
        let server = Server {
            shares,
            config,
            accounts,
            tables,
        };
        Self {
            server: Arc::new(server),
            disks,
            spool,
            counted: RefCell::default(),
        }
    }

    /// Sets the disks' clock.
    pub(crate) fn set_time(&self, now: u64) {
        for disk in self.disks.iter().chain([&self.spool]) {
            disk.set_time(FsTime(now as i64));
        }
    }

    /// Counts what a connection moved.
    pub(crate) fn count(&self, moved: Vec<(String, Moved)>) {
        let mut counted = self.counted.borrow_mut();
        for (share, more) in moved {
            let sum = counted.entry(share).or_default();
            sum.read += more.read;
            sum.written += more.written;
        }
    }

    /// Prints a finished job: its command removes the file.
    pub(crate) fn print(&self, job: &str) {
        let _ = self.spool.remove_file(job);
    }

    /// Names in the spool folder.
    pub(crate) fn jobs(&self) -> Vec<String> {
        let folder = self.spool.open_dir("");
        folder.and_then(|folder| folder.names()).unwrap_or_default()
    }
}
