//! What is read off a copy in a capture, be it one from the world or one of the model's: the same instrument for both,
//! so that what it gets wrong it gets wrong twice.

use crate::constants::{BSD_FAST_TIMEOUT, COMPARABLE, LOSS_DEVIATIONS};
use coax_cause::{Account, Cause, Kind};
use coax_explain::report::{Capture, Connection, Copy, Direction, Requests, Side};
use coax_wire::time::Span;

/// See the module. Times are nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    /// Bytes of the file.
    pub(crate) bytes: u64,
    pub(crate) wall: f64,
    causes: [f64; Cause::COUNT],
    /// The shortest way there and back.
    pub(crate) round_trip: f64,
    /// How long the path takes for a byte, picoseconds.
    pub(crate) path_ps: Option<f64>,
    /// Requests that moved data.
    pub(crate) requests: f64,
    /// The command that moved most, and how much it mostly moved.
    pub(crate) main: (String, u64),
    /// The shortest of the times that requests without data took, beyond the way there and back.
    pub(crate) bare: Option<f64>,
    /// Half of the requests that moved most took less than half of what they took on the mean, beyond the way: a few had
    /// to wait, and not for their bytes.
    pub(crate) is_uneven: bool,
    /// Most requests took as long as the beats of a clock that delays acknowledgments.
    pub(crate) is_beating: bool,
    /// Segments with data in the copy's direction, and those of them that were lost.
    pub(crate) segments: f64,
    pub(crate) lost: f64,
    /// What the path took beyond as many stretches of the usual length: it stood still, or carried others.
    interrupted: f64,
}

impl Observation {
    /// Of `copy`, which was found in `capture`.
    pub(crate) fn of(capture: &Capture, copy: &Copy) -> Option<Self> {
        let connection = capture.connections.get(copy.connection)?;
        let ways = [connection.client_rtt, connection.server_rtt];
        let round_trip = ways.iter().flatten().map(|way| way.0 as f64).sum();
        let sender = sender(connection, copy.direction);
        let moving = copy.requests.iter().filter(|row| row.bytes > 0);
        let main = moving.clone().max_by_key(|row| row.bytes);
        Some(Self {
            main: main.map_or_else(Default::default, |row| {
                (row.command.clone().into_owned(), row.usual_bytes)
            }),
            bytes: copy.bytes,
            wall: copy.wall.0 as f64,
            causes: causes(&copy.account),
            round_trip,
            path_ps: sender.path_ps_per_byte.map(|ps| ps as f64),
            requests: moving.map(|row| row.count as f64).sum(),
            is_uneven: main.is_some_and(|row| is_uneven(row, connection.server_rtt)),
            is_beating: main.is_some_and(is_beating),
            bare: bare(&copy.requests, connection.server_rtt.unwrap_or_default()),
            segments: sender.data_segments as f64,
            lost: (sender.retransmissions - sender.spurious.min(sender.retransmissions))
                .max(sender.out_of_order) as f64,
            interrupted: interrupted(copy),
        })
    }

    /// What went to `cause`.
    pub(crate) fn spent(&self, cause: Cause) -> f64 {
        self.causes.get(cause as usize).copied().unwrap_or_default()
    }

    /// A copy that took so long, with so much of it for one cause.
    #[cfg(test)]
    pub(crate) fn with(wall: f64, cause: Cause, spent: f64) -> Self {
        let mut account = Account::default();
        account.add(cause, Span(spent as u64));
        Self {
            wall,
            causes: causes(&account),
            ..Self::default()
        }
    }

    /// The same with as much time for carrying bytes as `model` has, taken in these parts from client's and server's time.
    pub(crate) fn with_carrying(&self, model: &Self, parts: [f64; 2]) -> Self {
        let more = (model.of_kind(Kind::Path) - self.of_kind(Kind::Path)).max(0.0);
        let mut shown = self.clone();
        let mut carried = 0.0;
        for (cause, part) in MACHINES.into_iter().zip(parts) {
            if let Some(spent) = shown.causes.get_mut(cause as usize) {
                let taken = spent.min(more * part);
                *spent -= taken;
                carried += taken;
            }
        }
        if let Some(spent) = shown.causes.get_mut(Cause::Bandwidth as usize) {
            *spent += carried;
        }
        shown
    }

