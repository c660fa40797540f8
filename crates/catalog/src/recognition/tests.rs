#![allow(clippy::unwrap_used)]

use std::{
    string::{String, ToString},
    vec::Vec,
};

use super::{client, client::ClientFeatures, client::rules as clients, server, stack};
use crate::{component::Described, files, profile::Profile, server::ServerParams};

#[test]
fn every_client_rule_has_a_clue_and_a_source() {
    assert!(clients().len() > 10);
    for rule in clients() {
        assert!(!rule.source.is_empty(), "{}", rule.who);
        let clues = [
            rule.offers.is_some(),
            rule.offers_among.is_some(),
            rule.native.is_some(),
            rule.calling.is_some(),
        ];
        assert!(clues.contains(&true), "{}", rule.who);
    }
}

#[test]
fn every_server_rule_names_a_source_and_a_configuration_that_exists() {
    assert!(!server::rules().is_empty());
    for rule in server::rules() {
        assert!(!rule.source.is_empty(), "{}", rule.who);
        let config = rule.config.as_deref();
        let exists = |name| files::find(ServerParams::BUILT_IN, name).is_some();
        assert!(config.is_none_or(exists), "{}", rule.who);
    }
}

#[test]
fn every_stack_rule_has_a_source_and_more_clues_than_options() {
    assert!(stack::rules().len() >= 10);
    for rule in stack::rules() {
        let clues = rule.syn.len() + rule.answer.len();
        assert!(clues > 0 && !rule.source.is_empty(), "{}", rule.who);
        assert!(rule.ttl.is_some() || rule.mss.is_some(), "{}", rule.who);
    }
}

#[test]
fn a_match_gives_its_reason() {
    let features = ClientFeatures {
        native: Some("Unix Samba"),
        ..ClientFeatures::default()
    };
    let reason = client(&features).unwrap().reason;
    assert_eq!(reason, "calls itself \"Unix Samba\"");
    assert_eq!(client(&ClientFeatures::default()), None);
}

fn who(offered: &[&str], native: &str) -> &'static str {
    named(offered, native).unwrap()
}

fn named(offered: &[&str], native: &str) -> Option<&'static str> {
    let offered: Vec<String> = offered.iter().map(ToString::to_string).collect();
    let features = ClientFeatures {
        offered: &offered,
        native: Some(native).filter(|native| !native.is_empty()),
        calling: None,
    };
    client(&features).map(|found| found.who)
}

const DOS: &[&str] = &[
    "PC NETWORK PROGRAM 1.0",
    "MICROSOFT NETWORKS 3.0",
    "DOS LM1.2X002",
    "DOS LANMAN2.1",
    "Windows for Workgroups 3.1a",
];

#[test]
fn clients_seen_in_captures_are_recognised() {
    assert!(who(DOS, "").starts_with("MS-DOS LAN Manager"));
    assert_eq!(
        who(&["NT LM 0.12", "SMB 2.002"], "Mac OS X 10.10 SMBFS 3.0.0"),
        "Mac OS X"
    );
    assert!(who(&["NT LM 0.12"], "Unix Samba").contains("smbclient"));
    assert_eq!(
        who(
            &["NT LM 0.12"],
            "Windows 2002 Service Pack 3 2600 Windows 2002 5.1"
        ),
        "Windows XP"
    );
    assert!(who(&["NT LM 0.12"], "").contains("small"));
}

#[test]
fn clients_are_not_taken_for_those_whose_words_they_share() {
    assert!(who(&["NT LM 0.12"], "AmigaOS smbfs 2.22").starts_with("AmigaOS"));
    assert!(who(&["Samba", "NT LM 0.12"], "Unix liBDSM").contains("libdsm"));
    assert!(who(&["Samba", "NT LM 0.12"], "").contains("libdsm"));
    let smblib = "UNIX of some type SMBlib LM2.1 minus a bit";
    assert!(who(&["Samba", "NT LM 0.12"], smblib).contains("Authen::Smb"));
    assert!(who(&["NT LM 0.12"], "PlayStation 2 SMBMAN").starts_with("PlayStation 2"));
    let smbfs = [
        "PC NETWORK PROGRAM 1.0",
        "MICROSOFT NETWORKS 1.03",
        "MICROSOFT NETWORKS 3.0",
        "LANMAN1.0",
        "LM1.2X002",
        "NT LM 0.12",
        "NT LANMAN 1.0",
    ];
    assert_eq!(who(&smbfs, "AmigaOS smbfs 2.22"), "AmigaOS (smbfs)");
    assert!(who(&smbfs, "").starts_with("AmigaOS (smbfs) or "));
    assert!(!who(&["PC NETWORK PROGRAM 1.0"], "").contains("Amiga"));
    let windows_98 = [DOS, &["NT LM 0.12"]].concat();
    assert_eq!(who(&windows_98, ""), "Windows 95, 98 or Me");
}

