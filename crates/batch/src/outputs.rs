//! Where the results of all captures go together.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use coax_report::{explain::words::harmless_json, files::is_stdout};
use serde_json::Value;

use crate::error::BatchError;

/// A file of lines that gets its name when it is complete; `-` is standard output.
pub(crate) struct Lines {
    to: Box<dyn Write>,
    part: Option<PathBuf>,
    path: PathBuf,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lines").field(&self.path).finish()
    }
}

/// The name of a file until it is complete.
pub(crate) fn part_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

pub(crate) fn not_written(path: &Path, error: impl ToString) -> BatchError {
    BatchError::Write {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

impl Lines {
    pub(crate) fn create(path: &Path) -> Result<Self, BatchError> {
        if is_stdout(path) {
            return Ok(Self {
                to: Box::new(io::stdout().lock()),
                part: None,
                path: path.to_owned(),
            });
        }
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            // a pipe or a device has its name already
            let file = fs::OpenOptions::new().write(true).open(path);
            return Ok(Self {
                to: Box::new(file.map_err(|error| not_written(path, error))?),
                part: None,
                path: path.to_owned(),
            });
        }
        let part = part_name(path);
        let file = File::create(&part).map_err(|error| not_written(path, error))?;
        Ok(Self {
            to: Box::new(BufWriter::new(file)),
            part: Some(part),
            path: path.to_owned(),
        })
    }

    pub(crate) fn add(&mut self, capture: &Value) -> Result<(), BatchError> {
        let line = harmless_json(format!("{capture}\n"));
        self.checked(|to| to.write_all(line.as_bytes()))
    }

    fn checked(
        &mut self,
        act: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), BatchError> {
        act(&mut *self.to).map_err(|error| not_written(&self.path, error))
    }

    /// Completes it.
    pub(crate) fn finish(mut self) -> Result<(), BatchError> {
        self.checked(|to| to.flush())?;
        match self.part.take() {
            Some(part) => {
                fs::rename(part, &self.path).map_err(|error| not_written(&self.path, error))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // what is not complete is of no use
            let _ = fs::remove_file(part);
        }
    }
}
