//! Copies from the server. The data goes to a partial file, which is renamed to the final name when it is complete.

use std::{
    collections::HashSet,
    fs::{self, File, FileTimes},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coax_client::{CopySpec, FileStat, Operation};

use super::{
    Copied, CopyError, Fault, Kept,
    destination::Destination,
    local,
    part::{claim, mark, resume_point, unmark},
};
use crate::client::{
    Connection,
    local::{Compare, FileEnd},
};

/// Files of at least this size are checked for changes on the server after the copy.
const WORTH_A_LOOK: u64 = 64 << 10;

/// A copy from the server to a file.
#[derive(Clone, Debug)]
pub struct Fetch<'a> {
    /// Path in the share.
    pub path: &'a str,
    /// The file's metadata on the server.
    pub stat: FileStat,
    /// The local file.
    pub to: &'a Path,
    /// The [`final_path`](super::final_path) of every file that the same run creates. None of them becomes a partial
    /// file.
    pub targets: &'a HashSet<PathBuf>,
    /// Resume a partial file even if nothing shows that it belongs to the same source file.
    pub resume: bool,
    /// Read the file again and compare.
    pub verify: bool,
}

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
    let part = Part::open(connection, order)?;
    destination.protect(&part.file);
    let from = part.from;
    let mut end = FileEnd::new(
        part.file.try_clone().map_err(|e| local(&part.path, &e))?,
        part.path.display().to_string(),
        from,
    );
    let wide = connection.link().nt_smbs();
    let spec = CopySpec {
        from,
        size: wide.then_some(order.stat.size),
        checks_end: !wide,
        ..CopySpec::get(order.path)
    };
    watch(from);
    let run = connection.run_watched(Operation::Copy(spec), &mut end, &mut |bytes| {
        watch(from.saturating_add(bytes));
    });
    if let Err(error) = run {
        let whole = match error.smb() {
            // The size of these data belongs to no file: nothing to resume.
            Some(coax_client::Error::Unfit(_)) => 0,
            _ => end.whole(),
        };
        return Err(part.keep(order, whole, error.into()));
    }
    match part.settle(connection, order, &destination) {
        Ok(bytes) => Ok(Copied {
            bytes,
            resumed_from: from,
            verified: order.verify,
        }),
        Err(fault) => Err(part.drop_it(fault)),
    }
}

struct Part {
    path: PathBuf,
    file: File,
    from: u64,
}

impl Part {
    fn open(connection: &Connection, order: &Fetch<'_>) -> Result<Self, Fault> {
        let (path, file) = claim(order)?;
        let len = file.metadata().map_err(|error| local(&path, &error))?.len();
        let from = resume_point(&file, len, connection, order);
        file.set_len(from).map_err(|error| local(&path, &error))?;
        mark(&file, order.stat, None);
        Ok(Self { path, file, from })
    }

    /// Final steps after the last byte: checks, times, rename.
    fn settle(
        &self,
        connection: &mut Connection,
        order: &Fetch<'_>,
        destination: &Destination,
    ) -> Result<u64, Fault> {
        let found = self.file.metadata();
        let copied = found.map_err(|error| local(&self.path, &error))?.len();
        let mut stat = order.stat;
        if stat.size >= WORTH_A_LOOK || copied != stat.size {
            stat = connection.stat(order.path)?;
        }
        if (stat.size, stat.modified) != (order.stat.size, order.stat.modified) {
            return Err(Fault::Changed);
        }
        if copied != stat.size {
            let expected = stat.size;
            return Err(Fault::Size { copied, expected });
        }
        if order.verify {
            self.verify(connection, order)?;
        }
        unmark(&self.file);
        destination.keep_mode(&self.file);
        if let Some(modified) = order.stat.modified.and_then(system_time) {
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
            (None, compared) if compared != order.stat.size => Err(Fault::Changed),
            _ => Ok(()),
        }
    }

    /// Keeps the complete bytes of an interrupted copy so that it can be resumed.
    fn keep(self, order: &Fetch<'_>, whole: u64, fault: Fault) -> CopyError {
        if whole == 0 || self.file.set_len(whole).is_err() {
            return self.drop_it(fault);
        }
        let goes_on = mark(&self.file, order.stat, Some(whole));
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

/// Converts nanoseconds since 1970.
fn system_time(ns: i64) -> Option<SystemTime> {
    let span = Duration::from_nanos(ns.unsigned_abs());
    if ns < 0 {
        UNIX_EPOCH.checked_sub(span)
    } else {
        UNIX_EPOCH.checked_add(span)
    }
}
