//! Lists cycles and misplaced implementations: `cargo run -p coax-structure -- [--write] [CRATE]...`
//!
//! `--write` updates the lists of known violations. It refuses a list that would grow.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use coax_structure::{Known, Structure};

type Problem = Box<dyn std::error::Error>;

/// The violations of a crate and the file with its known ones.
struct Found {
    list: PathBuf,
    violations: Known,
}

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
    match crates.iter().map(|name| examine(name)).collect() {
        Ok(found) if write => finish(update(found)),
        Ok(_) => ExitCode::SUCCESS,
        Err(problem) => finish(Err(problem)),
    }
}

fn finish(result: Result<(), Problem>) -> ExitCode {
    if let Err(problem) = result {
        eprintln!("{problem}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
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

/// Prints the violations of a crate.
fn examine(name: &str) -> Result<Found, Problem> {
    let structure =
        Structure::of_crate(&workspace().join(name)).map_err(|error| format!("{name}/{error}"))?;
    print(name, &structure);
    let list = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("known")
        .join(format!("{name}.txt"));
    Ok(Found {
        list,
        violations: Known::of(&structure),
    })
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

/// Writes the lists, removes empty ones, and refuses if there are more violations than before.
fn update(found: Vec<Found>) -> Result<(), Problem> {
    let mut known = 0;
    for one in &found {
        known += match fs::read_to_string(&one.list) {
            Ok(text) => Known::parse(&text).len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error.into()),
        };
    }
    let total: usize = found.iter().map(|one| one.violations.len()).sum();
    if total > known {
        return Err(format!("the lists would grow from {known} to {total} lines").into());
    }
    for Found { list, violations } in found {
        if !violations.is_empty() {
            fs::write(&list, violations.to_string())?;
        } else if list.exists() {
            fs::remove_file(&list)?;
        }
    }
    Ok(())
}
