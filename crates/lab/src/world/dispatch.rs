//! Handling of events.

use alloc::boxed::Box;

use coax_wire::time::{Span, Time};

use super::{World, events::Event, run::Apps};
use crate::{
    app::{AppEvent, Context},
    capture::Tap,
    cause::{Cause, Provenance},
    link::Fate,
    machine::{Job, Queued},
    segment::{Segment, Sent},
    side::{End, Side},
    tcp::{TcpEvent, Timer},
    watch::Happened,
};

impl World {
    pub(super) fn schedule(&mut self, event: Event, account: Provenance) {
        self.events.push(account.at(), (event, account));
    }

    pub(super) fn dispatch(&mut self, event: Event) {
        match event {
            Event::Arrive(end, segment) => self.arrive(end, segment),
            Event::Look(end, segment) => self.look(end, segment),
            Event::Done(end, job) => self.done(end, job),
            Event::RingFree(end, segment) => {
                if self.hand_to_card(end, segment) {
                    self.next_job(end);
                }
            }
            Event::Left(end) => self.next_job(end),
            Event::Medium => self.medium_step(),
            Event::Off(end) => self.off(end),
            Event::TcpTimer(end) => self.tcp_timer(end),
            Event::Station(end) => self.station_timer(end),
            Event::App(end, event) => self.pending.push_back((end, event, self.current.clone())),
        }
    }

    /// Delivers events to the applications, then sends due ACKs.
    pub(super) fn deliver_events(&mut self, apps: &mut Apps<'_, '_>) {
        while let Some((end, event, account)) = self.pending.pop_front() {
            let flow = self.flows.of(end.client);
            let (epoch, exchange) = (flow.epoch, flow.exchange);
            let arrival = account.in_epoch(epoch);
            self.current = arrival.clone().resolve(exchange);
            let mut context = Context { world: self, end };
            match (apps.get_mut(usize::from(end.client)), end.side) {
                (Some((client, _)), Side::Client) => client.handle(&mut context, event),
                (Some((_, server)), Side::Server) => server.handle(&mut context, event),
                (None, _) => continue,
            }
            if self.stopped {
                return;
            }
            // an ACK answers the arrival, not the application's action
            self.current = arrival.in_epoch(self.epoch(end));
            self.pump(end, true);
            if !self.host(end).cpu.busy {
                self.next_job(end);
            }
        }
    }

    fn arrive(&mut self, end: End, segment: Box<Segment>) {
        self.tap(Tap::at(end.side), end.peer(), &segment, self.now);
        let host = self.host_mut(end);
        if host.nic.rx_ring > 0 && host.rx_waiting >= host.nic.rx_ring {
            let peer = self.host_mut(end.peer());
            peer.paths.rx_drops = peer.paths.rx_drops.saturating_add(1);
            self.saw(end.peer(), Happened::NoRoom, &segment);
            return;
        }
        self.saw(end.peer(), Happened::Arrived, &segment);
        let host = self.host_mut(end);
        host.rx_waiting = host.rx_waiting.saturating_add(1);
        let poll = host.nic.poll.0;
        let socket = self.socket_mut(end);
        socket.rx_waiting = socket.rx_waiting.saturating_add(1);
        if poll == 0 {
            self.look(end, segment);
        } else {
            let at = Time(self.now.0.div_ceil(poll).saturating_mul(poll));
            let account = self.current.clone().charge(end.think(), at);
            self.schedule(Event::Look(end, segment), account);
        }
    }

    /// The driver takes a received frame from the ring.
    fn look(&mut self, end: End, segment: Box<Segment>) {
        let host = self.host(end);
        let job = Job::Receive(segment);
        let cost = job.cost(&host.machine).0;
        let cost = cost.saturating_add(host.nic.interrupt.0);
        self.submit(end, job, Span(cost));
    }

    /// Queues a job for the processor.
    pub(super) fn submit(&mut self, end: End, job: Job, cost: Span) {
        let account = self.current.clone();
        let now = self.now;
        let host = self.host_mut(end);
        if host.cpu.busy {
            let queue = match job {
                Job::Send(_) => &mut host.cpu.sending,
                _ => &mut host.cpu.waiting,
            };
            let client = end.client;
            queue.push_back(Queued {
                client,
                job,
                cost,
                account,
            });
            return;
        }
        if cost.0 == 0 && !matches!(job, Job::Work(_)) {
            let done = self.perform(end, job);
            self.host_mut(end).cpu.busy = !done;
            return;
        }
        host.cpu.busy = true;
        host.cpu.used = Span(host.cpu.used.0.saturating_add(cost.0));
        let account = account.charge(end.think(), now + cost);
        self.schedule(Event::Done(end, job), account);
    }

    fn done(&mut self, end: End, job: Job) {
        let account = self.current.clone();
        if self.perform(end, job) {
            self.current = account;
            self.next_job(end);
        }
    }