#[test]
fn os2_is_recognised_by_its_own_list_and_windows_nt_3_51_is_not_taken_for_it() {
    let os2 = [
        "PC NETWORK PROGRAM 1.0",
        "XENIX CORE",
        "LANMAN1.0",
        "LM1.2X002",
        "LANMAN2.1",
    ];
    assert_eq!(who(&os2, ""), "OS/2 (LAN Requester)");
    let nt = [
        "PC NETWORK PROGRAM 1.0",
        "XENIX CORE",
        "MICROSOFT NETWORKS 1.03",
        "LANMAN1.0",
        "Windows for Workgroups 3.1a",
        "LM1.2X002",
        "LANMAN2.1",
        "NT LM 0.12",
    ];
    assert_eq!(named(&nt, ""), None);
}

#[test]
fn the_client_of_this_project_is_recognised_and_nobody_else_is_taken_for_it() {
    let own = |profile: &Profile| {
        let offered: Vec<&str> = profile
            .negotiate
            .dialects
            .iter()
            .map(String::as_str)
            .collect();
        let names = (&*profile.logon.native_os, &*profile.logon.native_lan_man);
        [" ", " / "]
            .map(|between| [names.0.as_str(), names.1.as_str()].join(between))
            .map(|native| named(&offered, &native) == Some("coax's own client"))
    };
    for profile in crate::clients::all() {
        let is_own = profile.name == crate::clients::DEFAULT;
        assert_eq!(own(profile), [is_own; 2], "{}", profile.name);
    }
    for native in [
        "Unix Samba",
        "Unix liBDSM",
        "Unix",
        "Unix…",
        "Coaxial NAS",
        "Linux coax",
        "",
    ] {
        assert_ne!(
            named(&["NT LM 0.12"], native),
            Some("coax's own client"),
            "{native}"
        );
    }
}

#[test]
fn smbclient_of_each_age_is_recognised_by_each_list_it_offers() {
    let list = [
        "PC NETWORK PROGRAM 1.0",
        "MICROSOFT NETWORKS 1.03",
        "MICROSOFT NETWORKS 3.0",
        "LANMAN1.0",
        "LM1.2X002",
        "Samba",
        "NT LANMAN 1.0",
        "NT LM 0.12",
    ];
    // smbclient 2.2.12 with -m COREPLUS, LANMAN1, LANMAN2 and NT1.
    for upto in [2, 4, 6, 8] {
        let offered: Vec<&str> = list.iter().take(upto).copied().collect();
        let guess = who(&offered, "");
        assert!(guess.contains("smbclient"), "{upto}: {guess}");
    }
}

#[test]
fn the_order_of_dialects_counts_where_a_rule_lists_them() {
    let mut reversed = DOS.to_vec();
    reversed.reverse();
    assert_ne!(who(&reversed, ""), who(DOS, ""));
}

#[test]
fn a_server_whose_names_were_cut_is_samba_by_its_defaults_and_its_ttl() {
    let kind = |first_ttl| {
        let features = server::ServerFeatures {
            max_buffer: Some(16_644),
            max_mpx: Some(50),
            first_ttl,
            ..server::ServerFeatures::default()
        };
        server::server(&features).map(|found| (found.kind, found.said_so))
    };
    assert_eq!(kind(Some(64)), Some(("samba", false)));
    assert_eq!(kind(Some(128)), None, "Windows has the same limits");
    assert_eq!(kind(None), None);
}

#[test]
fn every_tcp_that_a_server_rule_names_is_a_known_stack() {
    let known = |who: &str| stack::rules().iter().any(|rule| rule.who == who);
    let named = server::rules()
        .iter()
        .filter_map(|rule| rule.tcp.as_deref());
    let named: Vec<&str> = named.collect();
    assert!(!named.is_empty());
    assert!(named.iter().all(|who| known(who)), "{named:?}");
}

#[test]
fn a_lan_manager_on_linux_is_samba_whatever_size_of_messages_it_takes() {
    let kind = |tcp| {
        let features = server::ServerFeatures {
            dialect: Some("LANMAN2.1"),
            max_buffer: Some(2_920),
            max_mpx: Some(50),
            tcp,
            ..server::ServerFeatures::default()
        };
        server::server(&features).map(|found| found.kind)
    };
    assert_eq!(kind(Some("Linux")), Some("samba"));
    assert_eq!(kind(Some("Solaris 2")), Some("lan-manager"));
    assert_eq!(kind(None), Some("lan-manager"));
}
