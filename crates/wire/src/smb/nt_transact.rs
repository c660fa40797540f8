//! Functions of NT_TRANSACT: CREATE, IOCTL, NOTIFY_CHANGE, SET and QUERY_SECURITY_DESC ([MS-CIFS] 2.2.7).

use super::{
    nt_create_andx,
    transaction::{Kind, Request},
};
use crate::{
    block::WireStr,
    codepage::utf16,
    error::{Error, Result},
    header::Fid,
    info::ea::Ea,
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Function codes.
pub mod function {
    /// NT_TRANSACT_CREATE.
    pub const CREATE: u16 = 1;
    /// NT_TRANSACT_IOCTL.
    pub const IOCTL: u16 = 2;
    /// NT_TRANSACT_SET_SECURITY_DESC.
    pub const SET_SECURITY_DESC: u16 = 3;
    /// NT_TRANSACT_NOTIFY_CHANGE.
    pub const NOTIFY_CHANGE: u16 = 4;
    /// NT_TRANSACT_RENAME.
    pub const RENAME: u16 = 5;
    /// NT_TRANSACT_QUERY_SECURITY_DESC.
    pub const QUERY_SECURITY_DESC: u16 = 6;
    /// NT_TRANSACT_GET_USER_QUOTA ([MS-SMB] 2.2.7.3).
    pub const GET_USER_QUOTA: u16 = 7;
    /// NT_TRANSACT_SET_USER_QUOTA ([MS-SMB] 2.2.7.4).
    pub const SET_USER_QUOTA: u16 = 8;
}

/// A request: `max` is the parameter and data bytes that the reply may have.
pub const fn request<'a>(
    function: u16,
    setup: &'a [u8],
    parameters: &'a [u8],
    data: &'a [u8],
    max: (u32, u32),
) -> Request<'a> {
    Request {
        function,
        ..Request::whole(Kind::NtTransact, setup, parameters, data, max)
    }
}

/// The length of the whole descriptor, which QUERY_SECURITY_DESC's reply has as parameters, also where the descriptor does
/// not fit ([MS-CIFS] 2.2.7.6.2).
///
/// # Errors
/// [`Error::Short`].
pub fn parse_descriptor_len(parameters: &[u8]) -> Result<u32> {
    Reader::new(parameters).u32("descriptor length")
}

/// Offset of CREATE's name in its parameters.
pub const CREATE_NAME: usize = 53;

/// CREATE's parameters, and the contents of its data ([MS-CIFS] 2.2.7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Create<'a> {
    /// As in NT_CREATE_ANDX; the path is read by the caller, at [`CREATE_NAME`].
    pub open: nt_create_andx::Request<'a>,
    /// Security descriptor; empty if none is given.
    pub descriptor: &'a [u8],
    /// List of extended attributes in NT's form ([`parse_full_eas`]); empty if none are given.
    pub eas: &'a [u8],
}

impl<'a> Create<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if the data is shorter than its parts.
    pub fn parse(parameters: &'a [u8], data: &'a [u8], path: WireStr<'a>) -> Result<Self> {
        let mut r = Reader::new(parameters);
        let (flags, root, access) = (r.u32("flags")?, r.u32("root FID")?, r.u32("access mask")?);
        let allocation = r.u64("allocation size")?;
        let (attributes, share_access) = (r.u32("attributes")?, r.u32("share access")?);
        let (disposition, options) = (r.u32("disposition")?, r.u32("options")?);
        let descriptor = r.u32("descriptor length")? as usize;
        let eas = r.u32("EA length")? as usize;
        r.u32("name length")?;
        let open = nt_create_andx::Request {
            flags,
            root,
            access,
            allocation,
            attributes,
            share_access,
            disposition,
            options,
            impersonation: r.u32("impersonation level")?,
            path,
        };
        let part = |start: usize, len: usize, what| match len {
            0 => Ok(&[][..]),
            _ => start
                .checked_add(len)
                .and_then(|end| data.get(start..end))
                .ok_or(Error::Outside { what }),
        };
        Ok(Self {
            open,
            descriptor: part(0, descriptor, "descriptor length")?,
            eas: part(descriptor.saturating_add(3) & !3, eas, "EA length")?,
        })
    }
}

