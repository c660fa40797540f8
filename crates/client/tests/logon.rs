//! Logging on to a server with users, with shares' passwords, and with signatures.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod pair;

use coax_client::{
    CopySpec, Error, Operation, Outcome, Target, Unfit,
    profile::{Fact, Profile, Proof},
};
use coax_logon::{accounts::User, policy::Policy, text::Ascii};
use coax_server::{
    Server,
    config::{Config, MapToGuest, Security, Signing},
    share::{Access, Admission, SharePasswords},
};
use coax_wire::{
    block::Block,
    command,
    dialect::Generation,
    header::{Flags, Flags2, Header},
    smb::session_setup_andx,
    status::Status,
};
use pair::{Pair, noise, profile};
use std::sync::Arc;

const PASSWORD: &str = "Secret9";
const LEN: usize = 300_000;

/// Nothing is admitted that is not named.
const NOTHING: Policy = Policy {
    lanman: false,
    ntlm_v1: false,
    plaintext: false,
    null_passwords: false,
};

/// Nobody but users gets in.
fn strict(policy: Policy) -> Config {
    Config {
        policy,
        map_to_guest: MapToGuest::Never,
        ..Config::default()
    }
}

/// The user `ann`; guests may do nothing.
fn with_ann(server: &mut Server) {
    let ann = User::with_password("ann", PASSWORD, &Ascii);
    server.accounts.add(ann).unwrap();
    admit(server, Admission::default());
}

fn admit(server: &mut Server, admission: Admission) {
    for share in &mut server.shares {
        Arc::make_mut(share).admission = admission.clone();
    }
}

fn as_ann(target: &mut Target) {
    target.credentials.user = "ann".into();
    target.credentials.password = PASSWORD.into();
    target.credentials.allow_weak = false;
}

fn ann(profile: Arc<Profile>, config: Config) -> Pair {
    Pair::serving(profile, config, with_ann, as_ann)
}

fn edited(name: &str, edit: impl FnOnce(&mut Profile)) -> Arc<Profile> {
    let mut profile = profile(name);
    edit(Arc::make_mut(&mut profile));
    profile
}

fn is_let_in(pair: &mut Pair) {
    pair.run(Operation::DiskSpace, &[]).unwrap();
    assert!(!pair.client.link().unwrap().guest);
}

fn refusal(pair: &mut Pair) -> Status {
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    assert!(pair.client.is_closed());
    error.status().unwrap_or_else(|| panic!("{error}"))
}

/// Messages of the client with this command.
fn requests(pair: &Pair, command: u8) -> Vec<&[u8]> {
    let sent = pair.messages.iter().filter(|(ours, _)| *ours);
    sent.map(|(_, message)| message.as_slice())
        .filter(|message| message.get(4) == Some(&command))
        .collect()
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

fn is_signed(message: &[u8]) -> bool {
    let header = Header::parse(message).unwrap();
    header.flags2.has(Flags2::SIGNED) && message[14..22] != [0; 8]
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

/// Whether any message of the client has the password in it, as it is or in capitals.
fn gives_the_password_away(pair: &Pair) -> bool {
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
fn the_password_itself_is_sent_only_if_weak_proofs_are_allowed() {
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
        assert!(!gives_the_password_away(&pair));
        let mut pair = Pair::serving(modern, config, with_ann, |target| {
            as_ann(target);
            target.credentials.allow_weak = true;
        });
        is_let_in(&mut pair);
        assert!(gives_the_password_away(&pair), "{generation:?}");
    }
}

/// A server whose shares have a password each for reading and for writing, and no users.
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
fn a_shares_password_opens_it_as_far_as_it_goes_in_every_generation() {
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
        assert!(!gives_the_password_away(&pair), "{generation:?}");
    }
}

#[test]
fn a_shares_password_is_proved_by_a_response_where_the_server_encrypts() {
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
fn a_wrong_password_is_a_log_on_failure_however_it_is_proved() {
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
        // In class and code it is ERRbadpw ([MS-CIFS] 2.2.2.4).
        assert_eq!(status.dos(), Status::LOGON_FAILURE.dos(), "{name}");
    }
}

#[test]
fn a_user_whom_the_server_takes_for_a_guest_is_told_so() {
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

/// Servers that sign, and redirectors that can: SPNEGO, NTLMv2 and NTLMv1 in the plain set-up, chained or not.
fn signing_pairs() -> Vec<(&'static str, Pair)> {
    let policy = Policy {
        ntlm_v1: true,
        ..NOTHING
    };
    let required = |extended_security| Config {
        signing: Signing::Required,
        extended_security,
        ..strict(policy)
    };
    let plain_v1 = edited("modern", |profile| {
        profile.logon.proof = Fact::chosen(Proof::Ntlm, "the test");
    });
    let offered = Config {
        signing: Signing::Offered,
        ..strict(policy)
    };
    let asking = Pair::serving(profile("modern"), offered, with_ann, |target| {
        as_ann(target);
        target.sign = true;
    });
    vec![
        ("SPNEGO", ann(profile("modern"), required(true))),
        ("NTLMv2", ann(profile("modern"), required(false))),
        ("NTLMv1", ann(plain_v1, required(false))),
        ("chained", ann(profile("nt-4-copy"), required(false))),
        ("explorer", ann(profile("nt-4-explorer"), required(false))),
        ("asked for", asking),
    ]
}

#[test]
fn a_copy_both_ways_is_signed_and_verified_message_by_message() {
    let data = noise(LEN);
    for (what, mut pair) in signing_pairs() {
        let put = Operation::Copy(CopySpec::put("F.BIN", LEN as u64));
        pair.run(put, &data)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(pair.fs.contents("F.BIN").unwrap() == data, "{what}");
        let outcome = pair.run(Operation::Copy(CopySpec::get("F.BIN")), &[]);
        let Ok(Outcome::Copied { bytes, .. }) = outcome else {
            panic!("{what}: {outcome:?}")
        };
        assert_eq!(bytes, LEN as u64, "{what}");
        assert!(pair.local() == data, "{what}");
        let link = pair.client.link().unwrap();
        assert!(link.signed && !link.raw_read && !link.raw_write, "{what}");
        let set_up = [command::NEGOTIATE, command::SESSION_SETUP_ANDX];
        let later: Vec<&[u8]> = pair
            .messages
            .iter()
            .map(|(_, message)| message.as_slice())
            .filter(|message| !set_up.contains(&message[4]))
            .collect();
        assert!(later.len() > 10, "{what}");
        assert!(later.iter().all(|message| is_signed(message)), "{what}");
    }
}

#[test]
fn one_altered_byte_in_a_signed_reply_ends_the_connection() {
    let places = [8, 15, 34, 59, 1000];
    for at in places {
        for (what, mut pair) in signing_pairs() {
            pair.fs.add_file("F.BIN", &noise(LEN)).unwrap();
            let mut seen = 0;
            pair.tamper = Some(Box::new(move |mut message| {
                let header = Header::parse(&message).unwrap();
                let data = [command::READ_ANDX, command::READ].contains(&header.command);
                seen += usize::from(data && header.flags.has(Flags::REPLY));
                if seen == 2 && message.len() > at {
                    seen += 1;
                    message[at] ^= 0x10;
                }
                Some(message)
            }));
            let get = Operation::Copy(CopySpec::get("F.BIN"));
            let error = pair.run(get, &[]).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Signature {
                        command: command::READ_ANDX | command::READ
                    }
                ),
                "{what}, byte {at}: {error}"
            );
            assert!(pair.client.is_closed());
        }
    }
}

