//! Which requests sync, and the consequences of a failed sync.

use crate::{
    config::Config,
    share::{Share, ShareKind, ShareOptions},
    testkit::{Answer, TestClient, TestServer},
    vfs::{
        VfsError,
        faulty::{FaultyVfs, Op, Plan, Seen, never},
        synced::SyncedVfs,
    },
};
use coax_wire::{
    command as c,
    header::{Fid, Pid},
    io::Writer,
    smb::{write_andx, write_raw},
    status::Status,
};
use std::{sync::Arc, vec::Vec};

const CORE: &str = "PC NETWORK PROGRAM 1.0";
const LANMAN: &str = "LANMAN1.0";
const NT: &str = "NT LM 0.12";
const IO: VfsError = VfsError::Io(5);
const READ: u32 = 0x0012_0089;
const READ_WRITE: u32 = 0x0012_019f;
/// FILE_WRITE_THROUGH of NT_CREATE_ANDX and of FileModeInformation.
const THROUGH: u32 = 2;
/// The write-through bit of DOS access modes; reading and writing, sharing everything.
const DOS_THROUGH: u16 = 0x4042;
/// Settings (`strict sync`, `sync always`) without any sync.
const FREE: [(bool, bool); 2] = [(false, false), (false, true)];

/// All settings, and the syncs of a request that `strict sync` alone decides.
const WITH_STRICT_SYNC: [((bool, bool), usize); 4] = [
    ((true, false), 1),
    ((true, true), 1),
    (FREE[0], 0),
    (FREE[1], 0),
];

type Opener = fn(&mut TestClient) -> u16;
type Paths = &'static [&'static str];

/// A server that records its file system calls and can make them fail.
struct Bench {
    server: TestServer,
    disk: FaultyVfs,
}

impl Bench {
    fn new((strict_sync, sync_always): (bool, bool)) -> Self {
        Self::with(ShareOptions {
            strict_sync,
            sync_always,
            ..ShareOptions::default()
        })
    }

    fn with(options: ShareOptions) -> Self {
        let mut server = TestServer::with(Config::default(), options.clone());
        let disk = FaultyVfs::new(server.fs.clone());
        let vfs = disk.clone();
        server.edit(|server| {
            let kind = match options.syncs_always() {
                true => ShareKind::Disk(Arc::new(SyncedVfs::new(Arc::new(vfs)))),
                false => ShareKind::Disk(Arc::new(vfs)),
            };
            let share = Share {
                options,
                ..Share::for_guests(1, "DISK", kind)
            };
            server.shares[0] = Arc::new(share);
        });
        server.fs.add_file("F", b"0123456789").unwrap();
        server.fs.add_file("G", b"0123456789").unwrap();
        Self { server, disk }
    }

    fn client(&self, dialect: &str) -> TestClient {
        self.server.client(dialect)
    }

    /// The paths that `work` synced, in order.
    fn synced(&self, work: impl FnOnce()) -> Vec<alloc::string::String> {
        self.disk.restart(never());
        work();
        let calls = self.disk.seen().into_iter();
        calls
            .filter(|seen| seen.op == Op::FileSync)
            .map(|seen| seen.on)
            .collect()
    }

    /// Number of syncs of the file F by `work`.
    fn syncs(&self, work: impl FnOnce()) -> usize {
        self.synced(work).iter().filter(|path| *path == "F").count()
    }

    fn break_syncs_of_files(&self) {
        self.disk.restart(syncs_fail());
    }

    fn mend(&self) {
        self.disk.restart(never());
    }
}

fn syncs_fail() -> Plan {
    alloc::boxed::Box::new(|seen: &Seen| {
        (seen.op == Op::FileSync && !seen.on.is_empty()).then_some(IO.into())
    })
}

fn fid_of(answer: &Answer) -> u16 {
    let words = answer.block().words.to_vec();
    u16::from_le_bytes([words[5], words[6]])
}

