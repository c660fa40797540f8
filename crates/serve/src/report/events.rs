//! Generates docs/events.md from one example of each event.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    CiLine, ClientLine, ExplainedLine, FaultCount, FaultLine, Line, MessageLine, RefusedLine,
    RequestLine, SCHEMA, SummaryLine,
    writer::{Stamped, one_line},
};

/// One event: when it happens, and an example.
struct Event {
    when: &'static str,
    example: Line,
}

/// One example of each event, in the order in which they usually occur.
fn events() -> Vec<Event> {
    let event = |when, example| Event { when, example };
    let mut all = of_the_server();
    all.extend([
        event("A client has connected.", connected()),
        event("The dialect is agreed, or none is.", negotiated()),
        event("Somebody has logged on.", logged_on()),
        event("A share is connected.", tree()),
        event(
            "The identified client: when it first uses a share, or at its end.",
            Line::Client(Box::new(client())),
        ),
        event(
            "A connection, a log-on or a tree connect is refused.",
            refused(),
        ),
        event(
            "A request is refused. Errors that programs expect (no such file, end of a listing) are not reported. Repetitions are \
             counted in `repeated` and reported after 10 s, then at intervals that double up to 640 s.",
            Line::RequestRefused(Box::new(request_refused())),
        ),
        event(
            "At most 32 different refusals of a client are counted at a time; this counts the others.",
            Line::RefusalsOmitted {
                client: 3,
                count: 9_968,
            },
        ),
        event(
            "A request and its answer. Only from `log level` 3 on, or for the client of `--trace`.",
            Line::Request(Box::new(request())),
        ),
        event(
            "Fields and bytes of a message. Only at `log level` 10, or for the client of `--trace`. Bytes that authenticate \
             somebody are withheld.",
            Line::Message(Box::new(message())),
        ),
        event("A client is gone.", disconnected()),
    ]);
    all.extend(of_tests());
    all
}

fn of_the_server() -> Vec<Event> {
    let event = |when, example| Event { when, example };
    vec![
        event(
            "The server accepts clients. Always the first event.",
            Line::Listening {
                nbt: Some("0.0.0.0:139".into()),
                direct: None,
            },
        ),
        event(
            "At start: the folder of a share has a problem.",
            Line::ShareProblem {
                share: "GAMES".into(),
                path: "/srv/games".into(),
                problem: "the server's user may not write in /srv/games".into(),
                remedy: "grant it with chown, chmod or setfacl, or [GAMES] read only = yes".into(),
            },
        ),
        event(
            "The configuration was read again (SIGHUP). If there are `errors`, nothing has changed.",
            Line::Reloaded {
                changes: vec![
                    "[global] deadtime: '0' -> '15'".into(),
                    "share GAMES added".into(),
                ],
                restart: vec!["[global] smb ports: '445, 139' -> '1445'".into()],
                errors: vec![],
            },
        ),
        event(
            "Somebody has sent a message to a user of this machine (WinPopup, NET SEND). Control characters of the text are escaped.",
            Line::UserMessage {
                client: None,
                address: "192.168.1.9".into(),
                from: "ANNA".into(),
                to: "TOWER".into(),
                text: "Coffee is ready.\nCome down.".into(),
            },
        ),
        event(
            "Any other message about the server itself.",
            Line::Notice {
                text: "stopping; a second signal stops at once".into(),
            },
        ),
    ]
}

