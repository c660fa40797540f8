//! The object of `coax status --history --json`.

use coax_state::Minute;
use serde::{Deserialize, Serialize};

/// One day of figures by the minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryStatus {
    /// The version of this object, as [`super::SCHEMA`].
    pub schema: u32,
    /// The minute now, since 1970.
    pub now: u64,
    /// The server's time zone, minutes west of UTC.
    pub minutes_west: i16,
    /// How many minutes are kept.
    pub length: u64,
    /// The minutes with activity, the oldest first.
    pub minutes: Vec<MinuteStatus>,
}

/// A minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinuteStatus {
    /// Minutes since 1970.
    pub minute: u64,
    /// Shares that moved data.
    pub shares: Vec<ShareMinute>,
    /// Clients that requested something.
    pub clients: Vec<ClientMinute>,
}

/// A share in a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareMinute {
    /// Its name; `(others)` stands for all beyond the first 31.
    pub share: String,
    /// Bytes of files that were read,
    pub read: u64,
    /// and written.
    pub written: u64,
}

/// A client in a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMinute {
    /// Its address; `(others)` stands for all beyond the first 31.
    pub address: String,
    /// Its NetBIOS name, or nothing.
    pub name: String,
    /// Bytes received from it,
    pub received: u64,
    /// and sent to it.
    pub sent: u64,
    /// Its requests,
    pub requests: u64,
    /// and those that were refused.
    pub refused: u64,
    /// Microseconds of its account,
    pub waited_us: u64,
    /// and the cause with the most of them, or nothing.
    pub cause: String,
}

impl HistoryStatus {
    /// These minutes.
    pub(crate) fn of(schema: u32, now: u64, minutes: Vec<Minute>) -> Self {
        Self {
            schema,
            now,
            minutes_west: coax_clock::zone_minutes_west(),
            length: coax_state::HISTORY_MINUTES,
            minutes: minutes.into_iter().map(MinuteStatus::of).collect(),
        }
    }
}

impl MinuteStatus {
    fn of(minute: Minute) -> Self {
        let shares = minute.shares.into_iter().map(|share| ShareMinute {
            share: share.share,
            read: share.read,
            written: share.written,
        });
        let clients = minute.clients.into_iter().map(|client| ClientMinute {
            address: client.address,
            name: client.name,
            received: client.received,
            sent: client.sent,
            requests: client.requests,
            refused: client.refused,
            waited_us: client.waited_us,
            cause: client.cause,
        });
        Self {
            minute: minute.minute,
            shares: shares.collect(),
            clients: clients.collect(),
        }
    }
}
