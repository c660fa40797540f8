//! Handlers: decode, act through [`crate::ops`], encode. One module per family of commands.

pub mod echo;
pub mod find;
pub mod information;
pub mod locking;
pub mod logon;
pub mod message;
pub mod namespace;
pub mod negotiate;
pub mod nt_transact;
pub mod open;
pub mod pipe;
pub mod print;
pub mod query_file;
pub mod raw;
mod room;
pub mod search;
pub mod session_setup;
pub mod set_file;
pub mod trans2_create;
pub mod transaction;
pub mod transfer;
pub mod tree_connect;
pub mod volume;

#[cfg(test)]
mod act_tests;
#[cfg(test)]
mod atomic_tests;
#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod core_tests;
#[cfg(test)]
mod dos_client_tests;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod siblings_tests;
#[cfg(test)]
mod wall_clock_tests;