fn nt_open(client: &mut TestClient, path: &str, access: u32, options: u32) -> u16 {
    fid_of(&client.nt_create(path, access, (1, options)).ok())
}

fn dos_open(client: &mut TestClient, mode: u16) -> u16 {
    let bytes = client.string("F", 0);
    let words = [0xff, 0, 0, mode, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    client.request(c::OPEN_ANDX, &words, &bytes).ok().word(2)
}

fn write_andx(client: &mut TestClient, fid: u16, mode: u16, data: &[u8]) -> Answer {
    let request = write_andx::Request {
        fid: Fid(fid),
        offset: 0,
        mode,
        remaining: 0,
        data,
    };
    let mut out = Writer::default();
    out.zeros(32);
    request.emit(&mut out);
    client.send_block(c::WRITE_ANDX, &out.as_slice()[32..])
}

fn write(client: &mut TestClient, fid: u16, data: &[u8]) -> Answer {
    let count = data.len() as u16;
    let bytes = [&[1, count as u8, 0][..], data].concat();
    client.request(c::WRITE, &[fid, count, 0, 0, 0], &bytes)
}

fn write_raw(client: &mut TestClient, fid: u16, mode: u16, first: usize) {
    let data = [7u8; 100];
    let request = write_raw::Request {
        fid: Fid(fid),
        count: 100,
        offset: 0,
        timeout_ms: 0,
        mode,
        data: &data[..first],
    };
    let mut out = Writer::default();
    out.zeros(32);
    request.emit(&mut out);
    let block = out.as_slice()[32..].to_vec();
    client.send_block(c::WRITE_RAW, &block).ok();
    if first < data.len() {
        client.post_raw(&data[first..]);
    }
    while client.answer().is_some() {}
}

#[test]
fn only_strict_sync_makes_a_flush_wait_for_the_disk() {
    for (settings, times) in WITH_STRICT_SYNC {
        let bench = Bench::new(settings);
        let mut client = bench.client(NT);
        let fid = client.open("F");
        let flushed = bench.syncs(|| drop(client.request(c::FLUSH, &[fid], b"").ok()));
        assert_eq!(flushed, times, "{settings:?}");
    }
}

#[test]
fn a_flush_through_a_read_only_open_syncs_too() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = nt_open(&mut client, "F", READ, 0);
    let flushed = bench.syncs(|| drop(client.request(c::FLUSH, &[fid], b"").ok()));
    assert_eq!(flushed, 1);
}

#[test]
fn a_plain_write_is_synced_only_with_sync_always() {
    for (settings, times) in [
        ((true, false), 0),
        ((true, true), 1),
        (FREE[0], 0),
        (FREE[1], 0),
    ] {
        let bench = Bench::new(settings);
        let mut client = bench.client(CORE);
        let fid = client.paths(c::OPEN, &[2, 0], &["F"]).ok().word(0);
        let syncs = bench.syncs(|| drop(write(&mut client, fid, b"ab").ok()));
        assert_eq!(syncs, times, "{settings:?}");
    }
}

#[test]
fn a_core_write_of_nothing_is_synced_like_a_write() {
    for (settings, synced) in [
        ((true, false), false),
        ((true, true), true),
        (FREE[1], false),
    ] {
        let bench = Bench::new(settings);
        let mut client = bench.client(CORE);
        let fid = client.paths(c::OPEN, &[2, 0], &["F"]).ok().word(0);
        let words = [fid, 0, 4, 0, 0];
        let syncs = bench.syncs(|| drop(client.request(c::WRITE, &words, b"\x01\0\0").ok()));
        assert_eq!(syncs > 0, synced, "{settings:?}");
    }
    let bench = Bench::new((true, false));
    let mut client = bench.client(LANMAN);
    let fid = dos_open(&mut client, DOS_THROUGH);
    let words = [fid, 0, 4, 0, 0];
    let syncs = bench.syncs(|| drop(client.request(c::WRITE, &words, b"\x01\0\0").ok()));
    assert_eq!(syncs, 1);
}

