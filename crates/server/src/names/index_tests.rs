#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
extern crate std;
use super::*;
use alloc::{format, string::ToString};
use coax_wire::codepage::CodePage;
use proptest::prelude::*;
use std::{collections::BTreeSet, println, time::Instant};

fn mangler() -> Mangler {
    Mangler::new(CodePage::cp850())
}

fn build(names: &[&str]) -> DirIndex {
    DirIndex::build(mangler(), names)
}

fn found<'a>(index: &'a DirIndex, name: &str) -> Option<&'a str> {
    index.lookup(name).and_then(|id| index.name(id))
}

fn short(index: &DirIndex, name: &str) -> String {
    index
        .short(index.exact(name).unwrap())
        .unwrap()
        .to_text(index.mangler.page())
}

/// Checks the invariants of an index.
fn check(index: &DirIndex, names: &BTreeSet<String>) {
    assert_eq!(
        index
            .iter()
            .map(|(_, n)| n.to_string())
            .collect::<BTreeSet<_>>(),
        *names
    );
    assert_eq!(index.len(), names.len());
    let mut shorts = BTreeSet::new();
    for (id, name) in index.iter() {
        let short = index.short(id).unwrap();
        let text = short.to_text(index.mangler.page());
        assert!(shorts.insert(short), "the 8.3 name {text} is not unique");
        assert_eq!(
            index.mangler.legal(&text),
            Some(short),
            "the 8.3 name {text} of {name} must be valid"
        );
        assert_eq!(found(index, name), Some(name), "search by exact name");
        let by_short = found(index, &text).unwrap();
        // A name that differs in case only may be the exact match of the look-up.
        assert!(
            by_short == name || eq_ignore_case(by_short, name),
            "the 8.3 name {text} of {name} finds {by_short}"
        );
        assert!(
            eq_ignore_case(found(index, &fold(name)).unwrap(), name),
            "search for {name} in capitals"
        );
    }
    let listed = index
        .entries
        .iter()
        .filter(|e| e.len > 0 && e.listed)
        .count();
    assert_eq!(
        listed,
        index.shorts.len(),
        "the index must contain no stale 8.3 names"
    );
}

#[test]
fn names_are_found_in_any_case_and_the_exact_one_first() {
    let index = build(&["readme", "README", "Größe.txt", "Other"]);
    assert_eq!(found(&index, "readme"), Some("readme"));
    assert_eq!(found(&index, "README"), Some("README"));
    assert_eq!(
        found(&index, "ReadMe"),
        Some("README"),
        "expected the first name in byte order"
    );
    assert_eq!(found(&index, "GRÖßE.TXT"), Some("Größe.txt"));
    assert_eq!(found(&index, "OTHER"), Some("Other"));
    assert_eq!(found(&index, "nothing"), None);
    assert_eq!(index.lookup_all("rEADME").count(), 2);
}

#[test]
fn long_names_have_short_ones_and_are_found_by_them() {
    let index = build(&["A very long file name.text", "readme.txt", "Program Files"]);
    assert_eq!(short(&index, "A very long file name.text"), "AVERYL~1.TEX");
    assert_eq!(short(&index, "readme.txt"), "README.TXT");
    assert_eq!(
        found(&index, "averyl~1.tex"),
        Some("A very long file name.text")
    );
    assert_eq!(found(&index, "PROGRA~1"), Some("Program Files"));
}

#[test]
fn names_that_begin_alike_differ_by_a_hash() {
    let index = build(&[
        "A very long file name 2.text",
        "A very long file name 1.text",
        "A very long file name 3.text",
    ]);
    assert_eq!(
        short(&index, "A very long file name 1.text"),
        "AVERYL~1.TEX"
    );
    let second = mangler().basis("A very long file name 2.text").candidate(1);
    assert_eq!(
        short(&index, "A very long file name 2.text"),
        second.to_text(mangler().page())
    );
}

#[test]
fn a_short_name_stays_while_other_files_are_created_and_removed() {
    let mut index = build(&["Program Files", "Program Files (x86)"]);
    let (first, second) = (
        short(&index, "Program Files"),
        short(&index, "Program Files (x86)"),
    );
    assert_eq!(first, "PROGRA~1");
    index.insert("Program A").unwrap();
    assert_eq!(short(&index, "Program Files"), first);
    index.remove("Program Files");
    index.remove("Program A");
    index.insert("Program Data").unwrap();
    assert_eq!(short(&index, "Program Files (x86)"), second);
    assert_eq!(short(&index, "Program Data"), "PROGRA~1");
}

