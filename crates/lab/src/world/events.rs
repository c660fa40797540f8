//! Events of the simulation.

use alloc::boxed::Box;

use crate::{app::AppEvent, machine::Job, segment::Segment, side::Side};

/// An event of a world.
#[derive(Debug)]
pub(super) enum Event {
    Arrive(Side, Box<Segment>),
    Look(Side, Box<Segment>),
    Done(Side, Job),
    RingFree(Side, Box<Segment>),
    /// The frame that the driver waited for has left the ring.
    Left(Side),
    /// The shared medium decides on a transmission.
    Medium,
    /// A frame on the shared medium has ended.
    Off(Side),
    TcpTimer(Side),
    App(Side, AppEvent),
}
