//! Transaction requests.

use super::job::Context;
use crate::{
    calls::Request,
    error::{Error, Unfit},
};
use coax_wire::{
    block::WireStr,
    header::{HEADER_LEN, Mid},
    smb::{
        reassembly::Reassembly,
        transaction::{self, Kind},
    },
};

/// A transaction that fits into one message.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    pub kind: Kind,
    /// TRANS2's subcommand or NT_TRANSACT's function.
    pub function: u16,
    /// Further setup words of NT_TRANSACT.
    pub setup: &'a [u8],
    /// TRANSACTION's name.
    pub name: WireStr<'a>,
    pub parameters: &'a [u8],
    pub data: &'a [u8],
    /// Maximum number of parameter bytes in the reply.
    pub max_parameters: u32,
    /// Maximum number of data bytes in the reply.
    pub max_data: u32,
}

impl Transaction<'_> {
    /// A TRANS2 with this subcommand.
    pub fn trans2(function: u16) -> Self {
        Self {
            kind: Kind::Transaction2,
            function,
            setup: &[],
            name: WireStr {
                raw: &[],
                unicode: false,
            },
            parameters: &[],
            data: &[],
            max_parameters: 64,
            max_data: 0,
        }
    }

    /// The request.
    ///
    /// # Errors
    /// [`Unfit::NoRoom`] if it is larger than the server's buffer.
    pub fn request(&self, cx: &Context<'_>, part: u32) -> Result<Request, Error> {
        let mut request = Request::new(self.kind.command(), part);
        let subcommand = self.function.to_le_bytes();
        let setup = match self.kind {
            Kind::Transaction2 => &subcommand,
            _ => self.setup,
        };
        transaction::Request {
            kind: self.kind,
            total_parameters: self.parameters.len() as u32,
            total_data: self.data.len() as u32,
            max_parameters: self.max_parameters,
            max_data: self.max_data,
            max_setup: 0,
            flags: 0,
            timeout_ms: 0,
            function: self.function,
            setup,
            name: self.name,
            parameters: self.parameters,
            data: self.data,
        }
        .emit(&mut request.out);
        let most = (self.max_parameters as usize, self.max_data as usize);
        request.gathered = Some(Reassembly::new(most.0, most.1));
        let (needed, room) = (request.out.len(), cx.link.max_buffer as usize);
        if needed > room.max(HEADER_LEN) {
            return Err(Unfit::NoRoom { needed, room }.into());
        }
        Ok(request)
    }

    /// Sends it.
    ///
    /// # Errors
    /// [`Unfit::NoRoom`] if it is larger than the server's buffer.
    pub fn send(&self, cx: &mut Context<'_>, part: u32) -> Result<Mid, Error> {
        let request = self.request(cx, part)?;
        cx.send(request)
    }
}
