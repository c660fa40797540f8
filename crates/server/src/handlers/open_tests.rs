use super::*;
use crate::testkit::{Answer, TestClient, TestServer};
use coax_wire::header::HEADER_LEN;

const NT: &str = "NT LM 0.12";

/// OPEN_ANDX with access mode, open mode, allocation size and flags.
fn open_andx(client: &mut TestClient, path: &str, access: u16, mode: u16, size: u32) -> Answer {
    let words = [
        0xff,
        0,
        0x10,
        access,
        0x16,
        0,
        0,
        0,
        mode,
        size as u16,
        (size >> 16) as u16,
        0,
        0,
        0,
        0,
    ];
    let bytes = client.string(path, HEADER_LEN + 1 + 30 + 2);
    client.request(0x2d, &words, &bytes)
}

/// Opens or creates with NT_CREATE_ANDX.
fn nt_create(client: &mut TestClient, path: &str, access: u32, options: u32) -> Answer {
    client.nt_create(path, access, (3, options))
}

#[test]
fn open_andx_creates_a_file_with_the_requested_length() {
    for dialect in ["LANMAN1.0", NT] {
        let mut client = TestServer::new().client(dialect);
        let made = open_andx(&mut client, "\\LONG", 2, 0x11, 0x10_0000).ok();
        assert_eq!((made.word(6), made.word(7)), (0, 0x10));
        client.close(made.word(2)).ok();
        let again = open_andx(&mut client, "\\LONG", 2, 0x01, 5).ok();
        assert_eq!(
            (again.word(6), again.word(7)),
            (0, 0x10),
            "opened without a change"
        );
        client.close(again.word(2)).ok();
        let cut = open_andx(&mut client, "\\LONG", 2, 0x02, 5).ok();
        assert_eq!((cut.word(6), cut.word(7)), (5, 0));
    }
}

#[test]
fn opening_to_execute_without_a_disposition_creates() {
    let mut client = TestServer::new().client(NT);
    open_andx(&mut client, "\\a.exe", 0x42, 0, 0).refused(Status::BAD_ACCESS);
    let made = open_andx(&mut client, "\\a.exe", 0x43, 0, 0).ok();
    assert_eq!(made.word(11), 2, "created");
    let rights = u32::from(made.word(15)) | u32::from(made.word(16)) << 16;
    assert_eq!(
        (made.block().words.len() / 2, rights),
        (19, STANDARD_RIGHTS)
    );
    open_andx(&mut client, "\\a.exe", 0x43, 0, 0).refused(Status::OBJECT_NAME_COLLISION);
}

#[test]
fn the_time_in_create_sets_the_last_write_time() {
    let mut client = TestServer::new().client("MICROSOFT NETWORKS 1.03");
    let later = (crate::testkit::NOW.0 / 1_000_000_000) as u32 + 3 * 86_400;
    let words = [0, later as u16, (later >> 16) as u16];
    let made = client.paths(0x03, &words, &["\\NEW"]).ok();
    client.close(made.word(0)).ok();
    let told = client.paths(0x08, &[], &["\\NEW"]).ok();
    let modified = u32::from(told.word(1)) | u32::from(told.word(2)) << 16;
    assert_eq!(modified, later);
}

#[test]
fn undefined_rights_are_refused() {
    let mut client = TestServer::new().client(NT);
    for bit in (9..16).chain([21, 22, 23, 26, 27]) {
        nt_create(&mut client, "\\f", 1 << bit, 0).refused(Status::ACCESS_DENIED);
        nt_create(&mut client, "\\f", 0x0200_0000 | 1 << bit, 0).refused(Status::ACCESS_DENIED);
    }
    client
        .query_path(0x101, "\\f")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    nt_create(&mut client, "\\f", 0x0100_0000, 0).ok();
}

#[test]
fn undefined_options_are_refused_and_those_without_effect_are_ignored() {
    const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
    const SYNCHRONIZE: u32 = 0x0010_0000;
    let mut client = TestServer::new().client(NT);
    for bit in (24..32).chain([4, 5, 20]) {
        nt_create(&mut client, "\\f", MAXIMUM_ALLOWED, 1 << bit).refused(Status::INVALID_PARAMETER);
    }
    nt_create(&mut client, "\\f", MAXIMUM_ALLOWED, 0x2000).refused(Status::NOT_SUPPORTED);
    for bit in [1, 2, 3, 6, 7, 23] {
        nt_create(&mut client, "\\f", MAXIMUM_ALLOWED, 1 << bit).ok();
    }
    nt_create(&mut client, "\\f", 1 | SYNCHRONIZE, 0x20).ok();
}
