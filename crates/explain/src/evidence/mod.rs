//! What bears out a copy's account: how many waits make up each cause, which were the longest and where they are in the
//! capture, what went to and fro around them, and how the bytes went on over time.
//!
//! A [`Witness`] sees every stretch that the ledger charges, and every packet. While a file is open, or a connection that
//! carries no SMB, it writes down what comes; a copy that goes on after that gets a recorder. A recorder keeps what fits into its memory, however long the copy
//! is: histograms, the longest, samples, and curves that are thinned as they grow. All recorders of an analysis share one
//! [`Room`]; where it is full, evidence becomes coarser, and the account stays what it is.

mod charge;
mod exchanges;
mod recorder;
mod room;
mod rungs;
mod slices;
mod stalls;
mod tally;
mod told;
mod track;
mod witness;
mod young;

pub(crate) use charge::RecordedCharge;
pub(crate) use room::Room;
pub(crate) use track::Shown;
pub(crate) use witness::{Exchanged, Extent, Ticket, Witness};

pub use told::{
    Breakdown, Detail, Exchange, Graph, Ladder, Point, Rung, Said, SaidKind, Spot, Spots, Stall,
    Stretches, Waterfall,
};
