//! Input of an endpoint: segments and timers.

use coax_wire::time::Time;

use super::{
    Endpoint, State, TcpEvent, Timer,
    congestion::Congestion,
    deadline,
    params::{Karn, RtoRecovery, WindowRefresh},
    rack::AckInfo,
    receive::Reply,
    send::Blocked,
};
use crate::segment::{Segment, Sent};

impl Endpoint {
    /// Handles a segment.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        if let Some((stamp, _)) = segment.options.timestamps {
            self.agreed.peer_stamp = stamp;
        }
        if segment.flags.rst {
            if !matches!(self.state, State::Closed | State::Listen) {
                self.break_off();
            }
            return;
        }
        match self.state {
            State::Listen if segment.flags.syn && !segment.flags.ack => {
                self.agree(segment);
                self.state = State::SynReceived;
            }
            State::SynSent
                if segment.flags.syn && segment.flags.ack && segment.ack == self.sender.max =>
            {
                self.agree(segment);
                self.open(now, segment);
                self.receiver.ack_now = true;
            }
            State::SynReceived if segment.flags.syn => self.sender.next = self.sender.initial,
            State::SynReceived if segment.flags.ack && segment.ack == self.sender.max => {
                self.open(now, segment);
                self.established(now, segment);
            }
            State::Open if segment.flags.syn => self.receiver.ack_now = true,
            State::Open => self.established(now, segment),
            _ => {}
        }
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        for timer in Timer::ALL {
            if self.timer(timer).is_some_and(|at| at <= now) {
                self.set(timer, None);
                match timer {
                    Timer::Retransmit => self.retransmit_timeout(now),
                    Timer::DelayedAck => {
                        self.stats.delayed_acks = self.stats.delayed_acks.saturating_add(1);
                        self.receiver.ack_now = true;
                    }
                    Timer::Persist => {
                        self.persist_doublings = self.persist_doublings.saturating_add(1).min(16);
                        let shut = self.sender.window == 0;
                        self.sender.probe = shut;
                        self.sender.force = !shut;
                    }
                    Timer::SillyWindow => self.sender.force = true,
                    Timer::Reorder => self.repair(now, AckInfo::default()),
                }
            }
        }
    }

    /// Applies the options of the peer's SYN.
    fn agree(&mut self, syn: &Segment) {
        self.receiver.next = syn.seq.saturating_add(1);
        let own = self.params.mss;
        let mss = own.min(syn.options.mss.unwrap_or(536));
        self.agreed.timestamps = self.params.timestamps && syn.options.timestamps.is_some();
        self.agreed.sack = self.params.sack && syn.options.sack_permitted;
        self.agreed.scale =
            self.params.window_scale.is_some() && syn.options.window_scale.is_some();
        self.agreed.my_shift = match (self.params.window_scale, syn.options.window_scale) {
            (Some(mine), Some(_)) => mine.min(14),
            _ => 0,
        };
        let options = if self.agreed.timestamps { 12 } else { 0 };
        self.sender.mss = u64::from(mss.saturating_sub(options)).max(1);
        self.sender.window = u64::from(syn.window);
        self.sender.window_max = self.sender.window;
        // without its own option the sender must not expect selective ACKs
        self.params.sack = self.agreed.sack;
        self.params.rack &= self.agreed.sack;
        self.sender.congestion = Congestion::new(&self.params, self.sender.mss);
    }

    fn open(&mut self, now: Time, segment: &Segment) {
        self.state = State::Open;
        self.sender.acknowledge(segment.ack);
        if self.sender.retries == 0 {
            let since = self.syn_at.unwrap_or(now);
            self.rto.took(now - since);
        }
        self.sender.retries = 0;
        self.set(Timer::Retransmit, None);
        self.sender.last_sent = now;
        self.events.push_back(TcpEvent::Connected);
    }

    fn established(&mut self, now: Time, segment: &Segment) {
        if segment.flags.ack {
            self.acknowledgment(now, segment);
        }
        if segment.seq_len() > 0 && segment.seq > self.receiver.next {
            self.stats.out_of_order = self.stats.out_of_order.saturating_add(1);
        }
        let finished = self.receiver.finished;
        let before = self.receiver.readable.len();
        match self.receiver.take(segment, &self.params, self.sender.mss) {
            Reply::None => {}
            Reply::Now => self.receiver.ack_now = true,
            Reply::Later => {
                if self.timer(Timer::DelayedAck).is_none() {
                    let at = deadline(now, self.params.delayed_ack, self.params.delayed_ack_tick);
                    self.set(Timer::DelayedAck, Some(at));
                }
            }
        }
        if self.receiver.readable.len() > before {
            self.events.push_back(TcpEvent::Readable);
        }
        if self.receiver.finished && !finished {
            self.events.push_back(TcpEvent::PeerFinished);
        }
    }

    fn acknowledgment(&mut self, now: Time, segment: &Segment) {
        let ack = segment.ack;
        if ack > self.sender.max || ack < self.sender.una {
            return;
        }
        let new = ack > self.sender.una;
        let outstanding = self.sender.sent_up_to() > self.sender.una;
        let same_window = self.sender.window == u64::from(segment.window);
        self.see_window(ack, segment.window);
        if self.params.rack {
            self.timed_acknowledgment(now, segment, new);
            return;
        }
        if self.agreed.sack {
            self.sender.note_sacked(&segment.options.sack);
        }
        if new {
            self.progress(now, ack);
        } else if outstanding
            && same_window
            && segment.seq_len() == 0
            && self.sender.on_duplicate(&self.params)
        {
            self.set(Timer::Retransmit, None);
        }
    }

    /// The same for stacks that record the time of each segment.
    fn timed_acknowledgment(&mut self, now: Time, segment: &Segment, new: bool) {
        let ranges = &segment.options.sack;
        let seen = self.sender.board.acknowledged(now, segment.ack, ranges);
        if let Some(round) = seen.round {
            self.sender.congestion.see_round(round);
        }
        if new {
            self.progress(now, segment.ack);
        }
        self.repair(now, seen);
        self.sender
            .look_for_a_full_way(now, &self.params, seen.round);
    }

    /// Detects losses, starts retransmissions, and sets the timer of the next check.
    fn repair(&mut self, now: Time, seen: AckInfo) {
        let (begun, next) = self.sender.repair(now, seen, &self.params);
        if begun {
            self.set(Timer::Retransmit, None);
        }
        self.set(Timer::Reorder, next);
    }

    fn see_window(&mut self, ack: u64, window: u32) {
        let believed =
            self.params.window_refresh == WindowRefresh::Always || ack == self.sender.max;
        if !believed {
            return;
        }
        self.sender.window = u64::from(window);
        self.sender.window_max = self.sender.window_max.max(self.sender.window);
        if window > 0 {
            self.set(Timer::Persist, None);
            self.persist_doublings = 0;
        }
    }

    fn progress(&mut self, now: Time, ack: u64) {
        let bytes = ack.saturating_sub(self.sender.una);
        self.sender.acknowledge(ack);
        if let Some((_, sent)) = self.sender.timed.filter(|(end, _)| *end <= ack) {
            self.sender.timed = None;
            self.rto.sample(now - sent, &self.params);
            self.sender.congestion.see_round(now - sent);
        }
        if self.params.karn == Karn::Reset {
            self.rto.forgive();
        }
        self.sender.on_progress(now, bytes, &self.params);
        if !self.params.rack {
            self.sender.look_for_a_full_way(now, &self.params, None);
        }
        self.set(Timer::SillyWindow, None);
        self.set(Timer::Retransmit, None);
        if self.sender.max > self.sender.una {
            self.arm_retransmit(now);
        }
        if self
            .low_water
            .is_some_and(|mark| self.sender.buffer.len() < mark)
        {
            self.low_water = None;
            self.events.push_back(TcpEvent::Drained);
        }
    }

    fn retransmit_timeout(&mut self, now: Time) {
        let sender = &mut self.sender;
        self.stats.timeouts = self.stats.timeouts.saturating_add(1);
        sender.retries = sender.retries.saturating_add(1);
        if sender.retries > self.params.max_retries {
            self.abort();
            return;
        }
        self.rto.back_off(&self.params);
        sender.timed = None;
        sender.duplicates = 0;
        if matches!(self.state, State::SynSent | State::SynReceived) {
            sender.next = sender.initial;
            return;
        }
        sender
            .congestion
            .timed_out(sender.max.saturating_sub(sender.una));
        sender.recovery = Some((Sent::Timeout, sender.max));
        sender.after = Some(Sent::Timeout);
        sender.sacked.clear();
        match self.params.rto_recovery {
            _ if self.params.rack => {
                sender.board.timed_out(now);
                sender.again = Some(Sent::Timeout);
            }
            RtoRecovery::GoBackN => sender.next = sender.una,
            RtoRecovery::OldestOnly => sender.again = Some(Sent::Timeout),
        }
        self.blocked = Some(Blocked::Recovery(Sent::Timeout));
    }
}
