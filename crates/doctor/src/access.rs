//! Whether an account may use a file, from owner, mode and access control list.
//!
//! A check for another user than the own one: `access(2)` answers for the own user only, and for root it always says yes.

/// An account with its groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Its name, or its number.
    pub name: String,
    /// User number.
    pub user: u32,
    /// The numbers of its groups.
    pub groups: Vec<u32>,
}

/// Owner, mode and access control list of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owned {
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
    /// Permission bits.
    pub mode: u32,
    /// The entries of `system.posix_acl_access`, if there is one.
    pub acl: Vec<Entry>,
}

/// Search a folder, or execute.
pub const EXECUTE: u32 = 1;
/// Write.
pub const WRITE: u32 = 2;
/// Read.
pub const READ: u32 = 4;

/// An entry of an access control list, acl(5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whom it concerns.
    pub tag: Tag,
    /// [`READ`], [`WRITE`], [`EXECUTE`].
    pub rights: u32,
}

/// Whom an entry concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The owner.
    Owner,
    /// A user.
    User(u32),
    /// The file's group.
    OwningGroup,
    /// A group.
    Group(u32),
    /// The limit of all entries but those of owner and others.
    Mask,
    /// Everybody else.
    Other,
}

/// Whether `account` has all of `wanted`. Root has.
pub fn may(account: &Account, file: &Owned, wanted: u32) -> bool {
    account.user == 0 || rights(account, file) & wanted == wanted
}

/// The algorithm of acl(5). A mode alone is an access control list with three entries.
fn rights(account: &Account, file: &Owned) -> u32 {
    let of_mode = |shift: u32| (file.mode >> shift) & 7;
    if account.user == file.user {
        return of_mode(6);
    }
    let mask = named(file, |tag| tag == Tag::Mask).unwrap_or(7);
    if let Some(rights) = named(file, |tag| tag == Tag::User(account.user)) {
        return rights & mask;
    }
    let in_group = |group: &u32| account.groups.contains(group);
    let mut matched = false;
    let mut granted = 0;
    if in_group(&file.group) {
        matched = true;
        granted |= named(file, |tag| tag == Tag::OwningGroup).unwrap_or(of_mode(3));
    }
    for entry in &file.acl {
        if matches!(entry.tag, Tag::Group(group) if in_group(&group)) {
            matched = true;
            granted |= entry.rights;
        }
    }
    match matched {
        true => granted & mask,
        false => of_mode(0),
    }
}

fn named(file: &Owned, is: impl Fn(Tag) -> bool) -> Option<u32> {
    let mut entries = file.acl.iter();
    entries
        .find(|entry| is(entry.tag))
        .map(|entry| entry.rights)
}

/// Reads the extended attribute `system.posix_acl_access` (linux/posix_acl_xattr.h, version 2). Nothing, if it is none.
pub fn acl(bytes: &[u8]) -> Vec<Entry> {
    let Some(rest) = bytes.strip_prefix(&2_u32.to_le_bytes()) else {
        return Vec::new();
    };
    let entries = rest.as_chunks::<8>().0.iter();
    entries.filter_map(entry).collect()
}

fn entry(bytes: &[u8; 8]) -> Option<Entry> {
    let [t0, t1, r0, r1, i0, i1, i2, i3] = *bytes;
    let id = u32::from_le_bytes([i0, i1, i2, i3]);
    let tag = match u16::from_le_bytes([t0, t1]) {
        0x01 => Tag::Owner,
        0x02 => Tag::User(id),
        0x04 => Tag::OwningGroup,
        0x08 => Tag::Group(id),
        0x10 => Tag::Mask,
        0x20 => Tag::Other,
        _ => return None,
    };
    Some(Entry {
        tag,
        rights: u32::from(u16::from_le_bytes([r0, r1])) & 7,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(user: u32, groups: &[u32]) -> Account {
        Account {
            name: user.to_string(),
            user,
            groups: groups.to_vec(),
        }
    }

    fn file(user: u32, group: u32, mode: u32) -> Owned {
        Owned {
            user,
            group,
            mode,
            acl: Vec::new(),
        }
    }

    #[test]
    fn the_first_class_that_fits_decides_and_root_may_everything() {
        for (user, groups, mode, wanted, expected) in [
            (7, &[7][..], 0o700, READ | WRITE, true),
            (7, &[8], 0o077, READ, false),
            (9, &[8], 0o070, READ | WRITE, true),
            (9, &[8], 0o707, READ, false),
            (9, &[9], 0o707, READ, true),
            (9, &[9], 0o750, READ, false),
            (0, &[0], 0o000, READ | WRITE, true),
        ] {
            let is = may(&account(user, groups), &file(7, 8, mode), wanted);
            assert_eq!(is, expected, "user {user} mode {mode:o}");
        }
    }

    #[test]
    fn a_named_user_and_a_named_group_have_what_the_mask_leaves() {
        let bytes = [
            &2_u32.to_le_bytes()[..],
            &[1, 0, 7, 0, 255, 255, 255, 255],
            &[2, 0, 7, 0, 44, 0, 0, 0],
            &[4, 0, 0, 0, 255, 255, 255, 255],
            &[8, 0, 6, 0, 55, 0, 0, 0],
            &[16, 0, 5, 0, 255, 255, 255, 255],
            &[32, 0, 0, 0, 255, 255, 255, 255],
        ]
        .concat();
        let file = Owned {
            acl: acl(&bytes),
            ..file(7, 8, 0o750)
        };
        assert_eq!(file.acl.len(), 6);
        assert!(may(&account(44, &[]), &file, READ | EXECUTE));
        assert!(!may(&account(44, &[]), &file, WRITE));
        assert!(may(&account(45, &[55]), &file, READ));
        assert!(!may(&account(45, &[55]), &file, WRITE));
        assert!(!may(&account(45, &[8]), &file, READ));
        assert!(!may(&account(45, &[]), &file, READ));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_an_access_control_list_or_none(bytes: Vec<u8>) {
            assert!(acl(&bytes).len() <= bytes.len() / 8);
        }
    }
}
