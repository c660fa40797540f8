//! Requests that wait for their answers.

use coax_wire::{
    block::each_in_chain,
    command,
    header::{Flags, Flags2, Header},
    smb::{nt_transact::function, transaction::Kind},
    status::Status,
    time::Time,
};

use super::{
    aim::Aim,
    cut,
    files::Mark,
    op::{self, Answer, Op, What},
};
use crate::session::Moment;

/// Requests outstanding at a time; of more, the oldest is given up. No server allows as many.
const MOST: usize = 1024;

/// What a request still waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A reply.
    Reply,
    /// The headerless data of a raw read.
    RawData,
    /// The server's word to send the data of a raw write.
    Go,
    /// The headerless data of a raw write, from the client.
    RawWrite,
    /// The final reply to a raw write.
    WriteComplete,
    /// Replies until all bytes have come, as READ_MPX has them.
    Bytes,
    /// Replies until a transaction is whole.
    Pieces,
    /// So many replies.
    Replies(u16),
}

/// One request.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) header: Header,
    pub(super) tid: u16,
    pub(super) ops: Vec<Op>,
    pub(super) answers: Vec<Answer>,
    pub(super) begin: Mark,
    /// When the last byte of it was there.
    pub(super) asked: Moment,
    pub(super) due: Due,
    /// Bytes of the answer so far, and of the client's headerless data.
    got: u64,
    data_came: bool,
    /// Its header was not kept: any answer to its command that fits no other may be its.
    pub(super) guessed: bool,
    /// Some of its answer has come.
    pub(super) is_begun: bool,
    /// What it is about, if its time is told apart from data.
    pub(super) aim: Option<Box<Aim>>,
}

impl Pending {
    pub(super) fn new(header: &Header, ops: Vec<Op>, begin: Mark, asked: Moment, due: Due) -> Self {
        Self {
            header: *header,
            tid: header.tid.0,
            answers: vec![Answer::default(); ops.len()],
            ops,
            begin,
            asked,
            due,
            got: 0,
            data_came: false,
            guessed: false,
            is_begun: false,
            aim: None,
        }
    }

    /// Takes from a reply what it says of each command.
    pub(super) fn apply_response(&mut self, header: &Header, bytes: &[u8]) {
        let mut number = 0;
        each_in_chain(header.command, bytes, |command, block| {
            if let (Some(op), Some(answer)) = (self.ops.get(number), self.answers.get_mut(number)) {
                let new = op::answer(op, command, block);
                let sofar = if self.due == Due::Bytes {
                    answer.bytes
                } else {
                    0
                };
                *answer = Answer {
                    bytes: new.bytes.saturating_add(sofar),
                    names: new.names.or(answer.names),
                    ..new
                };
            }
            number += 1;
        });
    }

    /// Mends what a reply says of which only the first `kept` bytes are there.
    pub(super) fn infer_truncated(&mut self, kept: usize) {
        if let (Some(op), Some(answer)) = (self.ops.first(), self.answers.first_mut()) {
            cut::infer_truncated_response(op, answer, kept);
        }
    }

    /// Whether more is to come after this reply.
    pub(super) fn goes_on(&mut self, header: &Header) -> bool {
        let failed = header.status != 0 && self.is_error(header);
        match self.due {
            _ if failed => false,
            Due::Go if header.command == command::WRITE_RAW => self.go(),
            Due::Replies(left) => {
                self.due = Due::Replies(left.saturating_sub(1));
                left > 1
            }
            Due::Bytes => {
                let wanted = self.ops.first().map_or(0, |op| op.count);
                let new = self.answers.first().map_or(0, |answer| answer.bytes);
                let before = std::mem::replace(&mut self.got, new);
                new > before && new < wanted
            }
            Due::Pieces => self.lacks_pieces(),
            _ => false,
        }
    }

    /// The server takes a raw write's data; whether the exchange goes on.
    fn go(&mut self) -> bool {
        let write_through = self.ops.first().is_some_and(|op| op.write_through);
        self.due = match (self.data_came, write_through) {
            (true, true) => Due::WriteComplete,
            (true, false) => {
                self.all_written();
                return false;
            }
            (false, _) => Due::RawWrite,
        };
        true
    }

