//! The resolver on small crates.

use std::collections::BTreeMap;

use coax_structure::{Error, Sources, Structure};

struct Files(BTreeMap<String, String>);

impl Sources for Files {
    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    fn read(&self, path: &str) -> Result<String, Error> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| Error::new(path, &"no such file"))
    }
}

/// The structure of a crate with these files in `src`.
fn structure(files: &[(&str, &str)]) -> Structure {
    let files = files
        .iter()
        .map(|(path, text)| (format!("src/{path}"), (*text).to_owned()))
        .collect();
    Structure::of_sources(&Files(files)).unwrap()
}

fn edges(files: &[(&str, &str)]) -> Vec<String> {
    structure(files)
        .graph
        .edges()
        .map(|edge| format!("{} -> {}", &edge.from[4..], &edge.to[4..]))
        .collect()
}

fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    structure(files)
        .graph
        .cycles()
        .into_iter()
        .map(|cycle| cycle.files)
        .collect()
}

#[test]
fn a_module_declaration_and_a_re_export_are_no_dependencies() {
    assert!(
        edges(&[
            ("lib.rs", "mod a; pub use a::Thing;"),
            ("a.rs", "pub struct Thing;")
        ])
        .is_empty()
    );
}

#[test]
fn a_name_that_a_facade_re_exports_and_uses_is_a_dependency() {
    let files = [
        (
            "lib.rs",
            "mod a; pub use a::Thing; pub fn make() -> Thing { Thing }",
        ),
        ("a.rs", "pub struct Thing;"),
    ];
    assert_eq!(edges(&files), ["lib.rs -> a.rs"]);
}

#[test]
fn a_cycle_through_a_re_export_leads_to_the_files_that_define() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod inner; pub use inner::Inner;"),
        (
            "a/inner.rs",
            "use crate::b::Other; pub struct Inner(Other);",
        ),
        (
            "b.rs",
            "use crate::a::Inner; pub struct Other; pub fn take(_: Inner) {}",
        ),
    ];
    assert_eq!(edges(&files), ["a/inner.rs -> b.rs", "b.rs -> a/inner.rs"]);
    assert_eq!(cycles(&files), [["src/a/inner.rs", "src/b.rs"]]);
}

#[test]
fn a_cycle_through_super_is_found() {
    let files = [
        ("lib.rs", "mod a;"),
        (
            "a/mod.rs",
            "mod child; pub struct Parent; fn run() { child::run() }",
        ),
        (
            "a/child.rs",
            "use super::Parent; pub fn run() { let _ = Parent; }",
        ),
    ];
    assert_eq!(cycles(&files), [["src/a/child.rs", "src/a/mod.rs"]]);
}

#[test]
fn a_path_through_two_supers_is_followed() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod child;"),
        ("a/child.rs", "fn run() { super::super::b::run() }"),
        ("b.rs", "pub fn run() {}"),
    ];
    assert_eq!(edges(&files), ["a/child.rs -> b.rs"]);
}

#[test]
fn glob_imports_count_for_the_names_that_are_used() {
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod prelude { pub use crate::b::*; pub use crate::c::*; }",
        ),
        (
            "a.rs",
            "use crate::prelude::*; fn run() { local(); let helper = 1; helper; Used::new(); } fn local() {}",
        ),
        ("b.rs", "pub struct Used; pub struct Unused;"),
        ("c.rs", "use crate::a; pub fn helper() {}"),
    ];
    assert_eq!(edges(&files), ["a.rs -> b.rs"]);
}

#[test]
fn a_glob_import_of_an_enum_is_a_dependency() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::Kind::*; fn f() { One; }"),
        ("b.rs", "pub enum Kind { One }"),
    ];
    assert_eq!(edges(&files), ["a.rs -> b.rs"]);
}

#[test]
fn code_for_tests_is_ignored() {
    let files = [
        (
            "lib.rs",
            "mod a; mod b; #[cfg(all(test, unix))] mod only_tests;",
        ),
        (
            "a.rs",
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; } #[test] fn t() { crate::b::B; }",
        ),
        (
            "b.rs",
            "use crate::a::A; pub struct B(A); #[cfg(test)] use crate::only_tests;",
        ),
    ];
    assert_eq!(edges(&files), ["b.rs -> a.rs"]);
    assert_eq!(structure(&files).graph.files().count(), 3);
}

