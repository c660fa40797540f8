//! Handling of events.

use alloc::boxed::Box;

use coax_wire::time::{Span, Time};

use super::{World, events::Event};
use crate::{
    app::{App, AppEvent, Context},
    capture::Tap,
    cause::{Cause, Provenance},
    link::Fate,
    machine::{Job, Queued},
    segment::{Segment, Sent},
    side::Side,
    tcp::{TcpEvent, Timer},
    watch::Happened,
};

impl World {
    pub(super) fn schedule(&mut self, event: Event, account: Provenance) {
        self.events.push(account.at(), (event, account));
    }

    pub(super) fn dispatch(&mut self, event: Event) {
        match event {
            Event::Arrive(side, segment) => self.arrive(side, segment),
            Event::Look(side, segment) => self.look(side, segment),
            Event::Done(side, job) => self.done(side, job),
            Event::RingFree(side, segment) => {
                if self.hand_to_card(side, segment) {
                    self.next_job(side);
                }
            }
            Event::Left(side) => self.next_job(side),
            Event::Medium => self.medium_step(),
            Event::Off(side) => self.off(side),
            Event::TcpTimer(side) => self.tcp_timer(side),
            Event::App(side, event) => self.pending.push_back((side, event, self.current.clone())),
        }
    }

    /// Delivers events to the applications, then sends due ACKs.
    pub(super) fn deliver_events(&mut self, client: &mut dyn App, server: &mut dyn App) {
        while let Some((side, event, account)) = self.pending.pop_front() {
            let arrival = account.in_epoch(self.epoch);
            self.current = arrival.clone().resolve(self.exchange);
            let mut context = Context { world: self, side };
            match side {
                Side::Client => client.handle(&mut context, event),
                Side::Server => server.handle(&mut context, event),
            }
            if self.stopped {
                return;
            }
            // an ACK answers the arrival, not the application's action
            self.current = arrival.in_epoch(self.epoch);
            self.pump(side, true);
            if !self.host(side).cpu.busy {
                self.next_job(side);
            }
        }
    }

    fn arrive(&mut self, side: Side, segment: Box<Segment>) {
        self.tap(Tap::at(side), side.peer(), &segment, self.now);
        let host = self.host_mut(side);
        if host.nic.rx_ring > 0 && host.rx_waiting >= host.nic.rx_ring {
            let peer = self.host_mut(side.peer());
            peer.paths.rx_drops = peer.paths.rx_drops.saturating_add(1);
            self.saw(side.peer(), Happened::NoRoom, &segment);
            return;
        }
        self.saw(side.peer(), Happened::Arrived, &segment);
        let host = self.host_mut(side);
        host.rx_waiting = host.rx_waiting.saturating_add(1);
        let poll = host.nic.poll.0;
        if poll == 0 {
            self.look(side, segment);
        } else {
            let at = Time(self.now.0.div_ceil(poll).saturating_mul(poll));
            let account = self.current.clone().charge(side.think(), at);
            self.schedule(Event::Look(side, segment), account);
        }
    }

    /// The driver takes a received frame from the ring.
    fn look(&mut self, side: Side, segment: Box<Segment>) {
        let host = self.host(side);
        let job = Job::Receive(segment);
        let cost = job.cost(&host.machine).0;
        let cost = cost.saturating_add(host.nic.interrupt.0);
        self.submit(side, job, Span(cost));
    }

    /// Queues a job for the processor.
    pub(super) fn submit(&mut self, side: Side, job: Job, cost: Span) {
        let account = self.current.clone();
        let now = self.now;
        let host = self.host_mut(side);
        if host.cpu.busy {
            let queue = match job {
                Job::Send(_) => &mut host.cpu.sending,
                _ => &mut host.cpu.waiting,
            };
            queue.push_back(Queued { job, cost, account });
            return;
        }
        if cost.0 == 0 && !matches!(job, Job::Work(_)) {
            let done = self.perform(side, job);
            self.host_mut(side).cpu.busy = !done;
            return;
        }
        host.cpu.busy = true;
        host.cpu.used = Span(host.cpu.used.0.saturating_add(cost.0));
        let account = account.charge(side.think(), now + cost);
        self.schedule(Event::Done(side, job), account);
    }

    fn done(&mut self, side: Side, job: Job) {
        let account = self.current.clone();
        if self.perform(side, job) {
            self.current = account;
            self.next_job(side);
        }
    }

