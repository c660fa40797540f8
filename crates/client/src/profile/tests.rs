#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
extern crate std;

use super::*;
use std::{fs, path::Path};

fn profiles() -> Vec<Profile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clients");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let parse = |path: std::path::PathBuf| -> Profile {
        toml::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.map(parse).collect()
}

#[test]
fn every_profile_is_whole_and_free_of_contradictions() {
    let profiles = profiles();
    assert!(!profiles.is_empty());
    for profile in profiles {
        assert_eq!(profile.fault(), None, "{}", profile.name);
    }
}

#[test]
fn a_value_without_source_or_with_two_grounds_is_refused() {
    #[derive(Debug, Deserialize)]
    struct One {
        #[expect(dead_code)]
        block: Fact<u32>,
    }
    for text in [
        "block = { value = 1 }",
        "block = { value = 1, source = \"a\", assumed = \"b\" }",
        "block = 1",
        "block = { value = 1, source = \"a\", guess = true }",
    ] {
        assert!(toml::from_str::<One>(text).is_err(), "{text}");
    }
}

#[test]
fn steps_fall_back_to_what_the_dialect_has() {
    use coax_wire::dialect::Generation;
    let suited = |step: Step, generation| step.suited(generation, false);
    assert_eq!(suited(Step::NtCreate, Generation::Core), Some(Step::Open));
    assert_eq!(
        suited(Step::NtCreate, Generation::Lanman1),
        Some(Step::OpenAndx)
    );
    assert_eq!(
        suited(Step::FindFirst2, Generation::Lanman1),
        Some(Step::Search)
    );
    assert_eq!(suited(Step::SetFileTimes, Generation::Core), None);
    assert_eq!(
        Step::NtCreate.suited(Generation::Nt, true),
        Some(Step::NtCreate)
    );
}
