//! Requests and their answers on one connection, and the files they are about.

mod ahead;
mod aim;
mod cut;
mod due;
mod facts;
mod files;
mod kept;
mod mix;
mod name;
mod op;
mod operations;
mod pending;
mod ranges;
mod sizes;
mod stretch;
mod subject;
mod union;
mod unseen;
mod waiting;
mod watch;

use coax_cause::Account;
use coax_wire::{
    block::Block,
    command,
    header::{Flags, HEADER_LEN, Header, PROTOCOL},
    nbt::session::PacketType,
    time::{Span, Time},
};

use crate::{
    evidence::RecorderSet,
    report::{self, Around, Copy, LabelKind, Requests},
    session::{Message, Moment, Scratch},
};
use ahead::Gaps;
use due::{due, wants_no_answer};
use files::{Files, Mark, Use};
pub(crate) use kept::CUT;
use kept::Kept;
use mix::{Mix, Outcome};
pub(crate) use name::Name;
use op::{Op, What};
use operations::Operations;
pub(crate) use operations::{Observed, OplockBreak, Release};
use pending::{Due, Pending, Queue};

/// What a request is for: it decides what a round trip is charged to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To move bytes of a file.
    Data,
    /// Anything else.
    #[default]
    Metadata,
}

/// One connection's SMB, from both directions' messages.
#[derive(Debug, Default)]
pub(crate) struct Smb {
    facts: report::Smb,
    queue: Queue,
    gaps: Gaps,
    files: Files,
    mix: Mix,
    purpose: Purpose,
    /// Requests, and the time from each to its answer, counted in `mix`.
    asked: (u64, Span),
    /// What the latest read's answer had besides its data, bytes.
    reply_overhead: Option<u64>,
    /// The most that a read brought of which not all was kept, bytes.
    read_size: u64,
    /// Bytes between a write's words and its data, where a write has told.
    write_padding: Option<u64>,
    /// The latest read or write, and how long its message was.
    latest_transfer: Option<(Header, Op, u64)>,
    /// An answer to nothing: perhaps to a request of unknown length, whose end only the next one shows.
    early: Option<(Header, Vec<u8>, usize, Mark)>,
    operations: Operations,
    /// When the latest request was whole that was answered.
    latest_answered: Time,
}

/// What is reported of a connection's SMB.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) facts: Option<report::Smb>,
    pub(crate) requests: Vec<Requests>,
    pub(crate) asked: (u64, Span),
    pub(crate) around: Around,
}

/// What a message is looked at with.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// What has been spent on the connection by now.
    pub(crate) spent: Account,
    pub(crate) scratch: &'a mut Scratch,
}

impl Smb {
    /// Of a connection that `recorders` has seen so far; `begin`: its first packet, if that was captured.
    pub(crate) fn new(recorders: Box<RecorderSet>, begin: Option<Moment>) -> Self {
        let mut smb = Self::default();
        smb.files.recorders = recorders;
        smb.operations.begin(begin.map(|moment| Mark {
            moment,
            ..Mark::default()
        }));
        smb
    }

    /// Who sees the connection.
    pub(crate) fn recorders(&mut self) -> &mut RecorderSet {
        &mut self.files.recorders
    }

    /// It was no SMB.
    pub(crate) fn into_recorders(self) -> Box<RecorderSet> {
        self.files.recorders
    }

    /// What the latest request was for that does not wait for an event.
    pub(crate) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The copies that have ended, and how many more there were.
    pub(crate) fn take_ended(&mut self) -> (Vec<Copy>, u64) {
        self.files.take_ended()
    }

    /// A message of the client.
    pub(crate) fn client_said(&mut self, message: &Message<'_>, context: &mut Context<'_>) {
        if message.kind != PacketType::Message || self.raw_data(message, context) {
            return;
        }
        if message.guessed {
            return self.transfer_again(message);
        }
        if let Ok(header) = Header::parse(message.head) {
            let scratch = &mut context.scratch;
            scratch.with(message.head, message.len, |bytes| {
                self.request(&header, bytes, message)
            });
        }
    }

    /// A message of the server.
    pub(crate) fn server_said(&mut self, message: &Message<'_>, context: &mut Context<'_>) {
        if message.kind != PacketType::Message {
            return;
        }
        let header = Header::parse(message.head).ok();
        if let Some(raw) = self.queue.take_raw_read(header.as_ref(), message.len) {
            return self.raw_read_done(raw, message, &context.spent);
        }
        if message.guessed {
            return self.read_unseen(message, &context.spent);
        }
        let Some(header) = header else {
            return;
        };
        facts::signature(&mut self.facts, &header);
        // smbd's interim response to WRITE_RAW is a copy of the request's header: without the reply bit
        if !header.flags.has(Flags::REPLY) && header.command != command::WRITE_RAW {
            let is_break = header.command == command::LOCKING_ANDX;
            self.facts.oplock_breaks += u64::from(is_break);
            if is_break {
                self.watch_break(message);
            }
            return;
        }
        let Context { spent, scratch } = context;
        let spent = *spent;
        scratch.with(message.head, message.len, |bytes| {
            self.reply(&header, bytes, message, &spent)
        });
    }

