//! Asking for attributes, times, lengths and space, and setting them.

use super::{oem, wide};
use crate::{
    header::Fid,
    smb::{
        query_information::{self, DosTimes, Request2, Response2},
        query_information_disk,
        testkit::{block_bytes, cut_and_bent, first, message},
    },
    time::{DosDateTime, Utime},
};

#[test]
fn a_question_about_a_path_or_an_open_file_is_understood() {
    for (path, unicode) in [(oem(b"\\A"), false), (wide(b"\\\0A\0"), true)] {
        let sent = message(|out| query_information::Request { path }.emit(out));
        assert_eq!(
            query_information::parse_path(&first(&sent), unicode),
            Ok(path)
        );
    }
    let bytes = block_bytes(|out| query_information::Request { path: oem(b"\\A") }.emit(out));
    assert_eq!(bytes, b"\0\x04\0\x04\\A\0");
    let sent = message(|out| Request2 { fid: Fid(5) }.emit(out));
    assert_eq!(query_information::parse_fid(&first(&sent)), Ok(Fid(5)));
}

#[test]
fn file_information_survives_a_round_trip() {
    let reply = query_information::Response {
        attributes: 0x21,
        modified: Utime(3),
        size: 0xffff_ffff,
    };
    let sent = message(|out| reply.emit(out));
    cut_and_bent(&sent, |block| {
        let _ = query_information::Response::parse(block);
    });
    assert_eq!(query_information::Response::parse(&first(&sent)), Ok(reply));
    let stamp = DosDateTime {
        date: 0x4f8f,
        time: 0x64b2,
    };
    let reply = Response2 {
        times: DosTimes {
            created: stamp,
            accessed: DosDateTime::default(),
            modified: stamp,
        },
        size: 1,
        allocation: 512,
        attributes: 0x20,
    };
    let sent = message(|out| reply.emit(out));
    cut_and_bent(&sent, |block| {
        let _ = Response2::parse(block);
    });
    assert_eq!(Response2::parse(&first(&sent)), Ok(reply));
}

#[test]
fn disk_information_survives_a_round_trip() {
    let reply = query_information_disk::Response {
        total_units: 0xffff,
        blocks_per_unit: 64,
        block_size: 512,
        free_units: 9,
    };
    let sent = message(|out| reply.emit(out));
    cut_and_bent(&sent, |block| {
        let _ = query_information_disk::Response::parse(block);
    });
    assert_eq!(
        query_information_disk::Response::parse(&first(&sent)),
        Ok(reply)
    );
}
