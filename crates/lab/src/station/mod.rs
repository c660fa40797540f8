//! A host's NetBEUI or IPX: the station that `coax serve --netbeui` and `--ipx` run on real interfaces, in virtual time.
//!
//! A program has the same stream as over TCP, with the packets of RFC 1002 §4.3, as the local socket of
//! `coax_ethernet::Station` has. Messages are cut out of it and given to the engine.

mod engine;
mod numbers;

use alloc::{collections::VecDeque, vec::Vec};

use coax_catalog::netbios::{Carrier, NetbiosParams};
use coax_netbios::{Blocked, Deadlines, nbf::SessionId};
use coax_wire::{
    nbt::{
        name::{NbName, ScopedName},
        session::{Control, Framing, HEADER_LEN, Header, PacketType, Refusal},
    },
    time::{Span, Time},
};

use crate::{
    app::AppEvent,
    cause::{Cause, Provenance},
    payload::{Buffer, Payload},
    segment::{Segment, Sent},
    side::End,
    tcp::TcpStats,
};
use engine::{Engine, Happening};
use numbers::Numbers;

/// From the registration of its names until a station calls another: machines are switched on before they copy.
const HEAD_START: Span = Span::from_millis(200);

/// The reasons of [`Deadlines`], in the order in which they are dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    Reply,
    Acknowledgment,
    Reject,
    Other,
}

impl Deadline {
    pub(crate) const ALL: [Self; 4] =
        [Self::Reply, Self::Acknowledgment, Self::Reject, Self::Other];

    const fn of(self, deadlines: &Deadlines) -> Option<Time> {
        match self {
            Self::Reply => deadlines.reply,
            Self::Acknowledgment => deadlines.acknowledgment,
            Self::Reject => deadlines.reject,
            Self::Other => deadlines.other,
        }
    }

    /// The cause of the time from its setting to its end.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            Self::Reply | Self::Other => Cause::Timeout,
            Self::Acknowledgment => Cause::NagleDelayedAck,
            Self::Reject => Cause::FastRecovery,
        }
    }
}

/// A station and the program's end of its only session.
#[derive(Debug)]
pub(crate) struct Station {
    engine: Engine,
    /// Names that are not registered yet.
    names_left: usize,
    /// The program wants a session.
    wants: bool,
    call_at: Option<Time>,
    session: Option<SessionId>,
    /// What the program sent and the engine did not take yet.
    out: Buffer,
    inbox: Buffer,
    /// Bytes of each packet in the inbox, and whether it is a message.
    unread: VecDeque<(u64, bool)>,
    events: VecDeque<AppEvent>,
    numbers: Numbers,
    /// Why frames are sent again at present.
    again: Sent,
    /// Frames that may be taken before an answer, and those taken since the last one.
    frames_at_once: u16,
    taken: u16,
    pub(crate) held: Option<Cause>,
    /// Deadlines at the last check, each with the account of the time when it was set.
    pub(crate) timers: [Option<(Time, Provenance)>; Deadline::ALL.len()],
    pub(crate) timer_event: Option<Time>,
    stats: TcpStats,
}

impl Station {
    /// A host's station; `None`: the carrier is TCP.
    pub(crate) fn new(carrier: Carrier, end: End, params: &NetbiosParams) -> Option<Self> {
        let (engine, names) = Engine::new(carrier, end, params)?;
        Some(Self {
            engine,
            names_left: names,
            wants: false,
            call_at: None,
            session: None,
            out: Buffer::default(),
            inbox: Buffer::default(),
            unread: VecDeque::new(),
            events: VecDeque::new(),
            numbers: Numbers::default(),
            again: Sent::FastRetransmit,
            frames_at_once: params.frames_at_once,
            taken: 0,
            held: None,
            timers: [const { None }; Deadline::ALL.len()],
            timer_event: None,
            stats: TcpStats::default(),
        })
    }

    pub(crate) const fn stats(&self) -> &TcpStats {
        &self.stats
    }

    /// Number of bytes that the program can read.
    pub(crate) const fn readable(&self) -> u64 {
        self.inbox.len()
    }

