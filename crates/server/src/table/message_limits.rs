//! Limits of messages between users, which anybody may send without logging on: by address, and for all together.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};
use coax_wire::time::{Span, Time};

/// Messages that an address may send at once.
const BURST_BY_ADDRESS: u32 = 10;
/// Time after which an address may send one more.
const INTERVAL_BY_ADDRESS: Span = Span::from_secs(3);
/// Messages that all addresses may send at once.
const BURST_OF_ALL: u32 = 100;
/// Time after which one more is accepted from anybody.
const INTERVAL_OF_ALL: Span = Span::from_millis(200);
/// Addresses that are remembered. When more send, those are forgotten that may send a whole burst again, then all.
const MAX_REMEMBERED: usize = 1024;

/// The messages of the last minutes.
#[derive(Debug, Default)]
pub(super) struct MessageLimits {
    addresses: BTreeMap<String, Bucket>,
    all: Bucket,
}

/// When as many messages will be forgotten as were accepted.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    empty: Time,
}

impl Bucket {
    /// Takes one message, if there were fewer than `burst` within the last intervals.
    fn admit(&mut self, now: Time, burst: u32, interval: Span) -> bool {
        let full = Span(
            interval
                .0
                .saturating_mul(u64::from(burst.saturating_sub(1))),
        );
        let from = self.empty.max(now);
        if from - now > full {
            return false;
        }
        self.empty = from + interval;
        true
    }
}

impl MessageLimits {
    /// Whether a message from `address` may be delivered at `now`; it counts.
    pub(super) fn admit(&mut self, now: Time, address: &str) -> bool {
        if self.addresses.len() >= MAX_REMEMBERED && !self.addresses.contains_key(address) {
            self.addresses.retain(|_, bucket| bucket.empty > now);
            if self.addresses.len() >= MAX_REMEMBERED {
                self.addresses.clear();
            }
        }
        let bucket = self.addresses.entry(address.to_string()).or_default();
        let before = *bucket;
        let own = bucket.admit(now, BURST_BY_ADDRESS, INTERVAL_BY_ADDRESS);
        let admitted = own && self.all.admit(now, BURST_OF_ALL, INTERVAL_OF_ALL);
        if own && !admitted {
            *bucket = before;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn an_address_sends_a_burst_and_then_one_message_each_interval() {
        let mut limits = MessageLimits::default();
        let start = Time(7_000_000_000);
        let mut admitted =
            |now, address: &str| (0..50).filter(|_| limits.admit(now, address)).count();
        assert_eq!(admitted(start, "10.0.0.1"), 10);
        assert_eq!(admitted(start + INTERVAL_BY_ADDRESS, "10.0.0.1"), 1);
        assert_eq!(admitted(start + Span::from_secs(60), "10.0.0.1"), 10);
        assert_eq!(admitted(start + Span::from_secs(60), "10.0.0.2"), 10);
    }

    #[test]
    fn many_addresses_send_no_more_than_all_may_and_memory_is_bounded() {
        let mut limits = MessageLimits::default();
        let start = Time(7_000_000_000);
        let admitted = (0..10_000).filter(|n| limits.admit(start, &format!("10.0.{n}")));
        assert_eq!(admitted.count(), 100);
        assert!(limits.addresses.len() <= MAX_REMEMBERED);
    }
}
