//! Performs every step that can prevent the server from starting, before it starts.
//!
//! Starting and `--check` both go through [`Prepared::new`], so a check finds what a start would: it reads the password
//! file, opens the shares' folders and the log file, and binds the ports. A check then releases them.

use std::{os::unix::net::UnixListener, path::PathBuf};

use coax_ethernet::{Interface, OpenError, Port, Protocol};
use coax_netbios::Transport;

pub use super::rejected::Rejected;
use super::{audit, bound::Bound};
use super::{
    build::{self, Built},
    commands::Runner,
    handed::Handed,
    ipx::IpxPort,
    listen::{self, Door},
    log_file::LogFile,
    netbios, pcap, report,
    sandbox::privileges::Account,
    share_path,
    takeover::{Deed, Takeover},
    web,
};
use coax_smbconf::{
    diagnostic::Diagnostic,
    settings::{IpxInterface, Pacing, Settings, ShareSettings},
};

const AUDIT_HELP: &str = "name a file in a folder that this user may write to, journal or syslog with 'coax:audit' or --audit";

/// A server that could start.
#[derive(Debug)]
pub struct Prepared {
    pub(super) parts: Parts,
    pub(super) log: Option<LogFile>,
    /// Settings that cannot be honoured although clients can be served.
    pub warnings: Vec<Diagnostic>,
}

/// The resources of a running server.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) built: Built,
    pub(super) sockets: Sockets,
    /// Runs print commands.
    pub(super) runner: Runner,
    /// The capture file.
    pub(super) capture: Option<pcap::Target>,
    /// Where the audit log goes.
    pub(super) audit: Option<audit::Sink>,
    /// The account to switch to.
    pub(super) account: Option<Account>,
    /// Where a new process can ask for the sockets.
    pub(super) control: Option<UnixListener>,
    /// Where `coax status` asks.
    pub(super) status: Option<UnixListener>,
    /// The process that this one replaces.
    pub(super) takeover: Option<Takeover>,
}

impl Prepared {
    /// Acquires the resources that `settings` need.
    ///
    /// # Errors
    /// Every reason that prevents the start.
    pub fn new(settings: &Settings) -> Result<Self, Rejected> {
        Self::with(settings, Handed::default())
    }

    /// As [`Self::new`], with sockets that other processes have opened.
    pub(super) fn with(settings: &Settings, mut handed: Handed) -> Result<Self, Rejected> {
        let mut warnings = Vec::new();
        let server = build::server(settings, &mut warnings);
        let sockets = Sockets::open(settings, &mut handed, &mut warnings);
        let log = report::log_file(settings).unwrap_or_else(|why| {
            warnings.push(Diagnostic::warning(why).help("the log goes to standard error alone"));
            None
        });
        let audit = audit::Sink::open(settings);
        let user = settings.global.run_as.as_deref();
        let account = user.map(Account::find).transpose();
        match (server, sockets, account, audit) {
            (Ok(built), Ok(sockets), Ok(account), Ok(audit)) => Ok(Self {
                parts: Parts {
                    built,
                    sockets,
                    runner: Runner::default(),
                    capture: None,
                    audit,
                    account,
                    control: None,
                    status: None,
                    takeover: None,
                },
                log,
                warnings,
            }),
            (server, sockets, account, audit) => {
                log.into_iter().for_each(LogFile::discard);
                let mut reasons = warnings;
                reasons.extend(server.err().into_iter().flat_map(|r| r.0));
                reasons.extend(account.err().map(Diagnostic::error));
                match audit {
                    Ok(sink) => sink.into_iter().for_each(audit::Sink::discard),
                    Err(why) => reasons.push(Diagnostic::error(why).help(AUDIT_HELP)),
                }
                reasons.extend(sockets.err().into_iter().flat_map(|r| r.0));
                Err(Rejected(reasons))
            }
        }
    }

    /// The addresses that the server would listen on.
    ///
    /// # Errors
    /// The system does not report an address.
    pub fn bound(&self) -> std::io::Result<Bound> {
        self.parts.sockets.bound()
    }

    /// Names of the accounts that could log on.
    pub fn users(&self) -> Vec<String> {
        let accounts = self.parts.built.server.accounts.iter();
        accounts.map(|user| user.name.clone()).collect()
    }

    /// Releases everything and leaves no files behind.
    pub fn discard(self) {
        self.log.into_iter().for_each(LogFile::discard);
        self.parts.audit.into_iter().for_each(audit::Sink::discard);
    }
}

/// Does what a start does, except for sockets and the log file: what is wrong with shares, users and code pages. Nothing
/// is changed.
pub fn check(settings: &Settings) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    if let Err(Rejected(reasons)) = build::server(settings, &mut said) {
        said.extend(reasons);
    }
    let user = settings.global.run_as.as_deref();
    let account = user.map(Account::find).transpose();
    said.extend(account.err().map(Diagnostic::error));
    said
}

