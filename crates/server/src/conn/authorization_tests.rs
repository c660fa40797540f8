//! Every request of every caller on a tree that another user connected. tests/peers/authorization.toml contains the
//! requests, the results of smbd, and the reasons why coax differs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use super::dispatch::ROUTES;
use crate::{
    event::Event,
    handlers::transaction::functions,
    memfs::MemFs,
    share::{Access, Admission, Share, ShareKind},
    testkit::{TestClient, TestServer},
};
use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec, vec::Vec};
use coax_wire::{
    block::WireStr,
    command as c,
    header::{Flags2, HEADER_LEN, Header, Tid, Uid},
    io::Writer,
    smb::transaction::{Kind, Request},
};
use toml::{Table, Value};

const TABLE: &str = include_str!("../../../../tests/peers/authorization.toml");
const UNKNOWN_UID: Uid = Uid(0x7777);

fn table() -> Table {
    TABLE.parse().unwrap()
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).map_or("", |value| value.as_str().unwrap())
}

fn names(table: &Table, key: &str) -> Option<Vec<String>> {
    let list = table.get(key)?.as_array().unwrap();
    Some(
        list.iter()
            .map(|name| name.as_str().unwrap().into())
            .collect(),
    )
}

fn requests(table: &Table) -> impl Iterator<Item = &Table> {
    let requests = table["request"].as_array().unwrap();
    requests.iter().map(|request| request.as_table().unwrap())
}

/// Encodes a template: hexadecimal digits, 'text', and names of values.
fn encode(template: &str, values: &BTreeMap<&str, Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, part) in template.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend(part.bytes());
            continue;
        }
        for word in part.split_whitespace() {
            match values.get(word) {
                Some(value) => out.extend(value),
                None => out.extend(
                    (0..word.len())
                        .step_by(2)
                        .map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()),
                ),
            }
        }
    }
    out
}

