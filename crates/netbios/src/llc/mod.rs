//! One link of logical link control type 2: frames between two stations, in order, without loss
//! (ISO 8802-2 §7, SC30-3587 ch. 4).
//!
//! A [`Link`] is both the caller's and the listener's end. It takes [`Pdu`]s that its peer sent and gives whole Ethernet
//! frames.

mod config;
mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use config::{LinkConfig, LinkCounters, LinkEnd, LinkEvent};

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::ether::{Mac, emit_802_3};
use coax_wire::llc::{Control, MODULUS, Pdu, Supervisory, Unnumbered, xid_info};
use coax_wire::time::Time;

/// The window that a link starts with; a loss halves it, and each window without a loss widens it by one.
const FIRST_WINDOW: u8 = 2;
/// A number less than this far behind is old; others are ahead.
const HALF: u8 = MODULUS / 2;
/// Frames that may wait for the driver. What comes beyond is dropped, as a network may; the link sends it again.
const MAX_TRANSMITS: usize = 512;

/// One end of a link.
///
/// Hand in the peer's frames by [`handle_pdu`](Self::handle_pdu) and the time by
/// [`handle_timeout`](Self::handle_timeout); then take events and frames until there are none.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    local: Mac,
    remote: Mac,
    sap: u8,
    state: State,
    /// Frames not acknowledged; the first has the number `va`.
    queue: VecDeque<Outgoing>,
    /// The oldest number not acknowledged.
    va: u8,
    /// V(S): the number of the next frame to send.
    vs: u8,
    /// The number after the newest frame ever sent: further than `vs` after going back.
    high: u8,
    /// Frames that may be in flight now.
    window: u8,
    /// Frames acknowledged since the window last changed.
    credit: u8,
    /// The poll that waits for its final bit.
    poll: Option<Poll>,
    /// T1 ran out: no I frames until the poll is answered.
    checkpoint: bool,
    remote_busy: bool,
    retries: u8,
    /// V(R): the number that is expected next.
    vr: u8,
    /// A gap was rejected; when to reject it again.
    rejecting: Option<Time>,
    /// How often it was rejected again.
    rejects: u8,
    /// I frames received since the last acknowledgment.
    unacknowledged: u8,
    /// An acknowledgment goes out with the next frame, or alone.
    acknowledge: bool,
    local_busy: bool,
    /// T1.
    reply_due: Option<Time>,
    /// T2.
    delay_due: Option<Time>,
    /// Ti.
    idle_due: Time,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<LinkEvent>,
    counters: LinkCounters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// SABME was sent.
    Connecting,
    /// UA came; the first poll is not answered. Windows 98 as a server expects it before any I frame
    /// (frames 68 to 72 of tests/captures/dos-win98-netbeui.pcap).
    Opening,
    Open,
    /// DISC was sent.
    Disconnecting,
}

#[derive(Debug)]
struct Outgoing {
    info: Vec<u8>,
    poll: bool,
}

#[derive(Clone, Copy, Debug)]
struct Poll {
    /// V(S) when the poll was sent: the answer judges the frames before it. `None` if an I frame polls: its receiver
    /// rejects a gap, and going back at each answer would double frames without end where the network doubles them.
    bound: Option<u8>,
}

impl Link {
    /// A closed link.
    pub fn new(now: Time, local: Mac, remote: Mac, sap: u8, config: LinkConfig) -> Self {
        let config = LinkConfig {
            window: config.window.clamp(1, MODULUS.saturating_sub(1)),
            ..config
        };
        Self {
            config,
            local,
            remote,
            sap,
            state: State::Closed,
            queue: VecDeque::new(),
            va: 0,
            vs: 0,
            high: 0,
            window: FIRST_WINDOW.min(config.window),
            credit: 0,
            poll: None,
            checkpoint: false,
            remote_busy: false,
            retries: 0,
            vr: 0,
            rejecting: None,
            rejects: 0,
            unacknowledged: 0,
            acknowledge: false,
            local_busy: false,
            reply_due: None,
            delay_due: None,
            idle_due: now + config.inactivity,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            counters: LinkCounters::default(),
        }
    }

    /// The other station.
    pub fn remote(&self) -> Mac {
        self.remote
    }

    /// Whether frames can be sent.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether there is no link, and nothing is done about it.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether the peer has acknowledged everything.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many frames [`send`](Self::send) takes at the moment.
    pub fn room(&self) -> usize {
        match self.state {
            State::Open => usize::from(self.config.window).saturating_sub(self.queue.len()),
            _ => 0,
        }
    }

    /// What the link did.
    pub fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Opens the link. [`LinkEvent::Established`] or [`LinkEvent::Ended`] follows.
    pub fn connect(&mut self, now: Time) {
        if self.state == State::Closed {
            self.reset_variables(now);
            self.state = State::Connecting;
            self.send_unnumbered(false, Unnumbered::Sabme, true, &[]);
            self.reply_due = Some(now + self.config.reply);
        }
    }

    /// Closes the link; what is not acknowledged is lost. [`LinkEvent::Ended`] follows.
    pub fn disconnect(&mut self, now: Time) {
        match self.state {
            State::Closed | State::Disconnecting => {}
            State::Connecting | State::Opening | State::Open => {
                self.reset_variables(now);
                self.state = State::Disconnecting;
                self.send_unnumbered(false, Unnumbered::Disc, true, &[]);
                self.reply_due = Some(now + self.config.reply);
            }
        }
    }

