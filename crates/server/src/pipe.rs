//! Named pipes of `IPC$`: message pipes to DCE/RPC services.
//!
//! A pipe collects bytes, splits them into PDUs by their length fields, and keeps the answers as messages until the
//! client reads them. The service only answers requests, so a read of an empty pipe does not wait.

mod association;
pub mod services;

use crate::{
    budget::{Account, Lease, Resource},
    error::{Because, Result},
    reason::{Limit, Reason},
};
use alloc::{collections::VecDeque, sync::Arc, vec::Vec};
use association::Association;
use coax_wire::status::Status;
use services::{Asker, Service};

/// The maximum unread bytes in a pipe. A client that writes without reading gets a busy error beyond it.
const MAX_UNREAD: usize = 1 << 20;

/// The state of a pipe for clients ([MS-CIFS] 2.2.1.3): message type, message read mode, blocking, client end,
/// unlimited instances.
pub const STATE: u16 = 0x05ff;
/// Bits of the state that the client may set: non-blocking, message read mode.
const SETTABLE: u16 = 0x8100;
/// Bit of the state: a read ends at the end of a message.
const MESSAGE_READ: u16 = 0x0100;

/// An open pipe.
#[derive(Debug)]
pub struct Pipe {
    service: Service,
    state: u16,
    association: Association,
    unread: VecDeque<Vec<u8>>,
    /// Bytes already read of the first message.
    read: usize,
    /// The memory reservation for its contents.
    room: Option<Lease>,
}

/// The memory overhead of an empty pipe, bytes.
const OVERHEAD: usize = 1_024;

/// The result of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes.
    pub data: Vec<u8>,
    /// More of the message follows.
    pub more: bool,
}

impl Piece {
    /// `BUFFER_OVERFLOW` if more of the message follows.
    pub fn status(&self) -> Status {
        if self.more {
            Status::BUFFER_OVERFLOW
        } else {
            Status::OK
        }
    }
}

impl Pipe {
    /// Opens a pipe to a service.
    pub fn new(service: Service) -> Self {
        Self {
            service,
            state: STATE,
            association: Association::new(service),
            unread: VecDeque::new(),
            read: 0,
            room: None,
        }
    }

    /// Reserves the memory of the current contents, or discards them on failure.
    ///
    /// # Errors
    /// `INSUFF_SERVER_RESOURCES`.
    pub fn reserve(&mut self, account: &Arc<Account>) -> Result<()> {
        let bytes = self.association.waiting().saturating_add(self.available());
        let bytes = bytes.saturating_add(OVERHEAD);
        let reserved = match &mut self.room {
            Some(room) => room.resize(bytes),
            none => account
                .lease(Resource::Memory, bytes)
                .map(|lease| *none = Some(lease)),
        };
        reserved.map_err(|_| {
            *self = Self::new(self.service);
            Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Memory))
        })
    }

    /// The service of the pipe.
    pub fn service(&self) -> Service {
        self.service
    }

    /// The state of the pipe.
    pub fn state(&self) -> u16 {
        self.state
    }

    /// Sets read mode and blocking.
    pub fn set_state(&mut self, state: u16) {
        self.state = (self.state & !SETTABLE) | (state & SETTABLE);
    }

    /// Accepts bytes from the client.
    ///
    /// # Errors
    /// `PIPE_BUSY` if too much data is unread; `PIPE_BROKEN` for data that is not DCE/RPC.
    pub fn write(&mut self, asker: &Asker<'_>, data: &[u8]) -> Result<()> {
        if self.available() > MAX_UNREAD {
            return Err(Status::PIPE_BUSY.into());
        }
        self.association.take(asker, data, &mut self.unread)
    }

    /// Reads up to `max` bytes: of one message, or in byte mode of all messages.
    ///
    /// # Errors
    /// `PIPE_EMPTY`.
    pub fn read(&mut self, max: usize) -> Result<Piece> {
        if self.unread.is_empty() {
            return Err(Status::PIPE_EMPTY.into());
        }
        let mut data = Vec::new();
        let mut more = false;
        while let Some(message) = self.unread.front() {
            let rest = message.get(self.read..).unwrap_or(&[]);
            let taken = rest.get(..max.saturating_sub(data.len())).unwrap_or(rest);
            data.extend_from_slice(taken);
            more = taken.len() < rest.len();
            if more {
                self.read = self.read.saturating_add(taken.len());
                break;
            }
            self.unread.pop_front();
            self.read = 0;
            if self.state & MESSAGE_READ != 0 {
                break;
            }
        }
        Ok(Piece {
            data,
            more: more && self.state & MESSAGE_READ != 0,
        })
    }

    /// Up to `max` bytes of the next message, which stays in the pipe.
    pub fn peek(&self, max: usize) -> &[u8] {
        let rest = self.next_message();
        rest.get(..max).unwrap_or(rest)
    }

    /// Remaining bytes of the next message.
    pub fn message_bytes(&self) -> usize {
        self.next_message().len()
    }

    /// Remaining bytes of all messages.
    pub fn available(&self) -> usize {
        let all: usize = self.unread.iter().map(Vec::len).sum();
        all.saturating_sub(self.read)
    }

    fn next_message(&self) -> &[u8] {
        let message = self.unread.front().map_or(&[][..], Vec::as_slice);
        message.get(self.read..).unwrap_or(&[])
    }
}

#[cfg(test)]
#[path = "pipe/tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
