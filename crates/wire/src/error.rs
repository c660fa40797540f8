//! Errors of received bytes.

/// Why bytes could not be decoded. `what` names the field that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes ended inside a field.
    #[error("too short for {what}")]
    Short {
        /// The field that ran short.
        what: &'static str,
    },
    /// The message does not begin with `\xFFSMB`.
    #[error("not an SMB message")]
    NotSmb,
    /// The word count is invalid for this command.
    #[error("word count {found} is none of {what}")]
    WordCount {
        /// The command.
        what: &'static str,
        /// The value in the message.
        found: u8,
    },
    /// A count or offset points outside the message.
    #[error("{what} lies outside the message")]
    Outside {
        /// The count or offset at fault.
        what: &'static str,
    },
    /// A field holds a value that this message cannot have.
    #[error("bad value in {what}")]
    Value {
        /// The field.
        what: &'static str,
    },
}

/// Shorthand for a decoding outcome.
pub type Result<T> = core::result::Result<T, Error>;