#[test]
fn a_length_set_through_a_write_through_open_is_synced_like_a_write() {
    // 1020 is FileEndOfFileInformation, 1019 FileAllocationInformation.
    for (settings, options, synced) in [
        ((true, false), THROUGH, true),
        ((true, false), 0, false),
        ((true, true), 0, true),
        (FREE[0], THROUGH, false),
        (FREE[1], THROUGH, false),
    ] {
        for level in [1020, 1019] {
            let bench = Bench::new(settings);
            let mut client = bench.client(NT);
            let fid = nt_open(&mut client, "F", READ_WRITE, options);
            let length = 4u64.to_le_bytes();
            let syncs = bench.syncs(|| drop(client.set_fid(level, fid, &length).ok()));
            assert_eq!(syncs > 0, synced, "level {level}, {settings:?}");
        }
    }
}

#[test]
fn the_write_through_bit_of_write_andx_syncs_with_strict_sync() {
    for (settings, times) in WITH_STRICT_SYNC {
        let bench = Bench::new(settings);
        let mut client = bench.client(NT);
        let fid = client.open("F");
        let through = bench.syncs(|| drop(write_andx(&mut client, fid, 1, b"ab").ok()));
        let nothing = bench.syncs(|| drop(write_andx(&mut client, fid, 1, b"").ok()));
        assert_eq!((through, nothing), (times, times), "{settings:?}");
    }
}

#[test]
fn a_raw_write_through_syncs_once_with_strict_sync_and_never_without() {
    for (settings, times) in WITH_STRICT_SYNC {
        let bench = Bench::new(settings);
        let mut client = bench.client(LANMAN);
        let fid = client.open("F");
        for first in [0, 40, 100] {
            let syncs = bench.syncs(|| write_raw(&mut client, fid, 1, first));
            assert_eq!(syncs, times, "{settings:?}, {first} bytes with the request");
        }
        let behind = bench.syncs(|| write_raw(&mut client, fid, 0, 0));
        assert_eq!(
            behind,
            usize::from(settings == (true, true)),
            "{settings:?}"
        );
    }
}

#[test]
fn a_write_through_open_syncs_every_write_whatever_the_open_command() {
    let opens: [(&str, Opener); 4] = [
        (NT, |client| nt_open(client, "F", READ_WRITE, THROUGH)),
        (LANMAN, |client| dos_open(client, DOS_THROUGH)),
        (CORE, |client| {
            client
                .paths(c::OPEN, &[DOS_THROUGH, 0], &["F"])
                .ok()
                .word(0)
        }),
        (NT, |client| {
            let fid = nt_open(client, "F", READ_WRITE, 0);
            client.set_fid(1016, fid, &THROUGH.to_le_bytes()).ok();
            fid
        }),
    ];
    for (index, (dialect, open)) in opens.into_iter().enumerate() {
        for (settings, times) in [((true, false), 1), (FREE[0], 0)] {
            let bench = Bench::new(settings);
            let mut client = bench.client(dialect);
            let fid = open(&mut client);
            let syncs = bench.syncs(|| drop(write(&mut client, fid, b"ab").ok()));
            assert_eq!(syncs, times, "way {index}, {settings:?}");
        }
    }
}

#[test]
fn mode_information_can_switch_write_through_off() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = nt_open(&mut client, "F", READ_WRITE, THROUGH);
    client.set_fid(1016, fid, &[0; 4]).ok();
    let syncs = bench.syncs(|| drop(write(&mut client, fid, b"ab").ok()));
    assert_eq!(syncs, 0);
}

