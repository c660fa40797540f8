//! TRANS2 searches.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use crate::{
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer},
    vfs::Vfs,
};
use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};
use coax_wire::{
    block::WireStr,
    codepage::utf16,
    command as c,
    header::{Flags2, HEADER_LEN},
    io::Writer,
    smb::{
        find_first2::flags,
        transaction::{Kind, Request, Response},
    },
    status::Status,
};

/// SMB_FIND_FILE_BOTH_DIRECTORY_INFO.
const BOTH: u16 = 0x104;

#[derive(Clone, Debug)]
struct Listed {
    key: u32,
    name: String,
    short: String,
    size: u64,
    attributes: u32,
}

#[derive(Debug)]
struct Reply {
    sid: u16,
    end: bool,
    found: Vec<Listed>,
}

impl Reply {
    fn names(&self) -> Vec<&str> {
        self.found.iter().map(|entry| entry.name.as_str()).collect()
    }
}

fn trans2(client: &mut TestClient, function: u8, parameters: &[u8], max_data: u32) -> Answer {
    let request = Request {
        kind: Kind::Transaction2,
        total_parameters: parameters.len() as u32,
        total_data: 0,
        max_parameters: 10,
        max_data,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 0,
        setup: &[function, 0],
        name: WireStr {
            raw: b"",
            unicode: false,
        },
        parameters,
        data: &[],
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    client.send_block(c::TRANSACTION2, &out.as_slice()[HEADER_LEN..])
}

fn words(client: &TestClient, words: &[u16], name: &str) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    words.chain(client.string(name, 0)).collect()
}

/// Joins the messages of an answer.
fn whole(client: &mut TestClient, first: Answer) -> (Vec<u8>, Vec<u8>) {
    let (mut parameters, mut data, mut next) = (vec![], vec![], Some(first.ok()));
    while let Some(answer) = next {
        let block = answer.block();
        let piece = Response::parse(Kind::Transaction2, &block)
            .unwrap()
            .unwrap();
        parameters.extend(piece.parameters);
        data.extend(piece.data);
        next = client.answer();
    }
    (parameters, data)
}

fn both(data: &[u8], count: usize) -> Vec<Listed> {
    let (mut found, mut at) = (vec![], 0);
    for i in 0..count {
        let entry = &data[at..];
        let number = |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().unwrap());
        let name = &entry[94..94 + number(60) as usize];
        found.push(Listed {
            key: number(4),
            name: utf16::decode(name),
            short: utf16::decode(&entry[70..70 + usize::from(entry[68])]),
            size: u64::from(number(40)),
            attributes: number(56),
        });
        assert_eq!(
            number(0) == 0,
            i + 1 == count,
            "only the last entry may end the chain"
        );
        at += number(0) as usize;
    }
    found
}

fn first(
    client: &mut TestClient,
    pattern: &str,
    attributes: u16,
    count: u16,
    asked: u16,
) -> Result<Reply, Answer> {
    let parameters = words(client, &[attributes, count, asked, BOTH, 0, 0], pattern);
    let answer = trans2(client, 1, &parameters, 60_000);
    if answer.status() != 0 {
        return Err(answer);
    }
    let (parameters, data) = whole(client, answer);
    let word = |i: usize| u16::from_le_bytes([parameters[2 * i], parameters[2 * i + 1]]);
    Ok(Reply {
        sid: word(0),
        end: word(2) != 0,
        found: both(&data, word(1).into()),
    })
}

fn next(client: &mut TestClient, sid: u16, count: u16, key: u32, asked: u16, name: &str) -> Reply {
    let key = [key as u16, (key >> 16) as u16];
    let parameters = words(client, &[sid, count, BOTH, key[0], key[1], asked], name);
    let answer = trans2(client, 2, &parameters, 60_000);
    let (parameters, data) = whole(client, answer);
    let word = |i: usize| u16::from_le_bytes([parameters[2 * i], parameters[2 * i + 1]]);
    assert_eq!(parameters.len(), 8);
    Reply {
        sid,
        end: word(1) != 0,
        found: both(&data, word(0).into()),
    }
}

