use super::*;
use crate::{
    config::Config,
    share::{Access, Admission, ShareKind, ShareOptions},
    testkit::{TestClient, TestServer},
};
use alloc::{string::String, vec::Vec};
use coax_wire::command as c;

const DENY_ALL: u16 = 0x12;
const DENY_NONE: u16 = 0x42;

fn refusals(client: &mut TestClient) -> Vec<RefusedRequest> {
    let events = core::iter::from_fn(|| client.conn.poll_event());
    events
        .filter_map(|event| match event {
            Event::RequestRefused(refused) => Some(*refused),
            _ => None,
        })
        .collect()
}

/// The only refusal since the last call.
#[track_caller]
fn refusal(client: &mut TestClient) -> RefusedRequest {
    let mut all = refusals(client);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn guests_read() -> TestServer {
    let mut server = TestServer::new();
    server.edit(|inner| {
        let mut share = (*inner.shares[0]).clone();
        share.admission = Admission {
            guest: Some(Access::Write),
            read_only: true,
            ..Admission::default()
        };
        inner.shares[0] = Arc::new(share);
    });
    server
}

#[test]
fn a_write_to_a_read_only_share_names_request_user_reason_and_setting() {
    let server = guests_read();
    let mut client = server.client("LANMAN1.0");
    refusals(&mut client);
    client
        .paths(c::CREATE, &[0, 0, 0], &["\\NEW.TXT"])
        .refused(Status::ACCESS_DENIED);
    let told = refusal(&mut client);
    assert_eq!(told.command, "CREATE");
    assert_eq!(told.path.as_deref(), Some("\\NEW.TXT"));
    assert_eq!(told.share.as_deref(), Some("DISK"));
    assert_eq!((told.user, told.status), (None, Status::ACCESS_DENIED));
    assert_eq!(told.why, "the share is read-only");
    assert_eq!(told.setting.as_deref(), Some("[DISK] read only = no"));
}

#[test]
fn each_list_that_makes_a_share_read_only_is_reported_with_its_remedy() {
    let list = |name: &str| Vec::from([String::from(name)]);
    let mut share = Share::for_guests(1, "DISK", ShareKind::Ipc);
    share.admission = Admission {
        guest: Some(Access::Read),
        read_list: list("ann"),
        ..Admission::default()
    };
    let (why, setting) = read_only(&share, Some("ANN"));
    assert!(why.contains("read list"), "{why}");
    assert!(setting.unwrap().contains("read list"));
    let (why, setting) = read_only(&share, None);
    assert_eq!(why, "guests may only read on this share");
    assert!(setting.unwrap().contains("--guest rw"));
    share.admission.read_only = true;
    let setting = read_only(&share, Some("bob")).1.unwrap();
    assert!(setting.contains("write list = bob"), "{setting}");
}

#[test]
fn a_refused_print_job_is_reported() {
    let mut config = Config::default();
    config.limits.opens = 1;
    let mut server = TestServer::with(config, ShareOptions::default());
    let fs = server.fs.clone();
    server.edit(|inner| {
        let share = Share::for_guests(3, "LASER", ShareKind::Printer(fs));
        inner.shares.push(Arc::new(share));
    });
    let mut client = server.client("LANMAN1.0");
    client.connect_share("LASER");
    client.paths(c::OPEN_PRINT_FILE, &[0, 0], &["FIRST"]).ok();
    refusals(&mut client);
    client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["JOB"])
        .refused(Status::TOO_MANY_OPENED_FILES);
    let told = refusal(&mut client);
    assert_eq!(told.command, "OPEN_PRINT_FILE");
    assert_eq!(told.path.as_deref(), Some("JOB"));
    let setting = told.setting.unwrap_or_default();
    assert!(setting.contains("max open files"), "{setting}");
}

#[test]
fn a_malformed_rename_is_reported_as_a_malformed_request() {
    let server = TestServer::new();
    let mut client = server.client("LANMAN1.0");
    refusals(&mut client);
    client
        .request(c::RENAME, &[0], b"\x09A\0\x09B\0")
        .refused(Status::INVALID_SMB);
    let told = refusal(&mut client);
    assert_eq!((told.command, told.path), ("RENAME", None));
    assert!(told.why.starts_with("malformed request: "), "{}", told.why);
}

#[test]
fn a_share_mode_conflict_names_the_client_that_has_the_file_open() {
    let server = TestServer::with(
        Config {
            sharing_violation_delay: coax_wire::time::Span(0),
            ..Config::default()
        },
        ShareOptions::default(),
    );
    server.fs.add_file("A.TXT", b"x").unwrap();
    let mut holder = server.client("LANMAN1.0");
    let (id, label) = (holder.conn.context.id, "client 7 at 10.0.0.7:1025 \"PC7\"");
    server
        .server
        .locked(|tables| tables.label(id, label.into()));
    holder.paths(c::OPEN, &[DENY_ALL, 0], &["\\A.TXT"]).ok();
    let mut client = server.client("LANMAN1.0");
    refusals(&mut client);
    client
        .paths(c::OPEN, &[DENY_NONE, 0], &["\\A.TXT"])
        .refused(Status::SHARING_VIOLATION);
    let told = refusal(&mut client);
    assert_eq!(
        told.why,
        "client 7 at 10.0.0.7:1025 \"PC7\" has the file open and does not share it"
    );
    holder
        .paths(c::OPEN, &[DENY_NONE, 0], &["\\A.TXT"])
        .refused(Status::SHARING_VIOLATION);
    let told = refusals(&mut holder);
    assert!(
        told.iter()
            .all(|told| told.why.starts_with("this client itself"))
    );
    assert_eq!(told.len(), 1);
}

