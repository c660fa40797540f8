//! From negotiation to the tree, and back.

use super::{oem, wide};
use crate::{
    Error,
    block::{chain, put_empty},
    command,
    dialect::NegotiateShape,
    header::Tid,
    smb::{
        echo, logoff_andx,
        negotiate::{self, cap, security},
        session_setup_andx::{self, Credentials},
        testkit::{block_bytes, cut_and_bent, first, message, with_header},
        tree_connect, tree_connect_andx,
    },
};
use alloc::{vec, vec::Vec};

/// Windows 98 to an MS-DOS client: the length of the challenge is 0, eight bytes follow.
const WIN98: &[u8] = b"\x0d\x04\0\x02\0\x68\x0b\x02\0\x01\0\x03\0\x15\x05\x03\x80\xb2\x64\x8f\x4f\xc4\xff\0\0\0\0\x08\0\x15\x05\x03\x80\x01\x1b\xf6\x5d";
/// A LAN Manager 2.1 server with a domain.
const LANMAN21: &[u8] = b"\x0d\x03\0\x03\0\x04\x11\x20\0\x01\0\0\0\0\0\0\0\x33\x28\x3a\x5b\x4a\x01\x08\0\0\0\x12\0\x11\x22\x33\x44\x55\x66\x77\x88WORKGROUP\0";
/// Samba 3.6 without extended security, in Unicode.
const SAMBA36: &[u8] = b"\x11\x08\0\x02\x32\0\x01\0\x04\x41\0\0\0\0\x01\0\x78\x0f\0\0\xfd\xf3\0\0\x97\x6d\xfe\xe0\x0f\xfd\xce\x01\x2c\x01\x08\x1c\0\xe0\x37\x0c\x34\xb7\x66\x3b\x6dW\0O\0R\0K\0G\0R\0O\0U\0P\0\0\0";
/// Windows XP with extended security: a GUID and no token.
const XP: &[u8] = b"\x11\x05\0\x03\x0a\0\x01\0\x04\x11\0\0\0\0\x01\0\0\0\0\0\xfd\xe3\0\x80\x2a\x55\xc4\x38\x89\x03\xcd\x01\x2c\x01\0\x10\0\xfe\x82\xf1\x64\x0b\x66\xba\x4a\xbb\x81\xe1\xea\x54\xae\xb8\x66";

fn negotiated(block: &[u8], unicode: bool) -> (NegotiateShape, negotiate::Response) {
    let message = with_header(block);
    cut_and_bent(&message, |block| {
        let _ = negotiate::Response::parse(block, unicode);
    });
    negotiate::Response::parse(&first(&message), unicode).unwrap()
}

#[test]
fn the_challenge_of_windows_98_is_used_although_its_declared_length_is_zero() {
    let (shape, reply) = negotiated(WIN98, false);
    assert_eq!(shape, NegotiateShape::Lanman);
    assert_eq!((reply.index, reply.security_mode), (4, 2));
    assert_eq!(
        (
            reply.max_buffer,
            reply.max_mpx,
            reply.max_vcs,
            reply.raw_mode
        ),
        (2920, 2, 1, 3)
    );
    assert_eq!((reply.dos_time, reply.time_zone), ((0x64b2, 0x4f8f), -60));
    assert_eq!(reply.challenge, b"\x15\x05\x03\x80\x01\x1b\xf6\x5d");
    assert!(reply.domain.is_empty());
}

#[test]
fn lan_manager_2_1_ends_with_its_domain() {
    let (shape, reply) = negotiated(LANMAN21, true);
    assert_eq!(shape, NegotiateShape::Lanman);
    assert_eq!(reply.challenge, b"\x11\x22\x33\x44\x55\x66\x77\x88");
    assert_eq!(
        (reply.domain, reply.time_zone),
        (b"WORKGROUP".to_vec(), 330)
    );
}

#[test]
fn nt_names_follow_the_challenge_unaligned() {
    let (shape, reply) = negotiated(SAMBA36, true);
    assert_eq!(shape, NegotiateShape::Nt);
    assert_eq!((reply.max_buffer, reply.max_raw), (16_644, 65_536));
    assert!(reply.capabilities & cap::UNICODE != 0 && reply.extended.is_none());
    assert_eq!(reply.challenge, b"\xe0\x37\x0c\x34\xb7\x66\x3b\x6d");
    assert_eq!(reply.domain, b"W\0O\0R\0K\0G\0R\0O\0U\0P\0");
    assert!(reply.server.is_empty());
}

#[test]
fn extended_security_replies_have_a_guid_and_an_optional_token() {
    let (_, reply) = negotiated(XP, true);
    let (guid, token) = reply.extended.unwrap();
    assert_eq!((guid[0], guid[15], token.len()), (0xfe, 0x66, 0));
    assert!(reply.challenge.is_empty());
}

