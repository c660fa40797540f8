//! Embeds `data/`: one list for each folder, so that a new file needs no entry anywhere else.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let home = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let data = fs::canonicalize(Path::new(&home).join("data"))?;
    println!("cargo::rerun-if-changed={}", data.display());
    let mut text = String::new();
    for path in entries(&data)? {
        if path.is_dir() {
            let files = toml_files(&path)?;
            list(&mut text, &path, &files);
        } else if is_toml(&path) {
            let _ = writeln!(text, "/// The text of `data/{}.toml`.", stem(&path));
            let _ = writeln!(
                text,
                "pub const {}: &str = include_str!({:?});",
                constant(&path),
                path.display().to_string()
            );
        }
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("files.rs"), text)
}

fn list(text: &mut String, folder: &Path, files: &[PathBuf]) {
    let name = constant(folder);
    let _ = writeln!(
        text,
        "/// Name and text of each file in `data/{}`, in the order of names.",
        stem(folder)
    );
    let _ = writeln!(text, "pub const {name}: Files = &[");
    for path in files {
        let _ = writeln!(
            text,
            "    ({:?}, include_str!({:?})),",
            stem(path),
            path.display().to_string()
        );
    }
    text.push_str("];\n");
}

fn toml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = entries(folder)?;
    files.retain(|path| is_toml(path));
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn is_toml(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "toml")
}

fn stem(path: &Path) -> String {
    let name = if path.is_dir() {
        path.file_name()
    } else {
        path.file_stem()
    };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// `clients-guess.toml` becomes `CLIENTS_GUESS`.
fn constant(path: &Path) -> String {
    stem(path).to_uppercase().replace('-', "_")
}
