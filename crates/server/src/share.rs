//! A share: its type, options and access rights.

use crate::{table::ShareId, vfs::Vfs};
use alloc::{string::String, sync::Arc, vec::Vec};

/// The type of a share.
#[derive(Clone, Debug)]
pub enum ShareKind {
    /// A folder.
    Disk(Arc<dyn Vfs>),
    /// A printer whose jobs are spooled to a folder.
    Printer(Arc<dyn Vfs>),
    /// Named pipes.
    Ipc,
}

/// A user's access to a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// Passwords of share-level security, one for each kind of access.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SharePasswords {
    /// Grants read access.
    pub read: Option<String>,
    /// Grants full access.
    pub write: Option<String>,
}

impl core::fmt::Debug for SharePasswords {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "SharePasswords {{ read: {}, write: {} }}",
            self.read.is_some(),
            self.write.is_some()
        )
    }
}

/// smb.conf's per-share options that the server supports, with the same names.
#[derive(Clone, Debug)]
pub struct ShareOptions {
    /// Grant oplocks.
    pub oplocks: bool,
    /// Grant level II oplocks.
    pub level2_oplocks: bool,
    /// Grant every requested oplock and never break it.
    pub fake_oplocks: bool,
    /// Check byte-range locks on every read and write.
    pub strict_locking: bool,
    /// Support byte-range locks.
    pub locking: bool,
    /// Wait for byte-range locks when the client asks to.
    pub blocking_locks: bool,
    /// Enforce share modes.
    pub share_modes: bool,
    /// Sync to disk on client flushes and write-through.
    pub strict_sync: bool,
    /// Sync to disk after every write; has no effect without `strict_sync`.
    pub sync_always: bool,
    /// Reserve space when a file is extended, also by a write beyond its end.
    pub strict_allocate: bool,
    /// Hide names that begin with a dot.
    pub hide_dot_files: bool,
    /// Store DOS attributes in `user.DOSATTRIB`.
    pub store_dos_attributes: bool,
    /// Report a file as read-only if its owner may not write it.
    pub map_readonly: bool,
    /// Report midnight of 1980-01-01 as the creation time of folders, for programs that compare it with files' times.
    pub fake_directory_create_times: bool,
    /// Support extended attributes.
    pub ea_support: bool,
    /// Support named streams, stored as extended attributes.
    pub streams: bool,
    /// Compare names case-sensitively.
    pub case_sensitive: bool,
    /// Compare names case-sensitively for clients that ask for it.
    pub case_by_client: bool,
    /// Keep the client's case of new names.
    pub preserve_case: bool,
    /// Keep the client's case of new 8.3 names.
    pub short_preserve_case: bool,
    /// If the client's case is not kept: convert new names to upper case, else to lower case.
    pub default_case_upper: bool,
    /// Generate 8.3 names for long names.
    pub mangled_names: bool,
    /// Round times to two seconds for DOS clients.
    pub dos_filetime_resolution: bool,
    /// Notify watchers of other programs' changes too, if a driver watches the disk
    /// ([`crate::Server::external_change`]).
    pub kernel_change_notify: bool,
    /// Allow deletion of read-only files.
    pub delete_readonly: bool,
    /// Patterns of names that clients cannot see or use.
    pub veto_files: Vec<String>,
    /// Patterns of files without oplocks.
    pub veto_oplock_files: Vec<String>,
    /// Patterns of names with the hidden attribute.
    pub hide_files: Vec<String>,
    /// Files in read replies may go from page cache to socket in the kernel.
    pub use_sendfile: bool,
}

impl Default for ShareOptions {
    fn default() -> Self {
        Self {
            oplocks: true,
            level2_oplocks: true,
            fake_oplocks: false,
            strict_locking: true,
            locking: true,
            blocking_locks: true,
            share_modes: true,
            strict_sync: true,
            sync_always: false,
            strict_allocate: true,
            hide_dot_files: true,
            store_dos_attributes: true,
            map_readonly: true,
            fake_directory_create_times: false,
            ea_support: true,
            streams: false,
            case_sensitive: false,
            case_by_client: true,
            preserve_case: true,
            short_preserve_case: true,
            default_case_upper: false,
            mangled_names: true,
            dos_filetime_resolution: false,
            kernel_change_notify: true,
            delete_readonly: false,
            veto_files: Vec::new(),
            veto_oplock_files: Vec::new(),
            hide_files: Vec::new(),
            use_sendfile: true,
        }
    }
}

impl ShareOptions {
    /// Whether every change must be on disk before its reply: `sync always` has no effect without `strict sync`
    /// (smb.conf(5)).
    pub fn syncs_always(&self) -> bool {
        self.strict_sync && self.sync_always
    }
}

/// Access control of a share.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// Guests' highest access.
    pub guest: Option<Access>,
    /// The guest account's name in the lists below.
    pub guest_account: String,
    /// Only users on the write list may write.
    pub read_only: bool,
    /// If not empty, only these users have access (lower case).
    pub valid_users: Vec<String>,
    /// Users without access.
    pub invalid_users: Vec<String>,
    /// Users who may only read.
    pub read_list: Vec<String>,
    /// Users who may write even if the share is read-only.
    pub write_list: Vec<String>,
    /// Passwords of share-level security.
    pub passwords: SharePasswords,
    /// Most simultaneous trees of all clients; 0 is no limit.
    pub max_connections: usize,
}

