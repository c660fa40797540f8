//! Creating, overwriting, streams, naming, copying.

use super::*;

pub fn creating() -> Vec<Case> {
    let mut cases = vec![
        case("CREATE", ALL, nothing, |client, _| {
            done(&client.paths(c::CREATE, &[0x20, 0x4000, 0x6a00], &["NEW"]))
        }),
        case("CREATE, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::CREATE, &[0x21, 0, 0], &["dir\\NEW"]))
        }),
        case("CREATE_NEW", ALL, nothing, |client, _| {
            done(&client.paths(c::CREATE_NEW, &[0x22, 0, 0], &["DIR\\NEW"]))
        }),
        case("CREATE_TEMPORARY", ALL, nothing, |client, _| {
            done(&client.paths(c::CREATE_TEMPORARY, &[0, 0, 0], &["DIR"]))
        }),
        case("CREATE_DIRECTORY", ALL, nothing, |client, _| {
            done(&client.paths(c::CREATE_DIRECTORY, &[], &["NEWDIR"]))
        }),
        case("CREATE_DIRECTORY, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::CREATE_DIRECTORY, &[], &["dir\\NEWDIR"]))
        }),
        case("OPEN_ANDX creates", SINCE_LANMAN, nothing, |client, _| {
            done(&open_andx(client, "NEW", (0x42, 0x10), 300))
        }),
    ];
    cases.extend(creating_with_attributes());
    cases.extend(creating_by_nt());
    cases
}

fn creating_with_attributes() -> Vec<Case> {
    vec![
        case(
            "TRANS2_OPEN2 creates",
            SINCE_LANMAN,
            nothing,
            |client, _| done(&open2(client, "NEW", 0x10, true)),
        )
        .with_attributes(),
        case(
            "TRANS2_CREATE_DIRECTORY",
            SINCE_LANMAN,
            looked,
            |client, _| {
                let parameters = parameters(client, &[0, 0], "NEWDIR");
                let eas = ea_list(&[("COMMENT", "new"), ("TYPE", "folder")]);
                done(&client.trans2(0x0d, &parameters, &eas).answer)
            },
        )
        .with_attributes(),
        case("NT_TRANSACT_CREATE", NT_ONLY, nothing, |client, _| {
            done(&nt_transact_create(client, "NEW", CREATE, 0))
        })
        .with_attributes(),
        case(
            "NT_TRANSACT_CREATE of a folder",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_transact_create(client, "NEW", CREATE, DIRECTORY)),
        )
        .with_attributes(),
        case(
            "NT_CREATE in a described folder",
            NT_ONLY,
            described,
            |client, _| done(&client.nt_create("GUARDED\\NEW", ALL_ACCESS, (CREATE, 0))),
        )
        .with_attributes(),
        case(
            "CREATE_DIRECTORY in a described folder",
            NT_ONLY,
            described,
            |client, _| done(&client.paths(c::CREATE_DIRECTORY, &[], &["GUARDED\\NEW"])),
        )
        .with_attributes(),
    ]
}

/// Makes a folder with a security descriptor, which new files in it inherit.
fn described(client: &mut TestClient) -> Vec<u16> {
    let made = nt_transact_create(client, "GUARDED", CREATE, DIRECTORY).ok();
    let _ = made;
    let fids: Vec<u16> = client
        .conn
        .context
        .files
        .fids_where(|_| true)
        .iter()
        .map(|f| f.0)
        .collect();
    for fid in fids {
        client.close(fid).ok();
    }
    Vec::new()
}

fn creating_by_nt() -> Vec<Case> {
    vec![
        case(
            "NT_CREATE creates with space",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_create_sized(client, "NEW", CREATE, 9000)),
        ),
        case(
            "NT_CREATE creates, indexed",
            NT_ONLY,
            looked,
            |client, _| {
                done(&client.nt_create("dir\\new long name.txt", ALL_ACCESS, (OVERWRITE_IF, 0)))
            },
        ),
        case("NT_CREATE of a folder", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("NEW", ALL_ACCESS, (CREATE, DIRECTORY)))
        }),
        case(
            "NT_CREATE, deleted on close",
            NT_ONLY,
            nothing,
            |client, _| done(&client.nt_create("NEW", ALL_ACCESS, (CREATE, DELETE_ON_CLOSE))),
        ),
    ]
}

