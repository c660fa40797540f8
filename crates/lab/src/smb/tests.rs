#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use alloc::{string::String, sync::Arc, vec::Vec};
use std::{fs, path::Path};

use coax_catalog::scenario::Scenario;
use coax_client::{Direction, profile::Profile};
use coax_wire::{command, time::Span};

use super::*;
use crate::{
    Setup, cause::Cause, machine::MachineParams, profile::built_in, tcp::StackParams, units::Cost,
};

fn profile(name: &str) -> Arc<Profile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clients");
    let text = fs::read_to_string(folder.join(std::format!("{name}.toml"))).unwrap();
    Arc::new(toml::from_str(&text).unwrap())
}

fn profiles() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clients");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().into())
        .collect();
    names.sort();
    names
}

fn setup(name: &str, direction: Direction, size: u64) -> CopySetup {
    let mut world = Setup::default();
    world.client.machine = built_in::<MachineParams>("virtual-dos").unwrap().params;
    world.client.stack = built_in::<StackParams>("nts-3.18").unwrap().params;
    world.server.machine = world.client.machine;
    world.server.machine.request = Cost::fixed(Span(100_000));
    world.server.stack = built_in::<StackParams>("linux").unwrap().params;
    world.server.stack.receive_window = 65_535;
    CopySetup {
        world,
        client: profile(name),
        more: Vec::new(),
        protocol: Default::default(),
        server: built_in::<ServerParams>("samba-nas").unwrap().params,
        direction,
        size,
        files: 1,
        limit: Span::from_secs(10_000),
        whole: false,
        taps: Vec::new(),
    }
}

#[test]
fn every_profile_copies_every_byte_both_ways() {
    for name in profiles() {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let mut setup = setup(&name, direction, 300_000);
            setup.whole = true;
            let result = copy(&setup);
            assert_eq!(result.copied, Ok(300_000), "{name} {direction:?}");
            assert_eq!(result.wrong_bytes, 0, "{name} {direction:?}");
            assert_eq!(result.account.total(), result.took, "{name}");
        }
    }
}

#[test]
fn the_same_setup_gives_the_same_frames_and_making_the_bytes_changes_nothing() {
    let digest = |whole| {
        let mut setup = setup("ibm-dls-4.0", Direction::ToServer, 200_000);
        setup.whole = whole;
        copy(&setup).world.digest()
    };
    assert_eq!(digest(false), digest(false));
    assert_eq!(digest(false), digest(true));
}

#[test]
fn a_disk_and_a_processor_that_cost_something_are_waited_for_by_request_and_by_byte() {
    let mut setup = setup("ibm-dls-5.0-full", Direction::ToServer, 10 * 65_024);
    let before = copy(&setup).took;
    let (client, server) = (
        &mut setup.world.client.machine,
        &mut setup.world.server.machine,
    );
    let cost = |us: u64, per_byte_ps| Cost {
        fixed: Span(us * 1000),
        per_byte_ps,
    };
    client.disk_read = cost(1000, 100_000);
    server.disk_write = cost(2000, 50_000);
    server.request = cost(100, 20_000);
    let after = copy(&setup).took;
    let expected = 10 * (1_000_000 + 65_024 * 100 + 2_000_000 + 65_024 * 50 + 65_024 * 20);
    assert_eq!(after.0 - before.0, expected);
}

#[test]
fn time_with_a_full_receive_buffer_is_charged_to_the_program_that_does_not_read() {
    let shut = |direction, is_blocking| {
        let mut setup = setup("modern", direction, 2_000_000);
        let (client, server) = (&mut setup.world.client, &mut setup.world.server);
        let receiver = match direction {
            Direction::ToServer => server,
            Direction::ToClient => &mut *client,
        };
        receiver.stack.receive_window = 8760;
        receiver.machine.disk_write.per_byte_ps = 10_000_000;
        client.machine.blocking = is_blocking;
        let result = copy(&setup);
        let receiver = match direction {
            Direction::ToServer => Cause::ServerThink,
            Direction::ToClient => Cause::ClientThink,
        };
        let part = result.account.get(receiver).0 * 100 / result.took.0;
        (part, result.account.total() == result.took)
    };
    // a server does not read while it writes
    for (direction, is_blocking) in [(Direction::ToServer, false), (Direction::ToClient, true)] {
        let (part, adds_up) = shut(direction, is_blocking);
        assert!(part > 70 && adds_up, "{direction:?}: {part} %");
    }
}

#[test]
fn a_copy_beyond_its_time_limit_fails() {
    let mut setup = setup("ibm-dls-5.0-full", Direction::ToServer, 42_000_000);
    setup.limit = Span::from_secs(1);
    let error = copy(&setup).copied.unwrap_err();
    assert!(error.contains("longer than the 1 s"), "{error}");
}

#[test]
fn a_list_of_sizes_makes_its_requests_and_no_others() {
    let scenario = Scenario::built_in("nt-4-netbench").unwrap();
    for (direction, code) in [
        (Direction::ToClient, command::READ_ANDX),
        (Direction::ToServer, command::WRITE_ANDX),
    ] {
        let setup = CopySetup {
            direction,
            whole: true,
            ..CopySetup::of(&scenario).unwrap()
        };
        let files = setup.files_of(0);
        let sizes = files.requests.clone().unwrap();
        let average = setup.size * u64::from(setup.files);
        let requests = sizes.requests_in(average);
        let bytes = (0..requests).map(|n| u64::from(sizes.size(n))).sum();
        assert_eq!(files.bytes(), bytes);
        assert!(bytes.abs_diff(average) < average / 50, "{bytes}");
        let result = copy(&setup);
        assert_eq!((result.copied, result.wrong_bytes), (Ok(bytes), 0));
        let (_, _, found) = result.mix.iter().find(|(it, ..)| *it == code).unwrap();
        assert_eq!((found.requests, found.bytes), (requests, bytes));
        assert_eq!(found.largest, sizes.largest());
    }
}

#[test]
fn each_file_is_as_long_as_its_share_of_the_requests() {
    let sizes = RequestSizes::new(&[(512, 1), (4096, 2)]).unwrap();
    let files = Files {
        count: 4,
        size: 4352,
        client: 0,
        requests: Some(Arc::new(sizes)),
    };
    // 17,408 bytes are six requests: 4096, 512, 4096, 4096, 512, 4096
    let each = files.each().map(|it| (it.first_request, it.size));
    let expected = [(0, 4096), (1, 4608), (3, 4096), (4, 4608)];
    assert_eq!(each.collect::<Vec<_>>(), expected);
    assert_eq!(files.bytes(), 17_408);
    let names: Vec<String> = files.each().map(|it| it.name).collect();
    assert_eq!(names[3], "FILE0004.BIN");
}
