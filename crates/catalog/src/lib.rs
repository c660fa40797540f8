#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod advice;
pub mod card;
pub mod clients;
pub mod component;
pub mod direction;
pub mod files;
pub mod host;
pub mod link;
pub mod machine;
pub mod netbios;
pub mod profile;
pub mod published;
mod read;
pub mod recognition;
pub mod scenario;
pub mod server;
pub mod stack;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod tuned;
pub mod units;
