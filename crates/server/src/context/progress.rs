//! The progress of a request in its chain of commands; kept while the request waits.

use super::reply::{Reply, Tail};
use crate::{
    budget::Lease, files::OpenFile, session::SignedRequest, table::Ticket, transaction::Transaction,
};
use alloc::{boxed::Box, vec::Vec};
use coax_wire::{
    block::BlockWriter,
    command,
    header::{Fid, Header, Tid, Uid},
    status::Status,
    time::Time,
};

/// The wait condition of a parked request.
#[derive(Clone, Copy, Debug)]
pub struct Park {
    /// The ticket under which the tables report that it may run again.
    pub ticket: Ticket,
    /// The latest time of the tables' decision ([`crate::table::Tables::expire`]).
    pub deadline: Option<Time>,
}

/// The progress of a request, kept while it is parked.
#[derive(Debug)]
pub struct Progress {
    /// Header; earlier commands of the chain may have set `uid` and `tid`.
    pub header: Header,
    /// The command to run next.
    pub command: u8,
    /// Offset of its block in the message.
    pub offset: usize,
    /// The reply so far.
    pub reply: Reply,
    /// Offset in the reply of the last AndX head, to be linked to the next block.
    pub link: Option<usize>,
    /// The file the chain opened.
    pub chain_fid: Option<Fid>,
    /// When it arrived.
    pub arrived: Time,
    /// Its place in the signing sequence.
    pub signed: SignedRequest,
    /// Data that the parked command keeps for its next run.
    pub kept: Option<Box<Transaction>>,
    /// Commands served so far.
    pub served: usize,
}

/// Longest chain. Clients chain four commands at most; without a limit, each byte of a message could start another.
const MAX_CHAIN: usize = 32;
/// AndX offsets have 16 bits, so the client could not find a later block.
const MAX_OFFSET: usize = 0xffff;

/// The state of a request after one command.
#[derive(Debug)]
pub(super) enum Step {
    /// The next command of the chain runs.
    Next,
    /// The reply is complete.
    Finish,
    /// The request waits.
    Park(Park),
    /// There is no reply.
    Drop,
}

impl Progress {
    /// Links the finished block into the reply's chain and advances to the next command, if there is one.
    pub(super) fn advance(&mut self, start: usize, next: Option<(u8, usize)>) -> Step {
        self.link_to(start);
        if !command::is_andx(self.command) {
            return Step::Finish;
        }
        let Some((command, offset)) = next else {
            return Step::Finish;
        };
        self.link = Some(start);
        self.served = self.served.saturating_add(1);
        if offset <= self.offset || self.served >= MAX_CHAIN {
            self.fail_unlinked(Status::INVALID_SMB);
            return Step::Finish;
        }
        if self.reply.out.len().saturating_add(self.reply.tail.len()) > MAX_OFFSET {
            self.fail_unlinked(Status::INSUFF_SERVER_RESOURCES);
            return Step::Finish;
        }
        self.reply.flatten();
        self.command = command;
        self.offset = offset;
        Step::Next
    }

    /// Patches the previous AndX head with this command and the offset of its block.
    pub(super) fn link_to(&mut self, start: usize) {
        if let Some(previous) = self.link.take() {
            self.reply
                .out
                .patch(previous.saturating_add(1), &[self.command]);
            self.reply
                .out
                .patch_u16(previous.saturating_add(3), start as u16);
        }
    }

    /// Replaces the output of a failed command with an empty block.
    pub(super) fn fail(&mut self, start: usize, status: Status) {
        self.reply.out.truncate(start);
        self.reply.tail = Tail::None;
        self.reply.more.clear();
        self.link_to(start);
        BlockWriter::begin(&mut self.reply.out).finish(0);
        self.reply.status = Some(status);
    }

    fn fail_unlinked(&mut self, status: Status) {
        self.reply.status = Some(status);
    }
}

/// A waiting request.
#[derive(Debug)]
pub struct Parked {
    pub park: Park,
    pub progress: Progress,
    pub message: Vec<u8>,
    /// The reservation of its memory.
    pub lease: Option<Lease>,
}

impl Parked {
    pub fn new(park: Park, progress: Progress, message: Vec<u8>) -> Self {
        Self {
            park,
            progress,
            message,
            lease: None,
        }
    }

    /// Memory that it uses, bytes.
    pub fn cost(&self) -> usize {
        let Progress { reply, kept, .. } = &self.progress;
        let kept = kept.as_ref().map_or(0, |kept| kept.len());
        [self.message.len(), reply.out.len(), reply.tail.len(), kept]
            .into_iter()
            .fold(size_of::<Self>(), usize::saturating_add)
    }

    pub fn ticket(&self) -> Ticket {
        self.park.ticket
    }

    pub fn tid(&self) -> Tid {
        self.progress.header.tid
    }

    pub fn deadline(&self) -> Option<Time> {
        self.park.deadline
    }
}

/// A user who logs off, or a tree that is disconnected.
#[derive(Clone, Copy, Debug)]
pub enum Leaving {
    /// The session with this UID.
    User(Uid),
    /// The tree with this TID.
    Tree(Tid),
}

impl Leaving {
    pub fn opened(self, file: &OpenFile) -> bool {
        match self {
            Self::User(uid) => file.uid == uid,
            Self::Tree(tid) => file.tid == tid,
        }
    }

    pub fn asked(self, header: &Header) -> bool {
        match self {
            Self::User(uid) => header.uid == uid,
            Self::Tree(tid) => header.tid == tid,
        }
    }
}
