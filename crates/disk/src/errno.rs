//! Maps the system's error numbers to the engine's errors.

use coax_server::vfs::VfsError;
use rustix::io::Errno;

/// For a call that looks up or creates a path: a refused lookup left the share, an invalid argument means an invalid
/// name.
pub(super) fn opening(errno: Errno) -> VfsError {
    match errno {
        Errno::XDEV => VfsError::Escapes,
        Errno::INVAL | Errno::ILSEQ => VfsError::InvalidName,
        other => error(other),
    }
}

/// For a call with two paths, both beneath the root: an invalid argument means a folder moved into itself.
pub(super) fn renaming(errno: Errno) -> VfsError {
    match errno {
        Errno::XDEV => VfsError::CrossDevice,
        Errno::INVAL => VfsError::Denied,
        // A file onto a folder above it: folders are never replaced, so it was not about what is in it.
        Errno::NOTEMPTY => VfsError::IsADirectory,
        other => error(other),
    }
}

/// For any other call.
pub(super) fn error(errno: Errno) -> VfsError {
    match errno {
        // A loop of symbolic links has no target.
        Errno::NOENT | Errno::LOOP => VfsError::NotFound,
        Errno::NOTDIR => VfsError::NotADirectory,
        Errno::ISDIR => VfsError::IsADirectory,
        Errno::EXIST => VfsError::Exists,
        Errno::NOTEMPTY => VfsError::NotEmpty,
        // A file opened one way and used another, and what there is at a device without a driver.
        Errno::ACCESS | Errno::PERM | Errno::BADF | Errno::NXIO | Errno::NODEV => VfsError::Denied,
        Errno::XDEV => VfsError::CrossDevice,
        Errno::ROFS => VfsError::ReadOnly,
        Errno::NOSPC | Errno::DQUOT => VfsError::NoSpace,
        Errno::MFILE | Errno::NFILE => VfsError::TooManyOpen,
        Errno::NAMETOOLONG => VfsError::NameTooLong,
        Errno::FBIG | Errno::TOOBIG => VfsError::TooLarge,
        Errno::BUSY | Errno::TXTBSY | Errno::AGAIN => VfsError::Busy,
        Errno::OPNOTSUPP | Errno::NOSYS => VfsError::Unsupported,
        Errno::NODATA => VfsError::NoAttribute,
        other => VfsError::Io(other.raw_os_error()),
    }
}
