//! A print job during spooling.
//!
//! A job has a hidden name until it is closed, so programs that watch the folder see only complete jobs. If the client
//! disconnects, the server deletes its job.

use crate::{
    budget::Lease,
    error::Result,
    vfs::{OpenHow, Vfs, VfsError, VfsFile, VfsResult},
};
use alloc::{format, string::String, sync::Arc};
use coax_wire::status::Status;

/// Most names tried for a job.
const ATTEMPTS: u64 = 1000;
/// Longest client-chosen part of a job's name, characters.
const LONGEST_IDENTIFIER: usize = 40;

/// A job during spooling.
#[derive(Debug)]
pub struct Job {
    /// Hidden name during spooling.
    spooled_as: String,
    /// Final name without number and extension.
    identifier: String,
    /// Length so far, bytes.
    bytes: u64,
    /// The client wants it deleted when it is closed.
    is_cancelled: bool,
    /// The reservation of its file descriptor.
    _lease: Lease,
}

impl Job {
    /// Starts a job in the folder of a printer share: the job and its file. `seed` determines the hidden name; `lease`
    /// reserves the file's descriptor.
    ///
    /// # Errors
    /// `QUEUE_FULL`; file system errors.
    pub fn begin(
        vfs: &dyn Vfs,
        identifier: &str,
        seed: u64,
        lease: Lease,
    ) -> Result<(Self, Arc<dyn VfsFile>)> {
        let (spooled_as, file) = spool_file(vfs, seed)?;
        let job = Self {
            spooled_as,
            identifier: tame(identifier),
            bytes: 0,
            is_cancelled: false,
            _lease: lease,
        };
        Ok((job, file))
    }

    /// The client's name for it, reduced to characters that are valid in a file's name.
    pub fn name(&self) -> &str {
        &self.identifier
    }

    /// The hidden name during spooling.
    pub fn spooled_as(&self) -> &str {
        &self.spooled_as
    }

    /// Its length so far, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether closing the job deletes it.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Sets whether closing the job deletes it.
    pub fn cancel(&mut self, is_cancelled: bool) {
        self.is_cancelled = is_cancelled;
    }

    /// Appends to the job's file and returns the number of bytes written.
    ///
    /// # Errors
    /// File system errors.
    pub fn append(&mut self, file: &dyn VfsFile, data: &[u8]) -> VfsResult<usize> {
        let written = match file.write_at(self.bytes, data) {
            Ok(()) => data.len(),
            Err((0, error)) => return Err(error),
            Err((written, _)) => written,
        };
        self.bytes = self.bytes.saturating_add(written as u64);
        Ok(written)
    }

    /// Gives the job its final name and returns it. Deletes a job that is empty, cancelled, not `wanted`, or cannot be
    /// renamed.
    ///
    /// # Errors
    /// `QUEUE_FULL`; file system errors.
    pub fn finish(&self, vfs: &dyn Vfs, wanted: bool) -> Result<Option<String>> {
        if !wanted || self.is_cancelled || self.bytes == 0 {
            vfs.remove_file(&self.spooled_as)?;
            return Ok(None);
        }
        let path = hand_over(vfs, self).inspect_err(|_| {
            let _ = vfs.remove_file(&self.spooled_as);
        })?;
        Ok(Some(path))
    }
}

fn spool_file(vfs: &dyn Vfs, seed: u64) -> Result<(String, Arc<dyn VfsFile>)> {
    let how = OpenHow {
        read: true,
        write: true,
        create: true,
        exclusive: true,
        truncate: false,
    };
    for number in 0..ATTEMPTS {
        let name = format!(".coax-{}.spool", seed.wrapping_add(number));
        match vfs.open(&name, how) {
            Ok((file, _)) => return Ok((name, file)),
            Err(VfsError::Exists) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Status::QUEUE_FULL.into())
}

/// Reduces the client's name of a job to a part of a file's name: letters, digits and a few other characters, no path.
/// It does not begin with a dot, which would hide it, or with a dash, which a print command would take for an option.
fn tame(identifier: &str) -> String {
    let last = identifier.rsplit(['\\', '/', ':']).next().unwrap_or("");
    let tamed: String = last
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(LONGEST_IDENTIFIER)
        .collect();
    let tamed = tamed.trim_matches('.').trim_start_matches(['-', '.']);
    if tamed.is_empty() {
        "job".into()
    } else {
        tamed.into()
    }
}

/// Gives a complete job its final name.
fn hand_over(vfs: &dyn Vfs, job: &Job) -> Result<String> {
    for number in 1..=ATTEMPTS {
        let path = format!("{}-{number:03}.prn", job.identifier);
        match vfs.rename(&job.spooled_as, &path, false) {
            Err(VfsError::Exists) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(path),
        }
    }
    Err(Status::QUEUE_FULL.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_jobs_never_contain_a_path() {
        for (given, tamed) in [
            ("..\\..\\etc\\passwd", "passwd"),
            ("..", "job"),
            ("", "job"),
            ("LPT1:", "job"),
            ("a b*c", "a_b_c"),
            ("-rf", "rf"),
            ("..--help", "help"),
        ] {
            assert_eq!(tame(given), tamed);
        }
    }
}
