//! Extended attributes: SMB_FEA_LIST and SMB_GEA_LIST ([MS-CIFS] 2.2.1.2.2, 2.2.1.2.1), and the chained lists of NT
//! ([MS-FSCC] 2.4.16). Names are OEM text.

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Flag: programs that do not understand this attribute cannot use the file.
pub const NEED_EA: u8 = 0x80;
/// Longest name, bytes.
pub const MAX_NAME: usize = 255;
/// Longest value, bytes.
pub const MAX_VALUE: usize = 0xffff;
/// Characters that a name must not contain, in addition to those below 0x20 ([MS-FSCC] 2.4.16).
const BAD_IN_NAMES: &[u8] = b"\"*+,/:;<=>?[\\]|";

/// Whether `name` (OEM) may name an extended attribute.
pub fn is_legal_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name
            .iter()
            .all(|byte| *byte >= 0x20 && !BAD_IN_NAMES.contains(byte))
}

/// An extended attribute: its name and value. A value of no bytes asks for its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ea<'a> {
    /// [`NEED_EA`] or nothing.
    pub flags: u8,
    /// Name, OEM.
    pub name: &'a [u8],
    /// Value.
    pub value: &'a [u8],
}

impl Ea<'_> {
    /// Bytes before the name, and the zero after it.
    const OVERHEAD: usize = 5;

    /// Length in an [`emit_list`] list, bytes.
    pub fn len(&self) -> usize {
        Self::OVERHEAD
            .saturating_add(self.name.len())
            .saturating_add(self.value.len())
    }

    /// Whether name and value are empty.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.value.is_empty()
    }
}

/// Length of the list with `eas`, including its length field, bytes.
pub fn list_len<'a>(eas: impl IntoIterator<Item = Ea<'a>>) -> usize {
    eas.into_iter()
        .fold(4usize, |sum, ea| sum.saturating_add(ea.len()))
}

/// Decodes an SMB_FEA_LIST. Its length field may declare less than the data; bytes after that are ignored.
///
/// # Errors
/// [`Error::Short`], [`Error::Outside`] if a length exceeds the data.
pub fn parse_list(data: &[u8]) -> Result<Vec<Ea<'_>>> {
    let mut list = sized_list(data)?;
    let mut eas = Vec::new();
    while !list.is_empty() {
        eas.push(parse_entry(&mut list)?);
    }
    Ok(eas)
}

/// The inside of a list whose first four bytes are its length, themselves included.
fn sized_list(data: &[u8]) -> Result<Reader<'_>> {
    const WHAT: &str = "list of extended attributes";
    let size = Reader::new(data).u32(WHAT)? as usize;
    if size <= 4 {
        return Ok(Reader::new(&[]));
    }
    let inside = data.get(4..size).ok_or(Error::Outside { what: WHAT })?;
    Ok(Reader::new(inside))
}

fn parse_entry<'a>(list: &mut Reader<'a>) -> Result<Ea<'a>> {
    let flags = list.u8("EA flags")?;
    let name_len = usize::from(list.u8("EA name length")?);
    let value_len = usize::from(list.u16("EA value length")?);
    let name = list.take(name_len, "EA name")?;
    list.u8("EA name's end")?;
    let value = list.take(value_len, "EA value")?;
    Ok(Ea { flags, name, value })
}

/// Appends an SMB_FEA_LIST. Names and values longer than their length fields are left out.
pub fn emit_list<'a>(eas: impl IntoIterator<Item = Ea<'a>>, out: &mut Writer) {
    let start = out.len();
    out.u32(0);
    for ea in eas {
        if ea.name.len() <= MAX_NAME && ea.value.len() <= MAX_VALUE {
            emit_entry(ea, out);
        }
    }
    let len = out.len().saturating_sub(start);
    out.patch_u32(start, len as u32);
}

fn emit_entry(ea: Ea<'_>, out: &mut Writer) {
    out.u8(ea.flags)
        .u8(ea.name.len() as u8)
        .u16(ea.value.len() as u16)
        .bytes(ea.name)
        .u8(0)
        .bytes(ea.value);
}

/// Decodes an SMB_GEA_LIST: the names asked for.
///
/// # Errors
/// As [`parse_list`].
pub fn parse_names(data: &[u8]) -> Result<Vec<&[u8]>> {
    let mut list = sized_list(data)?;
    let mut names = Vec::new();
    while !list.is_empty() {
        let len = usize::from(list.u8("EA name length")?);
        names.push(list.take(len, "EA name")?);
        // The zero after the last name is missing in some clients' lists.
        list.take_up_to(1);
    }
    Ok(names)
}

/// Appends an SMB_GEA_LIST. Names longer than 255 bytes are left out.
pub fn emit_names<'a>(names: impl IntoIterator<Item = &'a [u8]>, out: &mut Writer) {
    let start = out.len();
    out.u32(0);
    for name in names.into_iter().filter(|name| name.len() <= MAX_NAME) {
        out.u8(name.len() as u8).bytes(name).u8(0);
    }
    let len = out.len().saturating_sub(start);
    out.patch_u32(start, len as u32);
}

