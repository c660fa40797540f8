//! Advice: every entry is whole, the lab takes what it is to try, and each fires where it is meant to.

use std::{collections::BTreeMap, fs};

use coax_catalog::advice::{Case, rules};
use coax_explain::{
    Account, Advice, Analyser, Cause, advise,
    capture::{LinkType, Packet},
    explain,
    recognise::{Entry, Facts, Value, entries, remarks, vocabulary},
    report::{Capture, Copy, Direction},
};
use coax_lab::{Tap, scenario::Scenario, smb};
use coax_wire::time::{Span, Time};

use crate::common::explained;

#[test]
fn the_lab_takes_what_every_entry_wants_tried() {
    let mut tried = 0;
    for entry in entries() {
        let mut scenario = Scenario::new(&entry.id);
        for (path, value) in entry
            .lab()
            .iter()
            .chain(entry.lab_slowest())
            .chain(entry.lab_fastest())
        {
            scenario
                .set(path, value.clone())
                .unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        }
        smb::CopySetup::of(&scenario).unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        tried += usize::from(!entry.lab().is_empty());
    }
    assert!(tried > 2, "{tried}");
}

#[test]
fn every_entry_has_a_name_of_its_own_a_source_and_something_to_change() {
    let all = entries();
    for (place, entry) in all.iter().enumerate() {
        assert!(
            !all[..place].iter().any(|other| other.id == entry.id),
            "{}",
            entry.id
        );
        assert!(
            !entry.source().is_empty() && entry.changes() > 0,
            "{}",
            entry.id
        );
    }
}

fn value(value: &toml::Value) -> Value {
    match value {
        toml::Value::Integer(number) => (*number as f64).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Array(list) => {
            let texts = list.iter().map(|item| item.as_str().unwrap().to_owned());
            texts.collect::<Vec<_>>().into()
        }
        other => panic!("{other}"),
    }
}

fn set(facts: &mut Facts, table: &toml::Table) {
    for (name, given) in table {
        assert!(
            vocabulary().any(|word| word.name == name),
            "the fact {name} does not exist"
        );
        facts.set(name, value(given));
    }
}

/// A copy of 100 s, of which so many went to each cause.
fn copy(shares: &BTreeMap<String, u32>) -> Copy {
    let mut account = Account::default();
    for (name, seconds) in shares {
        let cause = Cause::ALL
            .into_iter()
            .find(|cause| cause.name() == name)
            .unwrap();
        account.add(cause, Span::from_secs(u64::from(*seconds)));
    }
    Copy {
        connection: 0,
        name: None,
        share: None,
        direction: Direction::ToClient,
        bytes: 1,
        moved: 1,
        start: Time(0),
        wall: Span::from_secs(100),
        frames: (1, 2),
        seen: (true, true),
        file_size: None,
        holes: (0, 0),
        requests: Vec::new(),
        account,
        breakdown: Default::default(),
    }
}

fn told(entry: &Entry, facts: &Facts, copy: &Copy) -> Option<Advice> {
    entry
        .for_copy(facts, copy)
        .or_else(|| entry.for_connection(facts))
}

/// It fires with the facts and shares of its case, and not with what the case says is too little.
fn assert_fires_for(entry: &Entry, case: &Case) {
    let id = &entry.id;
    let none = BTreeMap::new();
    let mut facts = Facts::default();
    set(&mut facts, &case.facts);
    let advice =
        told(entry, &facts, &copy(&case.shares)).unwrap_or_else(|| panic!("{id} does not match"));
    assert!(!advice.why.contains(['{', '?']), "{id}: {}", advice.why);
    assert!(!advice.changes.is_empty(), "{id}");
    for without in &case.not {
        let mut other = facts.clone();
        set(&mut other, without);
        let told = told(entry, &other, &copy(&case.shares));
        assert_eq!(told, None, "{id} with {without}");
    }
    if !case.shares.is_empty() {
        let told = told(entry, &facts, &copy(&none));
        assert_eq!(told, None, "{id} names no cause");
    }
}

