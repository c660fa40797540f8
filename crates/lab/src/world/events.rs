//! Events of the simulation.

use alloc::boxed::Box;

use crate::{app::AppEvent, machine::Job, segment::Segment, side::End};

/// An event of a world.
#[derive(Debug)]
pub(super) enum Event {
    Arrive(End, Box<Segment>),
    Look(End, Box<Segment>),
    Done(End, Job),
    RingFree(End, Box<Segment>),
    /// The frame that the driver waited for has left the ring.
    Left(End),
    /// The shared medium decides on a transmission.
    Medium,
    /// A frame on the shared medium has ended.
    Off(End),
    TcpTimer(End),
    /// A deadline of a station.
    Station(End),
    App(End, AppEvent),
}

impl Event {
    /// The client whose connection it belongs to.
    pub(super) const fn client(&self) -> u16 {
        match self {
            Self::Medium => 0,
            Self::Arrive(end, _)
            | Self::Look(end, _)
            | Self::Done(end, _)
            | Self::RingFree(end, _)
            | Self::Left(end)
            | Self::Off(end)
            | Self::TcpTimer(end)
            | Self::Station(end)
            | Self::App(end, _) => end.client,
        }
    }
}
