//! Authentication at session set-up, and signing.

use crate::{
    config::{Config, MapToGuest, Security, Signing},
    event::Event,
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer},
};
use alloc::sync::Arc;
use coax_logon::{
    accounts::{Accounts, User},
    hash,
    ntlmssp::{Credentials, NtlmsspClient},
    policy::Policy,
    response,
    secret::SessionKey,
    signing::{FIRST_REPLY, Signer},
    text::Ascii,
};
use coax_wire::{
    header::{Flags2, Uid},
    status::Status,
};
use std::vec::Vec;

fn server(config: Config) -> TestServer {
    let mut server = TestServer::with(config, ShareOptions::default());
    let mut accounts = Accounts::default();
    accounts
        .add(User::with_password("ann", "Secret", &Ascii))
        .unwrap();
    Arc::get_mut(&mut server.server).unwrap().accounts = accounts;
    server
}

fn log_on(client: &mut TestClient, user: &str, lm: &[u8], nt: &[u8]) -> Answer {
    let words = [
        0xff,
        0,
        0xffff,
        50,
        1,
        0,
        0,
        lm.len() as u16,
        nt.len() as u16,
        0,
        0,
        0xd0fc,
        0,
    ];
    let mut bytes: Vec<u8> = [lm, nt].concat();
    bytes.extend(client.string(user, 32 + 1 + 26 + 2 + bytes.len()));
    bytes.extend([0; 6]);
    client.request(0x73, &words, &bytes)
}

fn nt(server: &TestServer) -> TestClient {
    let mut client = server.connect();
    client.negotiate(&["NT LM 0.12"]);
    client
}

fn ntlm_v1(password: &str) -> Vec<u8> {
    response::ntlm_v1(&hash::nt_hash(password), b"12345678")
        .bytes
        .to_vec()
}

fn refusal(client: &mut TestClient) -> (alloc::string::String, Option<alloc::string::String>) {
    loop {
        if let Event::Refused { why, setting, .. } = client.conn.poll_event().expect("a refusal") {
            return (why, setting);
        }
    }
}

#[test]
fn the_right_ntlm_response_logs_the_user_on() {
    let server = server(Config::default());
    let mut client = nt(&server);
    let reply = log_on(&mut client, "ANN", &[0; 24], &ntlm_v1("Secret")).ok();
    assert_ne!(reply.header.uid, Uid(0));
    assert_eq!(reply.word(2), 0, "must not be a guest log-on");
}

#[test]
fn a_wrong_password_is_refused_and_an_unknown_user_is_a_guest() {
    let server = server(Config::default());
    let mut client = nt(&server);
    log_on(&mut client, "ann", &[], &ntlm_v1("wrong")).refused(Status::LOGON_FAILURE);
    assert_eq!(refusal(&mut client).0, "wrong password");
    assert_eq!(
        log_on(&mut client, "bob", &[], &ntlm_v1("x")).ok().word(2),
        1
    );
}

#[test]
fn an_unknown_user_is_refused_if_map_to_guest_is_never() {
    let server = server(Config {
        map_to_guest: MapToGuest::Never,
        ..Config::default()
    });
    let mut client = nt(&server);
    log_on(&mut client, "bob", &[], &ntlm_v1("x")).refused(Status::LOGON_FAILURE);
}

#[test]
fn an_lm_response_is_refused_with_the_setting_that_would_allow_it() {
    let server = server(Config::default());
    let mut client = nt(&server);
    let lm = response::lm(&hash::lm_hash("Secret", &Ascii).unwrap(), b"12345678").bytes;
    log_on(&mut client, "ann", &lm, &[]).refused(Status::LOGON_FAILURE);
    assert_eq!(refusal(&mut client).1.as_deref(), Some("lanman auth = yes"));
}

/// The server accepts both responses and plaintext passwords.
fn beside_plaintext(lanman: bool) -> Config {
    Config {
        policy: Policy {
            lanman,
            plaintext: true,
            ..Policy::default()
        },
        ..Config::default()
    }
}

#[test]
fn plaintext_beside_responses_keeps_the_challenge_and_admits_both() {
    let server = server(beside_plaintext(true));
    let mut client = server.connect();
    let answer = client.negotiate(&["NT LM 0.12"]);
    assert_eq!(
        answer.message[35] & 2,
        2,
        "the server must request encrypted passwords"
    );
    let response = ntlm_v1("Secret");
    log_on(&mut client, "ann", &response, &response).ok();
    log_on(&mut nt(&server), "ann", b"Secret\0", b"").ok();
    log_on(&mut nt(&server), "ann", b"Wrong\0", b"").refused(Status::LOGON_FAILURE);
}

#[test]
fn an_older_client_gets_a_challenge_only_if_its_lm_response_would_be_admitted() {
    for lanman in [true, false] {
        let server = server(beside_plaintext(lanman));
        let mut client = server.connect();
        let answer = client.negotiate(&["LANMAN1.0"]);
        assert_eq!(answer.word(1) & 2 != 0, lanman);
    }
}

