//! Two hosts and the link between them.
//!
//! A host is a machine with a card, a TCP endpoint and an application. A segment that TCP lets go costs processor time,
//! then meets the card's ring, the wire, the other card's ring and the other processor, before that TCP sees it.
//! Segments are decided on when TCP lets them go; the processor and the rings take them in that order.
//!
//! Not modelled: a processor that is interrupted (arriving frames wait like all other work), more than one connection,
//! TCP's own timers costing processor time.

use alloc::{collections::VecDeque, vec::Vec};

use coax_wire::time::{Span, Time};

use crate::{
    app::{App, AppEvent, Context, DiskWork},
    capture::{Recorder, Tap},
    cause::{Account, Cause, Epoch, Provenance, Stretch},
    link::{Direction, Duplex, Fate, LinkParams, NicParams},
    machine::{Cpu, Disk, Job, MachineParams, Queued},
    payload::Payload,
    queue::EventQueue,
    rng::Rng,
    segment::{Segment, Sent},
    tcp::{Blocked, Endpoint, StackParams, TcpEvent, Timer},
};

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that connects.
    Client,
    /// The one that listens.
    Server,
}

impl Side {
    /// The other one.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    const fn think(self) -> Cause {
        match self {
            Self::Client => Cause::ClientThink,
            Self::Server => Cause::ServerThink,
        }
    }
}

/// What a host is made of.
#[derive(Clone, Debug, Default)]
pub struct HostParams {
    /// Its machine.
    pub machine: MachineParams,
    /// Its card.
    pub nic: NicParams,
    /// Its TCP.
    pub stack: StackParams,
}

/// A whole experiment but for the applications.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host that connects.
    pub client: HostParams,
    /// The host that listens.
    pub server: HostParams,
    /// What is between them.
    pub link: LinkParams,
    /// All chance comes from this.
    pub seed: u64,
    /// Whether the truth is kept stretch by stretch, not only as sums.
    pub keep_truth: bool,
    /// The server's port in captures.
    pub port: u16,
}

impl Default for Setup {
    /// Two fast machines with plain stacks on Ethernet, and NetBIOS' port.
    fn default() -> Self {
        Self {
            client: HostParams::default(),
            server: HostParams::default(),
            link: LinkParams::default(),
            seed: 1,
            keep_truth: false,
            port: 139,
        }
    }
}

/// What one direction of the link and its rings did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// Frames that left the card.
    pub frames: u64,
    /// Bytes of wire they took, framing included.
    pub wire_bytes: u64,
    /// Frames that the sender's card had no room for.
    pub ring_drops: u64,
    /// Frames that the link lost.
    pub lost: u64,
    /// Frames that found the slower link's queue full.
    pub queue_drops: u64,
    /// Frames that the receiver's card had no room for.
    pub rx_drops: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// An application said so.
    Stopped,
    /// Nothing was left to happen.
    Idle,
    /// The time that was allowed is over.
    OutOfTime,
}

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) machine: MachineParams,
    pub(crate) tcp: Endpoint,
    nic: NicParams,
    cpu: Cpu,
    disk: Disk,
    way: Direction,
    rx_waiting: usize,
    /// Since when, and by what, the sender is held.
    held: Option<(Blocked, Provenance)>,
    /// Deadlines as last seen, with the account of the moment they were set.
    timers: [Option<(Time, Provenance)>; 4],
    timer_event: Option<Time>,
    paths: PathStats,
}

#[derive(Debug)]
enum Event {
    Arrive(Side, Segment),
    Look(Side, Segment),
    Done(Side, Job),
    RingFree(Side, Segment),
    TcpTimer(Side),
    App(Side, AppEvent),
}

/// Two hosts, a link, and what is going to happen.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue<(Event, Provenance)>,
    /// The account of the event being dealt with.
    current: Provenance,
    epoch: Epoch,
    client: Host,
    server: Host,
    half_duplex: bool,
    port: u16,
    exchange: Cause,
    stopped: bool,
    pending: VecDeque<(Side, AppEvent, Provenance)>,
    recorders: Vec<Recorder>,
    digest: Digest,
}

impl World {
    /// Both hosts at time zero, the server listening.
    pub fn new(setup: &Setup) -> Self {
        let mut rng = Rng::new(setup.seed);
        let epoch = Epoch {
            start: Time(0),
            number: 0,
            trail: setup.keep_truth,
        };
        let link = &setup.link;
        let client = Host::new(&setup.client, link, &link.loss_to_server, &mut rng);
        let mut server = Host::new(&setup.server, link, &link.loss_to_client, &mut rng);
        server.tcp.listen();
        Self {
            now: Time(0),
            events: EventQueue::new(),
            current: Provenance::begin(epoch),
            epoch,
            client,
            server,
            half_duplex: link.duplex == Duplex::Half,
            port: setup.port,
            exchange: Cause::RoundTrips,
            stopped: false,
            pending: VecDeque::new(),
            recorders: Vec::new(),
            digest: Digest::default(),
        }
    }

