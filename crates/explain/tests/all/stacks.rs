//! Whose TCP an end has: where the truth is known, in the lab and in captures from the wild, it is among those that are named.

use std::{fs, path::Path};

use coax_explain::{
    explain,
    report::{Capture, Stack, Sureness},
};
use coax_lab::{
    capture::Tap,
    scenario::Scenario,
    smb::{CopySetup, copy},
};
use flate2::read::GzDecoder;

const WINDOWS_2000: &str = "Windows 2000, XP or Server 2003";
const WINDOWS_98: &str = "Windows 98 or Me";
const VISTA: &str = "Windows Vista or newer";
const WFW: &str = "Microsoft TCP/IP-32 for Windows for Workgroups";
const DOS: &str = "Microsoft TCP/IP for MS-DOS (Network Client, LAN Manager)";

/// A copy in the lab whose both ends run this stack.
fn lab(stack: &str) -> [Stack; 2] {
    let mut scenario = Scenario::new(stack);
    for change in ["size=20kB", "client.profile=windows-98"] {
        scenario.set_text(change).unwrap();
    }
    for side in ["client", "server"] {
        let change = format!("{side}.stack={stack}");
        scenario.set_text(&change).unwrap();
    }
    let mut setup = CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Client];
    let mut result = copy(&setup);
    assert_eq!(result.copied, Ok(20_000), "{stack}");
    let capture = explain(result.world.captures().remove(0).as_slice()).unwrap();
    capture.connections[0].stacks.clone()
}

fn wild(name: &str) -> Capture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let bytes = fs::read(path.join(name)).unwrap();
    if name.ends_with(".gz") {
        explain(GzDecoder::new(bytes.as_slice())).unwrap()
    } else {
        explain(bytes.as_slice()).unwrap()
    }
}

#[test]
fn every_stack_of_the_lab_is_named_or_not_known_and_never_another_alone() {
    let known: [(&str, &[&str], &[&str]); 14] = [
        ("windows-2000", &[WINDOWS_2000], &[WINDOWS_2000]),
        ("windows-98", &[WINDOWS_98], &[VISTA, WINDOWS_98]),
        ("windows-95", &["Windows 95", WFW], &["Windows 95", WFW]),
        ("wfw-tcpip-32", &["Windows 95", WFW], &["Windows 95", WFW]),
        ("nt-4", &["Windows NT 4.0"], &["Windows NT 4.0"]),
        ("ms-tcpip-1.0a", &[DOS], &[DOS]),
        ("linux", &["Linux"], &["Linux"]),
        ("linux-6", &["Linux"], &["Linux"]),
        ("linux-2.0", &[], &[]),
        ("bsd-4.4", &[], &[]),
        ("ibm-tcpip-2.1.1", &[], &[]),
        ("mtcp", &[], &[]),
        ("nts-3.18", &[], &[]),
        ("pctcp-2.2", &[], &[]),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/stacks");
    assert_eq!(fs::read_dir(folder).unwrap().count(), known.len());
    for (stack, client, server) in known {
        let told = lab(stack);
        assert_eq!(
            told.each_ref().map(|it| it.who.clone()),
            [client, server],
            "{stack}"
        );
        for told in &told {
            assert_eq!(told.who.is_empty(), told.sure == Sureness::Unknown);
            let greeting = &told.evidence[0];
            assert!(greeting.what.starts_with("TTL ") && greeting.frame.is_some());
        }
    }
}

#[test]
fn captures_from_the_wild_tell_the_stacks_of_machines_that_say_what_they_are() {
    let known: [(&str, &str, &[&str]); 7] = [
        ("arkime-ascii.pcap", WINDOWS_2000, &[VISTA, WINDOWS_98]),
        (
            "suricata-xp-filecontainer.pcap",
            WINDOWS_2000,
            &[WINDOWS_2000],
        ),
        ("suricata-named-pipe-ascii.pcap", "Linux", &[VISTA]),
        ("suricata-andx-chain.pcap", "macOS or iOS", &[VISTA]),
        ("zeek-raw_ntlm_in_smb.pcap", "macOS or iOS", &[WINDOWS_2000]),
        ("labelled/base-client.pcapng.gz", "Linux", &["Linux"]),
        ("labelled/base-server.pcapng.gz", "Linux", &["Linux"]),
    ];
    for (name, client, server) in known {
        for connection in &wild(name).connections {
            let [asked, answered] = &connection.stacks;
            assert_eq!(asked.who, [client], "{name}");
            assert_eq!(answered.who, server, "{name}");
            let sure = |stack: &Stack| match stack.who.len() {
                1 => Sureness::Likely,
                _ => Sureness::Like,
            };
            assert_eq!(
                (asked.sure, answered.sure),
                (sure(asked), sure(answered)),
                "{name}"
            );
        }
    }
}

#[test]
fn what_was_made_by_hand_is_nobodys() {
    for name in [
        "zeek-netbios-split-session-msg.pcap",
        "zeek-cifs_negotiate_lanman.pcap",
    ] {
        let capture = wild(name);
        let stacks = &capture.connections[0].stacks;
        assert!(
            stacks.iter().all(|it| it.who.is_empty()),
            "{name}: {stacks:?}"
        );
    }
}

#[test]
fn how_it_acknowledges_and_sends_again_is_told_with_packets() {
    let capture = wild("labelled/nagle_lan-client.pcapng.gz");
    let told: Vec<&str> = capture.connections[0].stacks[1]
        .evidence
        .iter()
        .map(|it| it.what.as_str())
        .collect();
    assert!(
        told.iter()
            .any(|what| what.starts_with("held acknowledgments back for about 4")),
        "{told:?}"
    );
    let capture = wild("tcp/tcptrace-discard-solaris.pcap.gz");
    let solaris = &capture.connections[0].stacks[0];
    assert_eq!(solaris.who, ["Solaris 2"]);
    assert_eq!(
        solaris.sure,
        Sureness::Like,
        "with only a window and an MSS"
    );
    let ends = capture.connections.iter().flat_map(|it| &it.stacks);
    let mut seen = ends.flat_map(|it| &it.evidence);
    let timer = seen.find(|it| it.what.starts_with("its timer"));
    assert!(
        timer.is_some_and(|it| it.frame.is_some()),
        "{:?}",
        capture.connections
    );
}
