//! Lists cycles and misplaced implementations: `cargo run -p coax-structure -- [--write] [CRATE]...`
//!
//! `--write` updates the lists of known violations. It refuses a list that would grow.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use coax_structure::{Known, Structure};

fn main() -> ExitCode {
    let (options, mut crates): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|word| word.starts_with('-'));
    let write = options.iter().any(|option| option == "--write");
    if options.iter().any(|option| option != "--write") {
        eprintln!("usage: cargo run -p coax-structure -- [--write] [CRATE]...");
        return ExitCode::from(2);
    }
    if crates.is_empty() {
        crates = all_crates();
    }
    let mut code = ExitCode::SUCCESS;
    for name in crates {
        if let Err(problem) = examine(&name, write) {
            eprintln!("{name}: {problem}");
            code = ExitCode::FAILURE;
        }
    }
    code
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

fn examine(name: &str, write: bool) -> Result<(), Box<dyn std::error::Error>> {
    let structure = Structure::of_crate(&workspace().join(name))?;
    print(name, &structure);
    if write {
        update(name, &Known::of(&structure))?;
    }
    Ok(())
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

/// Writes the list of a crate, or removes it if it is empty.
fn update(name: &str, found: &Known) -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("known")
        .join(format!("{name}.txt"));
    let known = match fs::read_to_string(&path) {
        Ok(text) => Known::parse(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::default(),
        Err(error) => return Err(error.into()),
    };
    if found.len() > known.len() {
        return Err(format!(
            "the list would grow from {} to {} lines",
            known.len(),
            found.len()
        )
        .into());
    }
    if !found.is_empty() {
        fs::write(&path, found.to_string())?;
    } else if path.exists() {
        fs::remove_file(&path)?;
    }
    Ok(())
}