/// A request's command and block.
fn block(request: &Table, values: &BTreeMap<&str, Vec<u8>>) -> (u8, Vec<u8>) {
    let part = |key: &str| encode(text(request, key), values);
    if let Some(command) = request.get("command") {
        let (words, bytes) = (part("words"), part("bytes"));
        let mut out = vec![(words.len() / 2) as u8];
        out.extend(words);
        out.extend((bytes.len() as u16).to_le_bytes());
        out.extend(bytes);
        return (command.as_integer().unwrap() as u8, out);
    }
    let function = request
        .get("function")
        .map_or(0, |f| f.as_integer().unwrap()) as u16;
    let (kind, setup) = match text(request, "kind") {
        "transaction" => (Kind::Transaction, part("setup")),
        "transaction2" => (Kind::Transaction2, function.to_le_bytes().to_vec()),
        _ => (Kind::NtTransact, part("setup")),
    };
    let (parameters, data) = (part("parameters"), part("data"));
    let request = Request {
        kind,
        total_parameters: parameters.len() as u32,
        total_data: data.len() as u32,
        max_parameters: 64,
        max_data: 4_000,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function,
        setup: &setup,
        name: WireStr {
            raw: text(request, "pipe").as_bytes(),
            unicode: false,
        },
        parameters: &parameters,
        data: &data,
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    (kind.command(), out.as_slice()[HEADER_LEN..].to_vec())
}

/// Builds a share from its lines of smb.conf.
fn share(name: &str, config: &Table, fs: &Arc<MemFs>) -> Share {
    let yes = |key: &str| text(config, key) == "yes";
    let users = |key: &str| {
        text(config, key)
            .split_whitespace()
            .map(String::from)
            .collect()
    };
    let kind = match (name, yes("printable")) {
        ("IPC$", _) => ShareKind::Ipc,
        (_, true) => ShareKind::Printer(fs.clone()),
        (_, false) => ShareKind::Disk(fs.clone()),
    };
    Share {
        admission: Admission {
            guest: (yes("guest ok") || yes("guest only")).then_some(Access::Write),
            guest_account: "nobody".into(),
            read_only: text(config, "read only") == "yes",
            valid_users: users("valid users"),
            write_list: users("write list"),
            ..Admission::default()
        },
        ..Share::for_guests(7, name, kind)
    }
}

/// A connection on which the owner has connected a share, and every other caller has a session.
struct Stage {
    client: TestClient,
    uids: BTreeMap<&'static str, Uid>,
    values: BTreeMap<&'static str, Vec<u8>>,
}

impl Stage {
    fn set_up(table: &Table, name: &str) -> Self {
        let described = table["shares"][name].as_table().unwrap();
        let mut server = TestServer::new();
        for folder in ["D", "EMPTY"] {
            server.fs.add_dir(folder).unwrap();
        }
        for file in ["F.TXT", "G.TXT"] {
            server.fs.add_file(file, b"0123456789abcdef").unwrap();
        }
        let share = share(name, described["config"].as_table().unwrap(), &server.fs);
        server.edit(|server| server.shares = vec![Arc::new(share)]);
        let mut client = server.connect();
        client.negotiate(&["NT LM 0.12"]);
        client.header.flags2 = Flags2(Flags2::NT_STATUS | Flags2::LONG_NAMES);
        let uids = sessions(&mut client);
        client.header.uid = uids["owner"];
        client.connect_share(name);
        let mut stage = Self {
            client,
            uids,
            values: BTreeMap::new(),
        };
        stage.open(text(described, "opens"), name);
        stage
    }

    /// The owner's FID, search and resume key.
    fn open(&mut self, opens: &str, share: &str) {
        let client = &mut self.client;
        let (mut sid, mut key) = (0xfffe, vec![0; 21]);
        let fid = match opens {
            "print" => client
                .request(c::OPEN_PRINT_FILE, &[0, 1], b"\x04JOB\0")
                .ok()
                .word(0),
            "pipe" => created(
                client
                    .nt_create("\\srvsvc", 0x0012_019f, (1, 0))
                    .ok()
                    .block()
                    .words,
            ),
            "write" => created(
                client
                    .nt_create("F.TXT", 0x0012_019f, (1, 0x40))
                    .ok()
                    .block()
                    .words,
            ),
            _ => created(
                client
                    .nt_create("F.TXT", 0x0012_0089, (1, 0x40))
                    .ok()
                    .block()
                    .words,
            ),
        };
        if ["write", "read"].contains(&opens) {
            let first = b"\x16\0\x01\0\0\0\x01\0\0\0\0\0*\0";
            let found = client.trans2(1, first, b"").ok();
            sid = u16::from_le_bytes([found.parameters[0], found.parameters[1]]);
            let found = client
                .request(c::SEARCH, &[1, 0x16], b"\x04????????.???\0\x05\0\0")
                .ok();
            key = found.bytes()[3..24].to_vec();
        }
        let word = |word: u16| word.to_le_bytes().to_vec();
        let path = format!("\\\\COAX\\{share}").into_bytes();
        let tid = word(client.header.tid.0);
        let values = [
            ("fid", word(fid)),
            ("sid", word(sid)),
            ("tid", tid),
            ("key", key),
            ("share", path),
        ];
        self.values = values.into();
    }

    /// The answer that a caller gets: one of the file's verdicts.
    fn ask(&mut self, table: &Table, caller: &str, request: &Table) -> String {
        let (command, block) = block(request, &self.values);
        self.client.header.uid = self.uids[caller];
        self.client.post(command, &block);
        let Some(answer) = self.client.raw_answer() else {
            return "nothing".into();
        };
        match Header::parse(&answer) {
            Ok(header) => verdict(table, header.status),
            Err(_) if answer.is_empty() => "raw nothing".into(),
            Err(_) => "served".into(),
        }
    }
}

fn created(words: &[u8]) -> u16 {
    u16::from_le_bytes([words[5], words[6]])
}

fn sessions(client: &mut TestClient) -> BTreeMap<&'static str, Uid> {
    let mut uids = BTreeMap::from([("unknown", UNKNOWN_UID)]);
    let users = [
        ("owner", Some("owner")),
        ("other", Some("other")),
        ("guest", None),
        ("null", None),
        ("logged-off", Some("owner")),
    ];
    for (caller, user) in users {
        let uid = client
            .conn
            .context
            .sessions
            .add(256, user.map(String::from))
            .unwrap();
        uids.insert(caller, uid);
    }
    client.header.uid = uids["logged-off"];
    client.request(c::LOGOFF_ANDX, &[0xff, 0], b"").ok();
    uids
}

fn verdict(table: &Table, status: u32) -> String {
    let verdicts = table["verdicts"].as_table().unwrap();
    let found = verdicts.iter().find(|(_, statuses)| {
        let statuses = statuses.as_array().unwrap();
        statuses.contains(&Value::Integer(status.into()))
    });
    found.map_or("served".into(), |(name, _)| name.clone())
}

/// coax's expected answers in the file.
fn expected(table: &Table, share: &str, caller: &str, request: &str) -> String {
    let holds = |difference: &Table, key: &str, name: &str| {
        names(difference, key).is_none_or(|names| names.iter().any(|listed| listed == name))
    };
    let differences = table["difference"].as_array().unwrap();
    let difference = differences.iter().map(|d| d.as_table().unwrap()).find(|d| {
        holds(d, "shares", share) && holds(d, "callers", caller) && holds(d, "requests", request)
    });
    match difference {
        Some(difference) if difference.contains_key("as") => {
            expected(table, share, caller, text(difference, "as"))
        }
        Some(difference) => text(difference, "answer").into(),
        None => of_smbd(table, share, caller, request),
    }
}

