//! WKSSVC, the workstation service ([MS-WKST]): the machine's name and workgroup.

use super::{
    Syntax,
    ndr::{Arguments, Results},
    srvsvc::{PLATFORM_NT, ServerInfo, code},
};
use crate::error::Result;
use alloc::vec::Vec;

/// 6bffd098-a112-3610-9833-46c3f87e345a version 1.0.
pub const INTERFACE: Syntax = Syntax {
    uuid: [
        0x98, 0xd0, 0xff, 0x6b, 0x12, 0xa1, 0x10, 0x36, 0x98, 0x33, 0x46, 0xc3, 0xf8, 0x7e, 0x34,
        0x5a,
    ],
    version: 1,
};

/// The level of a NetrWkstaGetInfo (0). `None`: this operation is not served.
///
/// # Errors
/// [`crate::Error::Short`], [`crate::Error::Value`].
pub fn parse(opnum: u16, stub: &[u8]) -> Result<Option<u32>> {
    if opnum != 0 {
        return Ok(None);
    }
    let mut args = Arguments::new(stub);
    args.optional_text("server name")?;
    args.u32("level").map(Some)
}

/// The results of NetrWkstaGetInfo, levels 100 to 102.
pub fn info_results(level: u32, server: &ServerInfo<'_>, workgroup: &str) -> Vec<u8> {
    let mut out = Results::default();
    out.u32(level);
    if !matches!(level, 100..=102) {
        out.u32(code::INVALID_LEVEL);
        return out.finish();
    }
    out.pointer().u32(PLATFORM_NT).pointer().pointer();
    out.u32(server.version.0).u32(server.version.1);
    if level >= 101 {
        out.pointer();
    }
    if level == 102 {
        out.u32(1);
    }
    out.text(server.name).text(workgroup);
    if level >= 101 {
        out.text("");
    }
    out.u32(code::SUCCESS);
    out.finish()
}
