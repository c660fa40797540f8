//! The `client` target: bytes, or replies that are nearly right, from a server that does not exist.

use super::{
    plan::{Plan, Task},
    subject::Subject,
};
use crate::{choices::Choices, engine::world::START};
use coax_client::{Error, Outcome, Transmit};
use coax_netbios::Transport;
use coax_wire::{
    command,
    header::{Flags, Flags2, HEADER_LEN, Header, Mid, Tid, Uid},
    io::Writer,
    nbt::session::Framing,
    status::Status,
    time::Span,
};

/// Operations handed in before anything comes.
const MOST_TASKS: usize = 4;
/// Operations in all.
const MOST_SUBMITTED: usize = 12;
/// Requests that are remembered, to be answered.
const MOST_ASKED: usize = 128;

/// Statuses of replies; the first is the usual one.
const STATUSES: &[Status] = &[
    Status::OK,
    Status::MORE_PROCESSING_REQUIRED,
    Status::BUFFER_OVERFLOW,
    Status::NO_MORE_FILES,
    Status::OBJECT_NAME_NOT_FOUND,
    Status::ACCESS_DENIED,
    Status::LOGON_FAILURE,
    Status::USE_STANDARD,
    Status::USE_MPX,
    Status::DISK_FULL,
    Status::NOT_SUPPORTED,
    Status::INVALID_SMB,
];

/// Kinds of a record of a story, as a story numbers them.
pub mod kind {
    /// The oldest request is answered.
    pub const ANSWER: u8 = 0;
    /// A message without a header: raw data.
    pub const MESSAGE: u8 = 10;
    /// Kinds in all.
    pub const COUNT: usize = 18;
}

/// Runs one input.
pub fn play(data: &[u8]) {
    ends_of(data);
}

/// Runs one input and tells how its operations ended.
pub fn ends_of(data: &[u8]) -> Vec<Result<Outcome, Error>> {
    let mut choices = Choices::new(data);
    let plan = Plan::from_choices(&mut choices);
    let mut story = Story {
        framing: plan.target.transport.framing(),
        subject: Subject::new(START, &plan),
        asked: Vec::new(),
        sender: Sender::new(plan.target.transport),
        submitted: 0,
        by_copying: false,
    };
    let as_stream = choices.once_in(2);
    for _ in 0..=choices.below(MOST_TASKS) {
        story.submit(&mut choices);
    }
    let sent = story.subject.settle(0);
    story.note(sent);
    if as_stream {
        story.stream(choices);
    } else {
        while !choices.is_done() && !story.subject.client.is_closed() {
            story.record(&mut choices);
        }
    }
    story.subject.end().ends.into_values().collect()
}

/// What the client asked, as the header of its request tells.
#[derive(Clone, Copy, Debug)]
struct Asked {
    command: u8,
    mid: Mid,
    flags2: Flags2,
}

struct Story {
    subject: Subject,
    framing: Framing,
    /// Requests not answered yet, the oldest first.
    asked: Vec<Asked>,
    sender: Sender,
    submitted: usize,
    by_copying: bool,
}

impl Story {
    fn submit(&mut self, choices: &mut Choices<'_>) {
        let task = Task::from_choices(choices, false);
        if self.submitted < MOST_SUBMITTED {
            self.submitted += 1;
            self.subject.submit(task);
        }
    }

    /// The rest of the input as it is, in pieces of any size, with time passing between.
    fn stream(&mut self, mut choices: Choices<'_>) {
        let mut sizes = Choices::new(choices.bytes(16));
        let mut stream = choices.rest();
        while !stream.is_empty() && !self.subject.client.is_closed() {
            let (piece, rest) = stream.split_at((256 - sizes.below(256)).min(stream.len()));
            stream = rest;
            self.subject.feed(piece, self.by_copying);
            self.subject.pass(Span(u64::from(sizes.u8()) * 200_000_000));
            self.by_copying = !self.by_copying;
        }
    }

    /// One thing that happens.
    fn record(&mut self, choices: &mut Choices<'_>) {
        let what = choices.below(kind::COUNT);
        let sent = match what {
            0..=7 => self.answer(choices, 0),
            8 => {
                let which = choices.below(16);
                self.answer(choices, which)
            }
            9 => self.answer_with_data(choices),
            10 => {
                let len = usize::from(choices.u16());
                self.message(choices.bytes(len))
            }
            11 => {
                let bytes = choices.counted();
                self.subject.feed(bytes, self.by_copying)
            }
            12 => self
                .subject
                .pass(Span::from_millis(u64::from(choices.u16()))),
            13 => {
                self.submit(choices);
                self.subject.settle(0)
            }
            14 => self.message(&vec![0x5a; usize::from(choices.u16()) * 2]),
            15 => self.subject.feed(&[0x85, 0, 0, 0], self.by_copying),
            16 => {
                self.by_copying = !self.by_copying;
                self.subject.settle(0)
            }
            _ => {
                self.subject.client.finish(self.subject.now);
                self.subject.settle(0)
            }
        };
        self.note(sent);
    }

