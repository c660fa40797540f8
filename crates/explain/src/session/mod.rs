//! Streams of bytes cut into session messages, and what speaks there.

mod framer;
mod scratch;

pub(crate) use framer::{Chunk, Framer, Message, Moment, Sink, Verdict};
pub(crate) use scratch::Scratch;
