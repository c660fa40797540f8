//! Opening, reading, writing, locking, closing, listing, printing, chains.

use super::*;

pub fn opening() -> Vec<Case> {
    vec![
        case("OPEN", ALL, nothing, |client, _| {
            done(&client.paths(c::OPEN, &[0x42, 0x16], &["F"]))
        }),
        case("OPEN, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::OPEN, &[0x40, 0x16], &["dir\\a"]))
        }),
        case("OPEN of an 8.3 name", ALL, nothing, |client, _| {
            done(&client.paths(c::OPEN, &[0x40, 0x16], &["ALONGN~1.TEX"]))
                || done(&client.paths(c::OPEN, &[0x40, 0x16], &["A long name.text"]))
        }),
        case("OPEN_ANDX", SINCE_LANMAN, nothing, |client, _| {
            done(&open_andx(client, "F", (0x42, 0x01), 0))
        }),
        case("NT_CREATE opens", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("f", ALL_ACCESS, (OPEN, 0)))
        }),
        case(
            "NT_CREATE opens, deleted on close",
            NT_ONLY,
            nothing,
            |client, _| done(&client.nt_create("F", ALL_ACCESS, (OPEN, DELETE_ON_CLOSE))),
        ),
        case("NT_CREATE opens a folder", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("DIR", 0x0012_0089, (OPEN, DIRECTORY)))
        }),
        case(
            "NT_CREATE opens a described file",
            NT_ONLY,
            described_file,
            |client, _| done(&client.nt_create("F", 0x0012_0089, (OPEN, 0))),
        )
        .with_attributes(),
    ]
}

fn described_file(client: &mut TestClient) -> Vec<u16> {
    let fid = open_as_dialect(client, "F");
    set_security(client, fid).ok();
    client.close(fid).ok();
    Vec::new()
}

pub fn transfer() -> Vec<Case> {
    let mut cases = vec![
        case("READ", ALL, opened, |client, fids| {
            done(&client.request(c::READ, &[fids[0], 9, 0, 0, 0], b""))
        }),
        case("READ_ANDX", SINCE_LANMAN, opened, |client, fids| {
            let words = [0xff, 0, fids[0], 2, 0, 9, 0, 0, 0, 0];
            done(&client.request(c::READ_ANDX, &words, b""))
        }),
        case("READ_RAW", LANMAN, opened, |client, fids| {
            read_raw(client, fids[0])
        }),
        case("SEEK to the end", ALL, opened, |client, fids| {
            done(&client.request(c::SEEK, &[fids[0], 2, 0, 0], b""))
        }),
        // After a failed sync the open returns errors until it is closed.
        case("FLUSH", ALL, written, |client, fids| {
            done(&client.request(c::FLUSH, &[fids[0]], b""))
        })
        .once(),
        case("FLUSH of all", ALL, written, |client, _| {
            done(&client.request(c::FLUSH, &[0xffff], b""))
        })
        .once(),
        case("LOCK_AND_READ", ALL, opened, |client, fids| {
            done(&client.request(c::LOCK_AND_READ, &[fids[0], 4, 8, 0, 0], b""))
        }),
        case("WRITE that sets the length", ALL, opened, |client, fids| {
            done(&client.request(c::WRITE, &[fids[0], 0, 5, 0, 0], b"\x01\0\0"))
        }),
    ];
    cases.extend(writing());
    cases
}

fn writing() -> Vec<Case> {
    let cases = [
        case("WRITE", ALL, opened, |client, fids| {
            let answer = write(client, c::WRITE, fids[0], b"NEW DATA");
            done(&answer) && answer.word(0) == 8
        }),
        case("WRITE_ANDX", SINCE_LANMAN, opened, |client, fids| {
            let answer = write_andx(client, fids[0], 0, b"NEW DATA");
            done(&answer) && answer.word(2) == 8
        }),
        case(
            "WRITE_ANDX, written through",
            SINCE_LANMAN,
            opened,
            |client, fids| {
                let answer = write_andx(client, fids[0], 1, b"NEW DATA");
                done(&answer) && answer.word(2) == 8
            },
        ),
        case("WRITE_RAW", LANMAN, opened, |client, fids| {
            write_raw(client, fids[0])
        }),
        case("WRITE_AND_UNLOCK", ALL, locked, |client, fids| {
            let answer = write(client, c::WRITE_AND_UNLOCK, fids[0], b"NEW DATA");
            done(&answer) && answer.word(0) == 8
        })
        .gets_so_far(),
    ];
    let cases = cases.into_iter();
    cases.map(|case| case.leaves(Leaves::Bytes)).collect()
}

fn written(client: &mut TestClient) -> Vec<u16> {
    let fids = opened(client);
    write(client, c::WRITE, fids[0], b"NEW DATA").ok();
    fids
}

