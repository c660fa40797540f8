//! Slow operations other than copies, in captures of smbd that `tests/explain/slow.py` made, and in written connections.

use coax_explain::{
    Account,
    recognise::advise_operation,
    report::{Capture, Operation, OperationKind, Reason},
};
use coax_wire::{command::OPEN_ANDX, time::Span};

use crate::common::{
    explained,
    talk::{Message, Talk},
};

fn slow(name: &str) -> Capture {
    explained(&format!("slow/{name}.pcap"))
}

fn only(capture: &Capture, kind: OperationKind) -> &Operation {
    let mut found = capture.operations.iter().filter(|one| one.kind == kind);
    let one = found.next().unwrap();
    assert!(found.next().is_none(), "{:?}", capture.operations);
    assert_eq!(sum(&one.account), one.wall);
    one
}

fn sum(account: &Account) -> Span {
    account.total()
}

#[test]
fn an_open_names_the_client_that_gives_its_oplock_back_late() {
    let capture = slow("oplock-late");
    let open = only(&capture, OperationKind::Open);
    assert_eq!(open.reason, Reason::OplockBreak);
    let holder = open.holder.unwrap();
    assert_ne!(holder.connection, open.connection);
    let after = holder.answered_after.unwrap();
    assert!(
        after > Span(1_900_000_000) && after <= open.wall,
        "{after:?}"
    );
    let asked = only(&capture, OperationKind::OplockBreak);
    assert_eq!(
        (asked.connection, asked.frames.0),
        (holder.connection, holder.frame)
    );
    assert!(asked.is_answered);
}

#[test]
fn an_oplock_that_is_never_given_back_is_told_from_one_that_is() {
    let capture = slow("oplock-never");
    let open = only(&capture, OperationKind::Open);
    assert_eq!(open.holder.unwrap().answered_after, None);
    assert!(!only(&capture, OperationKind::OplockBreak).is_answered);
    let advice = advise_operation(&capture, open);
    assert_eq!(advice[0].id, "samba-no-oplocks-on-shared-files");
    let changes =
        |capture: &Capture, one: &Operation| advise_operation(capture, one)[0].changes.len();
    let late = slow("oplock-late");
    let more = changes(&capture, open) - changes(&late, only(&late, OperationKind::Open));
    assert_eq!(
        more, 1,
        "to repair the client is for one that does not answer"
    );
}

#[test]
fn a_lock_that_is_asked_for_again_and_again_is_one_operation() {
    let capture = slow("lock-polled");
    let lock = only(&capture, OperationKind::Lock);
    assert_eq!(
        (lock.reason, lock.name.as_deref()),
        (Reason::LockHeld, Some("poll.dbf"))
    );
    assert_eq!(lock.requests, lock.refused + 1);
    assert!(lock.wall > Span(1_400_000_000), "{:?}", lock.wall);
    assert_ne!(lock.holder.unwrap().connection, lock.connection);
}

#[test]
fn other_operations_have_their_kind_and_reason() {
    let capture = slow("open-elsewhere");
    let open = only(&capture, OperationKind::Open);
    assert_eq!((open.reason, open.refused), (Reason::SharingViolation, 1));
    let capture = slow("print");
    let job = only(&capture, OperationKind::PrintJob);
    assert_eq!(job.bytes, 20_000);
    assert_eq!(job.waits[0].command, "CLOSE");
    let capture = slow("log-on");
    let log_on = only(&capture, OperationKind::LogOn);
    assert_eq!(log_on.frames.0, 1);
    assert_eq!(log_on.waits[0].command, "TREE_CONNECT_ANDX");
}

#[test]
fn each_slow_request_of_an_operation_has_its_advice() {
    // smbd on a busy machine took 1.76 s for the open and 1.62 s, of which the print command had 1.5, for the close
    let capture = slow("print-slow-open");
    let job = only(&capture, OperationKind::PrintJob);
    let waits = job.waits.iter().map(|wait| (&*wait.command, wait.frame));
    let waits: Vec<(&str, u64)> = waits.collect();
    assert_eq!(waits, [("NT_CREATE_ANDX", 16), ("CLOSE", 27)]);
    let advice = advise_operation(&capture, job);
    assert_eq!(advice[0].id, "samba-print-command");
    assert!(
        advice[0].why.contains("1,620 ms to answer CLOSE"),
        "{}",
        advice[0].why
    );
}

/// Opens of one file that the server refuses with this status, a given number of times at a given interval, and then admits.
fn refused(status: u32, times: u16, apart_us: u64) -> Capture {
    let mut talk = Talk::on(139);
    let words = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for mid in 0..times {
        let open = |status| {
            Message::new(OPEN_ANDX, mid)
                .words(&words)
                .data(b"\\A.TXT\0")
                .status(status)
        };
        talk.say(0, &open(0).bytes());
        talk.say(1, &Message::new(OPEN_ANDX, mid).status(status).answer());
        talk.wait(apart_us);
    }
    talk.open(900, 5, 10).close(901, 5);
    talk.explained()
}

#[test]
fn refused_opens_count_together_only_if_another_open_of_the_file_refuses_them() {
    const SHARING: u32 = 0xc000_0043;
    const ACCESS: u32 = 0xc000_0022;
    let capture = refused(SHARING, 4, 200_000);
    let open = only(&capture, OperationKind::Open);
    assert_eq!((open.requests, open.refused), (5, 4));
    assert_eq!(open.reason, Reason::SharingViolation);
    assert!(open.wall > Span(800_000_000), "{:?}", open.wall);
    assert!(refused(ACCESS, 4, 200_000).operations.is_empty());
    // a program that asks again after ten seconds is another attempt
    assert!(refused(SHARING, 4, 10_000_000).operations.is_empty());
}

#[test]
fn a_request_without_an_answer_lasts_until_the_connection_ends() {
    let mut talk = Talk::on(139);
    let words = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let open = Message::new(OPEN_ANDX, 7).words(&words).data(b"\\B.TXT\0");
    talk.open(1, 5, 10).say(0, &open.bytes());
    talk.acknowledge(1).wait(3_000_000).acknowledge(0);
    let capture = talk.explained();
    let open = only(&capture, OperationKind::Open);
    assert!(!open.is_answered);
    assert_eq!(open.name.as_deref(), Some("\\B.TXT"));
    assert!(open.wall > Span(2_900_000_000), "{:?}", open.wall);
}

#[test]
fn what_takes_less_than_half_a_second_is_not_reported() {
    for name in ["arkime-smbclient.pcap", "suricata-andx-chain.pcap"] {
        assert!(explained(name).operations.is_empty(), "{name}");
    }
}

#[test]
fn in_every_capture_operations_add_up_and_name_what_is_there() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut seen = 0;
    for folder in [folder.clone(), folder.join("slow"), folder.join("labelled")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if !path.to_string_lossy().contains(".pcap") {
                continue;
            }
            let file = std::fs::File::open(&path).unwrap();
            let capture = coax_explain::explain(file).unwrap();
            for one in &capture.operations {
                assert_eq!(sum(&one.account), one.wall, "{}", path.display());
                assert!(one.wall >= Span(500_000_000) && one.refused <= one.requests);
                assert!(one.frames.0 <= one.frames.1, "{one:?}");
                let own = &capture.connections[one.connection];
                assert!(one.start >= own.span.0, "{one:?}");
                let holder = one
                    .holder
                    .map(|holder| &capture.connections[holder.connection]);
                assert!(holder.is_none_or(|it| it.server.ip() == own.server.ip()));
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}
