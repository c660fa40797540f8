//! Replays a session of MS-DOS's real-mode redirector with Windows 98 over NetBEUI: the requests of
//! tests/captures/dos-win98-netbeui.pcap (frame numbers beside them), and that server's replies where they do not
//! contain its names, numbers and clock.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::core_tests::Wire;
use crate::{
    share::{Access, Admission, Share, ShareKind},
    testkit::TestServer,
};
use alloc::{sync::Arc, vec::Vec};
use coax_wire::{command as c, header::Tid};

const EMPTY: &[u8] = b"\0\0\0";
const DOS: u8 = 1;
/// Frame 97 and others: any name, empty search status.
const ANY: &[u8] = b"\x04\\????????.???\0\x05\0\0";

fn server() -> TestServer {
    let mut server = TestServer::new();
    let fs = server.fs.clone();
    server.edit(|inner| {
        let test = Share {
            admission: Admission {
                guest: Some(Access::Write),
                ..Admission::default()
            },
            ..Share::for_guests(3, "TEST", ShareKind::Disk(fs))
        };
        inner.shares.push(Arc::new(test));
    });
    server
}

/// Frames 75 to 81: negotiate, then log-on and tree connect in one chain.
fn connected(server: &TestServer) -> Wire {
    let mut wire = Wire::new(server);
    wire.send(
        c::NEGOTIATE,
        b"\0\x6b\0\x02PC NETWORK PROGRAM 1.0\0\x02MICROSOFT NETWORKS 3.0\0\x02DOS LM1.2X002\0\
          \x02DOS LANMAN2.1\0\x02Windows for Workgroups 3.1a\0",
    );
    let reply = wire.client.raw_answer().unwrap();
    // thirteen words, the fifth dialect, user level and challenge
    assert_eq!(reply[32..37], *b"\x0d\x04\0\x03\0");
    // key length 8, reserved; then challenge and domain
    assert_eq!(reply[55..59], *b"\x08\0\0\0");
    assert_eq!(reply[61..69], *b"12345678");
    wire.send(
        c::SESSION_SETUP_ANDX,
        b"\x0a\x75\0\x47\0\x3e\x06\x02\0\0\0\x15\x05\x03\x80\x01\0\0\0\0\0\x10\0\0MARTIN ROSENAU\0\
          \x04\xff\0\0\0\0\0\x18\0\x29\0\x34\xb5\x5c\xaa\x7b\x18\x77\xcc\x95\xbc\x3d\x39\xfc\x92\x81\x9e\
          \x68\xb7\x1f\x86\x6c\xbe\x2d\xc5\\\\MDJR98\\TEST\0A:\0",
    );
    let reply = wire.client.raw_answer().unwrap();
    assert_eq!(reply[..9], *b"\xffSMB\x73\0\0\0\0");
    (wire.tid, wire.uid) = (1, 100);
    assert_eq!([&reply[24..26], &reply[28..30]], [b"\x01\0", b"\x64\0"]);
    let second = usize::from(u16::from_le_bytes(reply[35..37].try_into().unwrap()));
    assert_eq!(reply[32..35], *b"\x03\x75\0");
    // optional support is word 3 of this dialect's reply
    assert_eq!(reply[second..second + 3], *b"\x03\xff\0");
    assert_eq!(reply[second + 9..second + 12], *b"A:\0");
    wire
}

#[test]
fn the_negotiate_of_a_dos_client_chooses_its_best_dialect_and_one_chain_connects_it() {
    let mut wire = connected(&server());
    assert!(wire.client.conn.context.trees.is_connected(Tid(1)));
    // frames 201 and 202
    wire.ok(c::TREE_DISCONNECT, EMPTY, EMPTY);
}