    /// An interim reply, or one of several.
    fn lacks_pieces(&mut self) -> bool {
        match self.answers.first().and_then(|answer| answer.pieces) {
            Some((here, total)) => {
                self.got = self.got.saturating_add(here);
                self.got < total && here > 0
            }
            // without words: it asks for the secondaries, if there are any to come
            None => self.ops.first().is_some_and(
                |op| matches!(op.what, What::Transaction(total) if total > op.carried),
            ),
        }
    }

    /// Headerless data came: from the server for a raw read, from the client for a raw write.
    pub(super) fn carried(&mut self, len: u64) {
        self.data_came = true;
        self.got = self.got.saturating_add(len);
        if self.due == Due::RawData {
            if let Some(answer) = self.answers.first_mut() {
                answer.bytes = len;
            }
        } else if self.due == Due::RawWrite {
            self.all_written();
            self.due = Due::WriteComplete;
        }
    }

    /// So many bytes were read.
    pub(super) fn read(&mut self, bytes: u64) {
        let wanted = self.ops.first().filter(|op| op.known.count);
        let wanted = wanted.map_or(u64::MAX, |op| op.count);
        if let Some(answer) = self.answers.first_mut() {
            answer.bytes = bytes.min(wanted);
        }
    }

    fn all_written(&mut self) {
        if let (Some(op), Some(answer)) = (self.ops.first(), self.answers.first_mut()) {
            answer.bytes = op.carried.saturating_add(self.got);
        }
    }

    /// Whether a status other than 0 says that nothing was done: not of warnings and of searches that end.
    pub(super) fn is_error(&self, header: &Header) -> bool {
        let status = header.status;
        if header.flags2.has(Flags2::NT_STATUS) {
            return status >> 30 == 3 && status != Status::MORE_PROCESSING_REQUIRED.0;
        }
        status & 0xff != 0
    }
}

fn is_notify(pending: &Pending) -> bool {
    let name = pending.ops.first().map(|op| op.name);
    name.is_some_and(|name| {
        name.command == command::NT_TRANSACT && name.function == Some(function::NOTIFY_CHANGE)
    })
}

/// Requests in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Queue {
    list: Vec<Pending>,
    most: usize,
    /// A read was taken for the answer to which the header was not kept: it may have been another one's.
    took_unseen: bool,
}

impl Queue {
    /// The most that waited at once.
    pub(super) fn most(&self) -> u64 {
        self.most as u64
    }

    /// Whether the server has a request to answer that does not wait for an event.
    pub(super) fn has_due(&self) -> bool {
        self.list.iter().any(|pending| !is_notify(pending))
    }

    /// Whether the client waits to be told of a change in a folder.
    pub(super) fn has_notify(&self) -> bool {
        self.list.iter().any(is_notify)
    }

    /// When the oldest request was whole of which no answer has come yet, but for as many as are to be skipped.
    pub(super) fn oldest(&self, skipped: usize) -> Option<Time> {
        let mut due = self
            .list
            .iter()
            .filter(|pending| !pending.is_begun && !is_notify(pending));
        due.nth(skipped).map(|pending| pending.asked.at)
    }

    /// Adds one; the oldest, if there are too many.
    pub(super) fn push(&mut self, pending: Pending) -> Option<Pending> {
        let forgotten = (self.list.len() >= MOST).then(|| self.list.remove(0));
        // the same number again: the answer to the one before it was missed
        let is_superseded = |other: &Pending| {
            is_same(other, &pending.header)
                && !pending.guessed
                && other.header.command != command::ECHO
        };
        let same = self.list.iter().position(is_superseded);
        let superseded = same.map(|place| self.list.remove(place));
        self.list.push(pending);
        self.most = self.most.max(self.list.len());
        forgotten.or(superseded)
    }

    pub(super) fn put_back(&mut self, pending: Pending) {
        self.list.insert(0, pending);
    }

    pub(super) fn pop(&mut self) -> Option<Pending> {
        self.list.pop()
    }