fn locked(client: &mut TestClient) -> Vec<u16> {
    let fids = opened(client);
    client
        .request(c::LOCK_BYTE_RANGE, &[fids[0], 8, 0, 0, 0], b"")
        .ok();
    fids
}

pub fn closing() -> Vec<Case> {
    let cases = [
        case("CLOSE", ALL, opened, |client, fids| {
            done(&client.close(fids[0]))
        }),
        case(
            "CLOSE after a write, with a time",
            ALL,
            written,
            |client, fids| done(&client.request(c::CLOSE, &[fids[0], 0x4000, 0x6a00], b"")),
        ),
        case("WRITE_AND_CLOSE", ALL, opened, |client, fids| {
            let words = [fids[0], 8, 0, 0, 0x4000, 0x6a00];
            let answer = client.request(c::WRITE_AND_CLOSE, &words, b"\0NEW DATA");
            done(&answer) && answer.word(0) == 8
        })
        .leaves(Leaves::Bytes),
        case(
            "CLOSE after space was reserved",
            NT_ONLY,
            reserved,
            |client, fids| done(&client.close(fids[0])),
        ),
        case("CLOSE deletes", NT_ONLY, doomed, |client, fids| {
            done(&client.close(fids[0]))
        }),
        case(
            "CLOSE deletes, indexed",
            NT_ONLY,
            doomed_looked,
            |client, fids| done(&client.close(fids[0])),
        ),
        case(
            "CLOSE deletes a folder",
            NT_ONLY,
            doomed_folder,
            |client, fids| done(&client.close(fids[0])),
        ),
    ];
    let cases = cases.into_iter().map(Case::closes);
    cases.chain(ends()).collect()
}

/// Ends of a tree, a user or a process. No reply reports a failed deletion, so the file may remain.
fn ends() -> Vec<Case> {
    fn deleted_or_told(client: &TestClient) -> bool {
        !client
            .conn
            .context
            .events
            .iter()
            .any(|event| matches!(event, crate::Event::NotDeleted { .. }))
    }
    let cases = [
        case("TREE_DISCONNECT deletes", NT_ONLY, doomed, |client, _| {
            client.request(c::TREE_DISCONNECT, &[], b"").ok();
            deleted_or_told(client)
        }),
        case("PROCESS_EXIT deletes", NT_ONLY, doomed, |client, _| {
            client.request(c::PROCESS_EXIT, &[], b"").ok();
            deleted_or_told(client)
        }),
    ];
    let logoff = case("LOGOFF_ANDX deletes", NT_ONLY, doomed, |client, _| {
        client.request(c::LOGOFF_ANDX, &[0xff, 0], b"").ok();
        let told = deleted_or_told(client);
        let again = [0xff, 0, 0xffff, 50, 1, 0, 0, 0, 0, 0, 0, 0xd0fc, 0x0080];
        let welcome = client.request(c::SESSION_SETUP_ANDX, &again, &[0; 12]).ok();
        client.header.uid = welcome.header.uid;
        told
    });
    let mut cases: Vec<_> = cases.into();
    cases.push(logoff);
    cases.into_iter().map(Case::closes).collect()
}

fn reserved(client: &mut TestClient) -> Vec<u16> {
    let fids = opened(client);
    client.set_fid(0x103, fids[0], &9000u64.to_le_bytes()).ok();
    fids
}

fn doomed(client: &mut TestClient) -> Vec<u16> {
    let opened = client.nt_create("F", ALL_ACCESS, (OPEN, DELETE_ON_CLOSE));
    vec![nt_fid(&opened.ok())]
}

fn doomed_looked(client: &mut TestClient) -> Vec<u16> {
    looked(client);
    doomed(client)
}

fn doomed_folder(client: &mut TestClient) -> Vec<u16> {
    let options = DELETE_ON_CLOSE | DIRECTORY;
    let opened = client.nt_create("EMPTY", ALL_ACCESS, (OPEN, options));
    vec![nt_fid(&opened.ok())]
}

pub fn listing() -> Vec<Case> {
    let mut cases = vec![
        case("SEARCH", ALL, nothing, |client, _| {
            done(&search(client, c::SEARCH, 9, "*.*", b""))
        })
        .gets_so_far(),
        case("SEARCH goes on", ALL, nothing, |client, _| {
            let first = search(client, c::SEARCH, 2, "*.*", b"");
            done(&first) && done(&search(client, c::SEARCH, 2, "", &last_key(&first)))
        })
        .gets_so_far(),
        case("FIND and FIND_CLOSE", LANMAN, nothing, |client, _| {
            let first = search(client, c::FIND, 2, "*.*", b"");
            done(&first) && done(&search(client, c::FIND_CLOSE, 0, "", &last_key(&first)))
        })
        .gets_so_far(),
        case("FIND_UNIQUE", LANMAN, nothing, |client, _| {
            done(&search(client, c::FIND_UNIQUE, 9, "DIR\\*.*", b""))
        }),
    ];
    cases.extend(finding());
    cases
}

