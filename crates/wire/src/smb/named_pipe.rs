//! TRANSACTION on named pipes ([MS-CIFS] 2.2.5) and on `\PIPE\LANMAN` (RAP) from the client's side.

use super::transaction::{Kind, Request};
use crate::{block::WireStr, header::Fid};

/// Subcommands: the first setup word.
pub mod function {
    /// TRANS_SET_NMPIPE_STATE.
    pub const SET_STATE: u16 = 0x0001;
    /// TRANS_QUERY_NMPIPE_STATE.
    pub const QUERY_STATE: u16 = 0x0021;
    /// TRANS_QUERY_NMPIPE_INFO.
    pub const QUERY_INFO: u16 = 0x0022;
    /// TRANS_PEEK_NMPIPE.
    pub const PEEK: u16 = 0x0023;
    /// TRANS_TRANSACT_NMPIPE: writes a message and reads the answer.
    pub const TRANSACT: u16 = 0x0026;
    /// TRANS_WAIT_NMPIPE.
    pub const WAIT: u16 = 0x0053;
    /// TRANS_CALL_NMPIPE: opens, transacts, closes.
    pub const CALL: u16 = 0x0054;
}

/// The transaction's name for everything that is done to an open pipe.
pub const NAME: &str = "\\PIPE\\";

/// The setup words: the function and the pipe.
pub const fn setup(function: u16, fid: Fid) -> [u8; 4] {
    let ([a, b], [c, d]) = (function.to_le_bytes(), fid.0.to_le_bytes());
    [a, b, c, d]
}

/// A request named `name` ([`NAME`], [`crate::rap::client::PIPE`], encoded): `max` is the parameter and data bytes that the
/// reply may have. RAP has no setup words.
pub const fn request<'a>(
    name: WireStr<'a>,
    setup: &'a [u8],
    parameters: &'a [u8],
    data: &'a [u8],
    max: (u32, u32),
) -> Request<'a> {
    Request {
        name,
        ..Request::whole(Kind::Transaction, setup, parameters, data, max)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::smb::testkit::{first, message};

    #[test]
    fn a_message_to_a_pipe_and_a_rap_call_come_back() {
        let transact = setup(function::TRANSACT, Fid(0x4003));
        assert_eq!(transact, *b"\x26\0\x03\x40");
        let oem = WireStr {
            raw: b"\\PIPE\\",
            unicode: false,
        };
        let wide = WireStr {
            raw: b"\\\0P\0",
            unicode: true,
        };
        for (request, unicode) in [
            (request(oem, &transact, &[], b"bind", (0, 4280)), false),
            (request(wide, &[], b"parameters", &[], (8, 4096)), true),
        ] {
            let sent = message(|out| request.emit(out));
            let parsed = Request::parse(Kind::Transaction, &first(&sent), unicode);
            assert_eq!(parsed, Ok(request));
        }
    }
}
