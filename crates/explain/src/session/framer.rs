//! One direction of a connection cut into NetBIOS session packets (RFC 1002 §4.3, [MS-SMB] 2.1), or into the messages that
//! frames of NetBEUI and IPX mark, of which only the beginnings are kept. After a hole, or a beginning in the middle, it looks for the next SMB header.
//!
//! Where messages follow each other without a pause, one may begin beyond what the capture kept of a packet. Then its
//! length is that of the message that is due, as long as what follows bears it out.

use coax_cause::Account;
use coax_wire::{
    header::{HEADER_LEN as SMB_HEADER_LEN, PROTOCOL},
    nbt::session::{Framing, HEADER_LEN, Header, PacketType},
    time::Time,
};

/// A packet's time and number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: Time,
    pub(crate) frame: u64,
}

/// Bytes in order: those that were kept, and how many there were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) len: u64,
    pub(crate) moment: Moment,
    /// A message ends with them, where messages have no headers.
    pub(crate) ends: bool,
}

/// How a stream is cut into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundaries {
    /// Each has a header with its length.
    Headers(Framing),
    /// Its last frame is marked.
    Marked,
}

/// A whole packet, as far as it was kept.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) kind: PacketType,
    /// Bytes of its body.
    pub(crate) len: u64,
    /// The body's first bytes.
    pub(crate) head: &'a [u8],
    pub(crate) start: Moment,
    pub(crate) end: Moment,
    /// What had been spent on the connection when it began.
    pub(crate) mark: Account,
    /// Its beginning was not kept: its length is what was due.
    pub(crate) guessed: bool,
}

/// Who listens to a stream's messages.
pub(crate) trait Sink {
    /// A message is whole.
    fn message(&mut self, message: Message<'_>);
    /// How long the message that is due in this direction is, if that can be told.
    fn expected(&self) -> Option<u64>;
}

/// Whether a stream is one of session packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not enough was seen to say.
    Unknown,
    /// It is.
    Smb,
    /// It is not, or not one of SMB1.
    Other,
}

/// Messages up to this length are kept whole: chains may have their last command anywhere.
const KEPT_WHOLE: u64 = 4096;
/// The part that is kept of longer ones, bytes.
const KEPT_HEAD: usize = 640;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Lost,
    Header,
    Body,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Framer {
    boundaries: Boundaries,
    state: State,
    header: [u8; HEADER_LEN],
    have: usize,
    /// The body's length, with what of its header was gone over with it.
    total: u64,
    lead: u64,
    got: u64,
    head: Vec<u8>,
    /// The head goes no further: something of it was not kept.
    head_ends: bool,
    start: Moment,
    mark: Account,
    guessed: bool,
    verdict: Verdict,
    /// Bytes that belong to no message that could be told.
    skipped: u64,
}

impl Framer {
    /// A framer at the beginning of a stream, or (`lost`) somewhere in it.
    pub(crate) fn new(boundaries: Boundaries, lost: bool) -> Self {
        Self {
            boundaries,
            state: if lost { State::Lost } else { State::Header },
            header: [0; HEADER_LEN],
            have: 0,
            total: 0,
            lead: 0,
            got: 0,
            head: Vec::new(),
            head_ends: false,
            start: Moment::default(),
            mark: Account::default(),
            guessed: false,
            verdict: Verdict::Unknown,
            skipped: 0,
        }
    }

    /// What the stream looks like so far.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether the bytes so far end in the middle of a message.
    pub(crate) fn is_inside(&self) -> bool {
        self.state == State::Body || self.have > 0
    }

    /// Whether the message continues beyond the next `bytes`.
    pub(crate) fn is_inside_after(&self, bytes: u64) -> bool {
        self.state == State::Body && self.got.saturating_add(bytes) < self.total
    }

    /// Whether bytes that follow belong to the same message.
    pub(crate) fn goes_on_with(&self, bytes: &[u8]) -> bool {
        self.is_inside() && !(self.guessed && begins_message(bytes))
    }