fn crowded(count: usize) -> TestServer {
    let server = TestServer::new();
    for i in 0..count {
        let name = format!("t{i:03}-{i}.txt");
        server.fs.add_file(&name, b"x").unwrap();
    }
    server
}

#[test]
fn a_search_for_one_file_returns_all_its_fields() {
    let server = TestServer::new();
    server
        .fs
        .add_file("A very long name.text", b"hello")
        .unwrap();
    let mut client = server.client("NT LM 0.12");
    for pattern in [
        "\\A very long name.text",
        "\\a VERY long name.TEXT",
        "\\AVERYL~1.TEX",
        "\\*.text",
        "\\*~1.*",
    ] {
        let reply = first(&mut client, pattern, 0, 1, flags::CLOSE_AFTER_REQUEST).unwrap();
        assert!(reply.end, "{pattern}");
        let entry = &reply.found[0];
        assert_eq!(
            (entry.name.as_str(), entry.short.as_str()),
            ("A very long name.text", "AVERYL~1.TEX")
        );
        assert_eq!((entry.size, entry.attributes), (5, 0x20));
    }
    assert!(client.conn.context.searches.is_empty());
}

#[test]
fn a_search_without_results_gets_the_status_of_its_dialect() {
    let server = crowded(1);
    let mut nt = server.client("NT LM 0.12");
    let refused = first(&mut nt, "\\nosuch*", 0, 1, 0).unwrap_err();
    refused.refused(Status::NO_SUCH_FILE);
    let mut old = server.client("LANMAN2.1");
    let refused = first(&mut old, "\\nosuch*", 0, 1, 0).unwrap_err();
    refused.refused(Status::NO_MORE_FILES);
    let missing = first(&mut nt, "\\nosuch\\*", 0, 1, 0).unwrap_err();
    missing.refused(Status::OBJECT_PATH_NOT_FOUND);
    assert!(nt.conn.context.searches.is_empty());
}

#[test]
fn a_listing_resumes_by_flag_by_name_and_by_key() {
    let server = crowded(700);
    for by in ["flag", "name", "key"] {
        let mut client = server.client("NT LM 0.12");
        let mut reply = first(&mut client, "\\*.*", 0, 100, flags::CLOSE_AT_EOS).unwrap();
        let mut names = BTreeSet::new();
        loop {
            assert!(reply.found.len() <= 100);
            for entry in &reply.found {
                assert!(names.insert(entry.name.clone()), "{} twice", entry.name);
            }
            if reply.end {
                break;
            }
            let last = reply.found.last().unwrap().clone();
            let (asked, key, name) = match by {
                "flag" => (flags::CONTINUE_FROM_LAST, 0, ""),
                "name" => (0, 0, last.name.as_str()),
                _ => (0, last.key, ""),
            };
            let asked = asked | flags::CLOSE_AT_EOS;
            reply = next(&mut client, reply.sid, 100, key, asked, name);
        }
        assert_eq!(names.len(), 700, "{by}");
        assert!(client.conn.context.searches.is_empty());
    }
}

#[test]
fn os2_deletes_four_of_each_hundred_and_resumes_after_the_last_deleted() {
    let server = crowded(700);
    let mut client = server.client("NT LM 0.12");
    let mut reply = first(&mut client, "\\*", 0, 100, flags::RETURN_RESUME_KEYS).unwrap();
    let mut deleted = 0;
    while !reply.found.is_empty() {
        let some = &reply.found[..reply.found.len().min(4)];
        for entry in some {
            server.fs.remove_file(&entry.name).unwrap();
            deleted += 1;
        }
        let last = some.last().unwrap().clone();
        let asked = flags::RETURN_RESUME_KEYS;
        reply = next(&mut client, reply.sid, 100, last.key, asked, &last.name);
    }
    assert_eq!((deleted, reply.end), (700, true));
}

