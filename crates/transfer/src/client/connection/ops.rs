//! Blocking calls for the operations other than copies.

use coax_client::{
    DiskSpace, Entry, Error as SmbError, FileStat, ListedServer, Operation, Outcome,
};
use coax_wire::{codepage::eq_ignore_case, status::Status};

use super::Connection;
use crate::client::{Error, local::Nothing};

/// An entry of the server's share list.
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
    /// Times, size and attributes of a file or folder. For the root of the share it sends no request.
    ///
    /// # Errors
    /// The server's error.
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

    /// Like [`stat`](Self::stat), but `None` if the file does not exist.
    ///
    /// # Errors
    /// The server's error.
    pub fn find(&mut self, path: &str) -> Result<Option<FileStat>, Error> {
        match self.stat(path) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists the entries of a folder that match a pattern, without `.` and `..`.
    ///
    /// # Errors
    /// The server's error. A pattern without matches is not an error.
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
    /// The server's error.
    pub fn delete(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::Delete { path: path.into() })
            .map(drop)
    }

    /// Creates a folder.
    ///
    /// # Errors
    /// The server's error.
    pub fn make_folder(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::MakeDirectory { path: path.into() })
            .map(drop)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// The server's error.
    pub fn remove_folder(&mut self, path: &str) -> Result<(), Error> {
        self.simply(Operation::RemoveDirectory { path: path.into() })
            .map(drop)
    }

    /// Renames a file or folder.
    ///
    /// # Errors
    /// The server's error, for example if the new name exists.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let (from, to) = (from.into(), to.into());
        self.simply(Operation::Rename { from, to }).map(drop)
    }

    /// Renames a file and replaces an existing file of the new name. The existing file gets another name first and is
    /// deleted last, so that it can get its name back if the rename fails.
    ///
    /// # Errors
    /// The server's error. Both files then have the names that they had, unless it is [`Error::Aside`].
    pub fn rename_over(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let Err(error) = self.rename(from, to) else {
            return Ok(());
        };
        let replaces = self.is_taken(&error)
            && !eq_ignore_case(from, to)
            && self.is_file(from)
            && self.is_file(to);
        if !replaces {
            return Err(error);
        }
        let aside = self.set_aside(to)?;
        if let Err(error) = self.rename(from, to) {
            return Err(self.put_back(aside, to, error));
        }
        let Err(error) = self.delete(&aside) else {
            return Ok(());
        };
        // Servers let a read-only file be renamed, but not deleted.
        match self.rename(to, from) {
            Ok(()) => Err(self.put_back(aside, to, error)),
            Err(_) => Err(Error::aside(aside, error)),
        }
    }

    /// Whether a rename failed because the new name exists. Servers without NTSTATUS may report ERRnoaccess for it, as
    /// the core protocol has no better code (*SMB Core Protocol* 5.11).
    fn is_taken(&self, error: &Error) -> bool {
        says(
            error,
            &[Status::OBJECT_NAME_COLLISION, Status::DOS_RENAME_EXISTS],
        ) || !self.link().nt_status && says(error, &[Status::ACCESS_DENIED])
    }

    fn is_file(&mut self, path: &str) -> bool {
        matches!(self.find(path), Ok(Some(stat)) if !stat.is_directory())
    }

    /// Gives a file a name that no other file in its folder has, and that every server accepts.
    fn set_aside(&mut self, path: &str) -> Result<String, Error> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut number = 0;
        loop {
            let aside = join(folder, &format!("COAX_OLD.{number:03}"));
            match self.rename(path, &aside) {
                Ok(()) => return Ok(aside),
                Err(error) if number < ASIDE_MAX && self.is_taken(&error) => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives a file that was set aside its name back after this error.
    fn put_back(&mut self, aside: String, to: &str, error: Error) -> Error {
        match self.rename(&aside, to) {
            Ok(()) => error,
            Err(_) => Error::aside(aside, error),
        }
    }

    /// Size and free space of the share's disk.
    ///
    /// # Errors
    /// The server's error.
    pub fn disk_space(&mut self) -> Result<DiskSpace, Error> {
        match self.simply(Operation::DiskSpace)? {
            Outcome::DiskSpace(space) => Ok(space),
            other => Err(unexpected(&other)),
        }
    }

    /// The server's shares, sorted by name. The connection must be to `IPC$`.
    ///
    /// # Errors
    /// The server's error.
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

    /// The servers or workgroups that this browser knows. The connection must be to `IPC$`.
    ///
    /// # Errors
    /// The server's error; it keeps no list.
    pub fn servers(
        &mut self,
        kinds: u32,
        domain: Option<&str>,
    ) -> Result<Vec<ListedServer>, Error> {
        let domain = domain.map(str::to_owned);
        match self.simply(Operation::Servers { kinds, domain })? {
            Outcome::Servers(servers) => Ok(servers),
            other => Err(unexpected(&other)),
        }
    }

    fn simply(&mut self, operation: Operation) -> Result<Outcome, Error> {
        self.run(operation, &mut Nothing)
    }
}

/// The highest number in the name of a file that was set aside.
const ASIDE_MAX: u32 = 99;

/// DOS attribute of folders ([MS-CIFS] 2.2.1.2.4).
pub const FOLDER: u16 = 0x10;

/// Whether the error means that the file or folder does not exist.
pub fn is_missing(error: &Error) -> bool {
    let missing = [
        Status::OBJECT_NAME_NOT_FOUND,
        Status::OBJECT_PATH_NOT_FOUND,
        Status::NO_SUCH_FILE,
    ];
    says(error, &missing)
}

/// Whether the server returned one of these errors, as NTSTATUS or as class and code.
pub fn says(error: &Error, statuses: &[Status]) -> bool {
    let Some(message) = error.smb().and_then(SmbError::status) else {
        return false;
    };
    statuses
        .iter()
        .any(|status| *status == message || status.dos() == message.dos())
}

/// The path of `name` in `folder`.
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
