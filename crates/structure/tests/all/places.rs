//! A change of data needs one place, as CONTRIBUTING.md says.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Sources of pages and programs, not of tests.
fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for folder in fs::read_dir(&crates).unwrap() {
        collect(&folder.unwrap().path().join("src"), &crates, &mut all);
    }
    all
}

fn collect(folder: &Path, root: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            collect(&path, root, all);
        } else if ["rs", "js", "css"].iter().any(|end| name.ends_with(end))
            && !name.ends_with("tests.rs")
        {
            all.push((name, fs::read_to_string(path).unwrap()));
        }
    }
}

fn text<'a>(all: &'a [(String, String)], name: &str) -> &'a str {
    let found = all.iter().find(|(known, _)| known == name);
    &found.unwrap().1
}

/// Whether a file names this cause: as code, as a key in quotes, or as a CSS variable or class.
fn names(text: &str, variant: &str, key: &str) -> bool {
    let forms = [
        format!("Cause::{variant}"),
        format!("Self::{variant}"),
        format!("\"{key}\""),
        format!("--{key}:"),
        format!("rect.{key}"),
    ];
    forms.iter().any(|form| text.contains(form))
}

#[test]
fn only_the_table_of_causes_lists_them_all() {
    let all = sources();
    let table = text(&all, "cause/src/cause.rs");
    let mut causes = Vec::new();
    let mut lines = table.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let key = lines.peek().and_then(|next| next.strip_prefix("key: \""));
        if let (Some(variant), Some(key)) = (line.strip_suffix(" {"), key) {
            causes.push((variant, key.trim_end_matches("\",")));
        }
    }
    assert!(causes.len() >= 15, "{causes:?}");
    for (name, text) in all.iter().filter(|(name, _)| !name.starts_with("cause/")) {
        let named = causes
            .iter()
            .filter(|(variant, key)| names(text, variant, key));
        let count = named.count();
        assert!(
            count < 12,
            "{name} names {count} causes: derive them from Cause::ALL"
        );
    }
}

#[test]
fn only_the_catalog_parses_data_files() {
    let all = sources();
    assert!(text(&all, "catalog/src/read.rs").contains("toml::from_str"));
    for (name, text) in all.iter().filter(|(name, _)| !name.starts_with("catalog/")) {
        let program = text.split("#[cfg(test)]").next().unwrap();
        assert!(!program.contains("toml::from_str"), "{name} parses TOML");
    }
}
