//! Which data bytes of a block may be shown to people.
//!
//! The only place that decides which bytes are secret: passwords, challenge responses, and tokens. Logs and traces that
//! print bytes call [`shown_bytes`]. [`super::summary`] shows only the length of a secret.

use super::transaction::{Kind, Request};
use crate::{block::Block, command as code, io::Reader, rap::function as rap};

/// The first bytes of every NTLMSSP message ([MS-NLMP] 2.2.1).
const NTLMSSP: &[u8] = b"NTLMSSP\0";

/// RAP functions without a password. Other functions change or check one.
const RAP_WITHOUT_PASSWORD: &[u16] = &[
    rap::NET_SHARE_ENUM,
    rap::NET_SHARE_GET_INFO,
    rap::NET_SESSION_ENUM,
    rap::NET_SESSION_GET_INFO,
    rap::NET_SERVER_GET_INFO,
    rap::NET_USER_GET_INFO,
    rap::NET_WKSTA_GET_INFO,
    rap::DOS_PRINT_Q_ENUM,
    rap::DOS_PRINT_Q_GET_INFO,
    rap::DOS_PRINT_JOB_ENUM,
    rap::NET_REMOTE_TOD,
    rap::NET_SERVER_ENUM2,
    rap::NET_SERVER_ENUM3,
];

/// How many leading data bytes of a block may be shown; the rest is secret. The block belongs to a request or to a
/// reply.
pub fn shown_bytes(command: u8, block: &Block<'_>) -> usize {
    let withheld = match command {
        code::SESSION_SETUP_ANDX | code::TREE_CONNECT | code::TREE_CONNECT_ANDX => true,
        // It may carry the rest of a password change.
        code::TRANSACTION_SECONDARY => true,
        code::TRANSACTION => may_carry_password(block),
        _ => false,
    };
    match withheld {
        true => 0,
        false => until_token(block.bytes),
    }
}

/// Whether a transaction is a RAP function that may carry a password. Transactions of pipes have setup words.
fn may_carry_password(block: &Block<'_>) -> bool {
    let Ok(request) = Request::parse(Kind::Transaction, block, false) else {
        // A reply: a server sends no password.
        return false;
    };
    if !request.setup.is_empty() {
        return false;
    }
    let function = Reader::new(request.parameters).u16("RAP function");
    !function.is_ok_and(|function| !rap_may_carry_password(function))
}

/// Whether a RAP function may carry a password in its parameters or data.
pub fn rap_may_carry_password(function: u16) -> bool {
    !RAP_WITHOUT_PASSWORD.contains(&function)
}

/// How many bytes precede an NTLMSSP token. Binds of pipes contain such tokens, too.
fn until_token(bytes: &[u8]) -> usize {
    bytes
        .windows(NTLMSSP.len())
        .position(|window| window == NTLMSSP)
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        block::{BlockWriter, WireStr},
        smb::{
            named_pipe,
            testkit::{first, message},
        },
    };

    /// How many data bytes of a message with one block are shown, and the total number.
    fn shown_of(command: u8, message: &[u8]) -> (usize, usize) {
        let block = first(message);
        (shown_bytes(command, &block), block.bytes.len())
    }

    fn with_data(command: u8, data: &[u8]) -> (usize, usize) {
        let sent = message(|out| {
            let mut block = BlockWriter::begin(out);
            block.words().u16(0);
            block.bytes().bytes(data);
            block.finish(0);
        });
        shown_of(command, &sent)
    }

    fn rap(function: u16) -> (usize, usize) {
        let parameters = [&function.to_le_bytes(), b"zs\0B\0".as_slice()].concat();
        let name = WireStr {
            raw: b"\\PIPE\\LANMAN",
            unicode: false,
        };
        let sent = message(|out| {
            named_pipe::request(name, &[], &parameters, b"open sesame", (4, 0)).emit(out);
        });
        shown_of(code::TRANSACTION, &sent)
    }

    #[test]
    fn no_byte_of_a_command_that_proves_an_identity_is_shown() {
        for command in [
            code::SESSION_SETUP_ANDX,
            code::TREE_CONNECT,
            code::TREE_CONNECT_ANDX,
            code::TRANSACTION_SECONDARY,
        ] {
            assert_eq!(with_data(command, b"open sesame"), (0, 11));
        }
        assert_eq!(with_data(code::WRITE, b"open sesame"), (11, 11));
    }

    #[test]
    fn only_rap_functions_without_a_password_are_shown() {
        let (shown, all) = rap(crate::rap::function::NET_SHARE_ENUM);
        assert_eq!(shown, all);
        // NetUserPasswordSet2
        assert_eq!(rap(115).0, 0);
    }

    #[test]
    fn bytes_are_shown_up_to_an_ntlmssp_token() {
        assert_eq!(with_data(code::WRITE, b"bind NTLMSSP\0secret"), (5, 19));
    }
}
