//! `veto files` and `hide files` apply to every command that reaches or creates a name.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{
    config::Config,
    share::{Share, ShareKind, ShareOptions},
    testkit::{Answer, TestClient, TestServer},
};
use alloc::{string::String, sync::Arc, vec, vec::Vec};
use coax_wire::{command as c, header::HEADER_LEN, status::Status};

const NT: &str = "NT LM 0.12";

/// Files of each kind: to rename, vetoed, and vetoed under an 8.3 alias; and a folder of each.
fn server(options: ShareOptions) -> TestServer {
    let options = ShareOptions {
        streams: true,
        ..options
    };
    let server = TestServer::with(Config::default(), options);
    for folder in ["d", "dir.exe", "tree", "tree/sub.exe"] {
        server.fs.add_dir(folder).unwrap();
    }
    for file in [
        "a.pdf",
        "there.exe",
        "my secret document.txt",
        "dir.exe/in.txt",
    ] {
        server.fs.add_file(file, b"data").unwrap();
    }
    for file in ["tree/shown.txt", "tree/not.exe", "tree/sub.exe/x.txt"] {
        server.fs.add_file(file, b"data").unwrap();
    }
    server
}

fn vetoing() -> TestServer {
    server(ShareOptions {
        veto_files: vec!["*.exe".into(), "*secret*".into()],
        ..ShareOptions::default()
    })
}

/// A command that creates a name, with the server's answer.
type Way = fn(&mut TestClient, &str) -> Answer;

/// Every command that gives a file or folder a name of the client's choice.
const WAYS: &[(&str, Way)] = &[
    ("CREATE", |client, to| {
        client.paths(c::CREATE, &[0, 0, 0], &[to])
    }),
    ("CREATE_NEW", |client, to| {
        client.paths(c::CREATE_NEW, &[0, 0, 0], &[to])
    }),
    ("CREATE_DIRECTORY", |client, to| {
        client.paths(c::CREATE_DIRECTORY, &[], &[to])
    }),
    ("OPEN_ANDX", |client, to| {
        let bytes = client.string(to, HEADER_LEN + 1 + 30 + 2);
        client.request(
            c::OPEN_ANDX,
            &[0xff, 0, 0, 0x42, 0x16, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0],
            &bytes,
        )
    }),
    ("NT_CREATE_ANDX", |client, to| {
        client.nt_create(to, 0x0012_019f, (2, 0x40))
    }),
    ("NT_CREATE_ANDX that supersedes", |client, to| {
        client.nt_create(to, 0x0012_019f, (0, 0x40))
    }),
    ("NT_CREATE_ANDX that opens or creates", |client, to| {
        client.nt_create(to, 0x0012_019f, (3, 0x40))
    }),
    ("NT_CREATE_ANDX that overwrites or creates", |client, to| {
        client.nt_create(to, 0x0012_019f, (5, 0x40))
    }),
    ("NT_CREATE_ANDX of a folder", |client, to| {
        client.nt_create(to, 0x0012_0089, (2, 1))
    }),
    ("NT_CREATE_ANDX of a stream", |client, to| {
        client.nt_create(&alloc::format!("{to}:s"), 0x0012_019f, (2, 0x40))
    }),
    ("NT_TRANSACT_CREATE", nt_transact_create),
    ("TRANS2_OPEN2", |client, to| {
        let mut parameters = vec![0, 0, 0x42, 0, 0x16, 0, 0, 0, 0, 0, 0, 0, 0x10, 0];
        parameters.extend([0; 14]);
        parameters.extend(client.string(to, 0));
        client.trans2(0, &parameters, b"").answer
    }),
    ("TRANS2_CREATE_DIRECTORY", |client, to| {
        let mut parameters = vec![0; 4];
        parameters.extend(client.string(to, 0));
        client.trans2(0x0d, &parameters, b"").answer
    }),
    ("RENAME", |client, to| {
        client.paths(c::RENAME, &[0x16], &["a.pdf", to])
    }),
    ("RENAME of a folder", |client, to| {
        client.paths(c::RENAME, &[0x16], &["d", to])
    }),
    ("RENAME by a pattern", |client, to| {
        client.paths(c::RENAME, &[0x16], &["a*.pdf", to])
    }),
    ("NT_RENAME", |client, to| nt_rename(client, 0x104, to)),
    ("NT_RENAME to link", |client, to| {
        nt_rename(client, 0x103, to)
    }),
    ("NT_RENAME to copy", |client, to| {
        nt_rename(client, 0x105, to)
    }),
    ("TRANS2_SET_PATH_INFORMATION", |client, to| {
        let data = rename_data(to);
        client.set_path(0x3f2, "a.pdf", &data)
    }),
    ("TRANS2_SET_FILE_INFORMATION", |client, to| {
        let fid = created(&client.nt_create("a.pdf", 0x0013_019f, (1, 0x40)).ok());
        client.set_fid(0x3f2, fid, &rename_data(to))
    }),
    ("COPY", |client, to| {
        client.paths(c::COPY, &[0xffff, 0x11, 0], &["a.pdf", to])
    }),
    ("COPY of a tree", |client, to| {
        client.paths(c::COPY, &[0xffff, 0x11, 0x20], &["tree", to])
    }),
    ("MOVE", |client, to| {
        client.paths(c::MOVE, &[0xffff, 0x12, 0], &["a.pdf", to])
    }),
];