#[test]
fn a_signed_reply_that_is_played_again_is_not_taken_for_another() {
    for (what, mut pair) in signing_pairs() {
        pair.fs.add_file("F.BIN", &noise(LEN)).unwrap();
        let mut first: Option<Vec<u8>> = None;
        pair.tamper = Some(Box::new(move |message| {
            if ![command::READ_ANDX, command::READ].contains(&message[4]) {
                return Some(message);
            }
            let Some(old) = &first else {
                first = Some(message.clone());
                return Some(message);
            };
            let mut again = old.clone();
            // The request's own MID, or it would be a stray.
            again[30..32].copy_from_slice(&message[30..32]);
            Some(again)
        }));
        let get = Operation::Copy(CopySpec::get("F.BIN"));
        let error = pair.run(get, &[]).unwrap_err();
        assert!(matches!(error, Error::Signature { .. }), "{what}: {error}");
    }
}

#[test]
fn a_log_on_whose_own_reply_is_altered_is_not_believed() {
    for (what, mut pair) in signing_pairs() {
        pair.tamper = Some(Box::new(|mut message| {
            let header = Header::parse(&message).unwrap();
            if header.command == command::SESSION_SETUP_ANDX && header.status == 0 {
                *message.last_mut().unwrap() ^= 1;
            }
            Some(message)
        }));
        let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
        let expected = Error::Signature {
            command: command::SESSION_SETUP_ANDX,
        };
        assert_eq!(error, expected, "{what}");
    }
}

#[test]
fn nobody_who_cannot_sign_uses_a_server_that_insists_on_it() {
    let config = Config {
        signing: Signing::Required,
        ..strict(NOTHING)
    };
    // Nobody in particular: we do not even try.
    let mut pair = Pair::serving(profile("modern"), config, with_ann, |target| {
        as_ann(target);
        target.credentials.user.clear();
    });
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    assert_eq!(error, Error::Unfit(Unfit::GuestCannotSign));
    assert!(requests(&pair, command::SESSION_SETUP_ANDX).is_empty());
    // Somebody whom the server says it takes for a guest.
    for (what, mut pair) in signing_pairs() {
        // Where the reply to a log-on says GUEST, bytes from the header ([MS-CIFS] 2.2.4.53.2).
        const ACTION: usize = 37;
        if what == "asked for" {
            continue;
        }
        pair.tamper = Some(Box::new(|mut message| {
            let header = Header::parse(&message).unwrap();
            if header.command == command::SESSION_SETUP_ANDX && header.status == 0 {
                message[ACTION] |= 1;
            }
            Some(message)
        }));
        let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
        assert_eq!(error, Error::Unfit(Unfit::GuestCannotSign), "{what}");
        assert!(requests(&pair, command::QUERY_INFORMATION_DISK).is_empty());
    }
}
