//! The conversations: every command that touches files, as clients of each dialect use it.

use super::{CORE, Case, Fids, LANMAN1, LANMAN2, Leaves, NT, On, requests::*};
use crate::testkit::TestClient;
use alloc::{vec, vec::Vec};
use coax_wire::{
    command as c,
    header::Tid,
    smb::{copy::SAME_TREE, rename::level},
};

mod changing;

mod information;

mod using;

pub use changing::{copying, creating, naming, overwriting, streams};

pub use information::metadata;

pub use using::{chains, closing, listing, opening, printing, transfer};

const ALL: &[&str] = &[CORE, LANMAN1, LANMAN2, NT];

const LANMAN: &[&str] = &[LANMAN1, LANMAN2];

const SINCE_LANMAN: &[&str] = &[LANMAN1, LANMAN2, NT];

const NT_ONLY: &[&str] = &[NT];

/// Changes of names and attributes on a share with `sync always`.
pub fn synced() -> Vec<Case> {
    let changing = [creating(), naming(), copying(), metadata()];
    let cases = changing.into_iter().flatten();
    cases.map(|case| case.on(On::Synced)).collect()
}

type Prepare = fn(&mut TestClient) -> Vec<u16>;

type Act = fn(&mut TestClient, &[u16]) -> bool;

const fn case(
    name: &'static str,
    dialects: &'static [&'static str],
    prepare: Prepare,
    act: Act,
) -> Case {
    Case {
        name,
        dialects,
        on: On::Disk,
        prepare,
        act,
        leaves: Leaves::Nothing,
        leaves_broken: Leaves::Nothing,
        fids: Fids::AsBefore,
        attributes: false,
        repeatable: true,
    }
}

fn nothing(_: &mut TestClient) -> Vec<u16> {
    Vec::new()
}

/// Has looked for a name in another case, so that the folders' indexes are known.
fn looked(client: &mut TestClient) -> Vec<u16> {
    for path in ["f", "dir\\a"] {
        client.paths(c::QUERY_INFORMATION, &[], &[path]).ok();
    }
    Vec::new()
}

fn opened(client: &mut TestClient) -> Vec<u16> {
    vec![open_as_dialect(client, "F")]
}
