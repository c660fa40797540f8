//! What a client waits for, in the object of `coax status --json`.

use std::collections::BTreeMap;

use coax_waits::{Copy, Direction, Doing, MINUTE, Meter, SECONDS, Shares};
use coax_wire::time::Time;
use serde::{Deserialize, Serialize};

/// What a client waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// What the connection does: `waiting` (for the client), `receiving`, `serving`, `parked` (a request waits for another
    /// client) or `sending`.
    pub doing: String,
    /// Milliseconds since it began to do that.
    pub doing_ms: u64,
    /// What the last 5 to 10 seconds were spent on,
    pub seconds: SharesStatus,
    /// the last minute,
    pub minute: SharesStatus,
    /// and the copy that is under way, or the last one.
    pub copy: Option<CopyStatus>,
    /// Milliseconds in which requests waited for a thread or the disk's queue,
    pub queue_ms: u64,
    /// in which the server worked on them,
    pub work_ms: u64,
    /// and in which they waited for other clients.
    pub others_ms: u64,
    /// The shortest round trip, microseconds; 0 if unknown.
    pub round_trip_us: u64,
    /// Segments to the client that were sent again.
    pub retransmissions: u64,
}

/// Time by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharesStatus {
    /// The cause with the most time.
    pub most: Option<String>,
    /// Microseconds by cause; causes without time are left out.
    pub us: BTreeMap<String, u64>,
}

/// A copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyStatus {
    /// `to-client` or `to-server`.
    pub direction: String,
    /// The file, as SHARE/PATH, while it is copied.
    #[serde(default)]
    pub file: Option<String>,
    /// Whether it has ended.
    pub ended: bool,
    /// Its time so far, microseconds.
    pub wall_us: u64,
    /// Bytes so far.
    pub bytes: u64,
    /// `core`, `andx`, `raw` or `mpx`.
    pub family: String,
    /// Bytes of most of its requests.
    pub block: u64,
    /// What its time was spent on.
    pub shares: SharesStatus,
}

/// A piece of advice about the current copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdviceStatus {
    /// Its name in data/advice.
    pub id: String,
    /// What to do.
    pub title: String,
    /// Why.
    pub why: String,
    /// Percent of the copy's time that it is against.
    pub percent: u64,
    /// What to change: machine, place, value.
    pub changes: Vec<String>,
}

impl AccountStatus {
    /// The account at `now`.
    pub(crate) fn of(meter: &Meter, now: Time) -> Self {
        let (doing, since) = meter.doing();
        let doing = match doing {
            Doing::Waiting => "waiting",
            Doing::Receiving => "receiving",
            Doing::Serving => "serving",
            Doing::Parked => "parked",
            Doing::Sending => "sending",
        };
        let server = meter.server();
        Self {
            doing: doing.into(),
            doing_ms: (now - since).as_millis(),
            seconds: SharesStatus::of(&meter.recent(now, SECONDS)),
            minute: SharesStatus::of(&meter.recent(now, MINUTE)),
            copy: meter.copy().map(CopyStatus::of),
            queue_ms: server.queue.as_millis(),
            work_ms: server.work.as_millis(),
            others_ms: server.others.as_millis(),
            round_trip_us: meter.kernel().min_rtt.0 / 1000,
            retransmissions: meter.kernel().retransmitted,
        }
    }
}

impl SharesStatus {
    fn of(shares: &Shares) -> Self {
        let all = shares
            .iter()
            .map(|(cause, us)| (cause.name(), u64::from(us)));
        let us = all.filter(|(_, us)| *us > 0);
        Self {
            most: shares.dominant().map(|cause| cause.name().into()),
            us: us.map(|(name, us)| (name.into(), us)).collect(),
        }
    }

    /// All of it, microseconds.
    pub fn total_us(&self) -> u64 {
        self.us.values().fold(0, |sum, us| sum.saturating_add(*us))
    }
}

impl CopyStatus {
    fn of(copy: &Copy) -> Self {
        let us = copy
            .account
            .iter()
            .map(|(cause, span)| (cause, span.0 / 1000));
        let us: Vec<_> = us.filter(|(_, us)| *us > 0).collect();
        Self {
            direction: direction(copy).into(),
            file: None,
            ended: copy.ended,
            wall_us: copy.wall().0 / 1000,
            bytes: copy.bytes,
            family: copy.family().name().into(),
            block: copy.usual.into(),
            shares: SharesStatus {
                most: (!us.is_empty()).then(|| copy.account.dominant().name().into()),
                us: us
                    .into_iter()
                    .map(|(cause, us)| (cause.name().into(), us))
                    .collect(),
            },
        }
    }
}

/// The way of a copy, as `explain` names it.
pub(crate) fn direction(copy: &Copy) -> &'static str {
    match copy.direction {
        Direction::ToClient => "to-client",
        Direction::ToServer => "to-server",
    }
}
