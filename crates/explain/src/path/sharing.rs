//! Whether a host's connections to several others share one path.
//!
//! If they do, the path carries no more for all of them together than for one alone, and if it is saturated, no less. Paths of their own
//! carry more together whenever two of them are busy, and less whenever one waits for its program. So the bytes that arrive in
//! each window of some packets tell: in nearly all windows they are about what one connection's rate allows.

/// Bytes of a window, at least: acknowledgments arrive for two segments at a time, which must not matter.
pub(super) const WINDOW_BYTES: u64 = 16 * 1538;
/// Windows before and after the time in question.
pub(super) const WINDOWS: u64 = 16;
/// Fewest windows that show whether the path is saturated.
const MIN_WINDOWS: usize = 8;
/// A window with at least this part of what the path carries, percent, exceeds the path.
const MIN_OVER: u64 = 115;
/// A window with at least this part of what the path carries, percent, is full.
const MIN_FULL: u64 = 80;
/// At most one window in 16 may exceed the path.
const MAX_OVER: usize = 16;
/// Least part of the windows that are full, percent.
const MIN_FULL_WINDOWS: usize = 75;
/// The host with the second most bytes has at least an eighth of them.
const MIN_SECOND: u64 = 8;

/// What arrived in some windows, by host.
#[derive(Debug)]
pub(super) struct Arrivals {
    first: u64,
    windows: Vec<u64>,
    hosts: Vec<(u32, u64)>,
}

impl Arrivals {
    /// Of windows from this one on.
    pub(super) fn new(first: u64) -> Self {
        Self {
            first,
            windows: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// Bytes of a host arrived in a window.
    pub(super) fn add(&mut self, window: u64, host: u32, bytes: u64) {
        let place = window.saturating_sub(self.first);
        let Some(place) = usize::try_from(place)
            .ok()
            .filter(|place| *place <= 2 * WINDOWS as usize)
        else {
            return;
        };
        if self.windows.len() <= place {
            self.windows.resize(place + 1, 0);
        }
        if let Some(sum) = self.windows.get_mut(place) {
            *sum = sum.saturating_add(bytes);
        }
        match self.hosts.iter_mut().find(|(known, _)| *known == host) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => self.hosts.push((host, bytes)),
        }
    }

    /// Whether all of them together saturate a path that carries `room` bytes in a window.
    pub(super) fn saturate(mut self, room: u64) -> bool {
        // the first and the last window may have begun and ended in the middle
        let idle = self.windows.iter().take_while(|bytes| **bytes == 0).count();
        let whole = self.windows.get(idle + 1..).unwrap_or_default();
        let [whole @ .., _] = whole else { return false };
        let part = |percent: u64| room.saturating_mul(percent) / 100;
        let count = |least: u64| whole.iter().filter(|bytes| **bytes >= least).count();
        let (over, full) = (count(part(MIN_OVER)), count(part(MIN_FULL)));
        self.hosts
            .sort_unstable_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let all: u64 = self.hosts.iter().map(|(_, bytes)| *bytes).sum();
        let second = self.hosts.get(1).map_or(0, |(_, bytes)| *bytes);
        room > 0
            && whole.len() >= MIN_WINDOWS
            && over.saturating_mul(MAX_OVER) <= whole.len()
            && full.saturating_mul(100) >= whole.len().saturating_mul(MIN_FULL_WINDOWS)
            && second.saturating_mul(MIN_SECOND) >= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether these bytes of two hosts in a window each saturate a path of 100.
    fn saturate(windows: impl IntoIterator<Item = [u64; 2]>) -> bool {
        let mut arrivals = Arrivals::new(7);
        for (window, bytes) in (7..).zip(windows) {
            for (host, bytes) in (1..).zip(bytes) {
                arrivals.add(window, host, bytes);
            }
        }
        arrivals.saturate(100)
    }

    #[test]
    fn hosts_that_take_turns_on_a_path_share_it() {
        assert!(saturate((0..20).map(|window| match window % 4 {
            0 => [100, 0],
            1 => [40, 61],
            2 => [0, 98],
            _ => [55, 48],
        })));
    }

    #[test]
    fn hosts_that_have_paths_of_their_own_do_not() {
        // both are busy at times, or none of them
        assert!(!saturate((0..20).map(|window| match window % 4 {
            0 => [100, 100],
            1 => [100, 0],
            2 => [0, 98],
            _ => [0, 0],
        })));
        assert!(!saturate((0..20).map(|window| [100 * (window % 2), 0])));
    }

    #[test]
    fn one_host_alone_and_a_short_time_show_nothing() {
        assert!(!saturate((0..20).map(|_| [100, 2])));
        assert!(!saturate((0..6).map(|_| [50, 50])));
        assert!(!saturate([]));
    }
}