    /// No more comes after `end`: requests without answers are counted, files end.
    pub(crate) fn finish(&mut self, end: Moment, spent: Account) {
        let end = Mark { moment: end, spent };
        while let Some(pending) = self.queue.pop() {
            self.abandon(&pending);
            self.watch_unanswered(&pending, end);
        }
        self.operations.finish(end);
        self.files.finish();
    }

    /// What there is to report of a connection that lasted so long.
    pub(crate) fn report(&self, time: Span) -> Told {
        let mut facts = self.facts.clone();
        facts.most_outstanding = self.queue.most();
        facts.ask_gap = self.gaps.median();
        let (around, copying) = self.files.around();
        Told {
            facts: Some(facts),
            requests: self.mix.report(),
            asked: self.asked,
            around: Around {
                requests: around.report(),
                asked: (around.count(), around.without_data()),
                metadata: self.mix.without_data(),
                time: Span(time.0.saturating_sub(copying.0)),
            },
        }
    }

    fn request(&mut self, header: &Header, bytes: &[u8], message: &Message<'_>) {
        let is_secondary = matches!(
            header.command,
            command::TRANSACTION_SECONDARY
                | command::TRANSACTION2_SECONDARY
                | command::NT_TRANSACT_SECONDARY
        );
        if is_secondary {
            return self.queue.extend(header, message.end);
        }
        let kept = Kept::of(bytes, message.head.len());
        let mut ops = op::request(header, &kept);
        self.infer_truncated(&mut ops, header.tid.0, message);
        let Some(first) = ops.first() else {
            return;
        };
        self.label(first.name, LabelKind::Request);
        if let Ok(block) = Block::at(bytes, HEADER_LEN) {
            self.note_request(header, &block, &kept, message.start.frame);
        }
        self.note_purpose(&ops, message.start);
        let begin = Mark {
            moment: message.start,
            spent: message.mark,
        };
        let aim = Self::aim_of(first, header, bytes, &kept);
        self.watch_request(first, aim.as_deref(), bytes, begin);
        if wants_no_answer(header.command, bytes) {
            return self.count_alone(first.name);
        }
        if header.command == command::WRITE_MPX && self.queue.join(header, message.end) {
            return;
        }
        self.early = None;
        let is_transfer = matches!(first.what, What::Read | What::Write);
        self.latest_transfer = is_transfer.then(|| (*header, first.clone(), message.len));
        let due = due(header.command, bytes);
        let mut pending = Pending::new(header, ops, begin, message.end, due);
        pending.aim = aim;
        if let Some(forgotten) = self.queue.push(pending) {
            self.abandon(&forgotten);
        }
    }

    /// What a request is for. One that waits for an event, such as a watch on a folder, does not end the wait for another's answer.
    fn note_purpose(&mut self, ops: &[Op], begun: Moment) {
        let is_data = ops.iter().any(Op::is_data);
        if is_data {
            self.purpose = Purpose::Data;
        } else if !ops.iter().any(|op| op.name.waits()) {
            self.purpose = Purpose::Metadata;
        }
        for op in ops {
            facts::transfer(&mut self.facts, op, begun.frame);
        }
        if !is_data {
            return;
        }
        self.gaps.request(begun.at, self.queue.has_due());
        if self.queue.has_notify() {
            self.facts.with_notify.note(begun.frame);
        }
    }

    /// What of a request's words was not kept is told from others.
    fn infer_truncated(&mut self, ops: &mut [Op], tid: u16, message: &Message<'_>) {
        let Some(op) = ops.first_mut() else {
            return;
        };
        self.write_padding = cut::padding(op, message.head, message.len).or(self.write_padding);
        let latest = self.latest_transfer.as_ref();
        let same = latest.filter(|(_, before, len)| {
            before.name == op.name && *len == message.len && before.known == kept::Known::ALL
        });
        let elsewhere = cut::Elsewhere {
            fid: self.files.latest(tid).or(latest.map(|(_, op, _)| op.fid)),
            read: self.read_size,
            write_padding: self.write_padding.unwrap_or(0),
            before: same.map(|(_, op, _)| (op.offset.saturating_add(op.count), op.count)),
        };
        cut::infer_truncated(op, message.head, message.len, &elsewhere);
    }

