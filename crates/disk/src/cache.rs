//! A cache of attributes read during listings.
//!
//! Reading an attribute by name costs four times as much as the rest of an entry. Setting one changes the file's ctime,
//! so a value read while the ctime was settled stays valid until the ctime changes.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Mutex, MutexGuard, PoisonError},
};

use coax_server::vfs::{FileId, FsTime, Stat};

use super::clock::settled_anywhere;

/// Maximum number of entries; when it is reached, the cache is cleared.
const MOST: usize = 65_536;
/// Longer values are not cached: a bound on memory (at most 8 MiB of values).
const LONGEST: usize = 128;

/// One attribute of many files.
#[derive(Debug, Default)]
pub(super) struct AttributeCache {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The attribute's name: the engine always requests the same one.
    name: String,
    values: HashMap<FileId, Remembered>,
}

/// The file's ctime, and the attribute's value if it exists.
type Remembered = (FsTime, Option<Box<[u8]>>);

impl AttributeCache {
    /// Returns the cached value for this file and ctime, or calls `read`.
    pub(super) fn value(
        &self,
        stat: &Stat,
        name: &str,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let read = || Ok::<_, Infallible>(read());
        let Ok(value) = self.try_value(stat, name, read);
        value
    }

    /// The same for a `read` that may fail; a failure is not cached.
    pub(super) fn try_value<E>(
        &self,
        stat: &Stat,
        name: &str,
        read: impl FnOnce() -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<Vec<u8>>, E> {
        if let Some((changed, value)) = self.of(name).values.get(&stat.id)
            && *changed == stat.changed
        {
            return Ok(value.as_deref().map(Vec::from));
        }
        let value = read()?;
        if settled_anywhere(stat) && value.as_ref().is_none_or(|v| v.len() <= LONGEST) {
            let mut seen = self.of(name);
            if seen.values.len() >= MOST {
                seen.values.clear();
            }
            seen.values
                .insert(stat.id, (stat.changed, value.as_deref().map(Box::from)));
        }
        Ok(value)
    }

    fn of(&self, name: &str) -> MutexGuard<'_, Seen> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.name != name {
            name.clone_into(&mut seen.name);
            seen.values.clear();
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use coax_server::vfs::Kind;

    use super::*;

    fn stat(inode: u64, changed: i64) -> Stat {
        Stat {
            id: FileId {
                device: 1,
                inode,
                stream: 0,
            },
            kind: Kind::File,
            size: 0,
            allocated: 0,
            created: None,
            modified: FsTime(0),
            accessed: FsTime(0),
            changed: FsTime(changed),
            links: 1,
            mode: 0o644,
        }
    }

    #[test]
    fn a_value_is_read_once_while_the_file_stays_as_it_is() {
        let cache = AttributeCache::default();
        let value = |stat, name, now: &str| {
            cache
                .value(&stat, name, || Some(now.as_bytes().to_vec()))
                .unwrap()
        };
        assert_eq!(value(stat(1, 5), "user.a", "one"), b"one");
        assert_eq!(value(stat(1, 5), "user.a", "unread"), b"one");
        assert_eq!(value(stat(2, 5), "user.a", "other"), b"other");
        assert_eq!(value(stat(1, 6), "user.a", "two"), b"two");
        assert_eq!(value(stat(1, 6), "user.b", "named"), b"named");
    }

    #[test]
    fn a_failure_is_not_cached() {
        let cache = AttributeCache::default();
        assert_eq!(cache.try_value(&stat(1, 5), "user.a", || Err(7)), Err(7));
        let read = cache.try_value(&stat(1, 5), "user.a", || Ok::<_, i32>(Some(vec![1])));
        assert_eq!(read, Ok(Some(vec![1])));
    }

    #[test]
    fn a_file_that_just_changed_is_read_again() {
        let cache = AttributeCache::default();
        assert_eq!(
            cache.value(&stat(1, i64::MAX), "user.a", || Some(vec![1])),
            Some(vec![1])
        );
        assert_eq!(cache.value(&stat(1, i64::MAX), "user.a", || None), None);
    }

    #[test]
    fn the_attribute_cache_has_a_bounded_size() {
        let cache = AttributeCache::default();
        for inode in 0..MOST as u64 + 10 {
            cache.value(&stat(inode, 5), "user.a", || None);
        }
        assert!(cache.seen.lock().unwrap().values.len() <= MOST);
        cache.value(&stat(u64::MAX, 5), "user.a", || Some(vec![0; LONGEST + 1]));
        assert!(
            !cache
                .seen
                .lock()
                .unwrap()
                .values
                .contains_key(&stat(u64::MAX, 5).id)
        );
    }
}
