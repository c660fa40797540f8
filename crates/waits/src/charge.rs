//! Charges the waits of a slice of time for a client's next request, and for room for the replies to it.

use coax_cause::{Account, Cause};
use coax_wire::time::Span;

use crate::{
    constants::{
        INITIAL_SEGMENTS, JITTER, MIN_DELAYED_ACK, MIN_ROUND_TRIP, MIN_STALL_RTO, ROUND_LATE,
    },
    kernel::Kernel,
    recent::{less, sum},
};

/// What a slice had that only counters of the kernel explain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    /// Time between the hand-over of a reply and the next request.
    pub(crate) gaps: Span,
    /// The longest of them.
    pub(crate) longest: Span,
    /// Time in which replies waited for room in the send buffer.
    pub(crate) sending: Span,
    /// How many requests came after a reply: those that move file data, and others.
    pub(crate) data: u64,
    pub(crate) metadata: u64,
    /// Bytes handed to the kernel.
    pub(crate) bytes: u64,
}

/// What the kernel reported in the slice, and before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    /// At the end of the slice.
    pub(crate) kernel: Kernel,
    /// Time in flight, and time limited by the client's window, that no earlier slice used up.
    pub(crate) busy: Span,
    pub(crate) window_limited: Span,
    /// Bytes that the client acknowledged.
    pub(crate) acknowledged: u64,
    /// Segments that were sent again.
    pub(crate) retransmitted: u64,
    /// The highest delivery rate of late, bytes a second.
    pub(crate) delivery_rate: u64,
    /// Data waited although nothing was in flight: the client's window was closed.
    pub(crate) is_closed: bool,
    /// The client's widest receive window on the connection, bytes.
    pub(crate) widest: u64,
    /// The congestion window at the beginning, segments.
    pub(crate) congestion_window: u64,
}

/// What was used of [`Reported`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) busy: Span,
    pub(crate) window_limited: Span,
}

/// Charges the gaps and the sending of `slice`: the account has exactly their sum.
pub(crate) fn charge(slice: &Slice, reported: &Reported) -> (Account, Used) {
    let mut bill = Bill {
        account: Account::default(),
        left: sum(slice.gaps, slice.sending),
    };
    let all = bill.left;
    bill.trips(slice, &reported.kernel);
    let travelled = less(all, bill.left);
    let in_flight = all.min(reported.busy);
    let carried = bill.carried(reported, in_flight);
    let mut used = Used {
        busy: in_flight,
        window_limited: Span(0),
    };
    let limited = reported.window_limited.min(bill.left);
    used.window_limited = limited;
    let rest = less(in_flight, sum(travelled, carried));
    bill.window(reported, limited, rest);
    let known = sum(sum(travelled, carried), limited);
    let stalled = less(in_flight, known);
    if reported.retransmitted > 0 {
        // what waits for a repair is in flight
        let cause = match slice.longest >= MIN_STALL_RTO {
            true => Cause::Timeout,
            false => Cause::FastRecovery,
        };
        bill.take(cause, stalled);
    } else {
        bill.congestion(slice, reported, stalled);
    }
    let left = bill.left;
    bill.take(Cause::ClientThink, left);
    (bill.account, used)
}

struct Bill {
    account: Account,
    left: Span,
}

impl Bill {
    /// Charges up to `most` of what is left; returns how much that was.
    fn take(&mut self, cause: Cause, most: Span) -> Span {
        let part = most.min(self.left);
        self.account.add(cause, part);
        self.left = less(self.left, part);
        part
    }

    /// Each request came one round trip after the reply before it, or later.
    fn trips(&mut self, slice: &Slice, kernel: &Kernel) {
        let trips = |count: u64| Span(count.saturating_mul(kernel.min_rtt.0));
        self.take(Cause::RoundTrips, trips(slice.data));
        self.take(Cause::Metadata, trips(slice.metadata));
    }

    /// The path carried the replies: a round trip grows by the time that the data before takes. Data cannot take longer
    /// than at the highest rate at which it has arrived.
    fn carried(&mut self, reported: &Reported, in_flight: Span) -> Span {
        let Kernel { rtt, min_rtt, .. } = reported.kernel;
        // what interrupts and the scheduler add is not the path's
        let is_windowed = reported.window_limited.0 >= in_flight.0 / 2;
        let noise = Span(JITTER.0.max(min_rtt.0 / if is_windowed { 2 } else { 8 }));
        let grown = share(in_flight, less(less(rtt, min_rtt), noise), rtt);
        let ns = u128::from(reported.acknowledged).saturating_mul(1_000_000_000)
            / u128::from(reported.delivery_rate.max(1));
        let longest = match reported.delivery_rate {
            0 => Span(0),
            _ => Span(u64::try_from(ns).unwrap_or(u64::MAX)),
        };
        // a client that does not read acknowledges late, too
        let most = if reported.is_closed { Span(0) } else { grown };
        self.take(Cause::Bandwidth, most.min(longest))
    }

