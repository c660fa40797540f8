//! Reads extended attributes of any length with few system calls.

use coax_server::vfs::{VfsError, VfsResult};
use rustix::{
    fd::{AsRawFd, OwnedFd},
    io::Errno,
};

use super::errno::error;

/// Size of the first buffer, bytes: almost every attribute fits.
const USUAL: usize = 512;
/// Maximum length of an attribute and of a list of names (XATTR_SIZE_MAX, XATTR_LIST_MAX).
const LONGEST: usize = 65_536;

/// Reads an attribute of an open file.
pub(super) fn of_fd(fd: &OwnedFd, name: &str) -> VfsResult<Vec<u8>> {
    read(|buf| rustix::fs::fgetxattr(fd, name, buf))
}

/// Reads an attribute of a file opened with `O_PATH`.
pub(super) fn of_path_fd(fd: &OwnedFd, name: &str) -> VfsResult<Vec<u8>> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    read(|buf| rustix::fs::getxattr(path.as_str(), name, buf))
}

/// Reads an attribute of the object at `path`, which is not a symbolic link.
pub(super) fn of_path(path: &[u8], name: &str) -> VfsResult<Vec<u8>> {
    read(|buf| rustix::fs::lgetxattr(path, name, buf))
}

/// Whether the object at `path`, which is not a symbolic link, may have user attributes other than `besides`. An error
/// counts as yes.
pub(super) fn others_of_path(path: &[u8], besides: &str) -> bool {
    let Ok(list) = read(|buf| rustix::fs::llistxattr(path, buf)) else {
        return true;
    };
    let names = list.split(|b| *b == 0);
    names
        .filter(|name| name.starts_with(b"user."))
        .any(|name| name != besides.as_bytes())
}

/// The names of all attributes of an open file, without those that are not Unicode: clients cannot request them.
pub(super) fn names_of(fd: &OwnedFd) -> VfsResult<Vec<String>> {
    let list = read(|buf| rustix::fs::flistxattr(fd, buf))?;
    let names = list.split(|b| *b == 0).filter(|name| !name.is_empty());
    Ok(names
        .filter_map(|name| std::str::from_utf8(name).ok())
        .map(str::to_owned)
        .collect())
}

fn read(mut get: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> VfsResult<Vec<u8>> {
    let mut usual = [0; USUAL];
    match get(&mut usual) {
        Ok(len) => return Ok(usual.get(..len).unwrap_or(&usual).to_vec()),
        Err(Errno::RANGE) => {}
        Err(other) => return Err(error(other)),
    }
    let mut longest = vec![0; LONGEST];
    let len = get(&mut longest).map_err(|e| {
        if e == Errno::RANGE {
            VfsError::TooLarge
        } else {
            error(e)
        }
    })?;
    longest.truncate(len);
    Ok(longest)
}