#[test]
fn a_file_whose_real_name_is_a_generated_one_takes_it() {
    let mut index = build(&["Program Files"]);
    index.insert("progra~1").unwrap();
    assert_eq!(short(&index, "progra~1"), "PROGRA~1");
    assert_eq!(found(&index, "PROGRA~1"), Some("progra~1"));
    let moved = mangler()
        .basis("Program Files")
        .candidate(1)
        .to_text(mangler().page());
    assert_eq!(short(&index, "Program Files"), moved);
    assert_eq!(found(&index, &moved), Some("Program Files"));
    let built = build(&["Program Files", "progra~1"]);
    assert_eq!(
        short(&built, "Program Files"),
        moved,
        "a new index must be equal"
    );
}

#[test]
fn names_that_differ_in_case_are_both_reachable_from_dos() {
    let index = build(&["readme.txt", "README.TXT", "Readme.txt"]);
    assert_eq!(short(&index, "README.TXT"), "README.TXT");
    let second = short(&index, "Readme.txt");
    assert_eq!(second, "README~1.TXT");
    assert_eq!(found(&index, &second), Some("Readme.txt"));
    assert_eq!(
        found(&index, &short(&index, "readme.txt")),
        Some("readme.txt")
    );
}

#[test]
fn a_page_without_capitals_for_all_letters_still_tells_files_apart() {
    let index = DirIndex::build(Mangler::new(CodePage::cp437()), &["fête", "fete", "tête"]);
    assert_eq!(short(&index, "fete"), "FETE");
    assert_eq!(short(&index, "tête"), "TETE");
    assert_eq!(found(&index, "TETE"), Some("tête"));
    assert_eq!(found(&index, &short(&index, "fête")), Some("fête"));
    let mut index = DirIndex::build(Mangler::new(CodePage::cp437()), &["tête"]);
    index.insert("tete").unwrap();
    assert_eq!(short(&index, "tete"), "TETE");
    assert_eq!(found(&index, &short(&index, "tête")), Some("tête"));
}

#[test]
fn the_order_of_the_list_does_not_matter() {
    let mut names: Vec<String> = (0..300)
        .map(|i| format!("Quarterly report {}.text", i * 7919 % 1000))
        .collect();
    names.extend([
        "QUARTE~1.TEX".into(),
        "quarte~1.tex".into(),
        "B".into(),
        "b".into(),
    ]);
    let one = DirIndex::build(mangler(), &names);
    names.reverse();
    let other = DirIndex::build(mangler(), &names);
    for name in &names {
        assert_eq!(short(&one, name), short(&other, name));
    }
    check(&one, &names.into_iter().collect());
}

#[test]
fn a_renamed_file_is_found_by_its_new_name_only() {
    let mut index = build(&["old name.txt", "target.txt"]);
    index.rename("old name.txt", "target.txt").unwrap();
    assert_eq!(index.len(), 1);
    index.rename("target.txt", "Target.txt").unwrap();
    assert_eq!(found(&index, "TARGET.TXT"), Some("Target.txt"));
    assert_eq!(index.exact("target.txt"), None);
}

#[test]
fn a_refresh_keeps_short_names_and_places() {
    let mut index = build(&["Program Files", "Program Files (x86)", "gone"]);
    let place = index.exact("Program Files (x86)").unwrap();
    let (first, second) = (
        short(&index, "Program Files"),
        short(&index, "Program Files (x86)"),
    );
    index.refresh(&["Program A", "Program Files (x86)", "Program Files"]);
    assert_eq!(
        (
            short(&index, "Program Files"),
            short(&index, "Program Files (x86)")
        ),
        (first, second)
    );
    assert_eq!(index.exact("Program Files (x86)"), Some(place));
    assert_eq!(index.exact("gone"), None);
    check(
        &index,
        &["Program A", "Program Files (x86)", "Program Files"]
            .iter()
            .map(|n| n.to_string())
            .collect(),
    );
}

