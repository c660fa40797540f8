//! No crate has import cycles or misplaced implementations.

use std::fs;
use std::path::Path;

use coax_structure::Structure;

#[test]
fn crates_have_no_cycles_and_no_misplaced_implementations() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut examined = 0;
    let mut unsound = Vec::new();
    for folder in fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap().path();
        let structure = Structure::of_crate(&folder).unwrap();
        examined += usize::from(structure.graph.files().count() > 0);
        if !structure.is_sound() {
            unsound.push(folder.file_name().unwrap().to_owned());
        }
    }
    assert!(examined > 10, "only {examined} crates contain files");
    assert!(
        unsound.is_empty(),
        "{unsound:?}: `cargo run -p coax-structure -- CRATE` lists the violations"
    );
}
