//! The server that runs, or would, and other SMB servers.

use super::listed::listed;
use crate::{
    facts::{Facts, Status},
    finding::{Check, Finding, Severity},
};

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    all.extend(running(facts));
    all.extend(samba(facts));
}

fn running(facts: &Facts) -> Option<Finding> {
    let service = &facts.service;
    if let Status::Answer(status) = &service.status {
        let clients = status.clients.len();
        let what = format!(
            "coax (process {}) is {} with {clients} client{}",
            status.process,
            status.state,
            if clients == 1 { "" } else { "s" }
        );
        return Some(Finding::new(Severity::Ok, Check::Service, what));
    }
    let found = match (&service.process, &service.unit) {
        (Some((process, _)), _) => {
            let what = format!("coax (process {process}) runs and was not asked for its clients");
            let found = Finding::new(Severity::Note, Check::Service, what);
            return Some(match &service.status {
                Status::Denied(socket) => found
                    .at(socket.display().to_string())
                    .why("only the server's user and root may ask")
                    .fix("run coax doctor with sudo"),
                _ => found
                    .why("it has no status socket")
                    .fix("[global] coax:status socket = /run/coax/status"),
            });
        }
        (None, Some(unit)) => {
            let file = unit.files.first().map(|file| file.display().to_string());
            let found = Finding::new(
                Severity::Warning,
                Check::Service,
                "the service coax is installed and does not run",
            );
            Finding {
                place: file,
                ..found
            }
            .why("no client can connect")
            .fix("sudo systemctl enable --now coax; 'journalctl -u coax -n 20' says why it stopped")
        }
        (None, None) => Finding::new(Severity::Note, Check::Service, "no coax server runs")
            .fix("coax serve DIR, or 'sudo coax setup' for a service"),
    };
    Some(found)
}

/// Samba beside coax. What it holds is judged with the ports.
fn samba(facts: &Facts) -> Option<Finding> {
    let samba = &facts.samba;
    if !samba.running.is_empty() {
        let programs = samba
            .running
            .iter()
            .map(|(process, name)| format!("{name} (process {process})"));
        let programs: Vec<String> = programs.collect();
        return Some(
            Finding::new(
                Severity::Note,
                Check::Samba,
                format!("another SMB server runs: {}", programs.join(", ")),
            )
            .why("each needs ports 139 and 445 at addresses of its own")
            .fix("stop it with 'sudo systemctl disable --now smbd nmbd', or follow docs/recipes/next-to-samba.md"),
        );
    }
    if let Some(first) = samba.enabled.first() {
        let what = match samba.enabled.len() {
            1 => format!("{first} starts at boot"),
            _ => format!("{} start at boot", listed(&samba.enabled)),
        };
        return Some(
            Finding::new(Severity::Warning, Check::Samba, what)
                .why(
                    "after a restart of this machine, Samba and coax compete for ports 139 and 445",
                )
                .fix(format!(
                    "sudo systemctl disable {}",
                    samba.enabled.join(" ")
                )),
        );
    }
    let what = match samba.installed.is_empty() {
        true => "no other SMB server is installed".to_owned(),
        false => format!(
            "{} is installed and does not run",
            samba.installed.join(", ")
        ),
    };
    Some(Finding::new(Severity::Ok, Check::Samba, what))
}