#[test]
fn code_for_a_feature_counts() {
    let files = [
        (
            "lib.rs",
            "mod a; #[cfg(any(test, feature = \"x\"))] mod b; #[cfg(not(test))] mod c;",
        ),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::a::A;"),
        ("c.rs", "use crate::a::A;"),
    ];
    assert_eq!(edges(&files), ["b.rs -> a.rs", "c.rs -> a.rs"]);
}

#[test]
fn inline_paths_aliases_and_macro_arguments_count() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        (
            "a.rs",
            "use crate::b as other; fn f(_: other::Thing) { matches!(1, crate::c::LIMIT); vec![g()]; } use super::d::make as g;",
        ),
        ("b.rs", "pub struct Thing;"),
        ("c.rs", "pub const LIMIT: u8 = 1;"),
        ("d.rs", "pub fn make() {}"),
    ];
    assert_eq!(
        edges(&files),
        ["a.rs -> b.rs", "a.rs -> c.rs", "a.rs -> d.rs"]
    );
}

#[test]
fn imports_within_functions_count() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "fn f() { use crate::b::run; run(); }"),
        ("b.rs", "pub fn run() {}"),
    ];
    assert_eq!(edges(&files), ["a.rs -> b.rs"]);
}

#[test]
fn exported_macros_belong_to_the_file_that_defines_them() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "#[macro_export] macro_rules! twice { () => { $crate::b::run() }; }",
        ),
        ("b.rs", "pub fn run() { crate::twice!() }"),
    ];
    assert_eq!(edges(&files), ["a.rs -> b.rs", "b.rs -> a.rs"]);
}

#[test]
fn other_crates_and_imports_of_themselves_are_ignored() {
    let files = [
        (
            "lib.rs",
            "use std::fmt; use other; use other::*; use a::a; mod a; fn f() { fmt::Debug; Unknown; }",
        ),
        ("a.rs", "pub use super::a as b;"),
    ];
    assert!(edges(&files).is_empty());
}

#[test]
fn a_module_and_a_function_of_one_name_are_told_apart() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub fn b() {}"),
        ("a.rs", "fn f() { crate::b::Thing; }"),
        ("b.rs", "pub struct Thing;"),
        ("c.rs", "fn f() { crate::b(); }"),
    ];
    assert_eq!(edges(&files), ["a.rs -> b.rs", "c.rs -> lib.rs"]);
}

#[test]
fn files_of_path_attributes_and_of_inline_modules_are_found() {
    let files = [
        ("lib.rs", "mod a; mod inline { mod deep; }"),
        (
            "a.rs",
            "#[path = \"other/place.rs\"] mod elsewhere; fn f() { elsewhere::run() }",
        ),
        ("other/place.rs", "pub fn run() {}"),
        ("inline/deep.rs", "fn f() { crate::missing::Thing; }"),
    ];
    assert_eq!(edges(&files), ["a.rs -> other/place.rs"]);
}

#[test]
fn an_implementation_belongs_in_the_module_of_its_type_or_below() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod child; pub struct Thing; impl Thing {}"),
        (
            "a/child.rs",
            "use super::Thing; impl Thing {} impl Default for Thing { }",
        ),
        (
            "b.rs",
            "use crate::a::Thing; impl Thing {} impl Default for Thing { }",
        ),
    ];
    let misplaced = structure(&files).misplaced;
    assert_eq!(misplaced.len(), 1);
    assert_eq!(
        (misplaced[0].file.as_str(), misplaced[0].defined_in.as_str()),
        ("src/b.rs", "src/a.rs")
    );
}

#[test]
fn a_cycle_or_a_misplaced_implementation_makes_a_structure_unsound() {
    let cycle = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use crate::a::A; pub struct B(A);"),
    ];
    let misplaced = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::a::A; impl A { fn f() {} }"),
    ];
    let sound = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::a::A; fn f(_: A) {}"),
    ];
    assert!(!structure(&cycle).is_sound());
    assert!(!structure(&misplaced).is_sound());
    assert!(structure(&sound).is_sound());
}
