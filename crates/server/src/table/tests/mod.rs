//! Scenarios. Facts about Windows come from smbtorture (Samba 4.17); each test names its source there.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
extern crate std;

mod connections;
mod delete;
mod deny;
mod lock_queue;
mod locking;
mod notify;
mod observe;
mod oplock_limits;
mod oplocks;
mod reserve;
mod spaces;

use super::*;
use alloc::{string::ToString, sync::Arc, vec::Vec};
use core::sync::atomic::{AtomicUsize, Ordering};

pub(super) const FILE: FileId = FileId {
    device: 1,
    inode: 100,
    stream: 0,
};
pub(super) const SHARE: ShareId = ShareId(1);
pub(super) const READ: u32 = 0x0012_0089;
pub(super) const WRITE: u32 = 0x0012_0116;
pub(super) const ALL: u32 = 0x001F_01FF;
pub(super) const T0: Time = Time(1_000_000_000);

#[derive(Debug, Default)]
pub(super) struct Bell(pub(super) AtomicUsize);

impl Wake for Bell {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Tables with a few connections.
pub(super) struct World {
    pub(super) tables: Tables,
    pub(super) now: Time,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(Config {
            contention_limit: 0,
            ..Config::default()
        })
    }

    pub(super) fn with(config: Config) -> Self {
        Self {
            tables: Tables::new(config),
            now: T0,
        }
    }

    pub(super) fn client(&mut self) -> ConnId {
        self.tables.add_connection(Arc::new(Bell::default()))
    }

    pub(super) fn try_open(&mut self, request: &OpenRequest) -> OpenOutcome {
        self.tables.open(self.now, request)
    }

    pub(super) fn open(&mut self, request: &OpenRequest) -> OpenId {
        self.open_with_oplock(request).0
    }

    pub(super) fn open_with_oplock(&mut self, request: &OpenRequest) -> (OpenId, Oplock) {
        match self.try_open(request) {
            OpenOutcome::Granted { open, oplock, .. } => (open, oplock),
            other => panic!("not granted: {other:?}"),
        }
    }

    /// The ticket under which an open is parked.
    pub(super) fn parked(&mut self, request: &OpenRequest) -> Ticket {
        match self.try_open(request) {
            OpenOutcome::BreakFirst { ticket, .. } => ticket,
            other => panic!("not parked: {other:?}"),
        }
    }

    pub(super) fn close(&mut self, open: OpenId) -> Option<Doomed> {
        self.tables.close(open).unwrap().delete
    }

    pub(super) fn events(&mut self, conn: ConnId) -> Vec<Event> {
        self.tables.take_events(conn)
    }
}

/// An NT open with all access on [`FILE`], without sharing or oplock. Each test changes what it needs.
pub(super) fn request(conn: ConnId) -> OpenRequest {
    OpenRequest {
        file: FILE,
        conn,
        uid: 100,
        pid: 7,
        tree: 1,
        share: SHARE,
        path: "dir/file.dat".to_string(),
        stream: None,
        is_directory: false,
        access: ALL,
        sharing: Sharing::Nt(share::NONE),
        oplock: OplockWish::None,
        level2: true,
        fake_oplocks: false,
        overwrites: false,
        delete_on_close: false,
    }
}

pub(super) fn shared(conn: ConnId) -> OpenRequest {
    OpenRequest {
        sharing: Sharing::Nt(share::ALL),
        ..request(conn)
    }
}

pub(super) fn path(path: &str, inode: u64, request: OpenRequest) -> OpenRequest {
    OpenRequest {
        path: path.to_string(),
        file: FileId {
            device: 1,
            inode,
            stream: 0,
        },
        ..request
    }
}
