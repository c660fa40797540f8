//! Print jobs as DOS clients send them.

use crate::{
    Event,
    share::{Access, Admission, Share, ShareKind},
    testkit::{Answer, TestClient, TestServer},
};
use coax_wire::{
    command as c,
    header::{Fid, HEADER_LEN},
    io::Writer,
    smb::write_raw::mode::WRITE_THROUGH,
    status::Status,
};
use std::{format, string::String, sync::Arc, vec, vec::Vec};

fn server(access: Access) -> TestServer {
    let mut server = TestServer::new();
    let fs = server.fs.clone();
    server.edit(|inner| {
        inner.shares.push(Arc::new(Share {
            admission: Admission {
                guest: Some(access),
                ..Admission::default()
            },
            ..Share::for_guests(3, "LASER", ShareKind::Printer(fs))
        }));
    });
    server
}

fn printer(server: &TestServer) -> TestClient {
    let mut client = server.client("LANMAN1.0");
    client.connect_share("LASER");
    client
}

fn piece(data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend(data);
    bytes
}

fn printed(client: &mut TestClient) -> Option<Event> {
    core::iter::from_fn(|| client.conn.poll_event())
        .find(|event| matches!(event, Event::Printed { .. }))
}

#[test]
fn a_job_appears_complete_when_it_is_closed() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["MY JOB"])
        .ok()
        .word(0);
    for data in [&b"first "[..], b"second"] {
        client
            .request(c::WRITE_PRINT_FILE, &[fid], &piece(data))
            .ok();
    }
    assert!(server.fs.contents("MY_JOB-001.prn").is_err());
    client.request(c::CLOSE_PRINT_FILE, &[fid], b"").ok();
    assert_eq!(
        server.fs.contents("MY_JOB-001.prn").unwrap(),
        b"first second"
    );
    let told = Event::Printed {
        share: "LASER".into(),
        path: "MY_JOB-001.prn".into(),
        name: "MY_JOB".into(),
    };
    assert_eq!(printed(&mut client), Some(told));
}

#[test]
fn a_file_opened_and_written_on_a_printer_is_a_job() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let by_andx = client.open("\\SPOOL.TXT");
    let by_create = client
        .paths(c::CREATE, &[0, 0, 0], &["\\SPOOL.TXT"])
        .ok()
        .word(0);
    for fid in [by_andx, by_create] {
        for data in [b"ab", b"cd"] {
            let words = [fid, 2, 0, 0, 0];
            let reply = client.request(c::WRITE, &words, &piece(data)).ok();
            assert_eq!(reply.word(0), 2);
        }
        client.close(fid).ok();
    }
    assert_eq!(server.fs.contents("SPOOL.TXT-001.prn").unwrap(), b"abcd");
    assert_eq!(server.fs.contents("SPOOL.TXT-002.prn").unwrap(), b"abcd");
}

#[test]
fn the_server_deletes_the_job_of_a_client_that_disconnects() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["J"])
        .ok()
        .word(0);
    client
        .request(c::WRITE_PRINT_FILE, &[fid], &piece(b"half"))
        .ok();
    client.conn.handle_disconnect(client.now);
    assert!(server.fs.contents("J-001.prn").is_err());
    assert_eq!(printed(&mut client), None);
}

#[test]
fn the_print_queue_is_empty_and_disk_shares_have_none() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let reply = client.request(c::GET_PRINT_QUEUE, &[10, 0], b"").ok();
    assert_eq!((reply.word(0), reply.bytes()), (0, vec![1, 0, 0]));
    client.connect_share("DISK");
    let refused = client.request(c::GET_PRINT_QUEUE, &[10, 0], b"");
    refused.refused(Status::BAD_DEVICE_TYPE);
    let refused = client.paths(c::OPEN_PRINT_FILE, &[0, 0], &["J"]);
    refused.refused(Status::BAD_DEVICE_TYPE);
}

