//! A request's way through its commands: AndX chains, statuses, parking.

use super::{
    Connection,
    call::{Call, Flow, Retry},
    dispatch,
    parked::Parked,
    reply::Reply,
};
use crate::{
    error::Result,
    handlers::transaction::Transaction,
    reason::{Because, Reason},
    session::SignedRequest,
    table::Ticket,
};
use alloc::{boxed::Box, vec::Vec};
use coax_wire::{
    block::{Block, BlockWriter},
    command,
    header::{Fid, HEADER_LEN, Header},
    status::Status,
    time::Time,
};

/// How far a request has come: kept while it is parked.
#[derive(Debug)]
pub(super) struct Progress {
    /// Header; `uid` and `tid` as earlier commands of the chain set them.
    pub header: Header,
    /// The command to run next.
    pub command: u8,
    /// Offset of its block in the message.
    pub offset: usize,
    /// The reply so far.
    pub reply: Reply,
    /// Offset in the reply of the last AndX head, to be linked to what follows.
    pub link: Option<usize>,
    /// The file the chain opened.
    pub chain_fid: Option<Fid>,
    /// When it arrived.
    pub arrived: Time,
    /// Its place in the signing sequence.
    pub signed: SignedRequest,
    /// What the parked command keeps for its next run.
    pub kept: Option<Box<Transaction>>,
    /// Commands served so far.
    pub served: usize,
}

/// The longest chain served. Clients chain four commands at most; each byte of a message could begin another.
const MAX_CHAIN: usize = 32;
/// AndX offsets have 16 bits: a block beyond this could not be found.
const MAX_OFFSET: usize = 0xffff;

/// What one command left to do.
enum Step {
    Next,
    Finish,
    Park(super::Park),
    Drop,
}

impl Connection {
    pub(super) fn handle_request(&mut self, now: Time, header: Header, message: &[u8]) {
        let (signed, right) = self.signing.receive(header.command, message);
        if !right {
            let reason = Reason::Signature;
            self.report_refusal(&header, None, Status::ACCESS_DENIED.because(reason));
            return self.send_error(&header, Status::ACCESS_DENIED, signed);
        }
        let progress = Progress {
            header,
            command: header.command,
            offset: HEADER_LEN,
            reply: Reply::begin(),
            link: None,
            chain_fid: None,
            arrived: now,
            signed,
            kept: None,
            served: 0,
        };
        if header.command == command::NT_CANCEL {
            return self.cancel(now, &header);
        }
        self.run(now, progress, message, None);
    }

    /// Runs the chain from where `progress` stands to its end, or until a command parks.
    pub(super) fn run(
        &mut self,
        now: Time,
        mut progress: Progress,
        message: &[u8],
        resumed: Option<(Ticket, Retry)>,
    ) {
        let mut resumed = resumed;
        loop {
            match self.step(now, &mut progress, message, resumed.take()) {
                Step::Next => {}
                Step::Finish => return self.finish(progress),
                Step::Park(park) => {
                    let parked = Parked::new(park, progress, Vec::from(message));
                    let Some(refused) = self.park(parked) else {
                        return;
                    };
                    resumed = Some((park.ticket, Retry::Cancelled));
                    progress = refused;
                }
                Step::Drop => return,
            }
        }
    }

    fn step(
        &mut self,
        now: Time,
        progress: &mut Progress,
        message: &[u8],
        resumed: Option<(Ticket, Retry)>,
    ) -> Step {
        let start = progress.reply.out.len();
        if progress.served > 0 && dispatch::stands_alone(progress.command) {
            progress.fail(start, Status::INVALID_SMB);
            return Step::Finish;
        }
        let reported = self.events.len();
        match self.serve(now, progress, message, resumed) {
            Ok((Flow::Done, next)) => progress.advance(start, next),
            Ok((Flow::DoneWith(status), _)) => {
                progress.reply.status = Some(status);
                progress.link_to(start);
                Step::Finish
            }
            Ok((Flow::Park(park), _)) => {
                progress.reply.out.truncate(start);
                Step::Park(park)
            }
            Ok((Flow::Silent, _)) => Step::Drop,
            Err(error) => {
                let header = Header {
                    command: progress.command,
                    ..progress.header
                };
                if self.events.len() == reported {
                    let block = Block::at(message, progress.offset).ok();
                    self.report_refusal(&header, block.as_ref(), error);
                }
                progress.fail(start, error.status());
                Step::Finish
            }
        }
    }

    /// Has the command's handler serve its block: how that went, and the next command with its block's offset.
    fn serve(
        &mut self,
        now: Time,
        progress: &mut Progress,
        message: &[u8],
        resumed: Option<(Ticket, Retry)>,
    ) -> Result<(Flow, Option<(u8, usize)>)> {
        let (ticket, retry) = resumed.unzip();
        let block = Block::at(message, progress.offset)?;
        let mut call = Call {
            conn: self,
            header: progress.header,
            block,
            now,
            reply: &mut progress.reply,
            chain_fid: progress.chain_fid,
            arrived: progress.arrived,
            ticket,
            retry,
            kept: progress.kept.take(),
        };
        let flow = dispatch::serve(progress.command, &mut call);
        progress.kept = call.kept.take();
        progress.header.command = call.header.command;
        let flow = flow?;
        progress.header = call.header;
        progress.chain_fid = call.chain_fid;
        Ok((flow, block.andx()))
    }
}

impl Progress {
    /// Links the finished block into the reply's chain and turns to the next command, if there is one.
    fn advance(&mut self, start: usize, next: Option<(u8, usize)>) -> Step {
        self.link_to(start);
        if !command::is_andx(self.command) {
            return Step::Finish;
        }
        let Some((command, offset)) = next else {
            return Step::Finish;
        };
        self.link = Some(start);
        self.served = self.served.saturating_add(1);
        if offset <= self.offset || self.served >= MAX_CHAIN {
            self.fail_unlinked(Status::INVALID_SMB);
            return Step::Finish;
        }
        if self.reply.out.len().saturating_add(self.reply.tail.len()) > MAX_OFFSET {
            self.fail_unlinked(Status::INSUFF_SERVER_RESOURCES);
            return Step::Finish;
        }
        self.reply.flatten();
        self.command = command;
        self.offset = offset;
        Step::Next
    }

    /// Patches the previous AndX head so that it names this command and where its block begins.
    fn link_to(&mut self, start: usize) {
        if let Some(previous) = self.link.take() {
            self.reply
                .out
                .patch(previous.saturating_add(1), &[self.command]);
            self.reply
                .out
                .patch_u16(previous.saturating_add(3), start as u16);
        }
    }

    /// Drops what the failed command wrote; an empty block takes its place.
    fn fail(&mut self, start: usize, status: Status) {
        self.reply.out.truncate(start);
        self.reply.tail = super::Tail::None;
        self.reply.more.clear();
        self.link_to(start);
        BlockWriter::begin(&mut self.reply.out).finish(0);
        self.reply.status = Some(status);
    }

    fn fail_unlinked(&mut self, status: Status) {
        self.reply.status = Some(status);
    }
}
