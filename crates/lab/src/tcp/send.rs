//! The sender: decides what can be sent, and what blocks the rest.

mod repair;
#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests;

use alloc::collections::VecDeque;

use coax_wire::time::Time;

use super::{
    congestion::Congestion,
    hystart::HyStart,
    params::{CongestionControl, Nagle, Push, StackParams},
    rack::Scoreboard,
    ranges::Ranges,
};
use crate::{
    cause::Cause,
    payload::{Buffer, Payload},
    segment::{Flags, Sent},
};

/// What blocks a sender that has data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The receive window is full, or its free part is too small.
    ReceiveWindow,
    /// The receive window is zero.
    ZeroWindow,
    /// The congestion window in slow start.
    SlowStart,
    /// The send buffer.
    SendWindow,
    /// Nagle's algorithm: the segment is small and data is unacknowledged.
    Nagle,
    /// Recovery, or the congestion window has not grown back since a loss.
    Recovery(Sent),
}

impl Blocked {
    /// The cause for the transit of the ACK that ends the wait.
    pub const fn cause(self) -> Cause {
        match self {
            Self::ReceiveWindow | Self::ZeroWindow => Cause::ReceiveWindow,
            Self::SlowStart => Cause::SlowStart,
            Self::SendWindow => Cause::SendWindow,
            Self::Nagle => Cause::NagleDelayedAck,
            Self::Recovery(sent) => sent.cause(),
        }
    }
}

/// A range of the stream to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) seq: u64,
    pub(super) len: u64,
    pub(super) fin: bool,
    pub(super) sent: Sent,
}

#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) initial: u64,
    /// Oldest unacknowledged sequence number.
    pub(super) una: u64,
    /// Next sequence number to send.
    pub(super) next: u64,
    /// End of the data sent so far.
    pub(super) max: u64,
    /// Data from `una` on.
    pub(super) buffer: Buffer,
    pub(super) mss: u64,
    pub(super) window: u64,
    pub(super) window_max: u64,
    pub(super) congestion: Congestion,
    /// The oldest segment must be retransmitted.
    pub(super) again: Option<Sent>,
    /// Recovery continues until this is acknowledged.
    pub(super) recovery: Option<(Sent, u64)>,
    /// The recovery after the last loss; it determined the congestion window.
    pub(super) after: Option<Sent>,
    /// A small segment may be sent although the window limits it.
    pub(super) force: bool,
    /// The segment before was full, and nothing has blocked the sender since.
    behind_full: bool,
    /// A window probe must be sent.
    pub(super) probe: bool,
    /// The timed segment: its end and its send time.
    pub(super) timed: Option<(u64, Time)>,
    pub(super) duplicates: u32,
    /// End of the window probe's byte.
    probed: Option<u64>,
    pub(super) retries: u32,
    /// What SACK reported above `una`.
    pub(super) sacked: Ranges,
    /// Holes below this were retransmitted.
    pub(super) resent: u64,
    pub(super) last_sent: Time,
    /// The state of each segment, for stacks with `rack`.
    pub(super) board: Scoreboard,
    pub(super) hystart: HyStart,
    pub(super) fin: bool,
    /// The sequence number of the FIN, once sent.
    fin_at: Option<u64>,
    write_ends: VecDeque<u64>,
    small_until: u64,
}

impl Sender {
    pub(super) fn new(initial: u64, params: &StackParams) -> Self {
        let mss = u64::from(params.mss);
        Self {
            initial,
            una: initial,
            next: initial,
            max: initial,
            buffer: Buffer::default(),
            mss,
            window: 0,
            window_max: 0,
            congestion: Congestion::new(params, mss),
            again: None,
            recovery: None,
            after: None,
            force: false,
            behind_full: false,
            probe: false,
            timed: None,
            duplicates: 0,
            probed: None,
            retries: 0,
            sacked: Ranges::default(),
            resent: 0,
            last_sent: Time(0),
            board: Scoreboard::default(),
            hystart: HyStart::default(),
            fin: false,
            fin_at: None,
            write_ends: VecDeque::new(),
            small_until: 0,
        }
    }

