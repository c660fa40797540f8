//! What `coax explain` says of captures: as text and as JSON.

pub mod json;
pub mod text;
mod verdict;
mod words;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use coax_explain::{Error, report::Capture};

/// One capture, read.
#[derive(Debug)]
pub struct Explained {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub capture: Capture,
}

/// Reads one capture.
///
/// # Errors
/// [`Error`], if it cannot be opened or nothing of it can be read.
pub fn read(path: &Path) -> Result<Explained, Error> {
    let file = File::open(path)?;
    Ok(Explained {
        path: path.to_owned(),
        capture: coax_explain::explain(file)?,
    })
}
