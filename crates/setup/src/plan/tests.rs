//! What is written for which answers.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use coax_doctor::unit::Unit;
use coax_smbconf::{
    load::{Loaded, load_text},
    settings::{Access, MapToGuest},
};

use super::*;

fn answers(folder: &str, writers: Writers) -> Answers {
    Answers {
        folder: folder.into(),
        writers,
        machines: vec![Machine::Dos, Machine::Nt],
        network: Network::All,
        share: "OLD".into(),
        name: None,
        workgroup: "LAB".into(),
        no_guests: false,
    }
}

fn site() -> Site {
    Site {
        config: "/nonexistent/smb.conf".into(),
        ..Site::default()
    }
}

fn with_service() -> Site {
    let unit = include_str!("../../../../packaging/coax.service");
    Site {
        config: "/etc/coax/smb.conf".into(),
        drop_in: Some("/nonexistent/drop-in.conf".into()),
        unit: Unit::parse([("unit".into(), unit)]),
        ..Site::default()
    }
}

fn anna() -> Writers {
    Writers::Users(vec!["anna".into(), "bob".into()])
}

fn loaded(answers: &Answers, site: &Site) -> Loaded {
    load_text("smb.conf", &plan(answers, site).unwrap().config)
}

/// Access of guests, of anna and of eve.
fn access(answers: &Answers) -> [Option<Access>; 3] {
    let loaded = loaded(answers, &site());
    let share = loaded.settings.shares.first().unwrap();
    [None, Some("anna"), Some("eve")].map(|user| share.access(user))
}

#[test]
fn the_shares_rights_are_the_answer() {
    use Access::{ReadOnly, ReadWrite};
    let of = |writers| access(&answers("/srv/old", writers));
    assert_eq!(of(Writers::Nobody), [Some(ReadOnly); 3]);
    assert_eq!(of(Writers::Everybody), [Some(ReadWrite); 3]);
    assert_eq!(
        of(anna()),
        [Some(ReadOnly), Some(ReadWrite), Some(ReadOnly)]
    );
    let closed = Answers {
        no_guests: true,
        ..answers("/srv/old", anna())
    };
    assert_eq!(access(&closed), [None, Some(ReadWrite), None]);
    let nobody = Answers {
        no_guests: true,
        ..answers("/srv/old", Writers::Nobody)
    };
    assert!(
        plan(&nobody, &site())
            .unwrap_err()
            .what
            .contains("nobody could connect")
    );
}

#[test]
fn log_ons_are_as_weak_as_the_machines_need_and_no_weaker() {
    let global = |answers: &Answers| loaded(answers, &site()).settings.global;
    let users = answers("/srv/old", anna());
    assert!(global(&users).lanman_auth);
    assert_eq!(global(&users).map_to_guest, MapToGuest::BadUser);
    assert_eq!(
        global(&users).smb_passwd_file,
        Some("/nonexistent/users".into())
    );
    let modern = Answers {
        machines: vec![Machine::Nt],
        ..users
    };
    assert!(!global(&modern).lanman_auth);
    assert!(!plan(&modern, &site()).unwrap().lm);
    assert!(!global(&answers("/srv/old", Writers::Nobody)).lanman_auth);
}

#[test]
fn a_network_limits_where_the_server_listens_and_who_may_connect() {
    let on = |network| Answers {
        network,
        ..answers("/srv/old", Writers::Nobody)
    };
    let global = loaded(&on(Network::Interface("eth7".into())), &site())
        .settings
        .global;
    assert_eq!(
        (global.interfaces, global.bind_interfaces_only),
        (vec!["lo".into(), "eth7".into()], true)
    );
    let global = loaded(&on(Network::Range("10.1.0.0/16".into())), &site())
        .settings
        .global;
    let may = |address: &str| global.hosts.check_server(address.parse().unwrap()).is_ok();
    assert!(may("10.1.2.3") && may("127.0.0.1") && !may("10.2.0.1"));
}