fn finding() -> Vec<Case> {
    vec![
        case("FIND_FIRST2", SINCE_LANMAN, nothing, |client, _| {
            let parameters = parameters(client, &[0x16, 3, 0, 1, 0, 0], "*");
            done(&client.trans2(1, &parameters, b"").answer)
        }),
        case(
            "FIND_FIRST2 with EA sizes",
            SINCE_LANMAN,
            nothing,
            |client, _| {
                let parameters = parameters(client, &[0x16, 30, 2, 2, 0, 0], "*");
                done(&client.trans2(1, &parameters, b"").answer)
            },
        )
        .with_attributes(),
        case(
            "FIND_FIRST2 with both names",
            NT_ONLY,
            nothing,
            |client, _| {
                let parameters = parameters(client, &[0x16, 30, 1, 0x104, 0, 0], "*");
                done(&client.trans2(1, &parameters, b"").answer)
            },
        ),
        case("FIND_NEXT2", SINCE_LANMAN, found, |client, fids| {
            let parameters = parameters(client, &[fids[0], 3, 1, 0, 0, 8], "");
            done(&client.trans2(2, &parameters, b"").answer)
        }),
    ]
}

/// The number of a search, in place of a FID.
fn found(client: &mut TestClient) -> Vec<u16> {
    let parameters = parameters(client, &[0x16, 1, 0, 1, 0, 0], "*");
    let first = client.trans2(1, &parameters, b"").ok();
    vec![u16::from_le_bytes([
        first.parameters[0],
        first.parameters[1],
    ])]
}

pub fn printing() -> Vec<Case> {
    let cases = [
        case("OPEN_PRINT_FILE", ALL, printer, |client, _| {
            done(&client.paths(c::OPEN_PRINT_FILE, &[0, 0], &["JOB"]))
        }),
        case("OPEN of a printer", ALL, printer, |client, _| {
            done(&client.paths(c::OPEN, &[0x41, 0], &["JOB"]))
        }),
        case("CREATE on a printer", ALL, printer, |client, _| {
            done(&client.paths(c::CREATE, &[0, 0, 0], &["JOB"]))
        }),
        case("NT_CREATE on a printer", NT_ONLY, printer, |client, _| {
            done(&client.nt_create("JOB", 0x0012_0116, (CREATE, 0)))
        }),
        case("WRITE_PRINT_FILE", ALL, job, |client, fids| {
            done(&client.request(c::WRITE_PRINT_FILE, &[fids[0]], &piece(b"page two")))
        })
        .leaves(Leaves::Bytes)
        .once(),
        case("CLOSE_PRINT_FILE", ALL, job, |client, fids| {
            done(&client.request(c::CLOSE_PRINT_FILE, &[fids[0]], b""))
        })
        .leaves(Leaves::Parts)
        .closes(),
        case("CLOSE of an empty job", ALL, empty_job, |client, fids| {
            done(&client.request(c::CLOSE_PRINT_FILE, &[fids[0]], b""))
        })
        .closes(),
    ];
    let cases = cases.into_iter();
    cases.map(|case| case.on(On::Printer)).collect()
}

fn printer(client: &mut TestClient) -> Vec<u16> {
    connect(client, "LASER");
    Vec::new()
}

fn empty_job(client: &mut TestClient) -> Vec<u16> {
    printer(client);
    let opened = client.paths(c::OPEN_PRINT_FILE, &[0, 0], &["JOB"]).ok();
    vec![opened.word(0)]
}

fn job(client: &mut TestClient) -> Vec<u16> {
    let fids = empty_job(client);
    client
        .request(c::WRITE_PRINT_FILE, &[fids[0]], &piece(b"page one"))
        .ok();
    fids
}

pub fn chains() -> Vec<Case> {
    let cases = [
        case(
            "OPEN_ANDX, READ_ANDX",
            SINCE_LANMAN,
            nothing,
            |client, _| {
                let parts = vec![open_part(client, "F", 0x01), read_part(9)];
                done(&chain(client, parts))
            },
        ),
        case(
            "OPEN_ANDX, READ_ANDX, CLOSE",
            SINCE_LANMAN,
            nothing,
            |client, _| {
                let parts = vec![open_part(client, "F", 0x01), read_part(9), close_part()];
                done(&chain(client, parts))
            },
        ),
        case(
            "OPEN_ANDX that creates, READ_ANDX",
            SINCE_LANMAN,
            looked,
            |client, _| {
                let parts = vec![open_part(client, "NEW", 0x11), read_part(9)];
                done(&chain(client, parts))
            },
        ),
        case(
            "OPEN_ANDX that overwrites, READ_ANDX",
            SINCE_LANMAN,
            nothing,
            |client, _| {
                let parts = vec![open_part(client, "F", 0x12), read_part(9)];
                done(&chain(client, parts))
            },
        ),
    ];
    cases.map(Case::gets_so_far).into()
}