#[test]
fn each_shape_of_negotiate_reply_survives_a_round_trip() {
    let plain = negotiate::Response {
        index: 3,
        security_mode: security::USER_LEVEL | security::ENCRYPT_PASSWORDS,
        max_mpx: 50,
        max_vcs: 1,
        max_buffer: 4356,
        session_key: 0x0102_0304,
        time_zone: -60,
        challenge: b"8 bytes!".to_vec(),
        domain: b"WG\0".to_vec(),
        ..Default::default()
    };
    let message_of =
        |reply: &negotiate::Response, shape| message(|out| reply.emit(shape, true, out));
    let core = message_of(&plain, NegotiateShape::Core);
    let parsed = negotiate::Response::parse(&first(&core), false).unwrap();
    assert_eq!((parsed.0, parsed.1.index), (NegotiateShape::Core, 3));
    let without_end = negotiate::Response {
        domain: b"WG".to_vec(),
        ..plain.clone()
    };
    for (shape, given) in [
        (NegotiateShape::Lanman, &plain),
        (NegotiateShape::Nt, &plain),
    ] {
        let parsed = negotiated(&message_of(given, shape)[32..], false);
        assert_eq!(parsed, (shape, without_end.clone()));
    }
    let extended = negotiate::Response {
        capabilities: cap::EXTENDED_SECURITY,
        extended: Some((*b"sixteen bytes it", b"token".to_vec())),
        challenge: Vec::new(),
        domain: Vec::new(),
        ..plain
    };
    let parsed = negotiated(&message_of(&extended, NegotiateShape::Nt)[32..], true);
    assert_eq!(parsed, (NegotiateShape::Nt, extended));
}

#[test]
fn a_reply_without_a_dialect_has_one_word_and_other_counts_are_rejected() {
    let none = message(negotiate::Response::emit_none);
    let (_, reply) = negotiate::Response::parse(&first(&none), false).unwrap();
    assert_eq!(reply.index, negotiate::Response::NONE);
    let empty = message(put_empty);
    assert_eq!(
        negotiate::Response::parse(&first(&empty), false).err(),
        Some(Error::WordCount {
            what: "NEGOTIATE",
            found: 0
        })
    );
}