#[test]
fn a_user_with_read_access_can_print_but_not_change_the_spool_folder() {
    let readers = server(Access::Read);
    readers.fs.add_file("HELD-001.prn", b"another").unwrap();
    let mut client = printer(&readers);
    let by_command = client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["J"])
        .ok()
        .word(0);
    let by_create = client.paths(c::CREATE, &[0, 0, 0], &["\\F"]).ok().word(0);
    client
        .request(c::WRITE_PRINT_FILE, &[by_command], &piece(b"page"))
        .ok();
    client
        .request(c::WRITE, &[by_create, 4, 0, 0, 0], &piece(b"leaf"))
        .ok();
    client.request(c::CLOSE_PRINT_FILE, &[by_command], b"").ok();
    client.close(by_create).ok();
    assert_eq!(readers.fs.contents("J-001.prn").unwrap(), b"page");
    assert_eq!(readers.fs.contents("F-001.prn").unwrap(), b"leaf");
    client
        .paths(c::DELETE, &[0], &["\\HELD-001.prn"])
        .refused(Status::ACCESS_DENIED);
    assert!(readers.fs.contents("HELD-001.prn").is_ok());
}

#[test]
fn print_requests_with_wrong_lengths_are_refused() {
    let writers = server(Access::Write);
    let mut client = printer(&writers);
    let fid = client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["J"])
        .ok()
        .word(0);
    let lie = client.request(c::WRITE_PRINT_FILE, &[fid], b"\x01\xff\x00abc");
    lie.refused(Status::INVALID_SMB);
    let no_job = client.request(c::WRITE_PRINT_FILE, &[fid + 1], &piece(b"a"));
    no_job.refused(Status::INVALID_HANDLE);
}

#[test]
fn close_print_file_on_another_kind_of_open_is_an_error_and_leaves_it_open() {
    let mut client = server(Access::Write).client("LANMAN1.0");
    let fid = client.open("\\FILE.TXT");
    client
        .request(c::CLOSE_PRINT_FILE, &[fid], b"")
        .refused(Status::INVALID_SMB);
    client.close(fid).ok();
}

#[test]
fn deleting_a_missing_name_on_a_read_only_printer_reports_it_as_missing() {
    let server = server(Access::Read);
    server.fs.add_file("OTHER.PRN", b"a job").unwrap();
    let mut client = printer(&server);
    client
        .paths(c::DELETE, &[0x06], &["\\TEST.TXT"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::DELETE, &[0x06], &["\\OTHER.PRN"])
        .refused(Status::ACCESS_DENIED);
    assert!(server.fs.contents("OTHER.PRN").is_ok());
}

#[test]
fn nobody_reads_the_files_of_a_printers_share() {
    let server = server(Access::Write);
    server.fs.add_file("JOB-001.prn", b"another's job").unwrap();
    let mut client = server.client("NT LM 0.12");
    let data = client.header.tid;
    client.connect_share("LASER");
    let name = client.string("\\JOB-001.prn", 0);
    let open_if_it_exists = [&[0; 12][..], &[1, 0], &[0; 14], &name].concat();
    let opened = client.trans2(0, &open_if_it_exists, b"").ok();
    let job = u16::from_le_bytes(*opened.parameters.first_chunk().unwrap());
    let read = [0xff, 0, job, 0, 0, 100, 100, 0, 0, 0];
    let answer = client.request(c::READ_ANDX, &read, b"");
    assert_ne!(answer.status(), 0, "a job cannot be read");
    let mut bytes = client.string("\\JOB-001.prn", 32 + 1 + 6 + 2);
    let second = client.string("\\STOLEN", 32 + 1 + 6 + 2 + bytes.len());
    bytes.extend(second);
    let copied = client.request(c::COPY, &[data.0, 0x10, 0], &bytes);
    copied.refused(Status::ACCESS_DENIED);
    assert!(server.fs.contents("STOLEN").is_err());
}

/// Sends WRITE_RAW without data in the request.
fn write_raw(client: &mut TestClient, fid: u16, count: u16, mode: u16) -> Answer {
    let request = coax_wire::smb::write_raw::Request {
        fid: Fid(fid),
        count,
        offset: 0,
        timeout_ms: 0,
        mode,
        data: b"",
    };
    let mut out = Writer::default();
    out.zeros(HEADER_LEN);
    request.emit(&mut out);
    client.send_block(c::WRITE_RAW, &out.as_slice()[HEADER_LEN..])
}

#[test]
fn raw_writes_are_appended_to_a_job() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client.open("\\SPOOL.TXT");
    for (mode, data) in [(0, b"page"), (WRITE_THROUGH, b" two")] {
        let interim = write_raw(&mut client, fid, 4, mode).ok();
        assert_eq!(interim.header.command, c::WRITE_RAW);
        client.post_raw(data);
        if mode == WRITE_THROUGH {
            let last = client.answer().expect("a final reply").ok();
            assert_eq!(last.header.command, c::WRITE_COMPLETE);
        }
    }
    client.close(fid).ok();
    assert_eq!(
        server.fs.contents("SPOOL.TXT-001.prn").unwrap(),
        b"page two"
    );
}