fn of_smbd(table: &Table, share: &str, caller: &str, request: &str) -> String {
    let results = table["results"][share].as_table().unwrap();
    let row = match &results[caller] {
        Value::String(same) => results[same.strip_prefix("as ").unwrap()]
            .as_table()
            .unwrap(),
        row => row.as_table().unwrap(),
    };
    let listed = row.iter().find(|(verdict, requests)| {
        *verdict != "default" && requests.as_array().unwrap().contains(&request.into())
    });
    listed.map_or_else(
        || text(row, "default").into(),
        |(verdict, _)| verdict.clone(),
    )
}

#[test]
fn every_request_of_every_caller_gets_the_answer_in_the_authorization_matrix() {
    let table = table();
    let (mut wrong, mut cells) = (Vec::new(), 0);
    for share in table["shares"].as_table().unwrap().keys() {
        for caller in table["callers"].as_table().unwrap().keys() {
            for request in requests(&table) {
                let name = text(request, "name");
                let answer = Stage::set_up(&table, share).ask(&table, caller, request);
                let expected = expected(&table, share, caller, name);
                if answer != expected {
                    wrong.push(format!(
                        "{share}: {caller}: {name}: {answer}, not {expected}"
                    ));
                }
                cells += 1;
            }
        }
    }
    assert!(cells > 3_000, "{cells} cells");
    assert!(
        wrong.is_empty(),
        "{} of {cells}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_authorization_matrix_covers_every_command_and_transaction() {
    let table = table();
    let exempt = table["exempt"].as_table().unwrap();
    let asked: Vec<(u8, u16)> = requests(&table)
        .map(|request| {
            let function = request
                .get("function")
                .map_or(0, |f| f.as_integer().unwrap()) as u16;
            let values = ["fid", "sid", "tid", "key", "share"].map(|name| (name, Vec::new()));
            (block(request, &values.into()).0, function)
        })
        .collect();
    for row in ROUTES {
        let name = c::name(row.code).unwrap();
        let is_asked = asked.iter().any(|(command, _)| *command == row.code);
        assert!(is_asked != exempt.contains_key(name), "{name}");
    }
    for (kind, function) in functions() {
        let name = format!("{kind:?} {function:#04x}");
        let is_asked = asked.contains(&(kind.command(), function));
        assert!(is_asked != exempt.contains_key(&name), "{name}");
    }
}

#[test]
fn access_is_checked_again_when_a_uid_passes_to_another_user() {
    let table = table();
    let mut stage = Stage::set_up(&table, "valid");
    let open = requests(&table)
        .find(|r| text(r, "name") == "OPEN to read")
        .unwrap();
    let (command, block) = block(open, &stage.values);
    let uid = stage.uids["owner"];
    stage.client.header.uid = uid;
    stage.client.send_block(command, &block).ok();
    stage
        .client
        .conn
        .context
        .establish_session(uid, Some("other".into()));
    stage
        .client
        .send_block(command, &block)
        .refused(coax_wire::status::Status::BAD_UID);
    let refusal = core::iter::from_fn(|| stage.client.conn.poll_event())
        .find_map(|event| match event {
            Event::RequestRefused(refused) => Some(refused),
            _ => None,
        })
        .expect("the refusal must be reported");
    assert_eq!(refusal.share.as_deref(), Some("valid"));
    assert_eq!(refusal.user.as_deref(), Some("other"));
    assert!(refusal.why.contains("does not admit"), "{}", refusal.why);
    stage
        .client
        .conn
        .context
        .establish_session(uid, Some("owner".into()));
    stage.client.send_block(command, &block).ok();
}

#[test]
fn a_copy_requires_that_the_requests_user_may_use_the_second_tree() {
    let table = table();
    let mut server = TestServer::new();
    server.fs.add_file("A", b"secret").unwrap();
    server.fs.add_dir("OWNERS").unwrap();
    let owners = table["shares"]["valid"]["config"].as_table().unwrap();
    let closed = share("CLOSED", owners, &server.fs);
    server.edit(|server| server.shares.push(Arc::new(closed)));
    let mut client = server.connect();
    client.negotiate(&["NT LM 0.12"]);
    client.header.flags2 = Flags2(Flags2::NT_STATUS | Flags2::LONG_NAMES);
    let uids = sessions(&mut client);
    client.header.uid = uids["owner"];
    client.connect_share("CLOSED");
    let closed = client.header.tid;
    client.header.uid = uids["other"];
    client.connect_share("DISK");
    let copy = |client: &mut TestClient, tid2: Tid, to: &str| {
        client.paths(c::COPY, &[tid2.0, 0x11, 0], &["A", to])
    };
    copy(&mut client, closed, "B").refused(coax_wire::status::Status::BAD_UID);
    assert!(server.fs.contents("B").is_err());
    client.header.uid = uids["owner"];
    copy(&mut client, closed, "B").ok();
    assert_eq!(server.fs.contents("B").unwrap(), b"secret");
}