fn set_up(credentials: Credentials<'static>) -> session_setup_andx::Request<'static> {
    session_setup_andx::Request {
        max_buffer: 4356,
        max_mpx: 50,
        vc_number: 1,
        session_key: 0x0506_0708,
        capabilities: 0,
        credentials,
        account: Some(oem(b"GUEST")),
        domain: Some(oem(b"WG")),
        native_os: Some(oem(b"DOS")),
        native_lan_man: Some(oem(b"LM")),
    }
}

fn comes_back(request: &session_setup_andx::Request<'_>, unicode: bool) {
    let message = message(|out| request.emit(out));
    let parsed = session_setup_andx::Request::parse(&first(&message), unicode);
    assert_eq!(parsed.as_ref(), Ok(request));
}

#[test]
fn the_three_forms_of_session_set_up_come_back() {
    comes_back(
        &set_up(Credentials::Lanman {
            password: b"24 byte response",
        }),
        false,
    );
    let nt = session_setup_andx::Request {
        capabilities: cap::UNICODE,
        account: Some(wide(b"J\0")),
        domain: Some(wide(b"")),
        native_os: Some(wide(b"D\0O\0S\0")),
        native_lan_man: Some(wide(b"L\0")),
        ..set_up(Credentials::Nt {
            oem_password: b"odd",
            unicode_password: b"even",
        })
    };
    comes_back(&nt, true);
    let extended = session_setup_andx::Request {
        capabilities: cap::EXTENDED_SECURITY,
        account: None,
        domain: None,
        native_os: Some(wide(b"D\0")),
        native_lan_man: Some(wide(b"L\0")),
        ..set_up(Credentials::Extended {
            token: b"NTLMSSP\0",
        })
    };
    comes_back(&extended, true);
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A session set-up of these words behind the AndX head, and bytes.
fn raw_set_up(words: &[u16], bytes: &[u8]) -> Vec<u8> {
    message(|out| {
        let mut block = crate::block::BlockWriter::begin_andx(out);
        for &word in words {
            block.words().u16(word);
        }
        block.bytes().bytes(bytes);
        block.finish(0);
    })
}

fn native_names(message: &[u8]) -> [Vec<u8>; 2] {
    let request = session_setup_andx::Request::parse(&first(message), true).unwrap();
    [request.native_os, request.native_lan_man].map(|name| name.unwrap().raw.to_vec())
}

#[test]
fn the_playstation_2_pads_its_names_to_odd_offsets_and_is_read_all_the_same() {
    // ps2sdk smbman, smb_SessionSetupAndX: the offset that it aligns counts from the bytes, which begin at 61.
    let words = [0x1104, 2, 1, 0, 0, 24, 24, 0, 0, 0xd4, 0];
    let text = |text: &str| [utf16(text), vec![0, 0]].concat();
    let mut bytes = vec![b'r'; 48];
    bytes.push(0);
    bytes.extend([text("GUEST"), text("WORKGROUP")].concat());
    assert_eq!(bytes.len() % 2, 1);
    bytes.push(0);
    bytes.extend([text("PlayStation 2"), text("SMBMAN")].concat());
    let sent = raw_set_up(&words, &bytes);
    assert_eq!(
        native_names(&sent),
        [utf16("PlayStation 2"), utf16("SMBMAN")]
    );
    let request = session_setup_andx::Request::parse(&first(&sent), true).unwrap();
    assert_eq!(request.account.unwrap().raw, utf16("GUEST"));
    assert_eq!(request.domain.unwrap().raw, utf16("WORKGROUP"));
}

#[test]
fn libdsm_puts_its_names_straight_behind_a_token_of_any_length() {
    for token in [&b"token of even len"[..], b"token of odd length"] {
        for pad in [0, 1] {
            let token = [token, &vec![0; pad]].concat();
            let words = [0xffff, 16, 1, 0, 0, token.len() as u16, 0, 0, 0xd4, 0];
            let names = [utf16("Unix"), vec![0; 2], utf16("liBDSM"), vec![0; 4]].concat();
            let sent = raw_set_up(&words, &[token, names].concat());
            assert_eq!(native_names(&sent), [utf16("Unix"), utf16("liBDSM")]);
        }
    }
}

#[test]
fn the_oldest_set_up_ends_with_the_password() {
    let request = session_setup_andx::Request {
        account: None,
        domain: None,
        native_os: None,
        native_lan_man: None,
        ..set_up(Credentials::Lanman { password: b"p\0" })
    };
    let bytes = block_bytes(|out| request.emit(out));
    assert_eq!(
        bytes,
        b"\x0a\xff\0\0\0\x04\x11\x32\0\x01\0\x08\x07\x06\x05\x02\0\0\0\0\0\x02\0p\0"
    );
    comes_back(&request, false);
}

#[test]
fn session_setup_replies_survive_a_round_trip_with_and_without_a_token() {
    for (token, unicode) in [(None, false), (None, true), (Some(&b"abc"[..]), true)] {
        let reply = session_setup_andx::Response {
            action: session_setup_andx::Response::GUEST,
            token,
            native_os: b"U\0",
            native_lan_man: b"S\0a\0",
            domain: b"W\0",
            unicode,
        };
        let reply = if unicode {
            reply
        } else {
            session_setup_andx::Response {
                native_os: b"Unix",
                native_lan_man: b"Samba",
                domain: b"WG",
                ..reply
            }
        };
        let message = message(|out| reply.emit(out));
        cut_and_bent(&message, |block| {
            let _ = session_setup_andx::Response::parse(block, unicode);
        });
        let parsed = session_setup_andx::Response::parse(&first(&message), unicode);
        assert_eq!(parsed, Ok(reply));
    }
}

#[test]
fn windows_98_answers_the_chained_connect_without_any_names() {
    let message = with_header(b"\x03\x75\0\x29\0\0\0\0\0\x02\xff\0\0\0\x03\0A:\0");
    let reply = session_setup_andx::Response::parse(&first(&message), false).unwrap();
    assert_eq!((reply.action, reply.native_os), (0, &b""[..]));
    let (next, at) = first(&message).andx().unwrap();
    assert_eq!(next, command::TREE_CONNECT_ANDX);
    let block = crate::block::Block::at(&message, at).unwrap();
    let tree = tree_connect_andx::Response::parse(&block, false).unwrap();
    assert_eq!(
        (tree.word_count, tree.service, tree.file_system),
        (2, &b"A:"[..], &b""[..])
    );
}

#[test]
fn a_last_string_cut_within_its_terminator_is_whole() {
    // Windows XP: one byte of the last terminator is missing.
    let message = with_header(b"\x04\xff\0\x75\0\0\0\0\0\x0b\0\0W\0i\0n\0\0\0L\0\0");
    let reply = session_setup_andx::Response::parse(&first(&message), true).unwrap();
    assert_eq!(
        (reply.token, reply.native_os),
        (Some(&b""[..]), &b"W\0i\0n\0"[..])
    );
    assert_eq!(
        (reply.native_lan_man, reply.domain),
        (&b"L\0"[..], &b""[..])
    );
}

#[test]
fn a_session_set_up_reply_without_words_or_with_a_lying_token_is_refused() {
    let empty = message(put_empty);
    assert!(session_setup_andx::Response::parse(&first(&empty), true).is_err());
    let lying = with_header(b"\x04\xff\0\0\0\0\0\x09\0\x02\0ab");
    assert_eq!(
        session_setup_andx::Response::parse(&first(&lying), true),
        Err(Error::Short {
            what: "security blob"
        })
    );
}

#[test]
fn a_core_tree_connect_has_three_formatted_oem_strings() {
    let request = tree_connect::Request {
        path: oem(b"\\\\S\\C"),
        password: oem(b"PW"),
        service: oem(b"A:"),
    };
    let message = message(|out| request.emit(out));
    assert_eq!(&message[32..], b"\0\x0f\0\x04\\\\S\\C\0\x04PW\0\x04A:\0");
    assert_eq!(tree_connect::Request::parse(&first(&message)), Ok(request));
}

#[test]
fn a_core_tree_connect_reply_tells_buffer_and_tree() {
    let reply = tree_connect::Response {
        max_buffer: 8192,
        tid: Tid(0x0102),
    };
    let message = message(|out| reply.emit(out));
    cut_and_bent(&message, |block| {
        let _ = tree_connect::Response::parse(block);
    });
    assert_eq!(tree_connect::Response::parse(&first(&message)), Ok(reply));
}

#[test]
fn a_tree_connect_andx_survives_a_round_trip_in_both_encodings() {
    for (path, unicode) in [(oem(b"\\\\S\\C"), false), (wide(b"\\\0S\0"), true)] {
        let request = tree_connect_andx::Request {
            flags: 8,
            password: b"\0",
            path,
            service: oem(b"?????"),
        };
        let message = message(|out| request.emit(out));
        let parsed = tree_connect_andx::Request::parse(&first(&message), unicode);
        assert_eq!(parsed, Ok(request));
    }
}

#[test]
fn tree_connect_andx_replies_of_two_three_and_seven_words_survive_a_round_trip() {
    for word_count in [2, 3, 7] {
        let full = word_count == 7;
        let reply = tree_connect_andx::Response {
            word_count,
            optional_support: u16::from(word_count > 2),
            access: if full { (0x001f_01ff, 0x1200) } else { (0, 0) },
            service: b"A:",
            file_system: if word_count > 2 { b"N\0T\0" } else { b"" },
            unicode: word_count > 2,
        };
        let message = message(|out| reply.emit(out));
        cut_and_bent(&message, |block| {
            let _ = tree_connect_andx::Response::parse(block, true);
        });
        let parsed = tree_connect_andx::Response::parse(&first(&message), reply.unicode);
        assert_eq!(parsed, Ok(reply));
    }
}

#[test]
fn windows_xp_tells_the_rights_and_the_file_system() {
    let message =
        with_header(b"\x07\xff\0\x3e\0\x01\0\xff\x01\0\0\xff\x01\0\0\x0d\0A:\0N\0T\0F\0S\0\0\0");
    let reply = tree_connect_andx::Response::parse(&first(&message), true).unwrap();
    assert_eq!((reply.optional_support, reply.access), (1, (0x1ff, 0x1ff)));
    assert_eq!(
        (reply.service, reply.file_system),
        (&b"A:"[..], &b"N\0T\0F\0S\0"[..])
    );
}

#[test]
fn a_chain_of_two_commands_is_walked_to_its_end() {
    let message = message(|out| {
        let at = out.len();
        set_up(Credentials::Lanman { password: b"" }).emit(out);
        chain(out, at, command::TREE_CONNECT_ANDX);
        let tree = tree_connect_andx::Request {
            flags: 0,
            password: b"",
            path: oem(b"\\\\S\\C"),
            service: oem(b"A:"),
        };
        tree.emit(out);
    });
    let (next, at) = first(&message).andx().unwrap();
    assert_eq!(next, command::TREE_CONNECT_ANDX);
    let block = crate::block::Block::at(&message, at).unwrap();
    let tree = tree_connect_andx::Request::parse(&block, false).unwrap();
    assert_eq!((tree.path.raw, block.andx()), (&b"\\\\S\\C"[..], None));
}

#[test]
fn echoes_and_the_log_off_stand_as_specified() {
    let request = echo::Request {
        count: 1,
        data: b"hi",
    };
    let sent = message(|out| request.emit(out));
    assert_eq!(&sent[32..], b"\x01\x01\0\x02\0hi");
    assert_eq!(echo::Request::parse(&first(&sent)), Ok(request));
    let reply = echo::Response {
        sequence: 1,
        data: b"hi",
    };
    let answered = message(|out| reply.emit(out));
    cut_and_bent(&answered, |block| {
        let _ = echo::Response::parse(block);
    });
    assert_eq!(echo::Response::parse(&first(&answered)), Ok(reply));
    assert_eq!(
        block_bytes(logoff_andx::emit_request),
        b"\x02\xff\0\0\0\0\0"
    );
}