    /// Notes what the client sent; a session request is granted.
    fn note(&mut self, sent: Vec<Transmit>) {
        let mut granted = false;
        for transmit in sent {
            granted |= self.sender.take(&transmit, &mut self.asked);
        }
        self.asked.truncate(MOST_ASKED);
        if granted {
            let sent = self.subject.feed(&[0x82, 0, 0, 0], true);
            self.note(sent);
        }
    }

    /// A reply to the request at this place, its block as the input has it.
    fn answer(&mut self, choices: &mut Choices<'_>, place: usize) -> Vec<Transmit> {
        let status = choices.u8();
        let len = usize::from(choices.u16());
        let block = choices.bytes(len).to_vec();
        self.reply(place, status, &block)
    }

    /// A reply to the oldest request with a good deal of data where READ_ANDX and READ have it.
    fn answer_with_data(&mut self, choices: &mut Choices<'_>) -> Vec<Transmit> {
        let len = choices.u16();
        let mut out = Writer::default();
        if self
            .asked
            .first()
            .is_some_and(|asked| asked.command == command::READ)
        {
            out.u8(5).u16(len).zeros(8);
            out.u16(len.saturating_add(3)).u8(1).u16(len);
        } else {
            out.u8(12).u8(0xff).u8(0).u16(0).u16(0xffff).u16(0).u16(0);
            out.u16(len).u16(HEADER_LEN as u16 + 27).zeros(10).u16(len);
        }
        out.zeros(usize::from(len));
        self.reply(0, 0, out.as_slice())
    }

    fn reply(&mut self, place: usize, status: u8, block: &[u8]) -> Vec<Transmit> {
        let asked = if self.asked.is_empty() {
            // Nobody asked: an answer all the same.
            Asked {
                command: command::ECHO,
                mid: Mid(u16::from(status)),
                flags2: Flags2(0),
            }
        } else {
            self.asked.remove(place.min(self.asked.len() - 1))
        };
        let status = STATUSES[usize::from(status) % STATUSES.len()];
        let command = match asked.command {
            command::WRITE_RAW if status.is_ok() && block.first() == Some(&1) => {
                command::WRITE_COMPLETE
            }
            command => command,
        };
        let header = Header {
            command,
            status: status.to_wire(asked.flags2.has(Flags2::NT_STATUS)),
            flags: Flags(Flags::REPLY),
            flags2: asked.flags2,
            mid: asked.mid,
            uid: Uid(1),
            tid: Tid(1),
            ..Header::default()
        };
        let mut out = Writer::default();
        header.emit(&mut out);
        out.bytes(block);
        self.message(out.as_slice())
    }

    /// A message with the transport's header.
    fn message(&mut self, message: &[u8]) -> Vec<Transmit> {
        let Ok(lead) = self.framing.header(message.len()) else {
            return Vec::new();
        };
        let bytes = [&lead[..], message].concat();
        self.subject.feed(&bytes, self.by_copying)
    }
}

/// Finds the requests in what a client sends, whatever the cuts.
#[derive(Debug)]
struct Sender {
    transport: Transport,
    /// The first bytes of the packet that is on its way.
    head: Vec<u8>,
    /// Bytes of it to come that do not matter.
    skip: u64,
}

/// Session header and SMB header.
const HEADS: usize = 4 + HEADER_LEN;

impl Sender {
    fn new(transport: Transport) -> Self {
        Self {
            transport,
            head: Vec::new(),
            skip: 0,
        }
    }

    /// Takes a write; whether it asked for a session.
    fn take(&mut self, transmit: &Transmit, asked: &mut Vec<Asked>) -> bool {
        let mut granted = false;
        let mut rest = transmit.head.as_slice();
        while !rest.is_empty() {
            let skipped = self.skip.min(rest.len() as u64);
            self.skip -= skipped;
            rest = &rest[skipped as usize..];
            let wanted = self.wanted().saturating_sub(self.head.len());
            let (now, later) = rest.split_at(wanted.min(rest.len()));
            self.head.extend_from_slice(now);
            rest = later;
            granted |= self.look(asked);
        }
        // A tail never holds a header: a message of raw data may be all tail.
        let mut tail = transmit.tail.len();
        if !self.head.is_empty() {
            let unseen = (self.wanted() - self.head.len()).min(tail);
            self.head.resize(self.head.len() + unseen, 0);
            tail -= unseen;
            self.look(asked);
        }
        self.skip = self.skip.saturating_sub(tail as u64);
        granted
    }

    fn len(&self) -> usize {
        let lead = self.head.first_chunk().copied().unwrap_or_default();
        coax_wire::nbt::session::Header(lead).len(self.transport.framing())
    }

    fn wanted(&self) -> usize {
        match self.head.len() {
            0..4 => 4,
            _ => (4 + self.len()).min(HEADS),
        }
    }

    fn look(&mut self, asked: &mut Vec<Asked>) -> bool {
        if self.head.len() < 4 || self.head.len() < self.wanted() {
            return false;
        }
        self.skip = (4 + self.len()).saturating_sub(self.head.len()) as u64;
        let head = std::mem::take(&mut self.head);
        if head[0] == 0x81 {
            return true;
        }
        if let Ok(header) = Header::parse(&head[4..]) {
            asked.push(Asked {
                command: header.command,
                mid: header.mid,
                flags2: header.flags2,
            });
        }
        false
    }
}
