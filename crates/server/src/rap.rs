//! The Remote Administration Protocol on `\PIPE\LANMAN`: Windows for Workgroups, 9x, LAN Manager and OS/2 use it to
//! list shares, servers and print queues. [MS-RAP] 3.2.5.
//!
//! Strings are OEM in every dialect. The client's descriptor determines the format of the records.

mod answer;
mod machine;
mod print;
mod shares;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Client};

use answer::words;

use alloc::vec::Vec;

use coax_wire::rap::{Request, code, function as f};

type Serve = fn(&Client<'_>, &Request<'_>) -> Result<Answer, u16>;

/// All supported functions.
const FUNCTIONS: &[(u16, Serve)] = &[
    (f::NET_SHARE_ENUM, shares::list),
    (f::NET_SHARE_GET_INFO, shares::info),
    (f::NET_SESSION_ENUM, machine::session_list),
    (f::NET_SESSION_GET_INFO, machine::session_info),
    (f::NET_SERVER_GET_INFO, machine::server_info),
    (f::NET_USER_GET_INFO, machine::user_info),
    (f::NET_WKSTA_GET_INFO, machine::wksta_info),
    (f::NET_WKSTA_USER_LOGON, machine::user_logon),
    (f::NET_WKSTA_USER_LOGOFF, machine::user_logoff),
    (f::NET_REMOTE_TOD, machine::remote_tod),
    (f::NET_SERVER_ENUM2, machine::server_list),
    (f::NET_SERVER_ENUM3, machine::server_list),
    (f::DOS_PRINT_Q_ENUM, print::list),
    (f::DOS_PRINT_Q_GET_INFO, print::info),
    (f::DOS_PRINT_JOB_ENUM, print::jobs),
];

/// Serves a call. Undecodable and unknown calls get an error code, because RAP has no other error reply.
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
