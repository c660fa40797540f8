//! Results of the benchmark: copy times and requests.

use std::{collections::BTreeMap, time::Duration};

use coax_client::Exchange;
use coax_wire::command;

/// One profile's row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The profile's name.
    pub profile: String,
    /// The negotiated dialect.
    pub dialect: Option<&'static str>,
    /// Times of copies from the server, in the order of the runs.
    pub to_client: Times,
    /// Times of copies to the server, in the order of the runs.
    pub to_server: Times,
    /// Whether the copied contents equal the original.
    pub contents: Contents,
    /// The requests of all runs in both directions.
    pub requests: Requests,
    /// The reason for missing results.
    pub error: Option<String>,
}

/// Result of the comparison of contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contents {
    /// No round trip was completed.
    #[default]
    Unknown,
    /// Equal in every run.
    Same,
    /// Different in at least one run.
    Differ,
}

impl Contents {
    /// Adds the result of one comparison.
    pub fn note(&mut self, same: bool) {
        *self = match (*self, same) {
            (Self::Differ, _) | (_, false) => Self::Differ,
            _ => Self::Same,
        };
    }
}

impl Row {
    /// The row of a profile before the first run.
    pub fn new(profile: &str) -> Self {
        Self {
            profile: profile.into(),
            dialect: None,
            to_client: Times::default(),
            to_server: Times::default(),
            contents: Contents::default(),
            requests: Requests::default(),
            error: None,
        }
    }

    /// Whether a file went there and back at least once.
    pub fn was_possible(&self) -> bool {
        self.contents != Contents::Unknown
    }
}

/// Copy times of one direction.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Adds the time of one run.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The shortest.
    pub fn min(&self) -> Option<Duration> {
        self.0.iter().min().copied()
    }

    /// The median. For an even count: the mean of the two middle values.
    pub fn median(&self) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort();
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        if sorted.len() % 2 == 1 {
            return Some(upper);
        }
        let lower = *sorted.get(middle.checked_sub(1)?)?;
        Some(lower.saturating_add(upper) / 2)
    }

    /// The longest.
    pub fn max(&self) -> Option<Duration> {
        self.0.iter().max().copied()
    }
}

/// Requests by command.
#[derive(Clone, Debug, Default)]
pub struct Requests(BTreeMap<u8, Taken>);

#[derive(Clone, Debug, Default)]
struct Taken {
    bytes: u64,
    response_ns: Vec<u64>,
}

/// Statistics of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The command's name in [MS-CIFS] without its prefix, such as `READ_RAW`.
    pub command: String,
    /// Requests.
    pub count: usize,
    /// Bytes of file data in these requests.
    pub bytes: u64,
    /// Median time from request to last reply.
    pub p50: Duration,
    /// 95th percentile of that time.
    pub p95: Duration,
}

impl Requests {
    /// Adds exchanges.
    pub fn add(&mut self, exchanges: &[Exchange]) {
        for exchange in exchanges {
            let taken = self.0.entry(exchange.command).or_default();
            taken.bytes = taken.bytes.saturating_add(exchange.bytes.into());
            taken
                .response_ns
                .push(exchange.done.0.saturating_sub(exchange.sent.0));
        }
    }

    /// One entry per command, sorted by bytes, most first.
    pub fn mix(&self) -> Vec<Mix> {
        let mut lines: Vec<Mix> = self
            .0
            .iter()
            .map(|(code, taken)| taken.mix(*code))
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse((line.bytes, line.count)));
        lines
    }
}

impl Taken {
    fn mix(&self, code: u8) -> Mix {
        let mut sorted = self.response_ns.clone();
        sorted.sort_unstable();
        Mix {
            command: command::name(code).map_or_else(|| format!("0x{code:02X}"), str::to_owned),
            count: sorted.len(),
            bytes: self.bytes,
            p50: Duration::from_nanos(percentile(&sorted, 50)),
            p95: Duration::from_nanos(percentile(&sorted, 95)),
        }
    }
}

/// Percentile by the nearest-rank method.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100).max(1);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use coax_wire::time::Time;

    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (percentile(&hundred, 50), percentile(&hundred, 95)),
            (50, 95)
        );
        assert_eq!((percentile(&[7], 50), percentile(&[7], 95)), (7, 7));
        assert_eq!(percentile(&[1, 2, 9], 95), 9);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        let mut times = Times::default();
        assert_eq!(times.median(), None);
        for seconds in [9, 1, 3, 4] {
            times.push(Duration::from_secs(seconds));
        }
        assert_eq!(times.median(), Some(Duration::from_millis(3500)));
        assert_eq!(times.min(), Some(Duration::from_secs(1)));
        assert_eq!(times.max(), Some(Duration::from_secs(9)));
    }

    #[test]
    fn requests_are_counted_by_command_and_sorted_by_bytes() {
        let exchange = |command, bytes, us: u64| Exchange {
            command,
            sent: Time(1_000),
            done: Time(1_000 + us * 1_000),
            bytes,
        };
        let mut requests = Requests::default();
        requests.add(&[
            exchange(command::CLOSE, 0, 5),
            exchange(command::READ_RAW, 65_024, 10),
            exchange(command::READ_RAW, 1_000, 30),
        ]);
        let mix = requests.mix();
        let first = mix.first().unwrap();
        assert_eq!(
            (first.command.as_str(), first.count, first.bytes),
            ("READ_RAW", 2, 66_024)
        );
        assert_eq!((first.p50.as_micros(), first.p95.as_micros()), (10, 30));
        assert_eq!(mix.get(1).unwrap().command, "CLOSE");
    }

    #[test]
    fn one_difference_stays_a_difference() {
        let mut contents = Contents::default();
        for (same, becomes) in [
            (true, Contents::Same),
            (false, Contents::Differ),
            (true, Contents::Differ),
        ] {
            contents.note(same);
            assert_eq!(contents, becomes);
        }
    }
}