/// Events of `coax serve --ci` and `--fault`.
fn of_tests() -> Vec<Event> {
    let event = |when, example| Event { when, example };
    let fault = || "READ_ANDX#3=disconnect".to_owned();
    vec![
        event(
            "With `--ci`, the second event: what a script needs for a test.",
            Line::Ci(Box::new(CiLine {
                url: "smb://127.0.0.1:40445/CI".into(),
                host: "127.0.0.1".into(),
                direct_port: Some(40445),
                nbt_port: Some(40139),
                share: "CI".into(),
                folder: "/tmp/coax-ci-9Xb3aZ/CI".into(),
                faults: vec![fault()],
            })),
        ),
        event(
            "With `--ci`: a request is invalid or failed. It says why, and what the client should send. Errors that programs expect \
             are reported too.",
            Line::Explained(Box::new(ExplainedLine {
                client: 1,
                request: "CLOSE fid=0x0007 last_write=0".into(),
                mid: Some(12),
                result: "No such open file. (STATUS_INVALID_HANDLE, 0xc0000008)".into(),
                why: "no open file of this session has the FID 0x0007".into(),
                instead: Some(
                    "the FID of a file that is open, with the UID and TID of its open; open now: 0x0001".into(),
                ),
                setting: None,
                invalid: vec![],
            })),
        ),
        event(
            "A fault of `--fault` was applied.",
            Line::Fault(Box::new(FaultLine {
                client: 1,
                fault: fault(),
                command: "READ_ANDX",
                mid: 9,
            })),
        ),
        event(
            "With `--ci`, the last event. `exit_code` is that of the program.",
            Line::Summary(Box::new(SummaryLine {
                clients: 2,
                requests: 41,
                refused_requests: 1,
                invalid_requests: 0,
                injected: vec![FaultCount {
                    fault: fault(),
                    applied: 1,
                }],
                ended: "signal",
                seconds: 3,
                problems: vec![],
                exit_code: 0,
            })),
        ),
    ]
}

fn connected() -> Line {
    Line::Connected {
        client: 3,
        address: "192.168.1.9:1025".into(),
        transport: "nbt",
    }
}

fn negotiated() -> Line {
    Line::Negotiated {
        client: 3,
        offered: vec!["PC NETWORK PROGRAM 1.0".into(), "NT LM 0.12".into()],
        dialect: Some("NT LM 0.12"),
    }
}

fn logged_on() -> Line {
    Line::LoggedOn {
        client: 3,
        user: None,
        how: "unknown user",
        tried: Some("joe".into()),
        native: "Windows 4.0 / Windows 4.0".into(),
    }
}

fn tree() -> Line {
    Line::Tree {
        client: 3,
        share: "GAMES".into(),
    }
}

fn client() -> ClientLine {
    ClientLine {
        client: 3,
        address: "192.168.1.9:1025".into(),
        name: Some("WIN98".into()),
        guess: "Windows 98".into(),
        why: "calls itself \"Windows 4.0 / Windows 4.0\"".into(),
        dialect: Some("NT LM 0.12"),
        transport: "nbt",
        log_on: Some("nobody".into()),
        how: Some("unknown user"),
        guest_because: Some("unknown user \"joe\"".into()),
        refused: Vec::new(),
    }
}

fn refused() -> Line {
    Line::Refused {
        client: Some(3),
        address: "192.168.1.9:1025".into(),
        what: "to log on as \"anna\"".into(),
        status: Some("Wrong user name or password. (LOGON_FAILURE 0xc000006d, Server/2)".into()),
        why: "LM responses are not accepted".into(),
        setting: Some("lanman auth = yes".into()),
    }
}

fn request_refused() -> RefusedLine {
    RefusedLine {
        client: 3,
        address: "192.168.1.9:1025".into(),
        name: Some("WIN98".into()),
        user: "nobody".into(),
        command: "NT_CREATE_ANDX",
        share: Some("GAMES".into()),
        path: Some("\\DOOM\\SAVE.DSG".into()),
        fields:
            "access=0x2019f share_access=0x3 disposition=5 options=0x44 attributes=0x80 root=0x0"
                .into(),
        status: "Access denied. (ACCESS_DENIED 0xc0000022, Dos/5)".into(),
        why: "the share is read-only".into(),
        setting: Some("[GAMES] read only = no".into()),
        repeated: 312,
    }
}

fn request() -> RequestLine {
    RequestLine {
        client: 3,
        request: "READ_ANDX fid=0x0001 offset=0 count=4096".into(),
        tid: 1,
        uid: 100,
        pid: 0x2a01,
        mid: 7,
        result: "OK".into(),
        microseconds: 124,
    }
}

fn message() -> MessageLine {
    MessageLine {
        client: 3,
        direction: "in",
        header: "CLOSE status=0x00000000 flags=0x18 flags2=0x8001 tid=0x0001 pid=0x2a01 uid=0x0064 mid=0x0008".into(),
        dump: "  CLOSE, 3 words:\n  0021  01 00 ff ff ff ff                                ......\n  CLOSE, 0 bytes:\n".into(),
    }
}

