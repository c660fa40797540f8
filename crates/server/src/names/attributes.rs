//! DOS attributes: the bits, the rules for searches, and the format in the extended attribute.

use alloc::vec::Vec;
use coax_wire::time::FileTime;

/// The attributes of a file in the 32-bit form ([MS-CIFS] 2.2.1.2.3, SMB_EXT_FILE_ATTR; [MS-FSCC] 2.6). The low byte
/// equals that of the 16-bit form, SMB_FILE_ATTRIBUTES ([MS-CIFS] 2.2.1.2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes(pub u32);

impl Attributes {
    /// No attributes (16-bit form).
    pub const NONE: Self = Self(0);
    /// Clients must not write or delete the file.
    pub const READONLY: Self = Self(0x0001);
    /// Hidden from ordinary listings.
    pub const HIDDEN: Self = Self(0x0002);
    /// Belongs to the operating system.
    pub const SYSTEM: Self = Self(0x0004);
    /// The volume's label (16-bit form only).
    pub const VOLUME: Self = Self(0x0008);
    /// A directory.
    pub const DIRECTORY: Self = Self(0x0010);
    /// Changed since it was last archived.
    pub const ARCHIVE: Self = Self(0x0020);
    /// No other attribute (32-bit form only, and only alone).
    pub const NORMAL: Self = Self(0x0080);
    /// Short-lived: keep it in memory if possible.
    pub const TEMPORARY: Self = Self(0x0100);
    /// Has holes.
    pub const SPARSE: Self = Self(0x0200);
    /// Carries a reparse point.
    pub const REPARSE_POINT: Self = Self(0x0400);
    /// Compressed on the server's disk.
    pub const COMPRESSED: Self = Self(0x0800);
    /// The data is not immediately available.
    pub const OFFLINE: Self = Self(0x1000);
    /// Excluded from content indexing.
    pub const NOT_CONTENT_INDEXED: Self = Self(0x2000);
    /// A private mark, never on the wire: the file has its own security descriptor. Samba ignores such bits.
    pub const DESCRIBED: Self = Self(0x4000_0000);
    /// The bits that a client may set: read-only, hidden, system, archive, temporary, offline, not-indexed.
    pub const SETTABLE: Self = Self(0x3127);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These bits without those of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether this is a directory.
    pub const fn is_directory(self) -> bool {
        self.contains(Self::DIRECTORY)
    }

    /// The 16-bit form: the six bits of DOS.
    pub const fn to_smb(self) -> u16 {
        (self.0 & 0x3f) as u16
    }

    /// The 32-bit form, without the volume bit. [`Self::NORMAL`] if no other bit is set.
    pub const fn to_ext(self) -> u32 {
        match self.0 & !0x88 {
            0 => Self::NORMAL.0,
            bits => bits,
        }
    }

    /// The new attributes of a file with the attributes `self` after a client sets `sent`. Only settable bits change
    /// ([MS-CIFS] 2.2.4.10.1: a directory cannot become a file nor a file a directory).
    pub const fn after_set(self, sent: u32) -> Self {
        Self((self.0 & !Self::SETTABLE.0 & !Self::NORMAL.0) | (sent & Self::SETTABLE.0))
    }
}

/// The SearchAttributes field of searches, deletes and renames ([MS-CIFS] 2.2.1.2.4 and 3.3.5.47).
///
/// The low byte widens the search: it excludes hidden files, system files and directories unless their bit is set.
/// Read-only and archive bits there have no effect. The high byte narrows it: the file must have each bit that is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchAttributes(pub u16);

impl SearchAttributes {
    /// Attributes that a search excludes by default.
    const KEPT_BACK: u16 = 0x0016;
    /// Each bit from 8 up requires the bit 8 lower: read-only, hidden, system, directory, archive.
    const MUST_HAVE: u16 = 0x0037;

    /// Whether the search includes a file or directory with these attributes.
    pub const fn admits(self, attributes: Attributes) -> bool {
        let has = attributes.to_smb();
        let kept_back = has & Self::KEPT_BACK & !self.inclusive();
        let must_have = (self.0 >> 8) & Self::MUST_HAVE;
        kept_back == 0 && has & must_have == must_have
    }

    /// Whether the client asks for the volume label only, in the way of DOS ([MS-CIFS] 3.3.5.47).
    pub const fn wants_only_volume(self) -> bool {
        self.0 & 0x1f == Attributes::VOLUME.0 as u16
    }

    /// Whether the search includes directories.
    pub const fn wants_directories(self) -> bool {
        self.inclusive() & Attributes::DIRECTORY.0 as u16 != 0
    }

    /// The bits that widen the search. A required bit also widens it.
    const fn inclusive(self) -> u16 {
        (self.0 & 0xff) | ((self.0 >> 8) & Self::MUST_HAVE)
    }
}

/// The contents of the extended attribute [`DosAttrib::NAME`]: DOS attributes and creation time. The format is Samba's,
/// so that either server can serve a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DosAttrib {
    /// The attributes, 32-bit form. The directory bit is unreliable: ask the file system.
    pub attributes: Attributes,
    /// The creation time, if recorded.
    pub created: Option<FileTime>,
}