pub fn overwriting() -> Vec<Case> {
    vec![
        case("CREATE overwrites", ALL, nothing, |client, _| {
            done(&client.paths(c::CREATE, &[0x22, 0x4000, 0x6a00], &["F"]))
        }),
        case("OPEN_ANDX overwrites", SINCE_LANMAN, looked, |client, _| {
            done(&open_andx(client, "F", (0x42, 0x02), 0))
        }),
        case(
            "TRANS2_OPEN2 overwrites",
            SINCE_LANMAN,
            nothing,
            |client, _| done(&open2(client, "F", 0x02, true)),
        )
        .with_attributes(),
        case(
            "NT_CREATE supersedes with space",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_create_sized(client, "F", SUPERSEDE, 9000)),
        ),
        case(
            "NT_CREATE overwrites, deleted on close",
            NT_ONLY,
            nothing,
            |client, _| done(&client.nt_create("F", ALL_ACCESS, (OVERWRITE_IF, DELETE_ON_CLOSE))),
        ),
        case(
            "NT_TRANSACT_CREATE overwrites",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_transact_create(client, "F", OVERWRITE_IF, 0)),
        )
        .with_attributes(),
        case(
            "NT_CREATE overwrites a file with streams",
            NT_ONLY,
            nothing,
            |client, _| done(&client.nt_create("F", ALL_ACCESS, (OVERWRITE_IF, 0))),
        )
        .on(On::Streams),
        case(
            "NT_TRANSACT_CREATE supersedes a file with streams",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_transact_create(client, "F", SUPERSEDE, 0)),
        )
        .on(On::Streams),
    ]
}

pub fn streams() -> Vec<Case> {
    let cases = streams_by_name().into_iter().chain(open_streams());
    cases.map(|case| case.on(On::Streams)).collect()
}

fn streams_by_name() -> Vec<Case> {
    vec![
        case("a stream is opened", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("F:s", ALL_ACCESS, (OPEN, 0)))
        }),
        case("a stream is created", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("F:new", ALL_ACCESS, (CREATE, 0)))
        }),
        case(
            "a stream is created with its file",
            NT_ONLY,
            looked,
            |client, _| done(&client.nt_create("NEW:s", ALL_ACCESS, (CREATE, 0))),
        ),
        case("a stream is overwritten", NT_ONLY, nothing, |client, _| {
            done(&client.nt_create("F:s", ALL_ACCESS, (OVERWRITE_IF, 0)))
        }),
        case(
            "a stream is created by OPEN_ANDX",
            NT_ONLY,
            nothing,
            |client, _| done(&open_andx(client, "F:new", (0x42, 0x11), 9)),
        ),
        case(
            "NT_TRANSACT_CREATE of a stream",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_transact_create(client, "F:new", CREATE, 0)),
        ),
        case(
            "NT_TRANSACT_CREATE of a stream with its file",
            NT_ONLY,
            nothing,
            |client, _| done(&nt_transact_create(client, "NEW:s", CREATE, 0)),
        ),
        case("a stream is deleted", NT_ONLY, nothing, |client, _| {
            done(&client.paths(c::DELETE, &[0x16], &["F:s"]))
        }),
        case("a stream is renamed", NT_ONLY, nothing, |client, _| {
            done(&client.paths(c::RENAME, &[0x16], &["F:s", ":u"]))
        }),
        case("streams are listed", NT_ONLY, nothing, |client, _| {
            done(&client.query_path(0x109, "F").answer)
        }),
        case(
            "a file with streams is deleted",
            NT_ONLY,
            nothing,
            |client, _| done(&client.paths(c::DELETE, &[0x16], &["F"])),
        ),
    ]
}

