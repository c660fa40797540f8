//! The sans-IO SMB1 redirector: one engine that behaves as a profile says.
#![no_std]
extern crate alloc;

pub mod profile;
