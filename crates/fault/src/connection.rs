//! The faults of one connection.

use alloc::{sync::Arc, vec, vec::Vec};

use coax_wire::{
    command as code,
    header::Header,
    nbt::session::Framing,
    time::{Span, Time},
};

use crate::{
    action::Action,
    edit,
    fault::Fault,
    plan::Plan,
    queue::{Ending, Out, Queue},
    requests::{Asked, Requests},
    stage::Stage,
};

/// What happens with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The server serves it.
    Serve,
    /// The server does not see it, and there is no reply.
    Withhold,
    /// The server does not see it. [`Connection::poll`] gives this reply when it is due.
    Answer(Vec<u8>),
}

/// A fault that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The fault.
    pub fault: Fault,
    /// The request's command.
    pub command: u8,
    /// The request's MID.
    pub mid: u16,
}

/// The faults of one connection. Every message of the client goes through [`Self::request`], every message to it through
/// [`Self::reply`]; [`Self::poll`] says what to send.
#[derive(Debug)]
pub struct Connection<T> {
    plan: Arc<Plan>,
    requests: Requests,
    queue: Queue<T>,
    applied: Vec<Applied>,
    /// The next message is the data of a raw write.
    raw_data_is_next: bool,
    /// Packets already have their length before them.
    framing: Framing,
}

impl<T> Connection<T> {
    /// A connection of a server with this plan.
    pub fn new(plan: Arc<Plan>, framing: Framing) -> Self {
        Self {
            plan,
            requests: Requests::default(),
            queue: Queue::default(),
            applied: Vec::new(),
            raw_data_is_next: false,
            framing,
        }
    }

    /// Takes a message from the client.
    pub fn request(&mut self, now: Time, message: &[u8]) -> Verdict {
        if core::mem::take(&mut self.raw_data_is_next) {
            return Verdict::Serve;
        }
        let Some(mut asked) = Asked::parse(message) else {
            return Verdict::Serve;
        };
        asked.faults = self.plan.faults_for(&asked);
        let mut verdict = Verdict::Serve;
        for index in asked.faults.clone() {
            let Some(fault) = self.plan.fault(index).cloned() else {
                continue;
            };
            if fault.stage != Stage::Request
                || verdict != Verdict::Serve
                || is_unfit(&fault, &asked)
            {
                continue;
            }
            verdict = Verdict::Withhold;
            match fault.action {
                Action::Disconnect => self.queue.push(now, Out::End(Ending::Close)),
                Action::Reset => self.queue.push(now, Out::End(Ending::Reset)),
                Action::Error(status) => {
                    let reply = edit::refusal(&asked, status);
                    self.queue.push(now, Out::Message(reply.clone()));
                    verdict = Verdict::Answer(reply);
                }
                _ => {}
            }
            self.note(index, &fault, &asked.header);
        }
        if verdict == Verdict::Serve {
            self.requests.note(asked);
        }
        verdict
    }

    /// Takes a message to the client: `head` is its beginning, with the whole header, `bytes` makes all of its bytes.
    pub fn reply(&mut self, now: Time, message: T, head: &[u8], bytes: impl FnOnce(T) -> Vec<u8>) {
        let Some((asked, header)) = self.requests.answered(head) else {
            self.note_raw_write(Header::parse(head).ok());
            self.queue.push(now, Out::Unchanged(message));
            return;
        };
        self.note_raw_write(header);
        let stage = match is_interim(&asked, header.as_ref(), head) {
            true => Stage::Interim,
            false => Stage::Reply,
        };
        let plan = self.plan.clone();
        let faults = asked.faults.iter().filter_map(|index| {
            let fault = plan.fault(*index)?;
            let can = header.is_some() || !fault.action.needs_header();
            (fault.stage == stage && can).then_some((*index, fault))
        });
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() {
            self.queue.push(now, Out::Unchanged(message));
            return;
        }
        let mut changed = Changed::new(bytes(message));
        for (index, fault) in faults {
            if changed.apply(fault.action, &asked) {
                self.note(index, fault, &asked.header);
            }
        }
        changed.send(now, self.framing, &mut self.queue);
    }

    /// What to do now.
    pub fn poll(&mut self, now: Time) -> Option<Out<T>> {
        self.queue.poll(now)
    }

