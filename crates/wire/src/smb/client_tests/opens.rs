//! Opening and creating.

use super::{oem, wide};
use crate::{
    Error,
    header::Fid,
    smb::{
        close, nt_create_andx,
        open::{self, Create, Open, OpenResponse},
        open_andx::{self, AccessMode},
        testkit::{block_bytes, cut_and_bent, first, message, with_header},
    },
    time::{FileTime, Utime},
};

#[test]
fn core_opens_and_creates_carry_a_formatted_path_in_both_encodings() {
    for (path, unicode) in [(oem(b"\\A.TXT"), false), (wide(b"\\\0A\0"), true)] {
        let request = Open {
            access_mode: 0x42,
            search_attributes: 0x16,
            path,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(Open::parse(&first(&sent), unicode), Ok(request));
        let request = Create {
            attributes: 0x20,
            time: Utime(7),
            path,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(Create::parse(&first(&sent), unicode), Ok(request));
    }
}

#[test]
fn a_core_open_has_these_bytes() {
    let request = Open {
        access_mode: 2,
        search_attributes: 6,
        path: oem(b"F"),
    };
    assert_eq!(
        block_bytes(|out| request.emit(out)),
        b"\x02\x02\0\x06\0\x03\0\x04F\0"
    );
}

#[test]
fn replies_of_core_opens_survive_a_round_trip() {
    let reply = OpenResponse {
        fid: Fid(3),
        attributes: 0x20,
        modified: Utime(0x5df6_291e),
        size: 1124,
        access_mode: 2,
    };
    let sent = message(|out| reply.emit(out));
    cut_and_bent(&sent, |block| {
        let _ = OpenResponse::parse(block);
    });
    assert_eq!(OpenResponse::parse(&first(&sent)), Ok(reply));
    let sent = message(|out| open::emit_create_response(Fid(0), out));
    assert_eq!(open::parse_create_response(&first(&sent)), Ok(Fid(0)));
    let sent = message(|out| open::emit_create_temporary_response(Fid(9), b"AAAA0001", out));
    cut_and_bent(&sent, |block| {
        let _ = open::parse_create_temporary_response(block);
    });
    let parsed = open::parse_create_temporary_response(&first(&sent));
    assert_eq!(parsed, Ok((Fid(9), oem(b"AAAA0001"))));
}

#[test]
fn a_temporary_file_whose_name_lacks_format_and_end_is_understood() {
    let sent = with_header(b"\x01\x09\0\x02\0AB");
    let parsed = open::parse_create_temporary_response(&first(&sent));
    assert_eq!(parsed, Ok((Fid(9), oem(b"AB"))));
}

#[test]
fn an_open_andx_survives_a_round_trip_in_both_encodings() {
    for (path, unicode) in [(oem(b"\\A.TXT"), false), (wide(b"\\\0A\0"), true)] {
        let request = open_andx::Request {
            flags: open_andx::flags::QUERY_INFORMATION,
            access_mode: AccessMode(0x42),
            search_attributes: 0x16,
            attributes: 0x20,
            created: Utime(1),
            open_mode: 0x12,
            allocation: 4096,
            timeout_ms: 0xffff_ffff,
            path,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(first(&sent).word_count(), 15);
        assert_eq!(
            open_andx::Request::parse(&first(&sent), unicode),
            Ok(request)
        );
    }
}

#[test]
fn both_sizes_of_open_andx_replies_survive_a_round_trip() {
    for extended in [None, Some((0x001f_01ff, 0x0012_0089))] {
        let reply = open_andx::Response {
            fid: Fid(0xffff),
            attributes: 1,
            modified: Utime(2),
            size: 3,
            access: 4,
            resource_type: 0,
            pipe_state: 5,
            action: 0x8001,
            extended,
        };
        let sent = message(|out| reply.emit(out));
        cut_and_bent(&sent, |block| {
            let _ = open_andx::Response::parse(block);
        });
        assert_eq!(open_andx::Response::parse(&first(&sent)), Ok(reply));
    }
}

#[test]
fn windows_98_creates_a_file_with_identifier_0() {
    let sent = with_header(
        b"\x0f\xff\0\0\0\0\0\x20\0\x1e\x29\xf6\x5d\0\0\0\0\x02\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0",
    );
    let reply = open_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!(
        (reply.fid, reply.attributes, reply.action),
        (Fid(0), 0x20, 2)
    );
    assert_eq!((reply.modified, reply.access), (Utime(0x5df6_291e), 2));
    let short = with_header(b"\x04\xff\0\0\0\0\0\x20\0\0\0");
    assert_eq!(
        open_andx::Response::parse(&first(&short)),
        Err(Error::Short {
            what: "last write time"
        })
    );
}

#[test]
fn an_nt_create_survives_a_round_trip_in_both_encodings() {
    for (path, unicode) in [
        (oem(b"\\A.TXT"), false),
        (wide(b"\\\0A\0"), true),
        (wide(b""), true),
    ] {
        let request = nt_create_andx::Request {
            flags: 0x16,
            root: 0,
            access: 0x0002_0089,
            allocation: 1 << 33,
            attributes: 0x80,
            share_access: 7,
            disposition: 1,
            options: nt_create_andx::options::NON_DIRECTORY,
            impersonation: 2,
            path,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(first(&sent).word_count(), 24);
        assert_eq!(
            nt_create_andx::Request::parse(&first(&sent), unicode),
            Ok(request)
        );
    }
}

#[test]
fn both_sizes_of_nt_create_replies_survive_a_round_trip() {
    for extended in [None, Some((0x001f_01ff, 0x0012_0089))] {
        let reply = nt_create_andx::Response {
            oplock: 2,
            fid: Fid(0x4000),
            action: 1,
            created: FileTime(1),
            accessed: FileTime(2),
            modified: FileTime(3),
            changed: FileTime(4),
            attributes: 0x10,
            allocation: 1 << 40,
            size: 5 << 32,
            resource_type: 2,
            pipe_state: 0x5ff,
            directory: true,
            extended,
        };
        let sent = message(|out| reply.emit(out));
        cut_and_bent(&sent, |block| {
            let _ = nt_create_andx::Response::parse(block);
        });
        assert_eq!(nt_create_andx::Response::parse(&first(&sent)), Ok(reply));
    }
}

/// Windows XP's reply: the word count is 42, but there are 50 words.
const XP_CREATED: &[u8] = b"\x2a\xff\0\x87\0\0\0\x40\x01\0\0\0\x24\x4d\x8d\xd4\xd9\xd9\xcc\x01\x10\x6b\x3f\x3a\x89\x03\xcd\x01\x16\x56\xb1\xfc\x86\x03\xcd\x01\x16\x56\xb1\xfc\x86\x03\xcd\x01\x16\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\x01\x1f\0\0\0\0\0\0\0";

#[test]
fn windows_counts_42_words_of_its_extended_reply_and_sends_50() {
    let sent = with_header(XP_CREATED);
    let reply = nt_create_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!(
        (reply.fid, reply.action, reply.attributes),
        (Fid(0x4000), 1, 0x16)
    );
    assert!(reply.directory && reply.pipe_state == 7);
    assert_eq!(reply.extended, Some((0x001f_01ff, 0)));
    let cut = &sent[..sent.len() - 8];
    assert_eq!(
        nt_create_andx::Response::parse(&first(cut))
            .unwrap()
            .extended,
        None
    );
}

#[test]
fn a_close_survives_a_round_trip() {
    let request = close::Request {
        fid: Fid(7),
        modified: Utime(0xffff_ffff),
    };
    let sent = message(|out| request.emit(out));
    assert_eq!(&sent[32..], b"\x03\x07\0\xff\xff\xff\xff\0\0");
    assert_eq!(close::Request::parse(&first(&sent)), Ok(request));
}
