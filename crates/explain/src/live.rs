//! The connections that are followed, and which of them was silent longest.

use std::{cmp::Reverse, collections::BinaryHeap};

use coax_capture::Endpoint;
use coax_wire::time::Time;
use hashbrown::HashMap;

/// The ends of a connection, the lower one first.
pub(crate) type Key = (Endpoint, Endpoint);

/// Entries of connections that have ended meanwhile, beyond one for each that is followed.
const MAX_STALE: usize = 1024;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Live {
    places: HashMap<Key, usize>,
    /// Each connection was last heard of at this time or later. To note the time of every packet would cost more than to
    /// ask again when a connection has to go.
    silent: BinaryHeap<Reverse<(Time, Key, usize)>>,
}

impl Live {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The place of a connection.
    pub(crate) fn get(&self, key: &Key) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Takes a connection out.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<usize> {
        self.places.remove(key)
    }

    /// Adds a connection that was heard of at `at`.
    pub(crate) fn insert(&mut self, key: Key, place: usize, at: Time) {
        self.places.insert(key, place);
        self.silent.push(Reverse((at, key, place)));
        if self.silent.len() > 2 * self.places.len() + MAX_STALE {
            let places = &self.places;
            self.silent
                .retain(|Reverse((_, key, place))| places.get(key) == Some(place));
        }
    }

    /// Takes out the connection that was silent longest, of several the one with the lowest ends. `last` says when a
    /// connection was last heard of, which never goes back.
    pub(crate) fn take_most_silent(
        &mut self,
        mut last: impl FnMut(usize) -> Time,
    ) -> Option<usize> {
        while let Some(Reverse((at, key, place))) = self.silent.pop() {
            if self.places.get(&key) != Some(&place) {
                continue;
            }
            let heard = last(place);
            if heard > at {
                self.silent.push(Reverse((heard, key, place)));
                continue;
            }
            self.places.remove(&key);
            return Some(place);
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::{Endpoint, Key, Live, MAX_STALE, Time};

    fn key(number: u16) -> Key {
        let mut end = Endpoint::default();
        end.port = number;
        (Endpoint::default(), end)
    }

    #[test]
    fn the_connection_that_was_silent_longest_goes_first() {
        let mut live = Live::default();
        let mut heard = [10, 20, 20, 30, 40].map(Time);
        for (place, at) in heard.iter().enumerate() {
            // the third has lower ends than the second
            live.insert(key([1, 9, 2, 3, 4][place]), place, *at);
        }
        heard[0] = Time(35);
        heard[3] = Time(50);
        let order: Vec<usize> =
            std::iter::from_fn(|| live.take_most_silent(|place| heard[place])).collect();
        assert_eq!(order, [2, 1, 0, 4, 3]);
    }

    #[test]
    fn a_connection_that_ended_or_was_replaced_is_not_taken() {
        let mut live = Live::default();
        live.insert(key(1), 0, Time(1));
        live.insert(key(2), 1, Time(2));
        assert_eq!(live.remove(&key(1)), Some(0));
        live.insert(key(1), 2, Time(3));
        let last = |place| Time([1, 2, 3][place]);
        assert_eq!(live.take_most_silent(last), Some(1));
        assert_eq!(live.take_most_silent(last), Some(2));
        assert_eq!((live.take_most_silent(last), live.len()), (None, 0));
    }

    #[test]
    fn of_connections_heard_once_each_one_is_asked_when_another_goes() {
        const LIMIT: usize = 2048;
        let (mut live, mut asked) = (Live::default(), 0);
        for place in 0..20_000 {
            if live.len() >= LIMIT {
                let taken = live.take_most_silent(|place| {
                    asked += 1;
                    Time(place as u64)
                });
                assert_eq!(taken, Some(place - LIMIT));
            }
            live.insert(key(place as u16), place, Time(place as u64));
        }
        assert_eq!(asked, 20_000 - LIMIT);
    }

    #[test]
    fn connections_between_the_same_ends_leave_nothing_behind() {
        let mut live = Live::default();
        for place in 0..10 * MAX_STALE {
            live.remove(&key(1));
            live.insert(key(1), place, Time(place as u64));
            assert!(live.silent.len() <= MAX_STALE + 2, "{place}");
        }
    }
}
