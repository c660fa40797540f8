//! Tests of the tokens, with blobs that other programs sent, and of whole logons.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::token::mech_types_der;
use super::*;
use crate::accounts::User;
use crate::hash::nt_hash;
use crate::ntlmssp::{Credentials, NtlmsspClient, NtlmsspServer, ServerNames, Session, Step};
use crate::policy::Policy;
use crate::secret::SessionKey;
use crate::testing::hex;
use crate::text::Ascii;
use crate::verify::{Verified, verify};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

/// NEGOTIATE reply of Windows 2008 R2.
const WINDOWS_2008_HINT: &str = "
    607606062b0601050502a06c306aa03c303a060a2b06010401823702021e06092a864882f71201020206092a864886f712010202060a2a86
    4886f71201020203060a2b06010401823702020aa32a3028a0261b246e6f745f646566696e65645f696e5f5246433431373840706c656173
    655f69676e6f7265";
/// First tokens of Windows 10, impacket 0.13 and pysmb 1.2.
const FIRST_TOKENS: [&str; 3] = [
    "604806062b0601050502a03e303ca00e300c060a2b06010401823702020aa22a04284e544c4d53535000010000001582086200000000
     280000000000000028000000060100000000000f",
    "604006062b0601050502a0363034a00e300c060a2b06010401823702020aa22204204e544c4d5353500001000000050288a000000000
     000000000000000000000000",
    "604806062b0601050502a03e303ca00e300c060a2b06010401823702020aa22a04284e544c4d53535000010000001582886200000000
     000000000000000000000000060072170000000f",
];

fn acceptor() -> Acceptor {
    let names = ServerNames {
        computer: "SERVER".into(),
        domain: "GROUP".into(),
        ..ServerNames::default()
    };
    Acceptor::new(NtlmsspServer::new(
        names,
        [7; 8],
        Some(132_500_000_000_000_000),
    ))
}

fn reply(step: Step) -> Vec<u8> {
    match step {
        Step::Continue(blob) => blob,
        Step::Authenticate(request) => panic!("expected a reply, got {request:?}"),
    }
}

fn resp(blob: &[u8]) -> NegTokenResp<'_> {
    match Token::parse(blob).unwrap() {
        Token::Resp(resp) => resp,
        Token::Init(init) => panic!("expected a NegTokenResp, got {init:?}"),
    }
}

#[test]
fn the_hint_of_windows_2008_is_read_and_ours_looks_like_it() {
    let blob = hex(WINDOWS_2008_HINT);
    let Token::Init(init) = Token::parse(&blob).unwrap() else {
        panic!("no NegTokenInit")
    };
    assert_eq!(init.mech_types.len(), 5);
    assert_eq!(init.mech_types.last(), Some(&Oid::NTLMSSP));
    assert_eq!(
        init.hint_name,
        Some(b"not_defined_in_RFC4178@please_ignore".as_slice())
    );
    assert_eq!(init.emit(), blob);
    let ours = negotiate_blob();
    let Token::Init(read) = Token::parse(&ours).unwrap() else {
        panic!("no NegTokenInit")
    };
    assert_eq!(
        (read.mech_types, read.hint_name),
        (vec![Oid::NTLMSSP], init.hint_name)
    );
}

#[test]
fn the_first_tokens_of_other_clients_get_a_challenge() {
    for token in FIRST_TOKENS {
        let blob = reply(acceptor().handle(&hex(token)).unwrap());
        let resp = resp(&blob);
        assert_eq!(resp.state, Some(NegState::AcceptIncomplete));
        assert_eq!(resp.supported_mech, Some(Oid::NTLMSSP));
        assert!(resp.response_token.unwrap().starts_with(b"NTLMSSP\0\x02"));
    }
}

#[test]
fn first_tokens_are_written_as_other_clients_write_them() {
    for token in FIRST_TOKENS {
        let blob = hex(token);
        let Token::Init(init) = Token::parse(&blob).unwrap() else {
            panic!("no NegTokenInit")
        };
        assert_eq!(init.emit(), blob);
    }
}

#[test]
fn the_last_token_of_windows_2000_without_a_state_is_decoded() {
    let token = NegTokenResp {
        response_token: Some(&[9; 300]),
        ..NegTokenResp::default()
    }
    .emit();
    assert_eq!(token[..4], hex("a1820138"));
    assert_eq!(resp(&token).response_token, Some([9; 300].as_slice()));
}

