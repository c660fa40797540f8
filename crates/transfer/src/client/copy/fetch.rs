//! Copies from the server. The data goes to a partial file, which is renamed to the final name when it is complete.

use std::{
    fs::{self, File, FileTimes},
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coax_client::{CopySpec, Error as SmbError, FileStat, Operation, Outcome};

use super::{
    Copied, CopyError, Fault, Fetch, Kept,
    destination::Destination,
    local,
    part::{claim, mark, resume_point, unmark},
};
use crate::client::{
    Connection, Error,
    local::{Compare, FileEnd},
};

/// Files of at least this size are checked for changes on the server after the copy.
const WORTH_A_LOOK: u64 = 64 << 10;

/// The steps of a DOS time stamp ([MS-CIFS] 2.2.1.4.1), which some replies have and others not.
const COARSEST_NS: u64 = 2_000_000_000;

/// Copies a file from the server. `watch` gets the number of bytes received.
///
/// # Errors
/// [`CopyError`]. The file under the final name is then unchanged.
pub fn fetch(
    connection: &mut Connection,
    order: &Fetch<'_>,
    watch: &mut dyn FnMut(u64),
) -> Result<Copied, CopyError> {
    let destination = Destination::resolve(order.to)?;
    let order = &Fetch {
        to: &destination.path,
        ..order.clone()
    };
    // Earlier metadata may be of another version of the file, and those of a list have a coarser time.
    let stat = connection.stat(order.path)?;
    let part = Part::open(connection, order, stat)?;
    destination.protect(&part.file);
    let from = part.from;
    let mut end = FileEnd::new(
        part.file.try_clone().map_err(|e| local(&part.path, &e))?,
        part.path.display().to_string(),
        from,
    );
    let spec = spec(connection, order.path, from, stat);
    watch(from);
    let run = connection.run_watched(Operation::Copy(spec), &mut end, &mut |bytes| {
        watch(from.saturating_add(bytes));
    });
    let opened = match run {
        Ok(Outcome::Copied { modified, .. }) => modified,
        Ok(_) => None,
        Err(error) => return Err(part.keep(end.whole(), error.into())),
    };
    match part.settle(connection, order, &destination, opened) {
        Ok(bytes) => Ok(Copied {
            bytes,
            resumed_from: from,
            verified: order.verify,
        }),
        Err(fault) => Err(part.drop_it(fault)),
    }
}

/// A 64-bit size from the server reveals an open reply that cannot hold it; a 32-bit one must be checked.
fn spec(connection: &Connection, path: &str, from: u64, stat: FileStat) -> CopySpec {
    let wide = connection.link().nt_smbs();
    CopySpec {
        from,
        size: wide.then_some(stat.size),
        checks_end: !wide,
        ..CopySpec::get(path)
    }
}

struct Part {
    path: PathBuf,
    file: File,
    from: u64,
    /// The source at the start of the copy.
    stat: FileStat,
}

impl Part {
    fn open(connection: &Connection, order: &Fetch<'_>, stat: FileStat) -> Result<Self, Fault> {
        let (path, file) = claim(order)?;
        let from = resume_point(&file, connection, order, stat);
        file.set_len(from).map_err(|error| local(&path, &error))?;
        mark(&file, stat, None);
        Ok(Self {
            path,
            file,
            from,
            stat,
        })
    }

    /// Final steps after the last byte: checks, times, rename.
    fn settle(
        &self,
        connection: &mut Connection,
        order: &Fetch<'_>,
        destination: &Destination,
        opened: Option<i64>,
    ) -> Result<u64, Fault> {
        let found = self.file.metadata();
        let copied = found.map_err(|error| local(&self.path, &error))?.len();
        let begun = self.stat;
        let other = opened.is_some_and(|opened| differ(opened, begun.modified));
        if begun.size >= WORTH_A_LOOK || copied != begun.size || other {
            let now = connection.stat(order.path)?;
            if (now.size, now.modified) != (begun.size, begun.modified) {
                return Err(Fault::Changed);
            }
        }
        if copied != begun.size {
            let expected = begun.size;
            return Err(Fault::Size { copied, expected });
        }
        if order.verify {
            self.verify(connection, order)?;
        }
        unmark(&self.file);
        destination.keep_mode(&self.file);
        if let Some(modified) = begun.modified.and_then(system_time) {
            // A file system without such times keeps the data.
            let _ = self.file.set_times(FileTimes::new().set_modified(modified));
        }
        fs::rename(&self.path, order.to).map_err(|error| local(order.to, &error))?;
        Ok(copied)
    }

    fn verify(&self, connection: &mut Connection, order: &Fetch<'_>) -> Result<(), Fault> {
        let file = self
            .file
            .try_clone()
            .map_err(|error| local(&self.path, &error))?;
        let mut same = Compare::new(file, self.path.display().to_string());
        let get = Operation::Copy(CopySpec::get(order.path));
        connection.run(get, &mut same)?;
        match (same.differs_at(), same.compared()) {
            (Some(at), _) => Err(Fault::Differs { at }),
            (None, compared) if compared != self.stat.size => Err(Fault::Changed),
            _ => Ok(()),
        }
    }

    /// Keeps the complete bytes of an interrupted copy so that it can be resumed.
    fn keep(self, whole: u64, fault: Fault) -> CopyError {
        // Data that a wrong size cut belong to no file.
        let is_unfit = matches!(&fault, Fault::Client(Error::Smb(SmbError::Unfit(_))));
        if whole == 0 || is_unfit || self.file.set_len(whole).is_err() {
            return self.drop_it(fault);
        }
        let goes_on = mark(&self.file, self.stat, Some(whole));
        CopyError {
            fault,
            kept: Some(Kept {
                at: self.path.display().to_string(),
                bytes: whole,
                goes_on,
            }),
        }
    }

    fn drop_it(&self, fault: Fault) -> CopyError {
        // If the file cannot be removed, the next copy still starts from the beginning, because the mark belongs to no
        // file.
        let _ = fs::remove_file(&self.path);
        fault.into()
    }
}

/// Whether two times are further apart than any server's steps.
fn differ(opened: i64, begun: Option<i64>) -> bool {
    begun.is_none_or(|begun| opened.abs_diff(begun) >= COARSEST_NS)
}

/// Converts nanoseconds since 1970.
fn system_time(ns: i64) -> Option<SystemTime> {
    let span = Duration::from_nanos(ns.unsigned_abs());
    if ns < 0 {
        UNIX_EPOCH.checked_sub(span)
    } else {
        UNIX_EPOCH.checked_add(span)
    }
}