/// `DIR` in a folder: frames 97 to 106. Returns the names found with attributes 0x16.
fn dir(wire: &mut Wire) -> Vec<Vec<u8>> {
    wire.send(c::SEARCH, &[b"\x02\x14\0\x08\0\x12\0", ANY].concat());
    let label = wire.client.raw_answer().unwrap();
    assert_eq!((label[5], label[40 + 21]), (0, 0x08), "the volume label");
    wire.send(c::SEARCH, &[b"\x02\x14\0\x16\0\x12\0", ANY].concat());
    let listed = wire.client.raw_answer().unwrap();
    assert_eq!(listed[32], 1);
    let entries: Vec<Vec<u8>> = listed[40..].chunks(43).map(<[u8]>::to_vec).collect();
    assert_eq!(entries.len(), usize::from(listed[33]));
    let mut key = entries.last().unwrap()[..21].to_vec();
    // the redirector's bytes of the search status, unchanged
    key[17..].copy_from_slice(b"\x83\0\0\x01");
    let next = [b"\x02\x14\0\0\0\x1a\0\x04\0\x05\x15\0", key.as_slice()].concat();
    // the capture's Windows 98 server ends the search in this way
    wire.refused(c::SEARCH, &next, DOS, 18);
    entries
        .into_iter()
        .map(|entry| {
            entry[30..]
                .split(|byte| *byte == 0)
                .next()
                .unwrap()
                .to_vec()
        })
        .collect()
}

#[test]
fn a_dos_client_lists_copies_deletes_and_makes_folders_as_it_did() {
    let server = server();
    let mut wire = connected(&server);
    assert_eq!(dir(&mut wire), [b".".to_vec(), b"..".to_vec()]);
    // frames 110 to 115: copy a file of 1,124 bytes there, and set its time at close (1995)
    let open = b"\x0f\xff\0\0\0\x07\0\x02\0\x16\0\x20\0\x1e\x29\xf6\x5d\x12\0\0\0\0\0\0\0\0\0\0\0\0\0\x0a\0\\TEST.TXT\0";
    wire.send(c::OPEN_ANDX, open);
    let opened = wire.client.raw_answer().unwrap();
    // handle, archive; access 2, file, no pipe, created, and the requested oplock, which Windows 98 never grants
    assert_eq!(opened[32..41], *b"\x0f\xff\0\0\0\x01\0\x20\0");
    assert_eq!(opened[45..57], *b"\0\0\0\0\x02\0\0\0\0\0\x02\x80");
    let data = [b'x'; 0x464];
    let write = b"\x05\x01\0\x64\x04\0\0\0\0\x64\x04\x67\x04\x01\x64\x04";
    wire.ok(c::WRITE, &[&write[..], &data].concat(), b"\x01\x64\x04\0\0");
    wire.ok(c::CLOSE, b"\x03\x01\0\x1e\x29\xf6\x5d\0\0", EMPTY);
    assert_eq!(server.fs.contents("TEST.TXT").unwrap(), data);
    // frames 119 to 124: open the file for reading, close it without a time
    let open = b"\x0f\xff\0\0\0\x07\0\0\0\x16\0\0\0\x22\x29\xf6\x5d\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x0a\0\\TEST.TXT\0";
    wire.send(c::OPEN_ANDX, open);
    let opened = wire.client.raw_answer().unwrap();
    // the time that the close set comes back unchanged (it is even), and the size
    assert_eq!(
        opened[32..49],
        *b"\x0f\xff\0\0\0\x02\0\x20\0\x1e\x29\xf6\x5d\x64\x04\0\0"
    );
    assert_eq!(opened[49..57], *b"\0\0\0\0\0\0\x01\x80");
    wire.ok(c::CLOSE, b"\x03\x02\0\xff\xff\xff\xff\0\0", EMPTY);
    // frames 128 to 131: check whether it is a folder (no); delete it, also if read-only
    wire.refused(c::CHECK_DIRECTORY, b"\0\x0b\0\x04\\TEST.TXT\0", DOS, 3);
    wire.ok(c::DELETE, b"\x01\x01\0\x0b\0\x04\\TEST.TXT\0", EMPTY);
    // frames 156 to 185: create a folder, list it, remove it
    wire.ok(c::CREATE_DIRECTORY, b"\0\x07\0\x04\\TEST\0", EMPTY);
    assert_eq!(dir(&mut wire), [&b"."[..], b"..", b"TEST"]);
    wire.ok(c::DELETE_DIRECTORY, b"\0\x07\0\x04\\TEST\0", EMPTY);
    wire.ok(c::TREE_DISCONNECT, EMPTY, EMPTY);
}
