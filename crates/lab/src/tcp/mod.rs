//! A sans-IO TCP endpoint; every rule is a parameter ([`StackParams`]).
//!
//! Inputs are segments and time ([`Endpoint::handle_segment`], [`Endpoint::handle_timeout`]). Outputs are segments,
//! events and the next deadline ([`Endpoint::poll_segment`], [`Endpoint::poll_event`], [`Endpoint::poll_timeout`]).
//! After any call that changes the state, poll until nothing is returned.
//!
//! Not modelled: urgent data, simultaneous open, TIME-WAIT, keep-alives, sequence number wrap, retransmission with the
//! original segment boundaries (data is segmented again), and tail loss probes.

mod congestion;
mod cubic;
mod hystart;
mod input;
mod rack;
mod ranges;
mod receive;
mod reduction;
mod rto;
mod send;
#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests;

use alloc::collections::VecDeque;

pub use coax_catalog::stack as params;
use coax_wire::time::{Span, Time};
pub use params::StackParams;
use receive::Receiver;
use rto::{Rto, deadline};
pub use send::Blocked;
use send::{Choice, Sender};

use crate::{
    payload::Payload,
    segment::{Flags, Options, Segment, Sent},
};

/// An event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpEvent {
    /// The connection is established.
    Connected,
    /// Data can be read.
    Readable,
    /// The unacknowledged data has fallen below the limit of [`Endpoint::notify_below`].
    Drained,
    /// The peer has closed its direction.
    PeerFinished,
    /// The connection was reset by the peer, or given up after too many retransmissions.
    Reset,
}

/// Timers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The retransmission timer.
    Retransmit,
    /// The delayed-ACK timer.
    DelayedAck,
    /// The persist timer (window probes).
    Persist,
    /// The override timer of the sender's silly window avoidance.
    SillyWindow,
    /// The reordering timer (RFC 8985).
    Reorder,
}

impl Timer {
    /// All timers.
    pub const ALL: [Self; 5] = [
        Self::Retransmit,
        Self::DelayedAck,
        Self::Persist,
        Self::SillyWindow,
        Self::Reorder,
    ];
}

/// Statistics of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TcpStats {
    /// Segments with data, including retransmissions.
    pub data_segments: u64,
    /// Segments without data.
    pub pure_acks: u64,
    /// Segments retransmitted after a timeout.
    pub timeout_retransmissions: u64,
    /// Segments retransmitted after duplicate ACKs.
    pub fast_retransmissions: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Number of expirations of the delayed-ACK timer.
    pub delayed_acks: u64,
    /// Number of window probes.
    pub probes: u64,
    /// Segments with data that arrived behind a gap.
    pub out_of_order: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Open,
    Broken,
}

/// Options that both SYNs contained.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    my_shift: u8,
    scale: bool,
    sack: bool,
    timestamps: bool,
    peer_stamp: u32,
}

/// An endpoint of a connection.
#[derive(Clone, Debug)]
pub struct Endpoint {
    params: StackParams,
    state: State,
    sender: Sender,
    receiver: Receiver,
    agreed: Agreed,
    syn_at: Option<Time>,
    rto: Rto,
    timers: [Option<Time>; 5],
    armings: u32,
    persist_doublings: u32,
    events: VecDeque<TcpEvent>,
    low_water: Option<u64>,
    reset_due: bool,
    blocked: Option<Blocked>,
    stats: TcpStats,
}

impl Endpoint {
    /// An endpoint with this stack. `initial` is the sequence number of its SYN.
    pub fn new(params: StackParams, initial: u32) -> Self {
        Self {
            sender: Sender::new(u64::from(initial), &params),
            params,
            state: State::Closed,
            receiver: Receiver::default(),
            agreed: Agreed::default(),
            syn_at: None,
            rto: Rto::default(),
            timers: [None; 5],
            armings: 0,
            persist_doublings: 0,
            events: VecDeque::new(),
            low_water: None,
            reset_due: false,
            blocked: None,
            stats: TcpStats::default(),
        }
    }

    /// The stack's parameters.
    pub const fn params(&self) -> &StackParams {
        &self.params
    }

    /// Maximum segment size of the connection, without the options in every segment.
    pub const fn mss(&self) -> u64 {
        self.sender.mss
    }

    /// Whether the peer's SYN and ours agreed on window scaling and on time stamps (RFC 7323).
    pub const fn has_scale_and_timestamps(&self) -> (bool, bool) {
        (self.agreed.scale, self.agreed.timestamps)
    }

    /// The shortest round trip measured.
    pub fn min_rtt(&self) -> Option<Span> {
        self.rto.shortest()
    }

    /// Sequence numbers that the peer has acknowledged: SYN counts as one.
    pub const fn acknowledged(&self) -> u64 {
        self.sender.una.saturating_sub(self.sender.initial)
    }

    /// Offers this window from now on, in bytes. What was offered before is not taken back (RFC 9293 3.8.6).
    pub const fn set_receive_window(&mut self, bytes: u32) {
        self.params.receive_window = bytes;
    }

    /// Statistics.
    pub const fn stats(&self) -> &TcpStats {
        &self.stats
    }

