//! The ports of SMB and NetBIOS, and who holds them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use coax_serve::holder::{Held, conflicts};

use crate::{
    facts::{Facts, Status},
    finding::{Check, Finding, Severity},
};

/// A port that the server wants.
struct Wanted {
    address: SocketAddr,
    protocol: &'static str,
    purpose: &'static str,
    /// Without it the server does not start.
    needed: bool,
}

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let wanted = wanted(facts);
    let mut free = Vec::new();
    for wanted in &wanted {
        let sockets = match wanted.protocol {
            "TCP" => &facts.ports.tcp,
            _ => &facts.ports.udp,
        };
        let held = sockets
            .iter()
            .find(|held| conflicts(held.address, wanted.address));
        match held {
            None => free.push(wanted),
            Some(held) => all.push(holder(facts, wanted, held)),
        }
    }
    if free.is_empty() {
        return;
    }
    let names: Vec<String> = free
        .iter()
        .map(|wanted| format!("{} {}", wanted.protocol, wanted.address.port()))
        .collect();
    all.push(Finding::new(
        Severity::Ok,
        Check::Ports,
        format!("nobody holds {}", names.join(", ")),
    ));
    let low = free
        .iter()
        .any(|wanted| wanted.address.port() < facts.rights.first_free_port);
    all.extend(right(facts).filter(|_| low));
}

fn wanted(facts: &Facts) -> Vec<Wanted> {
    let listen = &facts.config.settings.listen;
    let tcp = |address, purpose| Wanted {
        address,
        protocol: "TCP",
        purpose,
        needed: true,
    };
    let udp = |port, purpose| Wanted {
        address: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port),
        protocol: "UDP",
        purpose,
        needed: false,
    };
    let names = listen.names.map(|names| {
        [
            udp(
                names.address.port(),
                "NetBIOS names: clients cannot find this server by its name",
            ),
            udp(
                138,
                "announcements: NET VIEW and the Network Neighborhood do not show this server",
            ),
        ]
    });
    let nbt = listen.nbt.iter();
    let nbt = nbt.map(|l| {
        tcp(
            l.address,
            "NetBIOS sessions: DOS and Windows 9x cannot connect",
        )
    });
    let direct = listen.direct.iter();
    let direct = direct.map(|l| {
        tcp(
            l.address,
            "direct SMB: Windows 2000 and consoles cannot connect",
        )
    });
    names
        .into_iter()
        .flatten()
        .chain(nbt)
        .chain(direct)
        .collect()
}

fn holder(facts: &Facts, wanted: &Wanted, held: &Held) -> Finding {
    let port = format!("{} port {}", wanted.protocol, wanted.address.port());
    let (process, name) = match &held.process {
        Some((process, name)) => (Some(*process), format!("{name} (process {process})")),
        None => (None, format!("a process of user {}", held.user)),
    };
    let ours = facts.service.process.as_ref();
    let asked = match &facts.service.status {
        Status::Answer(status) => Some(status.process),
        Status::Silent | Status::Denied(_) => None,
    };
    let is_ours = |process| Some(process) == asked || ours.is_some_and(|ours| ours.0 == process);
    if process.is_some_and(is_ours) {
        let what = format!("{name} listens at {port}");
        return Finding::new(Severity::Ok, Check::Ports, what).at(held.address.to_string());
    }
    if process.is_none()
        && ours.is_some()
        && held.process.is_none()
        && is_served_by(facts, held.user)
    {
        let what = format!("{name}, who also runs coax, holds {port}");
        return Finding::new(Severity::Note, Check::Ports, what)
            .at(held.address.to_string())
            .fix(cure(held));
    }
    let severity = if wanted.needed {
        Severity::Error
    } else {
        Severity::Warning
    };
    Finding::new(severity, Check::Ports, format!("{name} holds {port}"))
        .at(held.address.to_string())
        .why(format!("coax needs it for {}", wanted.purpose))
        .fix(cure(held))
}

fn is_served_by(facts: &Facts, user: u32) -> bool {
    let account = facts.service.account.as_ref();
    account.is_some_and(|account| account.user == user)
}

fn cure(held: &Held) -> String {
    match held
        .process
        .as_ref()
        .map(|(process, name)| (process, name.as_str()))
    {
        Some((_, name @ ("smbd" | "nmbd" | "samba"))) => {
            let services = if name == "samba" {
                "samba-ad-dc"
            } else {
                "smbd nmbd"
            };
            format!(
                "sudo systemctl disable --now {services}; to keep Samba: docs/recipes/next-to-samba.md"
            )
        }
        Some((_, "coax")) => {
            "stop the other coax, or replace it with 'coax serve --takeover'".into()
        }
        Some((process, _)) => format!("stop it: 'ps -fp {process}' shows what it is"),
        None => "run coax doctor with sudo to see which process it is".into(),
    }
}

/// Whether ports below 1024 may be bound by who serves.
fn right(facts: &Facts) -> Option<Finding> {
    let unit = facts.service.unit.as_ref();
    let by_service = unit.is_some_and(crate::unit::Unit::binds_low_ports);
    if facts.rights.binds_low_ports || by_service {
        return None;
    }
    Some(
        Finding::new(
            Severity::Warning,
            Check::Ports,
            format!(
                "this user may not use ports below {}",
                facts.rights.first_free_port
            ),
        )
        .why(
            "coax then listens at ports 1139 and 1445, which DOS and Windows cannot be told to use",
        )
        .fix("sudo setcap cap_net_bind_service=+ep \"$(command -v coax)\", or run coax with sudo"),
    )
}
