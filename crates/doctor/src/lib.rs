//! What keeps old clients from a server on this machine, and how to fix it.
//!
//! [`gather`] collects [`facts`] from the kernel, files and the network. [`findings`] judges them: a pure function of
//! the facts, so that tables test it. Gathering changes nothing on the machine.

pub mod access;
pub mod facts;
pub mod filter;
pub mod finding;
pub mod gather;
mod judge;
pub mod parse;
pub mod unit;

pub use facts::Facts;
pub use finding::{Finding, Severity};
pub use judge::findings;