/// The parameters of CREATE's reply ([MS-CIFS] 2.2.7.1.2).
pub fn emit_create_response(opened: &nt_create_andx::Response, out: &mut Writer) {
    out.u8(opened.oplock).u8(0).u16(opened.fid.0);
    out.u32(opened.action).u32(0);
    for time in [
        opened.created,
        opened.accessed,
        opened.modified,
        opened.changed,
    ] {
        out.u64(time.0);
    }
    out.u32(opened.attributes).u64(opened.allocation);
    out.u64(opened.size).u16(opened.resource_type);
    out.u16(opened.pipe_state).u8(u8::from(opened.directory));
}

/// Decodes a list of FILE_FULL_EA_INFORMATION ([MS-FSCC] 2.4.16).
///
/// # Errors
/// [`Error::Short`], [`Error::Outside`].
pub fn parse_full_eas(list: &[u8]) -> Result<Vec<Ea<'_>>> {
    let mut eas = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let mut r = Reader::at(list, at, "EA offset")?;
        let next = r.u32("EA offset")? as usize;
        let flags = r.u8("EA flags")?;
        let name = usize::from(r.u8("EA name length")?);
        let value = usize::from(r.u16("EA value length")?);
        let name = r.take(name, "EA name")?;
        r.u8("EA name")?;
        let value = r.take(value, "EA value")?;
        eas.push(Ea { flags, name, value });
        if next == 0 {
            break;
        }
        // An offset is at least an entry's head, so that the walk ends.
        if next < 8 {
            return Err(Error::Value { what: "EA offset" });
        }
        at = at.saturating_add(next);
    }
    Ok(eas)
}

/// IOCTL's setup words ([MS-CIFS] 2.2.7.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ioctl {
    /// FSCTL or device control code.
    pub code: u32,
    /// On what.
    pub fid: Fid,
    /// A file system's control code, not a device's.
    pub is_fsctl: bool,
}

impl Ioctl {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(setup: &[u8]) -> Result<Self> {
        let mut r = Reader::new(setup);
        Ok(Self {
            code: r.u32("function code")?,
            fid: Fid(r.u16("FID")?),
            is_fsctl: r.u8("is FSCTL")? != 0,
        })
    }

    /// The setup words.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.code.to_le_bytes();
        let [e, f] = self.fid.0.to_le_bytes();
        [a, b, c, d, e, f, u8::from(self.is_fsctl), 0]
    }
}

/// NOTIFY_CHANGE's setup words ([MS-CIFS] 2.2.7.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifyChange {
    /// Which changes.
    pub filter: u32,
    /// The folder.
    pub fid: Fid,
    /// And all beneath it.
    pub watch_tree: bool,
}

impl NotifyChange {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(setup: &[u8]) -> Result<Self> {
        let mut r = Reader::new(setup);
        Ok(Self {
            filter: r.u32("completion filter")?,
            fid: Fid(r.u16("FID")?),
            watch_tree: r.u8("watch tree")? != 0,
        })
    }

    /// The setup words.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.filter.to_le_bytes();
        let [e, f] = self.fid.0.to_le_bytes();
        [a, b, c, d, e, f, u8::from(self.watch_tree), 0]
    }
}

/// A change in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// 1 added, 2 removed, 3 modified, 4 renamed from, 5 renamed to ([MS-FSCC] 2.4.42).
    pub action: u32,
    /// Path from the watched folder, UTF-16LE.
    pub name: &'a [u8],
}

/// The changes in the parameters of NOTIFY_CHANGE's reply. No parameters mean too many changes to list. A malformed
/// change is an error and the last item.
pub fn changes(parameters: &[u8]) -> impl Iterator<Item = Result<Change<'_>>> {
    const FIXED: usize = 12;
    let mut rest = Some(parameters).filter(|rest| !rest.is_empty());
    core::iter::from_fn(move || {
        let here = rest.take()?;
        let mut r = Reader::new(here);
        let mut take = || -> Result<(usize, Change<'_>)> {
            let next = r.u32("next entry offset")? as usize;
            let action = r.u32("action")?;
            let len = r.u32("name length")? as usize;
            let name = r.take(len, "name")?;
            Ok((next, Change { action, name }))
        };
        let taken = take();
        if let Ok((next, _)) = taken
            && next >= FIXED
        {
            rest = here.get(next..).filter(|rest| !rest.is_empty());
        }
        Some(taken.map(|(_, change)| change))
    })
}

/// Appends one FILE_NOTIFY_INFORMATION ([MS-FSCC] 2.4.42). `path` has `/` as separator; the last record of a list has
/// no successor.
pub fn emit_change(action: u32, path: &str, is_last: bool, out: &mut Writer) {
    let start = out.len();
    out.u32(0).u32(action).u32(0);
    let name = utf16::encode(&path.replace('/', "\\"));
    out.patch_u32(start + 8, name.len() as u32);
    out.bytes(&name);
    if !is_last {
        out.align(4);
        let len = (out.len() - start) as u32;
        out.patch_u32(start, len);
    }
}

