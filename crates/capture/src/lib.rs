#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(missing_docs)]

extern crate alloc;

mod frame;
mod packet;

#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
mod file;

#[cfg(feature = "std")]
pub use error::Error;
#[cfg(feature = "std")]
pub use file::{Damage, Reader};
pub use frame::{
    Content, Dissector, Endpoint, Flags, Ipx, NetBeui, OptionLayout, Segment, SynFingerprint,
    SynOptions, Transport,
};
pub use packet::{LinkType, Packet};
