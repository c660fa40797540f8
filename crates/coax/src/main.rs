//! coax: SMB1 and NetBIOS for vintage machines.

pub mod config;

fn main() {}
