//! Tests of the messages and of both ends of the exchange.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::*;
use crate::accounts::User;
use crate::hash::nt_hash;
use crate::policy::{Policy, Refusal};
use crate::secret::{Hash, SessionKey};
use crate::testing::hex;
use crate::text::{Ascii, utf16le};
use crate::verify::{How, Verified, verify};
use alloc::boxed::Box;
use alloc::vec::Vec;
use alloc::{format, vec};
use proptest::prelude::*;

const CHALLENGE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];

/// [MS-NLMP] 4.2.4.3, the CHALLENGE message.
const SPEC_CHALLENGE: &str = "
    4e544c4d53535000 02000000 0c000c0038000000 33828ae2 0123456789abcdef 0000000000000000 2400240044000000
    060070170000000f 530065007200760065007200 02000c0044006f006d00610069006e00 01000c005300650072007600650072 00
    00000000";

/// A Windows 95 style message: 52 bytes of fixed part, no session key, no flags, OEM strings.
const SHORT_AUTHENTICATE: &str = "
    4e544c4d53535000 03000000 1800180043000000 000000005b000000 0500050034000000 0300030039000000 070007003c000000
    4752554e44 424f42 434c49454e5431 98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13";

fn names() -> ServerNames {
    ServerNames {
        computer: "SERVER".into(),
        domain: "GROUP".into(),
        ..ServerNames::default()
    }
}

fn server(filetime: Option<u64>) -> NtlmsspServer {
    NtlmsspServer::new(names(), CHALLENGE, filetime)
}

fn challenge_of(step: Step) -> Vec<u8> {
    match step {
        Step::Continue(token) => token,
        Step::Authenticate(request) => panic!("expected a challenge, got {request:?}"),
    }
}

/// A server that has challenged a client with these flags.
fn challenging(flags: NegotiateFlags) -> NtlmsspServer {
    let mut server = server(None);
    let negotiate = Negotiate {
        flags,
        ..Negotiate::default()
    };
    challenge_of(server.handle(&negotiate.emit().unwrap()).unwrap());
    server
}

fn request_of(step: Step) -> Box<AuthenticateRequest> {
    match step {
        Step::Authenticate(request) => request,
        Step::Continue(token) => panic!("expected a request, got {token:?}"),
    }
}

fn credentials<'a>(hash: &'a Hash, key: &'a SessionKey) -> Credentials<'a> {
    Credentials {
        user: "Bob",
        domain: "Group",
        workstation: "WS",
        nt_hash: hash,
        client_challenge: &[0xaa; 8],
        session_key: key,
        filetime: 0,
    }
}

#[test]
fn the_challenge_of_ms_nlmp_4_2_4_3_survives_a_round_trip() {
    let bytes = hex(SPEC_CHALLENGE);
    let Message::Challenge(message) = Message::parse(&bytes).unwrap() else {
        panic!("no challenge")
    };
    assert_eq!(message.flags, NegotiateFlags(0xe28a_8233));
    assert_eq!(message.target_name, utf16le("Server"));
    assert_eq!(message.server_challenge, CHALLENGE);
    assert_eq!(
        AvPairs::new(message.target_info).value(AvId::NB_DOMAIN_NAME),
        Some(utf16le("Domain").as_slice())
    );
    assert_eq!(message.emit().unwrap(), bytes);
}

#[test]
fn the_tokens_of_a_windows_xp_client_and_server_are_read() {
    // A capture of Windows XP against Windows 5.1: bare NTLMSSP, NTLM2 session response.
    let negotiate =
        hex("4e544c4d5353500001000000078208a2000000000000000000000000000000000501280a0000000f");
    let Message::Negotiate(message) = Message::parse(&negotiate).unwrap() else {
        panic!("no negotiate")
    };
    assert_eq!(
        (message.flags, message.version),
        (NegotiateFlags(0xa208_8207), [5, 1, 0x28, 0x0a, 0, 0, 0, 15])
    );
    let authenticate = hex(
        "4e544c4d5353500003000000180018008e00000018001800a60000001e001e004800000012001200660000001600160078000000
         00000000be000000058288a20501280a0000000f4e004f004e0045002d00420039003100430046004100370042003900330077006800
         6900740065006300 65006c006c00530054004500560045004c004100500054004f00500047d4bd7d114ac7fa000000000000000000
         00000000000000b4f0b46f21353b4d9c2086ccec5ae4482a36e3a4a268209d",
    );
    let Message::Authenticate(message) = Message::parse(&authenticate).unwrap() else {
        panic!("no authenticate")
    };
    assert_eq!(message.user, utf16le("whitecell"));
    assert_eq!(message.workstation, utf16le("STEVELAPTOP"));
    assert_eq!(message.domain, utf16le("NONE-B91CFA7B93"));
    assert_eq!(
        (message.lm[..8].to_vec(), message.nt.len()),
        (hex("47d4bd7d114ac7fa"), 24)
    );
    assert_eq!(message.mic, None);
}

