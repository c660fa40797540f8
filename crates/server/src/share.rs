//! A share: what it offers and to whom.

use crate::{table::ShareId, vfs::Vfs};
use alloc::{string::String, sync::Arc, vec::Vec};

/// What a share is.
#[derive(Clone, Debug)]
pub enum ShareKind {
    /// A folder.
    Disk(Arc<dyn Vfs>),
    /// A printer whose jobs are spooled to a folder.
    Printer(Arc<dyn Vfs>),
    /// Named pipes.
    Ipc,
}

/// What somebody may do on a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// Passwords of share-level security: one for each kind of access.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SharePasswords {
    /// Gives read access.
    pub read: Option<String>,
    /// Gives full access.
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

/// smb.conf's per-share switches that the engine honours; names as there.
#[derive(Clone, Debug)]
pub struct ShareOptions {
    /// Grant oplocks.
    pub oplocks: bool,
    /// Grant level II oplocks.
    pub level2_oplocks: bool,
    /// Grant an oplock to whoever asks and never break it.
    pub fake_oplocks: bool,
    /// Check byte-range locks on every read and write.
    pub strict_locking: bool,
    /// Keep byte-range locks at all.
    pub locking: bool,
    /// Wait for byte-range locks when the client asks to.
    pub blocking_locks: bool,
    /// Enforce share modes.
    pub share_modes: bool,
    /// Sync to disk when a client flushes or writes through.
    pub strict_sync: bool,
    /// Sync to disk after every write; without `strict_sync` it has no effect.
    pub sync_always: bool,
    /// Reserve space when a file is extended, also by a write beyond its end.
    pub strict_allocate: bool,
    /// Names beginning with a dot are hidden.
    pub hide_dot_files: bool,
    /// Keep DOS attributes in `user.DOSATTRIB`.
    pub store_dos_attributes: bool,
    /// A file its owner may not write is read-only to clients.
    pub map_readonly: bool,
    /// Folders were created at midnight of 1980-01-01, for programs that compare folders' times with files'.
    pub fake_directory_create_times: bool,
    /// Keep extended attributes.
    pub ea_support: bool,
    /// Keep named streams, as extended attributes.
    pub streams: bool,
    /// Compare names to the letter.
    pub case_sensitive: bool,
    /// Compare names to the letter for clients that ask for it.
    pub case_by_client: bool,
    /// New names keep the case the client gave.
    pub preserve_case: bool,
    /// New 8.3 names keep the case the client gave.
    pub short_preserve_case: bool,
    /// Where the client's case is not kept, new names are upper case; else lower.
    pub default_case_upper: bool,
    /// Give 8.3 names to long ones.
    pub mangled_names: bool,
    /// Round times to two seconds for DOS clients.
    pub dos_filetime_resolution: bool,
    /// Watchers are told of changes by other programs too, by a driver that watches the disk
    /// ([`crate::Server::external_change`]).
    pub kernel_change_notify: bool,
    /// A read-only file may be deleted.
    pub delete_readonly: bool,
    /// Patterns of names that do not exist for clients.
    pub veto_files: Vec<String>,
    /// Patterns of files on which no oplock is granted.
    pub veto_oplock_files: Vec<String>,
    /// Patterns of names shown hidden.
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
    /// Whether every change is on the disk before its reply: `sync always` has no effect without `strict sync`, as
    /// smb.conf(5) says.
    pub fn syncs_always(&self) -> bool {
        self.strict_sync && self.sync_always
    }
}

/// Who may use a share.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// What guests may do at most.
    pub guest: Option<Access>,
    /// The name under which the lists below mean guests.
    pub guest_account: String,
    /// Nobody may write but those on the write list.
    pub read_only: bool,
    /// If not empty: only these users (lower case).
    pub valid_users: Vec<String>,
    /// Never these.
    pub invalid_users: Vec<String>,
    /// These only read.
    pub read_list: Vec<String>,
    /// These write even if the share is read-only.
    pub write_list: Vec<String>,
    /// Passwords of share-level security.
    pub passwords: SharePasswords,
    /// How many trees of it may be connected at once, by all clients together; 0 is no limit.
    pub max_connections: usize,
}

impl Admission {
    /// What `user` may do; `None` is a guest. The lists hold for guests too, by the guest account's name, as in Samba:
    /// `guest ok` does not open a share to guests that `valid users` leaves out.
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
    /// Which.
    pub id: ShareId,
    /// Name as clients type it; compared without case.
    pub name: String,
    /// Comment in listings.
    pub comment: String,
    /// What it is.
    pub kind: ShareKind,
    /// Shown in listings.
    pub browseable: bool,
    /// Who may use it.
    pub admission: Admission,
    /// Switches.
    pub options: ShareOptions,
    /// Volume label, at most 11 characters for DOS.
    pub volume: String,
    /// File system name clients are told; below eight characters, or NT 4 fails with error 234 (KB Q239447).
    pub file_system: String,
}

impl Share {
    /// A share that guests may write: shown in listings, labelled with its name, on what is told to be an NTFS disk, and
    /// with [`ShareOptions::default`].
    pub fn for_guests(id: u32, name: &str, kind: ShareKind) -> Self {
        Self {
            id: ShareId(id),
            name: name.into(),
            comment: String::new(),
            kind,
            browseable: true,
            admission: Admission {
                guest: Some(Access::Write),
                ..Admission::default()
            },
            options: ShareOptions::default(),
            volume: name.into(),
            file_system: "NTFS".into(),
        }
    }

    /// The service string of tree connects ([MS-CIFS] 2.2.4.55.2).
    pub fn service(&self) -> &'static str {
        match self.kind {
            ShareKind::Disk(_) => "A:",
            ShareKind::Printer(_) => "LPT1:",
            ShareKind::Ipc => "IPC",
        }
    }

    /// What `user` may do here; `None` is a guest. Everybody may open named pipes, which check what is asked of them.
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

    /// The folder behind it, if there is one.
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
    fn guests_get_what_the_share_grants_guests_and_users_what_its_lists_say() {
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
    fn the_lists_hold_for_guests_by_the_name_of_the_guest_account() {
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
