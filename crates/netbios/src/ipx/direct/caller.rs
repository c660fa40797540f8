//! The client's end of a connection: it numbers requests and repeats them until they are answered.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::block::Block;
use coax_wire::command;
use coax_wire::time::{Span, Time};

use crate::waits::{Blocked, Deadlines};

use super::super::close::SessionClose;
use super::super::rto::{Retransmission, Rto};
use super::header::{Fields, NameTrailer, stamp};
use super::served::following;
use super::transaction::{Missing, ask_for_more};
use super::{DirectEvent, HEADER_LEN};

/// Requests of the program that may wait.
const MAX_QUEUE: usize = 32;
/// Requests that may be with the server.
const MAX_FLYING: usize = 8;
/// How long to leave a server alone that says that it works on the request.
const WORKING_WAIT: Span = Span::from_secs(1);
/// How long a connection that ends may take to get its last answers.
const FAREWELL: Span = Span::from_secs(20);

/// ERRSRV/ERRinvsess: the server does not know the connection.
const UNKNOWN: u32 = 0x0010_0002;
/// ERRSRV/ERRworking.
const WORKING: u32 = 0x0011_0002;

/// A request that was not answered.
#[derive(Debug)]
struct Flying {
    message: Vec<u8>,
    fields: Fields,
    at: Time,
    due: Time,
    tries: u8,
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) names: NameTrailer,
    /// The server's number of the connection; 0 until it tells.
    connection: u16,
    /// The number of the last request with one.
    last: u16,
    max_message: usize,
    /// How often a request is repeated.
    retries: u8,
    queue: VecDeque<Vec<u8>>,
    flying: Vec<Flying>,
    /// What is missing of a transaction's response.
    missing: Option<((u32, u16), Missing)>,
    rto: Rto,
    farewell: Option<Time>,
    over: bool,
    out: VecDeque<Vec<u8>>,
    events: VecDeque<DirectEvent>,
    retransmitted: u64,
}

impl Caller {
    pub(crate) fn new(
        names: NameTrailer,
        max_message: usize,
        limits: (Retransmission, u8),
    ) -> Self {
        Self {
            names,
            connection: 0,
            last: 0,
            max_message,
            retries: limits.1,
            queue: VecDeque::new(),
            flying: Vec::new(),
            missing: None,
            rto: Rto::new(limits.0),
            farewell: None,
            over: false,
            out: VecDeque::new(),
            events: VecDeque::new(),
            retransmitted: 0,
        }
    }

    /// The server's number of the connection.
    pub(crate) fn connection(&self) -> u16 {
        self.connection
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn can_send(&self) -> bool {
        !self.over && self.farewell.is_none() && self.queue.len() < MAX_QUEUE
    }

    /// Requests that were sent again.
    pub(crate) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    pub(crate) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    pub(crate) fn poll_event(&mut self) -> Option<DirectEvent> {
        self.events.pop_front()
    }

    pub(crate) fn close(&mut self, why: SessionClose) {
        if !self.over {
            self.over = true;
            self.queue.clear();
            self.flying.clear();
            self.events.push_back(DirectEvent::Closed(why));
        }
    }

    /// Ends the connection when everything is answered.
    pub(crate) fn hang_up(&mut self, now: Time) {
        self.farewell.get_or_insert(now + FAREWELL);
        self.pump(now);
    }

    /// Takes a request of the program; whether it did.
    pub(crate) fn send(&mut self, now: Time, bytes: Vec<u8>) -> bool {
        if !self.can_send() {
            return false;
        }
        match bytes.len() > self.max_message || bytes.len() < HEADER_LEN {
            true => self.close(SessionClose::TooLong),
            false => self.queue.push_back(bytes),
        }
        self.pump(now);
        true
    }

    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.deadlines().next()
    }

    /// The same by the reason.
    pub(crate) fn deadlines(&self) -> Deadlines {
        Deadlines {
            reply: self.flying.iter().map(|flying| flying.due).min(),
            other: self.farewell.filter(|_| !self.over),
            ..Deadlines::default()
        }
    }