    /// Writes down what is seen at these places. To be called before the run.
    pub fn record(&mut self, taps: &[Tap]) {
        self.recorders = taps.iter().map(|tap| Recorder::new(*tap, self.port)).collect();
    }

    /// Runs until an application stops it, nothing is left to happen, or `limit` has passed.
    pub fn run(&mut self, client: &mut dyn App, server: &mut dyn App, limit: Span) -> Ended {
        let end = Time(limit.0);
        for side in [Side::Server, Side::Client] {
            self.pending.push_back((side, AppEvent::Start, self.current.clone()));
        }
        self.tell(client, server);
        while !self.stopped {
            match self.events.next_time() {
                None => return Ended::Idle,
                Some(at) if at > end => return Ended::OutOfTime,
                Some(_) => {}
            }
            let Some((at, (event, account))) = self.events.pop() else {
                return Ended::Idle;
            };
            self.now = at;
            self.current = account.in_epoch(self.epoch);
            self.dispatch(event);
            self.tell(client, server);
        }
        Ended::Stopped
    }

    /// The moment.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The account of the event last dealt with: at the end of a run, that of the whole.
    pub fn account(&self) -> Account {
        self.current.finish(self.exchange)
    }

    /// The same stretch by stretch, if the setup asked for it.
    pub fn truth(&self) -> Vec<Stretch> {
        self.current.stretches(self.exchange)
    }

    /// A host's TCP.
    pub fn tcp(&self, side: Side) -> &Endpoint {
        &self.host(side).tcp
    }

    /// What the way from this host did.
    pub fn path(&self, from: Side) -> &PathStats {
        &self.host(from).paths
    }

    /// Processor time that a host has used.
    pub fn cpu_used(&self, side: Side) -> Span {
        self.host(side).cpu.used
    }

    /// A digest of every frame that left a card: when, what, and what became of it. The same seed gives the same.
    pub const fn digest(&self) -> u64 {
        self.digest.0
    }

    /// Events that were dealt with or are waiting.
    pub const fn events(&self) -> u64 {
        self.events.scheduled()
    }

    /// The captures that were asked for, in that order, as pcapng files.
    pub fn captures(&mut self) -> Vec<Vec<u8>> {
        core::mem::take(&mut self.recorders).into_iter().map(Recorder::into_bytes).collect()
    }