    /// Sends the information of one I frame; with `poll`, it asks for an immediate answer. Whether there was room.
    pub fn send(&mut self, now: Time, info: Vec<u8>, poll: bool) -> bool {
        if self.room() == 0 || info.len() > self.config.max_info {
            return false;
        }
        self.queue.push_back(Outgoing { info, poll });
        self.pump(now);
        true
    }

    /// Tells the peer to stop or to go on sending I frames.
    pub fn set_busy(&mut self, busy: bool) {
        if self.local_busy == busy {
            return;
        }
        self.local_busy = busy;
        if matches!(self.state, State::Open | State::Opening) {
            self.send_supervisory(true, self.readiness(), false);
        }
    }

    /// It is `now`: does what is due. Take events and frames next.
    pub fn handle_timeout(&mut self, now: Time) {
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        if is_due(self.delay_due) {
            self.delay_due = None;
            self.acknowledge = true;
        }
        if is_due(self.rejecting) {
            self.rejects = self.rejects.saturating_add(1);
            let again = self.rejects < self.config.retries;
            self.rejecting = again.then(|| self.next_reject(now));
            self.send_supervisory(true, Supervisory::Rej, false);
        }
        if is_due(self.reply_due) {
            self.reply_expired(now);
        }
        if self.state == State::Open && self.idle_due <= now && self.poll.is_none() {
            self.send_poll(now);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadlines().next()
    }

    /// A whole Ethernet frame to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        if self.transmits.is_empty() && self.acknowledge {
            self.send_supervisory(true, self.readiness(), false);
        }
        self.transmits.pop_front()
    }

    /// What happened, until there is nothing.
    pub fn poll_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }

    fn readiness(&self) -> Supervisory {
        match self.local_busy {
            true => Supervisory::Rnr,
            false => Supervisory::Rr,
        }
    }

    fn next_reject(&self, now: Time) -> Time {
        now + self.config.reply + self.config.reply
    }

    fn end(&mut self, now: Time, end: LinkEnd) {
        self.reset_variables(now);
        self.state = State::Closed;
        self.reply_due = None;
        self.events.push_back(LinkEvent::Ended(end));
    }

    fn reset_variables(&mut self, now: Time) {
        self.queue.clear();
        (self.va, self.vs, self.high, self.vr) = (0, 0, 0, 0);
        self.window = FIRST_WINDOW.min(self.config.window);
        self.credit = 0;
        self.poll = None;
        (self.checkpoint, self.remote_busy) = (false, false);
        self.retries = 0;
        (self.rejecting, self.rejects) = (None, 0);
        self.unacknowledged = 0;
        self.acknowledge = false;
        (self.reply_due, self.delay_due) = (None, None);
        self.idle_due = now + self.config.inactivity;
    }

    fn send_supervisory(&mut self, response: bool, kind: Supervisory, pf: bool) {
        self.note_acknowledged();
        let nr = self.vr;
        self.emit(response, Control::Supervisory { kind, nr, pf }, &[]);
    }

    fn send_unnumbered(&mut self, response: bool, kind: Unnumbered, pf: bool, info: &[u8]) {
        self.emit(response, Control::Unnumbered { kind, pf }, info);
    }

    /// Every frame with an N(R) acknowledges.
    fn note_acknowledged(&mut self) {
        self.acknowledge = false;
        self.unacknowledged = 0;
        self.delay_due = None;
    }

    fn emit(&mut self, response: bool, control: Control, info: &[u8]) {
        let frame = frame(self.remote, self.local, self.sap, response, control, info);
        if let Some(frame) = frame.filter(|_| self.transmits.len() < MAX_TRANSMITS) {
            self.transmits.push_back(frame);
        }
    }
}

/// The answer to a command that needs no link: TEST returns its information, XID tells types and window, and a poll
/// without a link gets DM.
pub fn answer_without_link(local: Mac, remote: Mac, pdu: &Pdu<'_>, window: u8) -> Option<Vec<u8>> {
    if pdu.response {
        return None;
    }
    let unnumbered = |kind, pf| Control::Unnumbered { kind, pf };
    let answer = |control, info: &[u8]| {
        let reply = Pdu {
            dsap: pdu.ssap,
            ssap: pdu.dsap,
            response: true,
            control,
            info,
        };
        let (header, len) = reply.header();
        emit_802_3(remote, local, &[header.get(..len)?, info]).ok()
    };
    match pdu.control {
        Control::Unnumbered { kind, pf } => match kind {
            Unnumbered::Test => answer(unnumbered(Unnumbered::Test, pf), pdu.info),
            Unnumbered::Xid => answer(unnumbered(Unnumbered::Xid, pf), &xid_info(window)),
            Unnumbered::Disc => answer(unnumbered(Unnumbered::Dm, pf), &[]),
            _ => None,
        },
        Control::Information { pf, .. } | Control::Supervisory { pf, .. } => {
            pf.then(|| answer(unnumbered(Unnumbered::Dm, true), &[]))?
        }
    }
}

fn frame(
    remote: Mac,
    local: Mac,
    sap: u8,
    response: bool,
    control: Control,
    info: &[u8],
) -> Option<Vec<u8>> {
    let pdu = Pdu {
        dsap: sap,
        ssap: sap,
        response,
        control,
        info,
    };
    let (header, len) = pdu.header();
    emit_802_3(remote, local, &[header.get(..len)?, info]).ok()
}

/// How many numbers lie from `from` to `to`.
const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) & (MODULUS - 1)
}

/// The number `by` after `number`.
const fn after(number: u8, by: u8) -> u8 {
    number.wrapping_add(by) & (MODULUS - 1)
}
