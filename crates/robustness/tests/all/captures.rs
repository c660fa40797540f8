//! Captures from the wild run through every view: nothing panics, and the commands are those tshark sees.

use coax_robustness::{captures, replies, views};
use std::collections::BTreeMap;

/// Captures that crashed decoders, whose framing lies: where messages begin in them is a matter of taste.
const LYING: &[&str] = &[
    "tcpdump-smb_print_trans-oobr1.pcap",
    "zeek-smb1-OSS-fuzz-54883.pcap",
];

type Counts = BTreeMap<u8, usize>;

fn expected() -> BTreeMap<String, Counts> {
    let text = std::fs::read_to_string(captures::folder().join("commands.tsv")).unwrap();
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let command = u8::from_str_radix(&columns[1][2..], 16).unwrap();
        let row = all.entry(columns[0].into()).or_default();
        row.insert(command, columns[2].parse().unwrap());
    }
    all
}

fn counted(name: &str) -> Counts {
    let mut counts = Counts::new();
    for message in captures::messages(name) {
        views::look(&message);
        for command in views::commands(&message) {
            *counts.entry(command).or_default() += 1;
        }
    }
    counts
}

#[test]
fn every_capture_holds_the_commands_that_tshark_counts_in_it() {
    let expected = expected();
    let mut wrong = Vec::new();
    for name in captures::names()
        .into_iter()
        .filter(|name| !LYING.contains(&name.as_str()))
    {
        let expected = expected.get(&name).cloned().unwrap_or_default();
        let counted = counted(&name);
        if counted != expected {
            wrong.push(format!(
                "{name}:\n  here   {counted:x?}\n  tshark {expected:x?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn whatever_looks_like_a_message_in_any_frame_goes_through_the_views() {
    let mut seen = 0;
    for name in captures::names() {
        for candidate in captures::candidates(&name) {
            views::look(&candidate);
            seen += 1;
        }
    }
    assert!(seen > 5000, "{seen}");
}

#[test]
fn every_reply_that_a_real_server_sent_is_understood_by_a_client() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for name in captures::names()
        .into_iter()
        .filter(|name| !LYING.contains(&name.as_str()))
    {
        for message in captures::messages(&name) {
            match replies::understood(&message) {
                Some(Ok(())) => seen += 1,
                Some(Err(error)) => wrong.push(format!("{name}: {:#04x} {error}", message[4])),
                None => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 1000, "{seen}");
}
