//! Mailslot messages: an SMB TRANSACTION in a NetBIOS datagram ([MS-MAIL] 2.2.1, [MS-CIFS] 2.2.4.33).

use alloc::vec::Vec;

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};

/// The browser's mailslot ([MS-BRWS] 2.2).
pub const BROWSE: &[u8] = b"\\MAILSLOT\\BROWSE";
/// LAN Manager's announcements ([MS-BRWS] 2.2.1).
pub const LANMAN: &[u8] = b"\\MAILSLOT\\LANMAN";
/// Domain log-on.
pub const NETLOGON: &[u8] = b"\\MAILSLOT\\NET\\NETLOGON";
/// Replies to a domain log-on that name no other mailslot.
pub const NETLOGON_TEMP: &[u8] = b"\\MAILSLOT\\TEMP\\NETLOGON";
/// WinPopup.
pub const MESSENGER: &[u8] = b"\\MAILSLOT\\MESSNGR";

/// Bytes of an SMB header.
const HEADER_LEN: usize = 32;
/// SMB_COM_TRANSACTION.
const TRANSACTION: u8 = 0x25;
/// Words of the request: 14, and three of set-up.
const WORDS: u8 = 17;
/// Bytes before the mailslot's name: header, word count, words, byte count.
const NAME_AT: usize = HEADER_LEN + 1 + 2 * (WORDS as usize) + 2;
/// The sender's wait for a buffer, milliseconds; no receiver looks at it.
const TIMEOUT_MS: u32 = 1000;
/// Operation in the set-up words: write to a mailslot.
const WRITE: u16 = 1;
/// Class 2: unreliable, without an answer.
const UNRELIABLE: u16 = 2;
/// The longest mailslot name that is accepted.
const MAX_NAME_LEN: usize = 128;

/// A message to a mailslot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailslotMessage {
    /// The mailslot, such as [`BROWSE`].
    pub name: Vec<u8>,
    /// The message.
    pub data: Vec<u8>,
}

impl MailslotMessage {
    /// A message to the mailslot `name`.
    pub fn new(name: &[u8], data: Vec<u8>) -> Self {
        Self {
            name: name.to_vec(),
            data,
        }
    }

    /// Whether it is for this mailslot; case does not count.
    pub fn is_for(&self, name: &[u8]) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Decodes a datagram's user data. The priority and the class are not looked at: senders disagree about them.
    ///
    /// # Errors
    /// The bytes are no mailslot message, or end too early.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        let magic = r.take(4, "SMB header")?;
        if magic != b"\xffSMB" {
            return Err(Error::NotSmb);
        }
        if r.u8("command")? != TRANSACTION {
            return Err(Error::Value { what: "command" });
        }
        let mut r = Reader::at(bytes, HEADER_LEN, "word count")?;
        let words = r.u8("word count")?;
        if words < WORDS {
            return Err(Error::WordCount {
                what: "mailslot write",
                found: words,
            });
        }
        let words_bytes = r.take(usize::from(words).saturating_mul(2), "words")?;
        let word = |at: usize| -> usize {
            let pair = words_bytes.get(at.saturating_mul(2)..);
            let pair = pair.and_then(|rest| rest.first_chunk::<2>());
            usize::from(u16::from_le_bytes(*pair.unwrap_or(&[0, 0])))
        };
        let (count, offset) = (word(11), word(12));
        r.u16("byte count")?;
        let rest = r.rest();
        let name = rest.split(|&byte| byte == 0).next().unwrap_or_default();
        if name.len() > MAX_NAME_LEN || name.len() == rest.len() {
            return Err(Error::Value {
                what: "mailslot name",
            });
        }
        let end = offset.saturating_add(count);
        let data = bytes.get(offset..end).filter(|_| offset >= HEADER_LEN);
        Ok(Self {
            name: name.to_vec(),
            data: data.ok_or(Error::Outside { what: "data" })?.to_vec(),
        })
    }

    /// The datagram's user data.
    pub fn emit(&self) -> Vec<u8> {
        let data_at = NAME_AT.saturating_add(self.name.len()).saturating_add(1);
        let len = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let mut w = Writer::with_capacity(data_at.saturating_add(self.data.len()));
        w.bytes(b"\xffSMB").u8(TRANSACTION).zeros(HEADER_LEN - 5);
        w.u8(WORDS).u16(0).u16(len(self.data.len()));
        // No reply is expected: no parameters, data, or set-up words come back.
        w.zeros(8).u32(TIMEOUT_MS).zeros(6);
        w.u16(len(self.data.len())).u16(len(data_at));
        w.u16(3).u16(WRITE).u16(1).u16(UNRELIABLE);
        let bytes = self.name.len().saturating_add(1);
        w.u16(len(bytes.saturating_add(self.data.len())));
        w.bytes(&self.name).u8(0).bytes(&self.data);
        w.into_vec()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_has_the_offsets_of_real_ones() {
        let message = MailslotMessage::new(BROWSE, b"\x09\x01abcd".to_vec());
        let bytes = message.emit();
        assert_eq!(bytes.len(), 86 + 6);
        assert_eq!(&bytes[32..37], [17, 0, 0, 6, 0]);
        // DataCount, DataOffset 86, three words of set-up, byte count.
        assert_eq!(&bytes[55..69], [6, 0, 86, 0, 3, 0, 1, 0, 1, 0, 2, 0, 23, 0]);
        assert_eq!(MailslotMessage::parse(&bytes), Ok(message));
    }

    #[test]
    fn data_outside_the_packet_is_refused() {
        let mut bytes = MailslotMessage::new(BROWSE, b"data".to_vec()).emit();
        bytes.pop();
        assert_eq!(
            MailslotMessage::parse(&bytes),
            Err(Error::Outside { what: "data" })
        );
        assert_eq!(MailslotMessage::parse(b"\xffSMC"), Err(Error::NotSmb));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>(), at in 0usize..90, byte in any::<u8>()) {
            let _ = MailslotMessage::parse(&bytes);
            let mut packet = MailslotMessage::new(LANMAN, bytes).emit();
            let at = at % packet.len();
            packet[at] = byte;
            let _ = MailslotMessage::parse(&packet);
        }
    }
}
