//! A reply as jobs see it.

use crate::error::Error;
use alloc::vec::Vec;
use coax_wire::{
    block::Block,
    command,
    header::{Header, Mid},
    smb::{read, read_andx, transaction},
    status::{Status, reply::ReplyStatus},
};

/// The most parameter and data bytes of a transaction's answer that are taken, each: what 16-bit totals can say.
const MAX_GATHERED: usize = 0x1_0000;

/// One message from the server.
#[derive(Debug)]
pub(crate) struct Reply<'m> {
    pub mid: Mid,
    /// The reply's own command; WRITE_COMPLETE ends what WRITE_RAW began.
    pub command: u8,
    pub status: Status,
    pub message: &'m [u8],
    /// Strings are UTF-16LE.
    pub unicode: bool,
    block: Option<Block<'m>>,
    /// The whole answer of a transaction.
    pub gathered: Gathered,
    header: Header,
}

impl<'m> Reply<'m> {
    pub fn parse(header: Header, message: &'m [u8], asked: u8) -> Result<Self, Error> {
        let block = Block::first(message).map_err(|what| Error::Nonsense {
            command: asked,
            what,
        })?;
        Ok(Self {
            mid: header.mid,
            command: header.command,
            status: ReplyStatus::of(&header).status(),
            message,
            unicode: header.unicode(),
            block: Some(block),
            gathered: Gathered::default(),
            header,
        })
    }

    /// The data of a raw read.
    pub fn raw(mid: Mid, message: &'m [u8]) -> Self {
        Self {
            mid,
            command: command::READ_RAW,
            status: Status::OK,
            message,
            unicode: false,
            block: None,
            gathered: Gathered::default(),
            header: Header::default(),
        }
    }

    /// Whether this is data without a header.
    pub fn is_bare(&self) -> bool {
        self.block.is_none()
    }

    /// Whether this asks for the data of a raw write.
    pub fn is_interim(&self) -> bool {
        self.command == command::WRITE_RAW && self.status.is_ok()
    }

    /// Whether a transaction's answer has its data: all of it, or as much as was wanted.
    pub fn is_whole_or_part(&self) -> bool {
        let more = [Status::BUFFER_OVERFLOW, Status::MORE_PROCESSING_REQUIRED];
        self.status.is_ok() || more.iter().any(|status| alike(self.status, *status))
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The reply's block, if it says that all went well.
    pub fn ok(&self) -> Result<Block<'m>, Error> {
        if self.status.is_ok() {
            self.any()
        } else {
            Err(self.refusal())
        }
    }

    /// The reply's block, whatever the status.
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

    /// Bytes that do not decode, as an error.
    pub fn nonsense(&self) -> impl Fn(coax_wire::Error) -> Error + use<> {
        let command = self.command;
        move |what| Error::Nonsense { command, what }
    }

    /// Bytes of file data it brought.
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

/// Whether two statuses mean the same, whichever form they came in.
pub(crate) fn alike(one: Status, other: Status) -> bool {
    one == other || one.dos() == other.dos()
}

/// The pieces of a transaction's answer, put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
    got_parameters: usize,
    got_data: usize,
}

impl Gathered {
    /// Takes a reply in; whether the answer is whole now.
    pub fn add(&mut self, command: u8, reply: &Reply<'_>) -> Result<bool, Error> {
        let nonsense = |what| Error::Nonsense { command, what };
        let kind =
            transaction::Kind::of(command).ok_or(Error::Protocol("a transaction's reply"))?;
        let Some(piece) = transaction::Response::parse(kind, &reply.any()?).map_err(nonsense)?
        else {
            return Ok(false);
        };
        let totals = (piece.total_parameters as usize, piece.total_data as usize);
        if totals.0 > MAX_GATHERED || totals.1 > MAX_GATHERED {
            return Err(Error::Protocol("a transaction's answer that is too long"));
        }
        let put = [
            place(
                &mut self.parameters,
                totals.0,
                piece.parameter_displacement,
                piece.parameters,
            ),
            place(
                &mut self.data,
                totals.1,
                piece.data_displacement,
                piece.data,
            ),
        ];
        if put.contains(&false) {
            return Err(Error::Protocol(
                "a transaction's answer with pieces outside it",
            ));
        }
        self.got_parameters = self.got_parameters.saturating_add(piece.parameters.len());
        self.got_data = self.got_data.saturating_add(piece.data.len());
        // Totals may shrink from one piece to the next ([MS-CIFS] 2.2.4.33.2).
        let whole = self.got_parameters >= totals.0 && self.got_data >= totals.1;
        if !whole && piece.parameters.is_empty() && piece.data.is_empty() {
            return Err(Error::Protocol(
                "a transaction's answer with an empty piece",
            ));
        }
        self.parameters.truncate(totals.0);
        self.data.truncate(totals.1);
        Ok(whole)
    }
}

fn place(into: &mut Vec<u8>, total: usize, at: u32, piece: &[u8]) -> bool {
    let at = at as usize;
    let end = at.saturating_add(piece.len());
    if end > total {
        return false;
    }
    if into.len() < end {
        into.resize(end, 0);
    }
    match into.get_mut(at..end) {
        Some(room) => {
            room.copy_from_slice(piece);
            true
        }
        None => false,
    }
}
