//! The texts of the files in `data/`, embedded by the build script.

/// Name (without folder and ending) and text of the files in one folder, in the order of names.
pub type Files = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The text of the file with this name.
pub fn find(files: Files, name: &str) -> Option<&'static str> {
    let found = files.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// All names, as error messages list them.
pub fn names(files: Files) -> alloc::string::String {
    let names: alloc::vec::Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// The title of a file; empty if it has none.
pub fn title(text: &str) -> alloc::string::String {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let title = table.get("title").and_then(toml::Value::as_str);
    title.unwrap_or_default().into()
}