    /// Says what the latest packet brought.
    fn label(&mut self, name: Name, kind: LabelKind) {
        self.files
            .recorders
            .label((name.command, name.function, kind));
    }

    fn note_request(&mut self, header: &Header, block: &Block<'_>, kept: &Kept<'_>, frame: u64) {
        facts::signature(&mut self.facts, header);
        match header.command {
            command::NEGOTIATE => {
                facts::offered(&mut self.facts, block, header, kept);
                self.facts.frames.negotiate.0 = Some(frame);
            }
            command::SESSION_SETUP_ANDX => {
                facts::log_on(&mut self.facts, block, header, kept);
                self.facts.frames.log_on.0 = Some(frame);
            }
            command::READ_RAW => self.facts.raw_reads.0 += 1,
            command::WRITE_RAW => self.facts.raw_writes.0 += 1,
            _ => {}
        }
    }

    fn reply(&mut self, header: &Header, bytes: &[u8], message: &Message<'_>, spent: &Account) {
        let Some(mut pending) = self.queue.take(header) else {
            let end = Mark {
                moment: message.end,
                spent: *spent,
            };
            self.early = (bytes.len() <= LONGEST_EARLY)
                .then(|| (*header, bytes.to_vec(), message.head.len(), end));
            return;
        };
        self.apply_response(&mut pending, header, bytes, message);
        if pending.goes_on(header) {
            pending.is_begun = true;
            self.queue.put_back(pending);
            return;
        }
        self.gaps.answer(message.end.at);
        self.latest_answered = self.latest_answered.max(pending.asked.at);
        if header.command == command::WRITE_COMPLETE && pending.due == Due::Go {
            self.facts.raw_writes.1 += 1;
        }
        let refused = header.status != 0 && pending.is_error(header);
        if let Some(op) = pending.ops.first().filter(|_| refused) {
            let (facts, frame) = (&mut self.facts, message.start.frame);
            facts::refused(facts, header, op.name.to_string(), frame);
        }
        let end = Mark {
            moment: message.end,
            spent: *spent,
        };
        self.complete(&pending, refused, end, header);
    }

    /// Takes from a reply what it says of its request, and of the connection.
    fn apply_response(
        &mut self,
        pending: &mut Pending,
        header: &Header,
        bytes: &[u8],
        message: &Message<'_>,
    ) {
        if let Some(op) = pending.ops.first() {
            self.label(op.name, LabelKind::Answer);
        }
        pending.apply_response(header, bytes);
        pending.infer_truncated(message.head.len());
        if cut::is_cut(message) && pending.ops.first().is_some_and(|op| op.what == What::Read) {
            let overhead = self.reply_overhead.unwrap_or(USUAL_OVERHEAD);
            let bytes = message.len.saturating_sub(overhead);
            self.read_size = self.read_size.max(bytes);
            pending.read(bytes);
        } else {
            self.note_overhead(pending, message.len);
        }
        if let Ok(block) = Block::at(bytes, HEADER_LEN) {
            let kept = Kept::of(bytes, message.head.len());
            self.note_reply(header, &block, &kept, message.start.frame);
        }
    }

    fn note_overhead(&mut self, pending: &Pending, len: u64) {
        let moved = pending.answers.first().map_or(0, |answer| answer.bytes);
        let is_read = pending.ops.first().is_some_and(|op| op.what == What::Read);
        if is_read && moved > 0 {
            self.reply_overhead = len.checked_sub(moved).or(self.reply_overhead);
        }
    }

    fn note_reply(&mut self, header: &Header, block: &Block<'_>, kept: &Kept<'_>, frame: u64) {
        if header.status != 0 && header.command != command::SESSION_SETUP_ANDX {
            return;
        }
        match header.command {
            command::NEGOTIATE => {
                facts::chosen(&mut self.facts, block, header);
                self.facts.frames.negotiate.1 = Some(frame);
            }
            command::SESSION_SETUP_ANDX => {
                facts::logged_on(&mut self.facts, block, header, kept);
                self.facts.frames.log_on.1 = Some(frame);
            }
            command::TREE_CONNECT => facts::core_connected(&mut self.facts, block),
            _ => {}
        }
    }

