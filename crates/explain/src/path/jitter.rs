//! How unevenly packets come behind the path that carried them.
//!
//! A path cannot bring packets closer to each other than it takes to carry one. Those that come closer were kept together
//! behind it, by an interrupt or a program that had its turn late, so the path had not been idle before the first of them.

use crate::constants::MAX_JITTER;
use crate::timeline::noise;
use coax_wire::time::Span;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Jitter {
    /// How much too close the latest packets came, together.
    early: u64,
    /// How late a packet may come, by what was seen of late.
    most: u64,
    /// How late the last one was.
    late: u64,
}

impl Jitter {
    /// How late the next packet may come though the path carries it without a pause.
    pub(crate) fn allowance(&self) -> Span {
        Span(self.most.saturating_sub(self.late))
    }

    /// A packet came `distance` behind the one before it, and the path takes `serial` for it. Whether it may have done
    /// nothing else meanwhile.
    pub(crate) fn add(&mut self, distance: Span, serial: Span) -> bool {
        let least = serial.0 - noise(serial).0.min(serial.0);
        if distance.0 < least {
            self.early = self.early.saturating_add(serial.0 - distance.0);
        } else {
            self.early -= self.early / 4;
        }
        let seen = self.early.min(serial.0.saturating_mul(2)).min(MAX_JITTER.0);
        let latest = serial.0.saturating_add(noise(serial).0);
        let follows = serial.0 > 0 && distance.0 <= latest.saturating_add(self.allowance().0);
        let late = self
            .late
            .saturating_add(distance.0)
            .saturating_sub(serial.0);
        self.late = if follows { late - late / 16 } else { 0 };
        self.most = seen.max(self.most - self.most / 64);
        follows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of packets that come at such distances, in µs, follow without a pause on a path that takes 600 for each.
    fn follow(distances: &[u64]) -> Vec<bool> {
        let mut jitter = Jitter::default();
        let add = |distance: &u64| jitter.add(Span(distance * 1000), Span(600_000));
        distances.iter().map(add).collect()
    }

    #[test]
    fn a_packet_that_comes_late_had_to_wait_for_its_sender() {
        assert_eq!(follow(&[600, 600, 1200, 600]), [true, true, false, true]);
    }

    #[test]
    fn one_that_the_next_catches_up_with_had_not_once_that_was_seen() {
        let late = [600, 1200, 40, 600, 600, 1200, 40, 600];
        assert_eq!(
            follow(&late),
            [true, false, true, true, true, true, true, true]
        );
    }

    #[test]
    fn what_is_never_made_up_is_a_pause_all_the_same() {
        let late = [600, 1200, 40, 1000, 1000, 1000, 1000];
        let all = follow(&late);
        assert!(
            all.get(4..).is_some_and(|late| late.contains(&false)),
            "{all:?}"
        );
    }

    #[test]
    fn what_was_seen_is_forgotten() {
        let mut distances = vec![600; 300];
        distances.splice(..2, [1200, 40]);
        distances.push(1100);
        assert_eq!(follow(&distances).last(), Some(&false));
    }
}