    pub(crate) const fn host(&self, side: Side) -> &Host {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    const fn host_mut(&mut self, side: Side) -> &mut Host {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

/// What applications ask for.
impl World {
    /// Lets an application act on its endpoint; what that releases leaves at once.
    pub(crate) fn endpoint(&mut self, side: Side, act: impl FnOnce(&mut Endpoint)) {
        act(&mut self.host_mut(side).tcp);
        self.pump(side, true);
    }

    pub(crate) fn read(&mut self, side: Side, max: u64) -> Payload {
        // an acknowledgment that is due because of this leaves when the event is dealt with
        self.host_mut(side).tcp.recv(max)
    }

    pub(crate) fn work(&mut self, side: Side, span: Span, token: u64) {
        self.submit(side, Job::Work(token), span);
    }

    pub(crate) fn disk(&mut self, side: Side, work: DiskWork, token: u64) {
        let account = self.current.clone();
        let host = self.host_mut(side);
        let cost = match work {
            DiskWork::Read(bytes) => host.machine.disk_read.of(bytes),
            DiskWork::Write(bytes) => host.machine.disk_write.of(bytes),
        };
        let account = match host.disk.last.take() {
            Some(last) if host.disk.free_at > account.at() => last,
            _ => account,
        };
        let end = account.at() + cost;
        let account = account.charge(side.think(), end);
        host.disk.free_at = end;
        host.disk.last = Some(account.clone());
        self.schedule(Event::App(side, AppEvent::DiskDone(token)), account);
    }

    pub(crate) fn timer(&mut self, side: Side, span: Span, token: u64) {
        let account = self.current.clone().charge(side.think(), self.now + span);
        self.schedule(Event::App(side, AppEvent::Timer(token)), account);
    }

    pub(crate) const fn exchange_is(&mut self, cause: Cause) {
        self.exchange = cause;
    }

    pub(crate) fn begin_account(&mut self) {
        self.epoch = Epoch {
            start: self.now,
            number: self.epoch.number.wrapping_add(1),
            trail: self.epoch.trail,
        };
        self.current = Provenance::begin(self.epoch);
    }

    pub(crate) const fn stop(&mut self) {
        self.stopped = true;
    }
}

/// What happens.
impl World {
    fn schedule(&mut self, event: Event, account: Provenance) {
        self.events.push(account.at(), (event, account));
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Arrive(side, segment) => self.arrive(side, segment),
            Event::Look(side, segment) => self.look(side, segment),
            Event::Done(side, job) => self.done(side, job),
            Event::RingFree(side, segment) => {
                if self.to_card(side, segment) {
                    self.next_job(side);
                }
            }
            Event::TcpTimer(side) => self.tcp_timer(side),
            Event::App(side, event) => self.pending.push_back((side, event, self.current.clone())),
        }
    }

    /// Tells the applications what they should know; then what is due of acknowledgments leaves.
    fn tell(&mut self, client: &mut dyn App, server: &mut dyn App) {
        while let Some((side, event, account)) = self.pending.pop_front() {
            self.current = account.in_epoch(self.epoch);
            let mut context = Context { world: self, side };
            match side {
                Side::Client => client.handle(&mut context, event),
                Side::Server => server.handle(&mut context, event),
            }
            self.pump(side, true);
            if self.stopped {
                return;
            }
        }
    }

    fn arrive(&mut self, side: Side, segment: Segment) {
        self.tap(Tap::at(side), side.peer(), &segment, self.now);
        let host = self.host_mut(side);
        if host.nic.rx_ring > 0 && host.rx_waiting >= host.nic.rx_ring {
            let peer = self.host_mut(side.peer());
            peer.paths.rx_drops = peer.paths.rx_drops.saturating_add(1);
            return;
        }
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

    /// The driver looks at a frame that arrived.
    fn look(&mut self, side: Side, segment: Segment) {
        let host = self.host(side);
        let job = Job::Receive(segment);
        let cost = host.machine.cost(&job, Span(0)).0.saturating_add(host.nic.interrupt.0);
        self.submit(side, job, Span(cost));
    }

    /// Gives the processor something to do, after what it has to do already.
    fn submit(&mut self, side: Side, job: Job, cost: Span) {
        let account = self.current.clone();
        let now = self.now;
        let host = self.host_mut(side);
        if host.cpu.busy {
            host.cpu.waiting.push_back(Queued { job, cost, account });
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

    /// The processor takes what waited longest. It waited for what was done before it: that is whose account it takes.
    fn next_job(&mut self, side: Side) {
        let now = self.now;
        let current = self.current.clone();
        let host = self.host_mut(side);
        let Some(Queued { job, cost, account }) = host.cpu.waiting.pop_front() else {
            host.cpu.busy = false;
            return;
        };
        host.cpu.busy = true;
        host.cpu.used = Span(host.cpu.used.0.saturating_add(cost.0));
        let account = if account.at() == now { account } else { current };
        let account = account.charge(side.think(), now + cost);
        self.schedule(Event::Done(side, job), account);
    }

    /// False if the processor is held up by a full ring.
    fn perform(&mut self, side: Side, job: Job) -> bool {
        match job {
            Job::Send(segment) => return self.to_card(side, segment),
            Job::Work(token) => self.pending.push_back((side, AppEvent::Worked(token), self.current.clone())),
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
        let due = Timer::ALL.into_iter().find(|timer| host.tcp.timer(*timer).is_some_and(|at| at <= now));
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

    /// TCP was told something: data that is free now leaves, the application hears what it should.
    fn after_tcp(&mut self, side: Side) {
        let account = self.current.clone();
        self.pump(side, false);
        self.current = account;
        let mut told = false;
        while let Some(event) = self.host_mut(side).tcp.poll_event() {
            told = true;
            let event = match event {
                TcpEvent::Connected => AppEvent::Connected,
                TcpEvent::Readable => AppEvent::Readable,
                TcpEvent::Drained => AppEvent::Drained,
                TcpEvent::PeerFinished => AppEvent::PeerFinished,
                TcpEvent::Reset => AppEvent::Reset,
            };
            let account = self.current.clone().resolve(self.exchange);
            self.pending.push_back((side, event, account));
        }
        if !told {
            self.pump(side, true);
        }
    }

    /// Lets TCP send what it may: data, and acknowledgments if `all`.
    fn pump(&mut self, side: Side, all: bool) {
        let now = self.now;
        loop {
            let host = self.host_mut(side);
            let data = host.tcp.poll_data(now);
            let Some(segment) = data.or_else(|| if all { host.tcp.poll_ack(now) } else { None }) else {
                break;
            };
            if segment.seq_len() > 0 {
                self.released(side, &segment);
            }
            let job = Job::Send(segment);
            let cost = self.host(side).machine.cost(&job, Span(0));
            self.submit(side, job, cost);
        }
        self.hold(side);
        self.watch_timers(side);
    }

    /// Data leaves that may have been held until now: the current account learns what its transit was for.
    fn released(&mut self, side: Side, segment: &Segment) {
        let (now, epoch) = (self.now, self.epoch);
        let Some((blocked, since)) = self.host_mut(side).held.take() else {
            if matches!(segment.sent, Sent::FastRetransmit | Sent::Timeout) {
                self.current = self.current.clone().resolve(segment.sent.cause());
            }
            return;
        };
        self.current = match blocked {
            Blocked::ZeroWindow => since.in_epoch(epoch).charge(Cause::ZeroWindow, now),
            other => self.current.clone().resolve(other.cause()),
        };
    }

    /// Notes what holds the sender now, and since when.
    fn hold(&mut self, side: Side) {
        let account = self.current.clone();
        let host = self.host_mut(side);
        match (host.tcp.blocked(), &host.held) {
            (None, _) => host.held = None,
            (Some(now), Some((before, _))) if now == *before => {}
            (Some(now), _) => host.held = Some((now, account)),
        }
    }

    /// True unless the driver must wait for room.
    fn to_card(&mut self, side: Side, segment: Segment) -> bool {
        let medium = if self.half_duplex { self.host(side.peer()).way.busy_until() } else { Time(0) };
        let account = self.current.clone();
        let fate = self.host_mut(side).way.transmit(medium, account, &segment);
        self.digest.frame(self.now, side, &segment, &fate);
        let paths = &mut self.host_mut(side).paths;
        let (leaves, arrives) = match fate {
            Fate::RingBlocked { until } => {
                let account = self.current.clone().charge(Cause::Bandwidth, until);
                self.schedule(Event::RingFree(side, segment), account);
                return false;
            }
            Fate::RingDropped => {
                paths.ring_drops = paths.ring_drops.saturating_add(1);
                return true;
            }
            Fate::Lost { leaves } => {
                paths.lost = paths.lost.saturating_add(1);
                (leaves, None)
            }
            Fate::QueueFull { leaves } => {
                paths.queue_drops = paths.queue_drops.saturating_add(1);
                (leaves, None)
            }
            Fate::Arrives { leaves, account } => (leaves, Some(account)),
        };
        paths.frames = paths.frames.saturating_add(1);
        paths.wire_bytes = paths.wire_bytes.saturating_add(segment.on_wire());
        self.tap(Tap::at(side), side, &segment, self.now);
        self.tap(Tap::Wire, side, &segment, leaves);
        if let Some(account) = arrives {
            self.schedule(Event::Arrive(side.peer(), segment), account);
        }
        true
    }

    fn tap(&mut self, tap: Tap, from: Side, segment: &Segment, at: Time) {
        for recorder in &mut self.recorders {
            if recorder.tap() == tap {
                recorder.frame(at, from, segment);
            }
        }
    }

    /// Sees to it that the earliest deadline has an event, and remembers whose account each was set in.
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
        for (timer, place) in Timer::ALL.into_iter().zip(&mut host.timers) {
            let at = host.tcp.timer(timer);
            if place.as_ref().map(|(at, _)| *at) != at {
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
    }
}

impl Host {
    fn new(params: &HostParams, link: &LinkParams, loss: &crate::link::LossParams, rng: &mut Rng) -> Self {
        let initial = (rng.next_u64() >> 32) as u32;
        Self {
            machine: params.machine,
            tcp: Endpoint::new(params.stack.clone(), initial),
            nic: params.nic,
            cpu: Cpu::default(),
            disk: Disk::default(),
            way: Direction::new(link, loss.clone(), &params.nic, rng),
            rx_waiting: 0,
            held: None,
            timers: [const { None }; 4],
            timer_event: None,
            paths: PathStats::default(),
        }
    }
}

/// FNV-1a over what happened.
#[derive(Clone, Copy, Debug)]
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn frame(&mut self, now: Time, side: Side, segment: &Segment, fate: &Fate) {
        let (kind, at) = match fate {
            Fate::Arrives { account, .. } => (0, account.at()),
            Fate::Lost { leaves } => (1, *leaves),
            Fate::QueueFull { leaves } => (2, *leaves),
            Fate::RingDropped => (3, now),
            Fate::RingBlocked { until } => (4, *until),
        };
        let small = u64::from(segment.flags.bits()) << 8 | (side as u64) << 4 | kind;
        for word in [now.0, at.0, segment.seq, segment.ack, segment.payload.len(), u64::from(segment.window), small] {
            self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
