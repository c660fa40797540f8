//! The errors of requests, by origin: the bytes, the request, or the file system. One place maps each to a status.

use crate::{reason::Reason, vfs::VfsError};
use coax_wire::status::Status;

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The client's bytes do not decode.
    #[error("malformed request: {0}")]
    Malformed(#[from] coax_wire::Error),
    /// The server refuses the request.
    #[error("{0}")]
    Status(Status),
    /// The server refuses the request because of a known rule.
    #[error("{0}")]
    Refused(Status, Reason),
    /// The file system reported an error.
    #[error("file system: {0}")]
    Vfs(#[from] VfsError),
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl Error {
    /// The status for the client.
    pub fn status(self) -> Status {
        match self {
            Self::Malformed(_) => Status::INVALID_SMB,
            Self::Status(status) | Self::Refused(status, _) => status,
            Self::Vfs(error) => vfs_status(error),
        }
    }
}

impl Error {
    /// The same refusal with another status.
    #[must_use]
    pub fn with_status(self, status: Status) -> Self {
        match self {
            Self::Refused(_, reason) => Self::Refused(status, reason),
            Self::Vfs(VfsError::Denied) => Self::Refused(status, Reason::FilePermission),
            _ => Self::Status(status),
        }
    }

    /// The rule behind the refusal, if known.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Refused(_, reason) => Some(reason),
            Self::Vfs(VfsError::Denied) => Some(Reason::FilePermission),
            Self::Vfs(VfsError::Escapes) => Some(Reason::LeavesShare),
            Self::Vfs(VfsError::ReadOnly) => Some(Reason::ReadOnlyFileSystem),
            _ => None,
        }
    }
}

/// Attaches a [`Reason`] to a status.
pub trait Because {
    /// The error with this status and reason.
    fn because(self, reason: Reason) -> Error;
}

impl Because for Status {
    fn because(self, reason: Reason) -> Error {
        Error::Refused(self, reason)
    }
}

/// The only mapping from file system errors to statuses.
pub fn vfs_status(error: VfsError) -> Status {
    match error {
        VfsError::NotFound => Status::OBJECT_NAME_NOT_FOUND,
        VfsError::NotADirectory => Status::NOT_A_DIRECTORY,
        VfsError::IsADirectory => Status::FILE_IS_A_DIRECTORY,
        VfsError::Exists => Status::OBJECT_NAME_COLLISION,
        VfsError::NotEmpty => Status::DIRECTORY_NOT_EMPTY,
        VfsError::Denied | VfsError::Escapes => Status::ACCESS_DENIED,
        VfsError::ReadOnly => Status::MEDIA_WRITE_PROTECTED,
        VfsError::NoSpace | VfsError::TooLarge => Status::DISK_FULL,
        VfsError::TooManyOpen => Status::TOO_MANY_OPENED_FILES,
        VfsError::NameTooLong | VfsError::InvalidName => Status::OBJECT_NAME_INVALID,
        VfsError::CrossDevice => Status::NOT_SAME_DEVICE,
        VfsError::Busy => Status::SHARING_VIOLATION,
        VfsError::Unsupported => Status::NOT_SUPPORTED,
        VfsError::NoAttribute => Status::NONEXISTENT_EA_ENTRY,
        VfsError::Gone => Status::DEVICE_NOT_READY,
        VfsError::Io(_) => Status::UNEXPECTED_IO_ERROR,
    }
}

/// The result of an engine operation.
pub type Result<T> = core::result::Result<T, Error>;
