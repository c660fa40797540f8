//! Sets of frame numbers.

/// Frames of a file, one bit each.
#[derive(Debug, Default)]
pub(crate) struct FrameSet {
    words: Vec<u64>,
}

/// Frame numbers are lower: a set has 512 MiB at most.
const MAX_FRAME: u64 = 1 << 32;

impl FrameSet {
    #[inline]
    pub(crate) fn has(&self, frame: u64) -> bool {
        let word = usize::try_from(frame / 64)
            .ok()
            .and_then(|place| self.words.get(place));
        word.is_some_and(|word| word >> (frame % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, frame: u64) {
        if frame >= MAX_FRAME {
            return;
        }
        let place = (frame / 64) as usize;
        if self.words.len() <= place {
            self.words.resize(place + 1, 0);
        }
        if let Some(word) = self.words.get_mut(place) {
            *word |= 1 << (frame % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_was_put_into_it() {
        let mut set = FrameSet::default();
        assert!(!set.has(0) && !set.has(u64::MAX));
        for frame in [1, 63, 64, 1000, 1000, u64::MAX] {
            set.insert(frame);
        }
        let found: Vec<u64> = (0..2000).filter(|frame| set.has(*frame)).collect();
        assert_eq!(found, [1, 63, 64, 1000]);
    }
}
