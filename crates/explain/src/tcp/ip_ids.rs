//! The number that a host gives each of its packets (IP's identification), where it counts those of a connection by one:
//! then one that is left out was sent and never captured. What is lost as a whole leaves no other trace at the receiver's
//! end.

/// Packets of a host before it is known how it counts.
const ENOUGH: u32 = 8;
/// More numbers left out are a beginning elsewhere.
const MOST_LOST: u16 = 16;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IpIdTracker {
    last: Option<u16>,
    /// Packets so far, and those that were one further than the packet before them.
    packets: u32,
    by_one: u32,
    /// Some were left out just before the last packet.
    pub(super) lacks: bool,
    /// The host counts its packets, and none was left out just before the last one: nothing was lost there.
    pub(super) has_all: bool,
}

impl IpIdTracker {
    /// A packet with this number came.
    pub(super) fn next(&mut self, identification: u32) {
        let Some(new) = u16::try_from(identification).ok().filter(|new| *new > 0) else {
            *self = Self::default();
            return;
        };
        let further = self.last.map_or(1, |last| new.wrapping_sub(last));
        let is_counted = self.packets >= ENOUGH && self.by_one >= self.packets / 4 * 3;
        self.lacks = is_counted && (2..=MOST_LOST).contains(&further);
        self.has_all = is_counted && further == 1;
        self.packets = self.packets.saturating_add(1);
        self.by_one = self.by_one.saturating_add(u32::from(further == 1));
        self.last = Some(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut ip_ids = IpIdTracker::default();
        let mut lacking = |number: &u32| {
            ip_ids.next(*number);
            ip_ids.lacks
        };
        let numbers: Vec<u32> = numbers.into_iter().collect();
        numbers
            .into_iter()
            .filter(|number| lacking(number))
            .collect()
    }

    #[test]
    fn a_number_left_out_among_many_is_a_packet_that_was_lost() {
        assert_eq!(lacking((65_520..=65_535).chain([2, 3, 5])), [2, 5]);
    }

    #[test]
    fn nothing_was_lost_before_a_packet_that_is_one_further() {
        let mut ip_ids = IpIdTracker::default();
        (100..120).for_each(|number| ip_ids.next(number));
        assert!(ip_ids.has_all);
        for (number, has_all) in [(122, false), (123, true), (200, false), (0, false)] {
            ip_ids.next(number);
            assert_eq!(ip_ids.has_all, has_all, "{number}");
        }
    }

    #[test]
    fn numbers_by_chance_of_all_connections_or_none_tell_nothing() {
        assert!(lacking((1..100).map(|place| place * 40_503 % 65_536)).is_empty());
        assert!(lacking((1..100).map(|place| place * 3)).is_empty());
        assert!(lacking([0; 100]).is_empty());
    }
}