fn open_streams() -> Vec<Case> {
    vec![
        case("a stream is written", NT_ONLY, stream, |client, fids| {
            done(&write_andx(client, fids[0], 0, b"NEW DATA"))
        })
        .leaves(Leaves::Nothing),
        case("a stream is cut", NT_ONLY, stream, |client, fids| {
            done(&client.set_fid(0x104, fids[0], &3u64.to_le_bytes()))
        }),
        case(
            "a stream is deleted on close",
            NT_ONLY,
            doomed_stream,
            |client, fids| done(&client.close(fids[0])),
        )
        .closes(),
        case(
            "an open stream is renamed",
            NT_ONLY,
            stream,
            |client, fids| {
                let data = rename_to(client, ":u", false);
                done(&client.set_fid(1010, fids[0], &data))
            },
        ),
        case(
            "an open stream becomes the data",
            NT_ONLY,
            stream_of_empty,
            |client, fids| {
                let data = rename_to(client, "::$DATA", true);
                done(&client.set_fid(1010, fids[0], &data))
            },
        )
        .leaves_if_broken(Leaves::Bytes),
    ]
}

fn stream(client: &mut TestClient) -> Vec<u16> {
    vec![nt_fid(&client.nt_create("F:s", ALL_ACCESS, (OPEN, 0)).ok())]
}

fn doomed_stream(client: &mut TestClient) -> Vec<u16> {
    let opened = client.nt_create("F:s", ALL_ACCESS, (OPEN, DELETE_ON_CLOSE));
    vec![nt_fid(&opened.ok())]
}

fn stream_of_empty(client: &mut TestClient) -> Vec<u16> {
    let made = client.nt_create("NEW:s", ALL_ACCESS, (CREATE, 0)).ok();
    let fid = nt_fid(&made);
    write_andx(client, fid, 0, b"data of the stream").ok();
    vec![fid]
}

pub fn naming() -> Vec<Case> {
    let mut cases = vec![
        case("DELETE", ALL, nothing, |client, _| {
            done(&client.paths(c::DELETE, &[0x16], &["F"]))
        }),
        case("DELETE, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::DELETE, &[0x16], &["dir\\a"]))
        }),
        case("DELETE of a pattern", ALL, nothing, |client, _| {
            done(&client.paths(c::DELETE, &[0x16], &["DIR\\*.*"]))
        })
        .leaves(Leaves::Parts)
        .once(),
        case("DELETE_DIRECTORY", ALL, nothing, |client, _| {
            done(&client.paths(c::DELETE_DIRECTORY, &[], &["EMPTY"]))
        }),
        case("DELETE_DIRECTORY, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::DELETE_DIRECTORY, &[], &["empty"]))
        }),
        case("CHECK_DIRECTORY", ALL, nothing, |client, _| {
            done(&client.paths(c::CHECK_DIRECTORY, &[], &["dir\\sub"]))
        }),
        case("RENAME", ALL, nothing, |client, _| {
            done(&client.paths(c::RENAME, &[0x16], &["F", "H"]))
        }),
        case("RENAME into a folder, indexed", ALL, looked, |client, _| {
            done(&client.paths(c::RENAME, &[0x16], &["f", "dir\\H"]))
        }),
        case("RENAME of a folder", ALL, nothing, |client, _| {
            done(&client.paths(c::RENAME, &[0x16], &["DIR", "RID"]))
        }),
        case(
            "RENAME of a pattern",
            &[CORE, LANMAN1, LANMAN2],
            nothing,
            |client, _| done(&client.paths(c::RENAME, &[0x16], &["DIR\\?.*", "DIR\\?.X"])),
        )
        .leaves(Leaves::Parts)
        .once(),
    ];
    cases.extend(naming_by_nt());
    cases
}

fn naming_by_nt() -> Vec<Case> {
    vec![
        case(
            "RENAME of a pattern, as NT has patterns",
            NT_ONLY,
            looked,
            |client, _| done(&client.paths(c::RENAME, &[0x16], &["dir\\*", "dir\\*.X"])),
        )
        .leaves(Leaves::Parts)
        .once(),
        case("NT_RENAME", NT_ONLY, nothing, |client, _| {
            done(&nt_rename(client, level::RENAME_FILE, "F", "H"))
        }),
        case("NT_RENAME links", NT_ONLY, nothing, |client, _| {
            done(&nt_rename(client, level::SET_LINK_INFO, "F", "DIR\\H"))
        }),
        case("NT_RENAME copies", NT_ONLY, nothing, |client, _| {
            done(&nt_rename(client, level::COPY_FILE, "F", "H"))
        }),
        case(
            "an open file is renamed",
            NT_ONLY,
            opened,
            |client, fids| {
                let data = rename_to(client, "H", false);
                done(&client.set_fid(1010, fids[0], &data))
            },
        ),
        case(
            "an open file replaces another",
            NT_ONLY,
            opened,
            |client, fids| {
                let data = rename_to(client, "G", true);
                done(&client.set_fid(1010, fids[0], &data))
            },
        ),
        case(
            "a file replaces another by path",
            NT_ONLY,
            looked,
            |client, _| {
                let data = rename_to(client, "g", true);
                done(&client.set_path(1010, "f", &data))
            },
        ),
    ]
}