    /// When [`Self::poll`] must be called again.
    pub fn deadline(&self) -> Option<Time> {
        self.queue.deadline()
    }

    /// The faults that were applied since the last call.
    pub fn take_applied(&mut self) -> Vec<Applied> {
        core::mem::take(&mut self.applied)
    }

    fn note(&mut self, index: usize, fault: &Fault, request: &Header) {
        self.plan.note_applied(index);
        self.applied.push(Applied {
            fault: fault.clone(),
            command: request.command,
            mid: request.mid.0,
        });
    }

    /// After the interim reply of a raw write comes its data.
    fn note_raw_write(&mut self, header: Option<Header>) {
        let asks = header.is_some_and(|h| h.command == code::WRITE_RAW && h.status == 0);
        self.raw_data_is_next |= asks;
    }
}

/// Whether a fault for all commands cannot act on this one.
fn is_unfit(fault: &Fault, asked: &Asked) -> bool {
    let has_no_error = matches!(asked.header.command, code::READ_RAW | code::NT_CANCEL);
    matches!(fault.action, Action::Error(_)) && has_no_error
}

/// Whether a reply asks for the rest of its request. Only interim replies of transactions are without words and succeed.
fn is_interim(asked: &Asked, header: Option<&Header>, head: &[u8]) -> bool {
    let Some(header) = header.filter(|header| header.status == 0) else {
        return false;
    };
    match asked.header.command {
        code::WRITE_RAW => header.command == code::WRITE_RAW,
        code::TRANSACTION | code::TRANSACTION2 | code::NT_TRANSACT => {
            head.get(coax_wire::header::HEADER_LEN) == Some(&0)
        }
        _ => false,
    }
}

/// A reply that faults change.
struct Changed {
    /// Its bytes; none if it is not sent.
    message: Option<Vec<u8>>,
    before: Vec<Vec<u8>>,
    copies: usize,
    delay: Span,
    cut: Option<usize>,
    pieces: Option<(usize, Span)>,
    end: Option<Ending>,
}

impl Changed {
    const fn new(message: Vec<u8>) -> Self {
        Self {
            message: Some(message),
            before: Vec::new(),
            copies: 1,
            delay: Span(0),
            cut: None,
            pieces: None,
            end: None,
        }
    }

    /// Applies an action, unless one before it has left nothing to change.
    fn apply(&mut self, action: Action, asked: &Asked) -> bool {
        let Some(message) = &mut self.message else {
            return false;
        };
        match action {
            Action::Delay(time) => self.delay = Span(self.delay.0.saturating_add(time.0)),
            Action::Drop => self.message = None,
            Action::Disconnect => (self.message, self.end) = (None, Some(Ending::Close)),
            Action::Reset => (self.message, self.end) = (None, Some(Ending::Reset)),
            Action::Error(status) => *message = edit::refusal(asked, status),
            Action::Truncate(len) => message.truncate(len),
            Action::Cut(len) => (self.cut, self.end) = (Some(len), Some(Ending::Close)),
            Action::Duplicate => self.copies = self.copies.saturating_add(1),
            Action::Split(size, pause) => self.pieces = Some((size, pause)),
            Action::Mid(mid) => edit::set_mid(message, mid),
            Action::Signature => edit::corrupt_signature(message),
            Action::OplockBreak => match edit::oplock_break(asked) {
                Some(request) => self.before.push(request),
                None => return false,
            },
        }
        true
    }

    fn send<T>(self, now: Time, framing: Framing, queue: &mut Queue<T>) {
        for message in self.before {
            queue.push(now, Out::Message(message));
        }
        let due = now + self.delay;
        if let Some(message) = self.message {
            for message in vec![message; self.copies] {
                if self.cut.is_none() && self.pieces.is_none() {
                    queue.push(due, Out::Message(message));
                    continue;
                }
                let header = framing.header(message.len()).unwrap_or_default();
                let mut packet = [&header[..], &message].concat();
                packet.truncate(self.cut.unwrap_or(usize::MAX));
                match self.pieces {
                    Some(pieces) => queue.push_pieces(due, packet, pieces),
                    None => queue.push(due, Out::Bytes(packet)),
                }
            }
        }
        if let Some(end) = self.end {
            queue.push(due, Out::End(end));
        }
    }
}