#[test]
fn a_dos_client_logs_on_with_an_upper_case_plaintext_password_if_allowed() {
    let config = Config {
        encrypt_passwords: false,
        policy: Policy::anything(),
        ..Config::default()
    };
    let server = server(config);
    let mut client = server.connect();
    let reply = client.negotiate(&["LANMAN1.0"]);
    assert_eq!((reply.word(1) & 2, reply.word(11)), (0, 0), "no challenge");
    let words = [0xff, 0, 0xffff, 50, 1, 0, 0, 7, 0, 0];
    let reply = client.request(0x73, &words, b"SECRET\0ANN\0").ok();
    assert_eq!(reply.word(2), 0, "must not be a guest log-on");
    client
        .request(0x73, &words, b"SECRE\0\0ANN\0")
        .refused(Status::LOGON_FAILURE);
}

#[test]
fn a_signing_client_gets_its_log_on_signed_and_a_forged_request_refused() {
    let server = server(Config {
        signing: Signing::Offered,
        ..Config::default()
    });
    let mut client = nt(&server);
    client.header.flags2 = Flags2(client.header.flags2.0 | Flags2::SIGNED);
    let proof = ntlm_v1("Secret");
    let reply = log_on(&mut client, "ann", &[], &proof).ok();
    let key = response::ntlm_v1(&hash::nt_hash("Secret"), b"12345678").session_key;
    Signer::for_responses(&key, &[], &proof)
        .verify(FIRST_REPLY, &reply.message)
        .unwrap();
    client
        .request(0x2b, &[1], b"forged")
        .refused(Status::ACCESS_DENIED);
}

#[test]
fn guests_are_refused_if_signing_is_required() {
    let server = server(Config {
        signing: Signing::Required,
        ..Config::default()
    });
    let mut client = nt(&server);
    log_on(&mut client, "", &[], &[]).refused(Status::ACCESS_DENIED);
}

#[test]
fn share_level_security_checks_the_shares_password_and_not_the_users() {
    let server = server(Config {
        security: Security::Share,
        encrypt_passwords: false,
        ..Config::default()
    });
    let mut client = server.connect();
    client.negotiate(&["PC NETWORK PROGRAM 1.0"]);
    client.request(0x70, &[], b"\x04DISK\0\x04\0\x04A:\0").ok();
    client
        .request(0x70, &[], b"\x04NONE\0\x04\0\x04A:\0")
        .refused(Status::BAD_NETWORK_NAME);
    client
        .request(0x70, &[], b"\x04DISK\0\x04\0\x04LPT1:\0")
        .refused(Status::BAD_DEVICE_TYPE);
}

#[test]
fn a_device_type_that_does_not_exist_is_no_disk() {
    let server = server(Config::default());
    let mut client = server.client("NT LM 0.12");
    let mut connect = |service: &str| {
        let path = client.string("\\\\COAX\\DISK", 32 + 1 + 8 + 2 + 1);
        let bytes = [b"\0", &path[..], service.as_bytes(), b"\0"].concat();
        client.request(0x75, &[0xff, 0, 0, 1], &bytes)
    };
    for disk in ["A:", "z:", "?????", ""] {
        connect(disk).ok();
    }
    for other in ["FOOBA", "LPT1:", "IPC", "COMM", "AB:", ":"] {
        connect(other).refused(Status::BAD_DEVICE_TYPE);
    }
}

#[test]
fn a_log_off_closes_the_users_open_files() {
    let server = server(Config::default());
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("F");
    client.request(0x74, &[0xff, 0], b"").ok();
    client.close(fid).refused(Status::INVALID_HANDLE);
    client
        .request(0x74, &[0xff, 0], b"")
        .refused(Status::BAD_UID);
    assert!(client.conn.is_idle());
}

#[test]
fn a_session_cannot_use_another_sessions_files() {
    let server = server(Config::default());
    let mut client = server.client("NT LM 0.12");
    let first = client.header.uid;
    let fid = client.open("F");
    let second = log_on(&mut client, "", b"", b"").ok().header.uid;
    assert_ne!(first, second);
    client.header.uid = second;
    client.close(fid).refused(Status::INVALID_HANDLE);
    client.header.uid = first;
    client.close(fid).ok();
}

#[test]
fn a_tree_outlives_the_session_that_connected_it() {
    let server = server(Config::default());
    let mut client = server.client("NT LM 0.12");
    let first = client.header.uid;
    let second = log_on(&mut client, "", b"", b"").ok().header.uid;
    client.request(0x74, &[0xff, 0], b"").ok();
    client.header.uid = second;
    let fid = client.open("F");
    client.close(fid).ok();
    client.header.uid = first;
    client.request(0x71, &[], b"").ok();
    client.request(0x71, &[], b"").refused(Status::BAD_TID);
}

