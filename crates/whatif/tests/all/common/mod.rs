//! Profiles, captures, and slow copies in the lab.

pub mod chance;
pub mod table;

use std::{fs, path::PathBuf};

use coax_client::Direction;
use coax_explain::{
    Analyser,
    capture::{Packet, Reader},
    explain,
    report::{Capture, Copy},
};
use coax_lab::{
    Setup, Side, Tap, World,
    apps::bulk_in,
    scenario::Scenario,
    smb::{CopySetup, copy},
};
use toml::{Table, Value};

/// A file of the repository.
pub fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The longest copy of a capture.
pub fn longest(capture: &Capture) -> &Copy {
    capture.copies.iter().max_by_key(|copy| copy.wall).unwrap()
}

/// A labelled capture, taken at `vantage`.
pub fn labelled(name: &str, vantage: &str) -> Capture {
    let path = file(&format!(
        "tests/captures/labelled/{name}-{vantage}.pcapng.gz"
    ));
    explain(fs::File::open(path).unwrap()).unwrap()
}

/// A capture file, as if it had begun after this part of its packets.
pub fn late(file: &[u8], part: f64) -> Capture {
    let mut reader = Reader::new(file).unwrap();
    let mut all = 0_u64;
    while reader.next_packet().unwrap().is_some() {
        all += 1;
    }
    let before = (all as f64 * part) as u64;
    let mut reader = Reader::new(file).unwrap();
    let mut analyser = Analyser::default();
    while let Some(packet) = reader.next_packet().unwrap() {
        if packet.number > before {
            let number = packet.number - before;
            analyser.packet(&Packet { number, ..packet });
        }
    }
    analyser.finish()
}

/// Values of a table by their paths.
pub fn sets(table: &Table) -> Vec<(String, Value)> {
    table
        .iter()
        .map(|(path, value)| (path.clone(), value.clone()))
        .collect()
}

/// A capture of the copy that these values make in the lab.
pub fn made(name: &str, values: &[(String, Value)], tap: Tap) -> Capture {
    explain(bytes(name, values, tap).as_slice()).unwrap()
}

/// The file that it is.
pub fn bytes(name: &str, values: &[(String, Value)], tap: Tap) -> Vec<u8> {
    run(name, values, tap).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The capture as it was read, if these values can be and the copy comes to an end.
pub fn tried(name: &str, values: &[(String, Value)], tap: Tap) -> Option<Capture> {
    let bytes = run(name, values, tap).ok()?;
    let capture = explain(bytes.as_slice()).ok()?;
    (!capture.copies.is_empty()).then_some(capture)
}

fn run(name: &str, values: &[(String, Value)], tap: Tap) -> Result<Vec<u8>, String> {
    let mut scenario = Scenario::new(name);
    for (path, value) in values {
        let set = scenario.set(path, value.clone());
        set.map_err(|error| error.to_string())?;
    }
    let setup = CopySetup::of(&scenario);
    let mut setup = setup.map_err(|error| error.to_string())?;
    setup.taps = vec![tap];
    // what names no redirector is data that goes one way without SMB
    if values.iter().all(|(path, _)| path != "client.profile") {
        return bulk(&setup);
    }
    let mut result = copy(&setup);
    result.copied.clone()?;
    result
        .world
        .captures()
        .pop()
        .ok_or_else(|| "no capture".to_owned())
}

/// What comes of all of them in their order, half of them by each of two threads.
pub fn in_halves<T: Sync, R: Send>(all: &[T], of: impl Fn(&T) -> Vec<R> + Sync) -> Vec<R> {
    let (first, last) = all.split_at(all.len().div_ceil(2));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| first.iter().flat_map(&of).collect::<Vec<R>>());
        let mut last: Vec<R> = last.iter().flat_map(&of).collect();
        let mut all = first.join().unwrap();
        all.append(&mut last);
        all
    })
}

fn bulk(setup: &CopySetup) -> Result<Vec<u8>, String> {
    let mut world = World::new(&Setup {
        port: 5001,
        ..setup.world.clone()
    });
    world.record(&setup.taps);
    let from = match setup.direction {
        Direction::ToServer => Side::Client,
        Direction::ToClient => Side::Server,
    };
    let mut result = bulk_in(&mut world, from, setup.size, setup.limit).finish(world);
    if result.bytes < setup.size {
        return Err("not all arrives".to_owned());
    }
    result
        .world
        .captures()
        .pop()
        .ok_or_else(|| "no capture".to_owned())
}
