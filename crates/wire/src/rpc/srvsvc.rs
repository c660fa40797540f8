//! SRVSVC, the server service ([MS-SRVS]): lists of shares, facts about the server, its clock.

use super::{
    Syntax,
    ndr::{Arguments, Results},
};
use crate::error::Result;
use alloc::{string::String, vec::Vec};

/// 4b324fc8-1670-01d3-1278-5a47bf6ee188 version 3.0.
pub const INTERFACE: Syntax = Syntax {
    uuid: [
        0xc8, 0x4f, 0x32, 0x4b, 0x70, 0x16, 0xd3, 0x01, 0x12, 0x78, 0x5a, 0x47, 0xbf, 0x6e, 0xe1,
        0x88,
    ],
    version: 3,
};

/// Win32 and LAN Manager error codes of results.
pub mod code {
    /// No error.
    pub const SUCCESS: u32 = 0;
    /// No such information level.
    pub const INVALID_LEVEL: u32 = 124;
    /// No such share.
    pub const NET_NAME_NOT_FOUND: u32 = 2310;
}

/// A share's type ([MS-SRVS] 2.2.2.4).
pub mod share_type {
    /// A folder.
    pub const DISK: u32 = 0;
    /// A printer.
    pub const PRINT_QUEUE: u32 = 1;
    /// Named pipes.
    pub const IPC: u32 = 3;
    /// Not for ordinary users' eyes.
    pub const SPECIAL: u32 = 0x8000_0000;
}

/// A call with what matters of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// NetrShareEnum (15) or NetrShareEnumSticky (36).
    ShareEnum {
        /// Information level.
        level: u32,
        /// A resume handle was given, and one is expected back.
        resume: bool,
    },
    /// NetrShareGetInfo (16).
    ShareGetInfo {
        /// Which share.
        name: String,
        /// Information level.
        level: u32,
    },
    /// NetrServerGetInfo (21).
    ServerGetInfo {
        /// Information level.
        level: u32,
    },
    /// NetrRemoteTOD (28).
    RemoteTod,
}

impl Call {
    /// Decodes the arguments of operation `opnum`. `None`: this operation is not served.
    ///
    /// # Errors
    /// [`crate::Error::Short`], [`crate::Error::Value`].
    pub fn parse(opnum: u16, stub: &[u8]) -> Result<Option<Self>> {
        let mut args = Arguments::new(stub);
        if !matches!(opnum, 15 | 16 | 21 | 28 | 36) {
            return Ok(None);
        }
        args.optional_text("server name")?;
        Ok(Some(match opnum {
            16 => Self::ShareGetInfo {
                name: args.text("share name")?,
                level: args.u32("level")?,
            },
            21 => Self::ServerGetInfo {
                level: args.u32("level")?,
            },
            28 => Self::RemoteTod,
            _ => Self::share_enum(&mut args)?,
        }))
    }

    fn share_enum(args: &mut Arguments<'_>) -> Result<Self> {
        let level = args.u32("level")?;
        args.u32("level")?;
        let mut resume = false;
        if args.u32("container")? != 0 {
            args.u32("count")?;
            // Some clients send the array that they expect back; the server does not need the rest.
            if args.u32("array")? == 0 {
                args.u32("preferred length")?;
                resume = args.u32("resume handle").unwrap_or(0) != 0;
            }
        } else {
            args.u32("preferred length")?;
            resume = args.u32("resume handle").unwrap_or(0) != 0;
        }
        Ok(Self::ShareEnum { level, resume })
    }
}

/// A share as listings show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareInfo {
    /// Name.
    pub name: String,
    /// Type ([`share_type`]).
    pub kind: u32,
    /// Comment.
    pub comment: String,
    /// Path on the server, as sent.
    pub path: String,
    /// Number of users.
    pub users: u32,
}

/// Levels of share information that are served.
const SHARE_LEVELS: [u32; 6] = [0, 1, 2, 501, 502, 1005];

