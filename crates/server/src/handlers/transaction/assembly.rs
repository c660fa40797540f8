//! Assembles transactions from messages in any order.

use crate::{
    budget::{Lease, Resource},
    context::{Call, Context},
    error::{Because, Result},
    reason::{Limit, Reason},
    transaction::{Key, OVERHEAD, Pending, Transaction, size},
};
use alloc::{vec, vec::Vec};
use coax_wire::{
    smb::transaction::{Kind, Request, Secondary},
    status::Status,
};

/// Takes a transaction's first message: returns a complete transaction, or keeps an incomplete one.
///
/// # Errors
/// `INVALID_SMB` for inconsistent counts; `INSUFF_SERVER_RESOURCES` above the connection's limit.
pub(super) fn begin(call: &mut Call<'_>, request: &Request<'_>) -> Result<Option<Transaction>> {
    let limit = call.conn.server.config.limits.transaction_bytes;
    let (parameters, data) = (size(request.total_parameters), size(request.total_data));
    if request.parameters.len() > parameters || request.data.len() > data {
        return Err(Status::INVALID_SMB.into());
    }
    if parameters.saturating_add(data) > limit {
        return Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Transactions)));
    }
    let key = Key::of(request.kind, &call.header);
    call.conn.transactions.retain(|other| !other.has_key(key));
    let came_whole = (request.parameters.len(), request.data.len()) == (parameters, data);
    let lease = match came_whole {
        true => None,
        false => Some(reserve(call, parameters.saturating_add(data))?),
    };
    let whole = whole(call, request, parameters, data);
    let waiting = &mut call.conn.transactions;
    match Pending::begin(key, lease, whole, request)?.complete() {
        Ok(whole) => Ok(Some(whole)),
        Err(pending) => {
            waiting.push(*pending);
            make_room(waiting, limit);
            Ok(None)
        }
    }
}

/// Reserves memory for an incomplete transaction of `bytes` bytes.
fn reserve(call: &Call<'_>, bytes: usize) -> Result<Lease> {
    let lease = call
        .conn
        .account
        .lease(Resource::Memory, bytes.saturating_add(OVERHEAD));
    lease.map_err(|_| Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Memory)))
}

/// Takes a secondary message: returns the transaction if it is complete.
///
/// # Errors
/// `INVALID_SMB` for inconsistent counts, which discards the transaction, and for a message without a matching
/// transaction.
pub(super) fn add(call: &mut Call<'_>, kind: Kind) -> Result<Option<Transaction>> {
    let mut pending = take(call.conn, Key::of(kind, &call.header)).ok_or(Status::INVALID_SMB)?;
    let piece = Secondary::parse(kind, &call.block)?;
    pending.take(&piece)?;
    match pending.complete() {
        Ok(whole) => Ok(Some(whole)),
        Err(pending) => {
            call.conn.transactions.push(*pending);
            Ok(None)
        }
    }
}

/// Discards the least recently used transactions until the rest is within the limit: clients do not report that they
/// gave up.
fn make_room(waiting: &mut Vec<Pending>, limit: usize) {
    let mut held: usize = waiting.iter().map(Pending::cost).sum();
    while held > limit && waiting.len() > 1 {
        held = held.saturating_sub(waiting.remove(0).cost());
    }
}

fn take(conn: &mut Context, key: Key) -> Option<Pending> {
    let index = conn
        .transactions
        .iter()
        .position(|pending| pending.has_key(key))?;
    Some(conn.transactions.remove(index))
}

fn whole(call: &Call<'_>, request: &Request<'_>, parameters: usize, data: usize) -> Transaction {
    Transaction {
        kind: request.kind,
        name: call.text(request.name),
        function: request.function,
        setup: request.setup.into(),
        parameters: vec![0; parameters],
        data: vec![0; data],
        max_parameters: size(request.max_parameters),
        max_data: size(request.max_data),
        flags: request.flags,
        unicode: call.unicode(),
    }
}
