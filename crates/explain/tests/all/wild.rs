//! Captures from the wild, against the counts of tcptrace 6.6.7 and tshark 4.0.17 where those are right.

use std::collections::BTreeMap;

use coax_explain::report::{Capture, Protocol};

use crate::common::explained;

fn requests(capture: &Capture) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in capture
        .connections
        .iter()
        .flat_map(|connection| &connection.requests)
    {
        let command = row.command.split(' ').next().unwrap_or_default();
        *counts.entry(command.to_owned()).or_default() += row.count;
    }
    counts
}

#[test]
fn packets_captured_twice_are_a_fault_of_the_capture_and_no_loss() {
    let capture = explained("tcp/tcptrace-hardware-dups.pcap.gz");
    assert_eq!(capture.quality.duplicates, 486);
    for side in capture.connections[0].sides {
        assert_eq!(
            (side.retransmissions, side.out_of_order, side.duplicate_acks),
            (0, 0, 0)
        );
    }
    assert_eq!(capture.copies[0].bytes, 584_267);
}

#[test]
fn retransmissions_are_counted_as_tcptrace_counts_them() {
    let capture = explained("tcp/tcptrace-discard-solaris.pcap.gz");
    let sent = capture.connections[3].sides[0];
    assert_eq!(
        (sent.bytes, sent.retransmissions, sent.retransmitted_bytes),
        (819_200, 51, 68_996)
    );
    assert_eq!(capture.connections[3].sides[1].max_window, 8192);
}

#[test]
fn a_long_session_of_windows_xp_has_all_its_requests() {
    let capture = explained("suricata-xp-filecontainer.pcap");
    let counts = requests(&capture);
    for (command, count) in [
        ("NT_CREATE_ANDX", 422),
        ("READ_ANDX", 216),
        ("WRITE_ANDX", 212),
        ("TRANSACTION", 1432),
        ("TRANSACTION2", 221),
        ("LOCKING_ANDX", 62),
    ] {
        assert_eq!(counts[command], count, "{command}");
    }
}

#[test]
fn every_copy_s_causes_add_up_to_its_time() {
    let mut copies = 0;
    for name in [
        "suricata-xp-filecontainer.pcap",
        "arkime-smbclient.pcap",
        "tcp/mlab-C2DFE.pcap.gz",
        "tcp/tcptrace-discard-solaris.pcap.gz",
    ] {
        for copy in explained(name).copies {
            assert_eq!(copy.account.total(), copy.wall, "{name}");
            copies += 1;
        }
    }
    assert!(copies > 30, "{copies}");
}

#[test]
fn a_header_split_from_its_body_and_a_chain_of_commands_are_understood() {
    for (name, bytes) in [
        ("suricata-segmented-header.pcap", 68),
        ("suricata-andx-chain.pcap", 68),
        ("suricata-write-padding.pcap", 68),
        ("arkime-smbclient.pcap", 15),
    ] {
        let capture = explained(name);
        assert_eq!(capture.copies.len(), 1, "{name}");
        assert_eq!(capture.copies[0].bytes, bytes, "{name}");
        assert!(
            capture
                .connections
                .iter()
                .any(|connection| connection.protocol == Protocol::Smb1)
        );
    }
}

#[test]
fn secondaries_belong_to_the_transaction_that_they_continue() {
    for (name, command) in [
        (
            "zeek-smb1_transaction_secondary_request.pcap",
            "TRANSACTION",
        ),
        (
            "zeek-smb1_transaction2_secondary_request.pcap",
            "TRANSACTION2",
        ),
    ] {
        let counts = requests(&explained(name));
        assert_eq!(counts[command], 1, "{name}: {counts:?}");
        assert!(
            !counts.keys().any(|known| known.contains("SECONDARY")),
            "{counts:?}"
        );
    }
}
