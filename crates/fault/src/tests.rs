#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used
)]

use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use coax_wire::{
    command as code,
    header::{Flags, Flags2, Header, Mid},
    io::Writer,
    nbt::session::Framing,
    status::Status,
    time::{Span, Time},
};
use proptest::prelude::*;

use crate::{Action, Connection, Ending, Fault, Out, Plan, Stage, Target, Verdict, Which};

const MS: u64 = 1_000_000;

fn parse(text: &str) -> Fault {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    match text.parse::<Fault>() {
        Ok(fault) => panic!("{text} is {fault}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_fault_has_a_command_which_a_stage_and_an_action() {
    let fault = parse("SMB_COM_WRITE_RAW#2..4:interim=delay 2s");
    assert_eq!(fault.target, Target::Command(code::WRITE_RAW));
    assert_eq!(fault.which, Which::Range(2, 4));
    assert_eq!(fault.stage, Stage::Interim);
    assert_eq!(fault.action, Action::Delay(Span::from_secs(2)));
    let fault = parse("find_next2=error STATUS_NO_MORE_FILES");
    assert_eq!(fault.target, Target::Function(code::TRANSACTION2, 2));
    assert_eq!(
        (fault.which, fault.stage),
        (Which::Every(1), Stage::Request)
    );
}

#[test]
fn a_fault_is_shown_as_it_can_be_written() {
    for text in [
        "READ_ANDX#3=disconnect",
        "READ_ANDX#3..=reset",
        "*#every 10=delay 1500ms",
        "WRITE_RAW:interim=delay 2000ms",
        "WRITE_ANDX:reply=error DISK_FULL",
        "OPEN=error ERRDOS/5",
        "NT_CREATE_ANDX=oplock-break",
        "FIND_FIRST2#1..2=split 1 20ms",
        "FIND_FIRST2=split 100",
        "READ_RAW=truncate 0",
        "NEGOTIATE=mid 0xffff",
        "CLOSE:request=drop",
        "TREE_CONNECT_ANDX=cut 30",
        "ECHO=duplicate",
        "READ=signature",
    ] {
        assert_eq!(parse(text).to_string(), text);
        assert_eq!(parse(&text.to_lowercase()).to_string(), text);
    }
}

fn refused(cases: &[(&str, &str)]) {
    for (text, message) in cases {
        assert_eq!(error(text), *message, "{text}");
    }
}

#[test]
fn the_form_of_a_fault_is_said() {
    refused(&[
        (
            "READ_ANDX",
            "a fault is COMMAND[#WHICH][:STAGE]=ACTION, such as READ_ANDX#3=disconnect",
        ),
        (
            "=drop",
            "a fault is COMMAND[#WHICH][:STAGE]=ACTION, such as READ_ANDX#3=disconnect",
        ),
        (
            "READ=",
            "a fault is COMMAND[#WHICH][:STAGE]=ACTION, such as READ_ANDX#3=disconnect",
        ),
        ("REED=drop", "there is no SMB command 'REED'"),
        ("READ:intrim=drop", "there is no stage 'intrim'"),
        ("READ=dorp", "there is no action 'dorp'"),
        (
            "READ=error ACESS_DENIED",
            "there is no status 'ACESS_DENIED'",
        ),
        (
            "READ=error ERRDOS/x",
            "'ERRDOS/x' is not a status: write an NTSTATUS (ACCESS_DENIED, 0xc0000022) or a DOS error (ERRnoaccess, ERRDOS/5)",
        ),
        (
            "READ=error 0x0",
            "'0x0' is not a status: write an NTSTATUS (ACCESS_DENIED, 0xc0000022) or a DOS error (ERRnoaccess, ERRDOS/5)",
        ),
    ]);
}

#[test]
fn numbers_and_times_are_said_with_the_way_to_write_them() {
    refused(&[
        (
            "READ#0=drop",
            "'0' is not a number of a request: write #3, #3..5, #3.. or #every 10",
        ),
        (
            "READ#5..3=drop",
            "'5..3' is not a number of a request: write #3, #3..5, #3.. or #every 10",
        ),
        (
            "READ#every 0=drop",
            "'every 0' is not a number of a request: write #3, #3..5, #3.. or #every 10",
        ),
        (
            "READ=delay",
            "'delay' is written delay TIME, such as delay 500ms or delay 2s",
        ),
        (
            "READ=delay 2",
            "'2' is not a time: write a number and ms, s or min, at most 60min, such as 500ms",
        ),
        (
            "READ=delay 2h",
            "'2h' is not a time: write a number and ms, s or min, at most 60min, such as 500ms",
        ),
        (
            "READ=delay 61min",
            "'61min' is not a time: write a number and ms, s or min, at most 60min, such as 500ms",
        ),
        ("READ=drop it", "'drop' is written drop"),
        (
            "READ=split 0",
            "'0' is not a number of bytes: write a number such as 40",
        ),
    ]);
}

#[test]
fn a_fault_that_does_not_fit_its_request_is_said() {
    refused(&[
        (
            "READ=mid 70000",
            "'70000' is not a MID: write a number up to 65535 or 0xffff",
        ),
        (
            "READ:request=delay 1s",
            "'delay' changes a reply, so it does not fit the stage 'request': write READ=delay 1000ms",
        ),
        (
            "READ:interim=drop",
            "READ has no interim reply; WRITE_RAW, TRANSACTION, TRANSACTION2 and NT_TRANSACT have one",
        ),
        (
            "READ_RAW=mid 3",
            "the reply of READ_RAW is data without a header, so 'mid' does not fit; 'truncate 0' is its refusal",
        ),
        (
            "READ_RAW=error ACCESS_DENIED",
            "READ_RAW has no error reply: write READ_RAW=truncate 0, with which a server refuses it",
        ),
        (
            "NT_CANCEL=drop",
            "NT_CANCEL has no reply: only NT_CANCEL:request=drop, disconnect or reset is possible",
        ),
    ]);
}

/// A connection whose messages are bytes.
struct Pair {
    connection: Connection<Vec<u8>>,
    plan: Arc<Plan>,
}

impl Pair {
    fn new(faults: &[&str]) -> Self {
        let plan = Arc::new(Plan::new(faults.iter().map(|text| parse(text)).collect()));
        let connection = Connection::new(plan.clone(), Framing::Nbt);
        Self { connection, plan }
    }

    fn ask(&mut self, command: u8, mid: u16) -> Verdict {
        let message = message(command, mid, Flags(0), &[]);
        self.connection.request(Time(0), &message)
    }

    fn answer(&mut self, command: u8, mid: u16) -> Vec<Out<Vec<u8>>> {
        let reply = message(command, mid, Flags(Flags::REPLY), &[]);
        self.send(reply)
    }

    fn send(&mut self, reply: Vec<u8>) -> Vec<Out<Vec<u8>>> {
        let head = reply.clone();
        self.connection.reply(Time(0), reply, &head, |bytes| bytes);
        self.now(0)
    }

    fn now(&mut self, ms: u64) -> Vec<Out<Vec<u8>>> {
        core::iter::from_fn(|| self.connection.poll(Time(ms * MS))).collect()
    }

    fn times(&self) -> Vec<u64> {
        self.plan.applied().map(|(_, times)| times).collect()
    }
}

fn message(command: u8, mid: u16, flags: Flags, words: &[u16]) -> Vec<u8> {
    let header = Header {
        command,
        flags,
        flags2: Flags2(Flags2::NT_STATUS),
        mid: Mid(mid),
        ..Header::default()
    };
    let mut out = Writer::with_capacity(64);
    header.emit(&mut out);
    out.u8(words.len() as u8);
    words.iter().for_each(|word| {
        out.u16(*word);
    });
    out.u16(0);
    out.into_vec()
}

#[test]
fn the_third_request_is_counted_over_all_connections() {
    let mut first = Pair::new(&["CLOSE#3=drop"]);
    let mut second = Connection::new(first.plan.clone(), Framing::Nbt);
    assert_eq!(first.ask(code::CLOSE, 1), Verdict::Serve);
    assert_eq!(first.answer(code::CLOSE, 1).len(), 1);
    assert_eq!(first.ask(code::FLUSH, 2), Verdict::Serve);
    let close = message(code::CLOSE, 1, Flags(0), &[]);
    assert_eq!(second.request(Time(0), &close), Verdict::Serve);
    second.reply(
        Time(0),
        close.clone(),
        &message(code::CLOSE, 1, Flags(Flags::REPLY), &[]),
        |b| b,
    );
    assert!(matches!(second.poll(Time(0)), Some(Out::Unchanged(_))));
    first.ask(code::CLOSE, 3);
    assert_eq!(first.answer(code::CLOSE, 3), []);
    assert_eq!(first.times(), [1]);
    first.ask(code::CLOSE, 4);
    assert_eq!(first.answer(code::CLOSE, 4).len(), 1);
}

#[test]
fn a_request_can_be_withheld_refused_or_end_the_connection() {
    let mut pair = Pair::new(&[
        "CLOSE:request=drop",
        "FLUSH=error ACCESS_DENIED",
        "DELETE=error ERRDOS/2",
        "ECHO:request=disconnect",
        "SEEK:request=reset",
    ]);
    assert_eq!(pair.ask(code::CLOSE, 1), Verdict::Withhold);
    assert_eq!(pair.now(0), []);
    assert!(matches!(pair.ask(code::FLUSH, 2), Verdict::Answer(_)));
    let [Out::Message(refusal)] = &pair.now(0)[..] else {
        panic!("no refusal")
    };
    let header = Header::parse(refusal).unwrap();
    assert_eq!((header.command, header.mid), (code::FLUSH, Mid(2)));
    assert_eq!(header.status, Status::ACCESS_DENIED.0);
    assert!(header.flags.has(Flags::REPLY));
    assert_eq!(refusal[32..], [0, 0, 0]);
    assert!(matches!(pair.ask(code::DELETE, 3), Verdict::Answer(_)));
    let [Out::Message(refusal)] = &pair.now(0)[..] else {
        panic!("no refusal")
    };
    let header = Header::parse(refusal).unwrap();
    assert_eq!(header.status, 0x0002_0001);
    assert!(!header.flags2.has(Flags2::NT_STATUS));
    pair.ask(code::ECHO, 4);
    assert_eq!(pair.now(0), [Out::End(Ending::Close)]);
    pair.ask(code::SEEK, 5);
    assert_eq!(pair.now(0), [Out::End(Ending::Reset)]);
    assert_eq!(pair.times(), [1; 5]);
}

#[test]
fn a_delayed_reply_holds_the_replies_behind_it() {
    let mut pair = Pair::new(&["CLOSE=delay 20ms"]);
    pair.ask(code::CLOSE, 1);
    pair.ask(code::FLUSH, 2);
    assert_eq!(pair.answer(code::CLOSE, 1), []);
    assert_eq!(pair.answer(code::FLUSH, 2), []);
    assert_eq!(pair.connection.deadline(), Some(Time(20 * MS)));
    assert_eq!(pair.now(19), []);
    let out = pair.now(20);
    assert!(matches!(out[..], [Out::Message(_), Out::Unchanged(_)]));
    assert_eq!(pair.connection.deadline(), None);
}

#[test]
fn replies_are_truncated_cut_doubled_split_and_changed() {
    let reply = |mid| message(code::CLOSE, mid, Flags(Flags::REPLY), &[]);
    let one = |fault: &str| {
        let mut pair = Pair::new(&[fault]);
        pair.ask(code::CLOSE, 1);
        let out = pair.answer(code::CLOSE, 1);
        assert_eq!(pair.times(), [1], "{fault}");
        out
    };
    assert_eq!(
        one("CLOSE=truncate 33"),
        [Out::Message(reply(1)[..33].to_vec())]
    );
    let packet = [&[0, 0, 0, 35], &reply(1)[..]].concat();
    assert_eq!(
        one("CLOSE=cut 10"),
        [Out::Bytes(packet[..10].to_vec()), Out::End(Ending::Close)]
    );
    assert_eq!(
        one("CLOSE=duplicate"),
        [Out::Message(reply(1)), Out::Message(reply(1))]
    );
    assert_eq!(one("CLOSE=mid 7"), [Out::Message(reply(7))]);
    let [Out::Message(signed)] = &one("CLOSE=signature")[..] else {
        panic!("no reply")
    };
    assert_eq!(signed[14..22], [0xff; 8]);
    assert_eq!(one("CLOSE=disconnect"), [Out::End(Ending::Close)]);
    assert_eq!(one("CLOSE=reset"), [Out::End(Ending::Reset)]);
    assert_eq!(one("CLOSE=drop"), []);
}

#[test]
fn a_split_reply_is_sent_in_pieces_with_pauses() {
    let mut pair = Pair::new(&["CLOSE=split 20 5ms"]);
    pair.ask(code::CLOSE, 1);
    let mut sizes = Vec::new();
    pair.answer(code::CLOSE, 1)
        .iter()
        .for_each(|out| sizes.push((0, size(out))));
    while let Some(due) = pair.connection.deadline() {
        let ms = due.0 / MS;
        pair.now(ms)
            .iter()
            .for_each(|out| sizes.push((ms, size(out))));
    }
    assert_eq!(sizes, [(0, 20), (5, 19)]);
}

fn size(out: &Out<Vec<u8>>) -> usize {
    match out {
        Out::Bytes(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_oplock_break_names_the_request_s_file() {
    let mut pair = Pair::new(&["CLOSE=oplock-break"]);
    let close = message(code::CLOSE, 1, Flags(0), &[0x4001, 0, 0]);
    pair.connection.request(Time(0), &close);
    let out = pair.answer(code::CLOSE, 1);
    let [Out::Message(breaking), Out::Message(_)] = &out[..] else {
        panic!("{out:?}")
    };
    let header = Header::parse(breaking).unwrap();
    assert_eq!(
        (header.command, header.mid),
        (code::LOCKING_ANDX, Mid(0xffff))
    );
    assert!(!header.flags.has(Flags::REPLY));
    assert_eq!(
        breaking[32..],
        [
            8, 0xff, 0, 0, 0, 0x01, 0x40, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        ]
    );
    // a command without a file has no oplock
    let mut pair = Pair::new(&["ECHO=oplock-break"]);
    pair.ask(code::ECHO, 1);
    assert_eq!(pair.answer(code::ECHO, 1).len(), 1);
    assert_eq!(pair.times(), [0]);
}

#[test]
fn the_interim_reply_of_a_raw_write_is_told_from_its_result_and_its_data_is_no_request() {
    let mut pair = Pair::new(&[
        "WRITE_RAW:interim=delay 1s",
        "WRITE_RAW=drop",
        "*=duplicate",
    ]);
    pair.ask(code::WRITE_RAW, 1);
    assert_eq!(pair.answer(code::WRITE_RAW, 1), []);
    assert_eq!(pair.now(1000).len(), 1);
    let data = message(code::CLOSE, 9, Flags(0), &[]);
    assert_eq!(pair.connection.request(Time(0), &data), Verdict::Serve);
    assert_eq!(pair.answer(code::WRITE_COMPLETE, 1), []);
    assert_eq!(pair.times(), [1, 1, 0]);
}

#[test]
fn the_reply_of_a_raw_read_is_data_even_if_it_looks_like_a_message() {
    let mut pair = Pair::new(&["READ_RAW=truncate 3", "*=mid 9"]);
    pair.ask(code::READ_RAW, 1);
    pair.ask(code::CLOSE, 2);
    assert_eq!(
        pair.answer(code::CLOSE, 2),
        [Out::Message(b"\xffSM".to_vec())]
    );
    let reply = message(code::CLOSE, 9, Flags(Flags::REPLY), &[]);
    assert_eq!(pair.answer(code::CLOSE, 2), [Out::Message(reply)]);
}

#[test]
fn several_faults_for_one_reply_are_applied_in_order() {
    let mut pair = Pair::new(&[
        "CLOSE=truncate 33",
        "CLOSE=duplicate",
        "CLOSE=disconnect",
        "CLOSE=delay 1s",
    ]);
    pair.ask(code::CLOSE, 1);
    // the disconnection leaves nothing to delay
    assert_eq!(pair.answer(code::CLOSE, 1), [Out::End(Ending::Close)]);
    assert_eq!(pair.times(), [1, 1, 1, 0]);
}

#[test]
fn more_requests_than_are_remembered_get_their_replies_unchanged() {
    let mut pair = Pair::new(&["CLOSE=drop"]);
    (0..300).for_each(|mid| {
        pair.ask(code::CLOSE, mid);
    });
    assert_eq!(pair.answer(code::CLOSE, 0).len(), 1);
    assert_eq!(pair.answer(code::CLOSE, 299), []);
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "READ_ANDX",
            "*",
            "WRITE_RAW",
            "FIND_NEXT2",
            "#",
            "every",
            " ",
            "3",
            "..",
            ":",
            "reply",
            "interim",
            "request",
            "=",
            "delay",
            "drop",
            "error",
            "ACCESS_DENIED",
            "ERRDOS/5",
            "0x",
            "split",
            "1s",
            "18446744073709551616",
            "é",
            "/",
            "mid",
        ][..],
    )
}

proptest! {
    #[test]
    fn any_text_is_a_fault_that_is_written_so_or_an_error(words in prop::collection::vec(word(), 0..9)) {
        let text: String = words.concat();
        match text.parse::<Fault>() {
            Ok(fault) => prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_bytes_are_a_message(bytes in prop::collection::vec(any::<u8>(), 0..80), reply in any::<bool>()) {
        let mut pair = Pair::new(&["*=split 7", "*=mid 3", "*=oplock-break", "*#2=truncate 5", "*#3=error ACCESS_DENIED"]);
        let bytes = if reply { [b"\xffSMB", &bytes[..]].concat() } else { bytes };
        pair.connection.request(Time(0), &bytes);
        pair.send(bytes.clone());
        pair.connection.request(Time(0), &bytes);
        pair.send(bytes);
    }
}
