//! Security descriptors in their self-relative form ([MS-DTYP] 2.4.6), SIDs and access control lists.
//!
//! Everything is bounded by the bytes at hand: offsets, ACL sizes and ACE counts off the wire are checked before use.

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Bits of the control word.
pub mod control {
    /// The DACL is present (possibly as the null DACL).
    pub const DACL_PRESENT: u16 = 0x0004;
    /// The SACL is present.
    pub const SACL_PRESENT: u16 = 0x0010;
    /// The DACL should inherit from its parent automatically.
    pub const DACL_AUTO_INHERIT_REQ: u16 = 0x0100;
    /// The DACL inherits from its parent.
    pub const DACL_AUTO_INHERITED: u16 = 0x0400;
    /// The DACL is shielded from inheritance.
    pub const DACL_PROTECTED: u16 = 0x1000;
    /// All in one piece, with offsets.
    pub const SELF_RELATIVE: u16 = 0x8000;
}

/// Bits that select parts of a descriptor ([MS-DTYP] 2.4.7).
pub mod info {
    /// Owner.
    pub const OWNER: u32 = 0x1;
    /// Group.
    pub const GROUP: u32 = 0x2;
    /// DACL.
    pub const DACL: u32 = 0x4;
    /// SACL.
    pub const SACL: u32 = 0x8;
}

/// ACE types ([MS-DTYP] 2.4.4.1).
pub mod ace_type {
    /// Grants.
    pub const ALLOWED: u8 = 0;
    /// Refuses.
    pub const DENIED: u8 = 1;
    /// Audits.
    pub const AUDIT: u8 = 2;
}

/// ACE flags ([MS-DTYP] 2.4.4.1).
pub mod ace_flag {
    /// Files within inherit it.
    pub const OBJECT_INHERIT: u8 = 0x01;
    /// Folders within inherit it.
    pub const CONTAINER_INHERIT: u8 = 0x02;
    /// Objects that inherit the entry do not propagate it.
    pub const NO_PROPAGATE: u8 = 0x04;
    /// It counts for what inherits it only.
    pub const INHERIT_ONLY: u8 = 0x08;
    /// It was inherited.
    pub const INHERITED: u8 = 0x10;
}

/// Most sub-authorities a SID has.
const MAX_SUB_AUTHORITIES: usize = 15;
/// Bytes of a descriptor's head.
const HEAD: usize = 20;
/// Bytes of an ACL's head.
const ACL_HEAD: usize = 8;
/// Bytes of an ACE before its SID.
const ACE_HEAD: usize = 8;

/// A security identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sid {
    /// Identifier authority, big-endian as on the wire.
    pub authority: [u8; 6],
    /// Sub-authorities.
    pub sub_authorities: Vec<u32>,
}

impl Sid {
    /// A SID of an authority below 256, such as `S-1-5-…`.
    pub fn new(authority: u8, sub_authorities: &[u32]) -> Self {
        Self {
            authority: [0, 0, 0, 0, 0, authority],
            sub_authorities: sub_authorities.to_vec(),
        }
    }

    /// Everyone, S-1-1-0.
    pub fn everyone() -> Self {
        Self::new(1, &[0])
    }

    /// Creator Owner, S-1-3-0.
    pub fn creator_owner() -> Self {
        Self::new(3, &[0])
    }

    /// Creator Group, S-1-3-1.
    pub fn creator_group() -> Self {
        Self::new(3, &[1])
    }

    /// Owner Rights, S-1-3-4.
    pub fn owner_rights() -> Self {
        Self::new(3, &[4])
    }

    /// Authenticated Users, S-1-5-11.
    pub fn authenticated_users() -> Self {
        Self::new(5, &[11])
    }

    /// NT AUTHORITY\SYSTEM, S-1-5-18.
    pub fn system() -> Self {
        Self::new(5, &[18])
    }

    /// BUILTIN\Users, S-1-5-32-545.
    pub fn users() -> Self {
        Self::new(5, &[32, 545])
    }

    fn parse(r: &mut Reader<'_>) -> Result<Self> {
        if r.u8("SID revision")? != 1 {
            return Err(Error::Value {
                what: "SID revision",
            });
        }
        let count = usize::from(r.u8("sub-authority count")?);
        if count > MAX_SUB_AUTHORITIES {
            return Err(Error::Value {
                what: "sub-authority count",
            });
        }
        let authority = r.array("identifier authority")?;
        let sub_authorities = (0..count)
            .map(|_| r.u32("sub-authority"))
            .collect::<Result<_>>()?;
        Ok(Self {
            authority,
            sub_authorities,
        })
    }

