//! One file per SMB command, request and response together.
//!
//! A `Request::parse` decodes any message with a legal word count and does not check values. Its only other error is
//! data outside the message. A `Response::emit` (and `Request::emit`, for clients) writes the legal form.
//!
//! A reply's `parse` is tolerant of real servers: missing strings and trailing words are empty or 0. Commands without a
//! module here have empty blocks in both directions ([`crate::block::put_empty`]).

pub mod close;
pub mod copy;
pub mod delete;
pub mod directory;
pub mod echo;
pub mod find_close2;
pub mod find_entries;
pub mod find_first2;
pub mod flush;
pub mod ioctl;
pub mod lock_byte_range;
pub mod locking_andx;
pub mod logoff_andx;
pub mod message;
pub mod named_pipe;
pub mod negotiate;
pub mod nt_create_andx;
pub mod nt_transact;
pub mod open;
pub mod open_andx;
pub mod print;
pub mod query_information;
pub mod query_information_disk;
pub mod read;
pub mod read_andx;
pub mod read_raw;
pub mod reassembly;
pub mod redaction;
pub mod rename;
pub mod search;
pub mod seek;
pub mod session_setup_andx;
pub mod set_information;
pub mod subcommand;
pub mod summary;
pub mod trans2;
pub mod trans2_open2;
pub mod transaction;
pub mod tree_connect;
pub mod tree_connect_andx;
pub mod write;
pub mod write_andx;
pub mod write_raw;

#[cfg(test)]
mod client_tests;
#[cfg(test)]
mod testkit;