/// The folder that a share shares, its macros replaced; `None` if it differs between clients.
pub fn folder_of(settings: &Settings, share: &ShareSettings) -> Option<PathBuf> {
    share_path::path(settings, share).ok().map(PathBuf::from)
}

/// Every socket of the server, bound.
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) doors: Vec<Door>,
    pub(super) names: Option<netbios::Bound>,
    /// Interfaces for NetBEUI.
    pub(super) netbeui: Vec<Port>,
    /// Interfaces for IPX.
    pub(super) ipx: Vec<IpxPort>,
    /// The door of the web page.
    pub(super) web: Option<web::Opened>,
}

impl Sockets {
    /// Binds every address that `settings` name.
    ///
    /// # Errors
    /// Each address that cannot be bound. An unavailable name service is a warning only.
    pub(super) fn open(
        settings: &Settings,
        handed: &mut Handed,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Self, Rejected> {
        let listen = &settings.listen;
        let mut reasons = Vec::new();
        let may_wait = !handed.doors.is_empty();
        let web = web::open(settings, may_wait).unwrap_or_else(|why| {
            reasons.push(Diagnostic::error(why));
            None
        });
        let mut doors = Vec::new();
        for door in open_doors(settings, handed) {
            match door {
                Ok(door) => doors.push(door),
                Err(why) => reasons.push(Diagnostic::error(format!("{why:#}"))),
            }
        }
        let mut netbeui = Vec::new();
        for name in &listen.netbeui {
            let opened = Interface::find(name)
                .map_err(Into::into)
                .and_then(|interface| Port::open(interface, Protocol::Netbeui));
            match opened {
                Ok(port) => netbeui.push(port),
                Err(why) => reasons.push(Diagnostic::error(why.to_string())),
            }
        }
        let mut ipx = Vec::new();
        for wanted in &listen.ipx {
            match open_ipx(wanted) {
                Ok(port) => ipx.push(port),
                Err(why) => reasons.push(Diagnostic::error(why.to_string())),
            }
        }
        if !doors.iter().all(Door::limits_windows) {
            warnings.push(Diagnostic::warning(
                "the system is older than Linux 5.14 and cannot limit the first bursts of old clients; 'coax:pacing' limits only later ones, \
                and before Linux 5.5 none",
            ));
        }
        let names = netbios::Bound::open(settings, handed, warnings).unwrap_or_else(|why| {
            warnings.push(Diagnostic::warning(why));
            None
        });
        match reasons.is_empty() {
            true => Ok(Self {
                doors,
                names,
                netbeui,
                ipx,
                web,
            }),
            false => Err(Rejected(reasons)),
        }
    }

    /// Copies of the sockets for the next takeover.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(super) fn deed(&self) -> std::io::Result<Deed> {
        let doors = self.doors.iter().map(Door::socket);
        let (names, datagrams) = match &self.names {
            Some(names) => names.sockets(),
            None => (&[][..], &[][..]),
        };
        Deed::new(doors, names, datagrams)
    }

    pub(super) fn bound(&self) -> std::io::Result<Bound> {
        let mut bound = Bound {
            names: self
                .names
                .as_ref()
                .is_some_and(netbios::Bound::is_at_the_usual_port),
            netbeui: self
                .netbeui
                .iter()
                .map(|port| port.interface().name().to_owned())
                .collect(),
            ipx: self
                .ipx
                .iter()
                .map(|ipx| ipx.port.interface().name().to_owned())
                .collect(),
            web: self.web.as_ref().map(web::Opened::address),
            ..Bound::default()
        };
        for door in &self.doors {
            let place = match door.is_nbt() {
                true => &mut bound.nbt,
                false => &mut bound.direct,
            };
            place.push(door.address()?);
        }
        Ok(bound)
    }
}

fn open_ipx(wanted: &IpxInterface) -> Result<IpxPort, OpenError> {
    let interface = Interface::find(&wanted.interface)?;
    Ok(IpxPort {
        port: Port::open(interface, Protocol::Ipx(wanted.frame))?,
        network: wanted.network,
    })
}

/// Listens at every address: on sockets that were handed over, or on new ones.
fn open_doors(settings: &Settings, handed: &mut Handed) -> Vec<anyhow::Result<Door>> {
    let global = &settings.global;
    let options = &global.socket_options;
    let paced = global.pacing != Pacing::Off;
    if handed.replaces {
        let doors = handed.doors.drain(..);
        let adopted = doors.map(|(kind, socket)| listen::adopt(socket, kind, options, paced));
        return adopted.collect();
    }
    let listen = &settings.listen;
    let nbt = listen.nbt.iter().map(|l| (*l, Transport::Nbt139));
    let direct = listen.direct.iter().map(|l| (*l, Transport::Direct445));
    let mut open = |(wanted, transport)| match handed.take(wanted, transport) {
        Some(socket) => listen::adopt(socket, transport, options, paced),
        None => listen::open(wanted, transport, options, paced),
    };
    nbt.chain(direct).map(&mut open).collect()
}
