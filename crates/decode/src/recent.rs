//! A table of bounded size that forgets what was not used for longest.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

/// See the module.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, (u64, V)>,
    /// The keys by their last use: a capture with more connections than the table has entries forgets one for each.
    by_use: BTreeMap<u64, K>,
    limit: usize,
    uses: u64,
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    /// An empty table for at most `limit` entries.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            limit,
            uses: 0,
        }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// The value of a key, made if it is missing.
    pub(crate) fn of(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.make_room(&key);
        self.uses += 1;
        let (used, value) = self.entries.entry(key).or_insert_with(|| (0, make()));
        self.by_use.remove(used);
        *used = self.uses;
        self.by_use.insert(self.uses, key);
        value
    }

    /// Forgets the entry that was not used for longest, if `key` is new and the table is full.
    pub(crate) fn make_room(&mut self, key: &K) -> Option<V> {
        if self.entries.len() < self.limit || self.entries.contains_key(key) {
            return None;
        }
        let (_, oldest) = self.by_use.pop_first()?;
        self.entries.remove(&oldest).map(|(_, value)| value)
    }

    /// Takes the value of a key out of the table.
    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        let (used, value) = self.entries.remove(key)?;
        self.by_use.remove(&used);
        Some(value)
    }

    /// Takes all values out of the table, the one that was not used for longest first.
    pub(crate) fn take_all(&mut self) -> Vec<V> {
        let keys = core::mem::take(&mut self.by_use);
        let values = keys.values().filter_map(|key| self.entries.remove(key));
        values.map(|(_, value)| value).collect()
    }

    /// Forgets a key.
    pub(crate) fn remove(&mut self, key: &K) {
        self.take(key);
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let mut table = Recent::new(2);
        *table.of(1, || 'a') = 'b';
        table.of(2, || 'c');
        table.of(1, || 'x');
        table.of(3, || 'd');
        assert_eq!(
            (table.get(&1), table.get(&2), table.get(&3)),
            (Some(&'b'), None, Some(&'d'))
        );
    }

    #[test]
    fn the_order_of_uses_has_each_entry_once() {
        let mut table = Recent::new(3);
        let mut forgotten = Vec::new();
        for key in [1, 2, 1, 3, 1, 4, 2, 4, 5] {
            forgotten.extend(table.make_room(&key));
            table.of(key, || key);
            assert_eq!(table.by_use.len(), table.entries.len(), "{key}");
        }
        assert_eq!(forgotten, [2, 3, 1]);
        table.remove(&4);
        assert_eq!(table.by_use.len(), 2);
        assert_eq!(table.take_all(), [2, 5]);
        assert!(table.by_use.is_empty() && table.entries.is_empty());
    }
}
