//! RAP, the Remote Administration Protocol ([MS-RAP]): LAN Manager's calls as parameters of a TRANSACTION on
//! `\PIPE\LANMAN`.
//!
//! A request contains two descriptors: one of its own parameters, and one of the requested records. Both are untrusted:
//! [`Request::parse`] applies the first within the available bytes, and [`pack`] formats records with the second as
//! long as it matches their contents.

pub mod client;
pub mod descriptor;
mod pack;

pub use descriptor::Item;
pub use pack::{Field, Packed, pack};

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Function numbers ([MS-RAP] 2.5.1; those of printing from the LAN Manager API).
pub mod function {
    /// NetShareEnum.
    pub const NET_SHARE_ENUM: u16 = 0;
    /// NetShareGetInfo.
    pub const NET_SHARE_GET_INFO: u16 = 1;
    /// NetSessionEnum.
    pub const NET_SESSION_ENUM: u16 = 6;
    /// NetSessionGetInfo.
    pub const NET_SESSION_GET_INFO: u16 = 7;
    /// NetServerGetInfo.
    pub const NET_SERVER_GET_INFO: u16 = 13;
    /// NetUserGetInfo.
    pub const NET_USER_GET_INFO: u16 = 56;
    /// NetWkstaGetInfo.
    pub const NET_WKSTA_GET_INFO: u16 = 63;
    /// DosPrintQEnum.
    pub const DOS_PRINT_Q_ENUM: u16 = 69;
    /// DosPrintQGetInfo.
    pub const DOS_PRINT_Q_GET_INFO: u16 = 70;
    /// DosPrintJobEnum.
    pub const DOS_PRINT_JOB_ENUM: u16 = 76;
    /// NetRemoteTOD.
    pub const NET_REMOTE_TOD: u16 = 91;
    /// NetServerEnum2.
    pub const NET_SERVER_ENUM2: u16 = 104;
    /// NetWkstaUserLogon.
    pub const NET_WKSTA_USER_LOGON: u16 = 132;
    /// NetWkstaUserLogoff.
    pub const NET_WKSTA_USER_LOGOFF: u16 = 133;
    /// NetServerEnum3.
    pub const NET_SERVER_ENUM3: u16 = 215;
}

/// Win32 and LAN Manager error codes of replies ([MS-RAP] 2.5.4).
pub mod code {
    /// No error.
    pub const SUCCESS: u16 = 0;
    /// Access denied.
    pub const ACCESS_DENIED: u16 = 5;
    /// Not supported.
    pub const NOT_SUPPORTED: u16 = 50;
    /// A parameter, or a descriptor, is not legal.
    pub const INVALID_PARAMETER: u16 = 87;
    /// No such information level.
    pub const INVALID_LEVEL: u16 = 124;
    /// The data exceeds the receive buffer.
    pub const MORE_DATA: u16 = 234;
    /// Not even one record fits into the receive buffer.
    pub const BUF_TOO_SMALL: u16 = 2123;
    /// No such share.
    pub const NET_NAME_NOT_FOUND: u16 = 2310;
    /// No such print queue.
    pub const Q_NOT_FOUND: u16 = 2150;
    /// No such user.
    pub const USER_NOT_FOUND: u16 = 2221;
    /// No session of that client.
    pub const CLIENT_NAME_NOT_FOUND: u16 = 2312;
}

/// A parameter of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// 16 bits.
    Word(u16),
    /// 32 bits.
    Dword(u32),
    /// Bytes of a fixed number.
    Bytes(&'a [u8]),
    /// A string, without its zero.
    Text(&'a [u8]),
    /// A null pointer to a string.
    Null,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Function number ([`function`]).
    pub function: u16,
    /// Descriptor of the parameters, as sent.
    pub parameters: &'a [u8],
    /// Descriptor of the records wanted, as sent.
    pub data: &'a [u8],
    /// The parameters, in order, without the lengths of buffers.
    pub values: Vec<Value<'a>>,
    /// Bytes of the client's receive buffer, if the call has one.
    pub receive_bytes: Option<u16>,
    /// Descriptor of the auxiliary records, if one follows the parameters.
    pub auxiliary: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes the transaction's parameters.
    ///
    /// # Errors
    /// [`Error::Short`] if the bytes end before the descriptor does; [`Error::Value`] for a descriptor that no call has.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        let function = r.u16("RAP function")?;
        let parameters = text(&mut r, "RAP parameter descriptor")?;
        let data = text(&mut r, "RAP data descriptor")?;
        let mut request = Self {
            function,
            parameters,
            data,
            values: Vec::new(),
            receive_bytes: None,
            auxiliary: &[],
        };
        for item in descriptor::parse(parameters)? {
            request.take(item, &mut r)?;
        }
        let rest = r.rest();
        request.auxiliary = rest.split(|&byte| byte == 0).next().unwrap_or(rest);
        Ok(request)
    }

    fn take(&mut self, item: Item, r: &mut Reader<'a>) -> Result<()> {
        let value = match item {
            Item::Word => Value::Word(r.u16("RAP word")?),
            Item::Dword => Value::Dword(r.u32("RAP double word")?),
            Item::Bytes(n) | Item::BytesPointer(n) => {
                Value::Bytes(r.take(usize::from(n), "RAP bytes")?)
            }
            Item::Text => Value::Text(text(r, "RAP string")?),
            Item::Null => Value::Null,
            Item::ReceiveLength => {
                self.receive_bytes = Some(r.u16("RAP receive buffer length")?);
                return Ok(());
            }
            Item::SendLength | Item::ParameterNumber => {
                Value::Word(r.u16("RAP send buffer length")?)
            }
            Item::Returned | Item::Count => return Ok(()),
        };
        self.values.push(value);
        Ok(())
    }

    /// The first word: the information level of most calls.
    pub fn level(&self) -> Option<u16> {
        self.values.iter().find_map(|value| match value {
            Value::Word(word) => Some(*word),
            _ => None,
        })
    }

    /// The string at `index` among the strings and null pointers.
    pub fn text(&self, index: usize) -> Option<&'a [u8]> {
        let mut texts = self.values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(Some(*text)),
            Value::Null => Some(None),
            _ => None,
        });
        texts.nth(index).flatten()
    }

    /// The first double word.
    pub fn dword(&self) -> Option<u32> {
        self.values.iter().find_map(|value| match value {
            Value::Dword(dword) => Some(*dword),
            _ => None,
        })
    }
}

/// Writes a request's parameters up to where the values follow.
pub fn emit_request(function: u16, parameters: &str, data: &str, out: &mut Writer) {
    out.u16(function).bytes(parameters.as_bytes()).u8(0);
    out.bytes(data.as_bytes()).u8(0);
}

fn text<'a>(r: &mut Reader<'a>, what: &'static str) -> Result<&'a [u8]> {
    let rest = r.rest();
    let len = rest
        .iter()
        .position(|&byte| byte == 0)
        .ok_or(Error::Short { what })?;
    let text = r.take(len, what)?;
    r.u8(what)?;
    Ok(text)
}

#[cfg(test)]
#[path = "tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