/// The results of ShareEnum.
pub fn share_enum_results(level: u32, shares: &[ShareInfo], resume: bool) -> Vec<u8> {
    let mut out = Results::default();
    out.u32(level).u32(level);
    let known = SHARE_LEVELS.contains(&level);
    let count = if known { shares.len() as u32 } else { 0 };
    if known {
        out.pointer().u32(count).pointer().u32(count);
        shares
            .iter()
            .for_each(|share| put_fixed(&mut out, level, share));
        shares
            .iter()
            .for_each(|share| put_texts(&mut out, level, share));
    }
    out.u32(count);
    match resume {
        true => out.pointer().u32(0),
        false => out.null(),
    };
    out.u32(if known {
        code::SUCCESS
    } else {
        code::INVALID_LEVEL
    });
    out.finish()
}

/// NetrShareEnum's operation number.
pub const SHARE_ENUM: u16 = 15;

/// The arguments of ShareEnum, level 1, of the server named `\\SERVER`, with results of at most `preferred` bytes.
pub fn share_enum_arguments(server: &str, preferred: u32) -> Vec<u8> {
    let mut out = Results::default();
    out.pointer().text(server);
    out.u32(1).u32(1).pointer().u32(0).null();
    out.u32(preferred).pointer().u32(0);
    out.finish()
}

/// The shares in the results of ShareEnum, level 1, and its code ([`code`]). The reply does not contain paths and
/// users.
///
/// # Errors
/// [`crate::Error::Short`]; [`crate::Error::Value`] for another level, or counts that contradict each other.
pub fn parse_share_enum_results(stub: &[u8]) -> Result<(Vec<ShareInfo>, u32)> {
    let mut results = Arguments::new(stub);
    let level = results.u32("level")?;
    if level != 1 || results.u32("level")? != 1 {
        return Err(crate::Error::Value { what: "level" });
    }
    let mut shares = Vec::new();
    if results.u32("container")? != 0 {
        let count = results.u32("count")?;
        if results.u32("array")? != 0 {
            shares = share_array(&mut results, count)?;
        }
    }
    results.u32("total entries")?;
    if results.u32("resume handle")? != 0 {
        results.u32("resume handle")?;
    }
    Ok((shares, results.u32("status")?))
}

/// Fixed parts in a row, then the strings they point to.
fn share_array(results: &mut Arguments<'_>, count: u32) -> Result<Vec<ShareInfo>> {
    const WRONG: crate::Error = crate::Error::Value { what: "count" };
    const FIXED: u32 = 12;
    let holds = results.remaining() / FIXED as usize;
    if results.u32("max count")? < count || usize::try_from(count).map_err(|_| WRONG)? > holds {
        return Err(WRONG);
    }
    let mut fixed = Vec::new();
    for _ in 0..count {
        let name = results.u32("name")?;
        fixed.push((name, results.u32("type")?, results.u32("comment")?));
    }
    let text = |results: &mut Arguments<'_>, pointer| match pointer {
        0 => Ok(String::new()),
        _ => results.text("string"),
    };
    let share = |(name, kind, comment)| {
        Ok(ShareInfo {
            name: text(results, name)?,
            kind,
            comment: text(results, comment)?,
            ..ShareInfo::default()
        })
    };
    fixed.into_iter().map(share).collect()
}

/// The results of ShareGetInfo; `None`: the share does not exist.
pub fn share_info_results(level: u32, share: Option<&ShareInfo>) -> Vec<u8> {
    let mut out = Results::default();
    out.u32(level);
    match share {
        Some(share) if SHARE_LEVELS.contains(&level) => {
            out.pointer();
            put_fixed(&mut out, level, share);
            put_texts(&mut out, level, share);
            out.u32(code::SUCCESS);
        }
        Some(_) => {
            out.u32(code::INVALID_LEVEL);
        }
        None => {
            out.null().u32(code::NET_NAME_NOT_FOUND);
        }
    }
    out.finish()
}

fn put_fixed(out: &mut Results, level: u32, share: &ShareInfo) {
    const NO_LIMIT: u32 = 0xffff_ffff;
    if level == 1005 {
        out.u32(0);
        return;
    }
    out.pointer();
    if level >= 1 {
        out.u32(share.kind).pointer();
    }
    if matches!(level, 2 | 502) {
        out.u32(0).u32(NO_LIMIT).u32(share.users).pointer().null();
    }
    match level {
        501 => out.u32(0),
        502 => out.u32(0).null(),
        _ => out,
    };
}