    /// The request that a reply answers.
    pub(super) fn take(&mut self, reply: &Header) -> Option<Pending> {
        let fits = |pending: &Pending| {
            is_same(pending, reply) && answers(reply.command, pending.header.command)
        };
        let guessed =
            |pending: &Pending| pending.guessed && answers(reply.command, pending.header.command);
        let place = self.list.iter().position(fits);
        let place = place.or_else(|| self.only_one_with_mid(reply));
        let place = place.or_else(|| self.list.iter().position(guessed));
        // servers answer reads in any order: its request went with an answer of which no header was kept
        let misled = || {
            let is_read = answers(reply.command, command::READ_ANDX);
            self.first_read().filter(|_| self.took_unseen && is_read)
        };
        let place = place.or_else(misled)?;
        Some(self.list.remove(place))
    }

    /// The only request with this command and number, whoever's. impacket's server answers TREE_CONNECT_ANDX with the process
    /// that had sent NEGOTIATE.
    fn only_one_with_mid(&self, reply: &Header) -> Option<usize> {
        let mut same = self.list.iter().enumerate().filter(|(_, pending)| {
            pending.header.mid == reply.mid && pending.header.command == reply.command
        });
        let (place, _) = same.next()?;
        same.next().is_none().then_some(place)
    }

    /// The oldest read that waits: whether it is raw, and how many bytes it asks for.
    pub(super) fn read_due(&self) -> Option<(bool, u64)> {
        let pending = self.list.get(self.first_read()?)?;
        Some((pending.due == Due::RawData, pending.ops.first()?.count))
    }

    /// Takes the oldest read that waits and asked for exactly `bytes`, for a reply of which only the length is known:
    /// an answer brings what was asked for, and servers answer reads in any order. If none did, the oldest that asked for
    /// more, which the file's end may have cut short, or the oldest at all.
    pub(super) fn take_read(&mut self, bytes: u64) -> Option<Pending> {
        let first = |fits: &dyn Fn(&Op) -> bool| {
            let mut ops = self.list.iter().map(|pending| pending.ops.first());
            ops.position(|op| op.is_some_and(|op| op.what == What::Read && fits(op)))
        };
        let exact = first(&|op| op.known.count && op.count == bytes);
        let place = exact.or_else(|| first(&|op| !op.known.count || op.count >= bytes));
        let place = place.or_else(|| self.first_read())?;
        self.took_unseen = true;
        Some(self.list.remove(place))
    }

    fn first_read(&self) -> Option<usize> {
        let is_read =
            |pending: &Pending| pending.ops.first().is_some_and(|op| op.what == What::Read);
        self.list.iter().position(is_read)
    }

    /// How many bytes of a raw write are still to come.
    pub(super) fn raw_write_due(&self) -> Option<u64> {
        let pending = self
            .list
            .iter()
            .find(|pending| pending.due == Due::RawWrite)?;
        let op = pending.ops.first()?;
        Some(op.count.saturating_sub(op.carried))
    }

    /// The raw read that a message of the server answers, unless it is a reply to another request or the break of an
    /// oplock. Nothing else may be outstanding with a raw read ([MS-CIFS] 2.2.4.22), but some clients' notifies are.
    pub(super) fn take_raw_read(&mut self, header: Option<&Header>, len: u64) -> Option<Pending> {
        let place = self
            .list
            .iter()
            .position(|pending| pending.due == Due::RawData)?;
        const LONGEST_BREAK: u64 = 64;
        if let Some(header) = header {
            let is_break = header.command == command::LOCKING_ANDX
                && !header.flags.has(Flags::REPLY)
                && len <= LONGEST_BREAK;
            let is_reply = header.flags.has(Flags::REPLY)
                && self.list.iter().any(|other| {
                    is_same(other, header) && answers(header.command, other.header.command)
                });
            if is_break || is_reply {
                return None;
            }
        }
        Some(self.list.remove(place))
    }

    /// The raw write that a message of the client is the data of. Some clients send it without waiting for the word.
    pub(super) fn take_raw_write(&mut self, looks_smb: bool, len: u64) -> Option<Pending> {
        let place = self.list.iter().position(|pending| match pending.due {
            Due::RawWrite => {
                let op = pending.ops.first();
                !looks_smb || op.is_some_and(|op| op.count.saturating_sub(op.carried) == len)
            }
            Due::Go => !looks_smb && !pending.data_came,
            _ => false,
        })?;
        Some(self.list.remove(place))
    }

