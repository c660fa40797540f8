//! Authentication with users and with share passwords.

use coax_client::{CopySpec, Error, Operation, Unfit, profile::Fact};
use coax_logon::policy::Policy;
use coax_server::{
    Server,
    config::{Config, MapToGuest, Security},
    share::{Access, Admission, SharePasswords},
};
use coax_wire::{
    block::Block, command, dialect::Generation, header::Header, smb::session_setup_andx,
    status::Status,
};

use crate::pair::{
    Pair, profile,
    users::{NOTHING, PASSWORD, admit, ann, as_ann, edited, requests, strict, with_ann},
};

fn is_let_in(pair: &mut Pair) {
    pair.run(Operation::DiskSpace, &[]).unwrap();
    assert!(!pair.client.link().unwrap().guest);
}

fn refusal(pair: &mut Pair) -> Status {
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    assert!(pair.client.is_closed());
    error.status().unwrap_or_else(|| panic!("{error}"))
}

/// Lengths of the two password fields in the first session set-up.
fn password_fields(pair: &Pair) -> (usize, usize) {
    let message = requests(pair, command::SESSION_SETUP_ANDX)[0];
    let block = Block::first(message).unwrap();
    let unicode = Header::parse(message).unwrap().unicode();
    match session_setup_andx::Request::parse(&block, unicode)
        .unwrap()
        .credentials
    {
        session_setup_andx::Credentials::Nt {
            oem_password,
            unicode_password,
        } => (oem_password.len(), unicode_password.len()),
        session_setup_andx::Credentials::Lanman { password } => (password.len(), 0),
        session_setup_andx::Credentials::Extended { .. } => panic!("a token"),
    }
}

#[test]
fn ntlmv2_in_spnego_is_enough_for_a_server_that_admits_nothing_less() {
    for chain in [false, true] {
        let modern = edited("modern", |profile| {
            profile.logon.chain_tree_connect = Fact::chosen(chain, "the test");
        });
        let mut pair = ann(modern, strict(NOTHING));
        is_let_in(&mut pair);
        assert!(pair.client.link().unwrap().extended_security);
        assert_eq!(requests(&pair, command::SESSION_SETUP_ANDX).len(), 2);
    }
}

#[test]
fn ntlmv2_in_the_plain_set_up_is_enough_for_a_server_that_admits_nothing_less() {
    for chain in [false, true] {
        let modern = edited("modern", |profile| {
            profile.logon.chain_tree_connect = Fact::chosen(chain, "the test");
        });
        let config = Config {
            extended_security: false,
            ..strict(NOTHING)
        };
        let mut pair = ann(modern, config);
        is_let_in(&mut pair);
        assert!(!pair.client.link().unwrap().extended_security);
        let (oem, unicode) = password_fields(&pair);
        assert!(oem == 24 && unicode > 24, "{oem} and {unicode} bytes");
        let apart = requests(&pair, command::TREE_CONNECT_ANDX).len();
        assert_eq!(apart, usize::from(!chain));
    }
}

#[test]
fn ntlmv2_is_right_whatever_the_domain_and_the_case_of_the_names() {
    for extended_security in [false, true] {
        for capitals in [false, true] {
            for (user, domain) in [("ann", "Home"), ("Ann", "home"), ("ANN", "")] {
                let modern = edited("modern", |profile| {
                    profile.logon.capitals = Fact::chosen(capitals, "the test");
                });
                let config = Config {
                    extended_security,
                    ..strict(NOTHING)
                };
                let mut pair = Pair::serving(modern, config, with_ann, |target| {
                    as_ann(target);
                    target.credentials.user = user.into();
                    target.credentials.domain = domain.into();
                });
                is_let_in(&mut pair);
            }
        }
    }
}

#[test]
fn ntlmv1_goes_in_both_fields_of_the_plain_set_up_chained_or_not() {
    let policy = Policy {
        ntlm_v1: true,
        ..NOTHING
    };
    for (name, apart) in [("linux-cifs", 1), ("nt-4-copy", 0)] {
        let mut pair = ann(profile(name), strict(policy));
        is_let_in(&mut pair);
        assert_eq!(password_fields(&pair), (24, 24), "{name}");
        assert_eq!(
            requests(&pair, command::TREE_CONNECT_ANDX).len(),
            apart,
            "{name}"
        );
        let mut pair = ann(profile(name), strict(NOTHING));
        assert_eq!(refusal(&mut pair), Status::LOGON_FAILURE, "{name}");
    }
}