#[test]
fn lock_conflicts_name_the_holder_for_locks_and_for_reads() {
    let server = TestServer::new();
    server.fs.add_file("A.TXT", b"0123456789").unwrap();
    let mut holder = server.client("LANMAN1.0");
    let id = holder.conn.context.id;
    server
        .server
        .locked(|tables| tables.label(id, "client 1 at H".into()));
    let mut client = server.client("LANMAN1.0");
    let open = |client: &mut TestClient| {
        let opened = client.paths(c::OPEN, &[DENY_NONE, 0], &["\\A.TXT"]).ok();
        opened.word(0)
    };
    let (theirs, ours) = (open(&mut holder), open(&mut client));
    holder
        .request(c::LOCK_BYTE_RANGE, &[theirs, 4, 0, 0, 0], b"")
        .ok();
    refusals(&mut client);
    client
        .request(c::LOCK_BYTE_RANGE, &[ours, 4, 0, 2, 0], b"")
        .refused(Status::LOCK_NOT_GRANTED);
    let told = refusal(&mut client);
    assert_eq!(told.path.as_deref(), Some("\\A.TXT"));
    assert_eq!(told.why, "client 1 at H has locked the range");
    client
        .request(c::READ, &[ours, 4, 0, 0, 0], b"")
        .refused(Status::FILE_LOCK_CONFLICT);
    assert_eq!(
        refusal(&mut client).why,
        "client 1 at H has locked the range"
    );
}

#[test]
fn reports_distinguish_a_read_only_file_from_one_that_may_not_be_deleted() {
    let server = TestServer::new();
    let mut client = server.client("LANMAN1.0");
    client.paths(c::CREATE, &[1, 0, 0], &["\\RO.TXT"]).ok();
    client.request(c::PROCESS_EXIT, &[], b"").ok();
    refusals(&mut client);
    client
        .paths(c::OPEN, &[DENY_NONE, 0], &["\\RO.TXT"])
        .refused(Status::ACCESS_DENIED);
    let told = refusal(&mut client);
    assert_eq!(told.why, "the file has the read-only attribute");
    assert_eq!(told.setting, None);
    client
        .paths(c::DELETE, &[1], &["\\RO.TXT"])
        .refused(Status::CANNOT_DELETE);
    assert_eq!(
        refusal(&mut client).setting.as_deref(),
        Some("[DISK] delete readonly = yes")
    );
}

#[test]
fn the_report_of_a_reached_limit_names_its_value_and_parameter() {
    let mut config = Config::default();
    config.limits.opens = 1;
    let server = TestServer::with(config, ShareOptions::default());
    server.fs.add_file("A.TXT", b"x").unwrap();
    let mut client = server.client("LANMAN1.0");
    client.paths(c::OPEN, &[DENY_NONE, 0], &["\\A.TXT"]).ok();
    refusals(&mut client);
    client
        .paths(c::OPEN, &[DENY_NONE, 0], &["\\A.TXT"])
        .refused(Status::TOO_MANY_OPENED_FILES);
    let told = refusal(&mut client);
    assert!(told.why.contains("limit of 1 files open"), "{}", told.why);
    assert!(told.setting.unwrap().starts_with("max open files"));
}

#[test]
fn errors_in_normal_use_are_not_reported() {
    let server = TestServer::new();
    let mut client = server.client("LANMAN1.0");
    refusals(&mut client);
    client
        .paths(c::OPEN, &[DENY_NONE, 0], &["\\MISSING.TXT"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::CHECK_DIRECTORY, &[], &["\\NO\\SUCH"])
        .refused(Status::OBJECT_PATH_NOT_FOUND);
    client
        .request(c::READ_MPX, &[0; 8], b"")
        .refused(Status::USE_STANDARD);
    assert_eq!(refusals(&mut client), []);
}

#[test]
fn the_table_of_unreported_statuses_has_each_once_and_no_access_denial() {
    for (i, (status, _)) in IN_PASSING.iter().enumerate() {
        assert!(IN_PASSING.iter().skip(i + 1).all(|row| row.0 != *status));
    }
    for denial in [
        Status::ACCESS_DENIED,
        Status::SHARING_VIOLATION,
        Status::FILE_LOCK_CONFLICT,
        Status::DISK_FULL,
        Status::INVALID_SMB,
        Status::TOO_MANY_OPENED_FILES,
    ] {
        assert!(is_reported(denial.into()), "{denial:?}");
    }
}

#[test]
fn a_refused_log_on_to_a_share_is_reported_once() {
    let server = TestServer::new();
    let mut client = server.client("LANMAN1.0");
    refusals(&mut client);
    client
        .request(
            c::TREE_CONNECT_ANDX,
            &[0xff, 0, 0, 1],
            b"\0\\\\COAX\\NONE\0?????\0",
        )
        .refused(Status::BAD_NETWORK_NAME);
    let events: Vec<Event> = core::iter::from_fn(|| client.conn.poll_event()).collect();
    assert!(matches!(events[..], [Event::Refused { .. }]), "{events:?}");
}
