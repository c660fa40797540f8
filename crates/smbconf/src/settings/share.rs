//! Settings of a share.

use zeroize::Zeroize;

use super::{CaseMode, LetterCase, MangledNames, MapReadonly, StrictLocking};
use crate::hosts::HostAccess;
use crate::list::{Names, Patterns};

/// What a user or guest may do in a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read.
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// Settings of a share. The documentation of each field names its smb.conf parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSettings {
    /// The share name.
    pub name: String,
    /// The user whose home folder it is ([`Settings::homes`](super::Settings::homes)): only this user sees it in lists.
    pub home_of: Option<String>,
    /// `comment`: the comment in browse lists. May contain macros.
    pub comment: String,
    /// `path`: the folder; for a printer the spool folder. May contain macros.
    pub path: String,
    /// `available`: `false` refuses all connections.
    pub available: bool,
    /// `browseable`: whether browse lists show it.
    pub browseable: bool,
    /// `volume`: the volume label; empty means the share's name.
    pub volume: String,
    /// `fstype`: the file system name that clients get.
    pub fstype: String,
    /// `printable`: the share is a printer.
    pub printable: bool,
    /// `print command`: run for each finished job; if empty, jobs remain in the folder. Contains `%s` (the file), `%p`,
    /// `%J`.
    pub print_command: String,

    /// `read only`.
    pub read_only: bool,
    /// `guest ok`: no password is needed.
    pub guest_ok: bool,
    /// `guest only`: every user is a guest in this share.
    pub guest_only: bool,
    /// `guest account` of the server: the name that means guests in the lists of users.
    pub guest_account: String,
    /// `coax:guest read only`: guests may not write even if users may.
    pub guest_read_only: bool,
    /// `coax:password`: the share's own password for full access, under `security = share`. May be empty.
    pub password: Option<Secret>,
    /// `coax:read only password`: the share's own password for reading, under `security = share`.
    pub read_only_password: Option<Secret>,
    /// `valid users`: if not empty, only these may connect.
    pub valid_users: Names,
    /// `invalid users`: these may not connect.
    pub invalid_users: Names,
    /// `read list`: these may only read.
    pub read_list: Names,
    /// `write list`: these may write, whatever the value of `read only`.
    pub write_list: Names,
    /// `hosts allow`, `hosts deny`.
    pub hosts: HostAccess,
    /// `max connections`: maximum number of tree connects; 0 means no limit.
    pub max_connections: u32,

    /// `case sensitive`.
    pub case_sensitive: CaseMode,
    /// `default case`.
    pub default_case: LetterCase,
    /// `preserve case`: long names are created in the client's case.
    pub preserve_case: bool,
    /// `short preserve case`: 8.3 names are created in the client's case.
    pub short_preserve_case: bool,
    /// `mangled names`.
    pub mangled_names: MangledNames,

    /// `hide dot files`: names that begin with a dot are hidden files.
    pub hide_dot_files: bool,
    /// `hide files`: names that match are hidden files.
    pub hide_files: Patterns,
    /// `veto files`: names that match do not exist for clients.
    pub veto_files: Patterns,
    /// `veto oplock files`: no oplocks on names that match.
    pub veto_oplock_files: Patterns,

    /// `map readonly`.
    pub map_readonly: MapReadonly,
    /// `store dos attributes`: keep DOS attributes in the extended attribute `user.DOSATTRIB`.
    pub store_dos_attributes: bool,
    /// `ea support`: clients may keep extended attributes.
    pub ea_support: bool,
    /// `vfs objects`: Samba's modules; only `streams_xattr` has an effect.
    pub vfs_objects: Vec<String>,
    /// `dos filetime resolution`: times are rounded to DOS's 2 seconds.
    pub dos_filetime_resolution: bool,
    /// `kernel change notify`.
    pub kernel_change_notify: bool,
    /// `fake directory create times`: report 1980 as the creation time of folders.
    pub fake_directory_create_times: bool,
    /// `delete readonly`: a read-only file may be deleted.
    pub delete_readonly: bool,
    /// `create mask`: permission bits that new files may have.
    pub create_mask: u32,
    /// `force create mode`: permission bits that new files always have.
    pub force_create_mode: u32,
    /// `directory mask`: permission bits that new folders may have.
    pub directory_mask: u32,
    /// `force directory mode`: permission bits that new folders always have.
    pub force_directory_mode: u32,

    /// `oplocks`: grant exclusive and batch oplocks.
    pub oplocks: bool,
    /// `level2 oplocks`: break oplocks to level II instead of none.
    pub level2_oplocks: bool,
    /// `fake oplocks`: grant every requested oplock and never break one.
    pub fake_oplocks: bool,
    /// `share modes`: enforce deny modes.
    pub share_modes: bool,
    /// `locking`: `false` grants every byte-range lock without recording it.
    pub locking: bool,
    /// `strict locking`.
    pub strict_locking: StrictLocking,
    /// `blocking locks`: lock requests wait for their timeout; `false` answers at once.
    pub blocking_locks: bool,

    /// `strict sync`: a client's flush writes to the disk.
    pub strict_sync: bool,
    /// `sync always`: every write reaches the disk before its reply.
    pub sync_always: bool,
    /// `strict allocate`: extending a file allocates the space.
    pub strict_allocate: bool,
    /// `max disk size`, bytes: the maximum disk size that clients see; 0 means no limit.
    pub max_disk_size_bytes: u64,
    /// `use sendfile`: the kernel sends file data directly.
    pub use_sendfile: bool,
    /// `follow symlinks`: follow symbolic links within the share.
    pub follow_symlinks: bool,
    /// `wide links`: follow symbolic links that leave the share.
    pub wide_links: bool,
}

