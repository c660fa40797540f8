//! Copies to the server. The data goes to a temporary name, which is renamed to the final one when it is complete.

use std::{
    fs::File,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use coax_client::{CopySpec, Existing, Operation};
use coax_wire::status::Status;

use super::{Copied, CopyError, Fault, Kept, local, writes_under_way};
use crate::client::{
    Connection, Error,
    local::{Compare, FileEnd, FromStream},
    ops::{join, says},
};

/// For smaller files, looking for a partial copy on the server takes longer than copying again.
const WORTH_A_LOOK: u64 = 256 << 10;

/// A copy of a local file to the server.
#[derive(Clone, Debug)]
pub struct Store<'a> {
    /// The local file; `None` is standard input.
    pub from: Option<&'a Path>,
    /// Path in the share.
    pub to: &'a str,
    /// Resume a partial copy even if it is of another version of the file.
    pub resume: bool,
    /// Read it back and compare.
    pub verify: bool,
    /// Replace a file of the final name.
    pub replace: bool,
}

/// Copies a file to the server. `watch` gets the number of bytes sent.
///
/// # Errors
/// [`CopyError`]. A file under the final name is then unchanged.
pub fn store(
    connection: &mut Connection,
    order: &Store<'_>,
    watch: &mut dyn FnMut(u64),
) -> Result<Copied, CopyError> {
    let Some(path) = order.from else {
        return stream(connection, order, watch);
    };
    let source = Source::open(path)?;
    let temporary = temporary(order.to, source.size, source.modified);
    let (temporary, from) = resume_point(connection, order, &source, temporary)?;
    let spec = CopySpec {
        from,
        modified: source.modified,
        existing: if from > 0 {
            Existing::Resume
        } else {
            Existing::Replace
        },
        ..CopySpec::put(temporary.as_str(), source.size)
    };
    send(connection, &source, path, spec, watch)?;
    let settled = source
        .unchanged(path)
        .and_then(|()| settle(connection, order, &source, path, &temporary));
    if let Err(fault) = settled {
        return Err(drop_it(connection, &temporary, fault));
    }
    finish(connection, order, &temporary, source.size)?;
    Ok(Copied {
        bytes: source.size,
        resumed_from: from,
        verified: order.verify,
    })
}

/// Copies the data from the resume point. Keeps the received part of a failed copy.
fn send(
    connection: &mut Connection,
    source: &Source,
    path: &Path,
    spec: CopySpec,
    watch: &mut dyn FnMut(u64),
) -> Result<(), CopyError> {
    let file = source.file.try_clone().map_err(|e| local(path, &e))?;
    let mut end = FileEnd::new(file, path.display().to_string(), 0);
    let (temporary, from) = (spec.path.clone(), spec.from);
    let mut there = from;
    watch(from);
    let run = connection.run_watched(Operation::Copy(spec), &mut end, &mut |bytes| {
        there = from.saturating_add(bytes);
        watch(there);
    });
    run.map(drop)
        .map_err(|error| keep(connection, &temporary, there, error))
}

/// Copies standard input, whose length is unknown.
fn stream(
    connection: &mut Connection,
    order: &Store<'_>,
    watch: &mut dyn FnMut(u64),
) -> Result<Copied, CopyError> {
    let temporary = temporary(order.to, u64::MAX, None);
    let spec = CopySpec {
        size: None,
        seekable: false,
        ..CopySpec::put(temporary.as_str(), 0)
    };
    let mut end = FromStream::new(std::io::stdin().lock(), "standard input");
    if let Err(error) = connection.run_watched(Operation::Copy(spec), &mut end, watch) {
        return Err(drop_it(connection, &temporary, error.into()));
    }
    let bytes = end.read_bytes();
    if let Err(fault) = same_size(connection, &temporary, bytes) {
        return Err(drop_it(connection, &temporary, fault));
    }
    finish(connection, order, &temporary, bytes)?;
    Ok(Copied {
        bytes,
        ..Copied::default()
    })
}

struct Source {
    file: File,
    size: u64,
    modified: Option<i64>,
}

impl Source {
    fn open(path: &Path) -> Result<Self, Fault> {
        let file = File::open(path).map_err(|error| local(path, &error))?;
        let (size, modified) = size_and_time(path, &file)?;
        Ok(Self {
            file,
            size,
            modified,
        })
    }

    fn unchanged(&self, path: &Path) -> Result<(), Fault> {
        if size_and_time(path, &self.file)? == (self.size, self.modified) {
            Ok(())
        } else {
            Err(Fault::Changed)
        }
    }
}

fn size_and_time(path: &Path, file: &File) -> Result<(u64, Option<i64>), Fault> {
    let metadata = file.metadata().map_err(|error| local(path, &error))?;
    let modified = metadata.modified().ok().and_then(unix_ns);
    Ok((metadata.len(), modified))
}

/// Nanoseconds since 1970.
fn unix_ns(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos())
            .ok()
            .map(|ns| -ns),
    }
}

/// Checks the copy after the last byte.
fn settle(
    connection: &mut Connection,
    order: &Store<'_>,
    source: &Source,
    path: &Path,
    temporary: &str,
) -> Result<(), Fault> {
    same_size(connection, temporary, source.size)?;
    if !order.verify {
        return Ok(());
    }
    let file = source
        .file
        .try_clone()
        .map_err(|error| local(path, &error))?;
    let mut same = Compare::new(file, path.display().to_string());
    connection.run(Operation::Copy(CopySpec::get(temporary)), &mut same)?;
    match same.differs_at() {
        Some(at) => Err(Fault::Differs { at }),
        None if same.compared() != source.size => Err(Fault::Size {
            copied: same.compared(),
            expected: source.size,
        }),
        None => Ok(()),
    }
}