    /// The processor starts the job that has waited longest. The job continues the account of the job before it,
    /// because it waited for that one.
    pub(super) fn next_job(&mut self, side: Side) {
        let now = self.now;
        let current = self.current.clone();
        let host = self.host_mut(side);
        let Some(Queued { job, cost, account }) = host
            .cpu
            .sending
            .pop_front()
            .or_else(|| host.cpu.waiting.pop_front())
        else {
            host.cpu.busy = false;
            return;
        };
        host.cpu.busy = true;
        host.cpu.used = Span(host.cpu.used.0.saturating_add(cost.0));
        let account = if account.at() == now {
            account.in_epoch(current.epoch())
        } else {
            current
        };
        let account = account.charge(side.think(), now + cost);
        self.schedule(Event::Done(side, job), account);
    }

    /// Performs a job; false if a full ring blocks the processor.
    fn perform(&mut self, side: Side, job: Job) -> bool {
        match job {
            Job::Send(segment) => return self.hand_to_card(side, segment),
            Job::Work(token) => {
                self.pending
                    .push_back((side, AppEvent::Worked(token), self.current.clone()))
            }
            Job::Receive(segment) => self.receive(side, &segment),
        }
        true
    }

    fn receive(&mut self, side: Side, segment: &Segment) {
        let now = self.now;
        let host = self.host_mut(side);
        host.rx_waiting = host.rx_waiting.saturating_sub(1);
        host.tcp.handle_segment(now, segment);
        self.after_tcp(side);
    }

    fn tcp_timer(&mut self, side: Side) {
        let now = self.now;
        let host = self.host_mut(side);
        if host.timer_event.is_some_and(|at| at <= now) {
            host.timer_event = None;
        }
        let due = Timer::ALL
            .into_iter()
            .find(|timer| host.tcp.timer(*timer).is_some_and(|at| at <= now));
        if let Some(timer) = due {
            let set = host.timers.get_mut(timer as usize).and_then(Option::take);
            host.tcp.handle_timeout(now);
            if let Some((_, account)) = set {
                self.current = account.in_epoch(self.epoch).charge(timer_cause(timer), now);
            }
            self.after_tcp(side);
        }
        self.watch_timers(side);
    }

    /// After an input to TCP: sends data that became possible, and delivers events.
    fn after_tcp(&mut self, side: Side) {
        let account = self.current.clone();
        self.pump(side, false);
        self.current = account;
        let mut delivered = false;
        while let Some(event) = self.host_mut(side).tcp.poll_event() {
            delivered = true;
            let event = match event {
                TcpEvent::Connected => AppEvent::Connected,
                TcpEvent::Readable => AppEvent::Readable,
                TcpEvent::Drained => AppEvent::Drained,
                TcpEvent::PeerFinished => AppEvent::PeerFinished,
                TcpEvent::Reset => AppEvent::Reset,
            };
            self.pending.push_back((side, event, self.current.clone()));
        }
        if !delivered {
            self.pump(side, true);
        }
    }

    /// Sends what TCP allows: data, and ACKs if `all`.
    pub(super) fn pump(&mut self, side: Side, all: bool) {
        let now = self.now;
        loop {
            let host = self.host_mut(side);
            let data = host.tcp.poll_data(now);
            let Some(segment) = data.or_else(|| if all { host.tcp.poll_ack(now) } else { None })
            else {
                break;
            };
            if segment.seq_len() > 0 {
                self.released(side, &segment);
            }
            let job = Job::Send(Box::new(segment));
            let cost = job.cost(&self.host(side).machine);
            self.submit(side, job, cost);
        }
        self.hold(side);
        self.watch_timers(side);
    }

    /// Data is sent that may have been blocked: charges the current account's transit.
    fn released(&mut self, side: Side, segment: &Segment) {
        if segment.sent == Sent::FastRetransmit {
            // a retransmission waited for the detection of its loss, whatever blocks new data
            self.current = self.current.clone().resolve(segment.sent.cause());
            return;
        }
        let Some(blocked) = self.host_mut(side).held.take() else {
            if segment.sent == Sent::Timeout {
                self.current = self.current.clone().resolve(segment.sent.cause());
            }
            return;
        };
        self.current = self.current.clone().resolve(blocked.cause());
    }

    /// Records what blocks the sender now.
    fn hold(&mut self, side: Side) {
        let host = self.host_mut(side);
        host.held = host.tcp.blocked();
    }

