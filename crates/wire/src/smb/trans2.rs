//! TRANSACTION2's subcommands ([MS-CIFS] 2.2.6) from the client's side: numbers, parameters and requests.
//! [`super::find_first2`] contains searches, and [`crate::info`] the information levels.

use super::transaction::{Kind, Request};
use crate::{block::WireStr, header::Fid, io::Writer};
use alloc::vec::Vec;

/// Subcommands: the first setup word.
pub mod function {
    /// TRANS2_OPEN2.
    pub const OPEN2: u16 = 0x0000;
    /// TRANS2_FIND_FIRST2.
    pub const FIND_FIRST2: u16 = 0x0001;
    /// TRANS2_FIND_NEXT2.
    pub const FIND_NEXT2: u16 = 0x0002;
    /// TRANS2_QUERY_FS_INFORMATION.
    pub const QUERY_FS_INFORMATION: u16 = 0x0003;
    /// TRANS2_SET_FS_INFORMATION.
    pub const SET_FS_INFORMATION: u16 = 0x0004;
    /// TRANS2_QUERY_PATH_INFORMATION.
    pub const QUERY_PATH_INFORMATION: u16 = 0x0005;
    /// TRANS2_SET_PATH_INFORMATION.
    pub const SET_PATH_INFORMATION: u16 = 0x0006;
    /// TRANS2_QUERY_FILE_INFORMATION.
    pub const QUERY_FILE_INFORMATION: u16 = 0x0007;
    /// TRANS2_SET_FILE_INFORMATION.
    pub const SET_FILE_INFORMATION: u16 = 0x0008;
    /// TRANS2_CREATE_DIRECTORY.
    pub const CREATE_DIRECTORY: u16 = 0x000d;
    /// TRANS2_GET_DFS_REFERRAL.
    pub const GET_DFS_REFERRAL: u16 = 0x0010;
}

/// A request: `setup` is the subcommand's two bytes ([`u16::to_le_bytes`]), `max` the maximum number of parameter and
/// data bytes of the reply. Servers answer these at once, so there is no timeout.
pub const fn request<'a>(
    setup: &'a [u8; 2],
    parameters: &'a [u8],
    data: &'a [u8],
    max: (u32, u32),
) -> Request<'a> {
    Request {
        function: u16::from_le_bytes(*setup),
        ..Request::whole(Kind::Transaction2, setup, parameters, data, max)
    }
}

/// Parameters of QUERY_FS_INFORMATION ([`crate::info::volume`]).
pub fn query_fs(level: u16) -> Vec<u8> {
    level.to_le_bytes().to_vec()
}

/// Parameters of QUERY_PATH_INFORMATION ([`crate::info::file`]) and SET_PATH_INFORMATION ([`crate::info::set_file`]).
pub fn of_path(level: u16, path: &WireStr<'_>) -> Vec<u8> {
    let mut out = Writer::default();
    path.emit(out.u16(level).u32(0));
    out.into_vec()
}

/// Parameters of QUERY_FILE_INFORMATION ([`crate::info::file`]).
pub fn query_file(fid: Fid, level: u16) -> Vec<u8> {
    let mut out = Writer::default();
    out.u16(fid.0).u16(level);
    out.into_vec()
}

/// Parameters of SET_FILE_INFORMATION ([`crate::info::set_file`]).
pub fn set_file(fid: Fid, level: u16) -> Vec<u8> {
    let mut out = Writer::default();
    out.u16(fid.0).u16(level).u16(0);
    out.into_vec()
}

/// Parameters of CREATE_DIRECTORY. The data is a list of extended attributes ([`crate::info::ea`]), or nothing.
pub fn create_directory(path: &WireStr<'_>) -> Vec<u8> {
    let mut out = Writer::default();
    path.emit(out.u32(0));
    out.into_vec()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::smb::testkit::{first, message};

    const PATH: WireStr<'static> = WireStr {
        raw: b"\\\0A\0",
        unicode: true,
    };

    #[test]
    fn parameters_stand_as_specified() {
        assert_eq!(of_path(0x0101, &PATH), b"\x01\x01\0\0\0\0\\\0A\0\0\0");
        assert_eq!(create_directory(&PATH), b"\0\0\0\0\\\0A\0\0\0");
        assert_eq!(query_fs(0x0105), b"\x05\x01");
        assert_eq!(query_file(Fid(3), 0x0107), b"\x03\0\x07\x01");
        assert_eq!(set_file(Fid(3), 0x0104), b"\x03\0\x04\x01\0\0");
    }

    #[test]
    fn a_request_around_them_decodes_to_itself() {
        let setup = function::QUERY_PATH_INFORMATION.to_le_bytes();
        let parameters = of_path(1, &PATH);
        let request = request(&setup, &parameters, &[], (2, 1024));
        let sent = message(|out| request.emit(out));
        let parsed = Request::parse(Kind::Transaction2, &first(&sent), false);
        assert_eq!(parsed, Ok(request));
    }
}