    /// Sequence number after the last written byte.
    pub(super) fn end(&self) -> u64 {
        self.data_start().saturating_add(self.buffer.len())
    }

    pub(super) const fn flight(&self) -> u64 {
        self.next.saturating_sub(self.una)
    }

    /// End of the sent data without a window probe's byte: that byte is not acknowledged while the window is zero, and
    /// it is sent again in the next segment.
    pub(super) fn sent_up_to(&self) -> u64 {
        let probe = self.probed == Some(self.max);
        self.max.saturating_sub(u64::from(probe))
    }

    pub(super) fn write(&mut self, payload: Payload) {
        if self.fin || payload.is_empty() {
            return;
        }
        self.buffer.push(payload);
        self.write_ends.push_back(self.end());
    }

    pub(super) const fn finish(&mut self) {
        self.fin = true;
    }

    /// Everything up to `ack` has arrived.
    pub(super) fn acknowledge(&mut self, ack: u64) {
        let data = ack.min(self.end()).saturating_sub(self.data_start());
        self.buffer.drop_front(data);
        self.una = ack;
        self.next = self.next.max(ack);
        while self.write_ends.front().is_some_and(|end| *end <= ack) {
            self.write_ends.pop_front();
        }
        self.sacked.remove_below(ack);
    }

    /// Records SACK ranges.
    pub(super) fn note_sacked(&mut self, ranges: &[(u64, u64)]) {
        for (from, to) in ranges {
            if *to <= self.una || *to > self.max {
                continue;
            }
            self.sacked.insert((*from).max(self.una), *to);
        }
    }

    /// The next data to send, or what blocks it; `Ok(None)` if there is none.
    pub(super) fn choose(&mut self, params: &StackParams) -> Result<Option<Choice>, Blocked> {
        if params.rack {
            if let Some(lost) = self.next_lost() {
                return Ok(Some(lost));
            }
        } else if let Some(sent) = self.again.take() {
            return Ok(self.oldest(sent));
        }
        if core::mem::take(&mut self.probe) && self.next < self.end() {
            return Ok(Some(Choice {
                seq: self.next,
                len: 1,
                fin: false,
                sent: Sent::Probe,
            }));
        }
        if let Some(hole) = self.next_hole() {
            return Ok(Some(hole));
        }
        self.forward(params)
    }

    /// The PSH flag of a segment that ends at `end`.
    pub(super) fn push_flag(&self, choice: &Choice, push: Push) -> bool {
        let end = choice.seq.saturating_add(choice.len);
        choice.len > 0
            && match push {
                Push::Never => false,
                Push::Always => true,
                Push::BufferEmpty => end == self.end(),
                Push::WriteEnd => {
                    let next = self.write_ends.partition_point(|e| *e <= choice.seq);
                    self.write_ends.get(next).is_some_and(|e| *e <= end)
                }
            }
    }

    /// Flags and bytes of a chosen range, which is then marked as sent.
    pub(super) fn emit(&mut self, choice: &Choice, params: &StackParams) -> (Flags, Payload) {
        let from = choice.seq.saturating_sub(self.data_start());
        let flags = Flags {
            ack: true,
            fin: choice.fin,
            psh: self.push_flag(choice, params.push),
            ..Flags::default()
        };
        let end = choice
            .seq
            .saturating_add(choice.len)
            .saturating_add(u64::from(choice.fin));
        if choice.len < self.mss {
            self.small_until = end;
        }
        if choice.fin {
            self.fin_at = Some(end.saturating_sub(1));
        }
        match choice.sent {
            Sent::Probe if end > self.max => (self.max, self.probed) = (end, Some(end)),
            Sent::Probe => {}
            _ if choice.seq == self.next => self.next = end,
            _ => {}
        }
        self.max = self.max.max(self.next);
        (flags, self.buffer.slice(from, choice.len))
    }

