//! Advice: every entry is whole, the lab takes what it is to try, and each fires where it is meant to.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;

use coax_explain::recognise::entries;
use coax_lab::scenario::Scenario;

fn clients() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/clients");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let named = files.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

#[test]
fn the_lab_takes_what_every_entry_wants_tried() {
    let clients = clients();
    let clients: Vec<(&str, &str)> = clients
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let mut tried = 0;
    for entry in entries() {
        let mut scenario = Scenario::new(&entry.id);
        for (path, value) in entry.lab() {
            scenario
                .set(path, value.clone())
                .unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        }
        scenario
            .setup(&clients)
            .unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        tried += usize::from(!entry.lab().is_empty());
    }
    assert!(tried > 2, "{tried}");
}

#[test]
fn every_entry_has_a_name_of_its_own_a_source_and_something_to_change() {
    let all = entries();
    for (place, entry) in all.iter().enumerate() {
        assert!(
            !all[..place].iter().any(|other| other.id == entry.id),
            "{}",
            entry.id
        );
        assert!(
            !entry.source().is_empty() && entry.changes() > 0,
            "{}",
            entry.id
        );
    }
}