    /// Number of bytes that the program sent and the engine has not taken.
    pub(crate) const fn unsent(&self) -> u64 {
        self.out.len()
    }

    /// The program wants a session: it can send its request when the station has its names.
    pub(crate) fn connect(&mut self, now: Time) {
        self.wants = true;
        self.settle_call(now);
    }

    pub(crate) fn send(&mut self, now: Time, payload: Payload) {
        self.out.push(payload);
        self.take_packets(now);
    }

    /// The program reads. A message that is read as a whole is given back to the engine.
    pub(crate) fn read(&mut self, now: Time, max: u64) -> Payload {
        let payload = self.inbox.take(max);
        let mut left = payload.len();
        while let Some((bytes, is_message)) = self.unread.front_mut() {
            let taken = left.min(*bytes);
            *bytes = bytes.saturating_sub(taken);
            left = left.saturating_sub(taken);
            if *bytes > 0 {
                break;
            }
            if let (true, Some(session)) = (*is_message, self.session) {
                self.engine.consumed(now, session);
            }
            self.unread.pop_front();
        }
        payload
    }

    pub(crate) fn close(&mut self, now: Time) {
        if let Some(session) = self.session.take() {
            self.engine.hang_up(now, session);
        }
    }

    /// A frame arrived.
    pub(crate) fn handle_frame(&mut self, now: Time, segment: &Segment, frame: &[u8]) {
        self.numbers.received(segment);
        if numbers::rejects(frame) {
            self.again = Sent::FastRetransmit;
        }
        self.engine.handle_frame(now, frame);
        self.happened(now);
    }

    /// Whether it takes the frame that the card has next before it answers those that it took.
    pub(crate) fn takes_another(&mut self, has_next: bool) -> bool {
        self.taken = self.taken.saturating_add(1);
        let goes_on = has_next && self.taken < self.frames_at_once;
        if !goes_on {
            self.taken = 0;
        }
        goes_on
    }