fn put_texts(out: &mut Results, level: u32, share: &ShareInfo) {
    if level == 1005 {
        return;
    }
    out.text(&share.name);
    if level >= 1 {
        out.text(&share.comment);
    }
    if matches!(level, 2 | 502) {
        out.text(&share.path);
    }
}

/// The server's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo<'a> {
    /// Name.
    pub name: &'a str,
    /// Comment.
    pub comment: &'a str,
    /// Version claimed, major and minor.
    pub version: (u32, u32),
    /// SV_TYPE bits.
    pub kind: u32,
}

/// Platform 500: NT.
pub const PLATFORM_NT: u32 = 500;

/// The results of ServerGetInfo.
pub fn server_info_results(level: u32, server: &ServerInfo<'_>) -> Vec<u8> {
    let mut out = Results::default();
    out.u32(level);
    if !matches!(level, 100..=102) {
        return {
            out.u32(code::INVALID_LEVEL);
            out.finish()
        };
    }
    out.pointer().u32(PLATFORM_NT).pointer();
    if level >= 101 {
        out.u32(server.version.0).u32(server.version.1);
        out.u32(server.kind).pointer();
    }
    if level == 102 {
        // Users without limit, sessions never disconnected for idleness, visible, announced every four minutes.
        out.u32(0xffff_ffff)
            .u32(0xffff_ffff)
            .u32(0)
            .u32(240)
            .u32(3000);
        out.u32(0).pointer();
    }
    out.text(server.name);
    if level >= 101 {
        out.text(server.comment);
    }
    if level == 102 {
        out.text("c:\\");
    }
    out.u32(code::SUCCESS);
    out.finish()
}

/// A time of day ([MS-SRVS] 2.2.4.105) in local time, except for `elapsed_s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeOfDay {
    /// Seconds since 1970, UTC.
    pub elapsed_s: u32,
    /// Milliseconds since some moment.
    pub msecs: u32,
    /// Hours, minutes, seconds, hundredths.
    pub time: [u32; 4],
    /// Minutes west of UTC.
    pub zone_minutes_west: i32,
    /// Day, month, year.
    pub date: [u32; 3],
    /// Day of the week, 0 Sunday.
    pub weekday: u32,
}

impl TimeOfDay {
    /// The clock's resolution in ten thousandths of a second, as NT reports it.
    pub const TICK: u32 = 310;

    /// From nanoseconds since 1970 and minutes west of UTC.
    pub fn new(unix_ns: i64, zone_minutes_west: i32) -> Self {
        let local = unix_ns.saturating_sub(i64::from(zone_minutes_west) * 60_000_000_000);
        let seconds = local.div_euclid(1_000_000_000);
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = crate::time::civil_from_days(days);
        let hundredths = local.rem_euclid(1_000_000_000) / 10_000_000;
        Self {
            elapsed_s: unix_ns.div_euclid(1_000_000_000) as u32,
            msecs: unix_ns.div_euclid(1_000_000) as u32,
            time: [of_day / 3600, of_day / 60 % 60, of_day % 60, hundredths].map(|n| n as u32),
            zone_minutes_west,
            date: [day, month, year].map(|n| n as u32),
            // 1 January 1970 was a Thursday.
            weekday: (days + 4).rem_euclid(7) as u32,
        }
    }
}

/// The results of RemoteTod.
pub fn tod_results(tod: &TimeOfDay) -> Vec<u8> {
    let mut out = Results::default();
    out.pointer().u32(tod.elapsed_s).u32(tod.msecs);
    tod.time.iter().for_each(|&n| {
        out.u32(n);
    });
    out.u32(tod.zone_minutes_west as u32).u32(TimeOfDay::TICK);
    tod.date.iter().for_each(|&n| {
        out.u32(n);
    });
    out.u32(tod.weekday).u32(code::SUCCESS);
    out.finish()
}
