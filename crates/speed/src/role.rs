//! Which end of a transfer this is.

/// Which way the bytes go, seen from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// We send.
    Send,
    /// We receive.
    Receive,
}
