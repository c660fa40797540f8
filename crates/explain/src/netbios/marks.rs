//! What frames of NetBIOS transports say and TCP segments do not, as control bits of the segments that they are read as.
//!
//! The lower eight bits have other meanings in TCP; nobody looks at them there.

/// The last frame of a message.
pub(crate) const END: u16 = 1 << 3;
/// The client sent it.
pub(crate) const FROM_CLIENT: u16 = 1 << 5;
/// The capture lacks it as it was sent first: numbers after it came before it, or its sender had to ask what arrived.
pub(crate) const FILLS: u16 = 1 << 6;
/// Its message is acknowledged (NBF DATA_ACK) before the next one is sent.
pub(crate) const NEEDS_MESSAGE_ACK: u16 = 1 << 7;
/// Its sender waits until the other side permits more data (NBF DATA_FIRST_MIDDLE with the request for RECEIVE_CONTINUE).
pub(crate) const NEEDS_CONTINUE: u16 = 1 << 8;
/// A poll: its sender waits for the final.
pub(crate) const POLL: u16 = 1 << 9;
/// The other side's message is acknowledged.
pub(crate) const ACKS_MESSAGE: u16 = 1 << 10;
/// The other side may go on.
pub(crate) const CONTINUES: u16 = 1 << 11;
/// The answer to a poll.
pub(crate) const FINAL: u16 = 1 << 12;
/// What follows the acknowledged number is to be sent again.
pub(crate) const REJECTS: u16 = 1 << 13;
/// A timer had it sent again: its answer did not come.
pub(crate) const BY_TIMER: u16 = 1 << 15;
/// The receiver takes no data for now.
pub(crate) const BUSY: u16 = 1 << 14;
