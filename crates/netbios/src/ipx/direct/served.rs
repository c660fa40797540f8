//! The server's end of a connection ([MS-CIFS] 2.1.2.1, 3.3).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::command;
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use super::super::close::SessionClose;
use super::header::{Fields, refusal, stamp};
use super::transaction::{Missing, secondary};
use super::{DirectEvent, HEADER_LEN};

/// Requests that may be with the server; a client has one with a number, and a few without.
const MAX_PENDING: usize = 64;
/// Responses of a transaction that may wait to be asked for: 64 KB in packets.
const MAX_PARTS: usize = 128;
/// ERRSRV/ERRerror: the reply does not fit.
const ERROR: u32 = 0x0001_0002;
/// ERRSRV/ERRworking: the request is still being served ([MS-CIFS] 2.1.2.1).
const WORKING: u32 = 0x0011_0002;

/// How long a silent client is kept, and the longest message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedConfig {
    pub(crate) idle: Span,
    pub(crate) idle_without_share: Span,
    pub(crate) max_message: usize,
}

/// A request that the server has not answered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    command: u8,
    request: (u32, u16),
    sequence: u16,
    /// A tree connect is chained to it.
    connects: bool,
}

/// A connection of a client.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) called: NbName,
    pub(crate) calling: NbName,
    connection: u16,
    config: ServedConfig,
    /// The number of the last request with one, and its reply.
    last: u16,
    last_reply: Option<Vec<u8>>,
    /// The request that opened the connection, to know its repetitions.
    opening: Fields,
    pending: Vec<Pending>,
    /// Further responses of a transaction that the client asks for one by one.
    parts: VecDeque<Vec<u8>>,
    parts_of: Option<(u32, u16)>,
    /// What is missing of a transaction's request.
    missing: Option<((u32, u16), Missing)>,
    /// Shares connected.
    trees: u32,
    heard: Time,
    over: bool,
    out: VecDeque<Vec<u8>>,
    events: VecDeque<DirectEvent>,
    repeated: u64,
}

impl Served {
    /// The connection that a NEGOTIATE opens; hand it in by [`handle`](Self::handle) next.
    pub(crate) fn new(
        now: Time,
        config: ServedConfig,
        connection: u16,
        opening: Fields,
        (called, calling): (NbName, NbName),
    ) -> Self {
        Self {
            called,
            calling,
            connection,
            config,
            last: opening.sequence.wrapping_sub(1),
            last_reply: None,
            opening,
            pending: Vec::new(),
            parts: VecDeque::new(),
            parts_of: None,
            missing: None,
            trees: 0,
            heard: now,
            over: false,
            out: VecDeque::new(),
            events: VecDeque::new(),
            repeated: 0,
        }
    }

    /// Whether a NEGOTIATE is the one that opened this connection, come again.
    pub(crate) fn was_opened_by(&self, fields: &Fields) -> bool {
        self.opening == *fields && self.last == fields.sequence
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn heard(&self) -> Time {
        self.heard
    }

    /// Requests that were answered with the last reply again, or ignored.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    pub(crate) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    pub(crate) fn poll_event(&mut self) -> Option<DirectEvent> {
        self.events.pop_front()
    }

    /// Ends the connection; the client is not told, for the protocol has no message for it. It hears so when it asks.
    pub(crate) fn close(&mut self, why: SessionClose) {
        if !self.over {
            self.over = true;
            self.events.push_back(DirectEvent::Closed(why));
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        let idle = match self.trees {
            0 => self.config.idle_without_share,
            _ => self.config.idle,
        };
        (!self.over && self.pending.is_empty()).then(|| self.heard + idle)
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            self.close(SessionClose::Idle);
        }
    }

    /// A request arrived.
    pub(crate) fn handle(&mut self, now: Time, fields: &Fields, message: &[u8]) {
        if fields.is_reply || self.over {
            return;
        }
        self.heard = now;
        if self.pending.len() >= MAX_PENDING {
            // It comes again.
            return;
        }
        match fields.sequence {
            0 => self.unsequenced(fields, message),
            sequence if sequence == self.last => self.again(fields, message),
            sequence if sequence == following(self.last) => {
                self.last = sequence;
                self.last_reply = None;
                self.take(fields, message);
            }
            _ => self.repeated = self.repeated.saturating_add(1),
        }
    }

    fn unsequenced(&mut self, fields: &Fields, message: &[u8]) {
        let mut pending = self.pending.iter();
        match pending.any(|pending| pending.request == fields.request && pending.sequence == 0) {
            true => self.again(fields, message),
            false => self.take(fields, message),
        }
    }

