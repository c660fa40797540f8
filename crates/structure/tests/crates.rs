//! No crate has import cycles or misplaced implementations, except those in the lists of known violations.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::Path;

use coax_structure::{Known, Structure};

#[test]
fn crates_have_no_cycles_and_no_misplaced_implementations() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut mismatches = Vec::new();
    for folder in fs::read_dir(here.join("..")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let structure = Structure::of_crate(&folder).unwrap();
        for cycle in structure.graph.cycles() {
            println!("{name}: cycle of {} files", cycle.files.len());
            for edge in cycle.edges {
                println!("  {} -> {} via {}", edge.from, edge.to, edge.example);
            }
        }
        for found in &structure.misplaced {
            println!(
                "{name}: {} has an impl of {}, which {} defines",
                found.file, found.type_name, found.defined_in
            );
        }
        let known = Known::parse(
            &fs::read_to_string(here.join("known").join(format!("{name}.txt"))).unwrap_or_default(),
        );
        mismatches.extend(
            known
                .compare(&Known::of(&structure))
                .into_iter()
                .map(|found| format!("{name}: {found}")),
        );
    }
    assert!(
        mismatches.is_empty(),
        "{}\n`cargo run -p coax-structure -- CRATE` lists the violations; with --write it updates crates/structure/known",
        mismatches.join("\n")
    );
}

#[test]
fn lists_belong_to_crates_that_exist() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for list in fs::read_dir(here.join("known")).into_iter().flatten() {
        let name = list
            .unwrap()
            .path()
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            here.join("..").join(&name).join("Cargo.toml").exists(),
            "known/{name}.txt belongs to no crate"
        );
    }
}