#[test]
fn removing_names_during_iteration_returns_each_name_once() {
    let names: Vec<String> = (0..2000).map(|i| format!("file number {i}")).collect();
    let mut index = DirIndex::build(mangler(), &names);
    let (mut place, mut met) = (None, BTreeSet::new());
    while let Some(id) = index.next_after(place) {
        let name = index.name(id).unwrap().to_string();
        index.remove(&name);
        assert!(met.insert(name));
        place = Some(id);
    }
    assert_eq!(met.len(), 2000);
    assert!(index.is_empty() && index.shorts.is_empty());
    assert!(
        index.text.len() <= 2 * 4096,
        "gaps must be closed: {}",
        index.text.len()
    );
}

#[test]
fn names_whose_candidates_are_all_taken_get_a_number() {
    let long = "A very long file name.text";
    let basis = mangler().basis(long);
    let mut index = DirIndex::new(mangler());
    for rank in 0..MAX_CANDIDATES {
        index
            .insert(&basis.candidate(rank).to_text(mangler().page()))
            .unwrap();
    }
    index.insert(long).unwrap();
    assert!(
        short(&index, long).starts_with("~000"),
        "{}",
        short(&index, long)
    );
    assert_eq!(found(&index, &short(&index, long)), Some(long));
}

#[test]
fn fifty_thousand_names_that_begin_alike_stay_within_150_bytes_each() {
    let names: Vec<String> = (0..50_000)
        .map(|i| format!("Measurement series {i:06}.data"))
        .collect();
    let start = Instant::now();
    let mut index = DirIndex::build(mangler(), &names);
    let built = start.elapsed();
    let shorts: BTreeSet<_> = index
        .iter()
        .map(|(id, _)| index.short(id).unwrap())
        .collect();
    assert_eq!(shorts.len(), 50_000);
    let start = Instant::now();
    for name in names.iter().take(10_000) {
        assert!(index.remove(name));
        index.insert(name).unwrap();
    }
    let changed = start.elapsed() / 20_000;
    let start = Instant::now();
    for name in &names {
        assert!(index.lookup(&name.to_ascii_uppercase()).is_some());
    }
    let looked_up = start.elapsed() / 50_000;
    let bytes = index.memory_bytes() / index.len();
    println!(
        "build {built:?}, insert or remove {changed:?}, look-up {looked_up:?}, {bytes} bytes a name"
    );
    assert!(bytes <= 150, "{bytes}");
}

#[derive(Clone, Debug)]
enum Op {
    Insert(String),
    Remove(String),
    Rename(String, String),
    Refresh(Vec<String>),
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[aAbB~1]{1,3}",
        "[aA]{6,8}[bB ]{0,2}",
        "[ab]{6}~1",
        "[aA][êeE][bé]?",
        "[ .a]{1,4}"
    ]
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => names().prop_map(Op::Insert),
        3 => names().prop_map(Op::Remove),
        2 => (names(), names()).prop_map(|(a, b)| Op::Rename(a, b)),
        1 => prop::collection::vec(names(), 0..12).prop_map(Op::Refresh),
    ]
}

proptest! {
    #[test]
    fn any_operations_keep_every_name_findable_and_every_short_name_unique(
        ops in prop::collection::vec(ops(), 0..40), page in prop_oneof![Just(437u16), Just(850)]
    ) {
        let mut index = DirIndex::new(Mangler::new(CodePage::from_number(page).unwrap()));
        let mut model = BTreeSet::new();
        for op in ops {
            match op {
                Op::Insert(name) => { index.insert(&name); model.insert(name); }
                Op::Remove(name) => prop_assert_eq!(index.remove(&name), model.remove(&name)),
                Op::Rename(from, to) => { index.rename(&from, &to); model.remove(&from); model.insert(to); }
                Op::Refresh(names) => { index.refresh(&names); model = names.into_iter().collect(); }
            }
            check(&index, &model);
        }
    }

    #[test]
    fn building_gives_the_same_short_names_in_any_order(names in prop::collection::vec(names(), 0..20), turn in 0usize..20) {
        let one = DirIndex::build(mangler(), &names);
        let mut turned = names.clone();
        turned.rotate_left(turn % names.len().max(1));
        let other = DirIndex::build(mangler(), &turned);
        for name in &names {
            prop_assert_eq!(short(&one, name), short(&other, name));
        }
        check(&one, &names.into_iter().collect());
    }
}
