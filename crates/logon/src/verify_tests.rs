//! Tests of [`super`]: clients of all generations, and wrong credentials.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::response::{V2Inputs, lm, lm_v2, ntlm_v1, ntlm_v2};
use crate::testing::{hex, hex_array};
use crate::text::Ascii;
use alloc::vec::Vec;

const CHALLENGE: Challenge = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];

fn user() -> User {
    User::with_password("User", "Password", &Ascii)
}

fn claim<'a>(lm: &'a [u8], nt: &'a [u8]) -> Claim<'a> {
    Claim {
        user: "User",
        domain: "Domain",
        challenge: &CHALLENGE,
        lm,
        nt,
        extended_session_security: false,
    }
}

fn check(lm: &[u8], nt: &[u8]) -> Result<How, Refusal> {
    verify(&claim(lm, nt), &user(), &Policy::anything()).map(|verified| verified.how)
}

fn v2_with_domain(domain: &str) -> Vec<u8> {
    let inputs = V2Inputs {
        user: "User",
        domain,
        challenge: &CHALLENGE,
        client_challenge: &[0xaa; 8],
    };
    ntlm_v2(&nt_hash("Password"), &inputs, 0, &[]).bytes
}

#[test]
fn a_windows_95_client_with_only_an_lm_response_is_accepted() {
    let sent = hex("98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13");
    let verified = verify(&claim(&sent, &[]), &user(), &Policy::anything()).unwrap();
    assert_eq!(verified.how, How::Lm);
    assert_eq!(
        verified.session_key,
        Some(hex_array("e52cac67419a9a220000000000000000").into())
    );
}

#[test]
fn tinysmb_with_a_zeroed_lm_response_and_ntlm_v1_is_accepted() {
    let nt = hex("67c43011f30298a2ad35ece64f16331c44bdbed927841f94");
    let verified = verify(&claim(&[0; 24], &nt), &user(), &Policy::default()).unwrap();
    assert_eq!(verified.how, How::NtlmV1);
    assert_eq!(
        verified.session_key,
        Some(hex_array("d87262b0cde4b1cb7499becccdf10784").into())
    );
}

#[test]
fn ntlm_v1_counts_in_both_fields_and_in_the_lm_field_alone() {
    let sent = ntlm_v1(&nt_hash("Password"), &CHALLENGE).bytes;
    assert_eq!(check(&sent, &sent), Ok(How::NtlmV1));
    assert_eq!(check(&sent, &[]), Ok(How::NtlmV1));
}

#[test]
fn the_wrong_nt_response_does_not_hide_a_right_lm_response() {
    let right = lm(user().lm_hash.as_ref().unwrap(), &CHALLENGE).bytes;
    assert_eq!(check(&right, &[7; 24]), Ok(How::Lm));
}