    /// The share of the time that nothing is known of.
    pub(crate) fn unknown(&self) -> f64 {
        self.of_kind(Kind::Unknown) / self.wall.max(1.0)
    }

    /// The same of a longer file: what happens once a copy stays, all else grows.
    pub(crate) fn of_size(&self, bytes: u64) -> Self {
        let factor = bytes as f64 / self.bytes.max(1) as f64;
        let mut grown = self.clone();
        for cause in Cause::ALL {
            let once = matches!(cause, Cause::Metadata | Cause::SlowStart);
            if let Some(spent) = grown.causes.get_mut(cause as usize).filter(|_| !once) {
                *spent *= factor;
            }
        }
        grown.wall = grown.causes.iter().sum();
        grown.requests *= factor;
        grown.segments *= factor;
        grown.lost *= factor;
        grown.interrupted *= factor;
        grown.bytes = bytes;
        grown
    }

    /// How long this takes when a model of it, `before`, becomes `after`: of each cause, what the model has too much or
    /// too little of it shrinks and grows with it; what it has none of stays.
    pub(crate) fn in_proportion(&self, before: &Self, after: &Self) -> f64 {
        let least = self.wall / COMPARABLE;
        let trips = (after.requests / before.requests.max(1.0)).min(1.0);
        let time = (after.wall / self.wall.max(1.0)).min(1.0);
        let of_kind = |kind| {
            let [own, model, after] = [self, before, after].map(|it| it.of_kind(kind));
            if model > least {
                return after * (own / model).clamp(0.8, 1.25);
            }
            // what a path takes beyond carrying bytes it takes at every trip, and so do timers where nothing was lost
            let by_trip = kind == Kind::Path || kind == Kind::Recovery && self.lost == 0.0;
            let unknown = (own - model).max(0.0);
            // and interruptions come no more often than by the trip or by the second
            let interruptions = if kind == Kind::Path {
                self.interrupted.min(unknown)
            } else {
                0.0
            };
            let unknown = interruptions * trips.min(time)
                + (unknown - interruptions) * if by_trip { trips } else { 1.0 };
            // what the model hides of a machine's time may come to light with the change: it counts once
            if matches!(kind, Kind::Client | Kind::Server) {
                after.max(unknown)
            } else {
                after + unknown
            }
        };
        Kind::ALL.into_iter().map(of_kind).sum()
    }

    /// By how much less and more time `after` may take than it does, for what its model, `before`, gets wrong of this
    /// copy: of each kind of cause, what it had too much of may go as far as it is there, and what it had too little of
    /// may come; and what is lost by chance is lost more or less often.
    pub(crate) fn apart(&self, before: &Self, after: &Self) -> [f64; 2] {
        let (mut less, mut more) = (0.0, 0.0);
        for kind in Kind::ALL {
            let wrong = before.of_kind(kind) - self.of_kind(kind);
            less += wrong.clamp(0.0, after.of_kind(kind));
            more += (-wrong).max(0.0);
        }
        let chance = LOSS_DEVIATIONS / after.lost.max(1.0).sqrt();
        let repairs = chance.min(1.0) * after.repairs();
        [less + repairs, more + repairs]
    }

    /// By what part of the segments they differ in what was lost.
    pub(crate) fn losses_apart(&self, other: &Self) -> f64 {
        let part = |of: &Self| (of.lost / of.segments.max(1.0)).min(1.0);
        (part(self) - part(other)).abs()
    }

    /// The time of all causes of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> f64 {
        kind.causes().map(|cause| self.spent(cause)).sum()
    }

    /// The time that losses take: their recovery, and the smaller congestion window after it.
    pub(crate) fn repairs(&self) -> f64 {
        self.of_kind(Kind::Recovery) + self.spent(Cause::SendWindow)
    }

    /// How differently two copies spent their time: 0 is alike, 2 nothing in common.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        let apart = Kind::ALL
            .into_iter()
            .map(|kind| (self.of_kind(kind) - other.of_kind(kind)).abs());
        apart.sum::<f64>() / self.wall.max(1.0)
    }
}

/// Whose time a request takes: client's and server's.
pub(crate) const MACHINES: [Cause; 2] = [Cause::ClientThink, Cause::ServerThink];

/// The side that sends the file.
pub(crate) fn sender(connection: &Connection, direction: Direction) -> &Side {
    let [client, server] = &connection.sides;
    match direction {
        Direction::ToServer => client,
        Direction::ToClient => server,
    }
}