#[test]
fn any_name_of_a_folder_that_answers_allow_is_read_back() {
    for folder in [
        "/srv/my old files",
        "/srv/100%",
        "/srv/%h",
        "/srv/a;b#c",
        "/srv/ä",
        "/srv/a=b",
    ] {
        let all = loaded(&answers(folder, Writers::Nobody), &site());
        let share = all.settings.shares.first().unwrap();
        assert_eq!(share.path.replace("%%", "%"), folder);
    }
    let bad = answers("/srv/x \n[OTHER]\npath = /", Writers::Nobody);
    assert!(
        plan(&bad, &site())
            .unwrap_err()
            .what
            .contains("cannot express")
    );
}

proptest::proptest! {
    #[test]
    fn a_folder_is_read_back_or_refused(name in "[ -~äöß\t\n]{1,24}") {
        let answers = answers(&format!("/srv/{name}"), Writers::Everybody);
        if let Ok(plan) = plan(&answers, &site()) {
            let loaded = load_text("smb.conf", &plan.config);
            let paths: Vec<PathBuf> = loaded.settings.shares.iter().map(|s| s.path.replace("%%", "%").into()).collect();
            assert_eq!(paths, [answers.folder]);
        }
    }
}

#[test]
fn the_service_gets_what_it_needs_and_nothing_else() {
    let drop_in = |answers: &Answers| {
        plan(answers, &with_service())
            .unwrap()
            .drop_in
            .unwrap_or_default()
    };
    let unit = |answers: &Answers| with_service().unit.with("new".into(), &drop_in(answers));
    for (folder, writers, expected) in [
        ("/srv/old", Writers::Everybody, ""),
        ("/data/old", Writers::Nobody, ""),
        (
            "/data/old",
            Writers::Everybody,
            "ReadWritePaths=/data/old\n",
        ),
        (
            "/my files/100%",
            anna(),
            "ReadWritePaths=\"/my files/100%%\"\n",
        ),
        ("/home/anna/old", Writers::Nobody, "ProtectHome=read-only\n"),
        (
            "/home/anna/old",
            anna(),
            "ProtectHome=no\nReadWritePaths=/home/anna/old\n",
        ),
    ] {
        let writes = writers != Writers::Nobody;
        let answers = answers(folder, writers);
        let text = drop_in(&answers);
        assert_eq!(
            text.split_once("[Service]\n")
                .map_or("", |(_, lines)| lines),
            expected,
            "{folder}"
        );
        if writes {
            assert_eq!(
                unit(&answers).effect_on(Path::new(folder)),
                Effect::None,
                "{folder}"
            );
        }
    }
    let netbeui = Answers {
        machines: vec![Machine::Netbeui, Machine::Plaintext],
        network: Network::Interface("eth0".into()),
        ..answers("/srv/old", Writers::Nobody)
    };
    let unit = unit(&netbeui);
    let command = unit.command.clone().unwrap();
    assert!(
        command.ends_with("--config /etc/coax/smb.conf --netbeui eth0 --allow plaintext"),
        "{command}"
    );
    assert!(unit.binds_low_ports() && unit.capabilities.contains(&"CAP_NET_RAW".into()));
    assert!(unit.serves(Path::new("/etc/coax/smb.conf")));
}

#[test]
fn without_a_service_the_command_is_named() {
    let netbeui = Answers {
        machines: vec![Machine::Netbeui],
        network: Network::Interface("eth0".into()),
        ..answers("/srv/old", Writers::Everybody)
    };
    let plan = plan(&netbeui, &site()).unwrap();
    assert_eq!(plan.drop_in, None);
    let all = plan.remarks.join("\n");
    assert!(
        all.contains("coax serve --config /nonexistent/smb.conf --netbeui eth0"),
        "{all}"
    );
    assert!(all.contains("can delete and replace files"), "{all}");
}

#[test]
fn the_configuration_of_the_packages_is_nobodys_own() {
    assert!(!is_own(PACKAGED.as_bytes()));
    assert!(!is_own(b"\n"));
    assert!(is_own(PACKAGED.replace("PUBLIC", "MINE").as_bytes()));
}

#[test]
fn a_configuration_that_is_not_utf_8_is_missed_too() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("smb.conf");
    let plan = Plan {
        config: "[global]\n".into(),
        ..Plan::default()
    };
    assert!(!replaces_own(&path, &plan));
    for (text, missed) in [(&b"[B\xfccher]\n"[..], true), (b"[global]\n", false)] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(replaces_own(&path, &plan), missed);
    }
}