#[test]
fn a_windows_2000_message_with_payload_at_the_version_offset_is_decoded() {
    // A capture of Windows 2000 against Windows 2008 R2: VERSION is flagged, the names are not, and they begin at 32.
    let token = hex(
        "4e544c4d53535000 01000000 158288e2 03000300 20000000 10001000 23000000 4c4142 544845484f53544e414d45484552455 8",
    );
    let Message::Negotiate(message) = Message::parse(&token).unwrap() else {
        panic!("no negotiate")
    };
    assert_eq!(
        (message.domain, message.workstation),
        (b"".as_slice(), b"".as_slice()),
        "a MIC without the flag must be ignored"
    );
    assert_eq!(message.version, [0; 8]);
}

#[test]
fn the_short_form_of_old_clients_is_accepted_with_an_lm_response() {
    let mut server = server(None);
    let negotiate = hex("4e544c4d53535000 01000000 06020000");
    let challenge = challenge_of(server.handle(&negotiate).unwrap());
    let Message::Challenge(sent) = Message::parse(&challenge).unwrap() else {
        panic!("no challenge")
    };
    assert!(sent.flags.has(NegotiateFlags::OEM) && !sent.flags.has(NegotiateFlags::UNICODE));
    assert_eq!(sent.target_name, b"SERVER");
    let request = request_of(server.handle(&hex(SHORT_AUTHENTICATE)).unwrap());
    assert_eq!(request.user, NtlmString::Oem(b"BOB".to_vec()));
    assert_eq!(request.domain.decode(&Ascii), "GRUND");
    let user = User::with_password("bob", "Password", &Ascii);
    let verified = verify(&request.claim("BOB", "GRUND"), &user, &Policy::anything()).unwrap();
    assert_eq!(verified.how, How::Lm);
    let session = server.complete(Some(&verified)).unwrap();
    assert_eq!(Some(session.session_key()), verified.session_key.as_ref());
}

/// The whole exchange between our two ends; `alter` may change the client's last token.
fn exchange(
    filetime: Option<u64>,
    alter: impl Fn(&mut Vec<u8>),
) -> (Result<Session, NtlmsspError>, Session, Verified) {
    let (hash, key) = (nt_hash("Password"), SessionKey::new([0x55; 16]));
    let mut server = server(filetime);
    let (client, negotiate) = NtlmsspClient::start().unwrap();
    let challenge = challenge_of(server.handle(&negotiate).unwrap());
    let (mut authenticate, client) = client
        .answer(&challenge, &credentials(&hash, &key))
        .unwrap();
    alter(&mut authenticate);
    let request = request_of(server.handle(&authenticate).unwrap());
    assert!(!request.anonymous);
    let user = User::with_password("bob", "Password", &Ascii);
    let domain = request.domain.decode(&Ascii);
    let verified = verify(
        &request.claim(&request.user.decode(&Ascii), &domain),
        &user,
        &Policy::default(),
    )
    .unwrap();
    (server.complete(Some(&verified)), client, verified)
}

#[test]
fn both_ends_come_to_the_same_exchanged_key_and_can_sign() {
    for filetime in [None, Some(132_500_000_000_000_000)] {
        let (server, mut client, verified) = exchange(filetime, |_| {});
        let mut server = server.unwrap();
        assert_eq!(verified.how, How::NtlmV2);
        assert_eq!(server.session_key(), &SessionKey::new([0x55; 16]));
        assert_eq!(server.session_key(), client.session_key());
        assert_ne!(Some(server.session_key()), verified.session_key.as_ref());
        let signature = client.sign(b"mechanisms");
        assert!(server.verify(b"mechanisms", &signature));
    }
}

