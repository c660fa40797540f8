//! Streams of bytes cut into session messages, and what speaks there.

mod framer;
mod scratch;
mod signs;

pub(crate) use framer::{Boundaries, Chunk, Framer, Message, Moment, Sink, Verdict};
pub(crate) use scratch::Scratch;
pub(crate) use signs::ProtocolSigns;