#[test]
fn a_flush_of_all_files_syncs_all_opens_of_the_process_and_reports_the_first_error() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let (f, g) = (client.open("F"), client.open("G"));
    client.header.pid = Pid(99);
    let other = client.open("F");
    client.header.pid = Pid(77);
    let synced = bench.synced(|| drop(client.request(c::FLUSH, &[0xffff], b"").ok()));
    assert_eq!(
        synced,
        ["F", "", "G", ""],
        "the root must contain both names"
    );
    bench.disk.restart(alloc::boxed::Box::new(|seen: &Seen| {
        (seen.op == Op::FileSync && seen.on == "F").then_some(IO.into())
    }));
    let answer = client.request(c::FLUSH, &[0xffff], b"");
    answer.refused(Status::UNEXPECTED_IO_ERROR);
    let synced: Vec<_> = bench.disk.seen().into_iter().map(|seen| seen.on).collect();
    assert_eq!(
        synced,
        ["F", "G"],
        "a failure must not prevent other flushes"
    );
    for fid in [f, g, other] {
        client.close(fid);
    }
}

#[test]
fn the_first_sync_of_an_open_and_of_a_renamed_one_includes_the_folder() {
    let bench = Bench::new((true, false));
    bench.server.fs.add_file("D/N", b"x").unwrap();
    let mut client = bench.client(NT);
    let fid = nt_open(&mut client, "D\\N", READ_WRITE, 0);
    let flush =
        |client: &mut TestClient| bench.synced(|| drop(client.request(c::FLUSH, &[fid], b"").ok()));
    assert_eq!(flush(&mut client), ["D/N", "D"]);
    assert_eq!(flush(&mut client), ["D/N"]);
    client.paths(c::RENAME, &[0x16], &["D\\N", "M"]).ok();
    assert_eq!(
        flush(&mut client),
        ["D/N", ""],
        "the file was opened as D/N"
    );
    assert_eq!(flush(&mut client), ["D/N"]);
}

#[test]
fn changes_of_names_and_attributes_are_synced_only_with_sync_always() {
    for settings in [(true, true), (true, false), (false, true)] {
        let bench = Bench::new(settings);
        bench.server.fs.add_file("D/N", b"x").unwrap();
        let mut client = bench.client(CORE);
        let mut synced = |command, words: &[u16], paths: &[&str]| {
            let mut got = bench.synced(|| drop(client.paths(command, words, paths).ok()));
            got.dedup();
            got
        };
        let steps: [(u8, &[u16], Paths, Paths); 6] = [
            (c::CREATE_NEW, &[0x20, 0, 0], &["D\\NEW"], &["D", "D/NEW"]),
            (c::CREATE_DIRECTORY, &[], &["D\\SUB"], &["D"]),
            (c::RENAME, &[0x16], &["D\\N", "M"], &["", "D"]),
            (c::DELETE, &[0x16], &["M"], &[""]),
            (c::DELETE_DIRECTORY, &[], &["D\\SUB"], &["D"]),
            (
                c::SET_INFORMATION,
                &[1, 0, 0, 0, 0, 0, 0, 0],
                &["F", ""],
                &["F"],
            ),
        ];
        for (command, words, paths, expected) in steps {
            let got = synced(command, words, paths);
            match settings {
                (true, true) => {
                    for path in expected {
                        assert!(got.iter().any(|one| one == path), "{paths:?}: {got:?}");
                    }
                }
                _ => assert_eq!(got, [""; 0], "{paths:?} {settings:?}"),
            }
        }
    }
}

#[test]
fn a_copy_by_the_server_is_synced_only_with_sync_always() {
    for (settings, times) in [((true, true), true), ((true, false), false)] {
        let bench = Bench::new(settings);
        let mut client = bench.client(LANMAN);
        let synced = bench.synced(|| {
            client
                .paths(c::COPY, &[0xffff, 0x10, 0], &["F", "COPY"])
                .ok();
        });
        assert_eq!(
            synced.iter().any(|path| path == "COPY"),
            times,
            "{synced:?}"
        );
    }
}

#[test]
fn a_close_syncs_nothing_without_sync_always() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = client.open("F");
    write(&mut client, fid, b"ab").ok();
    assert_eq!(bench.synced(|| drop(client.close(fid).ok())), [""; 0]);
}

