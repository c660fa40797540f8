//! Searches of the core protocol, compared byte for byte where the layout matters.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use crate::{
    config::{Config, Limits},
    share::ShareOptions,
    testkit::{TestClient, TestServer},
    vfs::{FsTime, Vfs},
};
use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use coax_wire::{command as c, header::Flags2, status::Status, time::Span};

const CORE: &str = "PC NETWORK PROGRAM 1.0";

/// One entry of a reply.
#[derive(Clone, Debug)]
struct Listed {
    key: Vec<u8>,
    attributes: u8,
    time: u16,
    size: u32,
    name: String,
}

fn listed(bytes: &[u8]) -> Vec<Listed> {
    assert_eq!(bytes[0], 5);
    let entries = bytes[3..].chunks_exact(43);
    let entries = entries.map(|entry| Listed {
        key: entry[..21].to_vec(),
        attributes: entry[21],
        time: u16::from_le_bytes([entry[22], entry[23]]),
        size: u32::from_le_bytes(entry[26..30].try_into().unwrap()),
        name: entry[30..]
            .iter()
            .take_while(|b| **b != 0)
            .map(|b| *b as char)
            .collect(),
    });
    entries.collect()
}

fn ask(
    client: &mut TestClient,
    command: u8,
    words: [u16; 2],
    path: &str,
    key: &[u8],
) -> Result<Vec<Listed>, u32> {
    let mut bytes = vec![4];
    bytes.extend(client.string(path, 32 + 1 + 4 + 2 + 1));
    bytes.extend([5, key.len() as u8, 0]);
    bytes.extend(key);
    let answer = client.request(command, &words, &bytes);
    if answer.status() != 0 {
        return Err(answer.status());
    }
    let found = listed(&answer.bytes());
    assert_eq!(usize::from(answer.word(0)), found.len());
    Ok(found)
}

/// Names of a whole search, `at_once` entries per request.
fn all(client: &mut TestClient, path: &str, attributes: u16, at_once: u16) -> Vec<String> {
    let Ok(mut found) = ask(client, c::SEARCH, [at_once, attributes], path, b"") else {
        return vec![];
    };
    let mut names = vec![];
    while let Some(last) = found.last() {
        assert!(found.len() <= usize::from(at_once));
        let key = last.key.clone();
        names.extend(found.into_iter().map(|entry| entry.name));
        found = match ask(client, c::SEARCH, [at_once, attributes], "", &key) {
            Ok(found) => found,
            Err(end) => {
                assert_eq!(end, Status::NO_MORE_FILES.to_wire(false));
                break;
            }
        };
    }
    names
}

fn crowded(count: usize) -> TestServer {
    let server = TestServer::new();
    for i in 0..count {
        server
            .fs
            .add_file(&format!("FILE{i:04}.TXT"), b"x")
            .unwrap();
    }
    server
}

#[test]
fn a_dos_directory_listing_has_the_format_that_dos_expects() {
    let server = TestServer::new();
    server.fs.add_dir("SUB").unwrap();
    server.fs.add_dir("SUB/TEST").unwrap();
    server.fs.add_file("SUB/readme.txt", b"hello").unwrap();
    let mut client = server.client(CORE);
    let found = ask(
        &mut client,
        c::SEARCH,
        [20, 0x16],
        "\\SUB\\????????.???",
        b"",
    )
    .unwrap();
    let names: BTreeSet<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from([".", "..", "README.TXT", "TEST"]));
    for entry in &found {
        assert_eq!(entry.attributes, if entry.size == 5 { 0x20 } else { 0x10 });
        assert_eq!(&entry.key[1..12], b"???????????");
        assert_ne!(entry.key[12], 0);
    }
    let end = ask(&mut client, c::SEARCH, [20, 0x16], "", &found[3].key);
    assert_eq!(end.unwrap_err(), Status::NO_MORE_FILES.to_wire(false));
}

#[test]
fn a_pattern_search_ends_in_an_error_which_an_nt_client_gets_after_an_end_without_entries() {
    let server = crowded(3);
    for (dialect, command, ends_without_error) in [
        (CORE, c::SEARCH, 0),
        ("MICROSOFT NETWORKS 1.03", c::SEARCH, 0),
        ("LANMAN1.0", c::SEARCH, 0),
        ("LM1.2X002", c::SEARCH, 0),
        ("LANMAN2.1", c::SEARCH, 0),
        ("NT LM 0.12", c::SEARCH, 1),
        ("NT LM 0.12", c::FIND, 0),
    ] {
        let mut client = server.client(dialect);
        let found = ask(&mut client, command, [9, 0], "\\*.*", b"").unwrap();
        for number in 0..3 {
            let end = ask(&mut client, command, [9, 0], "", &found[2].key);
            let expected = (number < ends_without_error).then_some(0);
            assert_eq!(end.map(|found| found.len()).ok(), expected, "{dialect}");
        }
        let again = ask(&mut client, command, [9, 0], "", &found[1].key).unwrap();
        assert_eq!(
            again.len(),
            1,
            "{dialect}: the search was not closed at its end"
        );
    }
}

