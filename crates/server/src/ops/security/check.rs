//! Access checks and inheritance of descriptors ([MS-DTYP] 2.5.3.2, 2.5.3.4).

use super::right;
use alloc::vec::Vec;
use coax_wire::security::{Ace, Acl, Descriptor, Sid, ace_flag, ace_type, control};

/// The rights that `descriptor` grants a user who belongs to `groups`. A missing or null list grants all.
pub(super) fn granted(descriptor: &Descriptor, user: &Sid, groups: &[Sid]) -> u32 {
    let Some(Some(list)) = &descriptor.dacl else {
        return right::ALL;
    };
    let owns = descriptor.owner.as_ref() == Some(user);
    let owner_rights = Sid::owner_rights();
    let counts = |ace: &&Ace| ace.flags & ace_flag::INHERIT_ONLY == 0;
    let (mut granted, mut denied) = (0, 0);
    for ace in list.aces.iter().filter(counts) {
        let meant = ace.sid == *user || groups.contains(&ace.sid);
        let meant = meant || owns && ace.sid == owner_rights;
        if !meant {
            continue;
        }
        match ace.kind {
            ace_type::ALLOWED => granted |= ace.mask & !denied,
            ace_type::DENIED => denied |= ace.mask & !granted,
            _ => {}
        }
    }
    let told = list.aces.iter().filter(counts);
    if owns && told.into_iter().all(|ace| ace.sid != owner_rights) {
        granted |= right::READ_CONTROL | right::WRITE_DAC;
    }
    granted
}

/// The descriptor of a new object in a folder with the descriptor `folder`; `own` supplies the parts that are not
/// inherited. `None` if it inherits nothing.
pub(super) fn inherited(
    folder: &Descriptor,
    own: Descriptor,
    is_directory: bool,
) -> Option<Descriptor> {
    let list = folder.dacl.as_ref()?.as_ref()?;
    let automatic = folder.control & control::DACL_AUTO_INHERITED;
    let mark = if automatic == 0 {
        0
    } else {
        ace_flag::INHERITED
    };
    let mut aces = Vec::new();
    for ace in &list.aces {
        if is_directory {
            for_folder(ace, &own, mark, &mut aces);
        } else if ace.flags & ace_flag::OBJECT_INHERIT != 0 {
            aces.push(effective(ace, &own, mark));
        }
    }
    if aces.is_empty() {
        return None;
    }
    Some(Descriptor {
        control: automatic,
        dacl: Some(Some(Acl { aces })),
        ..own
    })
}

/// The inherited form of an entry: an effective entry, and one to pass on if it differs.
fn for_folder(ace: &Ace, own: &Descriptor, mark: u8, aces: &mut Vec<Ace>) {
    let passes = ace.flags & ace_flag::NO_PROPAGATE == 0;
    let on = ace.flags & (ace_flag::OBJECT_INHERIT | ace_flag::CONTAINER_INHERIT);
    let to_pass_on = |flags: u8| Ace {
        flags: on | flags | mark,
        ..ace.clone()
    };
    if ace.flags & ace_flag::CONTAINER_INHERIT == 0 {
        if on != 0 && passes {
            aces.push(to_pass_on(ace_flag::INHERIT_ONLY));
        }
        return;
    }
    let here = effective(ace, own, mark);
    match (passes, here.sid == ace.sid) {
        (false, _) => aces.push(here),
        (true, true) => aces.push(to_pass_on(0)),
        (true, false) => aces.extend([here, to_pass_on(ace_flag::INHERIT_ONLY)]),
    }
}

/// An effective inherited entry: the creator replaces Creator Owner.
fn effective(ace: &Ace, own: &Descriptor, flags: u8) -> Ace {
    let creator = if ace.sid == Sid::creator_owner() {
        own.owner.clone()
    } else if ace.sid == Sid::creator_group() {
        own.group.clone()
    } else {
        None
    };
    Ace {
        flags,
        sid: creator.unwrap_or_else(|| ace.sid.clone()),
        ..ace.clone()
    }
}

/// The list as stored: specific rights replace generic ones.
pub(super) fn specific(mut list: Acl) -> Acl {
    for ace in &mut list.aces {
        ace.mask = expand_generic(ace.mask);
    }
    list
}