#[test]
fn every_entry_fires_where_it_is_meant_to_and_not_without_what_it_asks_for() {
    let (rules, entries) = (rules(), entries());
    assert_eq!(rules.len(), entries.len());
    for (rule, entry) in rules.iter().zip(entries) {
        assert_eq!(rule.id, entry.id);
        assert_fires_for(entry, &rule.case);
    }
}

/// What is said of the copy that took longest.
fn ids(capture: &Capture) -> Vec<String> {
    let longest = capture.copies.iter().max_by_key(|copy| copy.wall).unwrap();
    advise(capture, longest)
        .into_iter()
        .map(|advice| advice.id)
        .collect()
}

#[test]
fn real_copies_get_the_advice_that_made_them_fast_from_both_ends() {
    for (name, wanted) in [
        ("andx4k", Some("use-raw-reads")),
        ("nagle_lan", Some("client-nodelay")),
        ("rwnd", Some("fixed-receive-buffer")),
        ("shallow", Some("losses-on-the-way")),
        ("raw60k", None),
        ("base", None),
        ("nagle_lan_nd", Some("use-raw-reads")),
    ] {
        for end in ["client", "server"] {
            let all = ids(&explained(&format!("labelled/{name}-{end}.pcapng.gz")));
            assert_eq!(
                all.first().map(String::as_str),
                wanted,
                "{name} captured at the {end}: {all:?}"
            );
        }
    }
}

/// Whether cables are named beside the losses of the copy that took longest.
fn blames_cables(capture: &Capture) -> bool {
    let longest = capture.copies.iter().max_by_key(|copy| copy.wall).unwrap();
    let all = advise(capture, longest);
    let of_losses = all.iter().find(|advice| advice.id == "losses-on-the-way");
    let changes = &of_losses.unwrap().changes;
    changes.iter().any(|change| change.to.contains("cables"))
}

#[test]
fn cables_are_named_for_losses_unless_the_path_is_full() {
    for end in ["client", "server"] {
        let full = explained(&format!("labelled/shallow-{end}.pcapng.gz"));
        assert!(!blames_cables(&full), "captured at the {end}");
    }
    let mut scenario = Scenario::new("losses by chance");
    for (key, value) in [
        ("direction", "to-client".into()),
        ("client.profile", "modern".into()),
        ("client.stack", "linux".into()),
        ("server.stack", "linux".into()),
        ("size", "4MB".into()),
        ("link.delay", "5 ms".into()),
    ] {
        scenario.set(key, value).unwrap();
    }
    let rule = "rule = { kind = 'random', probability = 0.02 }";
    let losses: toml::Table = toml::from_str(rule).unwrap();
    scenario.set("link.loss_to_client", losses.into()).unwrap();
    let mut setup = smb::CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Client];
    let mut result = smb::copy(&setup);
    let capture = result.world.captures().pop().unwrap();
    assert!(blames_cables(&explain(capture.as_slice()).unwrap()));
}

/// A published copy as the lab makes it, captured at the client.
fn scenario(name: &str, direction: &str) -> Capture {
    let path = format!(
        "{}/../../data/scenarios/{name}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut scenario = Scenario::parse(name, &fs::read_to_string(path).unwrap()).unwrap();
    scenario.set("size", "1MB".into()).unwrap();
    scenario.set("direction", direction.into()).unwrap();
    let mut setup = smb::CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Client];
    let mut result = smb::copy(&setup);
    explain(result.world.captures().pop().unwrap().as_slice()).unwrap()
}

#[test]
fn published_copies_get_the_cures_of_their_documents() {
    for (name, direction, wanted) in [
        ("dos-ms-net-full", "to-server", "ms-net-basic-redirector"),
        ("dos-ms-net-full", "to-server", "sender-card-overrun"),
        ("dos-dls-5.0-predir", "to-client", "dls-full-redirector"),
        ("wan-2000-to-nt", "to-server", "nt-larger-request-buffer"),
        (
            "wan-2000-to-nt",
            "to-server",
            "nt-larger-request-buffer-and-window",
        ),
        ("wan-2000-to-nt", "to-client", "server-nodelay-far"),
        ("dos-386sx", "to-client", "server-nodelay-early-timer"),
    ] {
        let all = ids(&scenario(name, direction));
        assert!(all.iter().any(|id| id == wanted), "{name}: {all:?}");
    }
    // what was measured to help comes before what documents say of machines like it
    let all = ids(&scenario("dos-ms-net-full", "to-server"));
    assert_eq!(all[0], "ms-net-basic-redirector", "{all:?}");
    for name in ["dos-ms-net-basic", "dos-dls-5.0-full"] {
        let all = ids(&scenario(name, "to-server"));
        assert_eq!(
            all,
            Vec::<String>::new(),
            "{name} must have no advice after the change"
        );
    }
}

