//! Messages that are cut, oversized, lie, come in the wrong order or name what is not there: an error reply or a clean
//! close, and nothing leaks. [`World`] checks after every message that replies, limits and tables are sound.

use coax_robustness::{
    captures,
    choices::Choices,
    engine::{
        client::Known,
        request,
        script::{DIALECTS, greet, open},
        world::{Options, World},
    },
};
use coax_wire::{
    command as c,
    header::{Flags, Header, Tid, Uid},
    time::Span,
};

const NT: u16 = 0x4000;

fn world() -> World {
    World::new(Options::default())
}

/// A client of this dialect with the share connected.
fn client(world: &mut World, dialect: &str) -> usize {
    let client = world.connect();
    greet(world, client, dialect, NT, 3);
    client
}

/// Blocks of every command, as they are when they are right; FIDs are `fid`.
fn blocks(fid: u16) -> Vec<(u8, Vec<u8>)> {
    let known = Known {
        fids: vec![fid; 16],
        sids: vec![1; 16],
        ..Known::default()
    };
    let mut found = Vec::new();
    for row in 0..=255 {
        for variant in [0, 1, 2, 3, 5] {
            let choices = [&[row, variant][..], &[variant; 60]].concat();
            let block = request::build(&mut Choices::new(&choices), &known, false);
            if !found.contains(&block) {
                found.push(block);
            }
        }
    }
    found
}

fn statuses(replies: &[Vec<u8>]) -> Vec<u32> {
    replies
        .iter()
        .map(|reply| Header::parse(reply).unwrap().status)
        .collect()
}

#[test]
fn a_message_cut_at_any_byte_is_answered_with_an_error_or_ends_the_connection() {
    for dialect in ["PC NETWORK PROGRAM 1.0", "LANMAN2.1", "NT LM 0.12"] {
        let mut world = world();
        let mut current = client(&mut world, dialect);
        for (command, block) in blocks(1) {
            for len in (0..block.len()).chain([block.len()]) {
                if world.clients[current].gone {
                    current = client(&mut world, dialect);
                }
                world.request(current, command, &block[..len]);
                world.pass(Span::from_millis(1_001));
            }
        }
        for len in 0..32 {
            let message = world.clients[current].message(c::ECHO, &[]);
            world.give(current, &message[..len]);
            assert!(
                world.clients[current].gone,
                "{len} bytes must not be a message"
            );
            current = client(&mut world, dialect);
        }
        world.end();
    }
}

#[test]
fn counts_and_offsets_that_lie_read_nothing_outside_the_message() {
    let lies = [0u16, 1, 0x24, 0x7fff, 0xfffe, 0xffff];
    for dialect in ["LANMAN1.0", "NT LM 0.12"] {
        let mut world = world();
        let mut current = client(&mut world, dialect);
        for (command, block) in blocks(1) {
            for at in 0..block.len().saturating_sub(1).min(60) {
                for lie in lies {
                    let mut block = block.clone();
                    block[at..at + 2].copy_from_slice(&lie.to_le_bytes());
                    if world.clients[current].gone {
                        current = client(&mut world, dialect);
                    }
                    world.request(current, command, &block);
                }
            }
            world.pass(Span::from_millis(1_001));
        }
        world.end();
    }
}

#[test]
fn messages_longer_than_agreed_are_digested_or_refused() {
    let mut world = world();
    let mut current = client(&mut world, "NT LM 0.12");
    for (command, block) in blocks(1) {
        let long = [block.as_slice(), &[0xa5; 0x1_ffff]].concat();
        if world.clients[current].gone {
            current = client(&mut world, "NT LM 0.12");
        }
        world.request(current, command, &long[..0x1_ffff - 32]);
    }
    world.pass(Span::from_secs(60));
    world.end();
}

#[test]
fn nothing_but_echo_is_served_before_a_dialect_is_agreed() {
    for (command, block) in blocks(1) {
        if command == c::NEGOTIATE || command == c::ECHO {
            continue;
        }
        let mut world = world();
        let client = world.connect();
        let replies = world.request(client, command, &block);
        assert!(
            statuses(&replies).iter().all(|status| *status != 0),
            "{command:#x}"
        );
        world.end();
    }
}

#[test]
fn a_second_negotiate_is_refused() {
    let mut world = world();
    let client = client(&mut world, "NT LM 0.12");
    let replies = world.request(client, c::NEGOTIATE, b"\0\x0c\0\x02NT LM 0.12\0");
    assert_ne!(statuses(&replies), [0]);
    world.end();
}

/// Commands that name a file by its FID, and those whose FID may be a wildcard.
const BY_FID: &[u8] = &[
    c::CLOSE,
    c::READ,
    c::WRITE,
    c::SEEK,
    c::READ_ANDX,
    c::WRITE_ANDX,
    c::WRITE_AND_CLOSE,
    c::LOCK_BYTE_RANGE,
    c::UNLOCK_BYTE_RANGE,
    c::SET_INFORMATION2,
    c::QUERY_INFORMATION2,
];

