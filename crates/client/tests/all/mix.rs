//! The data requests of each redirector on the wire are those that the documents describe.

use coax_client::{
    CopySpec, Error, Operation,
    profile::{Fact, InFlight},
};
use coax_wire::{
    block::Block,
    command,
    header::Header,
    smb::{read, read_andx, read_raw, search, write, write_andx, write_raw},
};
use std::collections::BTreeMap;

use crate::pair::{self, Pair, noise, profile, users::edited};

/// A command, and the bytes of file data that a request of it moves.
type Request = (u8, u32);

/// The requests that transfer most of a file: command and bytes, to the server and from it.
const BULK: [(&str, Request, Request); 15] = {
    use command::{READ, READ_ANDX, READ_RAW, WRITE, WRITE_ANDX, WRITE_RAW};
    [
        // "The DOS client was using SMB raw reads and writes" (DOS SMB client performance).
        ("ibm-dls-4.0", (WRITE_RAW, 65_024), (READ_RAW, 65_024)),
        // "Each SMB Read Response only contains 1,024 bytes", "the raw SMB write size (65,024 bytes)" (the same).
        ("ibm-dls-5.0-predir", (WRITE_RAW, 65_024), (READ, 1_024)),
        ("ibm-dls-5.0-full", (WRITE_RAW, 65_024), (READ_RAW, 65_024)),
        ("ms-net-3.11-full", (WRITE_RAW, 65_024), (READ_RAW, 65_024)),
        ("ms-net-3.11-basic", (WRITE, 12_288), (READ, 16_596)),
        ("wfw-3.11", (WRITE_RAW, 65_024), (READ_RAW, 65_024)),
        ("windows-95", (WRITE_RAW, 32_768), (READ_RAW, 32_768)),
        ("windows-98", (WRITE_RAW, 32_768), (READ_RAW, 32_768)),
        // "4292 bytes at offset 5906824", "Raw mode in 60 KB blocks" (Sliced too thin; KB Q223140).
        ("nt-4-explorer", (WRITE_ANDX, 4_292), (READ_RAW, 61_440)),
        ("nt-4-copy", (WRITE_RAW, 61_440), (READ_RAW, 61_440)),
        ("windows-2000", (WRITE_ANDX, 61_440), (READ_ANDX, 61_440)),
        ("os2-warp", (WRITE_RAW, 65_024), (READ_RAW, 65_024)),
        ("ps2-opl", (WRITE_ANDX, 65_535), (READ_ANDX, 8_192)),
        ("smbclient-1999", (WRITE_ANDX, 16_384), (READ_ANDX, 16_384)),
        ("linux-cifs", (WRITE_ANDX, 57_344), (READ_ANDX, 16_384)),
    ]
};

const LEN: usize = 1_000_000;

/// The number of bytes that a request transfers or asks for, if it is a data request.
fn moved(message: &[u8]) -> Option<(u8, u32)> {
    let header = Header::parse(message).ok()?;
    let block = Block::first(message).ok()?;
    let bytes = match header.command {
        command::READ => u32::from(read::Request::parse(&block).ok()?.count),
        command::READ_ANDX => read_andx::Request::parse(&block).ok()?.max_count,
        command::READ_RAW => u32::from(read_raw::Request::parse(&block).ok()?.max_count),
        command::WRITE => u32::from(write::Request::parse(&block).ok()?.count),
        command::WRITE_ANDX => write_andx::Request::parse(&block).ok()?.data.len() as u32,
        command::WRITE_RAW => u32::from(write_raw::Request::parse(&block).ok()?.count),
        _ => return None,
    };
    Some((header.command, bytes))
}

/// Counts the client's data requests.
fn mix(pair: &mut Pair) -> BTreeMap<(u8, u32), usize> {
    let mut mix = BTreeMap::new();
    for (from_client, message) in pair.messages.drain(..) {
        if let Some(request) = moved(&message).filter(|_| from_client) {
            *mix.entry(request).or_default() += 1;
        }
    }
    mix
}

/// Asserts that every byte is transferred once, at least three quarters of them in requests of this command and size,
/// and none in larger ones. (The application's block size need not be a multiple of the redirector's.)
fn assert_bulk(mix: &BTreeMap<(u8, u32), usize>, bulk: (u8, u32), what: &str) {
    let bytes = |(of, n): (&(u8, u32), &usize)| of.1 as usize * n;
    let all: usize = mix.iter().map(bytes).sum();
    assert_eq!(all, LEN, "{what}: {mix:?}");
    let bulky = mix.get(&bulk).map_or(0, |n| bulk.1 as usize * n);
    assert!(bulky * 4 >= LEN * 3, "{what}: {mix:?}");
    assert!(mix.keys().all(|of| of.1 <= bulk.1), "{what}: {mix:?}");
}

#[test]
fn each_redirector_transfers_data_as_documented() {
    let data = noise(LEN);
    for (name, put, get) in BULK {
        let mut pair = Pair::new(profile(name));
        pair.run(Operation::Copy(CopySpec::put("UP.BIN", LEN as u64)), &data)
            .unwrap();
        assert_bulk(&mix(&mut pair), put, name);
        pair.run(Operation::Copy(CopySpec::get("UP.BIN")), &[])
            .unwrap();
        assert_bulk(&mix(&mut pair), get, name);
    }
}

