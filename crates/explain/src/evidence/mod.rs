//! What bears out a copy's account: how many waits make up each cause, which were the longest and where they are in the
//! capture, what went to and fro around them, and how the bytes went on over time.
//!
//! A [`RecorderSet`] sees every stretch that the ledger charges, and every packet. While a file is open, or a connection that
//! carries no SMB, it writes down what comes; a copy that goes on after that gets a recorder. A recorder keeps what fits into its memory, however long the copy
//! is: histograms, the longest, samples, and curves that are thinned as they grow. All recorders of an analysis share one
//! [`MemoryBudget`]; where it is full, evidence becomes coarser, and the account stays what it is.

mod budget;
mod buffering;
mod charge;
mod excerpts;
mod exchanges;
mod id;
mod prune;
mod recorder;
mod recorders;
mod slices;
mod stalls;
mod tally;
mod track;

pub(crate) use budget::{Hold, MemoryBudget};
pub(crate) use charge::RecordedCharge;
pub(crate) use id::RecorderId;
pub(crate) use prune::prune;
pub(crate) use recorders::{Exchanged, Extent, RecorderSet};
pub(crate) use track::Shown;
