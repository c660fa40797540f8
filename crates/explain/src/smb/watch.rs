//! Shows each exchange to the record of slow operations.

use coax_wire::{
    block::Block,
    command,
    header::{Flags2, HEADER_LEN, Header},
    smb::locking_andx::{self, kind},
};

use super::{
    Smb,
    aim::Aim,
    files::Mark,
    kept::Kept,
    op::{self, Op, What},
    operations::{Observed, Target, is_conflict},
    pending::Pending,
    stretch::Exchange,
    subject::Subject,
};
use crate::report::OperationKind;
use crate::session::Message;

impl Smb {
    /// What the connection has to say of slow operations.
    pub(crate) fn take_observed(&mut self) -> Observed {
        self.operations.take()
    }

    /// What a request is about, if its time is told apart from data.
    pub(super) fn aim_of(
        op: &Op,
        header: &Header,
        bytes: &[u8],
        kept: &Kept<'_>,
    ) -> Option<Box<Aim>> {
        if op.is_data() {
            return None;
        }
        let block = Block::at(bytes, HEADER_LEN).ok()?;
        Aim::of(op.name, &block, header.unicode(), kept).map(Box::new)
    }

    /// The client asks: files that it closes, oplocks that it gives back and locks that it gives up.
    pub(super) fn watch_request(&mut self, op: &Op, aim: Option<&Aim>, bytes: &[u8], at: Mark) {
        match (&op.what, aim) {
            (What::Close | What::WriteAndClose, _) => {
                self.operations.give_back(op.fid, at, false);
                self.operations.note_level_two(op.fid, false);
                self.release(op.fid, at, true);
            }
            (_, Some(Aim::Unlock(fid))) => self.release(*fid, at, false),
            _ if op.name.command == command::LOCKING_ANDX => {
                let block = Block::at(bytes, HEADER_LEN);
                let request = block.and_then(|block| locking_andx::Request::parse(&block));
                if let Ok(request) = request
                    && request.is(kind::OPLOCK_RELEASE)
                {
                    let to_level_two = request.oplock_level == 1;
                    self.operations.give_back(request.fid.0, at, to_level_two);
                }
            }
            _ => {}
        }
    }

    fn release(&mut self, fid: u16, at: Mark, closes: bool) {
        let name = self.files.name(fid).map(str::to_owned);
        self.operations.unlock(fid, name, at, closes);
    }

    /// The server asks for an oplock.
    pub(super) fn watch_break(&mut self, message: &Message<'_>) {
        let block = Block::at(message.head, HEADER_LEN);
        let request = block.and_then(|block| locking_andx::Request::parse(&block));
        if let Ok(request) = request {
            let subject = self.about(OperationKind::OplockBreak, request.fid.0);
            let asked = Mark {
                moment: message.start,
                spent: message.mark,
            };
            self.operations.ask_back(request.fid.0, subject, asked);
        }
    }

    fn about(&self, kind: OperationKind, fid: u16) -> Subject {
        Subject {
            kind,
            name: self.files.name(fid).map(str::to_owned),
            share: self.files.share_of(fid),
        }
    }

    /// An exchange has ended.
    pub(super) fn watch(&mut self, pending: &Pending, refused: bool, end: Mark, header: &Header) {
        self.operations.count();
        let Some((op, answer)) = pending.ops.first().zip(pending.answers.first()) else {
            return;
        };
        if op.is_data() && self.operations.jobs.is_empty() {
            return;
        }
        let exchange = Exchange {
            name: op.name,
            begin: pending.begin,
            end,
            refused,
        };
        self.watch_trees(pending, header);
        let is_nt = header.flags2.has(Flags2::NT_STATUS);
        let conflict = refused && is_conflict(header.status, is_nt);
        match (&op.what, pending.aim.as_deref()) {
            (What::Read | What::Write, _) => self.watch_job(op, answer, &exchange),
            (What::TreeConnect(_), _) => self.operations.log_on(&exchange),
            _ if is_log_on(op) => self.operations.log_on(&exchange),
            (What::Open(name), _) => self.watch_open(pending, name, &exchange, conflict),
            (What::Close | What::WriteAndClose, _) => {
                self.watch_job(op, answer, &exchange);
                if let Some(job) = self.operations.jobs.end(op.fid) {
                    return self.operations.end_job(job, true);
                }
                self.watch_single(op, &exchange);
            }
            (_, Some(Aim::Lock { fid, offset })) => {
                self.watch_lock((*fid, *offset), &exchange, conflict);
            }
            (_, Some(Aim::List(_) | Aim::ListMore(_))) => self.watch_names(pending, &exchange),
            _ => self.watch_single(op, &exchange),
        }
    }

