use super::*;
use crate::testkit::{TestClient, TestServer};
use coax_wire::io::Writer;

fn list(eas: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Writer::default();
    let eas = eas.iter().map(|(name, value)| Ea {
        flags: 0,
        name: name.as_bytes(),
        value: value.as_bytes(),
    });
    ea::emit_list(eas, &mut out);
    out.into_vec()
}

/// Opens or creates for reading and writing.
fn open2_parameters(client: &TestClient, path: &str) -> Vec<u8> {
    let mut out = Writer::default();
    out.u16(0)
        .u16(0x42)
        .u16(0)
        .u16(0x20)
        .u32(0)
        .u16(0x11)
        .u32(0);
    out.zeros(10).bytes(&client.string(path, 0));
    out.into_vec()
}

#[test]
fn open2_creates_with_attributes_and_returns_the_length_of_their_list() {
    for dialect in ["LANMAN1.0", "NT LM 0.12"] {
        let mut client = TestServer::new().client(dialect);
        let eas = list(&[(".TYPE", "Plain Text"), ("B", "2")]);
        let parameters = open2_parameters(&client, "\\NEW");
        let made = client.trans2(0, &parameters, &eas).ok();
        assert_eq!(made.parameters.len(), 30);
        assert_eq!(made.parameters[18..20], [2, 0], "created");
        assert_eq!(usize::from(made.parameters[26]), eas.len());
        assert_eq!(client.query_path(4, "\\NEW").ok().data, eas);
        let again = client.trans2(0, &parameters, b"").ok();
        assert_eq!(again.parameters[18..20], [1, 0], "opened");
        assert_eq!(
            again.parameters[12..14],
            [0x42, 0],
            "expected the requested mode"
        );
        let mut neither = parameters.clone();
        neither[12] = 0;
        client
            .trans2(0, &neither, b"")
            .refused(Status::OBJECT_NAME_COLLISION);
    }
}

#[test]
fn a_file_whose_attributes_have_bad_names_is_not_created() {
    let mut client = TestServer::new().client("LANMAN1.0");
    let parameters = open2_parameters(&client, "\\NEW");
    client
        .trans2(0, &parameters, &list(&[("A:B", "x")]))
        .refused(Status::INVALID_EA_NAME);
    client
        .trans2(0, &parameters, b"\xff\xff\0\0")
        .refused(Status::EA_LIST_INCONSISTENT);
    client
        .query_path(1, "\\NEW")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn a_folder_is_created_with_attributes() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let mut parameters = alloc::vec![0; 4];
    parameters.extend(client.string("\\dir", 0));
    let eas = list(&[(".ICON", "x")]);
    client.trans2(0x0d, &parameters, &eas).ok();
    assert_eq!(client.query_path(4, "\\dir").ok().data, eas);
    client
        .trans2(0x0d, &parameters, b"")
        .refused(Status::OBJECT_NAME_COLLISION);
    let mut bad = alloc::vec![0; 4];
    bad.extend(client.string("\\bad", 0));
    client
        .trans2(0x0d, &bad, &list(&[("A*", "x")]))
        .refused(Status::INVALID_EA_NAME);
    client
        .query_path(1, "\\bad")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn functions_that_no_server_implements_are_refused() {
    let mut client = TestServer::new().client("NT LM 0.12");
    for function in [0x09, 0x0a, 0x0b, 0x0c, 0x0e, 0x11] {
        client
            .trans2(function, &[0; 8], b"")
            .refused(Status::NOT_IMPLEMENTED);
    }
    client
        .trans2(0x10, b"\x03\0\\\0A\0\0\0", b"")
        .refused(Status::NOT_FOUND);
    client
        .request(0x27, &[1, 0x53, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], b"")
        .refused(Status::INVALID_SMB);
}
