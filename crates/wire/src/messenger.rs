//! WinPopup messages on `\MAILSLOT\MESSNGR`: three zero-terminated strings in the OEM code page, for the sender, the
//! recipient and the text. Microsoft documents no format; programs that exchange messages with WinPopup agree on it
//! (<https://wedelphi.com/t/98331>).

use alloc::vec::Vec;

use crate::{
    error::{Error, Result},
    io::Writer,
};

/// The most bytes of a message: with 87 bytes for the mailslot it fits into one datagram of 576 bytes (RFC 1002 section 6),
/// so that no receiver has to join fragments.
pub const MAX_LEN: usize = 407;
/// The longest name that is read.
const MAX_NAME_LEN: usize = 64;
/// The longest text that is read: that of messages on a session.
const MAX_TEXT_LEN: usize = crate::smb::message::MAX_TEXT_LEN;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessengerMessage {
    /// The sender's name.
    pub from: Vec<u8>,
    /// The recipient's name: a user, a machine or a workgroup.
    pub to: Vec<u8>,
    /// The text.
    pub text: Vec<u8>,
}

impl MessengerMessage {
    /// Decodes. The text's zero may be missing at the end.
    ///
    /// # Errors
    /// [`Error::Value`] if a string is missing or a name is too long.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut parts = bytes.splitn(3, |&byte| byte == 0);
        let mut name = |what| match parts.next() {
            Some(name) if name.len() <= MAX_NAME_LEN => Ok(name.to_vec()),
            _ => Err(Error::Value { what }),
        };
        let (from, to) = (name("sender")?, name("recipient")?);
        let rest = parts.next().ok_or(Error::Value { what: "text" })?;
        let text = rest.split(|&byte| byte == 0).next().unwrap_or_default();
        let text = text.get(..MAX_TEXT_LEN).unwrap_or(text);
        Ok(Self {
            from,
            to,
            text: text.to_vec(),
        })
    }

    /// The mailslot's data.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Writer::default();
        for part in [&self.from, &self.to, &self.text] {
            out.bytes(part).u8(0);
        }
        out.into_vec()
    }

    /// How many bytes of text fit into a datagram beside these names.
    pub fn room(from: &[u8], to: &[u8]) -> usize {
        let names = from.len().saturating_add(to.len()).saturating_add(3);
        MAX_LEN.saturating_sub(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_three_strings() {
        let message = MessengerMessage {
            from: b"MARTIN".to_vec(),
            to: b"DON".to_vec(),
            text: b"Hi".to_vec(),
        };
        assert_eq!(message.emit(), b"MARTIN\0DON\0Hi\0");
        assert_eq!(
            MessengerMessage::parse(b"MARTIN\0DON\0Hi\0"),
            Ok(message.clone())
        );
        assert_eq!(MessengerMessage::parse(b"MARTIN\0DON\0Hi"), Ok(message));
        assert!(MessengerMessage::parse(b"MARTIN\0DON").is_err());
        assert!(MessengerMessage::parse(&[b'A'; 400]).is_err());
        assert_eq!(MessengerMessage::room(b"MARTIN", b"DON"), 395);
    }

    proptest! {
        #[test]
        fn what_parses_is_emitted_and_parsed_alike(bytes in any::<Vec<u8>>()) {
            if let Ok(message) = MessengerMessage::parse(&bytes) {
                prop_assert!(message.text.len() <= MAX_TEXT_LEN);
                prop_assert_eq!(MessengerMessage::parse(&message.emit()), Ok(message));
            }
        }
    }
}
