//! Reads PROTOCOL.INI, SYSTEM.INI, NETWORK.INI, TCPUTILS.INI, exports of the Windows registry, smb.conf and sysctl values. It says what
//! each line means for the speed of a copy, and makes a scenario of the lab from them.
//!
//! [`File::parse`] reads the lines of a file, [`Import`] looks them up in the table of `data/settings`. [`advise`] searches for faster
//! values; [`Changes`] makes the changes that somebody else advises.

// Only `coax` uses this crate.
#![allow(rustdoc::private_intra_doc_links)]

mod advise;
mod changes;
#[cfg(test)]
mod changes_tests;
mod draft;
mod file;
mod import;
mod option_words;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub use advise::{Advice, Step, advise};
pub use changes::{Changes, Outcome, WantedChange, WantedLine, is_known_line};
pub use file::{File, Kind, Unreadable};
pub use import::{Effect, Import, Line, Role};
pub use table::scenario_key;
