//! The access rules of the shares: the server's configuration, and the model's own interpretation.

use coax_server::share::{Access, Admission, Share, ShareKind};

/// The process of most requests, and of all ranges in LOCKING_ANDX.
pub const PID: u16 = 1;
/// Another process.
pub const OTHER_PID: u16 = 2;

/// The access rules of a share.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// The access of guests.
    pub guest: Access,
    /// If not empty: only these users have access.
    pub only: &'static [&'static str],
    /// Read-only except for `writers`.
    pub read_only: bool,
    /// The users who may write to a read-only share.
    pub writers: &'static [&'static str],
}

/// The users, apart from guests, and their passwords.
pub const USERS: [(&str, &str); 2] = [("ann", "Apricot"), ("bob", "Blueberry")];

/// The shares.
pub const SHARES: [Rule; 3] = [
    Rule {
        name: "PUBLIC",
        guest: Access::Write,
        only: &[],
        read_only: false,
        writers: &[],
    },
    Rule {
        name: "BOB",
        guest: Access::None,
        only: &["bob"],
        read_only: false,
        writers: &[],
    },
    Rule {
        name: "READ",
        guest: Access::Read,
        only: &[],
        read_only: true,
        writers: &["ann"],
    },
];

impl Rule {
    /// The access of a user; `None` is a guest.
    #[must_use]
    pub fn access(&self, user: Option<&str>) -> Access {
        let Some(user) = user else { return self.guest };
        if !self.only.is_empty() && !self.only.contains(&user) {
            Access::None
        } else if self.read_only && !self.writers.contains(&user) {
            Access::Read
        } else {
            Access::Write
        }
    }

    /// The server's configuration of the share.
    #[must_use]
    pub fn share(&self, id: u32, kind: ShareKind) -> Share {
        let list = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        Share {
            admission: Admission {
                guest: (self.guest != Access::None).then_some(self.guest),
                read_only: self.read_only,
                valid_users: list(self.only),
                write_list: list(self.writers),
                ..Admission::default()
            },
            ..Share::for_guests(id, self.name, kind)
        }
    }
}