#[test]
fn resuming_after_the_dot_entry_restarts_the_listing_and_shows_changes() {
    let server = crowded(20);
    let mut client = server.client("NT LM 0.12");
    let reply = first(&mut client, "\\*.*", 0, 0, 0).unwrap();
    assert_eq!(reply.found.len(), 1, "a count of 0 must find one entry");
    server.fs.remove_file("t014-14.txt").unwrap();
    server.fs.add_file("new.txt", b"").unwrap();
    server.fs.add_file(".hidden", b"").unwrap();
    let again = next(&mut client, reply.sid, 99, 0, 0, ".");
    assert_eq!((again.found.len(), again.end), (20, true));
    assert!(again.names().contains(&"new.txt") && !again.names().contains(&"t014-14.txt"));
}

#[test]
fn an_index_rebuilt_between_two_requests_loses_no_name() {
    let server = crowded(300);
    let mut client = server.client("NT LM 0.12");
    let reply = first(&mut client, "\\*", 0, 100, 0).unwrap();
    server.server.locked(|tables| {
        let share = crate::table::ShareId(1);
        assert!(tables.names.take(share, "").is_some());
    });
    let asked = flags::CONTINUE_FROM_LAST;
    let rest = next(&mut client, reply.sid, 999, 0, asked, "");
    let names: BTreeSet<&str> = reply.names().into_iter().chain(rest.names()).collect();
    assert_eq!((names.len(), rest.found.len(), rest.end), (300, 200, true));
}

#[test]
fn dots_come_first_in_the_root_and_below() {
    let server = TestServer::new();
    server.fs.add_dir("DIR").unwrap();
    let mut client = server.client("NT LM 0.12");
    for (pattern, names) in [
        ("\\*", vec![".", "..", "DIR"]),
        ("\\DIR\\*", vec![".", ".."]),
    ] {
        let reply = first(&mut client, pattern, 0x16, 99, flags::CLOSE_AT_EOS).unwrap();
        assert_eq!((reply.names(), reply.end), (names, true));
        assert!(
            reply
                .found
                .iter()
                .all(|e| e.attributes == 0x10 && e.key > 0)
        );
    }
    let refused = first(&mut client, "\\DIR\\*", 0, 99, 0).unwrap_err();
    refused.refused(Status::NO_SUCH_FILE);
}

#[test]
fn names_that_windows_takes_for_patterns_are_listed_by_their_8_3_names() {
    let server = TestServer::new();
    server.fs.add_file("c:\\*.*", b"").unwrap();
    let mut client = server.client("NT LM 0.12");
    let reply = first(&mut client, "\\*", 0, 9, 0).unwrap();
    assert!(!reply.found[0].name.contains(['*', ':', '\\']));
    let by_short = format!("\\{}", reply.found[0].name);
    assert_eq!(
        first(&mut client, &by_short, 0, 9, 0).unwrap().found.len(),
        1
    );
}

/// OEM names of an SMB_INFO_STANDARD listing.
fn standard(client: &mut TestClient, pattern: &str, asked: u16) -> Vec<String> {
    let parameters = words(client, &[0x16, 99, asked, 1, 0, 0], pattern);
    let answer = trans2(client, 1, &parameters, 60_000);
    let (_, data) = whole(client, answer);
    let keyed = if asked & flags::RETURN_RESUME_KEYS != 0 {
        4
    } else {
        0
    };
    let (mut names, mut rest) = (vec![], data.as_slice());
    while !rest.is_empty() {
        let entry = &rest[keyed..];
        let len = usize::from(entry[22]);
        names.push(String::from_utf8(entry[23..23 + len].to_vec()).unwrap());
        assert_eq!(entry[23 + len], 0);
        rest = &entry[24 + len..];
    }
    names.sort();
    names
}

