//! Processes of this machine, as far as `/proc` shows them.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::Path};

use super::{bounded::text, command};
use crate::facts::Samba;

/// Programs of Samba and ksmbd that hold its ports.
const SERVERS: [&str; 5] = ["smbd", "nmbd", "samba", "ksmbd.mountd", "winsserver"];
/// Services that start them, with the folder of services that start at boot.
const SERVICES: [&str; 4] = ["smbd", "nmbd", "samba-ad-dc", "ksmbd"];
const AT_BOOT: &str = "/etc/systemd/system/multi-user.target.wants";

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) number: u32,
    pub(super) name: String,
}

impl Process {
    /// Its arguments.
    pub(super) fn arguments(&self) -> Vec<Vec<u8>> {
        let line = fs::read(format!("/proc/{}/cmdline", self.number)).unwrap_or_default();
        line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
    }

    /// Whether it has the network of this process. If this user may not know, it has.
    fn is_in_this_network(&self) -> bool {
        let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let theirs = network(&self.number.to_string());
        theirs.is_none() || theirs == network("self")
    }
}

/// All processes of this network namespace whose name is wanted.
pub(super) fn named(is_wanted: impl Fn(&str) -> bool) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| {
        let number = OsStr::to_str(&entry.file_name())?.parse().ok()?;
        let name = text(entry.path().join("comm"), 64).trim_end().to_owned();
        is_wanted(&name).then_some(Process { number, name })
    });
    processes.filter(Process::is_in_this_network).collect()
}

/// Samba on this machine.
pub(super) fn samba() -> Samba {
    let mut running: Vec<(u32, String)> = Vec::new();
    for process in named(|name| SERVERS.contains(&name)) {
        // smbd has a process for each client
        if !running.iter().any(|(_, name)| *name == process.name) {
            running.push((process.number, process.name));
        }
    }
    let installed = ["smbd", "nmbd", "ksmbd.mountd"].into_iter();
    let enabled = SERVICES.into_iter();
    Samba {
        running,
        installed: installed
            .filter(|name| command::find(name).is_some())
            .collect(),
        enabled: enabled
            .filter(|name| Path::new(AT_BOOT).join(format!("{name}.service")).exists())
            .collect(),
    }
}

/// The servers of coax: `coax serve`.
pub(super) fn coax() -> Vec<Process> {
    let own = std::process::id();
    let serves = |process: &Process| {
        let arguments = process.arguments();
        let verb = arguments.get(1).map(|verb| OsStr::from_bytes(verb));
        process.number != own && verb == Some(OsStr::new("serve"))
    };
    named(|name| name == "coax")
        .into_iter()
        .filter(serves)
        .collect()
}