    /// Whether data can be sent.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Opens a connection: the next polled segment is the SYN.
    pub fn connect(&mut self) {
        if self.state == State::Closed {
            self.state = State::SynSent;
        }
    }

    /// Waits for a connection.
    pub fn listen(&mut self) {
        if self.state == State::Closed {
            self.state = State::Listen;
        }
    }

    /// One write call of the application. PSH marks its end. Data beyond the send buffer waits, like a blocking write.
    pub fn send(&mut self, payload: Payload) {
        self.sender.write(payload);
    }

    /// Returns up to `max` bytes that arrived in order.
    pub fn recv(&mut self, max: u64) -> Payload {
        let read = self.receiver.readable.take(max);
        if !read.is_empty()
            && self.is_open()
            && self.receiver.should_announce(&self.params, self.sender.mss)
        {
            self.receiver.ack_now = true;
        }
        read
    }

    /// Number of bytes that can be read.
    pub const fn readable(&self) -> u64 {
        self.receiver.readable.len()
    }

    /// Number of written bytes that are not acknowledged.
    pub const fn unacknowledged(&self) -> u64 {
        self.sender.buffer.len()
    }

    /// Requests one [`TcpEvent::Drained`] when fewer bytes than this are unacknowledged.
    pub const fn notify_below(&mut self, bytes: u64) {
        self.low_water = Some(bytes);
    }

    /// Closes the write direction: sends FIN after the written data.
    pub const fn close(&mut self) {
        self.sender.finish();
    }

    /// Resets the connection: the next polled segment is the RST.
    pub fn abort(&mut self) {
        self.break_off();
        self.reset_due = true;
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<TcpEvent> {
        self.events.pop_front()
    }

    /// When to call [`Endpoint::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.iter().flatten().min().copied()
    }

    /// When this timer expires.
    pub fn timer(&self, timer: Timer) -> Option<Time> {
        self.timers.get(timer as usize).copied().flatten()
    }

    /// How often the retransmission timer was set. On a coarse grid, a new setting may have the same deadline.
    pub const fn armings(&self) -> u32 {
        self.armings
    }

    /// What blocked the sender at the last poll.
    pub const fn blocked(&self) -> Option<Blocked> {
        self.blocked
    }

