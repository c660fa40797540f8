#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![no_std]
extern crate alloc;

pub mod block;
pub mod browser;
pub mod codepage;
pub mod command;
pub mod dialect;
pub mod error;
pub mod ether;
pub mod header;
pub mod info;
pub mod io;
pub mod ipx;
pub mod llc;
pub mod mailslot;
pub mod messenger;
pub mod nbf;
pub mod nbt;
pub mod netlogon;
pub mod rap;
pub mod rpc;
pub mod security;
pub mod smb;
pub mod status;
pub mod time;

pub use error::{Error, Result};
