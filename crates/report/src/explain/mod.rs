//! Reports of `coax explain`: as text, as JSON and as a page.

mod advice;
mod agreed;
mod breakdown;
mod effect;
mod explained;
mod file_advice;
mod file_changes;
mod frames;
mod gain;
pub mod html;
mod joined;
pub mod json;
mod operations;
mod paper;
pub mod text;
mod tree;
mod verdict;
pub mod words;

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use coax_explain::{
    Analyser, Error,
    capture::Reader,
    joined::Joint,
    recognise::remarks,
    report::{Capture, Connection, Party},
};
use coax_wire::time::Time;

pub use effect::sorted as ranked_advice;
pub use explained::{CopyAdvice, Explained, Prediction, Suggestion};
pub use file_advice::{FileAdvice, FileChanges, FileState};
pub use gain::together;

/// Reads one capture; `-` is standard input. `client` replaces the recognised client.
///
/// # Errors
/// [`Error`], if the file cannot be opened or contains no readable capture.
pub fn read(path: &Path, client: Option<&Party>) -> Result<Explained, Error> {
    let capture = match is_file(path) {
        true => coax_explain::explain_file(|| open(path))?,
        false => coax_explain::explain(open(path)?)?,
    };
    Ok(explained(path.display().to_string(), capture, client))
}

/// As [`read`], until `goes_on` says no, which is asked each time before the file is read further.
///
/// # Errors
/// The same; of kind [`io::ErrorKind::Interrupted`] if `goes_on` said no.
pub fn read_while(
    path: &Path,
    client: Option<&Party>,
    goes_on: &dyn Fn() -> bool,
) -> Result<Explained, Error> {
    let stopped = || Error::from(io::Error::from(io::ErrorKind::Interrupted));
    let stoppable = || {
        let file = open(path)?;
        Ok(Stoppable { file, goes_on })
    };
    let capture = match is_file(path) {
        true => coax_explain::explain_file(stoppable),
        false => stoppable()
            .map_err(Error::from)
            .and_then(coax_explain::explain),
    };
    if !goes_on() {
        return Err(stopped());
    }
    Ok(explained(path.display().to_string(), capture?, client))
}

/// A file that seems to end when nobody wants the rest.
struct Stoppable<'a> {
    file: Box<dyn Read>,
    goes_on: &'a dyn Fn() -> bool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.goes_on)() {
            true => self.file.read(buffer),
            false => Ok(0),
        }
    }
}

/// Reads what belongs together: two captures of the same copies, at the client and at the server, in any order; or the
/// pieces of one capture.
///
/// # Errors
/// The index of the first unreadable file, and the error.
pub fn read_joined<P: AsRef<Path>>(
    paths: &[P],
    client: Option<&Party>,
) -> Result<Explained, (usize, Error)> {
    if let [one, other] = paths
        && let Some(explained) = read_both_ends([one.as_ref(), other.as_ref()], client)?
    {
        return Ok(explained);
    }
    read_pieces(paths, client)
}

/// Reads captures of both ends; `None` if they have no packets in common.
fn read_both_ends(
    paths: [&Path; 2],
    client: Option<&Party>,
) -> Result<Option<Explained>, (usize, Error)> {
    for (place, path) in paths.iter().enumerate() {
        begins(path).map_err(|error| (place, error))?;
    }
    let path = |place: usize| if place == 0 { paths[0] } else { paths[1] };
    let opened = |place: usize| open(path(place)).map_err(|error| (place, error.into()));
    let (mut one, mut other) = (opened(0)?, opened(1)?);
    let Some(joint) = Joint::of([&mut *one, &mut *other])? else {
        return Ok(None);
    };
    let place = usize::from(joint.is_swapped());
    let capture = joint
        .explain(opened(place)?)
        .map_err(|error| (place, error))?;
    let [of_client, of_server] = [place, 1 - place].map(|place| path(place).display());
    let name = format!("{of_client} + {of_server}");
    Ok(Some(explained(name, capture, client)))
}

/// Reads the files of one capture, as `dumpcap -b` and `tcpdump -C` write them, sorted by their first packets. Frame
/// numbers continue from file to file.
fn read_pieces<P: AsRef<Path>>(
    paths: &[P],
    client: Option<&Party>,
) -> Result<Explained, (usize, Error)> {
    let mut pieces = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        let first = begins(path.as_ref()).map_err(|error| (place, error))?;
        pieces.push((first, place, path.as_ref()));
    }
    pieces.sort();
    let mut analyser = Analyser::default();
    for (_, place, path) in &pieces {
        let piece = open(path).map_err(Error::from);
        let read = piece.and_then(|piece| analyser.read(piece));
        read.map_err(|error| (*place, error))?;
    }
    let names = pieces.iter().map(|(_, _, path)| path.display().to_string());
    let name = names.collect::<Vec<_>>().join(" + ");
    Ok(explained(name, analyser.finish(), client))
}

/// Time of the first packet of a file; files without packets sort last.
fn begins(path: &Path) -> Result<Time, Error> {
    if !fs::metadata(path)?.is_file() {
        let why = "only files can be joined, for each is opened twice";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why).into());
    }
    let mut reader = Reader::new(open(path)?)?;
    Ok(reader
        .next_packet()?
        .map_or(Time(u64::MAX), |packet| packet.at))
}

/// Whether it can be opened again.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    if fs::metadata(path)?.is_dir() {
        let why = "it is a folder: name the captures in it";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, why));
    }
    Ok(Box::new(File::open(path)?))
}

/// An analysed capture with advice and predictions. `client` replaces the recognised client.
pub fn explained(name: String, mut capture: Capture, client: Option<&Party>) -> Explained {
    if let Some(client) = client {
        let carrying = capture.connections.iter_mut();
        for connection in carrying.filter(|connection| connection.smb.is_some()) {
            connection.parties[0] = client.clone();
        }
    }
    let mut advice = advice::about(&capture);
    gain::predict(&capture, &mut advice);
    Explained {
        name,
        advice,
        remarks: remarks(&capture),
        file_changes: None,
        capture,
    }
}

/// Whether a connection at the end of `before` continues in `after`, so that the files are probably parts of one
/// capture.
pub fn goes_on(before: &Capture, after: &Capture) -> bool {
    let ends = |connection: &Connection| {
        let (client, server) = (connection.client, connection.server);
        (client.min(server), client.max(server))
    };
    let (Some((_, end)), Some((start, _))) = (before.span, after.span) else {
        return false;
    };
    let mut later = after.connections.iter().filter(|one| !one.has_start);
    start >= end && later.any(|one| before.connections.iter().any(|it| ends(it) == ends(one)))
}
