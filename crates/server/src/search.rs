//! Open searches of one connection.
//!
//! A search consists of a folder's path and identity, a pattern and a position in the folder's index; it keeps no
//! listing and no open folder. Core clients never close their searches. So when the table is full, the server drops
//! one: first the searches that reached their end, then the least recently used.

use crate::{
    budget::{Account, Lease, Resource},
    error::{Because, Result},
    names::{
        attributes::SearchAttributes,
        index::NameId,
        wildcard::{FcbPattern, Pattern},
    },
    reason::{Limit, Reason},
    vfs::FileId,
};
use alloc::{collections::BTreeMap, string::String, sync::Arc};
use coax_wire::{
    header::{Header, Pid, Sid, Tid, Uid},
    status::Status,
};

/// The target of a search.
#[derive(Clone, Debug)]
pub enum Mask {
    /// Everything.
    All,
    /// The one file with this name, compared as in lookups.
    Name(String),
    /// Long or 8.3 names that match a pattern.
    Pattern(Pattern),
    /// 8.3 names that match the pattern of a file control block.
    Fcb(FcbPattern),
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// Its number.
    pub sid: Sid,
    /// Its tree.
    pub tid: Tid,
    /// Its session.
    pub uid: Uid,
    /// Process that began it.
    pub pid: Pid,
    /// The folder, in the file system's spelling.
    pub folder: String,
    /// The folder itself, from the first walk on: after a rename, another folder may have the path.
    pub folder_id: Option<FileId>,
    /// The target.
    pub mask: Mask,
    /// Allowed and required attributes of entries.
    pub attributes: SearchAttributes,
    /// The client knows 8.3 names only.
    pub short_names: bool,
    /// The target as the eleven characters of a file control block, for core resume keys.
    pub pattern: [u8; 11],
    /// Its position: after the last entry examined.
    pub place: Place,
    /// The name at that position, to find it again after the folder's index was rebuilt.
    pub last: String,
    /// The index to which the position belongs.
    pub generation: u64,
    /// The end was reached.
    pub finished: bool,
    /// The client was told of the end by a reply without entries.
    pub end_told: bool,
    /// The reservation of its memory.
    room: Option<Arc<Lease>>,
}

/// Fixed cost of a search, bytes, in addition to its folder's path: an upper bound of the search, its pattern and its
/// row.
const OVERHEAD: usize = 1_024;

impl Search {
    /// A search at the beginning; [`Searches::open`] assigns its number.
    pub fn new(header: &Header, folder: String, mask: Mask, attributes: SearchAttributes) -> Self {
        Self {
            sid: Sid(0),
            tid: header.tid,
            uid: header.uid,
            pid: header.pid,
            folder,
            folder_id: None,
            mask,
            attributes,
            short_names: false,
            pattern: [b' '; 11],
            place: Place::START,
            last: String::new(),
            generation: 0,
            finished: false,
            end_told: false,
            room: None,
        }
    }

    /// Reserves its memory.
    ///
    /// # Errors
    /// `INSUFF_SERVER_RESOURCES`.
    pub fn reserve(&mut self, account: &Arc<Account>) -> Result<()> {
        let cost = OVERHEAD.saturating_add(self.folder.len());
        let room = account.lease(Resource::Memory, cost);
        self.room = Some(Arc::new(room.map_err(|_| {
            Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Memory))
        })?));
        Ok(())
    }

    /// Moves it to the position after `place` of the current index.
    pub fn rewind(&mut self, place: Place) {
        if self.place != place {
            self.place = place;
            self.last.clear();
        }
        self.finished = false;
    }

    /// Whether it searches for one file, so that it ends with the first match.
    pub fn is_of_one(&self) -> bool {
        matches!(self.mask, Mask::Name(_))
    }
}

/// The searches of a connection.
#[derive(Debug, Default)]
pub struct Searches {
    open: BTreeMap<u16, (u64, Search)>,
    next: u16,
    clock: u64,
}

impl Searches {
    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Adds a search under a new number. At `limit` it drops another.
    pub fn open(&mut self, limit: usize, search: Search) -> Sid {
        while self.open.len() >= limit.clamp(1, 60_000) {
            self.evict();
        }
        let sid = self.free_sid();
        self.put(Search { sid, ..search });
        sid
    }

