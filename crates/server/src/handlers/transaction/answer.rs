//! Answers of transaction handlers.

use crate::{
    context::{Call, Park},
    error::Result,
    transaction::Transaction,
};
use alloc::vec::Vec;
use coax_wire::status::Status;

/// The answer of a transaction's handler.
#[derive(Clone, Debug, Default)]
pub struct TransReply {
    /// Setup words as bytes.
    pub setup: Vec<u8>,
    /// Parameters.
    pub parameters: Vec<u8>,
    /// Data.
    pub data: Vec<u8>,
    /// `OK`, or a status that comes with an answer (`BUFFER_OVERFLOW`, `NOTIFY_ENUM_DIR` …). Statuses without an answer
    /// are returned as errors.
    pub status: Status,
}

impl TransReply {
    /// An answer of parameters and data.
    pub fn new(parameters: Vec<u8>, data: Vec<u8>) -> Self {
        Self {
            parameters,
            data,
            ..Self::default()
        }
    }

    /// An answer of parameters and data with a status.
    pub fn with_status(self, status: Status) -> Self {
        Self { status, ..self }
    }
}

/// How a transaction's handler ended if it did not fail.
#[derive(Debug)]
pub enum TransFlow {
    /// With an answer.
    Reply(TransReply),
    /// It waits and runs again later, with the same transaction and [`Call::retry`] set.
    Park(Park),
}

impl From<TransReply> for TransFlow {
    fn from(reply: TransReply) -> Self {
        Self::Reply(reply)
    }
}

/// A transaction's handler.
pub type Serve = fn(&mut Call<'_>, &Transaction) -> Result<TransFlow>;