#[test]
fn the_search_of_one_name_ends_in_an_error_in_every_dialect() {
    let server = crowded(3);
    for dialect in [CORE, "LANMAN1.0", "LANMAN2.1", "NT LM 0.12"] {
        let mut client = server.client(dialect);
        let path = "\\FILE0001.TXT";
        let found = ask(&mut client, c::SEARCH, [9, 0], path, b"").unwrap();
        assert_eq!(found.len(), 1);
        let end = ask(&mut client, c::SEARCH, [9, 0], "", &found[0].key);
        assert!(end.is_err(), "{dialect}");
    }
}

#[test]
fn the_clients_part_of_a_resume_key_is_returned_unchanged() {
    let server = crowded(3);
    let mut client = server.client(CORE);
    let found = ask(&mut client, c::SEARCH, [1, 0], "\\*.TXT", b"").unwrap();
    let mut key = found[0].key.clone();
    key[0] |= 0x80;
    key[17..].copy_from_slice(&[0x83, 0, 0, 1]);
    let next = ask(&mut client, c::SEARCH, [1, 0], "", &key).unwrap();
    assert_eq!(
        (next[0].key[0], &next[0].key[17..]),
        (0x80, &[0x83, 0, 0, 1][..])
    );
}

#[test]
fn a_listing_of_600_files_is_complete_for_every_batch_size() {
    let server = crowded(600);
    for dialect in [CORE, "LANMAN1.0", "LANMAN2.1", "NT LM 0.12"] {
        let mut client = server.client(dialect);
        for at_once in [1, 7, 20, 1_000] {
            let names = all(&mut client, "\\*.*", 0, at_once);
            assert_eq!(names.len(), 600, "{dialect} by {at_once}");
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 600);
        }
    }
}

#[test]
fn deleting_during_a_listing_skips_no_file() {
    let server = crowded(600);
    let mut client = server.client(CORE);
    let mut met = BTreeSet::new();
    let mut found = ask(&mut client, c::SEARCH, [5, 0], "\\????????.???", b"").unwrap();
    while let Some(last) = found.last().map(|entry| entry.key.clone()) {
        for entry in found {
            server.fs.remove_file(&entry.name).unwrap();
            assert!(met.insert(entry.name));
        }
        found = ask(&mut client, c::SEARCH, [5, 0], "", &last).unwrap_or_default();
    }
    assert_eq!(met.len(), 600);
}

#[test]
fn a_search_restarted_after_each_deletion_skips_no_file() {
    let server = crowded(600);
    let mut client = server.client(CORE);
    let mut deleted = 0;
    while let Ok(found) = ask(&mut client, c::SEARCH, [1, 0], "\\FILE*.TXT", b"") {
        server.fs.remove_file(&found[0].name).unwrap();
        deleted += 1;
    }
    assert_eq!(deleted, 600);
}

#[test]
fn a_key_may_be_used_again() {
    let server = crowded(10);
    let mut client = server.client(CORE);
    let first = ask(&mut client, c::SEARCH, [2, 0], "\\*.*", b"").unwrap();
    let key = &first[0].key;
    let second = ask(&mut client, c::SEARCH, [1, 0], "", key).unwrap();
    assert_eq!(second[0].name, first[1].name);
    let again = ask(&mut client, c::SEARCH, [9, 0], "", key).unwrap();
    assert_eq!((again.len(), &again[0].name), (9, &first[1].name));
}

#[test]
fn search_attributes_include_and_exclude_files() {
    let server = TestServer::new();
    server.fs.add_dir("DIR").unwrap();
    server.fs.add_file("FILE", b"").unwrap();
    server.fs.add_file(".hidden", b"").unwrap();
    let mut client = server.client(CORE);
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(all(&mut client, "\\*.*", 0, 9), ["FILE"]);
    assert_eq!(
        sorted(all(&mut client, "\\*.*", 0x10, 9)),
        [".", "..", "DIR", "FILE"]
    );
    assert_eq!(
        sorted(all(&mut client, "\\*.*", 0x1010, 9)),
        [".", "..", "DIR"]
    );
    assert_eq!(all(&mut client, "\\*.*", 0x2010, 9), ["FILE"]);
    assert_eq!(all(&mut client, "\\*.*", 0x02, 9).len(), 2);
}

