//! The services of the pipes: SRVSVC and WKSSVC, limited to share lists and the names of the machine.

use crate::{
    server::Server,
    share::{Share, ShareKind},
};
use alloc::{format, string::String, vec::Vec};
use coax_wire::{
    rpc::{
        Syntax, fault,
        srvsvc::{self, ServerInfo, ShareInfo, TimeOfDay, share_type},
        wkssvc,
    },
    time::Time,
};

/// The server and the time of a call.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The server.
    pub server: &'a Server,
    /// The user who asks; `None` is a guest.
    pub user: Option<&'a str>,
    /// The current time.
    pub now: Time,
}

/// The version of NT that the server reports: 4.0.
pub const VERSION: (u32, u32) = (4, 0);

/// SV_TYPE bits ([MS-SRVS] 2.2.2.7): workstation, server, Unix, NT, NT server.
const SERVER_TYPE: u32 = 0x9803;
/// The server has printers.
const PRINT_QUEUE_SERVER: u32 = 0x0200;

/// The server's clock is reliable.
const TIME_SOURCE: u32 = 0x0020;
/// SV_TYPE_DOMAIN_CTRL.
const DOMAIN_CONTROLLER: u32 = 0x0008;

/// The SV_TYPE bits of this server.
pub fn server_type(server: &Server) -> u32 {
    let prints = server
        .shares
        .iter()
        .any(|share| matches!(share.kind, ShareKind::Printer(_)));
    let time = if server.config.time_server {
        TIME_SOURCE
    } else {
        0
    };
    let controller = match server.config.domain_logons {
        Some(_) => DOMAIN_CONTROLLER,
        None => 0,
    };
    let neighbours = server.config.neighbours.as_ref();
    let browser = neighbours.map_or(0, |list| list.own_type());
    SERVER_TYPE | time | controller | browser | if prints { PRINT_QUEUE_SERVER } else { 0 }
}

/// A service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// `\srvsvc`.
    Server,
    /// `\wkssvc`.
    Workstation,
}

impl Service {
    /// Finds the service of a pipe name, with or without `\PIPE`, without regard to case.
    pub fn by_path(path: &str) -> Option<Self> {
        let path = path.trim_start_matches('\\');
        let name = match path.get(..5) {
            Some(prefix) if prefix.eq_ignore_ascii_case("PIPE\\") => path.get(5..)?,
            _ => path,
        };
        Self::by_name(name)
    }

    /// Finds the service of a pipe name in NT opens: without `\PIPE`, which would be a folder there.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.trim_start_matches('\\');
        [Self::Server, Self::Workstation]
            .into_iter()
            .find(|service| service.name().eq_ignore_ascii_case(name))
    }

    /// The pipe's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "srvsvc",
            Self::Workstation => "wkssvc",
        }
    }

    /// The RPC interface of the service.
    pub const fn interface(self) -> Syntax {
        match self {
            Self::Server => srvsvc::INTERFACE,
            Self::Workstation => wkssvc::INTERFACE,
        }
    }

    /// Executes a call.
    ///
    /// # Errors
    /// The status of a fault ([`fault`]).
    pub fn execute(self, asker: &Asker<'_>, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, u32> {
        match self {
            Self::Server => {
                let call = srvsvc::Call::parse(opnum, stub).map_err(|_| fault::NDR)?;
                call.map(|call| serve(asker, &call))
            }
            Self::Workstation => {
                let level = wkssvc::parse(opnum, stub).map_err(|_| fault::NDR)?;
                let config = &asker.server.config;
                level.map(|level| {
                    wkssvc::info_results(level, &server_info(asker.server), &config.workgroup)
                })
            }
        }
        .ok_or(fault::OP_RNG_ERROR)
    }
}

fn serve(asker: &Asker<'_>, call: &srvsvc::Call) -> Vec<u8> {
    let server = asker.server;
    match call {
        srvsvc::Call::ShareEnum { level, resume } => {
            let shares: Vec<_> = server
                .browseable(asker.user)
                .map(|share| share_info(share))
                .collect();
            srvsvc::share_enum_results(*level, &shares, *resume)
        }
        srvsvc::Call::ShareGetInfo { name, level } => {
            let share = server.share(name).map(|share| share_info(share));
            srvsvc::share_info_results(*level, share.as_ref())
        }
        srvsvc::Call::ServerGetInfo { level } => {
            srvsvc::server_info_results(*level, &server_info(server))
        }
        srvsvc::Call::RemoteTod => srvsvc::tod_results(&time_of_day(asker)),
    }
}

/// The time of day for clients.
pub fn time_of_day(asker: &Asker<'_>) -> TimeOfDay {
    let zone = i32::from(asker.server.config.time_zone_minutes);
    TimeOfDay::new(
        i64::try_from(asker.server.wall(asker.now).0).unwrap_or(i64::MAX),
        zone,
    )
}

fn server_info(server: &Server) -> ServerInfo<'_> {
    ServerInfo {
        name: &server.config.name,
        comment: &server.config.comment,
        version: VERSION,
        kind: server_type(server),
    }
}

/// The entry of a share in listings. It hides the location of the share's folder.
fn share_info(share: &Share) -> ShareInfo {
    ShareInfo {
        name: share.name.clone(),
        kind: share_kind(share),
        comment: share.comment.clone(),
        path: told_path(share),
        users: 0,
    }
}

/// The path in listings: a DOS path.
pub fn told_path(share: &Share) -> String {
    match share.kind {
        ShareKind::Ipc => String::new(),
        _ => format!("C:\\{}", share.name),
    }
}

/// The type of a share. The hidden bit is set for names that end with `$`.
pub fn share_kind(share: &Share) -> u32 {
    let kind = match share.kind {
        ShareKind::Disk(_) => share_type::DISK,
        ShareKind::Printer(_) => share_type::PRINT_QUEUE,
        ShareKind::Ipc => share_type::IPC,
    };
    if share.name.ends_with('$') {
        kind | share_type::SPECIAL
    } else {
        kind
    }
}
