//! A decoded reply for jobs.

use crate::error::Error;
use coax_wire::{
    block::Block,
    command,
    header::Header,
    smb::{read, read_andx, reassembly::Whole},
    status::{Status, reply::ReplyStatus},
};

/// One message from the server.
#[derive(Debug)]
pub(crate) struct Reply<'m> {
    /// The reply's command; WRITE_COMPLETE is the final reply of WRITE_RAW.
    pub command: u8,
    pub status: Status,
    pub message: &'m [u8],
    /// Strings are UTF-16LE.
    pub unicode: bool,
    block: Option<Block<'m>>,
    /// The complete reply of a transaction.
    pub gathered: Whole,
    header: Header,
}

impl<'m> Reply<'m> {
    pub fn parse(header: Header, message: &'m [u8], asked: u8) -> Result<Self, Error> {
        let block = Block::first(message).map_err(|what| Error::Nonsense {
            command: asked,
            what,
        })?;
        Ok(Self {
            command: header.command,
            status: ReplyStatus::of(&header).status(),
            message,
            unicode: header.unicode(),
            block: Some(block),
            gathered: Whole::default(),
            header,
        })
    }

    /// The data of a raw read.
    pub fn raw(message: &'m [u8]) -> Self {
        Self {
            command: command::READ_RAW,
            status: Status::OK,
            message,
            unicode: false,
            block: None,
            gathered: Whole::default(),
            header: Header::default(),
        }
    }

    /// Whether this is data without a header.
    pub fn is_bare(&self) -> bool {
        self.block.is_none()
    }

    /// Whether this is the interim response that requests the data of a raw write.
    pub fn is_interim(&self) -> bool {
        self.command == command::WRITE_RAW && self.status.is_ok()
    }

    /// Whether a transaction's reply contains its data, completely or up to the requested size.
    pub fn is_whole_or_part(&self) -> bool {
        let more = [Status::BUFFER_OVERFLOW, Status::MORE_PROCESSING_REQUIRED];
        self.status.is_ok() || more.iter().any(|status| same_status(self.status, *status))
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The reply's block, if the status is success.
    pub fn ok(&self) -> Result<Block<'m>, Error> {
        if self.status.is_ok() {
            self.any()
        } else {
            Err(self.refusal())
        }
    }

    /// The reply's block with any status.
    pub fn any(&self) -> Result<Block<'m>, Error> {
        self.block
            .ok_or(Error::Protocol("data where a reply belongs"))
    }

    /// The status as an error.
    pub fn refusal(&self) -> Error {
        Error::Refused {
            command: self.command,
            status: ReplyStatus::of(&self.header),
        }
    }

    /// Converts a decoding error.
    pub fn nonsense(&self) -> impl Fn(coax_wire::Error) -> Error + use<> {
        let command = self.command;
        move |what| Error::Nonsense { command, what }
    }

    /// Bytes of file data in the reply.
    pub fn moved(&self) -> u32 {
        let Some(block) = self.block.as_ref().filter(|_| self.status.is_ok()) else {
            return 0;
        };
        let data = match self.command {
            command::READ | command::LOCK_AND_READ => read::Response::parse(block).map(|r| r.data),
            command::READ_ANDX => read_andx::Response::parse(block).map(|r| r.data),
            _ => return 0,
        };
        data.map_or(0, |range| range.len() as u32)
    }
}

/// Whether two statuses are equal, in either form.
pub(crate) fn same_status(one: Status, other: Status) -> bool {
    one == other || one.dos() == other.dos()
}