    /// Trees that are printers: the answer says so, or a core client did ([MS-CIFS] 2.2.4.50.1).
    fn watch_trees(&mut self, pending: &Pending, header: &Header) {
        for (op, answer) in pending.ops.iter().zip(&pending.answers) {
            if matches!(op.what, What::TreeConnect(_)) {
                let jobs = &mut self.operations.jobs;
                jobs.note_tree(header.tid.0, answer.is_printer);
            }
        }
    }

    fn watch_job(&mut self, op: &Op, answer: &op::Answer, exchange: &Exchange) {
        self.operations.jobs.add(op.fid, exchange, answer.bytes);
    }

    fn watch_open(&mut self, pending: &Pending, name: &str, exchange: &Exchange, conflict: bool) {
        let opened = pending.answers.first().and_then(|answer| answer.opened);
        let opened = opened.filter(|_| !exchange.refused);
        let is_job = exchange.name.command == command::OPEN_PRINT_FILE
            || self.operations.jobs.is_printer(pending.tid);
        let subject = |kind| Subject {
            kind,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            share: self.files.share(pending.tid),
        };
        let subject = subject(match is_job {
            true => OperationKind::PrintJob,
            false => OperationKind::Open,
        });
        if let Some(opened) = opened
            && is_job
        {
            return self.operations.jobs.begin(opened.fid, subject, exchange);
        }
        if let Some(opened) = opened {
            let operations = &mut self.operations;
            operations.note_level_two(opened.fid, opened.has_level_two);
        }
        let target = Target::Open(pending.tid, name.to_owned());
        let operations = &mut self.operations;
        operations.try_for(target, subject, exchange, conflict);
    }

    fn watch_lock(&mut self, (fid, offset): (u16, u64), exchange: &Exchange, conflict: bool) {
        if !exchange.refused {
            self.operations.lock(fid);
        }
        let subject = self.about(OperationKind::Lock, fid);
        let target = Target::Lock(fid, offset);
        let operations = &mut self.operations;
        operations.try_for(target, subject, exchange, conflict);
    }

    fn watch_names(&mut self, pending: &Pending, exchange: &Exchange) {
        let names = pending.answers.first().and_then(|answer| answer.names);
        let count = names.map_or(0, |names| names.count.into());
        let is_end = exchange.refused || names.is_some_and(|names| names.is_end);
        let number = match pending.aim.as_deref() {
            Some(Aim::List(pattern)) => {
                let subject = Subject {
                    kind: OperationKind::Listing,
                    name: pattern.clone(),
                    share: self.files.share(pending.tid),
                };
                let number = (pending.tid, names.and_then(|names| names.sid));
                self.operations.list(subject, number, exchange, count);
                number
            }
            Some(Aim::ListMore(sid)) => {
                let number = (pending.tid, *sid);
                self.operations.list_more(number, exchange, count);
                number
            }
            _ => return,
        };
        if is_end {
            self.operations.end_list(number);
        }
    }

    /// A request that belongs to nothing else. Those that wait for an event may take as long as they like.
    fn watch_single(&mut self, op: &Op, exchange: &Exchange) {
        if op.name.waits() && op.name.command != command::LOCKING_ANDX {
            return;
        }
        let subject = Subject {
            kind: OperationKind::Request,
            name: self.files.name(op.fid).map(str::to_owned),
            share: self.files.share_of(op.fid),
        };
        self.operations.single(subject, exchange);
    }

    /// A request was not answered until the capture or the connection ended.
    pub(super) fn watch_unanswered(&mut self, pending: &Pending, end: Mark) {
        let Some(op) = pending.ops.first() else {
            return;
        };
        let (kind, name) = match (&op.what, pending.aim.as_deref()) {
            _ if is_log_on(op) || matches!(op.what, What::TreeConnect(_)) => {
                return self.operations.end_log_on(Some(end));
            }
            (What::Open(name), _) => (OperationKind::Open, Some(name.clone())),
            (_, Some(Aim::Lock { fid, .. })) => {
                let name = self.files.name(*fid);
                (OperationKind::Lock, name.map(str::to_owned))
            }
            (_, Some(Aim::List(pattern))) => (OperationKind::Listing, pattern.clone()),
            _ if op.is_data() || op.name.waits() => return,
            _ => (OperationKind::Request, None),
        };
        let subject = Subject {
            kind,
            name,
            share: self.files.share(pending.tid),
        };
        let exchange = Exchange {
            name: op.name,
            begin: pending.begin,
            end,
            refused: false,
        };
        self.operations.unanswered(subject, &exchange);
    }
}

fn is_log_on(op: &Op) -> bool {
    matches!(
        op.name.command,
        command::NEGOTIATE | command::SESSION_SETUP_ANDX
    )
}
