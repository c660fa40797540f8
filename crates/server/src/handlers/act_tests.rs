//! Operations that are recorded for an audit log.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::{
    act::{Act, Deed, Moved},
    config::Config,
    share::ShareOptions,
    testkit::{TestClient, TestServer},
};
use coax_wire::{command as c, status::Status};
use std::{format, string::String, vec::Vec};

const CORE: &str = "PC NETWORK PROGRAM 1.0";
const NT: &str = "NT LM 0.12";

fn audited() -> TestServer {
    let config = Config {
        audit: true,
        ..Config::default()
    };
    TestServer::with(config, ShareOptions::default())
}

/// Each act in a short form.
fn acts(client: &mut TestClient) -> Vec<String> {
    let short = |act: &Act| {
        assert_eq!((&*act.share, &act.user), ("DISK", &None), "{act:?}");
        let what = match &act.deed {
            Deed::Open {
                created, truncated, ..
            } => format!("open created={created} truncated={truncated}"),
            Deed::Close { moved, .. } => format!("close {}+{}", moved.read, moved.written),
            Deed::Rename { to, replaced } => format!("rename to {to} replaced={replaced}"),
            Deed::Link { to } => format!("link {to}"),
            Deed::Copy { to, .. } => format!("copy to {to}"),
            Deed::Delete => "delete".into(),
            Deed::MakeDirectory => "mkdir".into(),
            Deed::RemoveDirectory => "rmdir".into(),
        };
        format!("{} {what}", act.path)
    };
    client.conn.take_acts().iter().map(short).collect()
}

#[test]
fn an_open_and_its_close_have_one_number_and_the_bytes_moved_between() {
    let server = audited();
    let mut client = server.client(CORE);
    let fid = client.paths(c::CREATE, &[0x20, 0, 0], &["\\A.TXT"]).ok();
    let fid = fid.word(0);
    let data = b"\x01\x05\0hello";
    client.request(c::WRITE, &[fid, 5, 0, 0, 0], data).ok();
    client.request(c::WRITE, &[fid, 5, 5, 0, 0], data).ok();
    client.request(c::READ, &[fid, 100, 3, 0, 0], b"").ok();
    client.close(fid).ok();
    let acts = client.conn.take_acts();
    let [opened, closed] = &*acts else {
        panic!("{acts:?}")
    };
    let (Deed::Open { open, created, .. }, Deed::Close { open: other, moved }) =
        (&opened.deed, &closed.deed)
    else {
        panic!("{acts:?}")
    };
    assert!(open.is_some() && open == other && *created);
    let bytes = Moved {
        read: 7,
        written: 10,
    };
    assert_eq!((*moved, &*closed.path), (bytes, "A.TXT"));
    assert_eq!(client.conn.take_acts(), [], "each act is taken once");
}

#[test]
fn names_are_recorded_as_they_are_on_the_disk_and_one_by_one() {
    let server = audited();
    for file in ["one.txt", "two.txt", "keep.doc"] {
        server.fs.add_file(file, b"x").unwrap();
    }
    let mut client = server.client(CORE);
    client.paths(c::CREATE_DIRECTORY, &[], &["\\SUB"]).ok();
    client
        .paths(c::RENAME, &[0x16], &["\\KEEP.DOC", "\\SUB\\KEPT.DOC"])
        .ok();
    client.paths(c::DELETE, &[0x16], &["\\*.TXT"]).ok();
    client
        .paths(c::DELETE_DIRECTORY, &[], &["\\SUB"])
        .refused(Status::DIRECTORY_NOT_EMPTY);
    client.paths(c::DELETE, &[0x16], &["\\SUB\\KEPT.DOC"]).ok();
    client.paths(c::DELETE_DIRECTORY, &[], &["\\SUB"]).ok();
    let expected = [
        "SUB mkdir",
        "keep.doc rename to SUB/KEPT.DOC replaced=false",
        "one.txt delete",
        "two.txt delete",
        "SUB/KEPT.DOC delete",
        "SUB rmdir",
    ];
    assert_eq!(acts(&mut client), expected);
}

#[test]
fn a_lost_connection_closes_and_deletes_on_the_record() {
    let server = audited();
    server.fs.add_file("GONE", b"x").unwrap();
    let mut client = server.client(NT);
    // DELETE and delete on close
    client.nt_create("\\GONE", 0x0001_0000, (1, 0x1000)).ok();
    client.nt_create("\\NEW", 0x0001_0003, (2, 1)).ok();
    let now = crate::testkit::NOW;
    client.conn.handle_disconnect(now);
    let expected = [
        "GONE open created=false truncated=false",
        "NEW mkdir",
        "NEW open created=true truncated=false",
        "GONE close 0+0",
        "GONE delete",
        "NEW close 0+0",
    ];
    assert_eq!(acts(&mut client), expected);
}

#[test]
fn a_copy_on_the_server_names_both_files() {
    let server = audited();
    server.fs.add_file("A", b"abc").unwrap();
    let mut client = server.client("LANMAN1.0");
    client
        .paths(c::COPY, &[0xffff, 0x11, 0], &["\\A", "\\B"])
        .ok();
    assert_eq!(acts(&mut client), ["A copy to B"]);
}

#[test]
fn bytes_are_counted_by_share_once_whether_the_file_is_open_or_closed() {
    let server = TestServer::new();
    server.fs.add_file("A", b"0123456789").unwrap();
    let mut client = server.client(CORE);
    let fid = client.paths(c::OPEN, &[2, 0], &["\\A"]).ok().word(0);
    let moved = |read, written| Vec::from([(String::from("DISK"), Moved { read, written })]);
    client.request(c::READ, &[fid, 4, 0, 0, 0], b"").ok();
    assert_eq!(client.conn.take_moved(), moved(4, 0));
    assert_eq!(client.conn.take_moved(), []);
    let data = b"\x01\x02\0hi";
    client.request(c::WRITE, &[fid, 2, 0, 0, 0], data).ok();
    client.close(fid).ok();
    assert_eq!(client.conn.take_moved(), moved(0, 2));
    assert_eq!(client.conn.take_moved(), []);
}

#[test]
fn without_the_setting_nothing_is_recorded() {
    let server = TestServer::new();
    let mut client = server.client(CORE);
    client.paths(c::CREATE_DIRECTORY, &[], &["\\SUB"]).ok();
    assert_eq!(acts(&mut client).len(), 0);
}