    /// Removes a search from the table for use, if it belongs to this tree.
    pub fn take(&mut self, sid: Sid, tid: Tid) -> Option<Search> {
        let search = self.open.get(&sid.0).filter(|(_, s)| s.tid == tid);
        search?;
        self.open.remove(&sid.0).map(|(_, search)| search)
    }

    /// Puts it back as the most recently used one.
    pub fn put(&mut self, search: Search) {
        self.clock = self.clock.wrapping_add(1);
        self.open.insert(search.sid.0, (self.clock, search));
    }

    /// Ends a search. Returns whether it existed.
    pub fn close(&mut self, sid: Sid, tid: Tid) -> bool {
        self.take(sid, tid).is_some()
    }

    /// Ends all searches that `which` selects.
    pub fn close_where(&mut self, which: impl Fn(&Search) -> bool) {
        self.open.retain(|_, (_, search)| !which(search));
    }

    fn evict(&mut self) {
        let worst = self
            .open
            .iter()
            .min_by_key(|(_, (used, search))| (!search.finished, *used));
        if let Some(sid) = worst.map(|(sid, _)| *sid) {
            self.open.remove(&sid);
        }
    }

    /// Numbers are neither 0 nor 0xFFFF, and their low byte is not 0: it begins the server's part of core resume keys.
    fn free_sid(&mut self) -> Sid {
        loop {
            self.next = match self.next.wrapping_add(1) {
                0xffff => 1,
                next if next & 0xff == 0 => next | 1,
                next => next,
            };
            if !self.open.contains_key(&self.next) {
                return Sid(self.next);
            }
        }
    }
}

impl Place {
    /// The position of a name.
    pub fn of(id: NameId) -> Self {
        Self(id.number().saturating_add(Self::FIRST_NAME))
    }
}

/// A position in a listing: before all entries, `.`, `..`, or a name of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u32);

impl Place {
    /// Before the first entry.
    pub const START: Self = Self(0);
    /// At `.`, the folder itself.
    pub const SELF: Self = Self(1);
    /// At `..`, the parent folder.
    pub const PARENT: Self = Self(2);
    pub(crate) const FIRST_NAME: u32 = 3;

    pub fn name_id(self) -> Option<NameId> {
        self.0
            .checked_sub(Self::FIRST_NAME)
            .map(NameId::from_number)
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::START
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn search() -> Search {
        let header = Header {
            tid: Tid(1),
            ..Header::default()
        };
        Search::new(&header, String::new(), Mask::All, SearchAttributes(0))
    }

    #[test]
    fn search_numbers_never_begin_with_a_zero_byte_and_wrap_around() {
        let mut searches = Searches::default();
        for _ in 0..200_000 {
            let sid = searches.open(10, search());
            assert!(sid.0 & 0xff != 0 && sid.0 != 0xffff);
        }
        assert_eq!(searches.len(), 10);
    }

    #[test]
    fn finished_searches_are_dropped_first_and_then_the_least_recently_used() {
        let mut searches = Searches::default();
        let sids: alloc::vec::Vec<Sid> = (0..4).map(|_| searches.open(4, search())).collect();
        let [a, b, c, d] = sids.try_into().unwrap();
        let done = Search {
            finished: true,
            ..searches.take(d, Tid(1)).unwrap()
        };
        searches.put(done);
        let used = searches.take(a, Tid(1)).unwrap();
        searches.put(used);
        searches.open(4, search());
        assert!(!searches.close(d, Tid(1)), "the search was finished");
        searches.open(4, search());
        searches.open(4, search());
        assert!(!searches.close(b, Tid(1)) && !searches.close(c, Tid(1)));
        assert!(searches.close(a, Tid(1)), "the search was used recently");
    }

    #[test]
    fn a_search_is_found_only_on_its_own_tree() {
        let mut searches = Searches::default();
        let sid = searches.open(4, search());
        assert!(!searches.close(sid, Tid(2)) && searches.close(sid, Tid(1)) && searches.is_empty());
    }
}