#[test]
fn a_client_that_does_not_know_long_names_is_shown_8_3_names() {
    let server = TestServer::new();
    for name in ["Long file name.text", "short.txt"] {
        server.fs.add_file(name, b"").unwrap();
    }
    let mut client = server.client("DOS LANMAN2.1");
    assert_eq!(
        standard(&mut client, "\\????????.???", 4),
        [".", "..", "LONGFI~1.TEX", "SHORT.TXT"]
    );
    client.header.flags2.0 |= Flags2::LONG_NAMES;
    assert_eq!(
        standard(&mut client, "\\*", 0),
        [".", "..", "Long file name.text", "short.txt"]
    );
}

#[test]
fn listings_omit_vetoed_names_and_8_3_names_can_be_disabled() {
    let options = ShareOptions {
        veto_files: vec!["*.secret".to_string()],
        mangled_names: false,
        ..ShareOptions::default()
    };
    let server = TestServer::with(crate::config::Config::default(), options);
    for name in ["a.secret", "long file name", "ok.txt"] {
        server.fs.add_file(name, b"").unwrap();
    }
    let mut nt = server.client("NT LM 0.12");
    let mut reply = first(&mut nt, "\\*", 0, 9, 0).unwrap();
    reply.found.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(reply.names(), ["long file name", "ok.txt"]);
    assert!(reply.found.iter().all(|entry| entry.short.is_empty()));
    assert!(first(&mut nt, "\\a.secret", 0, 9, 0).is_err());
    let mut dos = server.client("DOS LANMAN2.1");
    assert_eq!(standard(&mut dos, "\\*.*", 0), [".", "..", "OK.TXT"]);
}

#[test]
fn find_close2_ends_a_search_once() {
    let server = crowded(3);
    let mut client = server.client("NT LM 0.12");
    let reply = first(&mut client, "\\*", 0, 1, 0).unwrap();
    client.request(c::FIND_CLOSE2, &[reply.sid], b"").ok();
    client
        .request(c::FIND_CLOSE2, &[reply.sid], b"")
        .refused(Status::INVALID_HANDLE);
    client.request(c::FIND_NOTIFY_CLOSE, &[1], b"").ok();
    let parameters = words(&client, &[reply.sid, 1, BOTH, 0, 0, 8], "");
    trans2(&mut client, 2, &parameters, 60_000).refused(Status::INVALID_HANDLE);
}

#[test]
fn short_parameters_unknown_levels_and_too_small_buffers_are_refused() {
    let server = crowded(3);
    let mut client = server.client("NT LM 0.12");
    for len in 0..12 {
        trans2(&mut client, 1, &vec![1; len], 1_000).refused(Status::INVALID_SMB);
        trans2(&mut client, 2, &vec![1; len], 1_000).refused(Status::INVALID_SMB);
    }
    let parameters = words(&client, &[0, 9, 0, 0x4242, 0, 0], "\\*");
    trans2(&mut client, 1, &parameters, 1_000).refused(Status::INVALID_LEVEL);
    let parameters = words(&client, &[0, 9, 0, BOTH, 0, 0], "\\*");
    trans2(&mut client, 1, &parameters, 50).refused(Status::BUFFER_TOO_SMALL);
    assert!(client.conn.context.searches.is_empty());
}

#[test]
fn a_listing_fits_the_data_the_client_takes() {
    let server = crowded(700);
    let mut client = server.client("NT LM 0.12");
    let parameters = words(&client, &[0, 999, 0, BOTH, 0, 0], "\\*");
    let answer = trans2(&mut client, 1, &parameters, 1_000);
    let (parameters, data) = whole(&mut client, answer);
    let count = usize::from(parameters[2]);
    assert!(data.len() <= 1_000 && parameters[4] == 0);
    assert_eq!(both(&data, count).len(), (1_000 + 8) / 120);
}