/// Parameters of QUERY and SET_SECURITY_DESC ([MS-CIFS] 2.2.7.6.1, 2.2.7.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityDesc {
    /// Of what.
    pub fid: Fid,
    /// Which parts ([`crate::security::info`]).
    pub information: u32,
}

impl SecurityDesc {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(parameters: &[u8]) -> Result<Self> {
        let mut r = Reader::new(parameters);
        let fid = Fid(r.u16("FID")?);
        r.u16("reserved")?;
        Ok(Self {
            fid,
            information: r.u32("security information")?,
        })
    }

    /// The parameters.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b] = self.fid.0.to_le_bytes();
        let [c, d, e, f] = self.information.to_le_bytes();
        [a, b, 0, 0, c, d, e, f]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn changes_are_aligned_and_the_last_has_no_successor() {
        let mut out = Writer::default();
        emit_change(1, "d/a", false, &mut out);
        emit_change(2, "b", true, &mut out);
        let bytes = out.as_slice();
        assert_eq!(bytes[..12], [20, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(&bytes[12..18], b"d\0\\\0a\0");
        assert_eq!(bytes[20..], [0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, b'b', 0]);
    }

    #[test]
    fn attribute_lists_end_where_they_say_and_not_in_a_circle() {
        let list = b"\x10\0\0\0\0\x01\x02\0A\0hi\0\0\0\0\0\0\0\0\0\x01\0\0B\0";
        let eas = parse_full_eas(list).unwrap();
        assert_eq!((eas[0].name, eas[0].value), (&b"A"[..], &b"hi"[..]));
        assert_eq!((eas[1].name, eas[1].value), (&b"B"[..], &b""[..]));
        assert!(parse_full_eas(&[1, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            parameters in proptest::collection::vec(any::<u8>(), 0..70),
            data in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let path = WireStr { raw: &[], unicode: true };
            let _ = Create::parse(&parameters, &data, path);
            let _ = parse_full_eas(&data);
            let _ = (Ioctl::parse(&data), NotifyChange::parse(&data), SecurityDesc::parse(&data));
        }
    }

    #[test]
    fn setup_words_and_parameters_come_back() {
        let notify = NotifyChange {
            filter: 0x17,
            fid: Fid(0x4001),
            watch_tree: true,
        };
        assert_eq!(notify.to_bytes(), *b"\x17\0\0\0\x01\x40\x01\0");
        assert_eq!(NotifyChange::parse(&notify.to_bytes()), Ok(notify));
        let ioctl = Ioctl {
            code: 0x0009_00c4,
            fid: Fid(2),
            is_fsctl: true,
        };
        assert_eq!(Ioctl::parse(&ioctl.to_bytes()), Ok(ioctl));
        let query = SecurityDesc {
            fid: Fid(3),
            information: 7,
        };
        assert_eq!(SecurityDesc::parse(&query.to_bytes()), Ok(query));
        assert_eq!(parse_descriptor_len(b"\x14\0\0\0"), Ok(20));
        let setup = notify.to_bytes();
        let request = request(function::NOTIFY_CHANGE, &setup, &[], &[], (1024, 0));
        let sent = crate::smb::testkit::message(|out| request.emit(out));
        let block = crate::smb::testkit::first(&sent);
        assert_eq!(Request::parse(Kind::NtTransact, &block, false), Ok(request));
    }

    #[test]
    fn changes_come_back_and_a_loop_of_them_ends() {
        let mut out = Writer::default();
        emit_change(1, "a/b", false, &mut out);
        emit_change(5, "c", true, &mut out);
        let bytes = out.into_vec();
        let read: Vec<_> = changes(&bytes).collect::<Result<_>>().unwrap();
        let added = Change {
            action: 1,
            name: b"a\0\\\0b\0",
        };
        assert_eq!((read.len(), read[0]), (2, added));
        assert_eq!((read[1].action, read[1].name), (5, &b"c\0"[..]));
        for len in 0..bytes.len() {
            assert!(changes(&bytes[..len]).count() <= 2);
        }
        for at in 0..bytes.len() {
            let mut bent = bytes.clone();
            bent[at] = 1;
            assert!(changes(&bent).count() <= 4);
        }
    }
}
