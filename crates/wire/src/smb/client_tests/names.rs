//! Names and searches of the core protocol, copies, print jobs, device control.

use super::{oem, wide};
use crate::{
    block::WireStr,
    header::{Fid, Sid, Tid},
    smb::{
        copy, delete, directory, find_close2, ioctl, print, rename, search,
        testkit::{block_bytes, cut_and_bent, first, message, with_header},
    },
    time::DosDateTime,
};

/// Two names in each encoding, with its flag.
fn names_in_both_encodings() -> [(bool, WireStr<'static>, WireStr<'static>); 2] {
    [
        (false, oem(b"\\A.TXT"), oem(b"\\B")),
        (true, wide(b"\\\0A\0"), wide(b"\\\0")),
    ]
}

#[test]
fn requests_about_one_name_come_back_in_both_encodings() {
    for (unicode, path, _) in names_in_both_encodings() {
        let request = delete::Request {
            search_attributes: 6,
            path,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(delete::Request::parse(&first(&sent), unicode), Ok(request));
        let request = directory::Request { path };
        let sent = message(|out| request.emit(out));
        assert_eq!(
            directory::Request::parse(&first(&sent), unicode),
            Ok(request)
        );
    }
}

#[test]
fn requests_about_two_names_come_back_in_both_encodings() {
    for (unicode, path, new) in names_in_both_encodings() {
        let request = rename::Request {
            search_attributes: 0x16,
            old: path,
            new,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(rename::Request::parse(&first(&sent), unicode), Ok(request));
        let request = rename::NtRequest {
            search_attributes: 0x16,
            level: rename::level::SET_LINK_INFO,
            reserved: 0,
            old: path,
            new,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(
            rename::NtRequest::parse(&first(&sent), unicode),
            Ok(request)
        );
        let request = copy::Request {
            tid2: Tid(3),
            open_function: copy::open_function::CREATE,
            flags: copy::flags::MUST_BE_FILE,
            source: path,
            target: new,
        };
        let sent = message(|out| request.emit(out));
        assert_eq!(copy::Request::parse(&first(&sent), unicode), Ok(request));
    }
}

#[test]
fn a_rename_has_these_bytes() {
    let request = rename::Request {
        search_attributes: 0x16,
        old: oem(b"A"),
        new: oem(b"B"),
    };
    let bytes = block_bytes(|out| request.emit(out));
    assert_eq!(bytes, b"\x01\x16\0\x06\0\x04A\0\x04B\0");
}

#[test]
fn a_copys_reply_names_what_failed_with_or_without_a_format() {
    let sent = message(|out| copy::emit_response(1, b"\\B.1\0", out));
    cut_and_bent(&sent, |block| {
        let _ = copy::Response::parse(block, true);
    });
    let reply = copy::Response::parse(&first(&sent), false).unwrap();
    assert_eq!((reply.count, reply.failed), (1, oem(b"\\B.1")));
    let sent = with_header(b"\x01\x02\0\x03\0\x04A\0");
    let reply = copy::Response::parse(&first(&sent), false).unwrap();
    assert_eq!((reply.count, reply.failed), (2, oem(b"A")));
}

#[test]
fn the_end_of_a_search_names_it() {
    let request = find_close2::Request { sid: Sid(0x0801) };
    let sent = message(|out| request.emit(out));
    assert_eq!(&sent[32..], b"\x01\x01\x08\0\0");
    assert_eq!(find_close2::Request::parse(&first(&sent)), Ok(request));
}

/// The entry that Windows 98 sent to an MS-DOS client for a folder `TEST`.
const TEST_ENTRY: &[u8] =
    b"\x83???????????\x16\x02\0\x01\0\0\0\0\0\x10\xc9\x64\x8f\x4f\0\0\0\0TEST\0   \0\0\0\0\0";

#[test]
fn a_search_starts_without_a_resume_key_and_continues_with_the_last_entry_s() {
    let begin = search::Request {
        max_count: 20,
        search_attributes: 0x16,
        path: oem(b"\\????????.???"),
        resume_key: None,
    };
    assert_eq!(
        block_bytes(|out| begin.emit(out)),
        b"\x02\x14\0\x16\0\x12\0\x04\\????????.???\0\x05\0\0"
    );
    let entry = search::Entry::parse(TEST_ENTRY).unwrap();
    let next = search::Request {
        path: oem(b""),
        resume_key: Some(entry.key),
        ..begin
    };
    let sent = message(|out| next.emit(out));
    assert_eq!(search::Request::parse(&first(&sent), false), Ok(next));
    let key = &TEST_ENTRY[..search::RESUME_KEY_LEN];
    assert_eq!(&sent[32 + 7..][..5], b"\x04\0\x05\x15\0");
    assert_eq!(&sent[32 + 12..], key);
}

#[test]
fn an_entry_of_windows_98_yields_its_name_without_padding() {
    let entry = search::Entry::parse(TEST_ENTRY).unwrap();
    assert_eq!(
        (entry.name, entry.attributes, entry.size),
        (&b"TEST"[..], 0x10, 0)
    );
    assert_eq!(
        entry.modified,
        DosDateTime {
            date: 0x4f8f,
            time: 0x64c9
        }
    );
    let mut padded = TEST_ENTRY.to_vec();
    padded[30..].copy_from_slice(b"A.B          ");
    assert_eq!(search::Entry::parse(&padded).unwrap().name, b"A.B");
    assert!(search::Entry::parse(&TEST_ENTRY[..42]).is_err());
}

#[test]
fn a_search_reply_has_as_many_entries_as_it_counts_and_holds() {
    let two = [TEST_ENTRY, TEST_ENTRY].concat();
    let sent = message(|out| search::emit_response(2, &two, out));
    cut_and_bent(&sent, |block| {
        if let Ok(reply) = search::Response::parse(block) {
            assert!(reply.entries().count() <= 2);
        }
    });
    let reply = search::Response::parse(&first(&sent)).unwrap();
    assert_eq!((reply.count, reply.entries().count()), (2, 2));
    let boasting = message(|out| search::emit_response(9, &two[..80], out));
    let reply = search::Response::parse(&first(&boasting)).unwrap();
    assert_eq!((reply.count, reply.entries().count()), (9, 1));
    let bare = with_header(b"\x01\0\0\0\0");
    assert_eq!(search::Response::parse(&first(&bare)).unwrap().count, 0);
}

#[test]
fn print_requests_come_back() {
    let open = print::Open {
        setup_bytes: 3,
        mode: 1,
        identifier: oem(b"JOB"),
    };
    let sent = message(|out| open.emit(out));
    assert_eq!(&sent[32..], b"\x02\x03\0\x01\0\x05\0\x04JOB\0");
    assert_eq!(print::Open::parse(&first(&sent), false), Ok(open));
    let write = print::Write {
        fid: Fid(5),
        data: b"text",
    };
    let sent = message(|out| write.emit(out));
    assert_eq!(print::Write::parse(&first(&sent)), Ok(write));
    let sent = message(|out| print::emit_close(Fid(5), out));
    assert_eq!(&sent[32..], b"\x01\x05\0\0\0");
    let sent = message(|out| print::emit_open_response(Fid(5), out));
    assert_eq!(print::parse_open_response(&first(&sent)), Ok(Fid(5)));
    let queue = print::GetQueue {
        max_count: -4,
        start: 2,
    };
    let sent = message(|out| queue.emit(out));
    assert_eq!(&sent[32..], b"\x02\xfc\xff\x02\0\0\0");
    assert_eq!(print::GetQueue::parse(&first(&sent)), Ok(queue));
}

#[test]
fn a_print_queue_survives_a_round_trip_and_wrong_counts_are_detected() {
    let entry = print::QueueEntry {
        queued: DosDateTime {
            date: 0x4f8f,
            time: 0x64c9,
        },
        status: 3,
        job: 17,
        size: 4711,
        originator: oem(b"HANS"),
    };
    let queue = print::Queue {
        restart: 2,
        entries: [entry, entry].to_vec(),
    };
    let sent = message(|out| queue.emit(out));
    assert_eq!(first(&sent).bytes[1..3], [56, 0]);
    cut_and_bent(&sent, |block| {
        if let Ok(queue) = print::Queue::parse(block) {
            assert!(queue.entries.len() <= 2);
        }
    });
    assert_eq!(print::Queue::parse(&first(&sent)), Ok(queue));
    let empty = message(print::emit_empty_queue);
    assert!(
        print::Queue::parse(&first(&empty))
            .unwrap()
            .entries
            .is_empty()
    );
}

#[test]
fn device_control_survives_a_round_trip() {
    let request = ioctl::Request {
        fid: Fid(9),
        category: ioctl::CATEGORY_PRINTER,
        function: ioctl::GET_PRINTER_ID,
    };
    let sent = message(|out| request.emit(32, out));
    assert_eq!(
        (first(&sent).word_count(), first(&sent).word(6)),
        (14, Ok(32))
    );
    assert_eq!(ioctl::Request::parse(&first(&sent)), Ok(request));
    let reply = ioctl::Response { data: b"\x07\0SRV" };
    let sent = message(|out| reply.emit(out));
    assert_eq!(first(&sent).word_count(), 8);
    cut_and_bent(&sent, |block| {
        let _ = ioctl::Response::parse(block);
    });
    assert_eq!(ioctl::Response::parse(&first(&sent)), Ok(reply));
}