fn created(answer: &Answer) -> u16 {
    let words = answer.block().words;
    u16::from_le_bytes([words[5], words[6]])
}

fn nt_rename(client: &mut TestClient, level: u16, to: &str) -> Answer {
    client.paths(c::NT_RENAME, &[0x16, level, 0, 0], &["a.pdf", to])
}

fn rename_data(to: &str) -> Vec<u8> {
    let name: Vec<u8> = to.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut data = vec![0; 8];
    data.extend((name.len() as u32).to_le_bytes());
    data.extend(name);
    data
}

fn nt_transact_create(client: &mut TestClient, to: &str) -> Answer {
    use coax_wire::{
        block::WireStr,
        io::Writer,
        smb::transaction::{Kind, Request},
    };
    let name: Vec<u8> = to.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut parameters = Vec::new();
    for field in [
        0,
        0,
        0x0012_019f,
        0,
        0,
        0,
        7,
        2,
        0x40,
        0,
        0,
        name.len() as u32,
        2,
    ] {
        parameters.extend(u32::to_le_bytes(field));
    }
    parameters.extend([0, 0]);
    parameters.extend(name);
    let request = Request {
        kind: Kind::NtTransact,
        total_parameters: parameters.len() as u32,
        total_data: 0,
        max_parameters: 100,
        max_data: 0,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 1,
        setup: &[],
        name: WireStr {
            raw: &[],
            unicode: true,
        },
        parameters: &parameters,
        data: &[],
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let block = out.as_slice()[HEADER_LEN..].to_vec();
    client.send_block(c::NT_TRANSACT, &block)
}

fn everything(server: &TestServer) -> Vec<String> {
    use crate::vfs::{Kind, Vfs};
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for name in server.fs.open_dir(&folder).unwrap().names().unwrap() {
            let path = crate::vfs::path::join(&folder, &name);
            if server.fs.stat(&path).unwrap().kind == Kind::Directory {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_command_creates_a_vetoed_name_or_changes_a_vetoed_file() {
    let before = everything(&vetoing());
    for (way, run) in WAYS {
        for (to, status) in [
            ("x.exe", Status::OBJECT_NAME_NOT_FOUND),
            ("X.EXE", Status::OBJECT_NAME_NOT_FOUND),
            ("x.exe ", Status::OBJECT_NAME_NOT_FOUND),
            ("x.exe.", Status::OBJECT_NAME_NOT_FOUND),
            ("d\\x.exe", Status::OBJECT_NAME_NOT_FOUND),
            ("there.exe", Status::OBJECT_NAME_NOT_FOUND),
            ("THERE.EXE", Status::OBJECT_NAME_NOT_FOUND),
            ("MYSECR~1.TXT", Status::OBJECT_NAME_NOT_FOUND),
            ("dir.exe\\new.txt", Status::OBJECT_PATH_NOT_FOUND),
        ] {
            // These information levels rename only within a folder, and a folder cannot become part of itself.
            let within = way.starts_with("TRANS2_SET") || *way == "RENAME of a folder";
            if within && to.contains('\\') {
                continue;
            }
            let server = vetoing();
            let mut client = server.client(NT);
            let answer = run(&mut client, to);
            assert_eq!(Status(answer.status()), status, "{way} {to}");
            drop(client);
            assert_eq!(everything(&server), before, "{way} {to}");
            assert_eq!(
                server.fs.contents("there.exe").unwrap(),
                b"data",
                "{way} {to}"
            );
        }
    }
}

#[test]
fn every_command_creates_a_name_that_is_not_vetoed() {
    for (way, run) in WAYS {
        let server = vetoing();
        let mut client = server.client(NT);
        run(&mut client, "new.txt").ok();
        assert!(
            everything(&server).contains(&"new.txt".into()),
            "{way} created no file"
        );
    }
}

#[test]
fn a_name_that_matches_hide_files_is_hidden_whatever_command_created_it() {
    const HIDDEN: u16 = 2;
    for (way, run) in WAYS {
        let server = server(ShareOptions {
            hide_files: vec!["*.txt".into()],
            ..ShareOptions::default()
        });
        let mut client = server.client(NT);
        run(&mut client, "new.txt").ok();
        let attributes = client
            .paths(c::QUERY_INFORMATION, &[], &["NEW.TXT"])
            .ok()
            .word(0);
        assert_eq!(attributes & HIDDEN, HIDDEN, "{way}");
    }
}

#[test]
fn a_user_with_read_access_creates_no_name_by_any_command() {
    for (way, run) in WAYS {
        let mut server = server(ShareOptions::default());
        server.edit(|server| {
            Arc::make_mut(&mut server.shares[0]).admission.read_only = true;
        });
        let before = everything(&server);
        let mut client = server.client(NT);
        // Renaming an open file requires the DELETE right, so this command fails at its open.
        if *way != "TRANS2_SET_FILE_INFORMATION" {
            run(&mut client, "new.txt").refused(Status::ACCESS_DENIED);
        }
        assert_eq!(everything(&server), before, "{way}");
    }
}

#[test]
fn a_renamed_pattern_stops_at_the_vetoed_name_and_copies_leave_vetoed_files_behind() {
    let server = vetoing();
    let mut client = server.client(NT);
    client
        .paths(c::RENAME, &[0x16], &["*.pdf", "*.exe"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::COPY, &[0xffff, 0x11, 0x20], &["tree", "copy"])
        .ok();
    let copied: Vec<_> = everything(&server)
        .into_iter()
        .filter(|path| path.starts_with("copy"))
        .collect();
    assert_eq!(copied, ["copy", "copy/shown.txt"]);
}

#[test]
fn a_copy_follows_the_veto_list_of_the_target_share() {
    let mut server = server(ShareOptions::default());
    let target = Arc::new(crate::memfs::MemFs::new());
    target.add_file("not.exe", b"theirs").unwrap();
    let share = Share {
        options: ShareOptions {
            veto_files: vec!["*.exe".into()],
            ..ShareOptions::default()
        },
        ..Share::for_guests(9, "OTHER", ShareKind::Disk(target.clone()))
    };
    server.edit(|server| server.shares.push(Arc::new(share)));
    let mut client = server.client(NT);
    let here = client.header.tid;
    client.connect_share("OTHER");
    let other = client.header.tid;
    client.header.tid = here;
    let mut copy =
        |flags, from: &str, to: &str| client.paths(c::COPY, &[other.0, 0x12, flags], &[from, to]);
    copy(0, "there.exe", "x.exe").refused(Status::OBJECT_NAME_NOT_FOUND);
    copy(0, "tree\\not.exe", "not.exe").refused(Status::OBJECT_NAME_NOT_FOUND);
    copy(0x20, "tree", "").refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(target.contents("not.exe").unwrap(), b"theirs");
}

#[test]
fn temporary_files_get_no_vetoed_name_and_the_refusal_of_a_new_name_is_reported() {
    let server = server(ShareOptions {
        veto_files: vec!["tmp*".into()],
        ..ShareOptions::default()
    });
    let before = everything(&server);
    let mut client = server.client(NT);
    client
        .paths(c::CREATE_TEMPORARY, &[0, 0, 0], &["d"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(everything(&server), before);
    let reported = core::iter::from_fn(|| client.conn.poll_event())
        .any(|event| matches!(event, crate::Event::RequestRefused(refused) if refused.why.contains("veto files")));
    assert!(reported);
}

#[test]
fn a_vetoed_file_is_not_found_by_any_of_its_names() {
    let server = vetoing();
    let mut client = server.client(NT);
    for name in [
        "there.exe",
        "THERE.EXE",
        "MYSECR~1.TXT",
        "my secret document.txt",
    ] {
        client
            .paths(c::OPEN, &[0, 0x16], &[name])
            .refused(Status::OBJECT_NAME_NOT_FOUND);
        client
            .paths(c::DELETE, &[0x16], &[name])
            .refused(Status::OBJECT_NAME_NOT_FOUND);
        client
            .paths(c::RENAME, &[0x16], &[name, "seen"])
            .refused(Status::OBJECT_NAME_NOT_FOUND);
        client
            .paths(c::QUERY_INFORMATION, &[], &[name])
            .refused(Status::OBJECT_NAME_NOT_FOUND);
        client
            .query_path(0x101, name)
            .refused(Status::OBJECT_NAME_NOT_FOUND);
    }
    client
        .paths(c::OPEN, &[0, 0x16], &["dir.exe\\in.txt"])
        .refused(Status::OBJECT_PATH_NOT_FOUND);
    client
        .paths(c::DELETE_DIRECTORY, &[], &["dir.exe"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::DELETE_DIRECTORY, &[], &["tree"])
        .refused(Status::DIRECTORY_NOT_EMPTY);
}