impl DosAttrib {
    /// The extended attribute's full name.
    pub const NAME: &'static str = "user.DOSATTRIB";
    /// valid_flags: the attributes are valid.
    const VALID_ATTRIB: u32 = 0x01;
    /// valid_flags: the creation time is valid.
    const VALID_CREATE_TIME: u32 = 0x10;

    /// Decodes every version that Samba has written: the bare hexadecimal text of Samba 3 (`0x22`), and NDR structures
    /// 1 to 5 from Samba 3.5 on, which follow such a text (often empty). `None` for anything else.
    pub fn decode(blob: &[u8]) -> Option<Self> {
        let text_len = blob.iter().position(|b| *b == 0).unwrap_or(blob.len());
        let text = core::str::from_utf8(blob.get(..text_len)?).ok()?;
        let mut ndr = Ndr {
            blob,
            at: text_len.saturating_add(1),
        };
        let Some(version) = ndr.u16() else {
            return Some(Self {
                attributes: Attributes(parse_hex(text)?),
                created: None,
            });
        };
        if ndr.u16()? != version {
            return None; // the union's discriminant repeats the version
        }
        let (attrib, created) = ndr.info(version)?;
        let created = created.filter(|t| *t != 0 && *t != u64::MAX).map(FileTime);
        Some(Self {
            attributes: Attributes(attrib),
            created,
        })
    }

    /// Encodes version 5, which Samba reads and writes from 4.14 on.
    pub fn encode(self) -> Vec<u8> {
        let created = self.created.unwrap_or_default();
        let flags = match self.created {
            Some(_) => Self::VALID_ATTRIB | Self::VALID_CREATE_TIME,
            None => Self::VALID_ATTRIB,
        };
        let mut out = Vec::with_capacity(24);
        // An empty text with padding, the version, the union's discriminant with padding.
        out.extend_from_slice(&[0, 0, 5, 0, 5, 0, 0, 0]);
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&self.attributes.0.to_le_bytes());
        out.extend_from_slice(&created.0.to_le_bytes());
        out
    }
}

fn parse_hex(text: &str) -> Option<u32> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

/// A reader of little-endian NDR: each integer is aligned to its size, 64-bit times to 4.
struct Ndr<'a> {
    blob: &'a [u8],
    at: usize,
}

