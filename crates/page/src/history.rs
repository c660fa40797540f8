//! A day: bytes of each minute by share, and clients.

use std::collections::{BTreeMap, VecDeque};

use coax_serve::{TotalsStatus, status::HistoryStatus};
use serde::Serialize;

/// Minutes of a day.
const MINUTES: usize = 24 * 60;
/// Shares at most; the server itself counts no more.
const SERIES_MAX: usize = 65;

/// What a day was like, a value for each minute, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Day {
    /// Seconds since 1970 of the first minute.
    pub from: u64,
    /// Seconds between two values.
    pub step: u64,
    /// Connected clients.
    pub clients: Vec<u64>,
    /// Bytes by share.
    pub shares: Vec<Series>,
}

/// The traffic of a share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Series {
    /// The share.
    pub name: String,
    /// Bytes received,
    pub received: Vec<u64>,
    /// and sent.
    pub sent: Vec<u64>,
}

impl Day {
    /// The day in the server's database.
    pub(crate) fn of(kept: &HistoryStatus) -> Self {
        let mut history = History::default();
        for minute in &kept.minutes {
            let mut shares = Vec::new();
            for share in &minute.shares {
                let Some(place) = history.place(&share.share) else {
                    continue;
                };
                shares.resize(history.names.len(), (0, 0));
                if let Some(moved) = shares.get_mut(place) {
                    *moved = (share.written, share.read);
                }
            }
            history.push(minute.minute, minute.clients.len() as u64, shares);
        }
        history.day()
    }
}

/// One minute: its number since 1970, the clients, and received and sent bytes by the number of the series.
#[derive(Debug)]
struct Minute {
    number: u64,
    clients: u64,
    shares: Vec<(u64, u64)>,
}

/// The last day in memory.
#[derive(Debug, Default)]
pub(crate) struct History {
    names: Vec<String>,
    minutes: VecDeque<Minute>,
    before: BTreeMap<String, (u64, u64)>,
}

impl History {
    /// Whether a minute has begun since the last [`Self::add`].
    pub(crate) fn is_due(&self, now_s: u64) -> bool {
        let last = self.minutes.back().map(|minute| minute.number);
        last.is_none_or(|last| last != now_s / 60)
    }

    /// Ends a minute.
    pub(crate) fn add(&mut self, now_s: u64, clients: usize, totals: &TotalsStatus) {
        let mut shares = vec![(0, 0); self.names.len()];
        for (name, now) in &totals.shares {
            let Some(place) = self.place(name) else {
                continue;
            };
            let now = (now.received, now.sent);
            let before = self.before.insert(name.clone(), now).unwrap_or_default();
            if shares.len() <= place {
                shares.resize(place.saturating_add(1), (0, 0));
            }
            if let Some(share) = shares.get_mut(place) {
                *share = (
                    now.0.saturating_sub(before.0),
                    now.1.saturating_sub(before.1),
                );
            }
        }
        self.push(now_s / 60, clients as u64, shares);
    }

    fn push(&mut self, number: u64, clients: u64, shares: Vec<(u64, u64)>) {
        if self.minutes.len() >= MINUTES {
            self.minutes.pop_front();
        }
        self.minutes.push_back(Minute {
            number,
            clients,
            shares,
        });
    }

    fn place(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.names.iter().position(|known| known == name) {
            return Some(place);
        }
        if self.names.len() >= SERIES_MAX {
            return None;
        }
        self.names.push(name.into());
        Some(self.names.len().saturating_sub(1))
    }