    /// The processor starts the job that has waited longest. The job continues the account of the job before it,
    /// because it waited for that one, if both serve one connection. Else the wait is the host's processing time.
    pub(super) fn next_job(&mut self, end: End) {
        let now = self.now;
        let current = self.current.clone();
        let host = self.host_mut(end);
        let Some(Queued {
            client,
            job,
            cost,
            account,
        }) = host
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
        let next = End::new(end.side, client);
        let account = if account.at() == now {
            account.in_epoch(self.epoch(next))
        } else if client == end.client {
            current
        } else {
            let account = account.in_epoch(self.epoch(next));
            account.charge(end.think(), now)
        };
        let account = account.charge(end.think(), now + cost);
        self.schedule(Event::Done(next, job), account);
    }

    /// Performs a job; false if a full ring blocks the processor.
    fn perform(&mut self, end: End, job: Job) -> bool {
        match job {
            Job::Send(segment) => return self.hand_to_card(end, segment),
            Job::Work(token) => {
                self.pending
                    .push_back((end, AppEvent::Worked(token), self.current.clone()))
            }
            Job::Receive(segment) => self.receive(end, &segment),
        }
        true
    }

    fn receive(&mut self, end: End, segment: &Segment) {
        let now = self.now;
        let host = self.host_mut(end);
        host.rx_waiting = host.rx_waiting.saturating_sub(1);
        let socket = self.socket_mut(end);
        socket.rx_waiting = socket.rx_waiting.saturating_sub(1);
        if let Some(frame) = &segment.frame {
            return self.station_receives(end, segment, frame);
        }
        self.socket_mut(end).tcp.handle_segment(now, segment);
        self.after_tcp(end);
    }

    fn tcp_timer(&mut self, end: End) {
        let now = self.now;
        let epoch = self.epoch(end);
        let socket = self.socket_mut(end);
        if socket.timer_event.is_some_and(|at| at <= now) {
            socket.timer_event = None;
        }
        let due = Timer::ALL
            .into_iter()
            .find(|timer| socket.tcp.timer(*timer).is_some_and(|at| at <= now));
        if let Some(timer) = due {
            let set = socket.timers.get_mut(timer as usize).and_then(Option::take);
            socket.tcp.handle_timeout(now);
            if let Some((_, account)) = set {
                self.current = account.in_epoch(epoch).charge(timer_cause(timer), now);
            }
            self.after_tcp(end);
        }
        self.watch_timers(end);
    }

    /// After an input to TCP: sends data that became possible, and delivers events.
    fn after_tcp(&mut self, end: End) {
        let account = self.current.clone();
        self.pump(end, false);
        self.current = account;
        let mut delivered = false;
        while let Some(event) = self.socket_mut(end).tcp.poll_event() {
            delivered = true;
            let event = match event {
                TcpEvent::Connected => AppEvent::Connected,
                TcpEvent::Readable => AppEvent::Readable,
                TcpEvent::Drained => AppEvent::Drained,
                TcpEvent::PeerFinished => AppEvent::PeerFinished,
                TcpEvent::Reset => AppEvent::Reset,
            };
            self.pending.push_back((end, event, self.current.clone()));
        }
        if !delivered {
            self.pump(end, true);
        }
    }

    /// Sends what TCP allows: data, and ACKs if `all`.
    pub(super) fn pump(&mut self, end: End, all: bool) {
        if self.socket(end).station.is_some() {
            return self.pump_station(end);
        }
        let now = self.now;
        loop {
            let socket = self.socket_mut(end);
            let data = socket.tcp.poll_data(now);
            let Some(segment) = data.or_else(|| if all { socket.tcp.poll_ack(now) } else { None })
            else {
                break;
            };
            if segment.seq_len() > 0 {
                self.released(end, &segment);
            }
            let job = Job::Send(Box::new(segment));
            let cost = job.cost(&self.host(end).machine);
            self.submit(end, job, cost);
        }
        self.hold(end);
        self.watch_timers(end);
    }

    /// Data is sent that may have been blocked: charges the current account's transit.
    fn released(&mut self, end: End, segment: &Segment) {
        if segment.sent == Sent::FastRetransmit {
            // a retransmission waited for the detection of its loss, whatever blocks new data
            self.current = self.current.clone().resolve(segment.sent.cause());
            return;
        }
        let Some(blocked) = self.socket_mut(end).held.take() else {
            if segment.sent == Sent::Timeout {
                self.current = self.current.clone().resolve(segment.sent.cause());
            }
            return;
        };
        self.current = self.current.clone().resolve(blocked.cause());
    }

    /// Records what blocks the sender now.
    fn hold(&mut self, end: End) {
        let socket = self.socket_mut(end);
        socket.held = socket.tcp.blocked();
    }