#[test]
fn the_final_replies_look_like_those_of_windows() {
    let done = NegTokenResp {
        state: Some(NegState::AcceptCompleted),
        ..NegTokenResp::default()
    };
    assert_eq!(done.emit(), hex("a1073005a0030a0100"));
    let mic = hex("01000000720f1000a69e254000000000");
    let signed = NegTokenResp {
        mech_list_mic: Some(&mic),
        ..done
    };
    assert_eq!(
        signed.emit(),
        hex("a11b3019a0030a0100a312041001000000720f1000a69e254000000000")
    );
}

/// A client's logon with the given mechanisms; `mic` makes its signature over them, or none.
fn log_on(
    types: &[Oid<'_>],
    mic: impl Fn(&mut Session, &[u8]) -> Option<Vec<u8>>,
) -> (Result<Accepted, SpnegoError>, Session) {
    let mut acceptor = acceptor();
    let (client, negotiate) = NtlmsspClient::start().unwrap();
    let init = NegTokenInit {
        mech_types: types.to_vec(),
        mech_token: Some(&negotiate),
        ..NegTokenInit::default()
    };
    let mut answer = reply(acceptor.handle(&init.emit()).unwrap());
    if resp(&answer).response_token.is_none() {
        let again = NegTokenResp {
            response_token: Some(&negotiate),
            ..NegTokenResp::default()
        };
        answer = reply(acceptor.handle(&again.emit()).unwrap());
        assert_eq!(resp(&answer).supported_mech, None);
    }
    let (authenticate, mut session) = answer_as_bob(client, resp(&answer).response_token.unwrap());
    let mic = mic(&mut session, &mech_types_der(types));
    let last = NegTokenResp {
        response_token: Some(&authenticate),
        mech_list_mic: mic.as_deref(),
        ..NegTokenResp::default()
    };
    let verified = decide(acceptor.handle(&last.emit()).unwrap());
    (acceptor.accept(Some(&verified)), session)
}

fn answer_as_bob(client: NtlmsspClient, challenge: &[u8]) -> (Vec<u8>, Session) {
    let who = Credentials {
        user: "Bob",
        domain: "GROUP",
        workstation: "WS",
        nt_hash: &nt_hash("Password"),
        client_challenge: &[1; 8],
        session_key: &SessionKey::new([0x55; 16]),
        filetime: 0,
    };
    client.answer(challenge, &who).unwrap()
}

fn decide(step: Step) -> Verified {
    let Step::Authenticate(request) = step else {
        panic!("no request")
    };
    let user = User::with_password("bob", "Password", &Ascii);
    let (name, domain) = (request.user.decode(&Ascii), request.domain.decode(&Ascii));
    verify(&request.claim(&name, &domain), &user, &Policy::default()).unwrap()
}

#[test]
fn a_client_that_signs_its_mechanisms_gets_a_signature_back() {
    let (accepted, mut session) = log_on(&[Oid::NTLMSSP], |session, der| {
        Some(session.sign(der).to_vec())
    });
    let accepted = accepted.unwrap();
    assert_eq!(accepted.session_key, Some(SessionKey::new([0x55; 16])));
    let last = resp(&accepted.token);
    assert_eq!(last.state, Some(NegState::AcceptCompleted));
    assert!(session.verify(
        &mech_types_der(&[Oid::NTLMSSP]),
        last.mech_list_mic.unwrap()
    ));
}

#[test]
fn a_client_that_does_not_sign_gets_no_signature() {
    let (accepted, _) = log_on(&[Oid::NTLMSSP], |_, _| None);
    assert_eq!(accepted.unwrap().token, hex("a1073005a0030a0100"));
}

#[test]
fn a_client_that_prefers_kerberos_is_redirected_to_ntlmssp() {
    let (accepted, mut session) = log_on(&[Oid::KERBEROS, Oid::NTLMSSP], |session, der| {
        Some(session.sign(der).to_vec())
    });
    let accepted = accepted.unwrap();
    let der = mech_types_der(&[Oid::KERBEROS, Oid::NTLMSSP]);
    assert!(session.verify(&der, resp(&accepted.token).mech_list_mic.unwrap()));
}

#[test]
fn a_signature_over_other_mechanisms_is_refused() {
    let (accepted, _) = log_on(&[Oid::KERBEROS, Oid::NTLMSSP], |session, _| {
        Some(session.sign(&mech_types_der(&[Oid::NTLMSSP])).to_vec())
    });
    assert_eq!(accepted.unwrap_err(), SpnegoError::MicMismatch);
}

#[test]
fn windows_2000s_repeated_token_is_not_treated_as_a_signature() {
    let (accepted, _) = log_on(&[Oid::NTLMSSP], |_, _| Some(vec![3; 200]));
    assert_eq!(accepted.unwrap().token, hex("a1073005a0030a0100"));
}

#[test]
fn bare_ntlmssp_receives_a_bare_answer() {
    let mut acceptor = acceptor();
    let (client, negotiate) = NtlmsspClient::start().unwrap();
    let challenge = reply(acceptor.handle(&negotiate).unwrap());
    let (authenticate, _) = answer_as_bob(client, &challenge);
    let verified = decide(acceptor.handle(&authenticate).unwrap());
    let accepted = acceptor.accept(Some(&verified)).unwrap();
    assert_eq!(
        (accepted.token, accepted.session_key),
        (Vec::new(), Some(SessionKey::new([0x55; 16])))
    );
}

#[test]
fn a_guest_gets_no_key_and_no_signature() {
    let mut acceptor = acceptor();
    reply(acceptor.handle(&hex(FIRST_TOKENS[0])).unwrap());
    let token = crate::ntlmssp::Authenticate {
        flags: Some(crate::ntlmssp::NegotiateFlags(0x6208_8215)),
        user: b"x\0",
        nt: &[1; 24],
        ..Default::default()
    };
    let last = NegTokenResp {
        response_token: Some(&token.emit().unwrap()),
        ..NegTokenResp::default()
    }
    .emit();
    assert!(matches!(acceptor.handle(&last), Ok(Step::Authenticate(_))));
    let accepted = acceptor.accept(None).unwrap();
    assert_eq!(
        (accepted.token, accepted.session_key),
        (hex("a1073005a0030a0100"), None)
    );
}

#[test]
fn a_client_without_ntlmssp_and_garbage_give_different_errors() {
    let kerberos = NegTokenInit {
        mech_types: vec![Oid::KERBEROS],
        ..NegTokenInit::default()
    }
    .emit();
    assert_eq!(
        acceptor().handle(&kerberos).unwrap_err(),
        SpnegoError::NoCommonMechanism
    );
    assert_eq!(
        acceptor().handle(b"").unwrap_err(),
        SpnegoError::UnknownToken
    );
    assert_eq!(
        acceptor().handle(&hex("a1073005a0030a0100")).unwrap_err(),
        SpnegoError::OutOfTurn
    );
    let many = NegTokenInit {
        mech_types: vec![Oid::NTLMSSP; 33],
        ..NegTokenInit::default()
    }
    .emit();
    assert_eq!(
        acceptor().handle(&many).unwrap_err(),
        SpnegoError::TooManyMechanisms
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_make_the_acceptor_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Token::parse(&noise);
        let mut acceptor = acceptor();
        let _ = acceptor.handle(&noise);
        let _ = acceptor.accept(None);
    }

    #[test]
    fn a_changed_byte_of_a_real_token_never_makes_the_acceptor_panic(which in 0usize..3, at: u16, byte: u8) {
        let mut token = hex(FIRST_TOKENS[which]);
        let at = usize::from(at) % token.len();
        token[at] = byte;
        let _ = acceptor().handle(&token);
        let _ = acceptor().handle(&token[..at]);
    }

    #[test]
    fn a_neg_token_resp_is_read_as_written(
        state in proptest::option::of(0usize..4), told: bool, token: Option<Vec<u8>>, mic: Option<[u8; 16]>,
    ) {
        let states =
            [NegState::AcceptCompleted, NegState::AcceptIncomplete, NegState::Reject, NegState::RequestMic];
        let written = NegTokenResp {
            state: state.map(|i| states[i]),
            supported_mech: told.then_some(Oid::NTLMSSP),
            response_token: token.as_deref(),
            mech_list_mic: mic.as_ref().map(|mic| mic.as_slice()),
        };
        let bytes = written.emit();
        prop_assert_eq!(Token::parse(&bytes), Ok(Token::Resp(written)));
    }

    #[test]
    fn a_neg_token_init_is_read_as_written(count in 0usize..5, token: Option<Vec<u8>>, hint: bool, mic: Option<[u8; 16]>) {
        let types = [Oid::NTLMSSP, Oid::KERBEROS].into_iter().cycle().take(count).collect::<Vec<_>>();
        let der = mech_types_der(&types);
        let written = NegTokenInit {
            mech_types: types,
            mech_types_der: &der,
            mech_token: token.as_deref(),
            hint_name: hint.then_some(b"hint".as_slice()),
            mech_list_mic: mic.as_ref().map(|mic| mic.as_slice()),
        };
        let bytes = written.emit();
        prop_assert_eq!(Token::parse(&bytes), Ok(Token::Init(written.clone())));
    }
}