#[test]
fn ntlm_v2_is_right_with_the_domain_as_sent_upper_cased_or_left_out() {
    for domain in ["Domain", "DOMAIN", ""] {
        assert_eq!(
            check(&[], &v2_with_domain(domain)),
            Ok(How::NtlmV2),
            "{domain}"
        );
    }
    assert_eq!(
        check(&[], &v2_with_domain("Other")),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn ntlm_v2_gives_the_session_key_of_ms_nlmp_4_2_4_1_2() {
    let info = hex("02000c0044006f006d00610069006e00 01000c005300650072007600650072 00 00000000");
    let inputs = V2Inputs {
        user: "User",
        domain: "Domain",
        challenge: &CHALLENGE,
        client_challenge: &[0xaa; 8],
    };
    let sent = ntlm_v2(&nt_hash("Password"), &inputs, 0, &info).bytes;
    let verified = verify(
        &Claim {
            user: "USER",
            ..claim(&[], &sent)
        },
        &user(),
        &Policy::default(),
    )
    .unwrap();
    assert_eq!(
        verified.session_key,
        Some(hex_array("8de40ccadbc14a82f15cb0ad0de95ca3").into())
    );
}

#[test]
fn lm_v2_alone_is_enough() {
    let sent = hex("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa");
    assert_eq!(check(&sent, &[]), Ok(How::LmV2));
}

#[test]
fn lm_v2_beside_a_wrong_ntlm_v2_gives_the_key_of_lm_v2() {
    let inputs = V2Inputs {
        user: "User",
        domain: "Domain",
        challenge: &CHALLENGE,
        client_challenge: &[0xaa; 8],
    };
    let right = lm_v2(&nt_hash("Password"), &inputs);
    let verified = verify(&claim(&right.bytes, &[9; 60]), &user(), &Policy::default()).unwrap();
    assert_eq!(
        verified,
        Verified {
            how: How::LmV2,
            session_key: Some(right.session_key)
        }
    );
}

#[test]
fn ntlm2_session_is_right_only_if_extended_session_security_was_negotiated() {
    let lm = hex("aaaaaaaaaaaaaaaa00000000000000000000000000000000");
    let nt = hex("7537f803ae367128ca458204bde7caf81e97ed2683267232");
    let extended = Claim {
        extended_session_security: true,
        ..claim(&lm, &nt)
    };
    let verified = verify(&extended, &user(), &Policy::default()).unwrap();
    assert_eq!(verified.how, How::Ntlm2Session);
    assert_eq!(
        verified.session_key,
        Some(hex_array("eb93429a8bd952f8b89c55b87f475edc").into())
    );
    assert_eq!(check(&lm, &nt), Err(Refusal::WrongPassword));
}

#[test]
fn a_right_password_with_a_forbidden_method_differs_from_a_wrong_one() {
    let sent = lm(user().lm_hash.as_ref().unwrap(), &CHALLENGE).bytes;
    let refuse = |sent: &[u8]| verify(&claim(sent, &[]), &user(), &Policy::default()).unwrap_err();
    assert_eq!(refuse(&sent), Refusal::LanmanNotAllowed);
    assert_eq!(refuse(&[7; 24]), Refusal::WrongPassword);
    let no_v1 = Policy {
        ntlm_v1: false,
        ..Policy::default()
    };
    let v1 = ntlm_v1(&nt_hash("Password"), &CHALLENGE).bytes;
    assert_eq!(
        verify(&claim(&[], &v1), &user(), &no_v1),
        Err(Refusal::NtlmV1NotAllowed)
    );
}

#[test]
fn two_forbidden_responses_are_refused_with_the_setting_for_the_stronger_one() {
    let nothing = Policy {
        ntlm_v1: false,
        lanman: false,
        ..Policy::default()
    };
    let user = user();
    let weak = lm(user.lm_hash.as_ref().unwrap(), &CHALLENGE).bytes;
    let v1 = ntlm_v1(&nt_hash("Password"), &CHALLENGE).bytes;
    let refuse = |lm: &[u8], nt: &[u8]| verify(&claim(lm, nt), &user, &nothing).unwrap_err();
    let both = refuse(&weak, &v1);
    assert_eq!(both, Refusal::NtlmV1NotAllowed);
    assert_eq!(both.setting(), Some("ntlm auth = ntlmv1-permitted"));
    assert_eq!(refuse(&weak, &[]), Refusal::LanmanNotAllowed);
    // A wrong NT response: only LM would admit this client.
    assert_eq!(refuse(&weak, &[7; 24]), Refusal::LanmanNotAllowed);
}

#[test]
fn any_changed_bit_of_any_response_is_a_wrong_password() {
    for sent in [
        v2_with_domain("Domain"),
        ntlm_v1(&nt_hash("Password"), &CHALLENGE).bytes.to_vec(),
    ] {
        for bit in 0..sent.len() * 8 {
            let mut changed = sent.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&[], &changed), Err(Refusal::WrongPassword));
        }
    }
}

