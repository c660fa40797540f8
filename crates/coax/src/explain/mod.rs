//! What `coax explain` says of captures: as text, as JSON and as a page.

pub mod advice;
mod agreed;
mod breakdown;
pub mod gain;
pub mod html;
pub mod json;
pub mod text;
mod tree;
mod verdict;
mod words;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use coax_explain::{
    Advice, Error,
    recognise::remarks,
    report::{Capture, Party},
};

/// One capture, read.
#[derive(Debug)]
pub struct Explained {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub capture: Capture,
    /// What to change, of each of its copies.
    pub advice: Vec<Vec<advice::Told>>,
    /// What else is amiss, of a connection by its place.
    pub remarks: Vec<(usize, Advice)>,
    /// What the advice would bring, of the longest copies.
    pub gains: Vec<gain::Gain>,
}

/// Reads one capture. `client` is who the client is, if that is known better than the capture tells it.
///
/// # Errors
/// [`Error`], if it cannot be opened or nothing of it can be read.
pub fn read(path: &Path, client: Option<&Party>) -> Result<Explained, Error> {
    let file = File::open(path)?;
    let mut capture = coax_explain::explain(file)?;
    if let Some(client) = client {
        let carrying = capture.connections.iter_mut();
        for connection in carrying.filter(|connection| connection.smb.is_some()) {
            connection.parties[0] = client.clone();
        }
    }
    let mut advice = advice::about(&capture);
    Ok(Explained {
        path: path.to_owned(),
        gains: gain::predict(&capture, &mut advice),
        advice,
        remarks: remarks(&capture),
        capture,
    })
}
