//! `layouts/seen.txt` is what the captures contain.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs::{self, File},
    path::Path,
};

use coax_capture::Reader;
use coax_decode::{Value, is_frame, messages, seen};

/// Captures whose only purpose is to break a decoder.
const BROKEN: [&str; 2] = ["tcpdump-smb", "zeek-smb1-OSS-fuzz"];
/// Numbers that a client or a server chooses; all others count or place something.
const CHOSEN: &[&str] = &[
    "WordCount",
    "MaxBufferSize",
    "MaxMpxCount",
    "MaxNumberVcs",
    "MaxRawSize",
    "VcNumber",
    "Timeout",
    "MaxCount",
    "SearchCount",
    "MaxDataCount",
    "MaxParameterCount",
    "MinCountOfBytesToReturn",
    "MaxCountOfBytesToReturn",
    "Remaining",
    "OpLockLevel",
    "NewOpLockLevel",
    "ImpersonationLevel",
    "EchoCount",
    "Available",
    "ResourceType",
    "MaxSetupCount",
    "MaximumDataSize",
    "TransportControl",
];
/// Masks and codes that say nothing about others.
const LEFT_OUT: &[&str] = &[
    "SessionKey",
    "PIDHigh",
    "PIDLow",
    "MID",
    "Status",
    "Command",
    "FileId",
    "ResumeKey",
    "AndXCommand",
    "ErrorClass",
    "Setup",
    "ReferentId",
    "ReturnValue",
    "Control",
    "Network",
    "SourceNetwork",
    "DestinationNetwork",
    "SourceConnection",
    "DestinationConnection",
    "MessageID",
    "Termination",
];
/// Values of a field that are kept, the most frequent first.
const MAX_VALUES: usize = 6;
/// The table is part of every binary, bytes.
const MAX_TABLE: usize = 40_000;

type Values = BTreeMap<u64, (u64, BTreeSet<usize>)>;

fn captures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| {
            name.contains(".pcap") && !BROKEN.iter().any(|broken| name.starts_with(broken))
        })
        .collect();
    names.sort();
    names
}

fn table() -> String {
    let names = captures();
    let mut found: BTreeMap<(String, &'static str), Values> = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures")
            .join(name);
        let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
        let _ = messages(&mut reader, |message| {
            let side = message
                .decoded
                .title
                .rsplit(' ')
                .next()
                .unwrap_or_default()
                .to_owned();
            let has_smb = message.decoded.field("Protocol").is_some();
            let mut group = "";
            for field in &message.decoded.fields {
                if field.depth == 0 {
                    group = field.name;
                }
                let number_of = match field.value {
                    Value::Hex(value, _) if !LEFT_OUT.contains(&field.name) => value,
                    Value::Number(value) if CHOSEN.contains(&field.name) => value,
                    _ => continue,
                };
                if field.depth > 1 && group == "Header" {
                    continue;
                }
                let message = match (is_frame(group), has_smb) {
                    (true, _) => group.to_owned(),
                    (false, true) => format!("{group} {side}"),
                    (false, false) => continue,
                };
                let row = found.entry((message, field.name)).or_default();
                let seen = row.entry(number_of).or_default();
                seen.0 += 1;
                seen.1.insert(number);
            }
        });
    }
    let mut out = String::from(
        "# What the captures in tests/captures contain: COAX_BLESS=1 cargo test -p coax-decode --test all seen:: renews it.\n",
    );
    for name in &names {
        writeln!(out, "= {}", name.split('.').next().unwrap()).unwrap();
    }
    let mut last = String::new();
    for ((message, field), values) in found {
        if message != last {
            writeln!(out, "{message}").unwrap();
            last = message;
        }
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_by_key(|(value, (count, _))| (u64::MAX - count, *value));
        let shown = values
            .into_iter()
            .take(MAX_VALUES)
            .map(|(value, (count, captures))| {
                let captures: Vec<String> =
                    captures.iter().take(3).map(ToString::to_string).collect();
                format!("{value:x}*{count}@{}", captures.join(","))
            });
        writeln!(out, " {field} {}", shown.collect::<Vec<_>>().join(" ")).unwrap();
    }
    out
}

#[test]
fn the_table_is_what_the_captures_contain() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("layouts/seen.txt");
    let made = table();
    if std::env::var_os("COAX_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(made.len() < MAX_TABLE, "{} bytes", made.len());
    let there = fs::read_to_string(path).unwrap();
    assert!(
        made == there,
        "layouts/seen.txt is out of date: COAX_BLESS=1 cargo test -p coax-decode --test all seen:: renews it"
    );
}

#[test]
fn a_value_is_found_with_its_captures_and_an_unknown_field_has_none() {
    let counts = seen("CLOSE request", "WordCount");
    assert!(
        counts
            .iter()
            .any(|seen| seen.value == 3 && seen.count > 5 && !seen.captures.is_empty()),
        "{counts:?}"
    );
    assert!(seen("CLOSE request", "NoSuchField").is_empty());
    assert!(seen("NO_SUCH request", "WordCount").is_empty());
}

#[test]
fn a_value_names_the_products_of_the_side_that_sent_it() {
    let of = |message: &str| {
        let values = seen(message, "WordCount");
        let values = values
            .iter()
            .find(|seen| seen.captures == ["dos-win98-netbeui"]);
        values.map(|seen| seen.products.clone())
    };
    let all = seen("NEGOTIATE request", "WordCount");
    assert!(all[0].products.contains(&"Windows 2000"), "{all:?}");
    assert!(!all[0].products.contains(&"Windows Server 2008 R2"));
    let mut found = 0;
    for message in ["SEARCH", "ECHO", "WRITE", "CHECK_DIRECTORY", "NEGOTIATE"] {
        if let Some(clients) = of(&format!("{message} request")) {
            assert_eq!(clients, ["MS-DOS network client"]);
            found += 1;
        }
        if let Some(servers) = of(&format!("{message} response")) {
            assert_eq!(servers, ["Windows 98"]);
            found += 1;
        }
    }
    assert!(found > 2);
}

/// Texts that each side of a capture says about itself.
fn said(name: &str) -> [BTreeSet<String>; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/captures")
        .join(name);
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut sides = [BTreeSet::new(), BTreeSet::new()];
    let _ = messages(&mut reader, |message| {
        let side = usize::from(message.decoded.title.ends_with("response"));
        for field in &message.decoded.fields {
            if let Value::Text(text) = &field.value {
                sides[side].insert(text.clone());
            }
        }
    });
    sides
}

#[test]
fn every_capture_has_its_products_and_each_product_its_evidence_in_the_messages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("layouts/products.txt");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split(" | ").collect()).collect();
    let named: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    let stems = captures();
    let stems: Vec<&str> = stems
        .iter()
        .map(|name| name.split('.').next().unwrap())
        .collect();
    assert_eq!(named, stems);
    for (row, file) in rows.iter().zip(captures()) {
        assert_eq!(row.len(), 5, "{row:?}");
        for (side, texts) in said(&file).iter().enumerate() {
            let (product, evidence) = (row[1 + 2 * side], row[2 + 2 * side]);
            let is_in_messages = texts.iter().any(|text| text == evidence);
            // the one capture without such a text on one side
            let by_name = file.starts_with("dos-win98") && product == "Windows 98";
            assert!(
                product == "-" || by_name || is_in_messages,
                "{row:?}: {texts:?}"
            );
        }
    }
}
