//! The driver against a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::{fs, io::Write, net::TcpListener, thread};

use coax_client::{CopySpec, Error as SmbError, Operation, Outcome};
use coax_netbios::Transport;
use coax_wire::{command, status::Status};

use super::{
    local::{Compare, FileEnd, FromStream, InOrder, Nothing},
    ops::{is_missing, says},
    testkit::{Served, modern, noise},
    *,
};

const SIZE: usize = 3_000_001;

#[test]
fn a_file_is_copied_both_ways_unchanged_over_either_transport() {
    let served = Served::start("", None);
    for place in [served.location(""), served.nbt("")] {
        let data = noise(SIZE);
        let mut connection = crate::client::open(&place, &modern(), &Options::default()).unwrap();
        let mut source = tempfile::tempfile().unwrap();
        source.write_all(&data).unwrap();
        let mut source = FileEnd::new(source, "source", 0);
        let put = Operation::Copy(CopySpec::put("A.BIN", SIZE as u64));
        let outcome = connection.run(put, &mut source).unwrap();
        assert!(matches!(outcome, Outcome::Copied { bytes, .. } if bytes == SIZE as u64));
        assert!(fs::read(served.folder().join("A.BIN")).unwrap() == data);
        let get = || Operation::Copy(CopySpec::get("A.BIN"));
        let mut sink = InOrder::new(Vec::new(), "sink");
        connection.run(get(), &mut sink).unwrap();
        assert!(sink.finish().unwrap() == data);
        let mut same = Compare::new(source.file().try_clone().unwrap(), "source");
        connection.run(get(), &mut same).unwrap();
        assert_eq!((same.differs_at(), same.compared()), (None, SIZE as u64));
    }
}

#[test]
fn a_stream_of_unknown_length_can_be_put() {
    let served = Served::start("", None);
    let data = noise(400_000);
    let mut spec = CopySpec::put("S.BIN", 0);
    (spec.size, spec.seekable) = (None, false);
    let mut from = FromStream::new(data.as_slice(), "stream");
    served
        .connect()
        .unwrap()
        .run(Operation::Copy(spec), &mut from)
        .unwrap();
    assert!(fs::read(served.folder().join("S.BIN")).unwrap() == data);
    assert_eq!(from.read_bytes(), 400_000);
}

#[test]
fn progress_is_reported_and_exchanges_are_recorded_on_request() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), noise(SIZE)).unwrap();
    let options = Options {
        record: true,
        ..Options::default()
    };
    let mut connection = crate::client::open(&served.location(""), &modern(), &options).unwrap();
    let mut progress = Vec::new();
    let get = Operation::Copy(CopySpec::get("A.BIN"));
    connection
        .run_watched(get, &mut Nothing, &mut |bytes| progress.push(bytes))
        .unwrap();
    assert!(
        progress.len() > 5 && progress.is_sorted() && progress[progress.len() - 1] <= SIZE as u64
    );
    let exchanges = connection.exchanges();
    let read: u64 = exchanges
        .iter()
        .filter(|exchange| exchange.command == command::READ_ANDX)
        .map(|exchange| u64::from(exchange.bytes))
        .sum();
    assert_eq!(read, SIZE as u64);
    assert!(connection.exchanges().is_empty());
}

#[test]
fn a_refusal_leaves_the_connection_usable() {
    let served = Served::start("", None);
    let mut connection = served.connect().unwrap();
    let error = connection
        .run(Operation::Copy(CopySpec::get("NONE")), &mut Nothing)
        .unwrap_err();
    let status = error.smb().and_then(SmbError::status);
    assert_eq!(status, Some(Status::OBJECT_NAME_NOT_FOUND));
    assert!(!connection.is_over());
    let path = "NEW".into();
    connection
        .run(Operation::MakeDirectory { path }, &mut Nothing)
        .unwrap();
    assert!(served.folder().join("NEW").is_dir());
}

#[test]
fn a_truncated_local_file_ends_the_connection_with_a_clear_error() {
    let served = Served::start("", None);
    let mut connection = served.connect().unwrap();
    let mut source = tempfile::tempfile().unwrap();
    source.write_all(&noise(500_000)).unwrap();
    let put = Operation::Copy(CopySpec::put("A.BIN", 900_000));
    let error = connection
        .run(put, &mut FileEnd::new(source, "source", 0))
        .unwrap_err();
    assert!(
        matches!(&error, Error::Shrunk { end, .. } if *end == 500_000),
        "{error}"
    );
    assert!(connection.is_over());
}

#[test]
fn a_server_that_closes_gives_an_error_at_once() {
    let mut served = Served::start("", None);
    let mut connection = served.connect().unwrap();
    served.stop();
    let error = connection
        .run(Operation::DiskSpace, &mut Nothing)
        .unwrap_err();
    assert!(
        matches!(error, Error::Smb(SmbError::Closed { .. })),
        "{error}"
    );
    assert!(connection.is_over());
}