impl Ndr<'_> {
    fn take<const N: usize>(&mut self, align: usize) -> Option<[u8; N]> {
        let start = self.at.checked_next_multiple_of(align)?;
        let bytes = self.blob.get(start..)?.first_chunk::<N>()?;
        self.at = start + N;
        Some(*bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2).map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(4).map(u64::from_le_bytes)
    }

    /// The attributes and the creation time, if this version has them.
    fn info(&mut self, version: u16) -> Option<(u32, Option<u64>)> {
        let flags = if version == 1 {
            DosAttrib::VALID_CREATE_TIME
        } else {
            self.u32()?
        };
        let attrib = self.u32()?;
        match version {
            // Size of the extended attributes, file size, allocation.
            1 | 3 => {
                self.u32()?;
                self.u64()?;
                self.u64()?;
            }
            // Version 2 has no flag that marks its times as valid.
            2 => return Some((attrib, None)),
            // The time that is part of the file's identity.
            4 => drop(self.u64()?),
            5 => {}
            _ => return None,
        }
        let created = self.u64()?;
        Some((
            attrib,
            (flags & DosAttrib::VALID_CREATE_TIME != 0).then_some(created),
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const PLAIN: Attributes = Attributes::NONE;
    const DIR: Attributes = Attributes::DIRECTORY;
    const HIDDEN_RO: Attributes = Attributes(0x03);

    #[test]
    fn an_empty_search_finds_plain_read_only_and_archived_files() {
        let search = SearchAttributes(0);
        assert!(
            search.admits(PLAIN)
                && search.admits(Attributes(0x21))
                && search.admits(Attributes::NORMAL)
        );
        assert!(
            !search.admits(DIR) && !search.admits(HIDDEN_RO) && !search.admits(Attributes::SYSTEM)
        );
    }

    #[test]
    fn the_low_byte_widens() {
        let search = SearchAttributes(0x16);
        assert!(
            [PLAIN, DIR, HIDDEN_RO, Attributes(0x27), Attributes(0x16)]
                .iter()
                .all(|a| search.admits(*a))
        );
        assert!(
            !SearchAttributes(0x02).admits(Attributes(0x06)),
            "the search requires both hidden and system"
        );
    }

    #[test]
    fn the_high_byte_narrows() {
        let directories = SearchAttributes(0x1016);
        assert!(
            directories.admits(DIR) && !directories.admits(PLAIN) && !directories.admits(HIDDEN_RO)
        );
        let archived = SearchAttributes(0x2000);
        assert!(archived.admits(Attributes::ARCHIVE) && !archived.admits(PLAIN));
        assert!(
            SearchAttributes(0x1000).admits(DIR),
            "required attributes must not exclude the file"
        );
    }

    #[test]
    fn a_search_for_only_the_label_is_recognised() {
        assert!(
            SearchAttributes(0x08).wants_only_volume()
                && SearchAttributes(0x28).wants_only_volume()
        );
        assert!(
            !SearchAttributes(0x1e).wants_only_volume()
                && !SearchAttributes(0x16).wants_only_volume()
        );
    }

    #[test]
    fn normal_is_set_only_alone() {
        assert_eq!(Attributes::NONE.to_ext(), 0x80);
        assert_eq!(Attributes(0xa0).to_ext(), 0x20);
        assert_eq!(Attributes(0x28).to_ext(), 0x20);
        assert_eq!(Attributes(0x18a7).to_smb(), 0x27);
    }

    #[test]
    fn setting_attributes_cannot_turn_a_directory_into_a_file() {
        assert_eq!(DIR.after_set(0x22), Attributes(0x32));
        assert_eq!(Attributes::ARCHIVE.after_set(0x11), Attributes::READONLY);
        assert_eq!(Attributes(0x827).after_set(0x80), Attributes::COMPRESSED);
    }

    /// The format of smbd 3.5 to 4.x: the text, a pad, version and discriminant 3, then the fields.
    fn version_3(text: &[u8]) -> Vec<u8> {
        let mut blob = text.to_vec();
        blob.resize(blob.len().next_multiple_of(2), 0);
        blob.extend([3, 0, 3, 0]);
        blob.resize(blob.len().next_multiple_of(4), 0);
        blob.extend([0x11, 0, 0, 0, 0x22, 0, 0, 0]);
        blob.extend([0; 20]);
        blob.extend(0x01d0_0000_1234_5678u64.to_le_bytes());
        blob.extend([0; 8]);
        blob
    }

    #[test]
    fn version_3_is_read_with_either_alignment_of_its_text() {
        let want = DosAttrib {
            attributes: Attributes(0x22),
            created: Some(FileTime(0x01d0_0000_1234_5678)),
        };
        for text in [&b"0x22\0"[..], b"0x2\0", b"\0", b"0x12345\0"] {
            assert_eq!(DosAttrib::decode(&version_3(text)), Some(want), "{text:?}");
        }
    }

    #[test]
    fn versions_1_4_5_and_the_bare_text_are_read() {
        let created = Some(FileTime(0x01d0_0000_1234_5678));
        let time = 0x01d0_0000_1234_5678u64.to_le_bytes();
        let mut one = vec![0, 0, 1, 0, 1, 0, 0, 0, 0x22, 0, 0, 0];
        one.extend([0; 20]);
        one.extend(time);
        one.extend([0; 8]);
        assert_eq!(
            DosAttrib::decode(&one),
            Some(DosAttrib {
                attributes: Attributes(0x22),
                created
            })
        );
        let mut four = vec![0, 0, 4, 0, 4, 0, 0, 0, 0x51, 0, 0, 0, 0x20, 0, 0, 0];
        four.extend([9; 8]);
        four.extend(time);
        assert_eq!(
            DosAttrib::decode(&four),
            Some(DosAttrib {
                attributes: Attributes(0x20),
                created
            })
        );
        for text in [&b"0x23"[..], b"0x23\0"] {
            assert_eq!(
                DosAttrib::decode(text),
                Some(DosAttrib {
                    attributes: Attributes(0x23),
                    created: None
                })
            );
        }
    }

    #[test]
    fn version_5_is_written_byte_for_byte_as_samba_lays_it_out() {
        let attrib = DosAttrib {
            attributes: Attributes(0x20),
            created: Some(FileTime(0x0102_0304_0506_0708)),
        };
        let want = [
            0, 0, 5, 0, 5, 0, 0, 0, 0x11, 0, 0, 0, 0x20, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1,
        ];
        assert_eq!(attrib.encode(), want);
    }

    #[test]
    fn other_attribute_formats_are_rejected() {
        for bad in [
            &b""[..],
            b"hello",
            b"0x",
            b"0x1g",
            b"0x+2",
            &[0, 0, 6, 0, 6, 0, 0, 0, 1, 0, 0, 0],
            &[0, 0, 5, 0, 4, 0],
        ] {
            assert_eq!(DosAttrib::decode(bad), None, "{bad:?}");
        }
        let whole = version_3(b"0x22\0");
        for cut in 8..48 {
            assert_eq!(DosAttrib::decode(&whole[..cut]), None, "{cut}");
        }
    }

    proptest! {
        #[test]
        fn encoded_attributes_decode_to_the_same_value(bits in any::<u32>(), created in prop::option::of(1u64..u64::MAX)) {
            let attrib = DosAttrib { attributes: Attributes(bits), created: created.map(FileTime) };
            prop_assert_eq!(DosAttrib::decode(&attrib.encode()), Some(attrib));
        }

        #[test]
        fn arbitrary_attribute_bytes_never_panic(blob in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = DosAttrib::decode(&blob);
        }
    }
}
