//! Determines which shares' disks a request may touch. A driver that limits the number of threads per disk asks before
//! it starts the work.

use super::Context;
use crate::{files::OpenFile, share::ShareKind, table::ShareId};
use alloc::{collections::BTreeSet, vec::Vec};
use coax_wire::{
    block::Block,
    command as c,
    header::{HEADER_LEN, Header, Tid},
};

/// Longest chain that is examined; longer ones may touch any share.
const MAX_CHAIN: usize = 8;
/// A FLUSH of this FID flushes all files of a process ([MS-CIFS] 2.2.4.6.1).
const ALL_FILES: u16 = 0xffff;

/// The disks that a request may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// None.
    #[default]
    Nothing,
    /// The disk of one share.
    Share(ShareId),
    /// The disks of several shares.
    Several,
}

impl Reach {
    /// The union of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, reach) | (reach, Self::Nothing) => reach,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}

impl Context {
    /// The shares that serving `message` may touch. It may unblock parked requests, so they count too.
    pub fn reach(&self, message: &[u8]) -> Reach {
        if let Some(tid) = self.raw.awaited_tid() {
            return self.reach_of_tree(tid).and(self.wake_reach());
        }
        let Ok(header) = Header::parse(message) else {
            return Reach::Nothing;
        };
        let mut reach = self.wake_reach();
        let (mut command, mut offset) = (header.command, HEADER_LEN);
        for _ in 0..MAX_CHAIN {
            let Ok(block) = Block::at(message, offset) else {
                return reach;
            };
            reach = reach.and(self.reach_of_command(command, &header, &block));
            match block.andx().filter(|_| c::is_andx(command)) {
                None => return reach,
                // The later commands use a tree that is not connected yet.
                Some(_) if command == c::TREE_CONNECT_ANDX => return Reach::Several,
                Some(next) => (command, offset) = next,
            }
        }
        Reach::Several
    }

    /// The shares that handling wakes and timeouts may touch.
    pub fn wake_reach(&self) -> Reach {
        let parked = self
            .parked
            .iter()
            .map(|parked| self.reach_of_tree(parked.tid()));
        parked.fold(Reach::Nothing, Reach::and)
    }

    /// The shares with open files.
    pub fn shares_held(&self) -> Vec<ShareId> {
        let shares: BTreeSet<ShareId> = self.files.iter().filter_map(disk_of).collect();
        shares.into_iter().collect()
    }

    /// The connection is gone: no more requests are served, and waiting ones get no answer.
    /// [`crate::Connection::close_share`] and then [`crate::Connection::handle_disconnect`] close its open files.
    pub fn hang_up(&mut self) {
        self.closing = true;
        self.parked.clear();
        self.transactions.clear();
        self.searches.close_where(|_| true);
    }

    fn reach_of_command(&self, command: u8, header: &Header, block: &Block<'_>) -> Reach {
        match command {
            // A log-on as another user under the same UID closes files.
            c::SESSION_SETUP_ANDX if self.sessions.is_logged_on(header.uid) => {
                self.reach_of_files()
            }
            c::NEGOTIATE | c::ECHO | c::SESSION_SETUP_ANDX | c::TREE_CONNECT => Reach::Nothing,
            // With a flag, TREE_CONNECT_ANDX first disconnects the header's tree.
            c::TREE_CONNECT_ANDX => self.reach_of_tree(header.tid),
            c::LOGOFF_ANDX | c::PROCESS_EXIT => self.reach_of_files(),
            c::FLUSH if block.word(0) == Ok(ALL_FILES) => self.reach_of_files(),
            c::COPY | c::MOVE => {
                let other = block
                    .word(0)
                    .map_or(Reach::Nothing, |tid| self.reach_of_tree(Tid(tid)));
                self.reach_of_tree(header.tid).and(other)
            }
            _ => self.reach_of_tree(header.tid),
        }
    }

    fn reach_of_tree(&self, tid: Tid) -> Reach {
        match self.trees.share_of(tid) {
            Some(share) if !matches!(share.kind, ShareKind::Ipc) => Reach::Share(share.id),
            _ => Reach::Nothing,
        }
    }

    /// The shares with open files.
    pub(crate) fn reach_of_files(&self) -> Reach {
        let shares = self.files.iter().filter_map(disk_of).map(Reach::Share);
        shares.fold(Reach::Nothing, Reach::and)
    }
}

fn disk_of(file: &OpenFile) -> Option<ShareId> {
    (!matches!(file.share.kind, ShareKind::Ipc)).then_some(file.share.id)
}
