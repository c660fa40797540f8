//! Limits how often one station is answered: a token bucket for each address, in a table of bounded size.

use alloc::collections::BTreeMap;

use coax_wire::time::{Span, Time};

/// Stations in one generation of the table.
const MAX_STATIONS: usize = 512;

/// How many packets a station may cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Packets within a second in the long run.
    pub per_s: u32,
    /// Packets at once.
    pub burst: u32,
}

/// Token buckets of the stations `A`.
///
/// The table has two generations. When the younger one is full, it becomes the older one, and the older one is
/// forgotten. So its size is bounded, and each step takes logarithmic time, whatever addresses a sender invents.
#[derive(Debug)]
pub struct RateLimiter<A> {
    rate: Rate,
    young: BTreeMap<A, Bucket>,
    old: BTreeMap<A, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Thousandths of packets that may be caused now.
    tokens: u64,
    filled: Time,
}

impl<A: Ord + Copy> RateLimiter<A> {
    /// A limiter that knows no station yet.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            young: BTreeMap::new(),
            old: BTreeMap::new(),
        }
    }

    /// Whether `station` may cause one more packet at `now`.
    pub fn admit(&mut self, now: Time, station: A) -> bool {
        let full = u64::from(self.rate.burst).saturating_mul(1000);
        let fresh = Bucket {
            tokens: full,
            filled: now,
        };
        let known = self.young.get(&station).or_else(|| self.old.get(&station));
        let mut bucket = known.copied().unwrap_or(fresh);
        let earned = Span(now.0.saturating_sub(bucket.filled.0)).as_millis();
        let earned = earned.saturating_mul(u64::from(self.rate.per_s));
        if earned > 0 {
            bucket.tokens = bucket.tokens.saturating_add(earned).min(full);
            bucket.filled = now;
        }
        let admitted = bucket.tokens >= 1000;
        if admitted {
            bucket.tokens = bucket.tokens.saturating_sub(1000);
        }
        if self.young.len() >= MAX_STATIONS && !self.young.contains_key(&station) {
            self.old = core::mem::take(&mut self.young);
        }
        self.young.insert(station, bucket);
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        per_s: 10,
        burst: 5,
    };

    #[test]
    fn a_station_gets_its_burst_and_then_its_rate() {
        let mut limiter = RateLimiter::new(RATE);
        let admitted = |limiter: &mut RateLimiter<u32>, ms| {
            let now = Time(0) + Span::from_millis(ms);
            (0..100).filter(|_| limiter.admit(now, 1)).count()
        };
        assert_eq!(admitted(&mut limiter, 0), 5);
        assert_eq!(admitted(&mut limiter, 100), 1);
        assert_eq!(admitted(&mut limiter, 300), 2);
        assert_eq!(admitted(&mut limiter, 60_000), 5);
        assert!(limiter.admit(Time(0), 2), "another station has its own");
    }

    #[test]
    fn invented_addresses_do_not_grow_the_table() {
        let mut limiter = RateLimiter::new(RATE);
        for station in 0..100_000u32 {
            limiter.admit(Time(0), station);
        }
        let kept = limiter.young.len().saturating_add(limiter.old.len());
        assert!(kept <= MAX_STATIONS * 2, "{kept}");
    }
}