    /// Bytes that belong to no message that could be told.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes bytes; messages that are whole go to `sink`. `spent` is what has been spent on the connection by now.
    pub(crate) fn push(&mut self, mut chunk: Chunk<'_>, spent: &Account, sink: &mut dyn Sink) {
        self.doubt(&chunk, sink);
        while chunk.len > 0 {
            match self.state {
                State::Lost if self.is_marked() => self.search_marked(&mut chunk),
                State::Lost => self.search(&mut chunk, spent, sink),
                State::Header if self.is_marked() => self.begin_marked(chunk.moment, spent),
                State::Header => self.take_header(&mut chunk, spent, sink),
                State::Body => self.take_body(&mut chunk),
            }
            self.deliver(chunk.moment, sink);
        }
    }

    /// Goes over bytes that nobody saw.
    pub(crate) fn gap(&mut self, len: u64, moment: Moment, spent: &Account, sink: &mut dyn Sink) {
        if self.state == State::Body && !self.is_marked() && len <= self.total - self.got {
            let missing = Chunk {
                bytes: &[],
                len,
                moment,
                ends: false,
            };
            return self.push(missing, spent, sink);
        }
        self.skipped = self.skipped.saturating_add(len);
        self.state = State::Lost;
    }

    /// A message whose length was guessed ends where another one plainly begins.
    fn doubt(&mut self, chunk: &Chunk<'_>, sink: &mut dyn Sink) {
        if self.guessed && self.state == State::Body && begins_message(chunk.bytes) {
            self.total = self.got;
            self.deliver(chunk.moment, sink);
        }
    }

    /// Looks for a header that an SMB message follows, or for a message whose header came apart from it and was missed:
    /// that is as long as what came with its beginning. Data without SMB headers is known by being as long as what is due.
    fn search(&mut self, chunk: &mut Chunk<'_>, spent: &Account, sink: &dyn Sink) {
        if chunk.bytes.starts_with(&PROTOCOL) {
            (self.start, self.mark) = (chunk.moment, *spent);
            self.header = [0; HEADER_LEN];
            self.begin_body();
            self.total = chunk.len;
            return;
        }
        let found = chunk
            .bytes
            .windows(HEADER_LEN + PROTOCOL.len())
            .position(begins_message);
        let found = found.or_else(|| self.begins_what_is_due(chunk.bytes, sink).then_some(0));
        match found {
            Some(at) => {
                self.skipped = self.skipped.saturating_add(at as u64);
                take(chunk, at as u64);
                self.state = State::Header;
                self.have = 0;
            }
            None => {
                self.skipped = self.skipped.saturating_add(chunk.len);
                chunk.len = 0;
            }
        }
    }

    fn is_marked(&self) -> bool {
        self.boundaries == Boundaries::Marked
    }

    fn framing(&self) -> Framing {
        match self.boundaries {
            Boundaries::Headers(framing) => framing,
            Boundaries::Marked => Framing::Nbt,
        }
    }

    /// Looks for a frame that begins an SMB message.
    fn search_marked(&mut self, chunk: &mut Chunk<'_>) {
        if chunk.bytes.starts_with(&PROTOCOL) {
            self.state = State::Header;
        } else {
            self.skipped = self.skipped.saturating_add(chunk.len);
            chunk.len = 0;
        }
    }

    /// A message without a header begins. Its length shows at its end.
    fn begin_marked(&mut self, moment: Moment, spent: &Account) {
        (self.start, self.mark) = (moment, *spent);
        self.header = [0; HEADER_LEN];
        self.begin_body();
        self.total = u64::MAX;
    }

    /// Whether a session header stands here of a message just as long as the one that is due.
    fn begins_what_is_due(&self, bytes: &[u8], sink: &dyn Sink) -> bool {
        let header = bytes.first_chunk().map(|head| Header(*head));
        let message = header.filter(|header| header.packet_type() == PacketType::Message);
        let len = message.map(|header| header.len(self.framing()) as u64);
        len.is_some_and(|len| len > 0 && sink.expected() == Some(len))
    }

    fn take_header(&mut self, chunk: &mut Chunk<'_>, spent: &Account, sink: &dyn Sink) {
        if self.have == 0 {
            self.start = chunk.moment;
            self.mark = *spent;
        }
        let wanted = HEADER_LEN - self.have;
        let gone_over = chunk.len.min(wanted as u64);
        let bytes = take(chunk, gone_over);
        let place = self.header.get_mut(self.have..).unwrap_or_default();
        for (to, from) in place.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.have += bytes.len();
        if (bytes.len() as u64) < gone_over {
            match sink.expected() {
                Some(len) => self.guess(len, wanted as u64 - gone_over),
                None => self.lose(),
            }
        } else if self.have == HEADER_LEN {
            self.have = 0;
            self.begin_body();
        }
    }