    /// A request that is or was served already.
    fn again(&mut self, fields: &Fields, message: &[u8]) {
        self.repeated = self.repeated.saturating_add(1);
        if fields.sequence != 0
            && let Some(reply) = &self.last_reply
        {
            return self.out.push_back(reply.clone());
        }
        if let Some(reply) = refusal(message, WORKING) {
            self.emit(reply, fields.sequence);
        }
    }

    fn take(&mut self, fields: &Fields, message: &[u8]) {
        if self.give_next_part(fields, message) || self.answer_interim(fields, message) {
            return;
        }
        if let Some(missing) = Missing::after_request(fields.command, message) {
            self.missing = (!missing.is_whole()).then_some((fields.request, missing));
        }
        // NT_CANCEL has no reply.
        if fields.command != command::NT_CANCEL {
            let pending = Pending {
                command: fields.command,
                request: fields.request,
                sequence: fields.sequence,
                connects: chains_tree_connect(fields.command, message),
            };
            self.pending.push(pending);
        }
        let mut message = message.to_vec();
        stamp(&mut message, 0, 0);
        self.events.push_back(DirectEvent::Message(message));
    }

    /// An empty secondary request asks for the next response of a transaction.
    fn give_next_part(&mut self, fields: &Fields, message: &[u8]) -> bool {
        let asks = self.parts_of == Some(fields.request)
            && secondary(fields.command, message) == Some((0, 0));
        if asks && let Some(part) = self.parts.pop_front() {
            self.emit(part, fields.sequence);
            return true;
        }
        false
    }

    /// A secondary request that does not complete its transaction gets an interim response here, for the server has none.
    fn answer_interim(&mut self, fields: &Fields, message: &[u8]) -> bool {
        let Some((parameters, data)) = secondary(fields.command, message) else {
            return false;
        };
        let Some((request, missing)) = &mut self.missing else {
            return false;
        };
        if *request != fields.request {
            return false;
        }
        missing.reduce(parameters, data);
        if missing.is_whole() {
            self.missing = None;
            return false;
        }
        if let Some(reply) = refusal(message, 0) {
            self.emit(reply, fields.sequence);
        }
        let mut message = message.to_vec();
        stamp(&mut message, 0, 0);
        self.events.push_back(DirectEvent::Message(message));
        true
    }

    /// The server sends a message: a reply, a further response, or a question of its own.
    pub(crate) fn send(&mut self, bytes: Vec<u8>) {
        let Some(fields) = Fields::of(&bytes) else {
            return;
        };
        if !fields.is_reply {
            return self.emit(bytes, 0);
        }
        let mut pending = self.pending.iter();
        let Some(at) = pending.position(|pending| pending.request == fields.request) else {
            let is_part = self.parts_of == Some(fields.request) && self.parts.len() < MAX_PARTS;
            if is_part {
                self.parts.push_back(bytes);
            }
            return;
        };
        let pending = self.pending.remove(at);
        self.count_trees(&pending, &fields);
        let missing = Missing::after_response(fields.command, &bytes);
        if missing.is_some_and(|missing| !missing.is_whole()) {
            self.parts.clear();
            self.parts_of = Some(fields.request);
        }
        let bytes = match bytes.len() > self.config.max_message {
            true => refusal(&bytes, ERROR).unwrap_or_default(),
            false => bytes,
        };
        self.emit(bytes, pending.sequence);
    }

    /// A client that has disconnected its shares is not kept for long.
    fn count_trees(&mut self, pending: &Pending, fields: &Fields) {
        if fields.status != 0 {
            return;
        }
        match pending.command {
            command::TREE_DISCONNECT => self.trees = self.trees.saturating_sub(1),
            _ if pending.connects => self.trees = self.trees.saturating_add(1),
            _ => {}
        }
    }

    fn emit(&mut self, mut bytes: Vec<u8>, sequence: u16) {
        if bytes.len() < HEADER_LEN {
            return;
        }
        stamp(&mut bytes, self.connection, sequence);
        let is_working = Fields::of(&bytes).is_some_and(|fields| fields.status == WORKING);
        if sequence != 0 && sequence == self.last && !is_working {
            self.last_reply = Some(bytes.clone());
        }
        self.out.push_back(bytes);
    }
}

/// The number after this one; zero is none.
pub(super) const fn following(sequence: u16) -> u16 {
    match sequence.wrapping_add(1) {
        0 => 1,
        next => next,
    }
}

fn chains_tree_connect(command: u8, message: &[u8]) -> bool {
    let mut found = false;
    coax_wire::block::each_in_chain(command, message, |command, _| {
        found |= matches!(command, command::TREE_CONNECT | command::TREE_CONNECT_ANDX);
    });
    found
}
