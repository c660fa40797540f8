//! The integration tests of coax-explain. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod accuracy;
mod advice;
mod around;
mod common;
mod events;
mod evidence;
mod flows;
mod invariants;
mod joined;
mod joined_netbios;
mod labelled;
mod machines;
mod merged;
mod messages;
mod netbeui;
mod pcapng;
mod pieces;
mod protocols;
mod readers;
mod recognise;
mod referee;
mod rewritten;
mod slow;
mod stacks;
mod waits;
mod watches;
mod wild;