/// The side that receives it.
pub(crate) fn receiver(connection: &Connection, direction: Direction) -> &Side {
    let [client, server] = &connection.sides;
    match direction {
        Direction::ToServer => server,
        Direction::ToClient => client,
    }
}

/// See [`Observation::interrupted`].
fn interrupted(copy: &Copy) -> f64 {
    let rows = [Cause::Bandwidth, Cause::Queueing].map(|cause| copy.breakdown.of(cause));
    let beyond = rows.into_iter().flatten().map(|row| {
        let usual = row.count as f64 * row.median.0 as f64;
        (row.total.0 as f64 - usual).max(0.0)
    });
    beyond.sum()
}

fn causes(account: &Account) -> [f64; Cause::COUNT] {
    let mut all = [0.0; Cause::COUNT];
    for (cause, span) in account.iter() {
        if let Some(part) = all.get_mut(cause as usize) {
            *part = span.0 as f64;
        }
    }
    all
}

fn is_beating(row: &Requests) -> bool {
    let median = row.response_median.unwrap_or_default().0 as f64;
    let beats = (median / BSD_FAST_TIMEOUT).round();
    beats >= 1.0 && (median / (beats * BSD_FAST_TIMEOUT) - 1.0).abs() < 0.01
}

fn is_uneven(row: &Requests, way: Option<Span>) -> bool {
    let way = way.unwrap_or_default().0;
    let mean = row.response_total.0 / row.answered.max(1);
    let median = row.response_median.unwrap_or_default().0;
    median.saturating_sub(way).saturating_mul(2) < mean.saturating_sub(way)
}

fn bare(rows: &[Requests], way: Span) -> Option<f64> {
    let bare = rows.iter().filter(|row| row.bytes == 0 && row.answered > 0);
    let shortest = bare.filter_map(|row| row.response_median).min()?;
    Some(shortest.0.saturating_sub(way.0) as f64)
}

#[cfg(test)]
impl Observation {
    /// A copy that lasts as long as these causes together.
    pub(crate) fn spending(spent: &[(Cause, f64)]) -> Self {
        let mut seen = Self::default();
        for (cause, time) in spent {
            seen.causes
                .get_mut(*cause as usize)
                .into_iter()
                .for_each(|to| *to = *time);
        }
        seen.wall = spent.iter().map(|(_, time)| time).sum();
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(spent: &[(Cause, f64)]) -> Observation {
        Observation::spending(spent)
    }

    #[test]
    fn what_a_path_takes_unseen_was_part_of_the_far_machines_time() {
        let seen = spending(&[(Cause::ClientThink, 3.0), (Cause::ServerThink, 5.0)]);
        let model = spending(&[
            (Cause::ClientThink, 3.0),
            (Cause::ServerThink, 1.0),
            (Cause::Bandwidth, 4.0),
        ]);
        let shown = seen.with_carrying(&model, [0.0, 1.0]);
        assert_eq!(shown.distance(&model), 0.0);
        // nothing of it was the near one's
        let shown = seen.with_carrying(&model, [1.0, 0.0]);
        assert_eq!(shown.spent(Cause::Bandwidth), 3.0);
        assert_eq!(shown.spent(Cause::ServerThink), 5.0);
        // what the copy shows of it already is not taken again
        assert_eq!(model.with_carrying(&model, [0.0, 1.0]).causes, model.causes);
    }

    #[test]
    fn interruptions_of_the_path_come_with_time_and_not_with_each_trip() {
        let mut seen = spending(&[(Cause::NagleDelayedAck, 900.0), (Cause::Bandwidth, 100.0)]);
        let before = spending(&[(Cause::NagleDelayedAck, 900.0)]);
        let after = spending(&[(Cause::ClientThink, 50.0)]);
        let expected = |bandwidth| 50.0 + bandwidth;
        // as many trips as before: what each of them takes stays
        (seen.requests, seen.interrupted) = (10.0, 0.0);
        let [before, after] = [before, after].map(|model| Observation {
            requests: 10.0,
            ..model
        });
        assert_eq!(seen.in_proportion(&before, &after), expected(100.0));
        // a twentieth of the time has a twentieth of the interruptions
        seen.interrupted = 80.0;
        assert_eq!(seen.in_proportion(&before, &after), expected(24.0));
    }
}