#[test]
fn a_wrong_password_gives_the_servers_error() {
    let served = Served::start("", Some(("anna", "right")));
    let mut place = served.location("");
    place.user = Some("anna".into());
    place.password = Some("right".into());
    crate::client::open(&place, &modern(), &Options::default()).unwrap();
    place.password = Some("wrong".into());
    let error = crate::client::open(&place, &modern(), &Options::default())
        .err()
        .unwrap();
    let status = error.smb().and_then(SmbError::status);
    assert_eq!(status, Some(Status::LOGON_FAILURE), "{error}");
    assert!(!format!("{error} {error:?}").contains("wrong"));
}

#[test]
fn each_dialect_can_be_offered_alone() {
    let served = Served::start("server min protocol = CORE", None);
    for dialect in coax_wire::dialect::DIALECTS {
        let options = Options {
            dialect: Some(dialect.name),
            ..Options::default()
        };
        let connection = crate::client::open(&served.location(""), &modern(), &options)
            .unwrap_or_else(|error| panic!("{}: {error}", dialect.name));
        assert_eq!(connection.link().dialect.name, dialect.name);
    }
}

/// Renames A over B, which exists, and returns the files of the share with their contents.
fn replaced(served: &Served, connection: &mut Connection) -> (Result<(), Error>, Vec<String>) {
    fs::write(served.folder().join("B"), "old").unwrap();
    let outcome = connection.rename_over("A", "B");
    let mut files: Vec<String> = fs::read_dir(served.folder())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            name + "=" + &fs::read_to_string(&path).unwrap_or_default()
        })
        .collect();
    files.sort();
    (outcome, files)
}

#[test]
fn a_file_replaces_another_in_every_dialect_and_no_third_file_stays() {
    let served = Served::start("server min protocol = CORE", None);
    for dialect in coax_wire::dialect::DIALECTS {
        let options = Options {
            dialect: Some(dialect.name),
            ..Options::default()
        };
        let mut connection =
            crate::client::open(&served.location(""), &modern(), &options).unwrap();
        fs::write(served.folder().join("A"), dialect.name).unwrap();
        let (outcome, files) = replaced(&served, &mut connection);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", dialect.name));
        assert_eq!(files, [format!("B={}", dialect.name)]);
    }
}

#[test]
fn a_missing_source_or_a_folder_does_not_replace_a_file() {
    let served = Served::start("", None);
    let mut connection = served.connect().unwrap();
    let (outcome, files) = replaced(&served, &mut connection);
    assert!(is_missing(&outcome.unwrap_err()));
    assert_eq!(files, ["B=old"]);
    fs::create_dir(served.folder().join("A")).unwrap();
    let (outcome, files) = replaced(&served, &mut connection);
    assert!(says(
        &outcome.unwrap_err(),
        &[Status::OBJECT_NAME_COLLISION]
    ));
    assert_eq!(files, ["A=", "B=old"]);
}

#[test]
fn a_file_that_cannot_be_deleted_is_not_replaced() {
    let served = Served::start("", None);
    let mut connection = served.connect().unwrap();
    for name in ["A", "B"] {
        fs::write(served.folder().join(name), "old").unwrap();
    }
    let read_only = Operation::SetStat {
        path: "B".into(),
        modified: None,
        attributes: Some(1),
    };
    connection.run(read_only, &mut Nothing).unwrap();
    let error = connection.rename_over("A", "B").unwrap_err();
    assert!(says(&error, &[Status::CANNOT_DELETE]), "{error}");
    for name in ["A", "B"] {
        assert_eq!(fs::read(served.folder().join(name)).unwrap(), b"old");
    }
    assert_eq!(fs::read_dir(served.folder()).unwrap().count(), 2);
}

#[test]
fn a_refused_connection_names_all_addresses_tried() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let place: Location = format!("smb://{free}/DATA").parse().unwrap();
    let error = crate::client::open(&place, &modern(), &Options::default())
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains(&format!("{free} (connection refused)")),
        "{error}"
    );
}

#[test]
fn a_peer_with_another_protocol_gives_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let nonsense = thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        // The client may close the connection during the write.
        let _ = peer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let place: Location = format!("smb://{address}/DATA").parse().unwrap();
    let options = Options {
        transport: Some(Transport::Direct445),
        ..Options::default()
    };
    let error = crate::client::open(&place, &modern(), &options)
        .err()
        .unwrap();
    assert!(matches!(error, Error::Smb(SmbError::Session(_))), "{error}");
    nonsense.join().unwrap();
}