impl Admission {
    /// The access of `user`; `None` is a guest. As in Samba, the lists apply to guests under the guest account's name:
    /// `guest ok` does not admit guests that `valid users` excludes.
    pub fn access(&self, user: Option<&str>) -> Access {
        let most = match user {
            Some(_) => Access::Write,
            None => self.guest.unwrap_or(Access::None),
        };
        let user = user.unwrap_or(&self.guest_account);
        let on = |list: &[String]| list.iter().any(|name| name.eq_ignore_ascii_case(user));
        if on(&self.invalid_users) || (!self.valid_users.is_empty() && !on(&self.valid_users)) {
            return Access::None;
        }
        let reads = self.read_only || on(&self.read_list);
        let granted = match reads && !on(&self.write_list) {
            true => Access::Read,
            false => Access::Write,
        };
        granted.min(most)
    }
}

/// A share.
#[derive(Clone, Debug)]
pub struct Share {
    /// Its identifier.
    pub id: ShareId,
    /// Name, compared without case.
    pub name: String,
    /// Comment in share lists.
    pub comment: String,
    /// Its type.
    pub kind: ShareKind,
    /// Whether share lists contain it.
    pub browseable: bool,
    /// The user whose home folder it is: only this user's share lists contain it, and `HOMES` is another name of it.
    pub home_of: Option<String>,
    /// Access control.
    pub admission: Admission,
    /// Options.
    pub options: ShareOptions,
    /// Volume label, at most 11 characters for DOS.
    pub volume: String,
    /// Reported file system name; below eight characters, or NT 4 fails with error 234 (KB Q239447).
    pub file_system: String,
}

impl Share {
    /// A listed share with guest write access, its own name as label, file system name NTFS, and
    /// [`ShareOptions::default`].
    pub fn for_guests(id: u32, name: &str, kind: ShareKind) -> Self {
        Self {
            id: ShareId(id),
            name: name.into(),
            comment: String::new(),
            kind,
            browseable: true,
            home_of: None,
            admission: Admission {
                guest: Some(Access::Write),
                ..Admission::default()
            },
            options: ShareOptions::default(),
            volume: name.into(),
            file_system: "NTFS".into(),
        }
    }

    /// Whether it is the home folder of this user.
    pub fn is_home_of(&self, user: Option<&str>) -> bool {
        let (Some(owner), Some(user)) = (&self.home_of, user) else {
            return false;
        };
        owner.eq_ignore_ascii_case(user)
    }

    /// The service string of tree connects ([MS-CIFS] 2.2.4.55.2).
    pub fn service(&self) -> &'static str {
        match self.kind {
            ShareKind::Disk(_) => "A:",
            ShareKind::Printer(_) => "LPT1:",
            ShareKind::Ipc => "IPC",
        }
    }

    /// The access of `user`; `None` is a guest. Every user may open named pipes, which check each call themselves.
    pub fn access(&self, user: Option<&str>) -> Access {
        match self.kind {
            ShareKind::Ipc => Access::Write,
            ShareKind::Disk(_) | ShareKind::Printer(_) => self.admission.access(user),
        }
    }

    /// Whether it is the share of named pipes.
    pub fn is_ipc(&self) -> bool {
        matches!(self.kind, ShareKind::Ipc)
    }

    /// The folder of the share, if it has one.
    pub fn vfs(&self) -> Option<&Arc<dyn Vfs>> {
        match &self.kind {
            ShareKind::Disk(vfs) | ShareKind::Printer(vfs) => Some(vfs),
            ShareKind::Ipc => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_get_the_guest_access_and_users_the_access_of_the_lists() {
        let list = |name: &str| Vec::from([String::from(name)]);
        let admission = Admission {
            guest: Some(Access::Write),
            read_only: true,
            invalid_users: list("eve"),
            write_list: list("ann"),
            ..Admission::default()
        };
        assert_eq!(admission.access(None), Access::Read);
        assert_eq!(admission.access(Some("ANN")), Access::Write);
        assert_eq!(admission.access(Some("bob")), Access::Read);
        assert_eq!(admission.access(Some("eve")), Access::None);
        assert_eq!(Admission::default().access(None), Access::None);
    }

    #[test]
    fn the_lists_apply_to_guests_under_the_guest_accounts_name() {
        let list = |name: &str| Vec::from([String::from(name)]);
        let guests = Admission {
            guest: Some(Access::Write),
            guest_account: "nobody".into(),
            ..Admission::default()
        };
        let of_guests = |change: fn(&mut Admission, Vec<String>), name: &str| {
            let mut admission = guests.clone();
            change(&mut admission, list(name));
            admission.access(None)
        };
        let valid = |admission: &mut Admission, list| admission.valid_users = list;
        assert_eq!(of_guests(valid, "bob"), Access::None);
        assert_eq!(of_guests(valid, "nobody"), Access::Write);
        let invalid = |admission: &mut Admission, list| admission.invalid_users = list;
        assert_eq!(of_guests(invalid, "nobody"), Access::None);
        let reads = |admission: &mut Admission, list| admission.read_list = list;
        assert_eq!(of_guests(reads, "nobody"), Access::Read);
        let writes = |admission: &mut Admission, list| {
            admission.read_only = true;
            admission.write_list = list;
        };
        assert_eq!(of_guests(writes, "nobody"), Access::Write);
        assert_eq!(of_guests(writes, "bob"), Access::Read);
    }
}
