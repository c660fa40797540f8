//! The caller, and the forms of answers.

use crate::{pipe::services::Asker, session::Session};
use alloc::vec::Vec;
use coax_wire::{
    io::Writer,
    rap::{Field, Packed, Request, code, descriptor, pack},
};

/// The client that makes the call.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// The server, and the time.
    pub asker: Asker<'a>,
    /// The client's session.
    pub session: &'a Session,
    /// The NetBIOS name that the client gave, or its address.
    pub name: &'a str,
}

impl Client<'_> {
    /// Encodes `text` in the clients' code page.
    pub(super) fn text(&self, text: &str) -> Field {
        Field::Text(self.encode(text))
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u8> {
        self.asker.server.config.code_page.encode_lossy(text)
    }

    pub(super) fn decode(&self, text: &[u8]) -> alloc::string::String {
        let page = self.asker.server.config.code_page;
        page.decode(text).into_owned()
    }

    /// The user name in answers: GUEST for a guest.
    pub(super) fn user(&self) -> &str {
        self.session.user.as_deref().unwrap_or("GUEST")
    }
}

/// The answer of a call: the transaction's parameters and data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Error code, converter and counts.
    pub parameters: Vec<u8>,
    /// Records.
    pub data: Vec<u8>,
}

pub(super) fn words(words: &[u16]) -> Vec<u8> {
    let mut out = Writer::default();
    words.iter().for_each(|&word| {
        out.u16(word);
    });
    out.into_vec()
}

/// Packs records into the client's receive buffer, in the format of its descriptor.
///
/// # Errors
/// [`code::INVALID_PARAMETER`].
pub(super) fn packed(request: &Request<'_>, records: &[Vec<Field>]) -> Result<Packed, u16> {
    let items = descriptor::parse(request.data).map_err(|_| code::INVALID_PARAMETER)?;
    let room = usize::from(request.receive_bytes.unwrap_or(u16::MAX));
    let packed = pack(&items, records, room);
    match packed.code {
        code::SUCCESS | code::MORE_DATA => Ok(packed),
        wrong => Err(wrong),
    }
}

/// The answer of list calls: code, converter, records returned, records available.
pub(super) fn listed(request: &Request<'_>, records: &[Vec<Field>]) -> Result<Answer, u16> {
    let packed = packed(request, records)?;
    let available = records.len().min(usize::from(u16::MAX)) as u16;
    Ok(Answer {
        parameters: words(&[packed.code, 0, packed.entries, available]),
        data: packed.data,
    })
}

/// The answer of calls for one record: code, converter, size in bytes.
pub(super) fn single(request: &Request<'_>, record: Vec<Field>) -> Result<Answer, u16> {
    let packed = packed(request, &[record])?;
    let needed = packed.needed.min(usize::from(u16::MAX)) as u16;
    let code = match packed.entries {
        0 => code::BUF_TOO_SMALL,
        _ => code::SUCCESS,
    };
    Ok(Answer {
        parameters: words(&[code, 0, needed]),
        data: packed.data,
    })
}