/// Samba's module that stores named streams in the same way as coax.
const STREAMS_MODULE: &str = "streams_xattr";

impl ShareSettings {
    /// Whether files have named streams.
    pub fn keeps_streams(&self) -> bool {
        self.vfs_objects.iter().any(|module| is_streams(module))
    }

    /// The modules of `vfs objects` without effect.
    pub fn other_modules(&self) -> impl Iterator<Item = &String> {
        self.vfs_objects.iter().filter(|module| !is_streams(module))
    }
}

fn is_streams(module: &str) -> bool {
    module.eq_ignore_ascii_case(STREAMS_MODULE)
}

impl Default for ShareSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            home_of: None,
            comment: String::new(),
            path: String::new(),
            available: true,
            browseable: true,
            volume: String::new(),
            fstype: "NTFS".into(),
            printable: false,
            print_command: String::new(),
            read_only: true,
            guest_ok: false,
            guest_only: false,
            guest_account: "nobody".into(),
            guest_read_only: false,
            password: None,
            read_only_password: None,
            valid_users: Names::default(),
            invalid_users: Names::default(),
            read_list: Names::default(),
            write_list: Names::default(),
            hosts: HostAccess::default(),
            max_connections: 0,
            case_sensitive: CaseMode::Auto,
            default_case: LetterCase::Lower,
            preserve_case: true,
            short_preserve_case: true,
            mangled_names: MangledNames::Illegal,
            hide_dot_files: true,
            hide_files: Patterns::default(),
            veto_files: Patterns::default(),
            veto_oplock_files: Patterns::default(),
            map_readonly: MapReadonly::No,
            store_dos_attributes: true,
            ea_support: true,
            vfs_objects: Vec::new(),
            dos_filetime_resolution: false,
            kernel_change_notify: true,
            fake_directory_create_times: false,
            delete_readonly: false,
            create_mask: 0o744,
            force_create_mode: 0,
            directory_mask: 0o755,
            force_directory_mode: 0,
            oplocks: true,
            level2_oplocks: true,
            fake_oplocks: false,
            share_modes: true,
            locking: true,
            strict_locking: StrictLocking::Auto,
            blocking_locks: true,
            strict_sync: true,
            sync_always: false,
            strict_allocate: true,
            max_disk_size_bytes: 0,
            use_sendfile: true,
            follow_symlinks: true,
            wide_links: false,
        }
    }
}

impl ShareSettings {
    /// The access of `user` (`None`: a guest); `None` if they may not connect. The order is Samba's: `invalid users`,
    /// `valid users`, then `read list` and `write list`; the last one wins. The lists apply to guests by the guest
    /// account's name, and to users whatever the value of `guest only`, as in Samba 4.17.
    pub fn access(&self, user: Option<&str>) -> Option<Access> {
        let plain = if self.read_only {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        };
        let is_guest = user.is_none();
        let user = user.unwrap_or(&self.guest_account);
        let refused = !self.available
            || (is_guest && !self.guest_ok && !self.guest_only)
            || self.invalid_users.contains(user)
            || (!self.valid_users.is_empty() && !self.valid_users.contains(user));
        if refused {
            None
        } else if is_guest && self.guest_read_only {
            Some(Access::ReadOnly)
        } else if self.write_list.contains(user) {
            Some(Access::ReadWrite)
        } else if self.read_list.contains(user) {
            Some(Access::ReadOnly)
        } else {
            Some(plain)
        }
    }
}

/// A password that is never logged and is overwritten when dropped.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(pub String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}