    fn emit(&self, out: &mut Writer) {
        out.u8(1).u8(self.sub_authorities.len() as u8);
        out.bytes(&self.authority);
        for sub_authority in &self.sub_authorities {
            out.u32(*sub_authority);
        }
    }

    /// Length on the wire, bytes.
    fn len(&self) -> usize {
        8 + 4 * self.sub_authorities.len()
    }
}

/// An access control entry of the four types that name just a mask and a SID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ace {
    /// Type ([`ace_type`]).
    pub kind: u8,
    /// Flags ([`ace_flag`]).
    pub flags: u8,
    /// Access mask.
    pub mask: u32,
    /// Whom it is about.
    pub sid: Sid,
}

/// An access control list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Its entries, in the order they are applied.
    pub aces: Vec<Ace>,
}

impl Acl {
    fn parse(bytes: &[u8], offset: usize) -> Result<Self> {
        const WRONG: Error = Error::Outside { what: "ACL size" };
        let mut head = Reader::at(bytes, offset, "ACL offset")?;
        head.u16("ACL revision")?;
        let size = usize::from(head.u16("ACL size")?);
        let count = head.u16("ACE count")?;
        head.u16("ACL")?;
        let end = offset.checked_add(size).ok_or(WRONG)?;
        let list = bytes.get(..end).ok_or(WRONG)?;
        let mut r = Reader::at(list, offset.saturating_add(ACL_HEAD), "ACL size")?;
        let aces = (0..count).map(|_| Ace::parse(&mut r));
        Ok(Self {
            aces: aces.collect::<Result<_>>()?,
        })
    }

    fn emit(&self, out: &mut Writer) {
        let size = ACL_HEAD + self.aces.iter().map(Ace::len).sum::<usize>();
        out.u16(2).u16(size as u16);
        out.u16(self.aces.len() as u16).u16(0);
        for ace in &self.aces {
            out.u8(ace.kind).u8(ace.flags).u16(ace.len() as u16);
            out.u32(ace.mask);
            ace.sid.emit(out);
        }
    }
}

impl Ace {
    fn parse(r: &mut Reader<'_>) -> Result<Self> {
        let kind = r.u8("ACE type")?;
        let flags = r.u8("ACE flags")?;
        let size = usize::from(r.u16("ACE size")?);
        let body = size
            .checked_sub(4)
            .ok_or(Error::Value { what: "ACE size" })?;
        let mut body = Reader::new(r.take(body, "ACE")?);
        if kind > 3 {
            return Err(Error::Value { what: "ACE type" });
        }
        Ok(Self {
            kind,
            flags,
            mask: body.u32("access mask")?,
            sid: Sid::parse(&mut body)?,
        })
    }

    /// Length on the wire, bytes.
    fn len(&self) -> usize {
        ACE_HEAD + self.sid.len()
    }
}

/// A security descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Control bits ([`control`]); those of presence and form are made when it is written.
    pub control: u16,
    /// Owner.
    pub owner: Option<Sid>,
    /// Group.
    pub group: Option<Sid>,
    /// System list, if present; inner `None` is the null list.
    pub sacl: Option<Option<Acl>>,
    /// Discretionary list, if present; inner `None` is the null list, which grants everybody everything.
    pub dacl: Option<Option<Acl>>,
}

