//! The memory use of a run does not depend on the size of the file.

use std::{path::Path, sync::Arc};

use coax_client::{Direction, profile::Profile};
use coax_lab::{
    Setup, Side,
    smb::{CopySetup, ServerParams, copy},
};
use coax_wire::time::Span;

/// Maximum number of pending events, and bytes in both TCP buffers at the end.
fn held(client: &str, direction: Direction, size: u64) -> (usize, u64) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/clients/{client}.toml"));
    let profile: Profile = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let result = copy(&CopySetup {
        world: Setup::default(),
        client: Arc::new(profile),
        more: Vec::new(),
        protocol: Default::default(),
        server: ServerParams::default(),
        direction,
        size,
        files: 1,
        limit: Span::from_secs(10_000),
        whole: false,
        taps: Vec::new(),
    });
    assert_eq!(result.copied, Ok(size), "{client} {direction:?}");
    let left = [Side::Client, Side::Server]
        .map(|side| result.world.tcp(side).readable() + result.world.tcp(side).unacknowledged());
    (result.world.most_events(), left.iter().sum())
}

#[test]
fn ten_times_the_file_has_no_more_events_waiting_and_no_more_bytes_held() {
    for client in ["ibm-dls-5.0-full", "modern"] {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let (small, left) = held(client, direction, 10_000_000);
            let (large, later) = held(client, direction, 100_000_000);
            assert!(
                small > 0 && large <= small + small / 8,
                "{client} {direction:?}: {small}, {large}"
            );
            assert!(
                later <= left.max(1000),
                "{client} {direction:?}: {left}, {later}"
            );
        }
    }
}