#[test]
fn after_a_failed_sync_the_open_refuses_writes_until_the_file_is_opened_again() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = client.open("F");
    write(&mut client, fid, b"ab").ok();
    bench.break_syncs_of_files();
    let failed = client.request(c::FLUSH, &[fid], b"");
    failed.refused(Status::UNEXPECTED_IO_ERROR);
    // As in the kernel: the pages are clean after the failure, and the next fsync succeeds.
    bench.mend();
    let before = bench.server.fs.contents("F").unwrap();
    write(&mut client, fid, b"XY").refused(Status::UNEXPECTED_IO_ERROR);
    write_andx(&mut client, fid, 1, b"XY").refused(Status::UNEXPECTED_IO_ERROR);
    let flush = client.request(c::FLUSH, &[fid], b"");
    flush.refused(Status::UNEXPECTED_IO_ERROR);
    let words = [fid, 0, 4, 0, 0];
    let cut = client.request(c::WRITE, &words, b"\x01\0\0");
    cut.refused(Status::UNEXPECTED_IO_ERROR);
    assert_eq!(bench.server.fs.contents("F").unwrap(), before);
    let read = client.request(c::READ, &[fid, 4, 0, 0, 0], b"").ok();
    assert_eq!(read.word(0), 4, "reads must still work");
    client.close(fid).ok();
    let fid = client.open("F");
    write(&mut client, fid, b"XY").ok();
    client.request(c::FLUSH, &[fid], b"").ok();
    client.close(fid).ok();
}

#[test]
fn a_write_through_with_a_failed_sync_is_an_error_and_later_writes_are_refused() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = client.open("F");
    bench.break_syncs_of_files();
    write_andx(&mut client, fid, 1, b"ab").refused(Status::UNEXPECTED_IO_ERROR);
    bench.mend();
    write_andx(&mut client, fid, 0, b"cd").refused(Status::UNEXPECTED_IO_ERROR);
}

#[test]
fn a_failed_sync_is_reported_to_all_writers_of_the_file_and_to_no_other_client() {
    let bench = Bench::new((true, false));
    let (mut ann, mut bob, mut eve) = (bench.client(NT), bench.client(NT), bench.client(NT));
    let (by_ann, by_bob, by_eve) = (ann.open("F"), bob.open("F"), eve.open("F"));
    let elsewhere = eve.open("G");
    write(&mut ann, by_ann, b"ab").ok();
    write(&mut bob, by_bob, b"cd").ok();
    write(&mut eve, elsewhere, b"ef").ok();
    bench.break_syncs_of_files();
    let failed = ann.request(c::FLUSH, &[by_ann], b"");
    failed.refused(Status::UNEXPECTED_IO_ERROR);
    bench.mend();
    // Bob's data may be lost too, so his flush must fail.
    let flush = bob.request(c::FLUSH, &[by_bob], b"");
    flush.refused(Status::UNEXPECTED_IO_ERROR);
    write(&mut bob, by_bob, b"gh").refused(Status::UNEXPECTED_IO_ERROR);
    write(&mut eve, by_eve, b"ij").ok();
    write(&mut eve, elsewhere, b"kl").ok();
    eve.request(c::FLUSH, &[elsewhere], b"").ok();
}

#[test]
fn a_close_reports_a_failed_sync_only_if_no_reply_has_reported_it() {
    let bench = Bench::new((true, false));
    let (mut ann, mut bob) = (bench.client(NT), bench.client(NT));
    let (by_ann, by_bob) = (ann.open("F"), bob.open("F"));
    write(&mut ann, by_ann, b"ab").ok();
    write(&mut bob, by_bob, b"cd").ok();
    bench.break_syncs_of_files();
    ann.request(c::FLUSH, &[by_ann], b"");
    bench.mend();
    ann.close(by_ann).ok();
    bob.close(by_bob).refused(Status::UNEXPECTED_IO_ERROR);
    write(&mut bob, by_bob, b"ef").refused(Status::INVALID_HANDLE);
}