fn disconnected() -> Line {
    Line::Disconnected {
        client: 3,
        why: "it closed the connection".into(),
        requests: 4_711,
        bytes_in: 310_202,
        bytes_out: 18_700_123,
        seconds: 95,
    }
}

/// The level at which an event is printed as text; a new event does not compile without a place in [`events`].
fn place(line: &Line) -> usize {
    match line {
        Line::Listening { .. } => 0,
        Line::ShareProblem { .. } => 1,
        Line::Reloaded { .. } => 2,
        Line::UserMessage { .. } => 3,
        Line::Notice { .. } => 4,
        Line::Connected { .. } => 5,
        Line::Negotiated { .. } => 6,
        Line::LoggedOn { .. } => 7,
        Line::Tree { .. } => 8,
        Line::Client(_) => 9,
        Line::Refused { .. } => 10,
        Line::RequestRefused(_) => 11,
        Line::RefusalsOmitted { .. } => 12,
        Line::Request(_) => 13,
        Line::Message(_) => 14,
        Line::Disconnected { .. } => 15,
        Line::Ci(_) => 16,
        Line::Explained(_) => 17,
        Line::Fault(_) => 18,
        Line::Summary(_) => 19,
    }
}

/// The meaning of each field in all events.
const FIELDS: &[(&str, &str)] = &[
    ("time", "when it happened: RFC 3339, UTC, microseconds"),
    ("schema", "version of this form; see above"),
    ("event", "which event"),
    ("changes", "what is different from now on, in words"),
    (
        "restart",
        "what takes effect only after a restart, in words",
    ),
    (
        "errors",
        "what is wrong with the new configuration; the old one stays in force",
    ),
    (
        "nbt",
        "address of the NetBIOS session service; null if it is off",
    ),
    (
        "direct",
        "address of SMB directly over TCP; null if it is off",
    ),
    (
        "client",
        "the client's number, from 1 in order of connection; null if it was refused before it had one",
    ),
    ("address", "the client's address and port"),
    ("name", "the client's NetBIOS name; null if it gave none"),
    ("transport", "`nbt`, `direct`, `netbeui`, `nbipx` or `ipx`"),
    ("offered", "dialects that the client offers, in order"),
    (
        "dialect",
        "the dialect agreed; null if the server serves none of them",
    ),
    (
        "user",
        "the user; for a guest null, in `request_refused` the guest account",
    ),
    (
        "log_on",
        "the user, or the guest account's name for a guest; null if nobody logged on",
    ),
    (
        "how",
        "the authentication: `NTLMv2`, `NTLMv1`, `LM`, `plaintext` …; for a guest the reason",
    ),
    ("tried", "the user name that a guest gave"),
    (
        "guest_because",
        "why the client is a guest; null if it is none",
    ),
    (
        "native",
        "operating system and LAN manager, as the client names them",
    ),
    ("guess", "what the client seems to be"),
    (
        "refused",
        "earlier refused log-ons and tree connects, in words",
    ),
    ("share", "the share; null if the request is about none"),
    (
        "path",
        "the share's folder; or the request's path or open file, null if it has none",
    ),
    ("problem", "what is wrong with the folder"),
    ("remedy", "what to do about it"),
    ("text", "the notice, or the text of a message to a user"),
    (
        "from",
        "the name that the sender of a message gave; anybody can give any name",
    ),
    ("to", "the user, machine or workgroup that a message is for"),
    ("what", "what was refused"),
    (
        "status",
        "the answer's status: words, name, NTSTATUS, DOS class and code; null if there was no answer",
    ),
    ("why", "the reason"),
    (
        "setting",
        "the smb.conf line or option that would allow it; null if none would",
    ),
    ("command", "the SMB command without `SMB_COM_`"),
    ("fields", "the request's other fields as `name=value`"),
    (
        "repeated",
        "repetitions since the last report; 0 at the first",
    ),
    ("count", "how many refusals"),
    (
        "request",
        "every command of the request with its fields as `name=value`",
    ),
    ("tid", "TID of the request"),
    ("uid", "UID of the request"),
    ("pid", "PID of the request"),
    ("mid", "MID of the request"),
    ("result", "`OK`, the status, or that there was no reply"),
    ("microseconds", "from the request's arrival to its answer"),
    ("direction", "`in` from the client, `out` to it"),
    ("header", "the header's fields as `name=value`"),
    (
        "dump",
        "words and bytes of each block in hexadecimal, offsets from the header's first byte",
    ),
    ("requests", "SMB messages received"),
    ("bytes_in", "bytes received, session headers included"),
    ("bytes_out", "bytes sent, session headers included"),
    (
        "seconds",
        "how long the client was connected, or how long the server ran",
    ),
    ("url", "the share's address for `coax`"),
    ("host", "the server's address without a port"),
    ("direct_port", "port of SMB directly over TCP"),
    ("nbt_port", "port of the NetBIOS session service"),
    ("folder", "the share's folder; without DIR a temporary one"),
    ("faults", "the faults that will be injected"),
    (
        "instead",
        "what the client should send; null if nothing helps",
    ),
    (
        "invalid",
        "fields of the request that are invalid: name, offset, value, reason",
    ),
    ("fault", "the fault, as `--fault` takes it"),
    ("clients", "clients that sent a request"),
    ("refused_requests", "requests that failed"),
    ("invalid_requests", "requests with an invalid field"),
    ("injected", "every fault, and how often it was applied"),
    (
        "ended",
        "what ended the server: `signal`, `parent` or `time limit`",
    ),
    (
        "problems",
        "why the test has not passed: invalid requests, faults never applied, the time limit",
    ),
    ("exit_code", "1 if there are problems, else 0"),
];