    fn oldest(&self, sent: Sent) -> Option<Choice> {
        let end = self.max.min(self.end());
        let len = end.saturating_sub(self.una).min(self.mss);
        let fin = self.fin && self.una.saturating_add(len) == self.end() && self.max > self.end();
        (len > 0 || fin).then_some(Choice {
            seq: self.una,
            len,
            fin,
            sent,
        })
    }

    /// The next hole between SACK ranges, if the congestion window allows it (RFC 6675, simplified).
    fn next_hole(&mut self) -> Option<Choice> {
        let (Sent::FastRetransmit, _) = self.recovery? else {
            return None;
        };
        let from = self.resent.max(self.una);
        let (start, end) = self.sacked.first_above(from)?;
        if from >= start {
            self.resent = end;
            return self.next_hole();
        }
        if self.pipe().saturating_add(self.mss) > self.congestion.window() {
            return None;
        }
        let len = start.saturating_sub(from).min(self.mss);
        self.resent = from.saturating_add(len);
        Some(Choice {
            seq: from,
            len,
            fin: false,
            sent: Sent::FastRetransmit,
        })
    }

    /// Bytes in flight according to SACK: without delivered ranges, and without holes that were not retransmitted.
    fn pipe(&mut self) -> u64 {
        let Some(highest) = self.sacked.highest() else {
            return self.flight();
        };
        let from = self.resent.max(self.una);
        let arrived = self.sacked.bytes_below(from);
        let arrived_or_lost = highest.saturating_sub(from);
        self.flight()
            .saturating_sub(arrived)
            .saturating_sub(arrived_or_lost)
    }

    /// Bytes of the flight that do not count against the congestion window: data delivered out of order, and lost data
    /// during SACK-based recovery. After a timeout, everything is sent again from the oldest byte (RFC 2018 8): then
    /// SACK ranges beyond `next` do not belong to the flight, and no byte below it is known to be lost.
    fn gone(&mut self) -> u64 {
        if self.next >= self.max && !matches!(self.recovery, Some((Sent::Timeout, _))) {
            return self.flight().saturating_sub(self.pipe());
        }
        self.sacked.bytes_below(self.next)
    }

    /// New data after the last transmission.
    fn forward(&mut self, params: &StackParams) -> Result<Option<Choice>, Blocked> {
        let unsent = self.end().saturating_sub(self.next);
        let fin_due = self.fin && self.fin_at.is_none_or(|at| self.next <= at);
        if unsent == 0 {
            return Ok(fin_due.then(|| self.choice(0)));
        }
        let (usable, limit) = self.usable(params);
        let behind_full = core::mem::take(&mut self.behind_full);
        let len = self.mss.min(unsent).min(usable);
        if len == 0 {
            return Err(limit);
        }
        if len < self.mss && len < unsent && !self.may_send_cut(len, (limit, behind_full), params) {
            return Err(limit);
        }
        if len < self.mss && len == unsent && self.nagle_holds(params) && !self.fin {
            return Err(Blocked::Nagle);
        }
        self.force = false;
        self.behind_full = len == self.mss;
        Ok(Some(self.choice(len)))
    }

    fn choice(&self, len: u64) -> Choice {
        let again = self.next < self.sent_up_to();
        Choice {
            seq: self.next,
            len,
            fin: self.fin && self.next.saturating_add(len) == self.end(),
            sent: if again {
                self.recovery.map_or(Sent::Timeout, |(sent, _)| sent)
            } else {
                Sent::New
            },
        }
    }

