//! Folders of shares.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use coax_serve::{prepare, probe};
use coax_smbconf::settings::Settings;

use super::bounded::text;
use crate::{
    access::{Owned, acl},
    facts::Share,
    parse::{Mount, mount_of},
};

/// The table of mounts, bytes.
const MOUNTS_MAX: u64 = 16 << 20;
/// An access control list, bytes: XATTR_SIZE_MAX (linux/limits.h) is 64 KiB.
const ACL_MAX: usize = 64 << 10;

/// Names and folders of shares.
pub(super) fn folders(settings: &Settings) -> Vec<(String, PathBuf)> {
    let shares = settings.shares.iter().filter(|share| share.available);
    let folders =
        shares.filter_map(|share| Some((share.name.clone(), prepare::folder_of(settings, share)?)));
    folders.collect()
}

pub(super) fn shares(folders: &[(String, PathBuf)]) -> Vec<Share> {
    folders
        .iter()
        .map(|(name, path)| share(name, path))
        .collect()
}

fn share(name: &str, path: &Path) -> Share {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = probe::look(&path).map_err(|error| std::io::Error::from(error).to_string());
    let folder = folder.and_then(|folder| match path.is_dir() {
        true => Ok(folder),
        false => Err("it is not a folder".into()),
    });
    Share {
        name: name.to_owned(),
        folder,
        mount: mount_point(&path),
        way: way(&path),
        path,
    }
}

/// The file system of a folder.
pub fn mount_point(path: &Path) -> Option<Mount> {
    mount_of(&text("/proc/self/mountinfo", MOUNTS_MAX), path)
}

/// The folders from the root to `path`, as far as this process may look.
pub fn way(path: &Path) -> Vec<(PathBuf, Owned)> {
    let mut folders: Vec<&Path> = path.ancestors().collect();
    folders.reverse();
    let owned = folders
        .into_iter()
        .map_while(|folder| Some((folder.to_owned(), owned(folder)?)));
    owned.collect()
}

fn owned(path: &Path) -> Option<Owned> {
    let found = std::fs::metadata(path).ok()?;
    let mut value = vec![0; ACL_MAX];
    let len = rustix::fs::getxattr(path, "system.posix_acl_access", &mut value[..]).unwrap_or(0);
    Some(Owned {
        user: found.uid(),
        group: found.gid(),
        mode: found.mode(),
        acl: acl(value.get(..len).unwrap_or_default()),
    })
}
