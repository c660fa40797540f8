//! Runs the commands of a request: AndX chains, statuses, parking.

use super::{
    Call, Context, Flow, Retry,
    progress::{Parked, Progress, Step},
    reply::Reply,
};
use crate::{
    error::{Because, Result},
    reason::Reason,
    table::Ticket,
};
use alloc::vec::Vec;
use coax_wire::{
    block::Block,
    command,
    header::{HEADER_LEN, Header},
    status::Status,
    time::Time,
};

impl Context {
    pub fn handle_request(&mut self, now: Time, header: Header, message: &[u8]) {
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

    /// Runs the chain from `progress` to its end, or until a command parks.
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
        if progress.served > 0 && command::stands_alone(progress.command) {
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

    /// Runs the handler on the command's block. Returns its outcome, and the next command with its block's offset.
    fn serve(
        &mut self,
        now: Time,
        progress: &mut Progress,
        message: &[u8],
        resumed: Option<(Ticket, Retry)>,
    ) -> Result<(Flow, Option<(u8, usize)>)> {
        let (ticket, retry) = resumed.unzip();
        let block = Block::at(message, progress.offset)?;
        let dispatch = self.dispatch;
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
        let flow = (dispatch.0)(progress.command, &mut call);
        progress.kept = call.kept.take();
        progress.header.command = call.header.command;
        let flow = flow?;
        progress.header = call.header;
        progress.chain_fid = call.chain_fid;
        Ok((flow, block.andx()))
    }
}