    /// Number of further bytes that may be sent, and what limits it.
    fn usable(&mut self, params: &StackParams) -> (u64, Blocked) {
        let buffer = match params.send_buffer {
            0 => u64::MAX,
            limit => u64::from(limit),
        };
        let gone = if params.rack {
            self.flight().saturating_sub(self.board.out())
        } else {
            self.gone()
        };
        let congestion = self.congestion.window().saturating_add(gone);
        let least = self.window.min(buffer).min(congestion);
        let limit = if let Some((sent, _)) = self.recovery {
            Blocked::Recovery(sent)
        } else if self.window == 0 {
            Blocked::ZeroWindow
        } else if self.window == least {
            Blocked::ReceiveWindow
        } else if congestion == least && congestion < buffer {
            self.after.map_or(Blocked::SlowStart, Blocked::Recovery)
        } else {
            Blocked::SendWindow
        };
        (least.saturating_sub(self.flight()), limit)
    }

    /// Whether it sends a segment that `limit` shortens: the sender's part of silly window avoidance (RFC 1122 4.2.3.4), or what the
    /// stack has instead.
    fn may_send_cut(
        &self,
        len: u64,
        (limit, behind_full): (Blocked, bool),
        params: &StackParams,
    ) -> bool {
        if params.sender_sws_avoidance {
            return self.force || len.saturating_mul(2) >= self.window_max;
        }
        limit != Blocked::ReceiveWindow
            || !params.cut_behind_full
            || self.flight() == 0
            || behind_full && !self.nagle_holds(params)
    }

    fn nagle_holds(&self, params: &StackParams) -> bool {
        // a retransmission is not delayed again
        let unacknowledged = self.next > self.una && self.next >= self.max;
        match params.nagle {
            Nagle::Off => false,
            Nagle::Standard => unacknowledged,
            Nagle::Minshall => unacknowledged && self.small_until > self.una,
        }
    }

    /// SYN takes the first sequence number and FIN the last; neither takes a byte of the buffer.
    fn data_start(&self) -> u64 {
        let behind_syn = self.una.max(self.initial.saturating_add(1));
        self.fin_at.map_or(behind_syn, |at| behind_syn.min(at))
    }
}

/// Reactions to new and duplicate ACKs.
impl Sender {
    /// New data was acknowledged, during recovery or outside it.
    pub(super) fn on_progress(&mut self, now: Time, bytes: u64, params: &StackParams) {
        self.duplicates = 0;
        self.retries = 0;
        let Some((sent, until)) = self.recovery else {
            if self.window_was_used(bytes) {
                let counting = params.byte_counting;
                self.congestion.acknowledged(now, bytes, counting);
            }
            return;
        };
        let whole = self.una >= until;
        if whole {
            self.recovery = None;
        }
        match sent {
            Sent::FastRetransmit if whole || params.congestion == CongestionControl::Reno => {
                self.recovery = None;
                self.congestion.repaired();
            }
            Sent::FastRetransmit if params.sack => {}
            Sent::FastRetransmit => {
                self.congestion.partly_repaired(bytes);
                if params.congestion != CongestionControl::None {
                    self.again = Some(Sent::FastRetransmit);
                }
            }
            // after a timeout an ACK may cover data that arrived before it (RFC 3465 2.3)
            _ => self.congestion.acknowledged(now, bytes, false),
        }
    }

    /// Handles a duplicate ACK. True if it started recovery.
    pub(super) fn on_duplicate(&mut self, params: &StackParams) -> bool {
        self.duplicates = self.duplicates.saturating_add(1);
        let threshold = params.fast_retransmit;
        if threshold == 0 {
            return false;
        }
        match self.recovery {
            Some((Sent::FastRetransmit, _)) if !params.sack => self.congestion.inflate(),
            Some(_) => {}
            None if self.duplicates >= threshold => {
                let inflate = if params.sack { 0 } else { u64::from(threshold) };
                self.recovery = Some((Sent::FastRetransmit, self.max));
                self.after = Some(Sent::FastRetransmit);
                self.again = Some(Sent::FastRetransmit);
                self.resent = self.una.saturating_add(self.mss);
                self.congestion.lost(self.flight(), inflate);
                self.timed = None;
                return true;
            }
            None => {}
        }
        false
    }
}