/// Maps generic bits to file rights ([MS-CIFS] 2.2.1.4.1).
pub fn expand_generic(mask: u32) -> u32 {
    const EXPANSIONS: [(u32, u32); 4] = [
        (0x8000_0000, 0x0012_0089),
        (0x4000_0000, 0x0012_0116),
        (0x2000_0000, 0x0012_00a0),
        (0x1000_0000, right::ALL),
    ];
    const GENERIC: u32 = 0xf000_0000;
    let asked = EXPANSIONS.iter().filter(|(bit, _)| mask & bit != 0);
    asked.fold(mask & !GENERIC, |mask, (_, bits)| mask | bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn ace(kind: u8, flags: u8, mask: u32, sid: Sid) -> Ace {
        Ace {
            kind,
            flags,
            mask,
            sid,
        }
    }

    fn descriptor(aces: Vec<Ace>) -> Descriptor {
        Descriptor {
            owner: Some(Sid::system()),
            dacl: Some(Some(Acl { aces })),
            ..Descriptor::default()
        }
    }

    #[test]
    fn the_first_entry_that_names_a_right_decides() {
        let user = Sid::users();
        let aces = vec![
            ace(ace_type::DENIED, 0, 0x2, Sid::everyone()),
            ace(ace_type::ALLOWED, 0, 0x7, user.clone()),
            ace(ace_type::DENIED, 0, 0x4, user.clone()),
            ace(ace_type::ALLOWED, ace_flag::INHERIT_ONLY, 0x8, user.clone()),
            ace(ace_type::ALLOWED, 0, 0x10, Sid::creator_owner()),
        ];
        let whole = descriptor(aces);
        assert_eq!(granted(&whole, &user, &[Sid::everyone()]), 0x5);
        let owners = right::READ_CONTROL | right::WRITE_DAC;
        assert_eq!(granted(&whole, &Sid::system(), &[]), owners);
    }

    #[test]
    fn owner_rights_replace_the_implicit_rights_of_owners() {
        let aces = vec![ace(ace_type::ALLOWED, 0, 0x1, Sid::owner_rights())];
        assert_eq!(granted(&descriptor(aces), &Sid::system(), &[]), 0x1);
    }

    #[test]
    fn a_missing_list_grants_everyone_access_and_an_empty_one_denies_it() {
        let user = Sid::users();
        assert_eq!(granted(&Descriptor::default(), &user, &[]), right::ALL);
        let null = Descriptor {
            dacl: Some(None),
            ..Descriptor::default()
        };
        assert_eq!(granted(&null, &user, &[]), right::ALL);
        assert_eq!(granted(&descriptor(Vec::new()), &user, &[]), 0);
    }

    #[test]
    fn folders_pass_on_file_entries_unless_propagation_is_off() {
        const OI: u8 = ace_flag::OBJECT_INHERIT;
        const CI: u8 = ace_flag::CONTAINER_INHERIT;
        const NP: u8 = ace_flag::NO_PROPAGATE;
        const IO: u8 = ace_flag::INHERIT_ONLY;
        let flags_of = |flags: u8, sid: Sid, is_directory: bool| {
            let folder = descriptor(vec![ace(ace_type::ALLOWED, flags, 1, sid)]);
            let own = descriptor(Vec::new());
            let list = inherited(&folder, own, is_directory)?.dacl??;
            Some(list.aces.iter().map(|ace| ace.flags).collect::<Vec<_>>())
        };
        let everyone = |flags, is_directory| flags_of(flags, Sid::everyone(), is_directory);
        assert_eq!(everyone(0, false), None);
        assert_eq!(everyone(CI, false), None);
        assert_eq!(everyone(OI | IO, false), Some(vec![0]));
        assert_eq!(everyone(OI, true), Some(vec![OI | IO]));
        assert_eq!(everyone(OI | NP, true), None);
        assert_eq!(everyone(OI | CI | IO, true), Some(vec![OI | CI]));
        assert_eq!(everyone(CI | NP, true), Some(vec![0]));
        let creator = flags_of(CI, Sid::creator_owner(), true);
        assert_eq!(creator, Some(vec![0, CI | IO]));
    }
}