    /// A secondary of a transaction came.
    pub(super) fn extend(&mut self, header: &Header, end: Moment) {
        let fits = |pending: &&mut Pending| {
            is_same(pending, header) && Kind::of(pending.header.command) == Kind::of(header.command)
        };
        if let Some(pending) = self.list.iter_mut().find(fits) {
            pending.asked = end;
            // what is still to come is no longer asked for by an interim reply
            if let Some(op) = pending.ops.first_mut()
                && let What::Transaction(total) = &mut op.what
            {
                *total = op.carried;
            }
        }
    }

    /// A further WRITE_MPX of the same exchange; whether there is one.
    pub(super) fn join(&mut self, header: &Header, end: Moment) -> bool {
        let fits = |pending: &&mut Pending| {
            is_same(pending, header) && pending.header.command == command::WRITE_MPX
        };
        let Some(pending) = self.list.iter_mut().find(fits) else {
            return false;
        };
        pending.asked = end;
        true
    }
}

fn is_same(pending: &Pending, header: &Header) -> bool {
    pending.header.mid == header.mid && pending.header.pid.0 & 0xffff == header.pid.0 & 0xffff
}

/// Whether a reply with this command answers that request.
fn answers(reply: u8, request: u8) -> bool {
    reply == request
        || (reply == command::WRITE_COMPLETE
            && matches!(request, command::WRITE_RAW | command::WRITE_MPX))
        || (reply == command::READ_MPX_SECONDARY && request == command::READ_MPX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use coax_wire::header::HEADER_LEN;

    use crate::smb::kept::Kept;

    use super::*;
    use crate::{session::Moment, smb::files::Mark};

    fn read(mid: u8) -> Header {
        let mut bytes = [0; HEADER_LEN];
        bytes[..5].copy_from_slice(&[0xff, b'S', b'M', b'B', command::READ_ANDX]);
        bytes[30] = mid;
        Header::parse(&bytes).unwrap()
    }

    fn asked(queue: &mut Queue, mid: u8) {
        let mut bytes = [0; HEADER_LEN + 1 + 24 + 2];
        bytes[HEADER_LEN] = 12;
        bytes[HEADER_LEN + 1] = 0xff;
        let header = read(mid);
        let ops = op::request(&header, &Kept::of(&bytes, bytes.len()));
        let moment = Moment::default();
        let begin = Mark {
            moment,
            spent: Default::default(),
        };
        queue.push(Pending::new(&header, ops, begin, moment, Due::Reply));
    }

    #[test]
    fn answers_in_another_order_find_a_request_each_though_one_has_no_header() {
        let mut queue = Queue::default();
        for mid in 1..=3 {
            asked(&mut queue, mid);
        }
        // to 2, which nobody can know
        assert_eq!(queue.take_read(0).unwrap().header.mid.0, 1);
        for mid in [1, 3] {
            assert!(queue.take(&read(mid)).is_some(), "{mid}");
        }
        assert!(!queue.has_due());
    }

    #[test]
    fn a_long_answer_without_a_header_is_not_a_short_read_s() {
        let mut queue = Queue::default();
        for mid in 1..=2 {
            asked(&mut queue, mid);
        }
        // the words of these ask for nothing
        queue.list[1].ops[0].count = 4096;
        assert_eq!(queue.take_read(4096).unwrap().header.mid.0, 2);
        assert_eq!(queue.take_read(4096).unwrap().header.mid.0, 1);
    }

    #[test]
    fn a_short_answer_without_a_header_that_overtook_a_long_one_is_the_short_read_s() {
        let mut queue = Queue::default();
        for (mid, count) in [(1, 122_880), (2, 67_840)] {
            asked(&mut queue, mid);
            queue.list.last_mut().unwrap().ops[0].count = count;
        }
        assert_eq!(queue.take_read(67_840).unwrap().header.mid.0, 2);
        assert_eq!(queue.read_due(), Some((false, 122_880)));
    }

    #[test]
    fn an_answer_to_nothing_takes_nobody_s_place_as_long_as_all_headers_were_there() {
        let mut queue = Queue::default();
        asked(&mut queue, 1);
        assert!(queue.take(&read(7)).is_none());
        assert!(queue.take(&read(1)).is_some());
    }
}
