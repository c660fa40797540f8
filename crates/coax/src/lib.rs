//! The binary's parts: command line, smb.conf, drivers and reports. What speaks the protocols lies in the crates below.

pub mod cli;
pub mod config;
pub mod disk;
pub mod serve;