    /// The client's receive window allowed no more. A window's round takes a round trip; for what is beyond that, the
    /// client's program did not read.
    fn window(&mut self, reported: &Reported, limited: Span, in_flight: Span) {
        let Kernel {
            rtt,
            min_rtt,
            client_window,
            mss,
            ..
        } = reported.kernel;
        if reported.is_closed {
            return self.unread(reported, limited.max(in_flight));
        }
        let delay = less(rtt, min_rtt);
        let mut limited = limited;
        if delay >= MIN_DELAYED_ACK && client_window >= mss {
            let held = self.take(Cause::NagleDelayedAck, share(limited, delay, rtt));
            limited = less(limited, held);
        }
        let rounds = (reported.acknowledged / client_window.max(mss).max(1)).saturating_add(1);
        let longest = min_rtt
            .0
            .saturating_mul(2)
            .max(min_rtt.0.saturating_add(ROUND_LATE.0));
        let rounds = Span(rounds.saturating_mul(rtt.max(min_rtt).0.min(longest)));
        // The kernel does not count a round in which it defers a segment. If the window limits most of the time, all rounds do.
        let waited = match limited.0 >= in_flight.0 / 2 {
            true => in_flight.min(rounds).max(limited.min(rounds)),
            false => limited.min(rounds),
        };
        let waited = self.take(Cause::ReceiveWindow, waited);
        self.take(Cause::ClientThink, less(limited, waited));
    }

    /// The client's program does not read, so that its window closes: a window takes a round trip, and the rest is the
    /// client's.
    fn unread(&mut self, reported: &Reported, waited: Span) {
        let windows = (reported.acknowledged / reported.widest.max(1)).saturating_add(1);
        let trips = Span(windows.saturating_mul(reported.kernel.min_rtt.0));
        let travelled = self.take(Cause::ReceiveWindow, waited.min(trips));
        self.take(Cause::ClientThink, less(waited, travelled));
    }

    /// The congestion window allowed no more: only for replies that are larger, and a round trip for each window.
    fn congestion(&mut self, slice: &Slice, reported: &Reported, stalled: Span) {
        let Kernel {
            min_rtt,
            slow_start,
            mss,
            client_window,
            ..
        } = reported.kernel;
        let first = reported.congestion_window.max(INITIAL_SEGMENTS);
        let window = first.saturating_mul(mss).max(1);
        let replies = slice.data.saturating_add(slice.metadata).max(1);
        let windows = (slice.bytes / replies) / window;
        if windows == 0 || min_rtt < MIN_ROUND_TRIP || client_window <= window {
            return;
        }
        let (cause, rounds) = if slow_start {
            // flights of one window, two, four … (RFC 5681 §3.1)
            let flights = windows.saturating_add(1).ilog2();
            (Cause::SlowStart, u64::from(flights))
        } else {
            (Cause::SendWindow, windows)
        };
        let most = min_rtt.0.saturating_mul(rounds).saturating_mul(replies);
        self.take(cause, stalled.min(Span(most)));
    }
}

/// A hand-over of replies to the kernel that took long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slow<'a> {
    /// How long it took.
    pub(crate) span: Span,
    /// Bytes sent before.
    pub(crate) start: u64,
    /// What the kernel reported last before it,
    pub(crate) before: &'a Kernel,
    /// how long before it,
    pub(crate) age: Span,
    /// and what it reports at its end.
    pub(crate) now: &'a Kernel,
}

/// How much of a slow hand-over waited for room in the send buffer; the rest waited for the disk from which the kernel reads.
pub(crate) fn for_room(slow: &Slow<'_>) -> Span {
    let Slow {
        span, before, now, ..
    } = *slow;
    // of a connection that is not TCP nothing is known
    let is_unknown = now.min_rtt.0 == 0;
    if is_unknown || now.acknowledged < slow.start {
        return span;
    }
    // room comes with acknowledgments: they took the path's time, round trips, and what the client's window allowed
    let rate = u128::from(now.delivery_rate.max(1));
    // what the path had not carried yet when the hand-over began, it carried during the hand-over
    let meanwhile = u128::from(slow.age.0).saturating_mul(rate) / 1_000_000_000;
    let gone = u128::from(before.acknowledged).saturating_add(meanwhile);
    let bytes = u128::from(now.acknowledged).saturating_sub(gone.min(u128::from(slow.start)));
    let carried = bytes.saturating_mul(1_000_000_000) / rate;
    let segments = (now.acknowledged - slow.start) / now.mss.max(1);
    let flights = (segments / INITIAL_SEGMENTS).saturating_add(1).ilog2();
    let trips = match segments {
        0 => 0,
        _ => u64::from(flights).saturating_add(1),
    };
    let limited = less(now.window_limited, before.window_limited);
    let all = carried
        .saturating_add(u128::from(trips.saturating_mul(now.min_rtt.0)))
        .saturating_add(u128::from(limited.0));
    span.min(Span(u64::try_from(all).unwrap_or(u64::MAX)))
}

/// The part of `whole` that `part` is of `of`.
fn share(whole: Span, part: Span, of: Span) -> Span {
    let ns = u128::from(whole.0).saturating_mul(u128::from(part.0)) / u128::from(of.0.max(1));
    Span(u64::try_from(ns).unwrap_or(whole.0)).min(whole)
}
