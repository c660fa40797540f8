//! Profiles, captures, and slow copies in the lab.
#![allow(dead_code)]

use std::{fs, path::PathBuf};

use coax_explain::{
    explain,
    report::{Capture, Copy},
};
use coax_lab::{Tap, scenario::Scenario, smb::copy};
use toml::{Table, Value};

/// A file of the repository.
pub fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Name and text of each client's profile.
pub fn profiles() -> Vec<(String, String)> {
    let folder = fs::read_dir(file("data/clients")).unwrap();
    let mut all: Vec<_> = folder
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// The same by reference, as the lab takes them.
pub fn borrowed(profiles: &[(String, String)]) -> Vec<(&str, &str)> {
    profiles
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
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

/// Values of a table by their paths.
pub fn sets(table: &Table) -> Vec<(String, Value)> {
    table
        .iter()
        .map(|(path, value)| (path.clone(), value.clone()))
        .collect()
}

/// A capture of the copy that these values make in the lab.
pub fn made(name: &str, values: &[(String, Value)], tap: Tap, clients: &[(&str, &str)]) -> Capture {
    explain(bytes(name, values, tap, clients).as_slice()).unwrap()
}

/// The file that it is.
pub fn bytes(
    name: &str,
    values: &[(String, Value)],
    tap: Tap,
    clients: &[(&str, &str)],
) -> Vec<u8> {
    let mut scenario = Scenario::new(name);
    for (path, value) in values {
        scenario.set(path, value.clone()).unwrap();
    }
    let mut setup = scenario.setup(clients).unwrap();
    setup.taps = vec![tap];
    let mut result = copy(&setup);
    result
        .copied
        .clone()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    result.world.captures().pop().unwrap()
}
