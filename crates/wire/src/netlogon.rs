//! The search for a log-on server on `\MAILSLOT\NET\NETLOGON`: LAN Manager's and Windows 9x's log-on request and response,
//! the query for the primary domain controller ([MS-ADTS] 6.3.1.4, 6.3.1.5), and NT's SAM log-on request (6.3.1.6).
//!
//! [MS-ADTS] does not describe the log-on request of LAN Manager (opcode 0, answered with 6). Its fields are those that
//! nmbd 4.17 reads and writes.

use alloc::vec::Vec;

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};

/// The longest name or mailslot that is read, bytes.
const MAX_NAME_LEN: usize = 64;
/// NETLOGON_NT_VERSION_1.
const NT_VERSION_1: u32 = 1;
/// LmNtToken and Lm20Token ([MS-ADTS] 6.3.1.4).
pub const TOKEN: u16 = 0xffff;

const LOGON_REQUEST: u16 = 0;
const LOGON_RESPONSE: u16 = 6;
const PRIMARY_QUERY: u16 = 7;
const PRIMARY_RESPONSE: u16 = 12;
const SAM_LOGON_REQUEST: u16 = 18;

/// A message to or from a log-on server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetlogonMessage {
    /// 0: which server may this user log on to?
    LogonRequest {
        /// The client's computer name.
        computer: Vec<u8>,
        /// The user.
        user: Vec<u8>,
        /// The mailslot for the answer.
        mailslot: Vec<u8>,
        /// How often the request was repeated.
        count: u8,
        /// Lm20Token.
        token: u16,
    },
    /// 6: to this server.
    LogonResponse {
        /// The server's name, after two backslashes.
        server: Vec<u8>,
        /// Lm20Token.
        token: u16,
    },
    /// 7: which server is the primary domain controller?
    PrimaryQuery {
        /// The client's computer name.
        computer: Vec<u8>,
        /// The mailslot for the answer.
        mailslot: Vec<u8>,
        /// Whether the client reads UTF-16LE: the request has the name in it, too. LAN Manager's has not.
        unicode: bool,
    },
    /// 12: this server.
    PrimaryResponse {
        /// The server's name.
        server: Vec<u8>,
        /// The server's name and the domain's in UTF-16LE, for those who read it.
        unicode: Option<[Vec<u8>; 2]>,
    },
    /// 18: does this domain controller know the account? Windows NT asks this.
    SamLogonRequest {
        /// The client's computer name, in UTF-16LE.
        computer: Vec<u8>,
        /// The account, in UTF-16LE.
        user: Vec<u8>,
    },
}

impl NetlogonMessage {
    /// Decodes the mailslot's data.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] for other opcodes and for names that are too long.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        match r.u16("opcode")? {
            LOGON_REQUEST => {
                let (computer, user) = (name(&mut r)?, name(&mut r)?);
                let mailslot = name(&mut r)?;
                let count = r.u8("request count").unwrap_or(0);
                // LAN Manager 1.0 sends no token, 2.0 its own, and Windows 95 LmNtToken before it.
                let token = match r.rest() {
                    [.., low, high] => u16::from_le_bytes([*low, *high]),
                    _ => TOKEN,
                };
                Ok(Self::LogonRequest {
                    computer,
                    user,
                    mailslot,
                    count,
                    token,
                })
            }
            LOGON_RESPONSE => Ok(Self::LogonResponse {
                server: name(&mut r)?,
                token: r.u16("token")?,
            }),
            PRIMARY_QUERY => {
                let (computer, mailslot) = (name(&mut r)?, name(&mut r)?);
                r.align(2);
                // Name, version and two tokens; a short request ends with a token.
                let unicode = r.remaining() > 8;
                Ok(Self::PrimaryQuery {
                    computer,
                    mailslot,
                    unicode,
                })
            }
            PRIMARY_RESPONSE => {
                let server = name(&mut r)?;
                r.align(2);
                let unicode = match r.remaining() > 8 {
                    true => Some([wide(&mut r)?, wide(&mut r)?]),
                    false => None,
                };
                Ok(Self::PrimaryResponse { server, unicode })
            }
            SAM_LOGON_REQUEST => {
                r.u16("request count")?;
                Ok(Self::SamLogonRequest {
                    computer: wide(&mut r)?,
                    user: wide(&mut r)?,
                })
            }
            _ => Err(Error::Value { what: "opcode" }),
        }
    }

    /// The mailslot's data.
    pub fn emit(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::LogonRequest {
                computer,
                user,
                mailslot,
                count,
                token,
            } => {
                w.u16(LOGON_REQUEST);
                for part in [computer, user, mailslot] {
                    w.bytes(part).u8(0);
                }
                w.u8(*count).u16(TOKEN).u16(*token);
            }
            Self::LogonResponse { server, token } => {
                w.u16(LOGON_RESPONSE).bytes(server).u8(0).u16(*token);
            }
            Self::PrimaryQuery {
                computer,
                mailslot,
                unicode,
            } => {
                w.u16(PRIMARY_QUERY).bytes(computer).u8(0);
                w.bytes(mailslot).u8(0);
                if *unicode {
                    w.align(2);
                    computer.iter().for_each(|byte| {
                        w.u16(u16::from(*byte));
                    });
                    w.u16(0).u32(NT_VERSION_1).u16(TOKEN);
                }
                w.u16(TOKEN);
            }
            Self::PrimaryResponse { server, unicode } => {
                w.u16(PRIMARY_RESPONSE).bytes(server).u8(0);
                if let Some(names) = unicode {
                    w.align(2);
                    for part in names {
                        w.bytes(part).u16(0);
                    }
                    // nmbd 4.17 aligns it, and smbtorture (nbt.dgram.netlogon) reads it there.
                    w.align(4);
                    w.u32(NT_VERSION_1).u16(TOKEN).u16(TOKEN);
                }
            }
            Self::SamLogonRequest { computer, user } => {
                w.u16(SAM_LOGON_REQUEST).u16(0);
                w.bytes(computer).u16(0).bytes(user).u16(0);
            }
        }
        w.into_vec()
    }
}