#[test]
fn a_redirector_that_knows_lm_alone_gets_in_where_it_is_admitted() {
    let policy = Policy {
        lanman: true,
        ..NOTHING
    };
    for name in ["windows-98", "ms-net-3.11-full", "os2-warp"] {
        let mut pair = ann(profile(name), strict(policy));
        is_let_in(&mut pair);
        assert_eq!(password_fields(&pair), (24, 0), "{name}");
        let mut pair = ann(profile(name), strict(NOTHING));
        assert_eq!(refusal(&mut pair), Status::LOGON_FAILURE, "{name}");
    }
}

#[test]
fn a_lan_manager_dialect_gets_an_lm_response_only_if_weak_proofs_are_allowed() {
    for generation in [
        Generation::Lanman1,
        Generation::Lanman2,
        Generation::Lanman21,
    ] {
        let config = Config {
            max_generation: generation,
            ..strict(Policy {
                lanman: true,
                ..NOTHING
            })
        };
        let mut pair = ann(profile("modern"), config.clone());
        let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
        assert!(
            matches!(error, Error::Unfit(Unfit::WeakProof(_))),
            "{error}"
        );
        assert!(requests(&pair, command::SESSION_SETUP_ANDX).is_empty());
        let mut pair = Pair::serving(profile("modern"), config, with_ann, |target| {
            as_ann(target);
            target.credentials.allow_weak = true;
        });
        is_let_in(&mut pair);
        assert_eq!(password_fields(&pair), (24, 0), "{generation:?}");
    }
}

/// Whether any message of the client contains the password, also in capitals.
fn sends_the_password(pair: &Pair) -> bool {
    let upper = PASSWORD.to_uppercase();
    let wide: Vec<u8> = PASSWORD.bytes().flat_map(|byte| [byte, 0]).collect();
    let within = |message: &[u8], text: &[u8]| message.windows(text.len()).any(|at| at == text);
    pair.messages
        .iter()
        .filter(|(ours, _)| *ours)
        .any(|(_, message)| {
            [PASSWORD.as_bytes(), upper.as_bytes(), &wide]
                .iter()
                .any(|text| within(message, text))
        })
}

#[test]
fn a_plaintext_password_is_sent_only_if_weak_methods_are_allowed() {
    for (generation, capitals) in [
        (Generation::Nt, false),
        (Generation::Nt, true),
        (Generation::Lanman21, false),
        (Generation::Lanman21, true),
        (Generation::Lanman1, false),
    ] {
        let config = Config {
            encrypt_passwords: false,
            extended_security: false,
            max_generation: generation,
            ..strict(Policy {
                plaintext: true,
                ..NOTHING
            })
        };
        let modern = edited("modern", |profile| {
            profile.logon.capitals = Fact::chosen(capitals, "the test");
        });
        let mut pair = ann(modern.clone(), config.clone());
        let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
        assert_eq!(error, Error::Unfit(Unfit::Plaintext));
        assert!(!sends_the_password(&pair));
        let mut pair = Pair::serving(modern, config, with_ann, |target| {
            as_ann(target);
            target.credentials.allow_weak = true;
        });
        is_let_in(&mut pair);
        assert!(sends_the_password(&pair), "{generation:?}");
    }
}

/// A server without users. Each share has a password for reading and one for writing.
fn by_shares(generation: Generation, password: &'static str, allow_weak: bool) -> Pair {
    by_shares_with(false, generation, password, allow_weak)
}

fn by_shares_with(
    encrypt_passwords: bool,
    generation: Generation,
    password: &'static str,
    allow_weak: bool,
) -> Pair {
    let config = Config {
        security: Security::Share,
        max_generation: generation,
        encrypt_passwords,
        ..strict(NOTHING)
    };
    let with_passwords = |server: &mut Server| {
        let passwords = SharePasswords {
            read: Some("Look".into()),
            write: Some(PASSWORD.into()),
        };
        admit(
            server,
            Admission {
                guest: Some(Access::None),
                passwords,
                ..Admission::default()
            },
        );
    };
    let modern = profile("modern");
    Pair::serving(modern, config, with_passwords, |target| {
        target.credentials.user = "ANN".into();
        target.credentials.password = password.into();
        target.credentials.allow_weak = allow_weak;
    })
}

