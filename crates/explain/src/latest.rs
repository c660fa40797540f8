//! The latest of many, in room that is used again and again.

/// The latest `MOST` of what was pushed, which is a power of two.
#[derive(Debug)]
pub(crate) struct Latest<T, const MOST: usize> {
    places: Vec<T>,
    /// How many were pushed.
    count: usize,
}

impl<T, const MOST: usize> Default for Latest<T, MOST> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            count: 0,
        }
    }
}

impl<T, const MOST: usize> Latest<T, MOST> {
    const MASK: usize = {
        assert!(MOST.is_power_of_two());
        MOST - 1
    };

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the next one takes the place of the oldest.
    pub(crate) fn is_full(&self) -> bool {
        self.places.len() >= MOST
    }

    /// The latest.
    #[inline]
    pub(crate) fn back(&self) -> Option<&T> {
        self.places.get(self.count.wrapping_sub(1) & Self::MASK)
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn back_mut(&mut self) -> Option<&mut T> {
        self.places.get_mut(self.count.wrapping_sub(1) & Self::MASK)
    }

    /// The one with this number of older ones before it.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        let is_there = place < self.places.len();
        let oldest = self.count.wrapping_sub(self.places.len());
        let place = is_there.then(|| oldest.wrapping_add(place) & Self::MASK)?;
        self.places.get(place)
    }

    /// The older ones and the newer, from the oldest on.
    fn parts(&self) -> (&[T], &[T]) {
        let oldest = self.count.wrapping_sub(self.places.len()) & Self::MASK;
        let (newer, older) = self.places.split_at_checked(oldest).unwrap_or_default();
        (older, newer)
    }

    /// All, from the oldest on.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        let (older, newer) = self.parts();
        older.iter().chain(newer)
    }

    /// How many come before the first of which `is_before` does not hold; they are in that order.
    pub(crate) fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let (older, newer) = self.parts();
        match newer.first() {
            Some(first) if is_before(first) => older.len() + newer.partition_point(is_before),
            _ => older.partition_point(is_before),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, new: T) {
        match self.places.get_mut(self.count & Self::MASK) {
            Some(place) => *place = new,
            None => self.places.push(new),
        }
        self.count = self.count.wrapping_add(1);
    }
}

impl<T, const MOST: usize> FromIterator<T> for Latest<T, MOST> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut latest = Self::default();
        all.into_iter().for_each(|new| latest.push(new));
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_those_that_a_list_of_all_ends_with() {
        let mut latest = Latest::<usize, 8>::default();
        assert!(latest.back().is_none() && latest.get(0).is_none());
        let mut all = Vec::new();
        for number in 0..30 {
            latest.push(number * 2);
            all.push(number * 2);
            let kept = all.get(all.len().saturating_sub(8)..).unwrap_or_default();
            assert_eq!(latest.iter().copied().collect::<Vec<_>>(), kept);
            assert_eq!((latest.len(), latest.back()), (kept.len(), kept.last()));
            for place in 0..10 {
                assert_eq!(latest.get(place), kept.get(place));
            }
            for wanted in 0..70 {
                let found = latest.partition_point(|number| *number < wanted);
                assert_eq!(found, kept.partition_point(|number| *number < wanted));
            }
        }
    }
}