#[test]
fn another_challenge_makes_every_response_wrong() {
    let sent = v2_with_domain("Domain");
    let replayed = Claim {
        challenge: &[0; 8],
        ..claim(&[], &sent)
    };
    assert_eq!(
        verify(&replayed, &user(), &Policy::anything()),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn missing_responses_and_invalid_lengths_are_reported() {
    assert_eq!(check(&[], &[]), Err(Refusal::NoResponse));
    assert_eq!(check(&[0], &[]), Err(Refusal::NoResponse));
    assert_eq!(check(&[1; 23], &[]), Err(Refusal::UnknownResponse));
    assert_eq!(check(&[], &[1; 7]), Err(Refusal::UnknownResponse));
    assert_eq!(check(&[0; 24], &[]), Err(Refusal::UnknownResponse));
}

#[test]
fn missing_hashes_are_reported() {
    let no_lm = User {
        lm_hash: None,
        ..user()
    };
    let no_nt = User {
        nt_hash: None,
        ..user()
    };
    let anything = Policy::anything();
    assert_eq!(
        verify(&claim(&[1; 24], &[]), &no_lm, &anything),
        Err(Refusal::NoLmHash)
    );
    assert_eq!(
        verify(&claim(&[], &[1; 24]), &no_nt, &anything),
        Err(Refusal::NoNtHash)
    );
}

#[test]
fn a_disabled_account_is_refused_with_any_response() {
    let disabled = User {
        disabled: true,
        ..user()
    };
    let sent = v2_with_domain("Domain");
    assert_eq!(
        verify(&claim(&[], &sent), &disabled, &Policy::anything()),
        Err(Refusal::AccountDisabled)
    );
    let typed = PlaintextPassword::Oem(b"Password");
    let plain = verify_plaintext(
        typed,
        Case::Sensitive,
        &disabled,
        &Policy::anything(),
        &Ascii,
    );
    assert_eq!(plain, Err(Refusal::AccountDisabled));
}

#[test]
fn an_account_without_a_password_needs_permission_by_the_policy() {
    let open = User {
        no_password: true,
        ..User::default()
    };
    assert_eq!(
        verify(&claim(&[], &[]), &open, &Policy::default()),
        Err(Refusal::NullPasswordsNotAllowed)
    );
    let verified = verify(&claim(&[], &[]), &open, &Policy::anything()).unwrap();
    assert_eq!(
        verified,
        Verified {
            how: How::NoPassword,
            session_key: None
        }
    );
}

fn plain(password: PlaintextPassword<'_>, case: Case, user: &User) -> Result<How, Refusal> {
    verify_plaintext(password, case, user, &Policy::anything(), &Ascii).map(|verified| verified.how)
}

#[test]
fn a_dos_client_that_upper_cases_and_pads_its_password_is_accepted() {
    let typed = PlaintextPassword::Oem(b"PASSWORD\0\0garbage");
    assert_eq!(plain(typed, Case::Insensitive, &user()), Ok(How::Plaintext));
    assert_eq!(
        plain(typed, Case::Sensitive, &user()),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn a_unicode_password_is_compared_with_case() {
    let typed = crate::text::utf16le("Password\0");
    assert_eq!(
        plain(PlaintextPassword::Utf16Le(&typed), Case::Sensitive, &user()),
        Ok(How::Plaintext)
    );
    let other = crate::text::utf16le("password");
    assert_eq!(
        plain(PlaintextPassword::Utf16Le(&other), Case::Sensitive, &user()),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn a_long_password_is_compared_without_case_by_the_hash_of_its_upper_case() {
    let long = User::with_password("User", "Correct Horse Battery", &Ascii);
    let typed = PlaintextPassword::Oem(b"CORRECT HORSE BATTERY");
    assert_eq!(plain(typed, Case::Insensitive, &long), Ok(How::Plaintext));
    let wrong = PlaintextPassword::Oem(b"CORRECT HORSE BATTERX");
    assert_eq!(
        plain(wrong, Case::Insensitive, &long),
        Err(Refusal::WrongPassword)
    );
}

#[test]
fn with_only_an_nt_hash_stored_the_lower_cased_password_is_tried() {
    let stored = User {
        lm_hash: None,
        upper_nt_hash: None,
        ..User::with_password("User", "secret", &Ascii)
    };
    assert_eq!(
        plain(
            PlaintextPassword::Oem(b"SECRET"),
            Case::Insensitive,
            &stored
        ),
        Ok(How::Plaintext)
    );
}

#[test]
fn a_plaintext_password_is_not_even_compared_where_forbidden() {
    let typed = PlaintextPassword::Oem(b"wrong");
    let refused = verify_plaintext(typed, Case::Sensitive, &user(), &Policy::default(), &Ascii);
    assert_eq!(refused, Err(Refusal::PlaintextNotAllowed));
}

proptest::proptest! {
    #[test]
    fn no_fields_make_the_check_panic_or_succeed(lm: Vec<u8>, nt: Vec<u8>, user_name: String, extended: bool) {
        let claim = Claim { user: &user_name, extended_session_security: extended, ..claim(&lm, &nt) };
        proptest::prop_assert!(verify(&claim, &user(), &Policy::anything()).is_err());
        let typed = [PlaintextPassword::Oem(&lm), PlaintextPassword::Utf16Le(&nt)];
        for password in typed {
            proptest::prop_assert!(plain(password, Case::Insensitive, &user()).is_err());
        }
    }
}
