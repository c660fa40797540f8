//! Transactions: TRANSACTION, TRANSACTION2 and NT_TRANSACT. This module assembles them from their messages, dispatches
//! them through one table, and splits each answer to fit the client's buffer. [MS-CIFS] 3.3.5.29, 3.3.5.30, 3.3.5.36,
//! 3.3.5.37, 3.3.5.49, 3.3.5.50.

mod answer;
mod assembly;
mod routes;

pub use crate::transaction::Transaction;
pub use answer::{Serve, TransFlow, TransReply};
#[cfg(test)]
pub(crate) use routes::functions;

use crate::{
    context::{Call, Flow, Outcome, Reply},
    error::Because,
    reason::{Limit, Reason},
};
use alloc::boxed::Box;
use coax_wire::{
    io::Writer,
    smb::transaction::{Kind, Request, Response, flags},
    status::Status,
};

/// Smallest buffer that replies are split for: a smaller one could not hold any reply ([MS-CIFS] 2.2.4.53.1 requires
/// 1,024).
const SMALLEST_BUFFER: usize = 512;
/// Largest assembled transaction that may wait, bytes: about the size of a single message.
const MAX_KEPT: usize = 0x1_0000;

/// TRANSACTION.
pub fn transaction(call: &mut Call<'_>) -> Outcome {
    primary(call, Kind::Transaction)
}

/// TRANSACTION_SECONDARY.
pub fn transaction_secondary(call: &mut Call<'_>) -> Outcome {
    secondary(call, Kind::Transaction)
}

/// TRANSACTION2.
pub fn transaction2(call: &mut Call<'_>) -> Outcome {
    primary(call, Kind::Transaction2)
}

/// TRANSACTION2_SECONDARY.
pub fn transaction2_secondary(call: &mut Call<'_>) -> Outcome {
    secondary(call, Kind::Transaction2)
}

/// NT_TRANSACT.
pub fn nt_transact(call: &mut Call<'_>) -> Outcome {
    primary(call, Kind::NtTransact)
}

/// NT_TRANSACT_SECONDARY.
pub fn nt_transact_secondary(call: &mut Call<'_>) -> Outcome {
    secondary(call, Kind::NtTransact)
}

/// Serves a complete transaction; answers an incomplete one with an interim reply.
fn primary(call: &mut Call<'_>, kind: Kind) -> Outcome {
    let request = Request::parse(kind, &call.block, call.unicode())?;
    match assembly::begin(call, &request)? {
        Some(whole) => run(call, &whole),
        None => call.done_empty(),
    }
}

/// Takes a secondary message. Only the last one has an answer, which carries the first message's command.
fn secondary(call: &mut Call<'_>, kind: Kind) -> Outcome {
    if call.header.command == kind.secondary() {
        call.header.command = kind.command();
    }
    let whole = match call.kept.take() {
        Some(kept) => *kept,
        None => match assembly::add(call, kind)? {
            Some(whole) => whole,
            None => return Ok(Flow::Silent),
        },
    };
    let flow = run(call, &whole)?;
    if matches!(flow, Flow::Park(_)) {
        // The last secondary does not contain the transaction, so the parked request keeps it.
        if whole.len() > MAX_KEPT {
            return Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Transactions)));
        }
        call.kept = Some(Box::new(whole));
    }
    Ok(flow)
}

fn run(call: &mut Call<'_>, whole: &Transaction) -> Outcome {
    let serve = routes::find(whole)?;
    let served = serve(call, whole);
    if whole.flags & flags::DISCONNECT_TID != 0 && !matches!(served, Ok(TransFlow::Park(_))) {
        super::tree_connect::disconnect(call, call.header.tid);
    }
    let served = match served {
        Err(error) if call.nt_status() && is_warning(error.status()) => {
            TransReply::default().with_status(error.status()).into()
        }
        other => other?,
    };
    match served {
        TransFlow::Park(park) => Ok(Flow::Park(park)),
        TransFlow::Reply(_) if whole.flags & flags::NO_RESPONSE != 0 => Ok(Flow::Silent),
        TransFlow::Reply(reply) => Ok(answer(call, whole, reply)),
    }
}

/// Whether NT clients treat the status as a warning, which comes with a normal answer ([MS-ERREF] 2.3).
fn is_warning(status: Status) -> bool {
    status.0 >> 30 == 2
}

/// Truncates an answer to the client's limits and splits it into as many messages as needed. `BUFFER_OVERFLOW` reports
/// truncated data. Truncated parameters are not reported, because some clients ask for none where a function has some.
fn answer(call: &mut Call<'_>, whole: &Transaction, mut reply: TransReply) -> Flow {
    reply.parameters.truncate(whole.max_parameters);
    if reply.data.len() > whole.max_data {
        reply.data.truncate(whole.max_data);
        if reply.status == Status::OK {
            reply.status = Status::BUFFER_OVERFLOW;
        }
    }
    let max_message = call.client_buffer().max(SMALLEST_BUFFER);
    let mut pieces = Pieces {
        kind: whole.kind,
        reply: &reply,
        max_message,
        parameters: 0,
        data: 0,
    };
    pieces.put(call.out(), true);
    while !pieces.is_done() {
        let mut more = Reply::begin();
        pieces.put(&mut more.out, false);
        call.reply.more.push(more.out);
    }
    match reply.status {
        Status::OK => Flow::Done,
        status => Flow::DoneWith(status),
    }
}

/// The written part of an answer.
struct Pieces<'a> {
    kind: Kind,
    reply: &'a TransReply,
    max_message: usize,
    parameters: usize,
    data: usize,
}

impl Pieces<'_> {
    fn is_done(&self) -> bool {
        self.parameters >= self.reply.parameters.len() && self.data >= self.reply.data.len()
    }

    /// Appends the next message's block. The first block contains the setup words.
    fn put(&mut self, out: &mut Writer, first: bool) {
        let setup: &[u8] = if first { &self.reply.setup } else { &[] };
        let parameters = self.reply.parameters.get(self.parameters..).unwrap_or(&[]);
        let data = self.reply.data.get(self.data..).unwrap_or(&[]);
        let (some, more) = Response::fit(
            self.kind,
            out.len(),
            setup.len() / 2,
            self.max_message,
            parameters.len(),
            data.len(),
        );
        Response {
            kind: self.kind,
            total_parameters: self.reply.parameters.len() as u32,
            total_data: self.reply.data.len() as u32,
            setup,
            parameters: parameters.get(..some).unwrap_or(&[]),
            parameter_displacement: self.parameters as u32,
            data: data.get(..more).unwrap_or(&[]),
            data_displacement: self.data as u32,
        }
        .emit(out);
        self.parameters = self.parameters.saturating_add(some);
        self.data = self.data.saturating_add(more);
    }
}

#[cfg(test)]
#[path = "transaction/tests.rs"]
mod tests;
