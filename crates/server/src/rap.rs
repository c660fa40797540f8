//! The Remote Administration Protocol: what Windows for Workgroups, 9x, LAN Manager and OS/2 ask on `\PIPE\LANMAN` to list
//! shares, servers and print queues. [MS-RAP] 3.2.5.
//!
//! Strings are OEM whatever the connection speaks. Records go out in the form that the client describes, as far as they
//! hold what it wants.

mod machine;
mod print;
mod shares;
#[cfg(test)]
mod tests;

use crate::{pipe::services::Asker, session::Session};
use alloc::vec::Vec;
use coax_wire::{
    io::Writer,
    rap::{Field, Packed, Request, code, descriptor, function as f, pack},
};

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// Of whom, and when.
    pub asker: Asker<'a>,
    /// The client's session.
    pub session: &'a Session,
    /// The name it gave of itself, or its address.
    pub name: &'a str,
}

impl Client<'_> {
    /// `text` in the clients' code page.
    fn text(&self, text: &str) -> Field {
        Field::Text(self.encode(text))
    }

    fn encode(&self, text: &str) -> Vec<u8> {
        self.asker.server.config.code_page.encode_lossy(text)
    }

    fn decode(&self, text: &[u8]) -> alloc::string::String {
        let page = self.asker.server.config.code_page;
        page.decode(text).into_owned()
    }

    /// The user's name as it is told: a guest's is GUEST.
    fn user(&self) -> &str {
        self.session.user.as_deref().unwrap_or("GUEST")
    }
}

/// What a call is answered: the transaction's parameters and data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Error code, converter, and what the call counts.
    pub parameters: Vec<u8>,
    /// Records.
    pub data: Vec<u8>,
}

type Serve = fn(&Client<'_>, &Request<'_>) -> Result<Answer, u16>;

/// Every function served.
const FUNCTIONS: &[(u16, Serve)] = &[
    (f::NET_SHARE_ENUM, shares::list),
    (f::NET_SHARE_GET_INFO, shares::info),
    (f::NET_SESSION_ENUM, machine::session_list),
    (f::NET_SESSION_GET_INFO, machine::session_info),
    (f::NET_SERVER_GET_INFO, machine::server_info),
    (f::NET_USER_GET_INFO, machine::user_info),
    (f::NET_WKSTA_GET_INFO, machine::wksta_info),
    (f::NET_WKSTA_USER_LOGON, machine::user_logon),
    (f::NET_REMOTE_TOD, machine::remote_tod),
    (f::NET_SERVER_ENUM2, machine::server_list),
    (f::NET_SERVER_ENUM3, machine::server_list),
    (f::DOS_PRINT_Q_ENUM, print::list),
    (f::DOS_PRINT_Q_GET_INFO, print::info),
    (f::DOS_PRINT_JOB_ENUM, print::jobs),
];

/// Serves a call. What cannot be decoded or is not known is answered with an error code: RAP has no other way.
pub fn serve(client: &Client<'_>, parameters: &[u8]) -> Answer {
    let answer = match Request::parse(parameters) {
        Err(_) => Err(code::INVALID_PARAMETER),
        Ok(request) => FUNCTIONS
            .iter()
            .find(|(function, _)| *function == request.function)
            .ok_or(code::NOT_SUPPORTED)
            .and_then(|(_, serve)| serve(client, &request)),
    };
    answer.unwrap_or_else(|code| Answer {
        parameters: words(&[code, 0, 0, 0]),
        data: Vec::new(),
    })
}

fn words(words: &[u16]) -> Vec<u8> {
    let mut out = Writer::default();
    words.iter().for_each(|&word| {
        out.u16(word);
    });
    out.into_vec()
}

/// Lays records out as the client's descriptor says, in its receive buffer.
///
/// # Errors
/// [`code::INVALID_PARAMETER`].
fn packed(request: &Request<'_>, records: &[Vec<Field>]) -> Result<Packed, u16> {
    let items = descriptor::parse(request.data).map_err(|_| code::INVALID_PARAMETER)?;
    let room = usize::from(request.receive_bytes.unwrap_or(u16::MAX));
    let packed = pack(&items, records, room);
    match packed.code {
        code::SUCCESS | code::MORE_DATA => Ok(packed),
        wrong => Err(wrong),
    }
}

/// The answer of calls that list: code, converter, records returned, records there are.
fn listed(request: &Request<'_>, records: &[Vec<Field>]) -> Result<Answer, u16> {
    let packed = packed(request, records)?;
    let available = records.len().min(usize::from(u16::MAX)) as u16;
    Ok(Answer {
        parameters: words(&[packed.code, 0, packed.entries, available]),
        data: packed.data,
    })
}

/// The answer of calls that ask for one record: code, converter, bytes it takes.
fn single(request: &Request<'_>, record: Vec<Field>) -> Result<Answer, u16> {
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