    /// The day. Minutes that nobody counted, for example while the machine slept, have zeros.
    pub(crate) fn day(&self) -> Day {
        let first = self.minutes.front().map_or(0, |minute| minute.number);
        let last = self.minutes.back().map_or(0, |minute| minute.number);
        let oldest = last.saturating_add(1).saturating_sub(MINUTES as u64);
        let first = first.max(oldest);
        let count = match self.minutes.is_empty() {
            true => 0,
            false => usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0),
        };
        let mut day = Day {
            from: first.saturating_mul(60),
            step: 60,
            clients: vec![0; count],
            shares: Vec::new(),
        };
        for name in &self.names {
            day.shares.push(Series {
                name: name.clone(),
                received: vec![0; count],
                sent: vec![0; count],
            });
        }
        for minute in &self.minutes {
            let at = minute.number.checked_sub(first);
            if let Some(at) = at.and_then(|at| usize::try_from(at).ok()) {
                put(&mut day, at, minute);
            }
        }
        day
    }
}

fn put(day: &mut Day, at: usize, minute: &Minute) {
    if let Some(clients) = day.clients.get_mut(at) {
        *clients = minute.clients;
    }
    for (series, share) in day.shares.iter_mut().zip(&minute.shares) {
        if let (Some(received), Some(sent)) = (series.received.get_mut(at), series.sent.get_mut(at))
        {
            (*received, *sent) = *share;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::*;
    use coax_serve::{
        TrafficStatus,
        status::{ClientMinute, MinuteStatus, ShareMinute},
    };

    #[test]
    fn a_day_of_the_database_has_a_value_for_each_minute() {
        let minute = |minute, share: &str, read| MinuteStatus {
            minute,
            shares: vec![ShareMinute {
                share: share.into(),
                read,
                written: 1,
            }],
            clients: vec![ClientMinute::default()],
        };
        let day = Day::of(&HistoryStatus {
            minutes: vec![minute(10, "A", 5), minute(12, "B", 7)],
            ..HistoryStatus::default()
        });
        assert_eq!(
            (day.from, day.step, &day.clients[..]),
            (600, 60, &[1, 0, 1][..])
        );
        assert_eq!(day.shares[0].sent, [5, 0, 0]);
        assert_eq!(day.shares[1].sent, [0, 0, 7]);
        assert_eq!(day.shares[1].received, [0, 0, 1]);
        assert!(Day::of(&HistoryStatus::default()).clients.is_empty());
    }

    fn totals(shares: &[(&str, u64)]) -> TotalsStatus {
        let traffic = |bytes| TrafficStatus {
            requests: 1,
            received: bytes,
            sent: bytes * 2,
        };
        let shares = shares
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), traffic(*bytes)));
        TotalsStatus {
            shares: shares.collect(),
            ..TotalsStatus::default()
        }
    }

    #[test]
    fn each_minute_has_the_bytes_since_the_minute_before() {
        let mut history = History::default();
        assert!(history.is_due(600));
        history.add(600, 1, &totals(&[("A", 100)]));
        assert!(!history.is_due(659) && history.is_due(660));
        history.add(660, 2, &totals(&[("A", 150), ("B", 7)]));
        // two minutes were not counted
        history.add(840, 0, &totals(&[("A", 150), ("B", 8)]));
        let day = history.day();
        assert_eq!((day.from, day.step), (600, 60));
        assert_eq!(day.clients, [1, 2, 0, 0, 0]);
        assert_eq!(day.shares[0].received, [100, 50, 0, 0, 0]);
        assert_eq!(day.shares[1].sent, [0, 14, 0, 0, 2]);
    }

    #[test]
    fn it_is_a_day_long_and_has_a_limited_number_of_shares() {
        let mut history = History::default();
        assert_eq!(
            history.day(),
            Day {
                step: 60,
                ..Day::default()
            }
        );
        for minute in 0..2000 {
            let name = format!("S{minute}");
            history.add(minute * 60, 1, &totals(&[(&name, 1)]));
        }
        let day = history.day();
        assert_eq!((day.clients.len(), day.shares.len()), (MINUTES, SERIES_MAX));
        assert_eq!(day.from, (2000 - 1440) * 60);
        // the clock was set back
        history.add(60, 1, &totals(&[]));
        assert!(history.day().clients.len() <= MINUTES);
    }
}