const INTRODUCTION: &str = "\
`coax serve --json` writes one JSON object a line to standard output. Every object has `time`, `schema` and `event`. `schema` increases
when a field or an event is removed, renamed or changes its meaning. New ones may appear without notice: ignore unknown ones.
Without `--json` the same events are lines of text on standard error, filtered by `log level`; the log file contains them too.

This page is made from the code: `COAX_BLESS=1 cargo test -p coax-serve docs_events` renews it.
";

fn page() -> String {
    let mut out =
        format!("# Events of coax serve (schema {SCHEMA})\n\n{INTRODUCTION}\n## Events\n");
    for event in events() {
        let json = json(&event.example);
        let (line, level) = (&event.example, event.example.level());
        let name = json["event"].as_str().unwrap_or_default();
        let shown = match line {
            Line::Request(_) | Line::Message(_) => "Also printed as text.".to_string(),
            _ => format!("Printed as text from `log level` {level}."),
        };
        out.push_str(&format!(
            "\n### {name}\n\n{} {shown}\n\n```json\n{}\n```\n\n```text\n{}\n```\n",
            event.when,
            stamped(line),
            one_line(line)
        ));
    }
    out.push_str("\n## Fields\n\n| field | meaning |\n|---|---|\n");
    for (field, meaning) in FIELDS {
        out.push_str(&format!("| `{field}` | {meaning} |\n"));
    }
    out
}

fn stamped(line: &Line) -> String {
    let at = Timestamp::new(1_795_219_200, 123_456_000).unwrap();
    serde_json::to_string(&Stamped::new(line, at)).unwrap()
}

fn json(line: &Line) -> Value {
    serde_json::from_str(&stamped(line)).unwrap()
}

#[test]
fn docs_events_matches_the_events() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.md");
    if std::env::var_os("COAX_BLESS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == page(),
        "docs/events.md is out of date: run COAX_BLESS=1 cargo test -p coax-serve docs_events"
    );
}

#[test]
fn every_event_has_one_example_and_every_field_an_explanation() {
    let places: Vec<usize> = events().iter().map(|event| place(&event.example)).collect();
    assert_eq!(places, (0..20).collect::<Vec<_>>());
    let mut used = Vec::new();
    for event in events() {
        let json = json(&event.example);
        for field in json.as_object().unwrap().keys() {
            let rows = FIELDS.iter().filter(|(name, _)| name == field);
            assert_eq!(rows.count(), 1, "{field} in {json}");
            used.push(field.clone());
        }
    }
    for (field, _) in FIELDS {
        assert!(
            used.iter().any(|name| name == field),
            "no event contains the field {field}"
        );
    }
}