    /// Every op of an exchange is done, at `end`.
    fn complete(&mut self, pending: &Pending, refused: bool, end: Mark, header: &Header) {
        self.watch(pending, refused, end, header);
        let mut response = Some(end.moment.at - pending.asked.at);
        let mut chained = None;
        for (op, answer) in pending.ops.iter().zip(&pending.answers) {
            let outcome = Outcome {
                name: op.name,
                bytes: answer.bytes,
                // a chain's time is its first command's
                response: response.take(),
                refused,
                unanswered: false,
            };
            self.count(&outcome);
            let fid = match op.fid {
                op::CHAINED_FID => chained.unwrap_or(op.fid),
                fid => fid,
            };
            let usage = Use {
                tid: pending.tid,
                fid,
                begin: pending.begin,
                end,
                outcome,
                moved: op.is_data().then(|| self.place(op, fid)),
            };
            if let Some(opened) = answer.opened {
                chained = Some(opened.fid);
            }
            self.apply(op, answer, &usage, header);
        }
    }

    /// Where in its file a transfer's bytes are, and whether they were written.
    fn place(&self, op: &Op, fid: u16) -> (u64, bool) {
        let writes = op.what != What::Read;
        // a print job goes on where it was
        let offset = if op.known.offset && op.name.command != command::WRITE_PRINT_FILE {
            op.offset
        } else {
            self.files.next_offset(fid, writes)
        };
        (offset, writes)
    }

    fn apply(&mut self, op: &Op, answer: &op::Answer, usage: &Use, header: &Header) {
        if usage.outcome.refused {
            if self.files.is_open(usage.fid) && op.fid != op::CHAINED_FID {
                self.files.touch(usage);
            } else {
                self.files.count_around(&usage.outcome);
            }
            return;
        }
        match (&op.what, answer.opened) {
            (What::Open(name), Some(opened)) => {
                let usage = Use {
                    fid: opened.fid,
                    ..*usage
                };
                self.files.open(name.clone(), opened, &usage);
            }
            (What::TreeConnect(share), _) => {
                self.files.connect(header.tid.0, share.clone());
                self.files.count_around(&usage.outcome);
            }
            (What::Read | What::Write, _) => self.files.touch(usage),
            (What::Flush, _) if self.files.is_open(usage.fid) => self.files.touch(usage),
            (What::WriteAndClose, _) => {
                self.files.touch(usage);
                self.files.close(&Use {
                    moved: None,
                    ..*usage
                });
            }
            (What::Close, _) => self.files.close(usage),
            _ => self.files.count_apart(usage),
        }
    }

    fn count(&mut self, outcome: &Outcome) {
        self.mix.add(outcome);
        self.asked.0 += 1;
        let spent = outcome.response.unwrap_or_default();
        self.asked.1 = Span(self.asked.1.0.saturating_add(spent.0));
    }

    fn count_alone(&mut self, name: Name) {
        let outcome = Outcome {
            name,
            bytes: 0,
            response: None,
            refused: false,
            unanswered: false,
        };
        self.count(&outcome);
        self.files.count_around(&outcome);
    }

    fn abandon(&mut self, pending: &Pending) {
        for op in &pending.ops {
            let outcome = Outcome {
                name: op.name,
                bytes: 0,
                response: None,
                refused: false,
                unanswered: true,
            };
            self.count(&outcome);
            self.files.count_around(&outcome);
        }
    }

    /// The data of a raw write, which has no header; whether that is what `message` is.
    fn raw_data(&mut self, message: &Message<'_>, context: &Context<'_>) -> bool {
        let looks_smb = message.head.starts_with(&PROTOCOL);
        let Some(mut pending) = self.queue.take_raw_write(looks_smb, message.len) else {
            return false;
        };
        if let Some(op) = pending.ops.first() {
            self.label(op.name, LabelKind::Raw);
        }
        pending.carried(message.len);
        if let Some(op) = pending.ops.first()
            && pending.due != Due::Go
            && !op.write_through
        {
            let end = Mark {
                moment: message.end,
                spent: context.spent,
            };
            let header = pending.header;
            self.complete(&pending, false, end, &header);
        } else {
            pending.asked = message.end;
            pending.is_begun = false;
            self.queue.put_back(pending);
        }
        true
    }

    fn raw_read_done(&mut self, mut raw: Pending, message: &Message<'_>, spent: &Account) {
        self.facts.raw_reads.1 += u64::from(message.len == 0);
        if let Some(op) = raw.ops.first() {
            self.label(op.name, LabelKind::Raw);
        }
        raw.carried(message.len);
        let end = Mark {
            moment: message.end,
            spent: *spent,
        };
        let header = raw.header;
        self.complete(&raw, false, end, &header);
    }
}

/// What the answer to READ_ANDX has besides its data: header, 12 words, byte count, and the pad byte that servers put
/// before the data.
const USUAL_OVERHEAD: u64 = 60;
/// Longer answers are none to writes.
const LONGEST_EARLY: usize = 128;
