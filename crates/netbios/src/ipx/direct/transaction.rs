//! Transactions of several messages. On a connectionless transport each message has its answer: a secondary request an
//! interim response, and a further response is asked for by an empty secondary request.

use alloc::vec::Vec;

use coax_wire::block::Block;
use coax_wire::header::{Flags, Header};
use coax_wire::io::Writer;
use coax_wire::smb::transaction::{Kind, Request, Response, Secondary};

/// What is missing of a transaction: parameters and data, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) kind: Kind,
    parameters: u32,
    data: u32,
}

impl Missing {
    fn of(kind: Kind, total: (u32, u32), have: (usize, usize)) -> Self {
        let rest =
            |total: u32, have: usize| total.saturating_sub(u32::try_from(have).unwrap_or(u32::MAX));
        Self {
            kind,
            parameters: rest(total.0, have.0),
            data: rest(total.1, have.1),
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.parameters == 0 && self.data == 0
    }

    /// What is missing after the first request of a transaction; `None`: it is none.
    pub(super) fn after_request(command: u8, message: &[u8]) -> Option<Self> {
        let kind = Kind::of(command).filter(|kind| kind.command() == command)?;
        let block = Block::first(message).ok()?;
        let request = Request::parse(kind, &block, false).ok()?;
        let total = (request.total_parameters, request.total_data);
        let have = (request.parameters.len(), request.data.len());
        Some(Self::of(kind, total, have))
    }

    /// What is missing after a response; `None`: it is none, or an error, or interim.
    pub(super) fn after_response(command: u8, message: &[u8]) -> Option<Self> {
        let kind = Kind::of(command).filter(|kind| kind.command() == command)?;
        let block = Block::first(message).ok()?;
        let response = Response::parse(kind, &block).ok()??;
        let total = (response.total_parameters, response.total_data);
        let have = (response.parameters.len(), response.data.len());
        Some(Self::of(kind, total, have))
    }

    /// A further message of the same transaction.
    pub(super) fn reduce(&mut self, parameters: usize, data: usize) {
        let rest = Self::of(self.kind, (self.parameters, self.data), (parameters, data));
        *self = rest;
    }

    /// A further response of the same transaction.
    pub(super) fn reduce_by_response(&mut self, message: &[u8]) {
        let block = Block::first(message).ok();
        let response = block.and_then(|block| Response::parse(self.kind, &block).ok()?);
        match response {
            Some(response) => self.reduce(response.parameters.len(), response.data.len()),
            // An error ends it.
            None => (self.parameters, self.data) = (0, 0),
        }
    }
}

/// Bytes of parameters and data in a secondary request; `None`: it is none.
pub(super) fn secondary(command: u8, message: &[u8]) -> Option<(usize, usize)> {
    let kind = Kind::of(command).filter(|kind| kind.secondary() == command)?;
    let block = Block::first(message).ok()?;
    let secondary = Secondary::parse(kind, &block).ok()?;
    Some((secondary.parameters.len(), secondary.data.len()))
}

/// The empty secondary request that asks for the next response after `response`.
pub(super) fn ask_for_more(kind: Kind, response: &[u8]) -> Option<Vec<u8>> {
    let mut header = Header::parse(response).ok()?;
    header.command = kind.secondary();
    header.status = 0;
    header.flags = Flags(header.flags.0 & !Flags::REPLY);
    let mut out = Writer::default();
    header.emit(&mut out);
    Secondary {
        kind,
        total_parameters: 0,
        total_data: 0,
        parameters: &[],
        parameter_displacement: 0,
        data: &[],
        data_displacement: 0,
    }
    .emit(&mut out);
    Some(out.into_vec())
}