    /// It is `now`: which deadline has passed, if one has, and does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> Option<Deadline> {
        let deadlines = self.deadlines();
        let is_due = |kind: &Deadline| kind.of(&deadlines).is_some_and(|at| at <= now);
        let due = Deadline::ALL.into_iter().find(is_due)?;
        match due {
            Deadline::Reply => {
                self.again = Sent::Timeout;
                self.stats.timeouts = self.stats.timeouts.saturating_add(1);
            }
            Deadline::Acknowledgment => {
                self.stats.delayed_acks = self.stats.delayed_acks.saturating_add(1);
            }
            Deadline::Reject => self.again = Sent::FastRetransmit,
            Deadline::Other => {}
        }
        self.engine.handle_timeout(now);
        if self.call_at.is_some_and(|at| at <= now) {
            self.call_at = None;
            self.events.push_back(AppEvent::Connected);
        }
        self.happened(now);
        Some(due)
    }

    /// Deadlines by their reason.
    pub(crate) fn deadlines(&self) -> Deadlines {
        let own = Deadlines {
            other: self.call_at,
            ..Deadlines::default()
        };
        self.engine.deadlines().or_earlier(own)
    }

    /// The deadline of a reason.
    pub(crate) const fn deadline(kind: Deadline, all: &Deadlines) -> Option<Time> {
        kind.of(all)
    }

    /// The cause for what waits here now; `None`: nothing does, or it waits for an answer of the protocol, which is a
    /// round trip like others.
    pub(crate) fn blocked(&self) -> Option<Cause> {
        Some(match self.engine.blocked()? {
            Blocked::Window | Blocked::GrowingWindow => Cause::SendWindow,
            Blocked::NarrowedWindow => self.again.cause(),
            Blocked::PeerWindow => Cause::ReceiveWindow,
            Blocked::PeerBusy => Cause::ZeroWindow,
            Blocked::Recovery => Cause::Timeout,
            Blocked::Answer => return None,
        })
    }

    /// The next frame to send.
    pub(crate) fn poll_transmit(&mut self) -> Option<Segment> {
        let frame = self.engine.poll_transmit()?;
        let segment = self.numbers.sent(frame, self.again);
        let stats = &mut self.stats;
        let count = match segment.sent {
            _ if segment.payload.is_empty() => &mut stats.pure_acks,
            Sent::Timeout => &mut stats.timeout_retransmissions,
            Sent::FastRetransmit => &mut stats.fast_retransmissions,
            Sent::New | Sent::Probe => &mut stats.data_segments,
        };
        *count = count.saturating_add(1);
        Some(segment)
    }

    /// What the program must hear.
    pub(crate) fn poll_event(&mut self) -> Option<AppEvent> {
        self.events.pop_front()
    }

    /// Takes the engine's events, then packets of the program that the engine has room for now.
    fn happened(&mut self, now: Time) {
        while let Some(happening) = self.engine.poll() {
            match happening {
                Happening::Registered => self.names_left = self.names_left.saturating_sub(1),
                Happening::Accepted {
                    session,
                    called,
                    calling,
                } => self.accepted(session, called, calling),
                Happening::Connected => self.tell(&Control::Positive),
                Happening::Failed(why) => {
                    self.tell(&Control::Negative(why));
                    self.session = None;
                }
                Happening::Message(bytes) => self.message(bytes),
                Happening::Closed => {
                    self.session = None;
                    self.events.push_back(AppEvent::PeerFinished);
                }
            }
        }
        self.settle_call(now);
        self.take_packets(now);
    }

    fn settle_call(&mut self, now: Time) {
        if self.names_left == 0 && core::mem::take(&mut self.wants) {
            self.call_at = Some(now + HEAD_START);
        }
    }

    fn accepted(&mut self, session: SessionId, called: NbName, calling: NbName) {
        self.session = Some(session);
        self.events.push_back(AppEvent::Connected);
        let scoped = |name| ScopedName {
            name,
            scope: Default::default(),
        };
        self.tell(&Control::Request {
            called: scoped(called),
            calling: scoped(calling),
        });
    }

    /// A packet of the session service for the program.
    fn tell(&mut self, control: &Control) {
        self.deliver(Payload::from(control.emit()), false);
    }

    fn message(&mut self, bytes: Vec<u8>) {
        // A message that the engine takes is shorter than the framing's limit.
        let Ok(header) = Framing::Nbt.header(bytes.len()) else {
            return;
        };
        let mut packet = Payload::copy_from(&header);
        packet.append(Payload::from(bytes));
        self.deliver(packet, true);
    }

    fn deliver(&mut self, packet: Payload, is_message: bool) {
        self.unread.push_back((packet.len(), is_message));
        self.inbox.push(packet);
        self.events.push_back(AppEvent::Readable);
    }

    /// Takes whole packets of the program while the engine has room.
    fn take_packets(&mut self, now: Time) {
        while let Some((kind, len)) = self.next_packet() {
            let is_message = kind == PacketType::Message;
            let session = self.session.filter(|_| is_message);
            if is_message && !session.is_some_and(|session| self.engine.can_send(session)) {
                return;
            }
            self.out.drop_front(HEADER_LEN as u64);
            let body = self.out.take(len).to_vec();
            match session {
                Some(session) => self.engine.send(now, session, body),
                None => self.control(now, kind, &body),
            }
        }
    }

    /// Kind and length of the program's next packet, if all of it is there.
    fn next_packet(&self) -> Option<(PacketType, u64)> {
        let head = self.out.slice(0, HEADER_LEN as u64).to_vec();
        let header = Header(*head.first_chunk::<HEADER_LEN>()?);
        let len = header.len(Framing::Nbt) as u64;
        let is_whole = self.out.len() >= len.saturating_add(HEADER_LEN as u64);
        is_whole.then(|| (header.packet_type(), len))
    }

    /// A packet of the session service from the program: the client's request is a call. Other stations have no use for
    /// the rest.
    fn control(&mut self, now: Time, kind: PacketType, body: &[u8]) {
        if let Ok(Control::Request { called, calling }) = Control::parse(kind, body) {
            self.session = self.engine.call(now, called.name, calling.name);
            if self.session.is_none() {
                self.tell(&Control::Negative(Refusal::InsufficientResources));
            }
        }
    }
}
