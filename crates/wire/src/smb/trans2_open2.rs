//! TRANS2_OPEN2 (0x0000), [MS-CIFS] 2.2.6.1: OPEN_ANDX with extended attributes, which are the transaction's data.

use super::open_andx::{self, AccessMode};
use crate::{
    block::WireStr,
    error::Result,
    header::Fid,
    io::{Reader, Writer},
    time::Utime,
};
use alloc::vec::Vec;

/// The fields before the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flags ([`open_andx::flags`]).
    pub flags: u16,
    /// Access and sharing.
    pub access_mode: AccessMode,
    /// Attributes of a created file.
    pub attributes: u16,
    /// Creation time of a created file; 0 for now.
    pub created: Utime,
    /// Action ([`open_andx::Request::open_mode`]).
    pub open_mode: u16,
    /// Space to reserve for a created or truncated file, bytes.
    pub allocation: u32,
}

impl Request {
    /// Offset of the path in the parameters.
    pub const PATH_AT: usize = 28;

    /// Decodes the parameters.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(parameters: &[u8]) -> Result<Self> {
        let mut r = Reader::new(parameters);
        let flags = r.u16("flags")?;
        let access_mode = AccessMode(r.u16("access mode")?);
        r.u16("reserved")?;
        Ok(Self {
            flags,
            access_mode,
            attributes: r.u16("attributes")?,
            created: Utime(r.u32("creation time")?),
            open_mode: r.u16("open mode")?,
            allocation: r.u32("allocation size")?,
        })
    }

    /// The same as OPEN_ANDX has it, without the path.
    pub fn as_open_andx(&self) -> open_andx::Request<'static> {
        open_andx::Request {
            flags: self.flags,
            access_mode: self.access_mode,
            search_attributes: 0x16,
            attributes: self.attributes,
            created: self.created,
            open_mode: self.open_mode,
            allocation: self.allocation,
            timeout_ms: 0,
            path: WireStr {
                raw: &[],
                unicode: false,
            },
        }
    }
}

/// The reply's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// FID.
    pub fid: Fid,
    /// Attributes.
    pub attributes: u16,
    /// Creation, local.
    pub created: Utime,
    /// Length, bytes.
    pub size: u32,
    /// Access granted.
    pub access: u16,
    /// Completed action ([`open_andx::Response::action`]).
    pub action: u16,
    /// Length of the list of extended attributes, bytes.
    pub ea_size: u32,
}

impl Response {
    /// The 30 bytes of parameters of a file.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(30);
        out.u16(self.fid.0).u16(self.attributes);
        out.u32(self.created.0).u32(self.size).u16(self.access);
        // A file, no pipe.
        out.u16(0).u16(0);
        out.u16(self.action).u32(0).u16(0).u32(self.ea_size);
        out.into_vec()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn the_path_follows_ten_reserved_bytes() {
        let parameters =
            b"\x01\0\x42\0\0\0\x20\0\x78\x56\x34\x12\x12\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\\A\0";
        let request = Request::parse(parameters).unwrap();
        assert_eq!(request.access_mode, AccessMode(0x42));
        assert_eq!(request.created, Utime(0x1234_5678));
        assert_eq!((request.open_mode, request.allocation), (0x12, 0x1000));
        assert_eq!(parameters[Request::PATH_AT..], *b"\\A\0");
        assert!(Request::parse(&parameters[..17]).is_err());
    }

    #[test]
    fn the_reply_has_thirty_bytes() {
        let response = Response {
            fid: Fid(7),
            attributes: 0x20,
            created: Utime(1),
            size: 2,
            access: 2,
            action: 0x8001,
            ea_size: 9,
        };
        assert_eq!(
            response.to_vec(),
            b"\x07\0\x20\0\x01\0\0\0\x02\0\0\0\x02\0\0\0\0\0\x01\x80\0\0\0\0\0\0\x09\0\0\0"
        );
    }
}
