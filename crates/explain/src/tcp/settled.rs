//! The receive window of a connection after its beginning.
//!
//! If a program sets SO_RCVBUF after its connection is established, Linux reduces the window with each received segment,
//! down to the new buffer. The largest window of the connection then does not limit the copy.

/// The largest window that a side offered while it received the second half of its data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settled {
    /// The acknowledged bytes at which the present stretch began; the next one begins at twice as many.
    since: u64,
    /// The largest windows of the stretch before, and of the present one.
    largest: [u32; 2],
}

impl Settled {
    /// The first stretch, bytes.
    const FIRST: u64 = 16_384;

    /// Takes the window of a segment that acknowledges `acknowledged` bytes in all.
    pub(super) fn note(&mut self, window: u32, acknowledged: u64) {
        if acknowledged >= self.since.saturating_mul(2).max(Self::FIRST) {
            self.since = acknowledged;
            self.largest = [self.largest[1], 0];
        }
        self.largest[1] = self.largest[1].max(window);
    }

    /// The largest window of at least the second half, bytes.
    pub(super) fn window(self) -> u32 {
        self.largest[0].max(self.largest[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(windows: impl Iterator<Item = (u32, u64)>) -> u32 {
        let mut settled = Settled::default();
        windows.for_each(|(window, acknowledged)| settled.note(window, acknowledged));
        settled.window()
    }

    #[test]
    fn a_window_that_shrinks_at_first_is_as_narrow_as_it_stays() {
        let shrinks = (0..700_u64).map(|turn| {
            let window = 64_512_u32.saturating_sub(turn as u32 * 2048).max(16_384);
            (window, turn * 1448)
        });
        assert_eq!(after(shrinks), 16_384);
    }

    #[test]
    fn a_window_that_grows_is_as_wide_as_it_gets() {
        let grows = (0..700_u64).map(|turn| (9000 + turn as u32 * 100, turn * 1448));
        assert_eq!(after(grows), 78_900);
    }

    #[test]
    fn what_was_wide_in_the_latter_half_counts() {
        let once = (0..1000_u64).map(|turn| (if turn == 600 { 40_000 } else { 8000 }, turn * 1000));
        assert_eq!(after(once), 40_000);
    }

    #[test]
    fn of_few_bytes_all_windows_count() {
        assert_eq!(
            after([(8000, 0), (64_000, 100), (5000, 9000)].into_iter()),
            64_000
        );
    }
}
