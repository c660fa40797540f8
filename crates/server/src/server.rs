//! The constant state of all connections: configuration, shares, accounts. [`crate::table`] contains their mutable
//! state.

use crate::{
    config::Config,
    share::{Share, ShareKind},
    table::{Exclusive, NotifyFilter, ShareId, Tables},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::time::Time;

/// A change by a program other than this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalChange {
    /// It was created.
    Created {
        /// It is a folder.
        is_directory: bool,
    },
    /// It was deleted.
    Removed {
        /// It was a folder.
        is_directory: bool,
    },
    /// Its contents, times or attributes changed.
    Modified(NotifyFilter),
}

/// A server: configuration, shares and the tables of opens.
#[derive(Debug)]
pub struct Server {
    /// Settings.
    pub config: Config,
    /// Shares, including `IPC$`.
    pub shares: Vec<Arc<Share>>,
    /// Users who may log on.
    pub accounts: coax_logon::accounts::Accounts,
    /// Opens, locks, oplocks, watches: locked only for operations on the tables.
    pub tables: Arc<dyn Exclusive>,
}

impl Server {
    /// The share of this name, compared without case. Clients truncate names to 12 characters (LAN Manager's `NNLEN`),
    /// so it also finds a unique longer name that begins with all 12.
    pub fn share(&self, name: &str) -> Option<&Arc<Share>> {
        let exact = self
            .shares
            .iter()
            .find(|share| share.name.eq_ignore_ascii_case(name));
        exact.or_else(|| self.share_cut_short(name))
    }

    fn share_cut_short(&self, name: &str) -> Option<&Arc<Share>> {
        const NNLEN: usize = 12;
        if name.len() != NNLEN {
            return None;
        }
        let mut begins = self.shares.iter().filter(|share| {
            share
                .name
                .get(..NNLEN)
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let first = begins.next()?;
        begins.next().is_none().then_some(first)
    }

    /// The share that this name means for `user`: `HOMES` is the user's home folder, as in Samba.
    pub fn share_for(&self, user: Option<&str>, name: &str) -> Option<&Arc<Share>> {
        let own = || self.shares.iter().find(|share| share.is_home_of(user));
        let is_homes = name.eq_ignore_ascii_case("homes");
        self.share(name).or_else(|| is_homes.then(own).flatten())
    }

    /// Runs `work` on the shared tables, unlocks them, and then wakes the affected connections.
    pub fn locked<T>(&self, work: impl FnOnce(&mut Tables) -> T) -> T {
        crate::table::locked(&*self.tables, work)
    }

    /// The wall clock's time at `now`, for time stamps.
    pub fn wall(&self, now: Time) -> Time {
        self.locked(|tables| tables.wall(now))
    }

    /// For drivers that watch the disk: reports an external change of a file or folder at `path` (relative to the
    /// share's root, separated by `/`). The server notifies clients that wait for such changes.
    pub fn external_change(&self, share: ShareId, path: &str, change: ExternalChange) {
        let report = |tables: &mut Tables| match change {
            ExternalChange::Created { is_directory } => {
                tables.report_created(share, path, is_directory)
            }
            ExternalChange::Removed { is_directory } => {
                tables.report_removed(share, path, is_directory)
            }
            ExternalChange::Modified(what) => tables.report_modified(share, path, what),
        };
        self.locked(|tables| tables.report_foreign(report));
    }

    /// As [`Self::external_change`]: `from` was renamed to `to`.
    pub fn external_rename(&self, share: ShareId, from: &str, to: &str, is_directory: bool) {
        let report = |tables: &mut Tables| tables.report_renamed(share, from, to, is_directory);
        self.locked(|tables| tables.report_foreign(report));
    }

    /// The shares in share lists: disk shares, then printers, then `IPC$`, each kind in the order of the configuration.
    /// ps2sdk's smbman counts the disk shares of a NetShareEnum reply and shows as many of its first entries.
    /// A home folder is only in the list of its `user`.
    pub fn browseable(&self, user: Option<&str>) -> impl Iterator<Item = &Arc<Share>> {
        let kinds: [fn(&ShareKind) -> bool; 3] = [
            |kind| matches!(kind, ShareKind::Disk(_)),
            |kind| matches!(kind, ShareKind::Printer(_)),
            |kind| matches!(kind, ShareKind::Ipc),
        ];
        kinds.into_iter().flat_map(move |is_kind| {
            let shown = self.shares.iter().filter(|share| share.browseable);
            let shown =
                shown.filter(move |share| share.home_of.is_none() || share.is_home_of(user));
            shown.filter(move |share: &&Arc<Share>| is_kind(&share.kind))
        })
    }

    /// The server's name with aliases.
    pub fn is_our_name(&self, name: &str) -> bool {
        let ours = |own: &String| own.eq_ignore_ascii_case(name);
        ours(&self.config.name) || self.config.aliases.iter().any(ours)
    }
}
