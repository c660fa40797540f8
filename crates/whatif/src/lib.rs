//! How long would the copy have taken if this or that had been otherwise?
//!
//! ```text
//! capture ── explain ──> what was seen ──> values of a scenario ── lab ──> capture of the model ── explain ──> the same?
//!                                               ^                                                               │
//!                                               └────────────────── corrected by what differs <─────────────────┘
//! ```
//!
//! The model is run until a capture of it, taken at the same place and read by the same code, spends its time as the
//! capture from the world does. What was agreed on and used (commands, blocks, windows, segment sizes) is taken over;
//! ways, rates, timers, losses and what the machines take for a request are fitted. Then the run is made again with
//! something changed.
//!
//! # What is said of a change
//!
//! With `W` measured, `B` of the model as it was and `C` of the model changed, the prediction is `C × W / B`: what the
//! model does not know is taken to shrink and grow with what it does. That it stays as it is, `C + W − B`, is one end of
//! the range. The others come from everything that the capture leaves open: other structures that fit as well, other
//! chances of loss, machines' time by the request or by the byte, a path of which only the least speed is known; and
//! from what of the copy was not captured. A model that misses `W` by more than a quarter predicts nothing.
//!
//! A connection without SMB is modelled as data that goes one way as fast as TCP lets it.
//!
//! # What it costs
//!
//! A capture may say anything: segments of a few bytes, windows and files beyond all reason. No run has more than
//! 200,000 of the lab's events, and all runs of a model together no more than [`MOST_EVENTS`] and one run.

mod error;
mod fit;
mod guess;
mod pace;
mod predict;
mod rare;
mod run;
mod seen;
mod used;
mod windows;

pub use error::Why;
pub use predict::{Model, Pair, Range};
pub use run::MOST_OF_ALL as MOST_EVENTS;
