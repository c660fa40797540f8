//! The conversations: every command that touches files, in the form of each dialect.

use super::{CORE, Case, LANMAN1, LANMAN2, Leaves, On, requests::*};
use crate::testkit::TestClient;
use alloc::{vec, vec::Vec};
use coax_wire::{
    command as c,
    header::Tid,
    smb::{copy::SAME_TREE, rename::level},
};
use prepare::*;

mod changing;
mod information;
mod prepare;
mod using;

pub use changing::{copying, creating, moving, naming, overwriting, streams};
pub use information::metadata;
pub use using::{chains, closing, listing, opening, printing, transfer};

/// Changes of names and attributes on a share with `sync always`.
pub fn synced() -> Vec<Case> {
    let changing = [creating(), naming(), copying(), moving(), metadata()];
    let cases = changing.into_iter().flatten();
    cases.map(|case| case.on(On::Synced)).collect()
}
