//! Lists cycles and misplaced implementations: `cargo run -p coax-structure -- [CRATE]...`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use coax_structure::{Error, Structure};

fn main() -> ExitCode {
    let mut crates: Vec<String> = env::args().skip(1).collect();
    if crates.iter().any(|word| word.starts_with('-')) {
        eprintln!("usage: cargo run -p coax-structure -- [CRATE]...");
        return ExitCode::from(2);
    }
    if crates.is_empty() {
        crates = all_crates();
    }
    let mut all_sound = true;
    for name in crates {
        match examine(&name) {
            Ok(is_sound) => all_sound &= is_sound,
            Err(error) => {
                eprintln!("{name}/{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::from(u8::from(!all_sound))
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn all_crates() -> Vec<String> {
    let folders = fs::read_dir(workspace()).into_iter().flatten().flatten();
    let mut names: Vec<_> = folders
        .filter_map(|folder| folder.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Prints the violations of a crate. Whether there are none.
fn examine(name: &str) -> Result<bool, Error> {
    let structure = Structure::of_crate(&workspace().join(name))?;
    print(name, &structure);
    Ok(structure.is_sound())
}

fn print(name: &str, structure: &Structure) {
    let cycles = structure.graph.cycles();
    println!(
        "{name}: {} files, {} cycles, {} misplaced",
        structure.graph.files().count(),
        cycles.len(),
        structure.misplaced.len()
    );
    for cycle in cycles {
        println!(
            "  cycle of {} files: {}",
            cycle.files.len(),
            cycle.files.join(" ")
        );
        for edge in &cycle.edges {
            let mutual = cycle
                .edges
                .iter()
                .any(|other| other.from == edge.to && other.to == edge.from);
            let note = if mutual { " (mutual)" } else { "" };
            println!(
                "    {} -> {} via {}{note}",
                edge.from, edge.to, edge.example
            );
        }
    }
    for found in &structure.misplaced {
        println!(
            "  {}: impl {}, which {} defines",
            found.file, found.type_name, found.defined_in
        );
    }
}
