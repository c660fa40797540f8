//! Codecs of SMB1 and NetBIOS: bytes to meaning and back. No IO, no clock, no async.
#![no_std]
extern crate alloc;

pub mod time;