/// Run with COAX_BLESS=1 to write the table.
#[test]
fn the_page_about_advice_lists_every_fact() {
    const MARKS: [&str; 2] = ["<!-- facts -->\n", "<!-- end of facts -->"];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advice.md");
    let page = fs::read_to_string(path).unwrap();
    let mut table = "| fact | kind | what it is |\n|---|---|---|\n".to_owned();
    for word in vocabulary() {
        let kind = format!("{:?}", word.kind).to_lowercase();
        table += &format!("| `{}` | {kind} | {} |\n", word.name, word.what);
    }
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let wanted = [before, MARKS[0], &table, MARKS[1], after].concat();
    if std::env::var_os("COAX_BLESS").is_some() {
        fs::write(path, &wanted).unwrap();
    } else {
        assert!(
            page == wanted,
            "docs/advice.md is out of step: COAX_BLESS=1 cargo test -p coax-explain --test all advice:: renews it"
        );
    }
}

fn number(capture: &Capture, name: &str) -> f64 {
    match Facts::of(capture, &capture.copies[0]).get(name) {
        Some(Value::Number(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_card_that_takes_ten_frames_loses_the_eleventh_of_each_burst() {
    // data/cards/dos-short-ring.toml: tx_ring = 10
    let capture = scenario("dos-ms-net-full", "to-server");
    assert_eq!(number(&capture, "loss.place"), 11.0);
    assert_eq!(number(&capture, "loss.place-percent"), 100.0);
    assert!(number(&capture, "loss.bursts") >= 10.0);
}

/// A packet of a connection from port 1025 to port 139, as raw IPv4.
fn packet(from_client: bool, seq: u32, ack: u32, flags: u8, len: usize) -> Vec<u8> {
    let (mut ports, mut hosts) = ([1025_u16, 139], [[192, 0, 2, 2], [192, 0, 2, 1]]);
    if !from_client {
        ports.reverse();
        hosts.reverse();
    }
    let total = 40 + len as u16;
    let mut out = vec![0x45, 0];
    out.extend(total.to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    out.extend(hosts.concat());
    out.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    out.extend(seq.to_be_bytes());
    out.extend(ack.to_be_bytes());
    out.extend([0x50, flags, 0x22, 0x38, 0, 0, 0, 0]);
    out.resize(usize::from(total), 0);
    out
}

const ACK: u8 = 16;

/// The server's small answers arrive; its first long segment is sent again five times, and then comes what `more` says.
fn black_hole(more: Vec<(u64, Vec<u8>)>) -> Capture {
    const SYN: u8 = 2;
    let mut packets = vec![
        (0, packet(true, 0, 0, SYN, 0)),
        (1, packet(false, 0, 1, SYN | ACK, 0)),
        (2, packet(true, 1, 1, ACK, 0)),
        (3, packet(true, 1, 1, ACK, 50)),
        (4, packet(false, 1, 51, ACK, 100)),
        (5, packet(true, 51, 101, ACK, 50)),
    ];
    for turn in 0..6 {
        packets.push((6 + (1000 << turn), packet(false, 101, 101, ACK, 1460)));
    }
    let mut analyser = Analyser::default();
    for (number, (at_ms, bytes)) in packets.iter().chain(&more).enumerate() {
        analyser.packet(&Packet {
            number: number as u64 + 1,
            at: Time(at_ms * 1_000_000),
            link: LinkType::Ip,
            bytes,
            wire_len: bytes.len() as u32,
        });
    }
    analyser.finish()
}

#[test]
fn what_passes_in_the_end_was_no_black_hole_unless_it_passed_in_pieces() {
    let told = |more: Vec<(u64, Vec<u8>)>| remarks(&black_hole(more)).len();
    let late = |ms: u64, packet: Vec<u8>| (40_000 + ms, packet);
    let next = || late(2, packet(false, 1561, 101, ACK, 40));
    // the way was blocked for a while, for all lengths
    assert_eq!(
        told(vec![late(1, packet(true, 101, 1561, ACK, 0)), next()]),
        0
    );
    // it was sent again in pieces
    let pieces = [(101, 536), (637, 536), (1173, 388)];
    let mut more: Vec<_> = pieces
        .map(|(seq, len)| late(0, packet(false, seq, 101, ACK, len)))
        .to_vec();
    more.extend([late(1, packet(true, 101, 1561, ACK, 0)), next()]);
    assert_eq!(told(more), 1);
}

#[test]
fn long_segments_that_never_arrive_while_short_ones_do_are_a_black_hole() {
    let capture = black_hole(Vec::new());
    assert_eq!(number(&capture, "stuck.count"), 5.0);
    assert_eq!(number(&capture, "stuck.bytes"), 1460.0);
    let told = remarks(&capture);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].0, told[0].1.id.as_str()),
        (0, "pmtu-black-hole-end")
    );
}

#[test]
fn a_segment_lost_again_and_again_is_no_black_hole_if_others_as_long_arrive() {
    let all = ids(&explained("tcp/mlab-C2DFE.pcap.gz"));
    assert!(!all.contains(&"pmtu-black-hole".to_owned()), "{all:?}");
}

#[test]
fn the_timer_of_delayed_acknowledgments_is_found() {
    let samba = explained("labelled/nagle_lan-client.pcapng.gz");
    let hold = number(&samba, "hold.server-ms");
    assert!(
        (38.0..=50.0).contains(&hold),
        "Linux delays ACKs by at least 40 ms: {hold}"
    );
    assert!(
        (196.0..=206.0).contains(&number(&samba, "held.server")),
        "the kernel counted 201"
    );
    let hold = number(&scenario("dos-386sx", "to-client"), "hold.client-ms");
    assert!(
        (195.0..=205.0).contains(&hold),
        "the stack's delayed-ACK timer is 200 ms: {hold}"
    );
}

#[test]
fn an_explorer_that_waits_for_changes_is_told_from_a_copy_command() {
    let text = |name: &str| {
        let mut scenario = Scenario::new(name);
        scenario.set("client.profile", name.into()).unwrap();
        scenario.set("size", "300kB".into()).unwrap();
        scenario.set("link.delay", "1 ms".into()).unwrap();
        let mut setup = smb::CopySetup::of(&scenario).unwrap();
        setup.taps = vec![Tap::Server];
        let mut result = smb::copy(&setup);
        explain(result.world.captures().pop().unwrap().as_slice()).unwrap()
    };
    let explorer = text("nt-4-explorer");
    assert!(number(&explorer, "notify.pending") >= 60.0);
    assert!(
        ids(&explorer).contains(&"copy-without-notify".to_owned()),
        "{:?}",
        ids(&explorer)
    );
    let command = text("nt-4-copy");
    assert_eq!(number(&command, "notify.pending"), 0.0);
    assert!(!ids(&command).contains(&"copy-without-notify".to_owned()));
}

#[test]
fn two_losses_at_one_place_are_no_pattern() {
    let mut capture = explained("labelled/shallow-server.pcapng.gz");
    let connection = capture.copies[0].connection;
    for (losses, percent) in [(1, 0.0), (2, 0.0), (3, 100.0)] {
        capture.connections[connection].habits[1].burst_losses = (losses, losses);
        assert_eq!(number(&capture, "loss.place-percent"), percent, "{losses}");
    }
}

#[test]
fn a_real_copy_in_small_blocks_gets_the_advice_of_larger_ones_from_both_ends() {
    for end in ["client", "server"] {
        let all = ids(&explained(&format!("labelled/andx4k-{end}.pcapng.gz")));
        let found = all.iter().any(|id| id == "program-larger-blocks");
        assert!(found, "{end}: {all:?}");
    }
}
