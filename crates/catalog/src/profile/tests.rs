#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
extern crate std;

use super::*;
use std::{format, fs, path::Path};

fn files<T: serde::de::DeserializeOwned>() -> Vec<T> {
    let parse = |(name, text): &(&str, &str)| -> T {
        toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    crate::files::CLIENTS.iter().map(parse).collect()
}

fn profiles() -> Vec<Profile> {
    files()
}

/// How many values name a source, and how many are assumed.
fn grounds(table: &toml::Table) -> (usize, usize) {
    let within = table
        .values()
        .filter_map(toml::Value::as_table)
        .map(grounds)
        .fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    let here = |key| usize::from(table.contains_key("value") && table.contains_key(key));
    (within.0 + here("source"), within.1 + here("assumed"))
}

#[test]
fn every_profile_is_whole_and_free_of_contradictions() {
    let profiles = profiles();
    assert!(!profiles.is_empty());
    for profile in profiles {
        assert_eq!(profile.fault(), None, "{}", profile.name);
    }
}

fn thousands(number: u32) -> String {
    match number {
        0..1000 => format!("{number}"),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

fn moves(method: Method, block: &BlockSize, raw_block: u32) -> String {
    let block = match block {
        BlockSize::Bytes(bytes) => thousands(*bytes),
        BlockSize::Sizes(sizes) => format!("up to {}", thousands(sizes.largest())),
        BlockSize::Buffer(_) => "what fits the buffer".to_string(),
    };
    match method {
        Method::Core => format!("core {block}"),
        Method::Andx => format!("AndX {block}"),
        Method::Raw => format!("raw {}", thousands(raw_block)),
    }
}

/// Raw mode that is not used while other requests wait leaves the requests that fill the server's buffer.
fn writes(profile: &Profile) -> String {
    let write = &profile.write;
    let waits = profile.copy.put.contains(&Step::Notify);
    if *write.method == Method::Raw && *profile.raw.alone && waits {
        let block = *profile.buffers.request - *write.headroom;
        return format!("AndX {}", thousands(block));
    }
    moves(*write.method, &write.block, *write.raw_block)
}

/// The list of profiles in docs/clients.md.
fn listed() -> String {
    let mut rows = String::new();
    let (mut sourced, mut assumed) = (0, 0);
    for (table, profile) in files::<toml::Table>().iter().zip(profiles()) {
        let (known, supposed) = grounds(table);
        (sourced, assumed) = (sourced + known, assumed + supposed);
        let (name, read) = (&profile.name, &profile.read);
        rows += &format!(
            "| [{name}](../data/clients/{name}.toml) | {} | {} | {} | {} | {known} | {supposed} |\n",
            profile.title,
            moves(*read.method, &read.block, *read.raw_block),
            writes(&profile),
            profile.recognised,
        );
    }
    let all = sourced + assumed;
    format!(
        "Of {all} values {sourced} are sourced and {assumed} assumed (those of `modern` are our own choices).\n\n\
         | profile | what it is | reads | writes | recognised in a capture by | sourced | assumed |\n\
         |---|---|---|---|---|---|---|\n{rows}"
    )
}

/// Run with COAX_BLESS=1 to write the list.
#[test]
fn the_page_about_profiles_lists_each() {
    const MARKS: [&str; 2] = ["<!-- profiles -->\n", "<!-- end of profiles -->"];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let wanted = [before, MARKS[0], &listed(), MARKS[1], after].concat();
    if std::env::var_os("COAX_BLESS").is_some() {
        fs::write(path, &wanted).unwrap();
    } else {
        assert!(
            page == wanted,
            "docs/clients.md is out of step: COAX_BLESS=1 cargo test -p coax-catalog page_about_profiles renews it"
        );
    }
}

#[test]
fn profiles_have_the_block_sizes_of_the_documents() {
    let profiles = profiles();
    let find = |name: &str| profiles.iter().find(|one| one.name == name).unwrap();
    let predir = find("ibm-dls-5.0-predir");
    assert_eq!(*predir.read.method, Method::Core);
    assert_eq!(*predir.read.block, BlockSize::Bytes(1024));
    for name in ["ms-net-3.11-full", "ibm-dls-4.0", "ibm-dls-5.0-full"] {
        assert_eq!(*find(name).read.method, Method::Raw, "{name}");
        assert_eq!(*find(name).read.raw_block, 65_024, "{name}");
    }
    for name in ["ms-net-3.11-full", "ibm-dls-5.0-full", "ibm-dls-5.0-predir"] {
        assert_eq!(*find(name).write.method, Method::Raw, "{name}");
        assert_eq!(*find(name).write.raw_block, 65_024, "{name}");
    }
    let explorer = find("nt-4-explorer");
    assert_eq!(*explorer.read.raw_block, 61_440);
    assert!(explorer.copy.put.contains(&Step::Notify) && *explorer.raw.alone);
    assert_eq!(*explorer.buffers.request - *explorer.write.headroom, 4_292);
    assert!(!find("nt-4-copy").copy.put.contains(&Step::Notify));
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

#[test]
fn a_value_of_the_wrong_type_is_reported_with_its_key() {
    let (_, text) = crate::files::CLIENTS.first().unwrap();
    let wrong = text.replacen(
        "application-block = { value = ",
        "application-block = { value = \"many\" } # ",
        1,
    );
    assert_ne!(wrong, **text);
    let error = Profile::parse("mine.toml", &wrong).unwrap_err().to_string();
    assert!(error.contains("in `copy.application-block"), "{error}");
}
