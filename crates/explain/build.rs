//! Embeds the files of some folders of `data`, so that the lists are never out of step with the folders.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    embed("clients")?;
    embed("advice")
}

/// Writes a slice of name and text of each TOML file in the folder, in the order of names.
fn embed(name: &str) -> io::Result<()> {
    let home = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = fs::canonicalize(Path::new(&home).join("../../data").join(name))?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let mut text = String::from("&[\n");
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let whole = path.display().to_string();
        let _ = writeln!(text, "    ({stem:?}, include_str!({whole:?})),");
    }
    text.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join(format!("{name}.rs")), text)
}
