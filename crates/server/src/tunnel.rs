//! Recently removed names, so that a new file with the same 8.3 name gets the long name back (file system tunneling).
//!
//! A DOS program saves by deleting or renaming `AVERYL~1.TEX` and creating a new file of that name: it knows no other.
//! For fifteen seconds NT gives such a new file the long name and the creation time of the old one (KB172190, "Windows
//! NT Contains File System Tunneling Capabilities"). This module stores files with a generated 8.3 name. It cannot tell
//! by which name a file was removed, and assumes the 8.3 name.

use crate::{names::mangle::ShortName, table::ShareId, vfs::FsTime};
use alloc::{
    collections::{BTreeMap, VecDeque},
    string::{String, ToString},
};
use coax_wire::time::{Span, Time};

/// The lifetime of an entry: NT's `MaximumTunnelEntryAgeInSeconds`.
const AGE: Span = Span::from_secs(15);
/// The maximum number of entries for all shares: NT's `MaximumTunnelEntries` on a server.
const MAX_ENTRIES: usize = 1_024;

/// A removed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its long name.
    pub name: String,
    /// Its creation time.
    pub created: FsTime,
}

type Key = (ShareId, String, ShortName);

/// Recently removed files, by share, folder and 8.3 name.
#[derive(Debug, Default)]
pub struct Tunnel {
    gone: BTreeMap<Key, (Time, Gone)>,
    /// The keys in order of removal. A name that was removed twice is here twice.
    order: VecDeque<(Time, Key)>,
}

impl Tunnel {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.gone.len()
    }

    /// Notes the removal of a file of `folder` with the generated 8.3 name `short`.
    pub fn remember(
        &mut self,
        now: Time,
        share: ShareId,
        folder: &str,
        short: ShortName,
        gone: Gone,
    ) {
        self.forget_old(now);
        while self.order.len() >= MAX_ENTRIES {
            self.forget_first();
        }
        let key = (share, folder.to_string(), short);
        self.order.push_back((now, key.clone()));
        self.gone.insert(key, (now, gone));
    }

    /// Finds a recently removed file of `folder` with this 8.3 name.
    pub fn find(
        &mut self,
        now: Time,
        share: ShareId,
        folder: &str,
        short: ShortName,
    ) -> Option<Gone> {
        self.forget_old(now);
        if self.gone.is_empty() {
            return None;
        }
        let key = (share, folder.to_string(), short);
        self.gone.get(&key).map(|(_, gone)| gone.clone())
    }

    fn forget_old(&mut self, now: Time) {
        while self
            .order
            .front()
            .is_some_and(|(went, _)| *went + AGE <= now)
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some((went, key)) = self.order.pop_front() else {
            return;
        };
        if self.gone.get(&key).is_some_and(|(time, _)| *time == went) {
            self.gone.remove(&key);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::names::mangle::Mangler;
    use coax_wire::codepage::CodePage;

    const SHARE: ShareId = ShareId(1);

    fn short(name: &str) -> ShortName {
        Mangler::new(CodePage::cp437()).legal(name).unwrap()
    }

    fn gone(name: &str) -> Gone {
        Gone {
            name: name.into(),
            created: FsTime(7),
        }
    }

    fn seconds(count: u64) -> Time {
        Time(0) + Span::from_secs(count)
    }

    #[test]
    fn a_name_is_remembered_for_fifteen_seconds_in_its_own_folder() {
        let mut tunnel = Tunnel::default();
        let name = short("LETTER~1.TXT");
        tunnel.remember(seconds(1), SHARE, "a", name, gone("letter home.txt"));
        let found = tunnel.find(seconds(15), SHARE, "a", name);
        assert_eq!(found, Some(gone("letter home.txt")));
        assert_eq!(tunnel.find(seconds(15), SHARE, "b", name), None);
        assert_eq!(tunnel.find(seconds(15), ShareId(2), "a", name), None);
        assert_eq!(tunnel.find(seconds(16), SHARE, "a", name), None);
    }

    #[test]
    fn a_second_removal_of_a_name_renews_its_entry() {
        let mut tunnel = Tunnel::default();
        let name = short("LETTER~1.TXT");
        tunnel.remember(seconds(1), SHARE, "", name, gone("letter home.txt"));
        tunnel.remember(seconds(9), SHARE, "", name, gone("letters.html"));
        let found = tunnel.find(seconds(20), SHARE, "", name);
        assert_eq!(found, Some(gone("letters.html")));
        assert_eq!(tunnel.find(seconds(24), SHARE, "", name), None);
    }

    #[test]
    fn a_full_cache_drops_the_oldest_names() {
        let mut tunnel = Tunnel::default();
        let name = |n: usize| short(&alloc::format!("F{n}~1"));
        for n in 0..=MAX_ENTRIES {
            tunnel.remember(seconds(1), SHARE, "", name(n), gone("long name"));
        }
        assert_eq!(tunnel.order.len(), MAX_ENTRIES);
        assert_eq!(tunnel.find(seconds(1), SHARE, "", name(0)), None);
        assert!(tunnel.find(seconds(1), SHARE, "", name(1)).is_some());
    }
}
