//! A good machine, and what each fault adds to it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
};

use coax_netbios::Network;
use coax_serve::{
    holder::Held,
    probe::Folder,
    status::{ClientStatus, Status as Serving},
};
use coax_smbconf::load::load_text;

mod client;
mod firewall;
mod folders;
mod interfaces;

use super::*;
use crate::{
    access::{Account, Owned},
    facts::*,
    parse::{Mount, Neighbour, Route},
    unit::Unit,
};

const GOOD_FOLDER: Folder = Folder {
    may_write: true,
    read_only: false,
    keeps_attributes: true,
    tells_case: true,
    space: (1 << 40, 1 << 41),
    out_of_inodes: false,
};

fn ip(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn lan(address: &str, prefix: u8) -> Address {
    let network = Network {
        address: ip(address),
        prefix,
    };
    Address {
        network,
        broadcast: Some(network.broadcast()),
    }
}

fn interface(name: &str, address: &str) -> Interface {
    Interface {
        name: name.into(),
        up: true,
        carrier: Some(true),
        ethernet: true,
        physical: true,
        mtu: Some(1500),
        addresses: vec![lan(address, 24)],
        ..Interface::default()
    }
}

fn owned(user: u32, mode: u32) -> Owned {
    Owned {
        user,
        group: user,
        mode,
        acl: Vec::new(),
    }
}

const CONF: &str = "[global]\nnetbios name = VINTAGE\nworkgroup = LAB\n[OLD]\npath = /srv/old\nguest ok = yes\nread only = no\n";

fn settings(more: &str) -> coax_smbconf::settings::Settings {
    load_text(
        "smb.conf",
        &CONF.replacen("[OLD]", &format!("{more}\n[OLD]"), 1),
    )
    .settings
}

/// A machine on which nothing is wrong; coax is installed and runs.
fn good() -> Facts {
    let way = [("/", 0, 0o755), ("/srv", 0, 0o755), ("/srv/old", 44, 0o755)];
    let way = way.map(|(path, user, mode)| (PathBuf::from(path), owned(user, mode)));
    Facts {
        rights: Rights {
            user: 0,
            binds_low_ports: true,
            first_free_port: 1024,
        },
        config: Config {
            path: Some("/etc/coax/smb.conf".into()),
            settings: settings(""),
            diagnostics: Vec::new(),
        },
        service: Service {
            unit: Some(Unit::parse([(
                "/usr/lib/systemd/system/coax.service".into(),
                include_str!("../../../../packaging/coax.service"),
            )])),
            process: Some((77, "coax".into())),
            account: Some(Account {
                name: "coax".into(),
                user: 44,
                groups: vec![44],
            }),
            status: Status::Answer(Box::new(serving(Vec::new()))),
        },
        interfaces: vec![interface("eth0", "192.168.1.5")],
        routes: vec![Route {
            interface: "eth0".into(),
            to: lan("192.168.1.0", 24).network,
            gateway: None,
            metric: 0,
        }],
        clock: Clock {
            now_s: 1_800_000_000,
            synchronised: Some(true),
            zone: Some("Europe/Berlin".into()),
            minutes_west: -60,
        },
        firewall: Firewall {
            sources: vec![("nftables", Reading::Read), ("iptables", Reading::Read)],
            ..Firewall::default()
        },
        shares: vec![Share {
            name: "OLD".into(),
            path: "/srv/old".into(),
            folder: Ok(GOOD_FOLDER),
            mount: Some(Mount {
                kind: "ext4".into(),
                ..Mount::default()
            }),
            way: way.into(),
        }],
        names: Names {
            server: vec![ip("192.168.1.5")],
            masters: vec![ip("192.168.1.5")],
            ..Names::default()
        },
        ..Facts::default()
    }
}

fn serving(clients: Vec<ClientStatus>) -> Serving {
    Serving {
        wins: None,
        audit: None,
        schema: 1,
        version: "0.1.0".into(),
        process: 77,
        seconds: 10,
        state: "serving".into(),
        clients,
        files: Vec::new(),
        files_total: 0,
        networks: Vec::new(),
        print_jobs: Vec::new(),
        limits: Vec::new(),
    }
}

fn client(address: &str) -> Client {
    Client {
        asked: address.into(),
        address: Some(IpAddr::V4(ip(address))),
        node: Some(Node {
            names: vec![
                NodeName {
                    name: "DOSPC".into(),
                    ..NodeName::default()
                },
                NodeName {
                    name: "LAB".into(),
                    group: true,
                    ..NodeName::default()
                },
            ],
            mac: "00-11-22-33-44-55".into(),
        }),
        neighbour: Neighbour::At("00:11:22:33:44:55".into()),
        ports: vec![(139, Port::Open), (445, Port::Closed)],
        listed: Listed::Yes(String::new()),
        ..Client::default()
    }
}

fn held(port: u16, process: Option<(u32, &str)>) -> Held {
    Held {
        address: format!("0.0.0.0:{port}").parse().unwrap(),
        user: 0,
        process: process.map(|(number, name)| (number, name.to_owned())),
    }
}

fn shown(all: &[Finding]) -> String {
    let lines = all.iter().map(|f| {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!(
            "{} {}: {} | {} | {} | {}",
            f.severity,
            f.check,
            f.what,
            part(&f.place),
            part(&f.why),
            part(&f.fix)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The machine has this address only.
fn renumber(facts: &mut Facts, to: Address) {
    facts.interfaces[0].addresses = vec![to];
    facts.names.server = vec![to.network.address];
    facts.names.masters = vec![to.network.address];
}

type Change = fn(&mut Facts);

/// Each fault gives one finding of this severity, whose line contains these words; nothing else becomes bad.
fn table(cases: &[(Change, Severity, &[&str])]) {
    for (change, severity, words) in cases {
        let mut facts = good();
        change(&mut facts);
        let all = findings(&facts);
        let text = shown(&all);
        let mut lines = text.lines();
        let has = |line: &str| words.iter().all(|word| line.contains(word));
        let line = lines.find(|line| has(line));
        assert!(
            line.is_some_and(|line| line.starts_with(&severity.to_string())),
            "{severity} {words:?} in\n{text}"
        );
        let bad = all
            .iter()
            .filter(|f| f.severity <= Severity::Warning)
            .count();
        let expected = usize::from(*severity <= Severity::Warning);
        assert!(bad <= expected, "{words:?} alone in\n{text}");
        let lacks_fix = |f: &&Finding| f.severity <= Severity::Warning && f.fix.is_none();
        assert_eq!(all.iter().find(lacks_fix), None);
        let severities: Vec<Severity> = all.iter().map(|f| f.severity).collect();
        assert!(severities.is_sorted(), "{text}");
    }
}

#[test]
fn a_good_machine_has_no_fault_and_every_subject_is_reported() {
    let all = findings(&good());
    assert!(
        all.iter().all(|f| f.severity == Severity::Ok),
        "{}",
        shown(&all)
    );
    let checks = [
        "service",
        "samba",
        "ports",
        "firewall",
        "interfaces",
        "shares",
        "clock",
        "config",
        "names",
    ];
    for check in checks {
        assert!(all.iter().any(|f| f.check.to_string() == check), "{check}");
    }
}

#[test]
fn holders_of_ports() {
    table(&[
        (
            |f| f.ports.tcp = vec![held(445, Some((812, "smbd")))],
            Severity::Error,
            &[
                "smbd (process 812) holds TCP port 445",
                "0.0.0.0:445",
                "systemctl disable --now smbd nmbd",
            ],
        ),
        (
            |f| f.ports.tcp = vec![held(139, None)],
            Severity::Error,
            &["a process of user 0 holds TCP port 139", "sudo"],
        ),
        (
            |f| f.ports.udp = vec![held(137, Some((9, "nmbd")))],
            Severity::Warning,
            &["nmbd (process 9) holds UDP port 137", "by its name"],
        ),
        (
            |f| f.ports.udp = vec![held(138, Some((9, "nmbd")))],
            Severity::Warning,
            &["UDP port 138", "NET VIEW"],
        ),
        (
            |f| f.ports.tcp = vec![held(445, Some((77, "coax")))],
            Severity::Ok,
            &["coax (process 77) listens at TCP port 445"],
        ),
        (
            |f| {
                f.service.process = None;
                f.ports.tcp = vec![held(445, Some((77, "coax-0.1")))];
            },
            Severity::Ok,
            &["coax-0.1 (process 77) listens at TCP port 445"],
        ),
    ]);
}

#[test]
fn other_servers() {
    table(&[
        (
            |f| f.samba.running = vec![(3, "smbd".into())],
            Severity::Note,
            &["another SMB server runs: smbd (process 3)"],
        ),
        (
            |f| f.samba.enabled = vec!["smbd"],
            Severity::Warning,
            &["smbd starts at boot", "systemctl disable smbd"],
        ),
        (
            |f| f.samba.installed = vec!["smbd"],
            Severity::Ok,
            &["smbd is installed and does not run"],
        ),
    ]);
}

#[test]
fn the_service_and_its_rights() {
    table(&[
        (
            |f| {
                f.service.unit = None;
                f.rights = Rights {
                    user: 1000,
                    binds_low_ports: false,
                    first_free_port: 1024,
                };
            },
            Severity::Warning,
            &["may not use ports below 1024", "setcap"],
        ),
        (
            |f| f.service.process = None,
            Severity::Ok,
            &["coax (process 77) is serving"],
        ),
        (
            |f| (f.service.process, f.service.status) = (None, Status::Silent),
            Severity::Warning,
            &["installed and does not run", "systemctl enable --now coax"],
        ),
        (
            |f| f.service.status = Status::Denied("/run/coax/status".into()),
            Severity::Note,
            &["was not asked", "sudo"],
        ),
    ]);
}

#[test]
fn clock_and_configuration() {
    table(&[
        (
            |f| f.clock.now_s = 5,
            Severity::Error,
            &["before 2026", "set-ntp"],
        ),
        (
            |f| f.clock.synchronised = Some(false),
            Severity::Warning,
            &["follows no time server"],
        ),
        (
            |f| f.clock.synchronised = None,
            Severity::Note,
            &["not known whether the clock"],
        ),
        (
            |f| f.clock.minutes_west = 0,
            Severity::Note,
            &["clients see the time in UTC+0:00", "set-timezone"],
        ),
        (
            |f| {
                let loaded = load_text("my.conf", "[global]\nraed raw = no\n");
                f.config.diagnostics = loaded.diagnostics;
            },
            Severity::Warning,
            &["raed raw", "my.conf:2: raed raw = no", "did you mean"],
        ),
        (
            |f| f.config.path = None,
            Severity::Note,
            &["no smb.conf", "coax setup"],
        ),
        (
            |f| f.config.settings.global.workgroup = "VINTAGE".into(),
            Severity::Error,
            &["same name VINTAGE", "netbios name"],
        ),
        (
            |f| f.late = vec!["the network"],
            Severity::Warning,
            &["the network did not answer in time"],
        ),
    ]);
}

#[test]
fn names_in_the_network() {
    table(&[
        (
            |f| f.names.server.push(ip("192.168.1.66")),
            Severity::Error,
            &["another machine has the name VINTAGE", "192.168.1.66"],
        ),
        (
            |f| f.names.workgroup = vec![ip("192.168.1.66")],
            Severity::Error,
            &["the workgroup's name LAB as its own"],
        ),
        (
            |f| f.names.masters = vec![ip("192.168.1.66")],
            Severity::Ok,
            &["master browser of LAB is 192.168.1.66"],
        ),
        (
            |f| f.names.masters.push(ip("192.168.1.66")),
            Severity::Warning,
            &["several master browsers", "192.168.1.5, 192.168.1.66"],
        ),
        (
            |f| f.names.masters.clear(),
            Severity::Ok,
            &["becomes it within 10 s"],
        ),
        (
            |f| {
                f.names.masters.clear();
                f.config.settings = settings("local master = no");
            },
            Severity::Warning,
            &["has no master browser", "local master = yes"],
        ),
        (
            |f| f.names.unasked = Some("no network".into()),
            Severity::Note,
            &["was not asked", "no network"],
        ),
    ]);
}