#[test]
fn the_volume_label_has_a_dot_after_eight_characters() {
    let server = TestServer::new();
    let mut client = server.client(CORE);
    let found = ask(&mut client, c::SEARCH, [20, 8], "\\????????.???", b"").unwrap();
    assert_eq!(
        (found.len(), found[0].attributes, found[0].name.as_str()),
        (1, 8, "DISK")
    );
    let next = ask(&mut client, c::SEARCH, [20, 8], "", &found[0].key);
    assert_eq!(next.unwrap_err(), Status::NO_MORE_FILES.to_wire(false));
}

#[test]
fn a_search_without_results_reports_so_and_resumes_without_results() {
    let server = crowded(3);
    let mut client = server.client(CORE);
    let none = Status::NO_MORE_FILES.to_wire(false);
    for path in ["\\*.DOC", "\\NOSUCH.TXT", ""] {
        assert_eq!(
            ask(&mut client, c::SEARCH, [5, 0x16], path, b"").unwrap_err(),
            none
        );
    }
    let unknown = [b' '; 21];
    assert_eq!(
        ask(&mut client, c::SEARCH, [5, 0], "", &unknown).unwrap_err(),
        none
    );
    let missing = ask(&mut client, c::SEARCH, [5, 0], "\\NOSUCH\\*.*", b"");
    assert_eq!(
        missing.unwrap_err(),
        Status::OBJECT_PATH_NOT_FOUND.to_wire(false)
    );
    assert!(client.conn.context.searches.is_empty());
}

#[test]
fn patterns_match_8_3_names_as_control_blocks_do() {
    let server = TestServer::new();
    for name in [
        "A",
        "AB",
        "AB.C",
        "ABC.TXT",
        "A very long name.text",
        "long.html",
    ] {
        server.fs.add_file(name, b"").unwrap();
    }
    let mut client = server.client(CORE);
    let mut found = |pattern: &str| {
        let mut names = all(&mut client, pattern, 0, 9);
        names.sort();
        names
    };
    assert_eq!(found("\\A?.???"), ["A", "AB", "AB.C"]);
    assert_eq!(found("\\*."), ["A", "AB"]);
    assert_eq!(found("\\A*.TEX"), ["AVERYL~1.TEX"]);
    assert_eq!(found("\\*.HTM"), ["LONG~1.HTM"]);
    assert_eq!(found("\\AVERYL~1.TEX"), ["AVERYL~1.TEX"]);
    assert_eq!(found("\\AB."), ["AB"]);
}

#[test]
fn names_illegal_on_windows_and_long_names_are_listed_by_their_8_3_names() {
    let server = TestServer::new();
    for name in ["c:\\*.*", "what?", "MixedCase.Txt", "longer than eight"] {
        server.fs.add_file(name, b"").unwrap();
    }
    let mut client = server.client(CORE);
    let names = all(&mut client, "\\*.*", 0, 9);
    assert_eq!(names.len(), 4);
    assert!(
        names
            .iter()
            .all(|name| !name.contains(['*', '?', ':', '\\', ' ']))
    );
    assert!(
        names.contains(&"MIXEDCAS.TXT".to_string()) || names.contains(&"MIXEDC~1.TXT".to_string())
    );
}

#[test]
fn a_client_that_knows_long_names_sees_the_case_of_8_3_names() {
    let server = TestServer::new();
    server.fs.add_file("t000-0.txt", b"").unwrap();
    let mut client = server.client("NT LM 0.12");
    assert!(client.header.flags2.has(Flags2::LONG_NAMES));
    assert_eq!(all(&mut client, "\\*.*", 0, 9), ["t000-0.txt"]);
    client.header.flags2.0 &= !Flags2::LONG_NAMES;
    assert_eq!(all(&mut client, "\\*.*", 0, 9), ["T000-0.TXT"]);
}

#[test]
fn a_client_of_a_later_dialect_may_ask_for_a_long_name() {
    let server = TestServer::new();
    server.fs.add_file("torture_search.txt", b"abc").unwrap();
    let mut client = server.client("NT LM 0.12");
    for command in [c::SEARCH, c::FIND, c::FIND_UNIQUE] {
        let found = ask(&mut client, command, [1, 0], "\\torture_search.txt", b"").unwrap();
        assert_eq!((found[0].name.as_str(), found[0].size), ("TORTUR~1.TXT", 3));
        assert!(ask(&mut client, command, [1, 0], "\\torture_search-2.txt", b"").is_err());
    }
}

#[test]
fn names_are_not_in_unicode_even_for_unicode_clients() {
    let server = crowded(1);
    let mut client = server.client("NT LM 0.12");
    let mut bytes = vec![4];
    bytes.extend(client.string("\\*", 40));
    bytes.extend([5, 0, 0]);
    let answer = client.request(c::SEARCH, &[1, 0], &bytes).ok();
    assert!(!answer.header.flags2.has(Flags2::UNICODE));
    assert_eq!(listed(&answer.bytes())[0].name, "FILE0000.TXT");
}

