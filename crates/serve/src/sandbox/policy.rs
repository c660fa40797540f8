//! Derives the files that the server needs from its settings.

use std::path::{Path, PathBuf};

use coax_smbconf::settings::{Settings, ShareSettings};

use crate::homes;

/// What the process may do beneath a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// Read files and list folders.
    Read,
    /// Read, write, create, rename and delete; execute nothing.
    Write,
}

/// The files that the server needs while it serves; everything else is out of reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Paths and the rights beneath each.
    pub paths: Vec<(PathBuf, Rights)>,
    /// A share with `wide links`: symbolic links may lead anywhere, so no list of folders can be complete.
    pub unconfined_share: Option<String>,
}

/// The time zone's rules are read again when the system's zone changes.
const TIME_ZONE: [&str; 3] = ["/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo"];

impl Policy {
    /// The files that a server with these settings needs: shares, log, and user databases.
    pub fn new(settings: &Settings, folder_of: impl Fn(&ShareSettings) -> Option<String>) -> Self {
        let mut policy = Self::default();
        for share in settings.shares.iter().filter(|share| share.available) {
            if share.follow_symlinks && share.wide_links {
                policy.unconfined_share = Some(share.name.clone());
            }
            if let Some(folder) = folder_of(share) {
                policy.paths.push((folder.into(), Rights::Write));
            }
        }
        // For users who are added later.
        let homes = settings.homes.as_ref().and_then(homes::root);
        policy.allow(
            homes.into_iter().filter(|root| root.is_dir()),
            Rights::Write,
        );
        let global = &settings.global;
        let users = [global.password_file(), global.username_map.as_deref()];
        // The folder instead of the file: editors replace the file by a new one.
        let folders = users.into_iter().flatten().filter_map(|file| file.parent());
        policy.allow(folders, Rights::Read);
        // For a reload.
        let files = settings.sources.read.iter();
        policy.allow(files.filter_map(|file| readable(file)), Rights::Read);
        if global.netbios.wins_support {
            let folder = global.netbios.wins_database.parent();
            policy.allow(folder.into_iter(), Rights::Write);
        }
        policy.allow(TIME_ZONE.iter().map(Path::new), Rights::Read);
        policy.allow([Path::new("/dev/null")].into_iter(), Rights::Write);
        policy
    }

    /// Whether `path` is one of the writable folders or beneath one.
    pub fn admits(&self, path: &Path) -> bool {
        let mut folders = self.paths.iter();
        folders.any(|(folder, rights)| *rights == Rights::Write && path.starts_with(folder))
    }

    /// Adds paths that the process needs.
    pub fn allow<'a>(&mut self, paths: impl Iterator<Item = &'a Path>, rights: Rights) {
        let here = |path: &Path| match path.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => path.to_owned(),
        };
        self.paths.extend(paths.map(|path| (here(path), rights)));
    }
}

/// Folders that contain other programs' secrets.
const SYSTEM_FOLDERS: [&str; 3] = ["/", "/etc", "/root"];

/// The folder of a configuration file, because editors replace the file by a new one; the file alone if the folder is
/// one of [`SYSTEM_FOLDERS`].
fn readable(file: &Path) -> Option<&Path> {
    let folder = file.parent()?;
    match SYSTEM_FOLDERS
        .iter()
        .any(|other| folder == Path::new(other))
    {
        true => Some(file),
        false => Some(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_smbconf::load::load_text;

    fn policy(conf: &str) -> Policy {
        let settings = load_text("t", conf).settings;
        Policy::new(&settings, |share| Some(share.path.clone()))
    }

    fn rights(policy: &Policy, path: &str) -> Option<Rights> {
        let found = policy.paths.iter().find(|(p, _)| p == Path::new(path));
        found.map(|(_, rights)| *rights)
    }

    #[test]
    fn shares_are_writable_and_the_folder_of_the_password_file_is_readable() {
        let policy = policy(
            "[global]\nsmb passwd file = /etc/coax/smbpasswd\n[A]\npath = /srv/a\n[B]\npath = /srv/b\navailable = no\n",
        );
        assert_eq!(rights(&policy, "/srv/a"), Some(Rights::Write));
        assert_eq!(rights(&policy, "/srv/b"), None);
        assert_eq!(rights(&policy, "/etc/coax"), Some(Rights::Read));
        assert_eq!(policy.unconfined_share, None);
    }

    #[test]
    fn the_folder_of_the_configuration_is_readable_unless_it_is_a_system_folder() {
        let folder = |file: &str| readable(Path::new(file)).map(|path| path.display().to_string());
        assert_eq!(folder("/etc/coax/smb.conf").as_deref(), Some("/etc/coax"));
        assert_eq!(folder("/etc/smb.conf").as_deref(), Some("/etc/smb.conf"));
        assert_eq!(folder("smb.conf").as_deref(), Some(""));
    }

    #[test]
    fn new_shares_must_be_beneath_a_folder_that_was_writable_at_the_start() {
        let policy =
            policy("[global]\nsmb passwd file = /etc/coax/smbpasswd\n[A]\npath = /srv/a\n");
        assert!(policy.admits(Path::new("/srv/a")) && policy.admits(Path::new("/srv/a/b")));
        assert!(!policy.admits(Path::new("/srv/ab")) && !policy.admits(Path::new("/etc/coax")));
    }

    #[test]
    fn a_share_with_wide_links_is_named() {
        let policy = policy("[A]\npath = /srv/a\nwide links = yes\n");
        assert_eq!(policy.unconfined_share.as_deref(), Some("A"));
    }
}