    /// The next segment: data if possible, else a due ACK.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        self.poll_data(now).or_else(|| self.poll_ack(now))
    }

    /// The next segment with data, SYN, FIN or RST.
    pub fn poll_data(&mut self, now: Time) -> Option<Segment> {
        if core::mem::take(&mut self.reset_due) {
            return Some(self.reset_segment());
        }
        match self.state {
            State::SynSent | State::SynReceived if self.sender.next == self.sender.initial => {
                Some(self.syn(now))
            }
            State::Open => self.data(now),
            _ => None,
        }
    }

    /// An ACK without data, if one is due.
    pub fn poll_ack(&mut self, now: Time) -> Option<Segment> {
        if self.state != State::Open || !self.receiver.ack_now {
            return None;
        }
        self.stats.pure_acks = self.stats.pure_acks.saturating_add(1);
        let flags = Flags {
            ack: true,
            ..Flags::default()
        };
        Some(self.segment(now, self.sender.next, flags, Payload::new(), Sent::New))
    }

    fn data(&mut self, now: Time) -> Option<Segment> {
        let idle = self.sender.flight() == 0 && self.sender.next >= self.sender.max;
        if self.params.idle_restart
            && idle
            && now - self.sender.last_sent > self.rto.wait(&self.params)
        {
            self.sender.congestion.restart(self.params.initial_window);
            self.sender.after = None;
        }
        match self.sender.choose(&self.params) {
            Ok(None) => {
                self.blocked = None;
                None
            }
            Ok(Some(choice)) => {
                self.blocked = None;
                Some(self.emit(now, &choice))
            }
            Err(blocked) => {
                self.blocked = Some(blocked);
                self.wait_for_window(now);
                None
            }
        }
    }

    fn emit(&mut self, now: Time, choice: &Choice) -> Segment {
        let new = choice.seq >= self.sender.max;
        let (flags, payload) = self.sender.emit(choice, &self.params);
        self.count(choice.sent);
        if choice.sent != Sent::Probe {
            if self.params.rack {
                self.sender.note_sent(now, choice);
            }
            let end = choice.seq.saturating_add(choice.len);
            if new && self.sender.timed.is_none() {
                self.sender.timed = Some((end, now));
            } else if !new
                && self
                    .sender
                    .timed
                    .is_some_and(|(timed, _)| timed > choice.seq)
            {
                // an ACK after a retransmission is ambiguous (Karn)
                self.sender.timed = None;
            }
            if self.timer(Timer::Retransmit).is_none() {
                self.arm_retransmit(now);
            }
        }
        self.sender.last_sent = now;
        self.segment(now, choice.seq, flags, payload, choice.sent)
    }

    const fn count(&mut self, sent: Sent) {
        let stats = &mut self.stats;
        stats.data_segments = stats.data_segments.saturating_add(1);
        let counter = match sent {
            Sent::New => return,
            Sent::FastRetransmit => &mut stats.fast_retransmissions,
            Sent::Timeout => &mut stats.timeout_retransmissions,
            Sent::Probe => &mut stats.probes,
        };
        *counter = counter.saturating_add(1);
    }

    /// The sender is blocked by the window: either no ACK will open it, or it has space for a small segment only.
    fn wait_for_window(&mut self, now: Time) {
        let held_by_window = matches!(
            self.blocked,
            Some(Blocked::ReceiveWindow | Blocked::ZeroWindow)
        );
        if !held_by_window {
            return;
        }
        let silly = self.sender.window > self.sender.flight()
            && self.params.sender_sws_avoidance
            && self.params.sws_override.0 > 0;
        if silly {
            if self.timer(Timer::SillyWindow).is_none() {
                self.set(Timer::SillyWindow, Some(now + self.params.sws_override));
            }
        } else if self.sender.flight() == 0 && self.timer(Timer::Persist).is_none() {
            let doubled = self
                .params
                .persist_min
                .0
                .checked_shl(self.persist_doublings)
                .unwrap_or(u64::MAX);
            let wait = coax_wire::time::Span(doubled.clamp(
                self.params.persist_min.0,
                self.params.persist_max.0.max(self.params.persist_min.0),
            ));
            self.set(
                Timer::Persist,
                Some(deadline(now, wait, self.params.rto_tick)),
            );
        }
    }

    fn syn(&mut self, now: Time) -> Segment {
        self.sender.next = self.sender.initial.saturating_add(1);
        self.sender.max = self.sender.next;
        self.syn_at = Some(now);
        if self.timer(Timer::Retransmit).is_none() {
            self.arm_retransmit(now);
        }
        let answer = self.state == State::SynReceived;
        let flags = Flags {
            syn: true,
            ack: answer,
            ..Flags::default()
        };
        let options = Options {
            mss: Some(self.params.mss),
            window_scale: self
                .params
                .window_scale
                .filter(|_| !answer || self.agreed.my_shift > 0),
            sack_permitted: self.params.sack && (!answer || self.agreed.sack),
            timestamps: self
                .stamps(now)
                .filter(|_| !answer || self.agreed.timestamps),
            ..Options::default()
        };
        // the window of a SYN is not scaled (RFC 7323 2.2)
        let window = self.params.receive_window.min(65_535);
        self.receiver.acknowledged(u64::from(window));
        Segment {
            seq: self.sender.initial,
            ack: if answer { self.receiver.next } else { 0 },
            flags,
            window,
            options,
            ..Segment::default()
        }
    }

    fn segment(
        &mut self,
        now: Time,
        seq: u64,
        flags: Flags,
        payload: Payload,
        sent: Sent,
    ) -> Segment {
        let timestamps = if self.agreed.timestamps {
            self.stamps(now)
        } else {
            None
        };
        let most = if timestamps.is_some() { 3 } else { 4 };
        let sack = if self.agreed.sack {
            self.receiver.sack_ranges(most)
        } else {
            alloc::vec::Vec::new()
        };
        let window = self.shown_window();
        self.receiver.acknowledged(window);
        self.set(Timer::DelayedAck, None);
        Segment {
            seq,
            ack: self.receiver.next,
            flags,
            window: window as u32,
            window_shift: self.agreed.my_shift,
            options: Options {
                timestamps,
                sack,
                ..Options::default()
            },
            payload,
            sent,
            frame: None,
        }
    }

    /// The window as the header can represent it.
    fn shown_window(&self) -> u64 {
        let shift = self.agreed.my_shift;
        let widest = 65_535_u64 << shift;
        (self
            .receiver
            .window(&self.params, self.sender.mss)
            .min(widest)
            >> shift)
            << shift
    }

    fn reset_segment(&self) -> Segment {
        Segment {
            seq: self.sender.next,
            ack: self.receiver.next,
            flags: Flags {
                rst: true,
                ack: true,
                ..Flags::default()
            },
            ..Segment::default()
        }
    }

    fn stamps(&self, now: Time) -> Option<(u32, u32)> {
        let own = (now.0 / 1_000_000) as u32;
        self.params
            .timestamps
            .then_some((own, self.agreed.peer_stamp))
    }

    fn arm_retransmit(&mut self, now: Time) {
        let wait = self.rto.wait(&self.params);
        self.armings = self.armings.wrapping_add(1);
        self.set(
            Timer::Retransmit,
            Some(deadline(now, wait, self.params.rto_tick)),
        );
    }

    const fn set(&mut self, timer: Timer, at: Option<Time>) {
        let [retransmit, delayed_ack, persist, silly, reorder] = &mut self.timers;
        *match timer {
            Timer::Retransmit => retransmit,
            Timer::DelayedAck => delayed_ack,
            Timer::Persist => persist,
            Timer::SillyWindow => silly,
            Timer::Reorder => reorder,
        } = at;
    }

    fn break_off(&mut self) {
        if self.state != State::Broken {
            self.state = State::Broken;
            self.timers = [None; 5];
            self.events.push_back(TcpEvent::Reset);
        }
    }
}