/// Decodes a list of FILE_FULL_EA_INFORMATION, as in NT_TRANSACT_CREATE. Each entry contains the offset of the next
/// one. An offset backwards or outside the data is an error, so the list is never longer than its bytes.
///
/// # Errors
/// [`Error::Short`], [`Error::Outside`].
pub fn parse_chain(data: &[u8]) -> Result<Vec<Ea<'_>>> {
    const HEAD: usize = 8;
    let mut eas = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let mut entry = Reader::new(rest);
        let next = entry.u32("next EA's offset")? as usize;
        eas.push(parse_entry(&mut entry)?);
        if next == 0 {
            break;
        }
        let what = "next EA's offset";
        if next < HEAD {
            return Err(Error::Outside { what });
        }
        rest = rest.get(next..).ok_or(Error::Outside { what })?;
    }
    Ok(eas)
}

/// Appends a list of FILE_FULL_EA_INFORMATION, entries aligned to four bytes from its beginning.
pub fn emit_chain<'a>(eas: impl IntoIterator<Item = Ea<'a>>, out: &mut Writer) {
    let start = out.len();
    let mut previous = None;
    for ea in eas {
        if let Some(at) = previous {
            let pad = out.len().saturating_sub(start).wrapping_neg() & 3;
            out.zeros(pad);
            let distance = out.len().saturating_sub(at);
            out.patch_u32(at, distance as u32);
        }
        previous = Some(out.len());
        out.u32(0);
        emit_entry(ea, out);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use proptest::prelude::*;

    const TWO: [Ea<'static>; 2] = [
        Ea {
            flags: 0,
            name: b"ONE",
            value: b"v1",
        },
        Ea {
            flags: NEED_EA,
            name: b"B",
            value: b"",
        },
    ];
    const TWO_BYTES: &[u8] = b"\x14\0\0\0\x00\x03\x02\0ONE\0v1\x80\x01\0\0B\0";

    #[test]
    fn a_list_of_two_has_these_bytes_and_comes_back() {
        let mut out = Writer::default();
        emit_list(TWO, &mut out);
        assert_eq!(out.as_slice(), TWO_BYTES);
        assert_eq!(list_len(TWO), TWO_BYTES.len());
        assert_eq!(parse_list(TWO_BYTES).unwrap(), TWO);
    }

    #[test]
    fn a_chain_of_two_aligns_its_second_entry() {
        let mut out = Writer::default();
        emit_chain(TWO, &mut out);
        let bytes = b"\x10\0\0\0\x00\x03\x02\0ONE\0v1\0\0\0\0\0\0\x80\x01\0\0B\0";
        assert_eq!(out.as_slice(), bytes);
        assert_eq!(parse_chain(bytes).unwrap(), TWO);
        assert!(parse_chain(b"").unwrap().is_empty());
    }

    #[test]
    fn names_asked_for_come_back() {
        let mut out = Writer::default();
        emit_names([b"ONE".as_slice(), b"B"], &mut out);
        assert_eq!(out.as_slice(), b"\x0c\0\0\0\x03ONE\0\x01B\0");
        assert_eq!(
            parse_names(out.as_slice()).unwrap(),
            [b"ONE".as_slice(), b"B"]
        );
    }

    #[test]
    fn lengths_that_lie_are_refused_and_an_empty_list_is_none() {
        assert!(
            parse_list(b"\x20\0\0\0\0\x03").is_err(),
            "longer than the data"
        );
        assert!(
            parse_list(b"\x09\0\0\0\x00\x03\x02\0O").is_err(),
            "a truncated entry"
        );
        assert!(parse_list(b"\x04\0\0\0junk").unwrap().is_empty());
        assert!(parse_list(b"\0\0\0\0").unwrap().is_empty());
        assert!(
            parse_chain(b"\x04\0\0\0\x00\x01\0\0B\0").is_err(),
            "an offset that goes backwards"
        );
    }

    #[test]
    fn names_hold_no_control_bytes_and_no_separators() {
        assert!(is_legal_name(b"1st EA") && is_legal_name(b".LONGNAME") && is_legal_name(b"\xe4"));
        for bad in [
            b"".as_slice(),
            b"A:B",
            b"A\x1f",
            b"A*",
            b"A\\B",
            b"A|",
            &[b'A'; 256],
        ] {
            assert!(!is_legal_name(bad), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(data in proptest::collection::vec(any::<u8>(), 0..64)) {
            let eas = parse_list(&data).unwrap_or_default().len();
            let chained = parse_chain(&data).unwrap_or_default().len();
            let names = parse_names(&data).unwrap_or_default().len();
            prop_assert!(eas <= data.len() && chained <= data.len() && names <= data.len());
        }
    }
}