#[test]
fn a_watch_on_the_folder_keeps_explorer_from_raw_writes_and_only_that() {
    let data = noise(LEN);
    let requests = |name: &str| {
        let mut pair = Pair::new(profile(name));
        pair.run(Operation::Copy(CopySpec::put("UP.BIN", LEN as u64)), &data)
            .unwrap();
        pair.mix()
    };
    let (explorer, copy) = (requests("nt-4-explorer"), requests("nt-4-copy"));
    assert!(
        explorer.contains_key("NT_TRANSACT") && !explorer.contains_key("WRITE_RAW"),
        "{explorer:?}"
    );
    assert!(
        !copy.contains_key("NT_TRANSACT") && copy.contains_key("WRITE_RAW"),
        "{copy:?}"
    );
}

#[test]
fn the_modern_client_comes_to_keep_as_many_requests_outstanding_as_it_may_where_none_waits_for_another()
 {
    let data = noise(16_000_000);
    let few = InFlight { first: 4, most: 8 };
    let modern = edited("modern", |one| {
        one.read.in_flight = Fact::chosen(few, "test");
    });
    let mut pair = Pair::new(modern);
    pair.run(
        Operation::Copy(CopySpec::put("UP.BIN", data.len() as u64)),
        &data,
    )
    .unwrap();
    pair.messages.clear();
    pair.run(Operation::Copy(CopySpec::get("UP.BIN")), &[])
        .unwrap();
    let mut outstanding = 0usize;
    let mut most = 0;
    for (from_client, _) in &pair.messages {
        outstanding = if *from_client {
            outstanding + 1
        } else {
            outstanding.saturating_sub(1)
        };
        most = most.max(outstanding);
    }
    assert_eq!(most, usize::from(few.most));
}

#[test]
fn core_dialects_are_spoken_without_the_commands_they_lack() {
    let data = noise(LEN);
    for dialect in ["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 1.03"] {
        for profile in pair::profiles() {
            if !profile.negotiate.dialects.iter().any(|one| one == dialect) {
                continue;
            }
            let name = profile.name.clone();
            let edit = |target: &mut coax_client::Target| target.dialect = Some(dialect);
            let mut pair = Pair::with(profile, coax_server::config::Config::default(), edit);
            for spec in [CopySpec::put("A.BIN", LEN as u64), CopySpec::get("A.BIN")] {
                pair.run(Operation::Copy(spec), &data).unwrap();
            }
            assert!(pair.local() == data, "{name}");
            for (_, message) in &pair.messages {
                let code = Header::parse(message).map_or(0, |header| header.command);
                assert!(
                    !command::is_andx(code),
                    "{name}: {}",
                    command::name(code).unwrap()
                );
            }
        }
    }
}

/// The client's SEARCH requests and their results: keys, or nothing at the end.
fn searches(pair: &Pair) -> Vec<(search::Request<'_>, Vec<search::ResumeKey>)> {
    let code = |message: &[u8]| Header::parse(message).unwrap().command;
    let (sent, output): (Vec<_>, Vec<_>) = pair
        .messages
        .iter()
        .filter(|(_, message)| code(message) == command::SEARCH)
        .partition(|(from_client, _)| *from_client);
    let both = sent.into_iter().zip(output);
    both.map(|((_, request), (_, reply))| {
        let request = search::Request::parse(&Block::first(request).unwrap(), false);
        let found = search::Response::parse(&Block::first(reply).unwrap());
        let keys = found.map_or(vec![], |found| found.entries().map(|one| one.key).collect());
        (request.unwrap(), keys)
    })
    .collect()
}

#[test]
fn a_dos_redirector_ends_the_search_for_a_file_by_asking_for_what_comes_behind_it() {
    for name in ["ms-net-3.11-basic", "ibm-dls-5.0-predir", "wfw-3.11"] {
        let mut pair = Pair::new(profile(name));
        let put = Operation::Copy(CopySpec::put("UP.BIN", 3));
        pair.run(put, b"abc").unwrap();
        pair.messages.clear();
        let get = Operation::Copy(CopySpec::get("UP.BIN"));
        pair.run(get, &[]).unwrap();
        assert_eq!(pair.local(), b"abc", "{name}");
        let [(first, found), (second, none)] = &searches(&pair)[..] else {
            panic!("{name}: {:?}", pair.mix());
        };
        assert!(first.path.raw.ends_with(b"UP.BIN"), "{name}");
        assert_eq!((first.max_count, first.resume_key), (20, None), "{name}");
        assert_eq!(
            (second.resume_key, second.path.raw),
            (found.last().copied(), &b""[..])
        );
        assert!(second.resume_key.is_some() && none.is_empty(), "{name}");
    }
}

#[test]
fn a_search_that_finds_nothing_is_over_and_the_copy_fails_with_it() {
    let mut pair = Pair::new(profile("ms-net-3.11-basic"));
    let get = Operation::Copy(CopySpec::get("NONE.BIN"));
    assert!(matches!(pair.run(get, &[]), Err(Error::Refused { .. })));
    assert_eq!(searches(&pair).len(), 1);
}