    /// Passes a segment to the card; false if the driver must wait.
    fn hand_to_card(&mut self, side: Side, segment: Box<Segment>) -> bool {
        let segment = match self.hand_to_cable(side, segment) {
            Ok(goes_on) => return goes_on,
            Err(segment) => segment,
        };
        let medium = if self.half_duplex {
            self.host(side.peer()).way.busy_until()
        } else {
            Time(0)
        };
        let account = self.current.clone();
        let fate = self.host_mut(side).way.transmit(medium, account, &segment);
        self.digest.frame(self.now, side, &segment, &fate);
        match &fate {
            Fate::RingBlocked { .. } => {}
            Fate::Arrives { .. } => self.saw(side, Happened::Sent, &segment),
            _ => self.saw(side, Happened::SentInVain, &segment),
        }
        self.count(side, &fate, &segment);
        let (leaves, arrives) = match fate {
            Fate::RingBlocked { until } => {
                let account = self.current.clone().charge(Cause::Bandwidth, until);
                self.schedule(Event::RingFree(side, segment), account);
                return false;
            }
            Fate::RingDropped => return true,
            Fate::Lost { leaves } | Fate::QueueFull { leaves } => (leaves, None),
            Fate::Arrives { leaves, account } => (leaves, Some(account)),
        };
        self.tap(Tap::at(side), side, &segment, self.now);
        self.tap(Tap::Wire, side, &segment, leaves);
        if let Some(account) = arrives {
            self.schedule(Event::Arrive(side.peer(), segment), account);
        }
        !self.wait_for_card(side)
    }

    /// Counts the result of sending a frame.
    pub(super) fn count(&mut self, side: Side, fate: &Fate, segment: &Segment) {
        let paths = &mut self.host_mut(side).paths;
        match fate {
            Fate::RingBlocked { .. } => return,
            Fate::RingDropped => {
                paths.ring_drops = paths.ring_drops.saturating_add(1);
                return;
            }
            Fate::Lost { .. } => paths.lost = paths.lost.saturating_add(1),
            Fate::QueueFull { .. } => paths.queue_drops = paths.queue_drops.saturating_add(1),
            Fate::Arrives { .. } => {}
        }
        paths.frames = paths.frames.saturating_add(1);
        paths.wire_bytes = paths.wire_bytes.saturating_add(segment.on_wire());
    }

    pub(super) fn saw(&mut self, from: Side, happened: Happened, segment: &Segment) {
        self.watch.saw(self.now, from, happened, segment);
    }

    /// Blocks the driver if the card's ring is full.
    fn wait_for_card(&mut self, side: Side) -> bool {
        let host = self.host(side);
        if !host.nic.tx_wait {
            return false;
        }
        let account = self
            .current
            .clone()
            .charge(Cause::Bandwidth, host.way.busy_until());
        self.schedule(Event::Left(side), account);
        true
    }

    pub(super) fn tap(&mut self, tap: Tap, from: Side, segment: &Segment, at: Time) {
        for recorder in &mut self.recorders {
            if recorder.tap() == tap {
                recorder.frame(at, from, segment);
            }
        }
    }

    /// Schedules an event for the earliest deadline, and records the account in which each timer was set.
    fn watch_timers(&mut self, side: Side) {
        let Self {
            client,
            server,
            current,
            events,
            now,
            ..
        } = self;
        let host = match side {
            Side::Client => client,
            Side::Server => server,
        };
        let is_armed_anew = host.tcp.armings() != host.arming;
        host.arming = host.tcp.armings();
        for (timer, place) in Timer::ALL.into_iter().zip(&mut host.timers) {
            let at = host.tcp.timer(timer);
            let is_anew = is_armed_anew && timer == Timer::Retransmit;
            if is_anew || place.as_ref().map(|(at, _)| *at) != at {
                *place = at.map(|at| (at, current.clone()));
            }
        }
        let Some(next) = host.tcp.poll_timeout() else {
            return;
        };
        if host.timer_event.is_none_or(|at| at > next) {
            let at = next.max(*now);
            host.timer_event = Some(at);
            events.push(at, (Event::TcpTimer(side), current.clone()));
        }
    }
}

const fn timer_cause(timer: Timer) -> Cause {
    match timer {
        Timer::Retransmit => Cause::Timeout,
        Timer::DelayedAck => Cause::NagleDelayedAck,
        Timer::Persist => Cause::ZeroWindow,
        Timer::SillyWindow => Cause::ReceiveWindow,
        Timer::Reorder => Cause::FastRecovery,
    }
}
