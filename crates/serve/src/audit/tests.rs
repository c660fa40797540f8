#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    fs,
    os::unix::net::UnixDatagram,
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

use coax_server::act::{Deed, Moved};
use coax_wire::status::Status;
use serde_json::Value;

use super::*;
use crate::report::Told;

/// An audit log, and the notices about it.
struct Case {
    audit: Audit,
    notices: Arc<Mutex<Vec<String>>>,
    reporter: Reporter,
}

impl Case {
    fn new(sink: Sink, queue_kib: u32) -> Self {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let told = notices.clone();
        let reporter = Reporter::to(move |line| {
            if let Told::Line(line, _) = line {
                told.lock().unwrap().push(line.to_string());
            }
        });
        let reporter = reporter.unwrap();
        let mut settings = Settings::default();
        settings.global.audit_queue_kib = queue_kib;
        let audit = Audit::start(sink, &settings, reporter.clone()).unwrap();
        Self {
            audit,
            notices,
            reporter,
        }
    }

    fn delete(&self, path: &str) {
        self.audit.act(&who(), &act(Deed::Delete, path));
    }

    fn until(&self, what: &str, is_so: impl Fn(&AuditStatus) -> bool) -> AuditStatus {
        let begin = Instant::now();
        loop {
            let status = self.audit.status();
            if is_so(&status) {
                return status;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "{what}: {status:?}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn has_said(&self, text: &str) -> bool {
        self.reporter.flush();
        let notices = self.notices.lock().unwrap();
        notices.iter().any(|notice| notice.contains(text))
    }
}

fn who() -> Who<'static> {
    Who {
        client: 3,
        address: "10.0.0.5:1025",
        name: Some("DOS\u{1b}[2J"),
        system: "MS-DOS",
        guest: "nobody",
        user: None,
    }
}

fn act(deed: Deed, path: &str) -> Act {
    Act {
        deed,
        user: Some("ann".into()),
        share: "DATA".into(),
        path: path.into(),
        is_directory: false,
        failed: None,
    }
}

fn line(act: &Act) -> String {
    let at = Timestamp::new(1_795_219_200, 1_234_567).unwrap();
    String::from_utf8(Entry::of(&who(), act).line(at).into_vec()).unwrap()
}

fn entries(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn an_entry_is_one_flat_object() {
    let moved = Moved {
        read: 5,
        written: 7,
    };
    let open = Some(9);
    let text = line(&act(Deed::Close { open, moved }, "Games/Doom.wad"));
    assert_eq!(
        text,
        concat!(
            r#"{"time":"2026-11-21T00:00:00.001234Z","schema":1,"operation":"close","result":"ok","client":3,"#,
            r#""address":"10.0.0.5:1025","name":"DOS\u001b[2J","system":"MS-DOS","user":"ann","share":"DATA","#,
            r#""path":"Games/Doom.wad","open":9,"bytes_read":5,"bytes_written":7}"#,
            "\n"
        )
    );
}

#[test]
fn a_deletion_that_failed_has_its_status_as_the_result() {
    let failed = Act {
        failed: Some(Status::ACCESS_DENIED),
        ..act(Deed::Delete, "A")
    };
    let entry: Value = serde_json::from_str(&line(&failed)).unwrap();
    assert_eq!(entry["result"], Status::ACCESS_DENIED.to_string());
}

#[test]
fn nothing_in_a_name_reaches_a_terminal_or_forges_a_line() {
    let name = "a\n{\"operation\":\"x\"}\u{7f}\u{9b}31m\u{202e}cod.exe\u{2028}\u{feff}\"\\é漢";
    let text = line(&act(Deed::Delete, name));
    let inner = text.strip_suffix('\n').unwrap();
    assert!(!inner.contains(|c: char| c.is_control() || ('\u{2000}'..'\u{2100}').contains(&c)));
    assert!(
        inner.contains("é漢"),
        "readable text stays readable: {inner}"
    );
    let entry: Value = serde_json::from_str(inner).unwrap();
    assert_eq!(entry["path"], name, "escaped, not changed");
}

#[test]
fn events_that_are_not_wanted_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let mut case = Case::new(Sink::file_at(&path).unwrap(), 64);
    let words = ["!rename".into()];
    case.audit.events = AuditEvents::parse(&words).unwrap();
    let (to, replaced) = ("B".into(), false);
    case.audit
        .act(&who(), &act(Deed::Rename { to, replaced }, "A"));
    case.delete("B");
    case.audit.finish();
    let entries = entries(&path);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["operation"], "delete");
}

