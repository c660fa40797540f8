//! A message between users whose text arrives in several requests.

use alloc::{string::String, vec::Vec};
use coax_wire::smb::message::MAX_TEXT_LEN;

/// The message that a connection sends, and the identifier of the last one.
#[derive(Debug, Default)]
pub struct Incoming {
    last_group: u16,
    current: Option<Draft>,
}

/// A message that is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The sender's name.
    pub from: String,
    /// The recipient's name.
    pub to: String,
    /// The text so far, at most [`MAX_TEXT_LEN`] bytes.
    pub text: Vec<u8>,
}

impl Incoming {
    /// Begins a message and returns its identifier. A connection sends one message at a time, so an incomplete one is
    /// forgotten.
    pub fn begin(&mut self, from: String, to: String) -> u16 {
        self.last_group = self.last_group.checked_add(1).unwrap_or(1);
        self.current = Some(Draft {
            from,
            to,
            text: Vec::new(),
        });
        self.last_group
    }

    /// Adds text; false if there is no such message. Text beyond the longest message is dropped.
    pub fn add(&mut self, group: u16, text: &[u8]) -> bool {
        let Some(draft) = self.current.as_mut().filter(|_| group == self.last_group) else {
            return false;
        };
        let room = MAX_TEXT_LEN.saturating_sub(draft.text.len());
        let kept = text.get(..room).unwrap_or(text);
        draft.text.extend_from_slice(kept);
        true
    }

    /// Ends the message, which is returned if there is such a one.
    pub fn end(&mut self, group: u16) -> Option<Draft> {
        self.current.take_if(|_| group == self.last_group)
    }
}

/// The text with line feeds between its lines. DOS sends carriage return and line feed, LAN Manager and Windows send
/// byte 14 (hexadecimal).
pub fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{14}'], "\n");
    let end = text.trim_end_matches(['\n', '\0']).len();
    text.get(..end).unwrap_or(&text).into()
}