const HERE: u16 = SAME_TREE.0;
const CREATES: u16 = 0x10;
const TRUNCATES: u16 = 0x12;

pub fn copying() -> Vec<Case> {
    const APPENDS: u16 = 0x11;
    const ASCII: u16 = 0x0c;
    const TREE: u16 = 0x20;
    vec![
        case("COPY", LANMAN, nothing, |client, _| {
            done(&copy(client, c::COPY, (HERE, CREATES, 0), ("F", "H")))
        }),
        case(
            "COPY into a folder, indexed",
            LANMAN,
            looked,
            |client, _| done(&copy(client, c::COPY, (HERE, CREATES, 0), ("f", "dir"))),
        ),
        case("COPY over a file", LANMAN, nothing, |client, _| {
            done(&copy(client, c::COPY, (HERE, TRUNCATES, 0), ("F", "G")))
        }),
        case("COPY to the end of a file", LANMAN, nothing, |client, _| {
            done(&copy(client, c::COPY, (HERE, APPENDS, 0), ("F", "G")))
        })
        .leaves_if_broken(Leaves::Bytes),
        case(
            "COPY of text to the end of text",
            LANMAN,
            nothing,
            |client, _| {
                done(&copy(
                    client,
                    c::COPY,
                    (HERE, APPENDS, ASCII),
                    ("F", "TEXT"),
                ))
            },
        )
        .leaves_if_broken(Leaves::Bytes),
        case("COPY of a pattern", LANMAN, nothing, |client, _| {
            done(&copy(
                client,
                c::COPY,
                (HERE, CREATES, 0),
                ("DIR\\*.*", "EMPTY"),
            ))
        })
        .leaves(Leaves::Parts)
        .once(),
        case("COPY of a tree", LANMAN, nothing, |client, _| {
            done(&copy(
                client,
                c::COPY,
                (HERE, CREATES, TREE),
                ("DIR", "EMPTY"),
            ))
        })
        .leaves(Leaves::Parts)
        .once(),
        case(
            "COPY to another share",
            LANMAN,
            other_share,
            |client, fids| done(&copy(client, c::COPY, (fids[0], CREATES, 0), ("F", "H"))),
        ),
    ]
}

pub fn moving() -> Vec<Case> {
    vec![
        case("MOVE", LANMAN, nothing, |client, _| {
            done(&copy(client, c::MOVE, (HERE, CREATES, 0), ("F", "DIR\\H")))
        }),
        case("MOVE over a file", LANMAN, looked, |client, _| {
            done(&copy(client, c::MOVE, (HERE, TRUNCATES, 0), ("f", "g")))
        }),
        case(
            "MOVE to another share",
            LANMAN,
            other_share,
            |client, fids| done(&copy(client, c::MOVE, (fids[0], CREATES, 0), ("F", "H"))),
        ),
        case(
            "MOVE over a file of another share",
            LANMAN,
            other_share,
            |client, fids| {
                done(&copy(
                    client,
                    c::MOVE,
                    (fids[0], TRUNCATES, 0),
                    ("F", "THERE"),
                ))
            },
        ),
    ]
}

/// The TID of another share with a file, in place of a FID.
fn other_share(client: &mut TestClient) -> Vec<u16> {
    let tid = second_tree(client, "OTHER");
    let own = core::mem::replace(&mut client.header.tid, Tid(tid));
    let made = client.paths(c::CREATE, &[0x20, 0, 0], &["THERE"]).ok();
    let fid = made.word(0);
    write(client, c::WRITE, fid, b"what was there").ok();
    client.close(fid).ok();
    client.header.tid = own;
    vec![tid]
}