#[test]
fn a_file_is_readable_for_its_owner_only_and_is_opened_anew_by_its_name() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("audit"), folder.path().join("audit.1"));
    fs::write(&path, "torn").unwrap();
    let case = Case::new(Sink::file_at(&path).unwrap(), 64);
    case.delete("before");
    case.until("the entry is written", |status| status.written == 1);
    fs::rename(&path, &aside).unwrap();
    case.audit.reopen();
    case.until("the file is there", |_| path.exists());
    case.delete("after");
    case.audit.finish();
    let old = fs::read_to_string(&aside).unwrap();
    assert!(
        old.starts_with("torn\n{") && old.contains("before"),
        "{old}"
    );
    assert_eq!(entries(&path)[0]["path"], "after");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(case.has_said("is open anew"));
}

#[test]
fn a_file_that_cannot_be_written_costs_entries_that_are_counted_and_no_time() {
    // every write fails with ENOSPC
    let case = Case::new(Sink::file_at(Path::new("/dev/full")).unwrap(), 8);
    let begin = Instant::now();
    for number in 0..1_000 {
        case.delete(&format!("file {number}"));
    }
    assert!(begin.elapsed() < Duration::from_secs(5));
    let status = case.until("the problem is known", |status| status.problem.is_some());
    let problem = status.problem.unwrap();
    assert!(problem.contains("No space left"), "{problem}");
    assert_eq!(
        (status.written, status.waiting + status.dropped),
        (0, 1_000)
    );
    assert!(
        status.waiting > 0 && status.waiting < 60,
        "{}",
        status.waiting
    );
    case.audit.finish();
    let status = case.audit.status();
    assert_eq!((status.written, status.dropped), (0, 1_000));
    assert!(case.has_said("cannot be written: No space left"));
    assert!(case.has_said("lacks 1000 entries"));
}

#[test]
fn a_daemon_that_is_absent_gets_what_waited_and_learns_what_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let case = Case::new(Sink::syslog_at(&path).unwrap(), 2);
    for number in 0..100 {
        case.delete(&format!("file {number}"));
    }
    let status = case.until("it is absent", |status| status.problem.is_some());
    assert!(status.dropped > 80 && status.waiting > 0, "{status:?}");
    let daemon = UnixDatagram::bind(&path).unwrap();
    daemon
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut texts = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = match daemon.recv(&mut buffer) {
            // other tests raise signals in this process
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            received => received.unwrap(),
        };
        texts.push(String::from_utf8(buffer[..count].to_vec()).unwrap());
        if texts.last().unwrap().contains("dropped") {
            break;
        }
    }
    assert!(texts[0].starts_with("<13>"), "{}", texts[0]);
    let own = format!("coax-audit[{}]: {{", std::process::id());
    assert!(texts[0].contains(&own) && texts[0].contains("file 0"));
    let count = format!(r#""entries":{}"#, 100 - (texts.len() - 1));
    assert!(texts.last().unwrap().contains(&count), "{texts:?}");
    assert!(case.has_said("is written again"));
}

#[test]
fn a_journal_entry_has_fields_and_a_daemon_that_does_not_read_holds_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let daemon = UnixDatagram::bind(&path).unwrap();
    let case = Case::new(Sink::journal_at(&path).unwrap(), 64);
    // more than a socket's queue holds (net.unix.max_dgram_qlen)
    for number in 0..2_000 {
        case.delete(&format!("file {number}"));
    }
    case.until("its queue is full", |status| status.problem.is_some());
    let mut buffer = [0; 4096];
    let count = daemon.recv(&mut buffer).unwrap();
    let text = std::str::from_utf8(&buffer[..count]).unwrap();
    let fields: Vec<&str> = text.lines().collect();
    assert_eq!(
        &fields[..3],
        [
            "PRIORITY=5",
            "SYSLOG_FACILITY=13",
            "SYSLOG_IDENTIFIER=coax-audit"
        ]
    );
    let message = fields[3].strip_prefix("MESSAGE=").unwrap();
    let entry: Value = serde_json::from_str(message).unwrap();
    assert_eq!(entry["path"], "file 0");
    assert_eq!(fields.len(), 4);
    let begin = Instant::now();
    case.audit.finish();
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_check_leaves_no_empty_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    Sink::file_at(&path).unwrap().discard();
    assert!(!path.exists());
    let mut settings = Settings::default();
    settings.global.audit = Some(coax_smbconf::settings::AuditTarget::File(
        "/no/such/folder/audit".into(),
    ));
    let why = Sink::open(&settings).unwrap_err();
    assert!(why.contains("/no/such/folder/audit"), "{why}");
}
