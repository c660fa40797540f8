//! A frame's part of a session's message.

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it begins in the frame, and its bytes on the wire.
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// No further frame belongs to the message.
    pub(crate) last: bool,
    /// Where it begins in the message, if the frame says that.
    pub(crate) offset: Option<usize>,
}

impl Piece {
    /// Its bytes, as far as they are there.
    pub(crate) fn of(self, frame: &[u8]) -> &[u8] {
        let rest = frame.get(self.at..).unwrap_or_default();
        rest.get(..self.len).unwrap_or(rest)
    }
}
