//! Preparations of cases: dialects, and the client's steps before the request.

use super::super::{CORE, Case, Fids, LANMAN1, LANMAN2, Leaves, NT, On, requests::*};
use crate::testkit::TestClient;
use alloc::{vec, vec::Vec};
use coax_wire::command as c;

pub const ALL: &[&str] = &[CORE, LANMAN1, LANMAN2, NT];

pub const LANMAN: &[&str] = &[LANMAN1, LANMAN2];

pub const SINCE_LANMAN: &[&str] = &[LANMAN1, LANMAN2, NT];

pub const NT_ONLY: &[&str] = &[NT];

pub type Prepare = fn(&mut TestClient) -> Vec<u16>;

pub type Act = fn(&mut TestClient, &[u16]) -> bool;

pub const fn case(
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

pub fn nothing(_: &mut TestClient) -> Vec<u16> {
    Vec::new()
}

/// Looks up a name in another case, so that the cache has the folders' indexes.
pub fn looked(client: &mut TestClient) -> Vec<u16> {
    for path in ["f", "dir\\a"] {
        client.paths(c::QUERY_INFORMATION, &[], &[path]).ok();
    }
    Vec::new()
}

pub fn opened(client: &mut TestClient) -> Vec<u16> {
    vec![open_as_dialect(client, "F")]
}
