//! The timeline of a connection as plain data: the packets that advance it, and what each side had sent and heard.
//!
//! The path and reassembly stages produce it; the charge stage turns it into charges.

mod advance;
mod delays;
mod pacing;
mod samples;
mod side;
mod tolerance;

pub(crate) use advance::{
    Advance, Blocked, LossSignals, MessagePosition, Missing, Reply, answers, is_idle_repeat,
    is_ignored, is_next_hole, is_timer, was_busy, was_overtaken,
};
pub(crate) use delays::{DelayPattern, Delays, least_delay};
pub(crate) use pacing::BurstPaces;
pub(crate) use samples::{AckSample, Novelty, SendLimit, SentSegment};
pub(crate) use side::{Side, of, of_mut};
pub(crate) use tolerance::{noise, slack, sum};