    /// The header was not kept; a body of `len` bytes is to be gone over, and `lead` bytes of the header before it.
    fn guess(&mut self, len: u64, lead: u64) {
        self.header = [0; HEADER_LEN];
        self.have = 0;
        self.begin_body();
        (self.total, self.lead) = (len.saturating_add(lead), lead);
        self.head_ends = true;
        self.guessed = true;
    }

    fn begin_body(&mut self) {
        let header = Header(self.header);
        let kind = header.packet_type();
        let is_plausible = match kind {
            PacketType::Message => header.reserved_flags(self.framing()) == 0,
            PacketType::Other(_) => false,
            _ => header.len(self.framing()) <= 512,
        };
        if !is_plausible {
            return self.lose();
        }
        if kind == PacketType::Request && self.verdict == Verdict::Unknown {
            self.verdict = Verdict::Smb;
        }
        (self.total, self.lead) = (header.len(self.framing()) as u64, 0);
        self.got = 0;
        self.head.clear();
        self.head_ends = false;
        self.guessed = false;
        self.state = State::Body;
    }

    fn take_body(&mut self, chunk: &mut Chunk<'_>) {
        let count = chunk.len.min(self.total - self.got);
        let bytes = take(chunk, count);
        if !self.head_ends {
            let room = if self.total <= KEPT_WHOLE || self.is_marked() {
                KEPT_WHOLE as usize
            } else {
                KEPT_HEAD
            };
            let kept = bytes.len().min(room.saturating_sub(self.head.len()));
            self.head
                .extend_from_slice(bytes.get(..kept).unwrap_or_default());
            self.head_ends = (kept as u64) < count;
            self.judge();
        }
        self.got += count;
        if chunk.ends && chunk.len == 0 && self.is_marked() {
            self.total = self.got;
        }
    }

    /// The first four bytes of a message tell SMB1 from what else is framed so.
    fn judge(&mut self) {
        let is_message = Header(self.header).packet_type() == PacketType::Message;
        if self.verdict == Verdict::Unknown && is_message && self.head.len() >= 4 {
            self.verdict = if self.head.starts_with(&PROTOCOL) {
                Verdict::Smb
            } else {
                Verdict::Other
            };
        }
    }

    fn deliver(&mut self, moment: Moment, sink: &mut dyn Sink) {
        if self.state != State::Body || self.got < self.total {
            return;
        }
        self.state = State::Header;
        sink.message(Message {
            kind: Header(self.header).packet_type(),
            len: self.total.saturating_sub(self.lead),
            head: &self.head,
            start: self.start,
            end: moment,
            mark: self.mark,
            guessed: self.guessed || is_cut_short(&self.head, self.total),
        });
    }

    fn lose(&mut self) {
        if self.verdict == Verdict::Unknown {
            self.verdict = Verdict::Other;
        }
        self.have = 0;
        self.state = State::Lost;
        self.skipped = self.skipped.saturating_add(HEADER_LEN as u64);
    }
}

/// Whether not even the SMB header of a message that has one was kept.
fn is_cut_short(head: &[u8], total: u64) -> bool {
    let begins_so = head
        .iter()
        .zip(PROTOCOL)
        .all(|(byte, wanted)| *byte == wanted);
    begins_so && head.len() < SMB_HEADER_LEN && total >= SMB_HEADER_LEN as u64
}

/// Whether a session header stands here, and an SMB1 message behind it.
fn begins_message(bytes: &[u8]) -> bool {
    let Some((head, body)) = bytes.split_at_checked(HEADER_LEN) else {
        return false;
    };
    matches!(head, [0, ..]) && body.starts_with(&PROTOCOL)
}

/// Takes `count` bytes off a chunk: those of them that were kept.
fn take<'a>(chunk: &mut Chunk<'a>, count: u64) -> &'a [u8] {
    let count = count.min(chunk.len);
    let kept = usize::try_from(count)
        .unwrap_or(usize::MAX)
        .min(chunk.bytes.len());
    let (taken, rest) = chunk.bytes.split_at(kept);
    chunk.bytes = rest;
    chunk.len -= count;
    taken
}
