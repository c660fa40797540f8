#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod compare;
mod fields;
mod logon;
mod mapping;
mod play;
mod record;
mod rewrite;
mod tcp;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests;

pub use compare::{Class, Difference};
pub use logon::Identity;
pub use play::{Outcome, Skipped, Wire, play};
pub use record::{Conversation, Packet, RecordError, conversations};
pub use tcp::Tcp;