#[test]
fn a_write_of_no_bytes_leaves_a_job_as_it_is() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client.open("\\SPOOL.TXT");
    client
        .request(c::WRITE, &[fid, 4, 0, 0, 0], &piece(b"page"))
        .ok();
    let reply = client.request(c::WRITE, &[fid, 0, 1, 0, 0], &piece(b""));
    assert_eq!(reply.ok().word(0), 0);
    client.close(fid).ok();
    assert_eq!(server.fs.contents("SPOOL.TXT-001.prn").unwrap(), b"page");
}

#[test]
fn write_and_unlock_appends_to_a_job_without_a_lock() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client.open("\\SPOOL.TXT");
    let words = [fid, 4, 0, 0, 0];
    let reply = client.request(c::WRITE_AND_UNLOCK, &words, &piece(b"page"));
    assert_eq!(reply.ok().word(0), 4);
    client.close(fid).ok();
    assert_eq!(server.fs.contents("SPOOL.TXT-001.prn").unwrap(), b"page");
}

#[test]
fn query_information2_tells_the_size_and_times_of_a_job() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let fid = client.open("\\SPOOL.TXT");
    client
        .request(c::WRITE, &[fid, 4, 0, 0, 0], &piece(b"page"))
        .ok();
    let reply = client.request(c::QUERY_INFORMATION2, &[fid], b"").ok();
    let midnight = coax_wire::time::DosDateTime::from_unix_ns(
        crate::testkit::NOW.0 as i64,
        coax_wire::time::ZoneMinutesWest(0),
    );
    assert_eq!(
        (reply.word(4), reply.word(5)),
        (midnight.date, midnight.time)
    );
    assert_eq!((reply.word(6), reply.word(7)), (4, 0));
    client.close(fid).ok();
}

#[test]
fn a_temporary_file_on_a_printer_is_a_job_of_the_name_in_the_reply() {
    let server = server(Access::Write);
    let mut client = printer(&server);
    let mut create = || client.paths(c::CREATE_TEMPORARY, &[0, 0, 0], &["\\"]).ok();
    let (first, second) = (create(), create());
    let name = |reply: &Answer| {
        let name = reply.bytes();
        assert_eq!((name[0], name.last()), (4, Some(&0)));
        String::from_utf8(name[1..name.len() - 1].to_vec()).unwrap()
    };
    assert_ne!(name(&first), name(&second));
    let words = [second.word(0), 4, 0, 0, 0];
    client.request(c::WRITE, &words, &piece(b"page")).ok();
    client.close(second.word(0)).ok();
    let path = format!("{}-001.prn", name(&second));
    assert_eq!(server.fs.contents(&path).unwrap(), b"page");
}

#[test]
fn a_printers_list_has_only_the_jobs_that_its_user_is_spooling() {
    let server = server(Access::Write);
    server.fs.add_file("SECRET-001.prn", b"a job").unwrap();
    let mut spooler = printer(&server);
    spooler.open("\\PLAN.TXT");
    let mut other = printer(&server);
    for (client, entries) in [(&mut spooler, 3), (&mut other, 2)] {
        let pattern = b"\x04????????.???\0\x05\0\0";
        let found = client.request(c::SEARCH, &[10, 0x16], pattern).ok();
        assert_eq!(found.word(0), entries, "with . and ..");
    }
    let mut other = server.client("NT LM 0.12");
    other.connect_share("LASER");
    let mut first = b"\x16\0\x0a\0\0\0\x01\0\0\0\0\0".to_vec();
    first.extend(other.string("SECRET-001.prn", 0));
    let found = other.trans2(1, &first, b"");
    found.refused(Status::NO_SUCH_FILE);
}