fn same_size(connection: &mut Connection, temporary: &str, expected: u64) -> Result<(), Fault> {
    let copied = connection.stat(temporary)?.size;
    if copied == expected {
        Ok(())
    } else {
        Err(Fault::Size { copied, expected })
    }
}

/// Renames the copy to its final name.
fn finish(
    connection: &mut Connection,
    order: &Store<'_>,
    temporary: &str,
    bytes: u64,
) -> Result<(), CopyError> {
    let renamed = if order.replace {
        connection.rename_over(temporary, order.to)
    } else {
        connection.rename(temporary, order.to)
    };
    let Err(error) = renamed else {
        return Ok(());
    };
    // If the old file still exists, deleting the new one loses no data.
    if connection.is_over()
        || matches!(connection.find(order.to), Ok(None) | Err(_)) && !is_name_error(&error)
    {
        let kept = Kept {
            at: temporary.into(),
            bytes,
            goes_on: true,
        };
        return Err(CopyError {
            fault: error.into(),
            kept: Some(kept),
        });
    }
    Err(drop_it(connection, temporary, error.into()))
}

fn is_name_error(error: &Error) -> bool {
    let about = [
        Status::OBJECT_NAME_INVALID,
        Status::OBJECT_PATH_NOT_FOUND,
        Status::OBJECT_NAME_NOT_FOUND,
        Status::OBJECT_PATH_SYNTAX_BAD,
    ];
    matches!(error.smb(), Some(coax_client::Error::Unfit(_))) || says(error, &about)
}

/// Handles an interrupted copy: the partial file stays if the connection broke, and is deleted otherwise.
fn keep(connection: &mut Connection, temporary: &str, there: u64, error: Error) -> CopyError {
    let broke = connection.is_over() && !matches!(error, Error::Shrunk { .. });
    if !broke {
        return drop_it(connection, temporary, error.into());
    }
    let kept = (there > 0).then(|| Kept {
        at: temporary.into(),
        bytes: there,
        goes_on: true,
    });
    CopyError {
        fault: error.into(),
        kept,
    }
}

fn drop_it(connection: &mut Connection, temporary: &str, fault: Fault) -> CopyError {
    if !connection.is_over() {
        // The copy has failed already. If the file cannot be deleted, the next copy overwrites it.
        let _ = connection.delete(temporary);
    }
    fault.into()
}

/// Where to resume, and in which file: a partial copy of this file version, or with `resume` of any version.
fn resume_point(
    connection: &mut Connection,
    order: &Store<'_>,
    source: &Source,
    temporary: String,
) -> Result<(String, u64), Error> {
    if source.size < WORTH_A_LOOK && !order.resume {
        return Ok((temporary, 0));
    }
    let under_way = writes_under_way(connection.profile());
    let usable = |size: u64| {
        if size > source.size {
            0
        } else {
            size.saturating_sub(under_way)
        }
    };
    if let Some(stat) = connection.find(&temporary)? {
        return Ok((temporary, usable(stat.size)));
    }
    if !order.resume {
        return Ok((temporary, 0));
    }
    let (folder, name) = split(&temporary);
    let stem = name.split('.').next().unwrap_or_default();
    let entries = connection.list(folder, &format!("{stem}.*"))?;
    let largest = entries.iter().max_by_key(|entry| entry.stat.size);
    Ok(match largest {
        Some(entry) => (join(folder, &entry.name), usable(entry.stat.size)),
        None => (temporary, 0),
    })
}

/// The temporary name of a copy: valid on the oldest servers, and equal for equal files. The stem depends on the final
/// name, the extension on size and time of the source.
fn temporary(to: &str, size: u64, modified: Option<i64>) -> String {
    let (folder, name) = split(to);
    let stem = letters(hash(name.to_uppercase().as_bytes()), 6);
    let source = [size.to_le_bytes(), modified.unwrap_or(0).to_le_bytes()].concat();
    let extension = letters(hash(&source), 3);
    join(folder, &format!("CX{stem}.{extension}"))
}

#[cfg(test)]
pub(super) fn temporary_for_tests(to: &str, size: u64, modified: i64) -> String {
    temporary(to, size, Some(modified))
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// FNV-1a, 64 bits. It must not change between releases because names on servers depend on it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn letters(mut number: u64, count: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    (0..count)
        .filter_map(|_| {
            let digit = usize::try_from(number % 36).ok()?;
            number /= 36;
            DIGITS.get(digit).map(|byte| char::from(*byte))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temporary_name_is_8_3_in_the_same_folder_and_the_same_for_the_same_file() {
        let name = temporary("GAMES/A very long name.with.dots", 42, Some(7));
        assert_eq!(
            name,
            temporary("GAMES/a VERY long name.with.dots", 42, Some(7))
        );
        let (folder, file) = split(&name);
        let (stem, extension) = file.split_once('.').unwrap_or_default();
        assert_eq!((folder, stem.len(), extension.len()), ("GAMES", 8, 3));
        let other = temporary("GAMES/A very long name.with.dots", 43, Some(7));
        assert_eq!(split(&other).1.split('.').next(), Some(stem));
        assert_ne!(other, name);
        assert_ne!(
            split(&temporary("GAMES/B", 42, Some(7))).1.get(..8),
            Some(stem)
        );
    }
}