#[test]
fn share_passwords_give_their_access_in_every_generation() {
    for generation in [
        Generation::Core,
        Generation::Lanman1,
        Generation::Lanman2,
        Generation::Lanman21,
        Generation::Nt,
    ] {
        let put = || Operation::Copy(CopySpec::put("F.BIN", 5));
        let mut pair = by_shares(generation, PASSWORD, true);
        pair.run(put(), b"hello").unwrap();
        assert_eq!(pair.fs.contents("F.BIN").unwrap(), b"hello");
        let mut pair = by_shares(generation, "Look", true);
        pair.run(Operation::DiskSpace, &[]).unwrap();
        let error = pair.run(put(), b"hello").unwrap_err();
        assert_eq!(
            error.status(),
            Some(Status::ACCESS_DENIED),
            "{generation:?}"
        );
        let mut pair = by_shares(generation, "wrong", true);
        assert_eq!(refusal(&mut pair), Status::ACCESS_DENIED, "{generation:?}");
        let mut pair = by_shares(generation, PASSWORD, false);
        let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
        assert_eq!(error, Error::Unfit(Unfit::Plaintext), "{generation:?}");
        assert!(!sends_the_password(&pair), "{generation:?}");
    }
}

#[test]
fn a_share_password_is_sent_as_a_response_to_a_challenge() {
    for generation in [
        Generation::Lanman1,
        Generation::Lanman2,
        Generation::Lanman21,
        Generation::Nt,
    ] {
        let by = |password| by_shares_with(true, generation, password, true);
        let mut pair = by(PASSWORD);
        let put = || Operation::Copy(CopySpec::put("F.BIN", 5));
        pair.run(put(), b"hello").unwrap();
        let sent = |message: &Vec<u8>| {
            message
                .windows(PASSWORD.len())
                .any(|at| at.eq_ignore_ascii_case(PASSWORD.as_bytes()))
        };
        assert!(
            !pair.messages.iter().any(|(_, message)| sent(message)),
            "{generation:?}"
        );
        let mut pair = by("Look");
        let error = pair.run(put(), b"hello").unwrap_err();
        assert_eq!(
            error.status(),
            Some(Status::ACCESS_DENIED),
            "{generation:?}"
        );
        let mut pair = by("wrong");
        assert_eq!(refusal(&mut pair), Status::ACCESS_DENIED, "{generation:?}");
    }
}

#[test]
fn a_wrong_password_is_a_log_on_failure_with_every_method() {
    let anything = Policy::anything();
    let cases = [
        ("modern", strict(anything)),
        (
            "modern",
            Config {
                extended_security: false,
                ..strict(anything)
            },
        ),
        (
            "modern",
            Config {
                encrypt_passwords: false,
                ..strict(anything)
            },
        ),
        ("nt-4-copy", strict(anything)),
        ("windows-2000", strict(anything)),
        ("windows-98", strict(anything)),
        ("ms-net-3.11-full", strict(anything)),
    ];
    for (name, config) in cases {
        let mut pair = Pair::serving(profile(name), config, with_ann, |target| {
            as_ann(target);
            target.credentials.password = "secret8".into();
            target.credentials.allow_weak = true;
        });
        let status = refusal(&mut pair);
        // The DOS error is ERRbadpw ([MS-CIFS] 2.2.2.4).
        assert_eq!(status.dos(), Status::LOGON_FAILURE.dos(), "{name}");
    }
}

#[test]
fn a_guest_log_on_is_reported() {
    let config = Config {
        map_to_guest: MapToGuest::BadUser,
        ..strict(NOTHING)
    };
    let guests = |server: &mut Server| {
        admit(
            server,
            Admission {
                guest: Some(Access::Read),
                ..Admission::default()
            },
        );
    };
    let mut pair = Pair::serving(profile("modern"), config, guests, as_ann);
    pair.run(Operation::DiskSpace, &[]).unwrap();
    assert!(pair.client.link().unwrap().guest);
}

#[test]
fn names_go_in_capitals_where_the_redirector_writes_them_so() {
    for (name, capitals) in [("smbclient-1999", true), ("linux-cifs", false)] {
        let policy = Policy {
            ntlm_v1: true,
            ..NOTHING
        };
        let mut pair = ann(profile(name), strict(policy));
        is_let_in(&mut pair);
        let message = requests(&pair, command::SESSION_SETUP_ANDX)[0];
        let block = Block::first(message).unwrap();
        let unicode = Header::parse(message).unwrap().unicode();
        let request = session_setup_andx::Request::parse(&block, unicode).unwrap();
        let account: Vec<u8> = request.account.unwrap().raw.to_vec();
        let letters: Vec<u8> = account.into_iter().filter(|byte| *byte != 0).collect();
        let expected: &[u8] = if capitals { b"ANN" } else { b"ann" };
        assert_eq!(letters, expected, "{name}");
    }
}