#[test]
fn an_extended_log_on_under_an_unassigned_uid_is_refused() {
    let server = server(Config::default());
    let mut client = nt(&server);
    let words = [0xff, 0, 0xffff, 50, 1, 0, 0, 4, 0, 0, 0xd0fc, 0x8000];
    client.header.uid = Uid(999);
    client
        .request(0x73, &words, b"NTLM\0\0\0\0")
        .refused(Status::BAD_UID);
    client.header.uid = Uid(0);
    let told = client.request(0x73, &words, b"NTLM\0\0\0\0");
    assert_ne!(told.status(), Status::BAD_UID.to_wire(true));
}

/// A log-on with extended security under the client's UID.
fn log_on_extended(client: &mut TestClient, user: &str) {
    let send = |client: &mut TestClient, token: &[u8]| {
        let len = token.len() as u16;
        let words = [0xff, 0, 0xffff, 50, 1, 0, 0, len, 0, 0, 0xd0fc, 0x8000];
        let answer = client.request(0x73, &words, &[token, &[0; 4]].concat());
        client.header.uid = answer.header.uid;
        answer
    };
    let (ntlmssp, negotiate) = NtlmsspClient::start().unwrap();
    let asked = send(client, &negotiate);
    let credentials = Credentials {
        user,
        domain: "",
        workstation: "",
        nt_hash: &hash::nt_hash("Secret"),
        client_challenge: &[1; 8],
        session_key: &SessionKey::new([2; 16]),
        filetime: 0,
    };
    let challenge = &asked.bytes()[..usize::from(asked.word(3))];
    let (authenticate, _) = ntlmssp.answer(challenge, &credentials).unwrap();
    send(client, &authenticate).ok();
}

#[test]
fn a_log_on_as_another_user_under_the_same_uid_closes_the_first_users_files() {
    let mut server = server(Config::default());
    server.edit(|server| {
        let bob = User::with_password("bob", "Secret", &Ascii);
        server.accounts.add(bob).unwrap();
    });
    let mut client = nt(&server);
    log_on_extended(&mut client, "ann");
    let uid = client.header.uid;
    client.connect_share("DISK");
    let fid = client.open("F");
    log_on_extended(&mut client, "ann");
    let write = |client: &mut TestClient| client.request(0x0b, &[fid, 1, 0, 0, 0], b"\x01\x01\0x");
    write(&mut client).ok();
    log_on_extended(&mut client, "bob");
    assert_eq!(client.header.uid, uid);
    write(&mut client).refused(Status::INVALID_HANDLE);
    let census = server.server.locked(|tables| tables.census());
    assert_eq!(census.opens, 0);
}

/// The reported refusal, and the reason why the connection ends.
fn refusals(client: &mut TestClient) -> Vec<Event> {
    core::iter::from_fn(|| client.conn.poll_event())
        .filter(|event| matches!(event, Event::Refused { .. } | Event::Fatal { .. }))
        .collect()
}

#[test]
fn a_client_with_smb2_only_is_distinguished_from_invalid_data() {
    use crate::handlers::negotiate::SMB2_ONLY;
    use crate::testkit::NOW;
    let server = server(Config::default());
    let mut client = server.connect();
    // NEGOTIATE of smbclient 4.17 at its defaults: structure of 64 bytes, command 0.
    let mut smb2 = b"\xfeSMB\x40\0\0\0\0\0\0\0\0\0\x1f\0".to_vec();
    smb2.resize(64 + 36, 0);
    client.conn.handle_message(NOW, &smb2);
    let said = refusals(&mut client);
    assert!(matches!(&said[0], Event::Refused { why, .. } if why == SMB2_ONLY));
    assert!(matches!(&said[1], Event::Fatal { why } if why.contains("only SMB2")));
    assert!(client.conn.is_closing());

    let mut client = server.connect();
    client.negotiate(&["SMB 2.002", "SMB 2.???"]);
    let said = refusals(&mut client);
    assert!(matches!(&said[..], [Event::Refused { why, .. }] if why == SMB2_ONLY));

    let mut client = server.connect();
    client.negotiate(&["NT LM 0.12", "SMB 2.002", "SMB 2.???"]);
    assert!(refusals(&mut client).is_empty());
}

#[test]
fn the_report_of_a_refused_client_names_its_operating_system() {
    let server = server(Config {
        map_to_guest: MapToGuest::Never,
        ..Config::default()
    });
    let mut client = nt(&server);
    client.header.flags2.0 &= !Flags2::UNICODE;
    let words = [0xff, 0, 2920, 50, 0, 0, 0, 1, 0, 0, 0, 1, 0];
    client
        .request(
            0x73,
            &words,
            b"\0JOE\0WORKGROUP\0Windows 4.0\0Windows 4.0\0",
        )
        .refused(Status::LOGON_FAILURE);
    let told = core::iter::from_fn(|| client.conn.poll_event());
    let native = told.filter_map(|event| match event {
        Event::Introduced { native } => Some(native),
        _ => None,
    });
    assert_eq!(native.collect::<Vec<_>>(), ["Windows 4.0 Windows 4.0"]);
}