fn with_attributes() -> TestServer {
    let server = TestServer::new();
    for name in ["file1", "file2"] {
        server.fs.add_file(name, b"").unwrap();
    }
    let how = crate::vfs::OpenHow {
        read: true,
        write: true,
        ..crate::vfs::OpenHow::default()
    };
    let (file, _) = server.fs.open("file2", how).unwrap();
    file.set_attribute("user.DOSATTRIB", b"0x20").unwrap();
    file.set_attribute("user.SECOND EA", b"Value Two").unwrap();
    server
}

#[test]
fn listings_contain_the_size_of_extended_attributes() {
    let server = with_attributes();
    let mut client = server.client("NT LM 0.12");
    for name in ["file1", "file2"] {
        let parameters = words(&client, &[0, 9, 0, BOTH, 0, 0], name);
        let answer = trans2(&mut client, 1, &parameters, 1_000);
        let (_, data) = whole(&mut client, answer);
        // The list's length, then four bytes, name, zero and value of each attribute.
        let want = if name == "file1" {
            0
        } else {
            4 + 4 + 9 + 1 + 9
        };
        assert_eq!(data[64..68], u32::to_le_bytes(want), "{name}");
    }
}

#[test]
fn each_file_is_listed_with_the_requested_attributes_even_if_it_lacks_them() {
    let server = with_attributes();
    let mut client = server.client("LANMAN2.1");
    let names = b"\x0f\0\0\0\x09SECOND EA\0";
    let parameters = words(&client, &[0, 9, 0, 3, 0, 0], "\\file*");
    let mut request = Writer::default();
    Request {
        kind: Kind::Transaction2,
        total_parameters: parameters.len() as u32,
        total_data: names.len() as u32,
        max_parameters: 10,
        max_data: 1_000,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 0,
        setup: &[1, 0],
        name: WireStr {
            raw: b"",
            unicode: false,
        },
        parameters: &parameters,
        data: names,
    }
    .emit(request.zeros(HEADER_LEN));
    let answer = client.send_block(c::TRANSACTION2, &request.as_slice()[HEADER_LEN..]);
    let (parameters, data) = whole(&mut client, answer);
    assert_eq!(parameters[2], 2);
    let without = b"\x12\0\0\0\0\x09\0\0SECOND EA\0\x05FILE1\0";
    let with = b"\x1b\0\0\0\0\x09\x09\0SECOND EA\0Value Two\x05FILE2\0";
    assert_eq!(&data[22..22 + without.len()], without);
    assert_eq!(&data[22 + without.len() + 22..], with);
}

#[test]
fn os_2_gets_the_volume_label_as_the_only_entry() {
    const STANDARD: u16 = 1;
    let server = crowded(2);
    let mut client = server.client("LANMAN2.1");
    let parameters = words(&client, &[8, 20, 0, STANDARD, 0, 0], "\\*.*");
    let answer = trans2(&mut client, 1, &parameters, 1_000);
    let (parameters, data) = whole(&mut client, answer);
    assert_eq!(parameters[2..6], [1, 0, 1, 0], "expected exactly one entry");
    assert_eq!((data[20], &data[22..]), (8, &b"\x04DISK\0"[..]));
    let sid = u16::from_le_bytes([parameters[0], parameters[1]]);
    let parameters = words(&client, &[sid, 20, STANDARD, 0, 0, 8], "");
    let answer = trans2(&mut client, 2, &parameters, 1_000);
    let (parameters, data) = whole(&mut client, answer);
    assert_eq!((&parameters[..4], data.len()), (&[0, 0, 1, 0][..], 0));
}

#[test]
fn an_empty_label_is_not_found_and_nt_clients_get_files() {
    let mut server = crowded(2);
    server.edit(|server| {
        for share in &mut server.shares {
            Arc::get_mut(share).unwrap().volume.clear();
        }
    });
    let mut client = server.client("LANMAN2.1");
    let none = first(&mut client, "\\*.*", 8, 20, 0).unwrap_err();
    none.refused(Status::NO_MORE_FILES);
    let mut client = server.client("NT LM 0.12");
    assert_eq!(first(&mut client, "\\*", 8, 20, 0).unwrap().found.len(), 2);
}
