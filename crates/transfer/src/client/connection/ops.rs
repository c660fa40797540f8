//! Operations that copy nothing, as plain calls.

use coax_client::{DiskSpace, Entry, Error as SmbError, FileStat, Operation, Outcome};
use coax_wire::status::Status;

use super::Connection;
use crate::client::{Error, local::Nothing};

/// A share, as the server's list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareEntry {
    /// Name.
    pub name: String,
    /// 0 disk, 1 printer, 2 device, 3 IPC; 0x8000_0000 hidden ([MS-SRVS] 2.2.2.4).
    pub kind: u32,
    /// Comment.
    pub comment: String,
}

impl Connection {
    /// Times, size and attributes of a file or folder. The share's root is a folder that is not asked for.
    ///
    /// # Errors
    /// As the server says.
    pub fn stat(&mut self, path: &str) -> Result<FileStat, Error> {
        if path.is_empty() {
            return Ok(FileStat {
                attributes: FOLDER,
                ..FileStat::default()
            });
        }
        match self.simply(Operation::Stat { path: path.into() })? {
            Outcome::Stat(stat) => Ok(stat),
            other => Err(unexpected(&other)),
        }
    }

    /// The same; `None` if there is no such file.
    ///
    /// # Errors
    /// As the server says.
    pub fn find(&mut self, path: &str) -> Result<Option<FileStat>, Error> {
        match self.stat(path) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a folder holds of a pattern, without `.` and `..`.
    ///
    /// # Errors
    /// As the server says; a pattern that nothing matches is none.
    pub fn list(&mut self, folder: &str, pattern: &str) -> Result<Vec<Entry>, Error> {
        let pattern = join(folder, pattern);
        match self.simply(Operation::List { pattern }) {
            Ok(Outcome::Entries(mut entries)) => {
                entries.retain(|entry| !matches!(entry.name.as_str(), "" | "." | ".."));
                Ok(entries)
            }
            Ok(other) => Err(unexpected(&other)),
            Err(error) if says(&error, &[Status::NO_SUCH_FILE, Status::NO_MORE_FILES]) => {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// As the server says.
    pub fn delete(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::Delete { path: path.into() })
            .map(drop)
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// As the server says.
    pub fn make_folder(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::MakeDirectory { path: path.into() })
            .map(drop)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// As the server says.
    pub fn remove_folder(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::RemoveDirectory { path: path.into() })
            .map(drop)
    }

    /// Gives a file or folder another name.
    ///
    /// # Errors
    /// As the server says, if there is a file of that name among others.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let (from, to) = (from.into(), to.into());
        self.simply(Operation::Rename { from, to }).map(drop)
    }

    /// Gives a file another name, and takes away the file that has it.
    ///
    /// # Errors
    /// As the server says.
    pub fn rename_over(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let Err(error) = self.rename(from, to) else {
            return Ok(());
        };
        // Servers say differently that a name is taken.
        let taken = error.smb().is_some_and(|error| !error.is_fatal())
            && self.find(to)?.is_some_and(|stat| !stat.is_directory());
        if !taken {
            return Err(error);
        }
        self.delete(to)?;
        self.rename(from, to)
    }

    /// Size and free space of the share's disk.
    ///
    /// # Errors
    /// As the server says.
    pub fn disk_space(&mut self) -> Result<DiskSpace, Error> {
        match self.simply(Operation::DiskSpace)? {
            Outcome::DiskSpace(space) => Ok(space),
            other => Err(unexpected(&other)),
        }
    }

    /// The server's shares, in the order of names. The connection must be to `IPC$`.
    ///
    /// # Errors
    /// As the server says.
    pub fn shares(&mut self) -> Result<Vec<ShareEntry>, Error> {
        match self.simply(Operation::Shares)? {
            Outcome::Shares(shares) => {
                let entry = |(name, kind, comment)| ShareEntry {
                    name,
                    kind,
                    comment,
                };
                let mut shares: Vec<ShareEntry> = shares.into_iter().map(entry).collect();
                shares.sort_by_key(|share| share.name.to_lowercase());
                Ok(shares)
            }
            other => Err(unexpected(&other)),
        }
    }

    fn simply(&mut self, operation: Operation) -> Result<Outcome, Error> {
        self.run(operation, &mut Nothing)
    }
}

/// DOS attribute of folders ([MS-CIFS] 2.2.1.2.4).
pub const FOLDER: u16 = 0x10;

/// Whether the server says that there is no such file or folder.
pub fn is_missing(error: &Error) -> bool {
    let missing = [
        Status::OBJECT_NAME_NOT_FOUND,
        Status::OBJECT_PATH_NOT_FOUND,
        Status::NO_SUCH_FILE,
    ];
    says(error, &missing)
}

/// Whether the server said one of these, as NTSTATUS or as class and code.
pub fn says(error: &Error, statuses: &[Status]) -> bool {
    let Some(said) = error.smb().and_then(SmbError::status) else {
        return false;
    };
    statuses
        .iter()
        .any(|status| *status == said || status.dos() == said.dos())
}

/// A path of a folder's and a name.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.into()
    } else {
        format!("{folder}/{name}")
    }
}

fn unexpected(_: &Outcome) -> Error {
    SmbError::Protocol("an outcome of another operation").into()
}