/// A job of an NT client with 7 bytes.
fn spooling(server: &TestServer) -> (TestClient, u16) {
    let mut client = server.client("NT LM 0.12");
    client.connect_share("LASER");
    let fid = client
        .paths(c::OPEN_PRINT_FILE, &[0, 1], &["LETTER"])
        .ok()
        .word(0);
    client
        .request(c::WRITE_PRINT_FILE, &[fid], &piece(b"a page\n"))
        .ok();
    (client, fid)
}

fn query(client: &mut TestClient, fid: u16, level: u16) -> Vec<u8> {
    let parameters = [fid.to_le_bytes(), level.to_le_bytes()].concat();
    client.trans2(7, &parameters, b"").ok().data
}

fn set(client: &mut TestClient, fid: u16, level: u16, data: &[u8]) -> Status {
    let parameters = [fid.to_le_bytes(), level.to_le_bytes(), [0, 0]].concat();
    Status(client.trans2(8, &parameters, data).answer.status())
}

#[test]
fn a_job_has_the_size_so_far_in_every_level_as_from_smbd() {
    let server = server(Access::Write);
    let (mut client, fid) = spooling(&server);
    let size = 7u64.to_le_bytes();
    for (level, at) in [(0x102, 8), (0x107, 48), (1005, 8), (1018, 48), (1034, 40)] {
        let data = query(&mut client, fid, level);
        assert_eq!(data[at..at + 8], size, "{level:#x}");
    }
    let times = query(&mut client, fid, 0x101);
    assert_ne!(times[..8], [0; 8]);
    assert_eq!(query(&mut client, fid, 1)[12..16], size[..4]);
    assert_eq!(query(&mut client, fid, 4), [4, 0, 0, 0], "no attributes");
    let name: Vec<u8> = "\\LETTER"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(query(&mut client, fid, 0x104)[4..], name);
}

#[test]
fn what_a_copying_program_sets_on_a_job_has_no_effect_and_a_deletion_cancels_it() {
    let server = server(Access::Read);
    let (mut client, fid) = spooling(&server);
    let len = |len: u64| len.to_le_bytes();
    for (level, data, expected) in [
        (1, &[0; 26][..], Status::OK),
        (0x101, &[0; 40], Status::OK),
        (0x103, &len(100), Status::OK),
        (0x104, &len(7), Status::OK),
        (0x104, &len(3), Status::INVALID_DEVICE_REQUEST),
        (
            1010,
            b"\0\0\0\0\0\0\0\0\x02\0\0\0X\0",
            Status::INVALID_DEVICE_REQUEST,
        ),
        (2, &[4, 0, 0, 0], Status::INVALID_DEVICE_REQUEST),
        (0x102, &[1], Status::OK),
        (0x102, &[0], Status::OK),
    ] {
        assert_eq!(set(&mut client, fid, level, data), expected, "{level:#x}");
    }
    client
        .request(c::SET_INFORMATION2, &[fid, 0, 0, 0, 0, 0, 0], b"")
        .ok();
    client.close(fid).ok();
    assert_eq!(server.fs.contents("LETTER-001.prn").unwrap(), b"a page\n");
    let (mut client, fid) = spooling(&server);
    assert_eq!(set(&mut client, fid, 0x102, &[1]), Status::OK);
    assert_eq!(query(&mut client, fid, 0x102)[20], 1, "delete pending");
    client.close(fid).ok();
    assert!(server.fs.contents("LETTER-002.prn").is_err());
    assert_eq!(printed(&mut client), None);
}

#[test]
fn nobody_queries_or_cancels_anothers_job() {
    let server = server(Access::Write);
    let (_spooler, fid) = spooling(&server);
    let mut other = server.client("NT LM 0.12");
    other.connect_share("LASER");
    let parameters = [fid.to_le_bytes(), [2, 1]].concat();
    other
        .trans2(7, &parameters, b"")
        .refused(Status::INVALID_HANDLE);
    assert_eq!(set(&mut other, fid, 0x102, &[1]), Status::INVALID_HANDLE);
}
