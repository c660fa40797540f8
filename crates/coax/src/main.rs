//! coax: SMB1 and NetBIOS for vintage machines.

pub mod config;
pub mod disk;

fn main() {}
