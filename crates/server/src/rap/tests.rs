//! RAP calls with the bytes of old clients.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::{
    pipe::services::Asker,
    session::Session,
    share::{Share, ShareKind},
    testkit::{NOW, TestServer},
};
use proptest::prelude::*;
use std::{string::String, sync::Arc, vec::Vec};

fn server() -> TestServer {
    let mut server = TestServer::new();
    let fs = server.fs.clone();
    server.edit(|inner| {
        inner.shares.push(Arc::new(Share {
            comment: "A long name".into(),
            ..Share::for_guests(3, "THIRTEENCHARS", ShareKind::Disk(fs.clone()))
        }));
        inner.shares.push(Arc::new(Share {
            comment: "Laser".into(),
            ..Share::for_guests(4, "LASER", ShareKind::Printer(fs))
        }));
    });
    server
}

fn ask(server: &TestServer, user: Option<&str>, parameters: &[u8]) -> Answer {
    let session = Session {
        id: Default::default(),
        user: user.map(String::from),
    };
    let client = Client {
        asker: Asker {
            server: &server.server,
            user: session.user.as_deref(),
            now: NOW,
        },
        session: &session,
        name: "WIN95",
    };
    serve(&client, parameters)
}

fn word(bytes: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([bytes[index * 2], bytes[index * 2 + 1]])
}

fn words_of(answer: &Answer) -> Vec<u16> {
    (0..answer.parameters.len() / 2)
        .map(|index| word(&answer.parameters, index))
        .collect()
}