#[test]
fn a_folder_that_cannot_be_synced_fails_the_flush_and_is_synced_by_the_next() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(NT);
    let fid = client.open("F");
    bench.disk.restart(alloc::boxed::Box::new(|seen: &Seen| {
        (seen.op == Op::FileSync && seen.on.is_empty()).then_some(IO.into())
    }));
    let flush = client.request(c::FLUSH, &[fid], b"");
    flush.refused(Status::UNEXPECTED_IO_ERROR);
    let again = bench.synced(|| drop(client.request(c::FLUSH, &[fid], b"").ok()));
    assert_eq!(again, ["F", ""], "the data was already durable");
}

#[test]
fn a_write_beyond_the_end_reserves_space_for_the_gap_with_strict_allocate() {
    for strict_allocate in [true, false] {
        let bench = Bench::with(ShareOptions {
            strict_allocate,
            ..ShareOptions::default()
        });
        let mut client = bench.client(CORE);
        let fid = client.paths(c::OPEN, &[2, 0], &["F"]).ok().word(0);
        bench.disk.restart(alloc::boxed::Box::new(|seen: &Seen| {
            (seen.op == Op::FileReserve).then_some(VfsError::NoSpace.into())
        }));
        let words = [fid, 1, 0, 0x4000, 0];
        let answer = client.request(c::WRITE, &words, b"\x01\x01\0!");
        match strict_allocate {
            true => {
                answer.refused(Status::DISK_FULL);
                assert_eq!(bench.server.fs.contents("F").unwrap(), b"0123456789");
            }
            false => assert_eq!(answer.ok().word(0), 1),
        }
    }
}

#[test]
fn writes_within_the_file_and_at_its_end_reserve_nothing() {
    let bench = Bench::new((true, false));
    let mut client = bench.client(CORE);
    let fid = client.paths(c::OPEN, &[2, 0], &["F"]).ok().word(0);
    bench.mend();
    for offset in [0u16, 5, 10, 11] {
        let words = [fid, 1, offset, 0, 0];
        client.request(c::WRITE, &words, b"\x01\x01\0!").ok();
    }
    let calls = bench.disk.seen();
    let reserved = calls.iter().filter(|seen| seen.op == Op::FileReserve);
    assert_eq!(reserved.count(), 0);
    assert_eq!(bench.server.fs.contents("F").unwrap(), b"!1234!6789!!");
}

#[test]
fn sequential_writes_query_the_length_once_and_again_after_a_truncation() {
    let bench = Bench::new((true, false));
    let (mut client, mut other) = (bench.client(NT), bench.client(NT));
    let (fid, elsewhere) = (client.open("F"), other.open("F"));
    let looks = |client: &mut TestClient, offsets: core::ops::Range<u16>| {
        bench.mend();
        for offset in offsets {
            let words = [fid, 1, offset, 0, 0];
            client.request(c::WRITE, &words, b"\x01\x01\0!").ok();
        }
        let calls = bench.disk.seen();
        let of = |op| calls.iter().filter(|seen| seen.op == op).count();
        (of(Op::FileSize), of(Op::FileReserve))
    };
    assert_eq!(looks(&mut client, 10..20), (1, 0));
    assert_eq!(looks(&mut client, 20..30), (0, 0));
    let cut = [elsewhere, 0, 4, 0, 0];
    other.request(c::WRITE, &cut, b"\x01\0\0").ok();
    assert_eq!(
        looks(&mut client, 30..40),
        (1, 1),
        "the lost write left a gap"
    );
    other.close(elsewhere).ok();
    let replaced = other.nt_create("F", READ_WRITE, (5, 0)).ok();
    assert_eq!(
        looks(&mut client, 40..50),
        (1, 1),
        "the old data was overwritten"
    );
    other.close(fid_of(&replaced)).ok();
}
