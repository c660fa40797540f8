//! A table of bounded size that forgets what was not used for longest.

use std::{collections::HashMap, hash::Hash};

/// See the module.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, (u64, V)>,
    limit: usize,
    uses: u64,
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    /// An empty table for at most `limit` entries.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
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
        self.uses += 1;
        if !self.entries.contains_key(&key) {
            self.make_room();
        }
        let (used, value) = self.entries.entry(key).or_insert_with(|| (0, make()));
        *used = self.uses;
        value
    }

    /// Takes the value of a key out of the table.
    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    /// Forgets a key.
    pub(crate) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    fn make_room(&mut self) {
        while self.entries.len() >= self.limit {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used);
            let Some(key) = oldest.map(|(key, _)| *key) else {
                return;
            };
            self.entries.remove(&key);
        }
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
}
