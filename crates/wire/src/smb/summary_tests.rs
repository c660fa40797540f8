use super::*;
use crate::{
    header::{Fid, Tid},
    io::Writer,
    smb::{
        session_setup_andx::Credentials,
        testkit::{cut_and_bent, first, message},
        trans2, transaction,
    },
};

const fn oem(raw: &[u8]) -> WireStr<'_> {
    WireStr {
        raw,
        unicode: false,
    }
}

const PASSWORD: &[u8] = b"open sesame";

fn shown(command: u8, emit: impl FnOnce(&mut Writer)) -> alloc::string::String {
    let sent = message(emit);
    let fields = request(command, &first(&sent), false).unwrap();
    alloc::format!("{fields:?}")
}

fn set_up(credentials: Credentials<'_>) -> Vec<u8> {
    let account = match credentials {
        Credentials::Extended { .. } => None,
        _ => Some(oem(b"ANNA")),
    };
    message(|out| {
        session_setup_andx::Request {
            max_buffer: 4356,
            max_mpx: 2,
            vc_number: 0,
            session_key: 0,
            capabilities: 0,
            credentials,
            account,
            domain: account.map(|_| oem(b"HOME")),
            native_os: Some(oem(b"DOS")),
            native_lan_man: Some(oem(b"LM")),
        }
        .emit(out);
    })
}

#[test]
fn a_session_set_up_shows_the_user_and_only_the_length_of_what_proves_it() {
    for credentials in [
        Credentials::Lanman { password: PASSWORD },
        Credentials::Nt {
            oem_password: PASSWORD,
            unicode_password: PASSWORD,
        },
        Credentials::Extended { token: PASSWORD },
    ] {
        let sent = set_up(credentials);
        let fields = request(code::SESSION_SETUP_ANDX, &first(&sent), false).unwrap();
        let secrets = fields
            .iter()
            .filter(|field| field.1 == Value::Secret(PASSWORD.len()));
        assert!(secrets.count() >= 1, "{fields:?}");
        for (name, value) in &fields {
            if let Value::Text(text) = value {
                assert!(
                    !text
                        .raw
                        .windows(4)
                        .any(|part| PASSWORD.windows(4).any(|own| own == part)),
                    "{name}"
                );
            }
        }
    }
    let sent = set_up(Credentials::Lanman { password: PASSWORD });
    let fields = request(code::SESSION_SETUP_ANDX, &first(&sent), false).unwrap();
    assert_eq!(fields.first(), Some(&("user", Value::Text(oem(b"ANNA")))));
}

#[test]
fn tree_connects_show_the_share_and_only_the_length_of_the_password() {
    let old = message(|out| {
        tree_connect::Request {
            path: oem(b"\\\\S\\DATA"),
            password: oem(PASSWORD),
            service: oem(b"A:"),
        }
        .emit(out);
    });
    let new = message(|out| {
        tree_connect_andx::Request {
            flags: 0,
            password: PASSWORD,
            path: oem(b"\\\\S\\DATA"),
            service: oem(b"A:"),
        }
        .emit(out);
    });
    for (command, sent) in [(code::TREE_CONNECT, old), (code::TREE_CONNECT_ANDX, new)] {
        let fields = request(command, &first(&sent), false).unwrap();
        assert_eq!(
            fields.first(),
            Some(&("share", Value::Text(oem(b"\\\\S\\DATA"))))
        );
        assert_eq!(
            fields.last(),
            Some(&("password", Value::Secret(PASSWORD.len())))
        );
    }
}

#[test]
fn transactions_show_their_function_and_what_it_is_about() {
    let setup = trans2::function::QUERY_PATH_INFORMATION.to_le_bytes();
    let parameters = trans2::of_path(0x0101, &oem(b"\\A.TXT"));
    let sent = message(|out| trans2::request(&setup, &parameters, &[], (2, 40)).emit(out));
    let fields = request(code::TRANSACTION2, &first(&sent), false).unwrap();
    assert_eq!(
        fields.get(..3),
        Some(
            &[
                ("function", Value::Name("QUERY_PATH_INFORMATION")),
                ("path", Value::Text(oem(b"\\A.TXT"))),
                ("level", Value::Hex(0x101)),
            ][..]
        )
    );
    let setup = crate::smb::named_pipe::setup(pipe::TRANSACT, Fid(7));
    let sent = message(|out| {
        transaction::Request {
            name: oem(b"\\PIPE\\"),
            ..transaction::Request::whole(Kind::Transaction, &setup, &[], b"rpc", (0, 1024))
        }
        .emit(out);
    });
    let fields = request(code::TRANSACTION, &first(&sent), false).unwrap();
    assert!(fields.contains(&("fid", Value::Fid(7))), "{fields:?}");
    assert!(fields.contains(&("function", Value::Name("TRANSACT_NMPIPE"))));
}

#[test]
fn both_names_of_a_rename_and_of_a_copy_are_shown() {
    let text = shown(code::RENAME, |out| {
        rename::Request {
            search_attributes: 0,
            old: oem(b"OLD"),
            new: oem(b"NEW"),
        }
        .emit(out);
    });
    assert!(text.contains("path") && text.contains("new"), "{text}");
    let text = shown(code::COPY, |out| {
        copy::Request {
            tid2: Tid(3),
            open_function: 0,
            flags: 1,
            source: oem(b"OLD"),
            target: oem(b"NEW"),
        }
        .emit(out);
    });
    assert!(text.contains("tid2") && text.contains("new"), "{text}");
}

#[test]
fn no_command_panics_on_truncated_or_corrupted_blocks() {
    let sent = [
        set_up(Credentials::Extended { token: PASSWORD }),
        message(|out| {
            out.u8(24).zeros(48).u16(40).zeros(40);
        }),
        message(|out| {
            out.u8(16).bytes(&[1; 32]).u16(30).bytes(&[4; 30]);
        }),
    ];
    for sent in &sent {
        for command in code::COMMANDS {
            for unicode in [false, true] {
                cut_and_bent(sent, |block| {
                    let _ = request(command.code, block, unicode);
                });
            }
        }
    }
}
