//! Who the client is: redirectors that the lab runs, and captures from the wild.

use coax_catalog::files::CLIENTS;
use coax_explain::{
    explain,
    recognise::{Facts, Value},
    report::{Capture, Evidence, Sureness},
};
use coax_lab::{
    Tap,
    scenario::Scenario,
    smb::{CopySetup, copy},
};
use coax_wire::command::READ_RAW;

use crate::common::{explained, talk::*};

/// A copy by this redirector to a server of NT's time, as captured at the client.
fn captured(profile: &str, direction: &str) -> Capture {
    let mut scenario = Scenario::new(profile);
    for (key, value) in [
        ("client.profile", profile),
        ("direction", direction),
        ("size", "300kB"),
        ("server.config", "samba-1999"),
    ] {
        scenario.set(key, value.into()).unwrap();
    }
    let mut setup = CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Client];
    let mut result = copy(&setup);
    explain(result.world.captures().pop().unwrap().as_slice()).unwrap()
}

/// Redirectors that differ in nothing that is seen in this direction.
const ALIKE: [&[&str]; 3] = [
    &["ibm-dls-4.0", "ibm-dls-5.0-full", "ibm-dls-5.0-predir"],
    &["nt-4-copy", "nt-4-explorer"],
    &["windows-95", "windows-98"],
];

#[test]
fn every_redirector_is_recognised_by_what_it_sends() {
    let (mut exactly, mut sure_of) = (0, 0);
    for (name, _) in CLIENTS {
        for direction in ["to-client", "to-server"] {
            let capture = captured(name, direction);
            let client = &capture.connections[0].parties[0];
            let profile = client.profile.as_deref().unwrap_or("unknown");
            let fits: Vec<&str> = [profile]
                .into_iter()
                .chain(client.also.iter().map(String::as_str))
                .collect();
            let alike = ALIKE
                .iter()
                .any(|group| group.contains(&profile) && group.contains(name));
            assert!(
                fits.contains(name) || (alike && client.sure <= Sureness::Likely),
                "{name} {direction}: {client:#?}"
            );
            if profile == *name && client.also.is_empty() {
                exactly += 1;
                // who does not say who it is may be somebody else who sends the same
                let says = |it: &Evidence| it.what.starts_with("calls itself ");
                let says_so = client.evidence.iter().any(says);
                let sure = [Sureness::Likely, Sureness::Sure][usize::from(says_so)];
                assert_eq!(client.sure, sure, "{name} {direction}: {client:#?}");
                sure_of += usize::from(says_so);
            }
        }
    }
    assert!(
        exactly >= 22,
        "only {exactly} of 32 are identified uniquely"
    );
    assert!(sure_of > 0 && sure_of < exactly, "{sure_of} of {exactly}");
}

#[test]
fn what_is_not_among_the_redirectors_is_called_like_one_and_never_one() {
    for (file, name, profile) in [
        (
            "suricata-xp-filecontainer.pcap",
            "Windows XP",
            Some("windows-2000"),
        ),
        (
            "arkime-smbclient.pcap",
            "Samba's smbclient or libsmbclient",
            None,
        ),
        ("zeek-raw_ntlm_in_smb.pcap", "Mac OS X", None),
    ] {
        let capture = explained(file);
        let client = &capture
            .connections
            .iter()
            .find(|connection| connection.smb.is_some())
            .unwrap()
            .parties[0];
        assert_eq!(
            (client.name.as_str(), client.profile.as_deref()),
            (name, profile),
            "{file}: {client:#?}"
        );
        assert_eq!(client.sure, Sureness::Like, "{file}");
    }
}

#[test]
fn a_server_is_called_what_it_calls_itself() {
    for (file, kind, name) in [
        (
            "suricata-xp-filecontainer.pcap",
            Some("windows-xp"),
            "Windows XP",
        ),
        ("arkime-smbclient.pcap", Some("samba"), "Samba 3.6.3"),
        (
            "labelled/andx4k-server.pcapng.gz",
            Some("samba"),
            "Samba 4.17.12-Debian",
        ),
        (
            "suricata-andx-chain.pcap",
            None,
            "unknown (Windows 10 Home 15063 / Windows 10 Home 6.3)",
        ),
    ] {
        let capture = explained(file);
        let server = &capture
            .connections
            .iter()
            .find(|connection| connection.smb.is_some())
            .unwrap()
            .parties[1];
        assert_eq!(
            (server.profile.as_deref(), server.name.as_str()),
            (kind, name),
            "{file}"
        );
    }
}

#[test]
fn what_speaks_for_it_is_found_in_the_packet_that_is_named() {
    let capture = explained("suricata-xp-filecontainer.pcap");
    let [client, server] = &capture.connections[0].parties;
    let frame = |party: &coax_explain::report::Party, what: &str| {
        party
            .evidence
            .iter()
            .find(|evidence| evidence.what.contains(what))
            .unwrap()
            .frame
    };
    assert_eq!(frame(client, "offers PC NETWORK PROGRAM 1.0"), Some(4));
    assert_eq!(frame(client, "calls itself Windows 2002"), Some(9));
    assert_eq!(frame(server, "calls itself Windows 5.1"), Some(10));
    assert_eq!(frame(server, "MSS 1380"), Some(2));
}

#[test]
fn by_what_a_client_moves_files_is_told_with_its_size_and_its_first_packet() {
    for (file, wanted, rest) in [
        ("raw60k-client", ("READ_RAW of 61440 bytes", 16), 0.0),
        ("base-client", ("READ_ANDX of 64512 bytes", 27), 3072.0),
    ] {
        let capture = explained(&format!("labelled/{file}.pcapng.gz"));
        let evidence = &capture.connections[capture.copies[0].connection].parties[0].evidence;
        let is_moved = |it: &&Evidence| it.what.contains("READ") || it.what.contains("WRITE");
        let moved: Vec<_> = evidence.iter().filter(is_moved).collect();
        assert_eq!(moved.len(), 1, "{evidence:?}");
        assert_eq!(
            (moved[0].what.as_str(), moved[0].frame),
            (wanted.0, Some(wanted.1))
        );
        let facts = Facts::of(&capture, &capture.copies[0]);
        assert_eq!(
            facts.get("block.page-rest"),
            Some(&Value::Number(rest)),
            "{file}"
        );
    }
}

#[test]
fn raw_reads_and_others_are_told_apart_with_the_packets_of_each() {
    let mut talk = Talk::on(139);
    talk.open(1, 7, 4000);
    let words = [7, 0, 0, 3000, 3000, 0, 0, 0];
    let data = [&3000_u32.to_be_bytes()[..], &[b'a'; 3000]].concat();
    talk.say(0, &Message::new(READ_RAW, 2).words(&words).bytes())
        .say(1, &data);
    talk.exchange(&read(3, 7, 3000, 500), &brought(3, 500));
    let capture = talk.close(4, 7).explained();
    let evidence = &capture.connections[0].parties[0].evidence;
    let told = evidence.iter().filter(|it| it.what.starts_with("READ"));
    let told: Vec<_> = told.map(|it| (it.what.as_str(), it.frame)).collect();
    let wanted = [
        ("READ_RAW of 3000 bytes", Some(6)),
        ("READ_ANDX of 500 bytes", Some(10)),
    ];
    assert_eq!(told, wanted);
}