#[test]
fn the_mic_detects_a_flag_or_key_altered_in_transit() {
    let key_length = |token: &[u8]| token.len() - 16;
    let (altered, ..) = exchange(None, |token| {
        let at = key_length(token);
        token[at] ^= 1;
    });
    assert_eq!(altered.unwrap_err(), NtlmsspError::MicMismatch);
    let (altered, ..) = exchange(None, |token| token[60] ^= 0x10);
    assert_eq!(altered.unwrap_err(), NtlmsspError::MicMismatch);
}

#[test]
fn a_removed_mic_is_detected() {
    let (altered, ..) = exchange(None, |token| {
        let Message::Authenticate(message) = Message::parse(token).unwrap() else {
            panic!("no authenticate")
        };
        let without = Authenticate {
            mic: None,
            ..message
        };
        *token = without.emit().unwrap();
    });
    assert_eq!(altered.unwrap_err(), NtlmsspError::MicMismatch);
}

#[test]
fn an_anonymous_client_is_recognised_and_gets_a_zero_key() {
    for lm in [[].as_slice(), &[0]] {
        let flags = NegotiateFlags(0xe208_8215);
        let mut server = challenging(flags);
        let token = Authenticate {
            flags: Some(flags),
            lm,
            ..Authenticate::default()
        }
        .emit()
        .unwrap();
        assert!(request_of(server.handle(&token).unwrap()).anonymous);
        assert_eq!(
            server.complete(None).unwrap().session_key(),
            &SessionKey::new([0; 16])
        );
    }
}

#[test]
fn the_encrypted_session_key_of_ms_nlmp_4_2_4_2_3_is_decrypted() {
    use crate::primitives::rc4k;
    let base = crate::testing::hex_array("8de40ccadbc14a82f15cb0ad0de95ca3");
    let sent = crate::testing::hex_array("c5dad2544fc9799094ce1ce90bc9d03e");
    assert_eq!(rc4k(&base, &sent), [0x55; 16]);
}

