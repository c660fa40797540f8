//! The role of this end of a transfer.

/// The direction, seen from this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// This machine sends.
    Send,
    /// This machine receives.
    Receive,
}