#[test]
fn files_trees_and_sessions_that_are_not_there_are_refused() {
    for dialect in DIALECTS {
        let mut world = world();
        let client = client(&mut world, dialect);
        let fid = open(&mut world, client).unwrap();
        for (command, block) in blocks(fid ^ 0x5555) {
            if BY_FID.contains(&command) {
                let replies = world.request(client, command, &block);
                assert!(
                    !statuses(&replies).contains(&0),
                    "{command:#x} with an unknown FID in {dialect}"
                );
            }
        }
        let own = world.clients[client].header;
        for (tid, uid) in [
            (Tid(own.tid.0 ^ 0x0f0f), own.uid),
            (own.tid, Uid(own.uid.0 ^ 0x0f0f)),
        ] {
            let header = &mut world.clients[client].header;
            (header.tid, header.uid) = (tid, uid);
            let replies = world.request(client, c::CHECK_DIRECTORY, b"\0\x06\0\x04\\DIR\0");
            let free_of_uids = tid == own.tid && own.uid.0 == 0;
            assert_eq!(statuses(&replies) == [0], free_of_uids, "{dialect}");
        }
        world.clients[client].header = own;
        let replies = world.request(
            client,
            c::CLOSE,
            &[3, fid as u8, (fid >> 8) as u8, 0, 0, 0, 0, 0, 0],
        );
        assert_eq!(statuses(&replies), [0], "the file must still be open");
        world.end();
    }
}

#[test]
fn a_hundred_thousand_opens_are_cut_off_at_the_limit_and_given_back_at_the_end() {
    let mut world = world();
    let client = client(&mut world, "LANMAN1.0");
    for number in 0..100 {
        world.fs.add_file(&format!("F{number}"), b"x").unwrap();
    }
    let mut granted = 0;
    for number in 0..100_000 {
        let path = format!("\\F{}\0", number % 100);
        let block = [
            &[2, 0x42, 0, 0x16, 0, path.len() as u8 + 1, 0, 4],
            path.as_bytes(),
        ]
        .concat();
        granted += usize::from(statuses(&world.request(client, c::OPEN, &block)) == [0]);
    }
    let limit = world.server.config.limits.opens;
    assert_eq!(granted, limit);
    assert_eq!(world.census().opens, limit);
    world.end();
}

/// FIND_FIRST2 for `*` at level 1, one entry at a time, to be gone on with.
fn find_first2() -> Vec<u8> {
    let parameters = b"\x16\0\x01\0\0\0\x01\0\0\0\0\0\\*\0";
    let at = 32 + 1 + 30 + 2 + 3;
    let mut block = vec![
        15,
        parameters.len() as u8,
        0,
        0,
        0,
        10,
        0,
        0,
        4,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    block.extend([parameters.len() as u8, 0, at, 0, 0, 0, at, 0, 1, 0, 1, 0]);
    block.extend([parameters.len() as u8 + 3, 0, 0, 0, 0]);
    block.extend(parameters);
    block
}

#[test]
fn sixty_five_thousand_searches_left_open_never_hold_more_than_the_limit() {
    let mut options = Options::default();
    options.config.limits.searches = 200;
    let mut world = World::new(options);
    let client = client(&mut world, "NT LM 0.12");
    let limit = world.server.config.limits.searches;
    let core = b"\x02\x01\0\x16\0\x0a\0\x04\\*.*\0\x05\0\0\0";
    for number in 0..65_536 {
        let (command, block) = match number % 2 {
            0 => (c::TRANSACTION2, find_first2()),
            _ => (c::SEARCH, core.to_vec()),
        };
        assert_eq!(
            statuses(&world.request(client, command, &block)),
            [0],
            "search {number}"
        );
    }
    assert_eq!(world.clients[client].conn.held().searches, limit);
    world.end();
}

/// A raw write's block: of its `count` bytes in all, `first` come with it.
fn write_raw(fid: u16, count: u16, first: &[u8]) -> Vec<u8> {
    let (len, at) = (first.len() as u16, 32 + 1 + 24 + 2);
    let mut block = vec![12];
    for word in [fid, count, 0, 0, 0, 0, 0, 1, 0, 0, len, at, len] {
        block.extend(word.to_le_bytes());
    }
    block.extend(first);
    block
}

#[test]
fn a_raw_write_cut_off_anywhere_leaves_in_the_file_what_was_acknowledged_and_nothing_torn() {
    let (first, rest) = ([b'1'; 100], [b'2'; 400]);
    let header = 32;
    let block_len = 1 + 24 + 2 + first.len();
    for cut in 0..=header + block_len + rest.len() {
        let mut world = world();
        let client = client(&mut world, "LANMAN1.0");
        let fid = open(&mut world, client).unwrap();
        let block = write_raw(fid, 500, &first);
        let message = world.clients[client].message(c::WRITE_RAW, &block);
        // what the transport does not hold whole it never gives: the connection is gone then
        let mut acknowledged = 0;
        if cut >= message.len() {
            let replies = world.give(client, &message);
            assert_eq!(statuses(&replies), [0], "expected the interim reply");
            acknowledged = first.len();
        }
        if cut == message.len() + rest.len() {
            let replies = world.give(client, &rest);
            assert_eq!(replies[0][4], c::WRITE_COMPLETE);
            acknowledged += rest.len();
        }
        world.disconnect(client);
        let contents = world.fs.contents("A.TXT").unwrap();
        let expected: Vec<u8> = match acknowledged {
            0 => b"hello".to_vec(),
            100 => first.to_vec(),
            _ => [&first[..], &rest].concat(),
        };
        assert_eq!(contents, expected, "truncated at {cut}");
        world.end();
    }
}

#[test]
fn every_client_request_of_the_captures_leaves_a_server_that_never_saw_it_coming_in_order() {
    for dialect in [
        "PC NETWORK PROGRAM 1.0",
        "Windows for Workgroups 3.1a",
        "NT LM 0.12",
    ] {
        let mut world = world();
        let mut current = client(&mut world, dialect);
        for message in captures::all_messages() {
            let is_request =
                Header::parse(&message).is_ok_and(|header| !header.flags.has(Flags::REPLY));
            if is_request {
                if world.clients[current].gone {
                    current = client(&mut world, dialect);
                }
                world.give(current, &message);
            }
        }
        world.pass(Span::from_secs(60));
        world.end();
    }
}
