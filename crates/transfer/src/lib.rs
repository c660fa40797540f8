//! The real-world drivers of the client and raw TCP engines.
//!
//! [`client`] moves bytes between sockets, local files and `coax_client`; [`speed`] does the same for `coax_speed`;
//! [`mod@bench`] copies one file with several redirectors and measures each. [`names`] finds the addresses of
//! NetBIOS names; [`messages`] sends messages to users.

pub mod bench;
pub mod client;
pub mod messages;
pub mod names;
pub mod speed;