#[test]
fn find_close_ends_a_find_and_find_unique_ends_itself() {
    let server = crowded(3);
    let mut client = server.client("LANMAN1.0");
    ask(&mut client, c::FIND_UNIQUE, [1, 0], "\\*.*", b"").unwrap();
    assert!(client.conn.context.searches.is_empty());
    let found = ask(&mut client, c::FIND, [1, 0], "\\*.*", b"").unwrap();
    assert_eq!(client.conn.context.searches.len(), 1);
    assert!(
        ask(&mut client, c::FIND_CLOSE, [0, 0], "", &found[0].key)
            .unwrap()
            .is_empty()
    );
    assert!(client.conn.context.searches.is_empty());
    assert!(ask(&mut client, c::FIND, [1, 0], "", &found[0].key).is_err());
}

#[test]
fn searches_never_closed_are_dropped_and_an_old_walk_outlives_many_short_ones() {
    let server = TestServer::with(
        Config {
            limits: Limits {
                searches: 50,
                ..Limits::default()
            },
            ..Config::default()
        },
        ShareOptions::default(),
    );
    for i in 0..10 {
        server.fs.add_file(&format!("F{i}"), b"").unwrap();
    }
    let mut client = server.client(CORE);
    let walk = ask(&mut client, c::SEARCH, [4, 0], "\\*.*", b"").unwrap();
    for i in 0..5_000 {
        ask(
            &mut client,
            c::SEARCH,
            [1, 0],
            &format!("\\F{}", i % 10),
            b"",
        )
        .unwrap();
    }
    assert_eq!(client.conn.context.searches.len(), 50);
    let rest = ask(&mut client, c::SEARCH, [10, 0], "", &walk[3].key).unwrap();
    assert_eq!(rest.len(), 6);
    client.request(c::PROCESS_EXIT, &[], b"").ok();
    assert!(client.conn.context.searches.is_empty());
}

#[test]
fn entries_fill_the_clients_buffer_and_no_more() {
    let server = crowded(100);
    let mut client = server.client("LANMAN1.0");
    client.conn.context.client.max_buffer = 1_024;
    let found = ask(&mut client, c::SEARCH, [500, 0], "\\*.*", b"").unwrap();
    assert_eq!(found.len(), (1_024 - 40) / 43);
}

#[test]
fn malformed_requests_are_refused() {
    let server = crowded(1);
    let mut client = server.client(CORE);
    for bytes in [
        &b""[..],
        b"\x03\\*.*\0",
        b"\x04\\*.*\0\x04\0\0",
        b"\x04\0\x05\x15\0short",
        b"\x04\0\x05\xff\xff",
        b"\x04\0\x05\x05\0abcde",
    ] {
        client
            .request(c::SEARCH, &[1, 0], bytes)
            .refused(Status::INVALID_SMB);
    }
    client
        .request(c::SEARCH, &[1], b"\x04\\*.*\0\x05\0\0")
        .refused(Status::INVALID_SMB);
    client
        .request(c::FIND_CLOSE, &[0, 0], b"\x04\0\x05\0\0")
        .refused(Status::INVALID_SMB);
}

#[test]
fn listings_and_queries_by_path_show_the_same_time_during_writes() {
    let server = TestServer::new();
    server.fs.add_file("F", b"x").unwrap();
    let (mut writer, mut client) = (server.client("LANMAN1.0"), server.client(CORE));
    let mut shown = || ask(&mut client, c::SEARCH, [1, 0], "\\F", b"").unwrap()[0].time;
    let fid = writer.open("F");
    let before = shown();
    writer.pass(Span::from_secs(60));
    server.fs.set_time(FsTime(writer.now.unix_ns()));
    writer
        .request(c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0y")
        .ok();
    assert_eq!(shown(), before, "delayed while the file is being written");
    writer.close(fid).ok();
    assert_eq!(shown(), before + (1 << 5), "a minute later");
}

#[test]
fn find_unique_leaves_the_searches_of_the_connection_alone() {
    let server = crowded(40);
    let mut client = server.client("LANMAN1.0");
    let first = ask(&mut client, c::SEARCH, [10, 0x16], "\\*.*", b"").unwrap();
    let unique = ask(
        &mut client,
        c::FIND_UNIQUE,
        [1, 0x16],
        "\\FILE0005.TXT",
        b"",
    )
    .unwrap();
    assert_eq!(unique.len(), 1);
    let key = &first.last().unwrap().key;
    let next = ask(&mut client, c::SEARCH, [10, 0x16], "", key).unwrap();
    assert_eq!(next.len(), 10);
    let end = ask(&mut client, c::SEARCH, [10, 0x16], "", &unique[0].key);
    assert_eq!(end.unwrap_err(), Status::NO_MORE_FILES.to_wire(false));
}