    /// Passes a segment to the card; false if the driver must wait.
    fn hand_to_card(&mut self, end: End, segment: Box<Segment>) -> bool {
        let segment = match self.hand_to_cable(end, segment) {
            Ok(goes_on) => return goes_on,
            Err(segment) => segment,
        };
        let fate = self.transmit(end, &segment);
        self.digest.frame(self.now, end, &segment, &fate);
        match &fate {
            Fate::RingBlocked { .. } => {}
            Fate::Arrives { .. } => self.saw(end, Happened::Sent, &segment),
            _ => self.saw(end, Happened::SentInVain, &segment),
        }
        self.count(end, &fate, &segment);
        let (leaves, arrives) = match fate {
            Fate::RingBlocked { until } => {
                let account = self.current.clone().charge(Cause::Bandwidth, until);
                self.schedule(Event::RingFree(end, segment), account);
                return false;
            }
            Fate::RingDropped => return true,
            Fate::Lost { leaves } | Fate::QueueFull { leaves } => (leaves, None),
            Fate::Arrives { leaves, account } => (leaves, Some(account)),
        };
        self.tap(Tap::at(end.side), end, &segment, self.now);
        self.tap(Tap::Wire, end, &segment, leaves);
        if let Some(account) = arrives {
            self.schedule(Event::Arrive(end.peer(), segment), account);
        }
        !self.wait_for_card(end)
    }

    /// Passes a segment to the card, its wire, and what clients share behind it.
    fn transmit(&mut self, end: End, segment: &Segment) -> Fate {
        let medium = self.others_busy_until(end);
        let account = self.current.clone();
        let Self {
            clients,
            server,
            junctions: [to_server, to_client],
            ..
        } = self;
        let (host, junction) = match end.side {
            Side::Client => (clients.of_mut(end.client), to_server),
            Side::Server => (server, to_client),
        };
        host.way
            .transmit(medium, (end.client, account), segment, junction)
    }

    /// The end of the last frame of other hosts, if all take turns on a medium.
    fn others_busy_until(&self, end: End) -> Time {
        if !self.half_duplex {
            return Time(0);
        }
        let clients = (0..).zip(self.clients.iter());
        let others = clients.filter(|(client, _)| End::new(Side::Client, *client) != end);
        let server = (end.side == Side::Client).then(|| self.server.way.busy_until());
        let busy = others.map(|(_, host)| host.way.busy_until()).chain(server);
        busy.max().unwrap_or(Time(0))
    }

    /// Counts the result of sending a frame.
    pub(super) fn count(&mut self, end: End, fate: &Fate, segment: &Segment) {
        let cable = self.cable.as_ref();
        let bytes = cable.map_or_else(|| segment.on_wire(), |cable| cable.wire_bytes(segment));
        let paths = &mut self.host_mut(end).paths;
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
        paths.wire_bytes = paths.wire_bytes.saturating_add(bytes);
    }

    pub(super) fn saw(&mut self, from: End, happened: Happened, segment: &Segment) {
        if from.client == 0 {
            self.watch.saw(self.now, from.side, happened, segment);
        }
    }

    /// Blocks the driver if the card's ring is full.
    fn wait_for_card(&mut self, end: End) -> bool {
        let host = self.host(end);
        if !host.nic.tx_wait {
            return false;
        }
        let account = self
            .current
            .clone()
            .charge(Cause::Bandwidth, host.way.busy_until());
        self.schedule(Event::Left(end), account);
        true
    }

    pub(super) fn tap(&mut self, tap: Tap, from: End, segment: &Segment, at: Time) {
        let is_elsewhere = tap == Tap::Client && from.client != 0;
        for recorder in &mut self.recorders {
            if recorder.tap() == tap && !is_elsewhere {
                recorder.frame(at, from, segment);
            }
        }
    }

    /// Schedules an event for the earliest deadline, and records the account in which each timer was set.
    fn watch_timers(&mut self, end: End) {
        let Self {
            flows,
            current,
            events,
            now,
            ..
        } = self;
        let socket = flows.of_mut(end.client).socket_mut(end.side);
        let is_armed_anew = socket.tcp.armings() != socket.arming;
        socket.arming = socket.tcp.armings();
        for (timer, place) in Timer::ALL.into_iter().zip(&mut socket.timers) {
            let at = socket.tcp.timer(timer);
            let is_anew = is_armed_anew && timer == Timer::Retransmit;
            if is_anew || place.as_ref().map(|(at, _)| *at) != at {
                *place = at.map(|at| (at, current.clone()));
            }
        }
        let Some(next) = socket.tcp.poll_timeout() else {
            return;
        };
        if socket.timer_event.is_none_or(|at| at > next) {
            let at = next.max(*now);
            socket.timer_event = Some(at);
            events.push(at, (Event::TcpTimer(end), current.clone()));
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
