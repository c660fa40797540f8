//! Room for what is followed at a time.

use std::collections::HashMap;
use std::hash::Hash;

use coax_wire::time::Time;

/// Takes what was silent longest out of a full map.
pub(super) fn make<K: Copy + Eq + Hash + Ord, V>(
    map: &mut HashMap<K, V>,
    most: usize,
    last: impl Fn(&V) -> Time,
) -> Option<V> {
    if map.len() < most {
        return None;
    }
    let silent = map.iter().min_by_key(|(key, value)| (last(value), **key));
    let key = silent.map(|(key, _)| *key)?;
    map.remove(&key)
}