    /// Why requests that wait are not on their way.
    pub(crate) fn blocked(&self) -> Option<Blocked> {
        let again = self.flying.iter().any(|flying| flying.tries > 0);
        match self.queue.is_empty() {
            _ if again => Some(Blocked::Recovery),
            true => None,
            false => Some(Blocked::Answer),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.farewell.is_some_and(|due| due <= now) {
            return self.close(SessionClose::Local);
        }
        let mut lost = false;
        for at in 0..self.flying.len() {
            let Some(flying) = self.flying.get_mut(at).filter(|flying| flying.due <= now) else {
                continue;
            };
            if flying.tries >= self.retries {
                return self.close(SessionClose::NoAnswer);
            }
            flying.tries = flying.tries.saturating_add(1);
            if !lost {
                self.rto.back_off();
                lost = true;
            }
            flying.due = now + self.rto.span();
            self.retransmitted = self.retransmitted.saturating_add(1);
            let message = flying.message.clone();
            self.out.push_back(message);
        }
    }

    /// A packet from the server arrived.
    pub(crate) fn handle(&mut self, now: Time, fields: &Fields, message: &[u8]) {
        if !fields.is_reply {
            // The server asks, as when it wants an oplock back.
            if fields.connection == self.connection && self.connection != 0 {
                self.deliver(message);
            }
            return;
        }
        let mut flying = self.flying.iter();
        let answers = |flying: &Flying| {
            flying.fields.request == fields.request && flying.fields.sequence == fields.sequence
        };
        let Some(at) = flying.position(answers) else {
            return;
        };
        match fields.status {
            WORKING => return self.wait_for_server(now, at),
            UNKNOWN => return self.close(SessionClose::Unknown),
            _ => {}
        }
        let flying = self.flying.remove(at);
        if flying.tries == 0 {
            self.rto.sample(now - flying.at);
        }
        self.rto.reset();
        if fields.command == command::NEGOTIATE {
            self.connection = fields.connection;
        }
        self.ask_for_rest(fields, message);
        self.deliver(message);
        self.pump(now);
    }

    fn wait_for_server(&mut self, now: Time, at: usize) {
        if let Some(flying) = self.flying.get_mut(at) {
            // It is alive: it may take as long as it needs.
            flying.tries = 1;
            flying.due = now + WORKING_WAIT;
        }
    }

    fn deliver(&mut self, message: &[u8]) {
        let mut message = message.to_vec();
        stamp(&mut message, 0, 0);
        self.events.push_back(DirectEvent::Message(message));
    }

    /// A response that is not all of it is followed by an empty secondary request.
    fn ask_for_rest(&mut self, fields: &Fields, message: &[u8]) {
        match &mut self.missing {
            Some((request, missing)) if *request == fields.request => {
                missing.reduce_by_response(message);
            }
            _ => {
                let missing = Missing::after_response(fields.command, message);
                self.missing = missing.map(|missing| (fields.request, missing));
            }
        }
        let missing = self.missing.filter(|(_, missing)| !missing.is_whole());
        self.missing = missing;
        if let Some((_, missing)) = missing
            && let Some(secondary) = ask_for_more(missing.kind, message)
        {
            self.queue.push_front(secondary);
        }
    }

    /// Sends what may be sent: one request with a number, or reads that are asked for while others are with the server.
    fn pump(&mut self, now: Time) {
        while let Some(next) = self.queue.front() {
            let is_first = self.flying.is_empty();
            let repeatable = is_repeatable(next);
            let joins = repeatable
                && self
                    .flying
                    .iter()
                    .all(|other| is_repeatable(&other.message));
            if !(is_first || joins && self.flying.len() < MAX_FLYING) {
                break;
            }
            let Some(message) = self.queue.pop_front() else {
                break;
            };
            self.launch(now, message, is_first);
        }
        let is_done = self.queue.is_empty() && self.flying.is_empty();
        if self.farewell.is_some() && is_done {
            self.close(SessionClose::Local);
        }
    }

    fn launch(&mut self, now: Time, mut message: Vec<u8>, numbered: bool) {
        let sequence = match numbered {
            true => following(self.last),
            false => 0,
        };
        if numbered {
            self.last = sequence;
        }
        stamp(&mut message, self.connection, sequence);
        let Some(fields) = Fields::of(&message) else {
            return;
        };
        if fields.command == command::NEGOTIATE {
            self.names.append(&mut message);
        }
        self.out.push_back(message.clone());
        self.flying.push(Flying {
            message,
            fields,
            at: now,
            due: now + self.rto.span(),
            tries: 0,
        });
    }
}

/// Whether a request may be executed twice: a plain read. Of a pipe it may not, but nobody reads a pipe ahead.
fn is_repeatable(message: &[u8]) -> bool {
    let Some(fields) = Fields::of(message) else {
        return false;
    };
    let block = Block::first(message).ok();
    let alone = block.is_some_and(|block| match fields.command {
        command::READ_ANDX => block.andx().is_none(),
        command => command == command::READ,
    });
    alone && !fields.is_reply
}