impl Descriptor {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Outside`], [`Error::Value`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        if r.u8("descriptor revision")? != 1 {
            return Err(Error::Value {
                what: "descriptor revision",
            });
        }
        r.u8("reserved")?;
        let control = r.u16("descriptor control")?;
        let mut offset = || r.u32("descriptor offset").map(|offset| offset as usize);
        let (owner, group, sacl, dacl) = (offset()?, offset()?, offset()?, offset()?);
        let sid = |offset: usize| match offset {
            0 => Ok(None),
            at => Sid::parse(&mut Reader::at(bytes, at, "SID offset")?).map(Some),
        };
        let acl = |present: u16, offset: usize| match offset {
            _ if control & present == 0 => Ok(None),
            0 => Ok(Some(None)),
            at => Acl::parse(bytes, at).map(|acl| Some(Some(acl))),
        };
        Ok(Self {
            control,
            owner: sid(owner)?,
            group: sid(group)?,
            sacl: acl(control::SACL_PRESENT, sacl)?,
            dacl: acl(control::DACL_PRESENT, dacl)?,
        })
    }

    /// Appends the self-relative form.
    pub fn emit(&self, out: &mut Writer) {
        let start = out.len();
        out.u8(1).u8(0).u16(self.control_bits()).zeros(16);
        debug_assert_eq!(out.len() - start, HEAD);
        for (slot, acl) in [(12, &self.sacl), (16, &self.dacl)] {
            if let Some(Some(acl)) = acl {
                let at = (out.len() - start) as u32;
                out.patch_u32(start + slot, at);
                acl.emit(out);
            }
        }
        for (slot, sid) in [(4, &self.owner), (8, &self.group)] {
            if let Some(sid) = sid {
                let at = (out.len() - start) as u32;
                out.patch_u32(start + slot, at);
                sid.emit(out);
            }
        }
    }

    /// The self-relative form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.emit(&mut out);
        out.into_vec()
    }

    /// Only the parts that `wanted` ([`info`]) names.
    #[must_use]
    pub fn only(&self, wanted: u32) -> Self {
        let mut part = Self {
            control: self.control,
            ..Self::default()
        };
        if wanted & info::OWNER != 0 {
            part.owner.clone_from(&self.owner);
        }
        if wanted & info::GROUP != 0 {
            part.group.clone_from(&self.group);
        }
        if wanted & info::SACL != 0 {
            part.sacl.clone_from(&self.sacl);
        }
        if wanted & info::DACL != 0 {
            part.dacl.clone_from(&self.dacl);
        } else {
            part.control &= !(control::DACL_PROTECTED | control::DACL_AUTO_INHERITED);
        }
        part
    }

    fn control_bits(&self) -> u16 {
        let mut bits = self.control & !(control::DACL_PRESENT | control::SACL_PRESENT);
        bits |= control::SELF_RELATIVE;
        if self.dacl.is_some() {
            bits |= control::DACL_PRESENT;
        }
        if self.sacl.is_some() {
            bits |= control::SACL_PRESENT;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    /// Owner Administrators, group SYSTEM, Everyone full access: as NT writes it.
    const FROM_NT: &[u8] = &[
        1, 0, 4, 0x80, 0x30, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 2, 0, 0x1c, 0, 1,
        0, 0, 0, 0, 3, 0x14, 0, 0xff, 1, 0x1f, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0,
        0, 0, 0, 5, 0x20, 0, 0, 0, 0x20, 2, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 0x12, 0, 0, 0,
    ];

    #[test]
    fn a_descriptor_of_nt_decodes_and_encodes_to_the_same_bytes() {
        let descriptor = Descriptor::parse(FROM_NT).unwrap();
        assert_eq!(descriptor.owner, Some(Sid::new(5, &[32, 544])));
        assert_eq!(descriptor.group, Some(Sid::system()));
        let dacl = descriptor.dacl.clone().unwrap().unwrap();
        assert_eq!(dacl.aces[0].sid, Sid::everyone());
        assert_eq!(descriptor.to_bytes(), FROM_NT);
    }

    #[test]
    fn a_null_dacl_is_not_a_missing_one() {
        let null = Descriptor {
            dacl: Some(None),
            ..Descriptor::default()
        };
        assert_eq!(
            Descriptor::parse(&null.to_bytes()).unwrap().dacl,
            Some(None)
        );
        let none = Descriptor::default();
        assert_eq!(Descriptor::parse(&none.to_bytes()).unwrap().dacl, None);
    }

    #[test]
    fn lists_and_sids_that_lie_about_their_size_are_refused() {
        for (at, value) in [
            (22, 0xff),
            (24, 2),
            (28 + 2, 0xff),
            (4, 0xff),
            (16, 0xf0),
            (28, 5),
            (49, 16),
        ] {
            let mut bytes = FROM_NT.to_vec();
            bytes[at] = value;
            assert!(Descriptor::parse(&bytes).is_err(), "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic_and_what_decodes_survives_a_round_trip(
            bytes in proptest::collection::vec(any::<u8>(), 0..160),
            flips in proptest::collection::vec((0usize..76, any::<u8>()), 0..6),
        ) {
            let mut bent = vec![0; FROM_NT.len()];
            bent.copy_from_slice(FROM_NT);
            for (at, value) in flips {
                bent[at] = value;
            }
            for input in [&bytes, &bent] {
                if let Ok(descriptor) = Descriptor::parse(input) {
                    let again = Descriptor::parse(&descriptor.to_bytes()).unwrap();
                    prop_assert_eq!(again.dacl, descriptor.dacl);
                }
            }
        }
    }
}
