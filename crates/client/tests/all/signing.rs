//! Signing with all servers and redirectors that support it.

use coax_client::{
    CopySpec, Error, Operation, Outcome, Unfit,
    profile::{Fact, Proof},
};
use coax_logon::policy::Policy;
use coax_server::config::{Config, Signing};
use coax_wire::{
    command,
    header::{Flags, Flags2, Header},
};

use crate::pair::{
    Pair, noise, profile,
    users::{NOTHING, ann, as_ann, edited, requests, strict, with_ann},
};

const LEN: usize = 300_000;

fn is_signed(message: &[u8]) -> bool {
    let header = Header::parse(message).unwrap();
    header.flags2.has(Flags2::SIGNED) && message[14..22] != [0; 8]
}

/// Servers and redirectors that support signing: SPNEGO, NTLMv2 and NTLMv1 in the plain set-up, chained or not.
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
            // The MID must match the request, or the client ignores the reply.
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
fn a_server_that_requires_signing_refuses_clients_without_it() {
    let config = Config {
        signing: Signing::Required,
        ..strict(NOTHING)
    };
    // An anonymous client does not try to log on.
    let mut pair = Pair::serving(profile("modern"), config, with_ann, |target| {
        as_ann(target);
        target.credentials.user.clear();
    });
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    assert_eq!(error, Error::Unfit(Unfit::GuestCannotSign));
    assert!(requests(&pair, command::SESSION_SETUP_ANDX).is_empty());
    // A user whom the server accepts as a guest.
    for (what, mut pair) in signing_pairs() {
        // Offset of the action word in the log-on reply, bytes from the header ([MS-CIFS] 2.2.4.53.2).
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
