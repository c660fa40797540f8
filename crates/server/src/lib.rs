//! The SMB1 server engine: negotiate → session → tree → command, sans-IO.
#![no_std]
extern crate alloc;

pub mod memfs;
pub mod names;
pub mod table;
pub mod vfs;