#[test]
fn a_home_folder_is_listed_for_its_user_alone_who_may_call_it_homes() {
    let mut server = server();
    server.edit(|inner| {
        let kind = inner.shares[0].kind.clone();
        inner.shares.push(Arc::new(Share {
            home_of: Some("Anna".into()),
            ..Share::for_guests(5, "ANNA", kind)
        }));
    });
    let count = |user| words_of(&ask(&server, user, b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10"))[2];
    assert_eq!(
        [count(None), count(Some("ben")), count(Some("ANNA"))],
        [3, 3, 4]
    );
    let found = |user| {
        server
            .server
            .share_for(user, "Homes")
            .map(|share| share.id.0)
    };
    assert_eq!(
        [found(None), found(Some("ben")), found(Some("anna"))],
        [None, None, Some(5)]
    );
}

#[test]
fn the_share_list_hides_names_that_dos_cannot_represent() {
    let answer = ask(&server(), None, b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10");
    assert_eq!(words_of(&answer), [0, 0, 3, 3]);
    let names: Vec<&[u8]> = answer.data[..60]
        .chunks(20)
        .map(|record| &record[..6])
        .collect();
    assert_eq!(names, [b"DISK\0\0", b"LASER\0", b"IPC$\0\0"]);
    let kinds: Vec<u16> = answer.data[..60]
        .chunks(20)
        .map(|record| word(record, 7))
        .collect();
    assert_eq!(kinds, [0, 1, 3]);
    let comment = usize::from(word(&answer.data[20..], 8));
    assert_eq!(&answer.data[comment..comment + 6], b"Laser\0");
}

#[test]
fn a_receive_buffer_too_small_for_all_shares_gets_what_fits_and_error_234() {
    let answer = ask(&server(), None, b"\0\0WrLeh\0B13BWz\0\x01\0\x20\0");
    assert_eq!(words_of(&answer), [234, 0, 1, 3]);
    assert_eq!(answer.data.len(), 21);
}

#[test]
fn one_share_is_described_at_every_level_and_a_missing_one_is_error_2310() {
    let server = server();
    let ask_share = |descriptor: &str, name: &str, level: u8| {
        let mut parameters = b"\x01\0zWrLh\0".to_vec();
        parameters.extend(descriptor.bytes().chain([0]));
        parameters.extend(name.bytes().chain([0, level, 0, 0, 1]));
        ask(&server, None, &parameters)
    };
    let answer = ask_share("B13BWzWWWzB9B", "laser", 2);
    assert_eq!(words_of(&answer), [0, 0, 40 + 6 + 9]);
    assert_eq!(ask_share("B13", "LASER", 0).data, b"LASER\0\0\0\0\0\0\0\0");
    assert_eq!(words_of(&ask_share("B13", "NONE", 0))[0], 2310);
    assert_eq!(words_of(&ask_share("B13", "LASER", 9))[0], 124);
    assert_eq!(words_of(&ask_share("WWWW", "LASER", 0))[0], 87);
}

#[test]
fn the_server_list_has_this_server_and_the_workgroup() {
    let ask_list = |kind: u32, rest: &[u8]| {
        let mut parameters = b"\x68\0WrLehDz\0B16BBDz\0\x01\0\0\x10".to_vec();
        parameters.extend(kind.to_le_bytes());
        parameters.extend(rest);
        ask(&server(), None, &parameters)
    };
    let servers = ask_list(0xffff_ffff, b"\0");
    assert_eq!(words_of(&servers), [0, 0, 1, 1]);
    assert_eq!(&servers.data[..5], b"COAX\0");
    assert_eq!(servers.data[18..22], 0x9a03u32.to_le_bytes());
    let groups = ask_list(0x8000_0000, b"WORKGROUP\0");
    assert_eq!(&groups.data[..10], b"WORKGROUP\0");
    assert_eq!(words_of(&ask_list(2, b"OTHER\0")), [0, 0, 0, 0]);
    assert_eq!(words_of(&ask_list(0x4000_0000, b"workgroup\0"))[2], 1);
    assert_eq!(
        words_of(&ask_list(0x10, b"\0"))[2],
        0,
        "no backup controller"
    );
}

#[test]
fn the_clock_fits_its_21_bytes() {
    let answer = ask(&server(), None, b"\x5b\0rLh\0DDBBBBWWBBWB\0\x40\0");
    assert_eq!(words_of(&answer), [0, 0]);
    assert_eq!(answer.data.len(), 21);
    assert_eq!(answer.data[16..], [21, 11, 0xea, 7, 6]);
}

#[test]
fn a_user_can_query_only_himself_and_a_guest_gets_no_log_on() {
    let server = server();
    let info = b"\x38\0zWrLh\0B21BzzzWDDzzDDWWzWzDWb21W\0ann\0\x0b\0\0\x10";
    assert_eq!(words_of(&ask(&server, Some("ANN"), info))[0], 0);
    assert_eq!(words_of(&ask(&server, Some("bob"), info))[0], 2221);
    let mut logon = b"\x84\0OOWb54WrLh\0WB21BWDWWDDDDDDDzzzD\0\x01\0ann".to_vec();
    logon.extend([0; 51]);
    logon.extend(b"\x54\0\0\x10");
    let answer = ask(&server, Some("ann"), &logon);
    assert_eq!(words_of(&answer)[0], 0);
    assert_eq!(&answer.data[2..6], b"ann\0");
    assert_eq!(words_of(&ask(&server, None, &logon))[0], 5);
}

#[test]
fn print_queues_are_listed_at_every_level() {
    let server = server();
    for (level, descriptor) in [
        (0, "B13"),
        (1, "B13BWWWzzzzzWW"),
        (2, "B13BWWWzzzzzWN"),
        (3, "zWWWWzzzzWWzzl"),
        (4, "zWWWWzzzzWNzzl"),
        (5, "z"),
    ] {
        let mut parameters = b"\x45\0WrLeh\0".to_vec();
        parameters.extend(descriptor.bytes().chain([0, level, 0, 0, 16]));
        let answer = ask(&server, None, &parameters);
        assert_eq!(words_of(&answer), [0, 0, 1, 1], "level {level}");
        assert!(answer.data.windows(5).any(|window| window == b"LASER"));
    }
}

#[test]
fn unsupported_calls_return_an_error() {
    assert_eq!(words_of(&ask(&server(), None, b"\x05\x7f\0\0"))[0], 50);
    assert_eq!(words_of(&ask(&server(), None, b"\x05"))[0], 87);
}

proptest! {
    #[test]
    fn arbitrary_calls_never_panic(
        function in 0u16..260,
        parameters in "[zWrLehDbBOT0-9]{0,12}",
        data in "[zWDB0-9bNl]{0,16}",
        rest in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut bytes = function.to_le_bytes().to_vec();
        bytes.extend(parameters.bytes().chain([0]).chain(data.bytes()).chain([0]));
        bytes.extend(rest);
        let answer = ask(&server(), Some("ann"), &bytes);
        prop_assert!(answer.parameters.len() >= 4);
    }
}

#[test]
fn disk_shares_come_first_then_printers_then_ipc() {
    let mut server = server();
    let fs = server.fs.clone();
    server.edit(|inner| {
        // The order of the binary: IPC$ first, then the sections of smb.conf.
        inner.shares.rotate_left(1);
        let last = Share::for_guests(5, "LAST", ShareKind::Disk(fs));
        inner.shares.push(Arc::new(last));
    });
    let answer = ask(&server, None, b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10");
    assert_eq!(words_of(&answer), [0, 0, 4, 4]);
    let records = answer.data[..80].chunks(20);
    let kinds: Vec<_> = records
        .clone()
        .map(|record| word(&record[14..], 0))
        .collect();
    assert_eq!(kinds, [0, 0, 1, 3]);
    let names: Vec<&[u8]> = records.map(|record| &record[..5]).collect();
    assert_eq!(names, [b"DISK\0", b"LAST\0", b"LASER", b"IPC$\0"]);
}