#[test]
fn a_client_cannot_select_flags_that_were_not_offered() {
    let mut server = server(None);
    let weak = Negotiate {
        flags: NegotiateFlags(0x0000_0201),
        ..Negotiate::default()
    };
    challenge_of(server.handle(&weak.emit().unwrap()).unwrap());
    let token = Authenticate {
        flags: Some(NegotiateFlags(0xffff_ffff)),
        user: b"B\0",
        nt: &[1; 24],
        ..Authenticate::default()
    };
    let request = request_of(server.handle(&token.emit().unwrap()).unwrap());
    assert!(!request.flags.has(NegotiateFlags::EXTENDED_SESSIONSECURITY));
    assert!(
        !request.flags.has(NegotiateFlags::KEY_EXCH) && !request.flags.has(NegotiateFlags::LM_KEY)
    );
    let user = User::with_password("b", "x", &Ascii);
    assert_eq!(
        verify(&request.claim("B", ""), &user, &Policy::default()),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn messages_out_of_turn_and_malformed_ones_are_refused() {
    let negotiate = Negotiate::default().emit().unwrap();
    let authenticate = hex(SHORT_AUTHENTICATE);
    assert_eq!(
        server(None).handle(&authenticate).unwrap_err(),
        NtlmsspError::OutOfTurn(3)
    );
    let mut twice = server(None);
    challenge_of(twice.handle(&negotiate).unwrap());
    assert_eq!(
        twice.handle(&negotiate).unwrap_err(),
        NtlmsspError::OutOfTurn(1)
    );
    assert_eq!(
        server(None).complete(None).unwrap_err(),
        NtlmsspError::OutOfTurn(3)
    );
    assert_eq!(Message::parse(b"NTLMSSX\0"), Err(NtlmsspError::NoSignature));
    assert_eq!(
        Message::parse(b"NTLMSSP\0\x09\0\0\0"),
        Err(NtlmsspError::UnknownType(9))
    );
    assert_eq!(
        Message::parse(b"NTLMSSP\0\x03\0\0\0"),
        Err(NtlmsspError::Truncated)
    );
    let mut beyond = authenticate;
    beyond[16] = 0xff;
    assert_eq!(
        Message::parse(&beyond),
        Err(NtlmsspError::OutOfBounds("LM response"))
    );
}

#[test]
fn a_session_key_of_odd_length_is_refused() {
    let flags = NegotiateFlags(0x4000_0201);
    let mut server = challenging(flags);
    let token = Authenticate {
        flags: Some(flags),
        encrypted_session_key: &[1; 15],
        ..Authenticate::default()
    };
    let error = server.handle(&token.emit().unwrap()).unwrap_err();
    assert_eq!(error, NtlmsspError::BadLength("session key"));
}

#[test]
fn debug_output_of_a_request_holds_no_response() {
    let mut server = server(None);
    challenge_of(
        server
            .handle(&Negotiate::default().emit().unwrap())
            .unwrap(),
    );
    let request = request_of(server.handle(&hex(SHORT_AUTHENTICATE)).unwrap());
    let bytes = hex(SHORT_AUTHENTICATE);
    let parsed = Message::parse(&bytes).unwrap();
    for printed in [
        format!("{request:?}"),
        format!("{parsed:?}"),
        format!("{server:?}"),
    ] {
        assert!(!printed.contains("152, 222, 247"), "{printed}");
    }
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..max)
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_make_the_decoder_panic(noise in bytes(300), kind in 0u8..5) {
        let mut token = SIGNATURE.to_vec();
        token.extend([kind, 0, 0, 0]);
        token.extend(&noise);
        let _ = Message::parse(&noise);
        let _ = Message::parse(&token);
        let _ = AvPairs::new(&noise).count();
        let mut server = server(None);
        let _ = server.handle(&token);
        let _ = server.handle(&token);
        let _ = server.complete(None);
    }

    #[test]
    fn negotiate_is_read_as_written(flags: u32, domain in bytes(9), workstation in bytes(9), version: [u8; 8]) {
        let supplied = NegotiateFlags::OEM_DOMAIN_SUPPLIED.0 | NegotiateFlags::OEM_WORKSTATION_SUPPLIED.0;
        let mut flags = flags & !supplied;
        flags |= if domain.is_empty() { 0 } else { NegotiateFlags::OEM_DOMAIN_SUPPLIED.0 };
        flags |= if workstation.is_empty() { 0 } else { NegotiateFlags::OEM_WORKSTATION_SUPPLIED.0 };
        let flags = NegotiateFlags(flags);
        let version = if flags.has(NegotiateFlags::VERSION) { version } else { [0; 8] };
        let message = Negotiate { flags, domain: &domain, workstation: &workstation, version };
        let bytes = message.emit().unwrap();
        prop_assert_eq!(Message::parse(&bytes), Ok(Message::Negotiate(message)));
    }

    #[test]
    fn challenge_is_read_as_written(flags: u32, name in bytes(20), info in bytes(40), server_challenge: [u8; 8]) {
        let info_flag = NegotiateFlags::TARGET_INFO.0;
        let flags = NegotiateFlags(if info.is_empty() { flags & !info_flag } else { flags | info_flag });
        let version = if flags.has(NegotiateFlags::VERSION) { [3; 8] } else { [0; 8] };
        let message = ChallengeMessage { flags, target_name: &name, server_challenge, target_info: &info, version };
        let bytes = message.emit().unwrap();
        prop_assert_eq!(Message::parse(&bytes), Ok(Message::Challenge(message)));
    }

    #[test]
    fn authenticate_is_read_as_written(
        flags: u32, fields in proptest::collection::vec(bytes(30), 6), mic: Option<[u8; 16]>, version: [u8; 8],
    ) {
        // Without payload a missing MIC is indistinguishable from a present one; real messages always have payload.
        let user = [fields[3].as_slice(), b"u"].concat();
        let flags = NegotiateFlags(flags);
        let message = Authenticate {
            flags: Some(flags),
            lm: &fields[0],
            nt: &fields[1],
            domain: &fields[2],
            user: &user,
            workstation: &fields[4],
            encrypted_session_key: &fields[5],
            version: if flags.has(NegotiateFlags::VERSION) { version } else { [0; 8] },
            mic,
        };
        let bytes = message.emit().unwrap();
        prop_assert_eq!(Message::parse(&bytes), Ok(Message::Authenticate(message)));
    }

    #[test]
    fn the_short_authenticate_is_read_as_written(user in bytes(20), lm in bytes(25)) {
        let message = Authenticate { user: &user, lm: &lm, ..Authenticate::default() };
        let payload = user.len() + lm.len();
        prop_assume!(payload > 0);
        let bytes = message.emit().unwrap();
        prop_assert_eq!(Message::parse(&bytes), Ok(Message::Authenticate(message)));
    }
}

#[test]
fn a_value_too_long_for_its_length_field_is_an_error() {
    let long = vec![0; 0x1_0000];
    let message = Authenticate {
        nt: &long,
        ..Authenticate::default()
    };
    assert_eq!(message.emit(), Err(NtlmsspError::TooLong("NT response")));
}