/// A string that ends with a zero.
fn name(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let rest = r.rest();
    let len = rest.iter().position(|&byte| byte == 0);
    let len = len.filter(|len| *len <= MAX_NAME_LEN);
    let len = len.ok_or(Error::Value { what: "name" })?;
    let text = r.take(len, "name")?.to_vec();
    r.take(1, "name")?;
    Ok(text)
}

/// A string in UTF-16LE that ends with a zero.
fn wide(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let mut units = r.rest().chunks_exact(2);
    let count = units.position(|unit| unit == [0, 0]);
    let count = count.filter(|count| *count <= MAX_NAME_LEN);
    let count = count.ok_or(Error::Value { what: "name" })?;
    let text = r.take(count.saturating_mul(2), "name")?.to_vec();
    r.take(2, "name")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn a_windows_95_log_on_request_and_its_response() {
        let request = b"\0\0WIN95\0ANNA\0\\MAILSLOT\\TEMP\\NETLOGON\0\x01\xff\xff\xff\xff";
        let parsed = NetlogonMessage::LogonRequest {
            computer: bytes("WIN95"),
            user: bytes("ANNA"),
            mailslot: bytes("\\MAILSLOT\\TEMP\\NETLOGON"),
            count: 1,
            token: 0xffff,
        };
        assert_eq!(NetlogonMessage::parse(request), Ok(parsed.clone()));
        assert_eq!(parsed.emit(), request);
        let response = NetlogonMessage::LogonResponse {
            server: bytes("\\\\TOWER"),
            token: 0xffff,
        };
        assert_eq!(response.emit(), b"\x06\0\\\\TOWER\0\xff\xff");
        assert_eq!(NetlogonMessage::parse(&response.emit()), Ok(response));
    }

    #[test]
    fn a_query_for_the_primary_controller_in_both_forms() {
        let long =
            b"\x07\0NT4\0\\MAILSLOT\\NET\\GETDC042\0N\0T\x004\0\0\0\x01\0\0\0\xff\xff\xff\xff";
        let query = |unicode| NetlogonMessage::PrimaryQuery {
            computer: bytes("NT4"),
            mailslot: bytes("\\MAILSLOT\\NET\\GETDC042"),
            unicode,
        };
        assert_eq!(NetlogonMessage::parse(long), Ok(query(true)));
        let short = b"\x07\0NT4\0\\MAILSLOT\\NET\\GETDC042\0\xff\xff";
        assert_eq!(NetlogonMessage::parse(short), Ok(query(false)));
        let response = NetlogonMessage::PrimaryResponse {
            server: bytes("TOWER"),
            unicode: Some([utf16("TOWER"), utf16("LAB")]),
        };
        assert_eq!(
            response.emit(),
            b"\x0c\0TOWER\0T\0O\0W\0E\0R\0\0\0L\0A\0B\0\0\0\x01\0\0\0\xff\xff\xff\xff"
        );
        assert_eq!(NetlogonMessage::parse(&response.emit()), Ok(response));
        let aligned = NetlogonMessage::PrimaryResponse {
            server: bytes("WINS"),
            unicode: Some([utf16("WINS"), utf16("LAB")]),
        };
        assert_eq!(
            aligned.emit(),
            b"\x0c\0WINS\0\0W\0I\0N\0S\0\0\0L\0A\0B\0\0\0\0\0\x01\0\0\0\xff\xff\xff\xff"
        );
    }

    #[test]
    fn names_without_an_end_and_other_opcodes_are_refused() {
        assert!(NetlogonMessage::parse(b"\0\0WIN95\0ANNA").is_err());
        assert!(NetlogonMessage::parse(b"\x09\0").is_err());
        let mut long = Vec::from(*b"\0\0");
        long.extend([b'A'; 65]);
        long.extend(b"\0ANNA\0\\MAILSLOT\\X\0\0");
        assert!(NetlogonMessage::parse(&long).is_err());
    }

    proptest! {
        #[test]
        fn what_parses_is_emitted_and_parsed_alike(opcode in 0u8..20, rest in any::<Vec<u8>>(), names in "[A-Z]{0,9}") {
            let mut text = Vec::from([opcode, 0]);
            for part in [names.as_bytes(), b"ANNA", b"\\MAILSLOT\\X"] {
                text.extend(part);
                text.push(0);
            }
            text.extend(&rest);
            let arbitrary = [&[opcode, 0][..], &rest].concat();
            for bytes in [arbitrary, text] {
                if let Ok(message) = NetlogonMessage::parse(&bytes) {
                    let again = NetlogonMessage::parse(&message.emit());
                    prop_assert_eq!(again, Ok(message));
                }
            }
        }
    }
}
