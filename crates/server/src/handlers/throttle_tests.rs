//! A log-on waits if it follows failed ones too soon; other clients do not wait.

use crate::{
    config::{Config, MapToGuest, Security},
    event::Event,
    share::ShareOptions,
    testkit::{TestClient, TestServer},
};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use coax_logon::{
    accounts::{Accounts, User},
    hash,
    policy::Policy,
    response,
    text::Ascii,
};
use coax_wire::{command as c, header::Flags2, status::Status, time::Span};

const SECOND: Span = Span::from_secs(1);

fn server(config: Config) -> TestServer {
    let mut server = TestServer::with(config, ShareOptions::default());
    let mut accounts = Accounts::default();
    for name in ["ann", "bob"] {
        let user = User::with_password(name, "Secret", &Ascii);
        accounts.add(user).unwrap();
    }
    accounts
        .add(User::with_password("eve", "", &Ascii))
        .unwrap();
    server.edit(|server| server.accounts = accounts);
    server
}

fn client(server: &TestServer, address: &str) -> TestClient {
    let mut client = server.connect_from(address);
    client.negotiate(&["NT LM 0.12"]);
    client.header.flags2 = Flags2(Flags2::NT_STATUS);
    client
}

/// Sends a log-on without waiting for the answer.
fn post(client: &mut TestClient, user: &str, password: &str) {
    let nt = response::ntlm_v1(&hash::nt_hash(password), b"12345678").bytes;
    let words = [0xff, 0, 0xffff, 50, 1, 0, 0, 0, 24, 0, 0, 0x50, 0];
    let mut bytes = nt.to_vec();
    bytes.extend(user.bytes());
    bytes.extend([0; 4]);
    let block = crate::testkit::block(&words, &bytes);
    client.post(c::SESSION_SETUP_ANDX, &block);
}

/// The status of a log-on that the server answers at once.
#[track_caller]
fn try_at_once(client: &mut TestClient, user: &str, password: &str) -> Status {
    post(client, user, password);
    Status(client.answer().expect("an immediate reply").status())
}

fn fail(client: &mut TestClient, times: usize) {
    for _ in 0..times {
        assert_eq!(try_at_once(client, "bob", "wrong"), Status::LOGON_FAILURE);
    }
}

fn refusals(client: &mut TestClient) -> Vec<String> {
    core::iter::from_fn(|| client.conn.poll_event())
        .filter_map(|event| match event {
            Event::Refused { why, .. } => Some(why),
            _ => None,
        })
        .collect()
}

#[test]
fn three_failed_log_ons_cause_no_delay_and_each_further_one_a_longer_delay() {
    let server = server(Config::default());
    let mut client = client(&server, "10.0.0.1:1000");
    fail(&mut client, 4);
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
        post(&mut client, "bob", "wrong");
        client.pass(Span(SECOND.0 * seconds - 1));
        assert!(client.answer().is_none(), "before {seconds} s");
        client.pass(Span(1));
        let answer = client.answer().expect("a reply after the delay");
        answer.refused(Status::LOGON_FAILURE);
    }
    let reported = refusals(&mut client);
    assert_eq!(reported.len(), 11, "every failure must be reported");
    assert!(reported[3].ends_with("the next log-on from 10.0.0.1 waits 1 s"));
}

#[test]
fn the_right_password_waits_too_and_then_resets_the_delay() {
    let server = server(Config::default());
    let mut client = client(&server, "10.0.0.1:1000");
    fail(&mut client, 4);
    post(&mut client, "bob", "Secret");
    assert!(client.answer().is_none());
    client.pass(SECOND);
    client.answer().expect("a reply").ok();
    fail(&mut client, 3);
}

#[test]
fn other_connections_of_the_address_wait_and_other_addresses_do_not() {
    let server = server(Config::default());
    let mut attacker = client(&server, "10.0.0.1:1000");
    fail(&mut attacker, 4);
    let mut second = client(&server, "10.0.0.1:1001");
    post(&mut second, "bob", "wrong");
    assert!(second.answer().is_none());
    let mut owner = client(&server, "10.0.0.2:1000");
    assert_eq!(try_at_once(&mut owner, "bob", "Secret"), Status::OK);
}

#[test]
fn the_server_answers_other_requests_while_a_log_on_waits() {
    let server = server(Config::default());
    let mut client = client(&server, "10.0.0.1:1000");
    assert_eq!(try_at_once(&mut client, "ann", "Secret"), Status::OK);
    fail(&mut client, 4);
    post(&mut client, "bob", "wrong");
    client.request(c::ECHO, &[1], b"x").ok();
    client.pass(SECOND);
    client
        .answer()
        .expect("a reply")
        .refused(Status::LOGON_FAILURE);
}

#[test]
fn many_connections_of_one_address_guess_no_faster_than_one() {
    let server = server(Config::default());
    let mut guesses = 0;
    let mut clients: Vec<_> = (0..50)
        .map(|port| client(&server, &format!("10.0.0.1:{port}")))
        .collect();
    for _ in 0..120 {
        for client in &mut clients {
            post(client, "bob", "wrong");
            client.pass(SECOND);
            while client.answer().is_some() {}
            guesses += refusals(client).len();
        }
    }
    // 4 at once, then after 1, 2, 4, 8, 16 and 30 s: 120 s allow six waits and two more of 30 s.
    assert!((8..=12).contains(&guesses), "{guesses}");
}

#[test]
fn a_connection_that_ends_before_its_answer_learns_nothing_about_the_password() {
    let server = server(Config::default());
    fail(&mut client(&server, "10.0.0.1:1"), 4);
    for _ in 0..100 {
        let mut hasty = client(&server, "10.0.0.1:2");
        post(&mut hasty, "bob", "Secret");
        assert!(hasty.answer().is_none());
        let now = hasty.now;
        hasty.conn.handle_disconnect(now);
    }
    let deadline = server.server.locked(|tables| tables.next_deadline());
    assert_eq!(deadline, None, "the entries must be removed");
}

#[test]
fn no_more_than_four_log_ons_of_a_connection_wait() {
    let server = server(Config::default());
    let mut client = client(&server, "10.0.0.1:1");
    fail(&mut client, 4);
    for _ in 0..4 {
        post(&mut client, "bob", "Secret");
        assert!(client.answer().is_none());
    }
    assert_eq!(
        try_at_once(&mut client, "bob", "Secret"),
        Status::LOGON_FAILURE
    );
}

#[test]
fn an_attacked_user_logs_on_at_once_from_an_address_that_has_not_failed() {
    let server = server(Config::default());
    for number in 0..200 {
        fail(&mut client(&server, &format!("10.0.{number}.1:1")), 1);
    }
    let mut owner = client(&server, "10.1.0.1:1");
    fail(&mut owner, 1);
    post(&mut owner, "bob", "Secret");
    assert!(
        owner.answer().is_none(),
        "a wrong password must be delayed meanwhile"
    );
    owner.pass(Span::from_secs(8));
    owner.answer().expect("a delay of at most 8 s").ok();
    let mut elsewhere = client(&server, "10.1.0.2:1");
    assert_eq!(try_at_once(&mut elsewhere, "bob", "Secret"), Status::OK);
}

#[test]
fn a_guest_with_a_wrong_password_counts_as_a_failure_and_an_unknown_user_does_not() {
    let server = server(Config {
        map_to_guest: MapToGuest::BadPassword,
        ..Config::default()
    });
    let mut client = client(&server, "10.0.0.1:1");
    for _ in 0..10 {
        assert_eq!(try_at_once(&mut client, "joe", "x"), Status::OK);
    }
    for _ in 0..4 {
        assert_eq!(try_at_once(&mut client, "bob", "wrong"), Status::OK);
    }
    post(&mut client, "bob", "wrong");
    assert!(client.answer().is_none());
    let guests: Vec<_> = core::iter::from_fn(|| client.conn.poll_event())
        .filter_map(|event| match event {
            Event::LoggedOn {
                user: None,
                how,
                tried,
                ..
            } => Some((how, tried)),
            _ => None,
        })
        .collect();
    assert_eq!(
        guests.first().unwrap(),
        &("unknown user", Some("joe".into()))
    );
    assert_eq!(
        guests.last().unwrap(),
        &("wrong password", Some("bob".into()))
    );
}

#[test]
fn a_known_user_with_a_wrong_password_is_refused_if_only_unknown_users_become_guests() {
    let server = server(Config {
        map_to_guest: MapToGuest::BadUser,
        ..Config::default()
    });
    let mut client = client(&server, "10.0.0.1:1");
    assert_eq!(
        try_at_once(&mut client, "bob", "wrong"),
        Status::LOGON_FAILURE
    );
    assert_eq!(try_at_once(&mut client, "joe", "wrong"), Status::OK);
}

#[test]
fn an_empty_password_logs_on_with_null_passwords_only() {
    for (null_passwords, status) in [(false, Status::LOGON_FAILURE), (true, Status::OK)] {
        let server = server(Config {
            policy: Policy {
                null_passwords,
                ..Policy::default()
            },
            ..Config::default()
        });
        let mut client = client(&server, "10.0.0.1:1");
        assert_eq!(try_at_once(&mut client, "eve", ""), status);
    }
}

#[test]
fn passwords_of_shares_are_throttled_too() {
    let mut server = TestServer::with(
        Config {
            security: Security::Share,
            encrypt_passwords: false,
            ..Config::default()
        },
        ShareOptions::default(),
    );
    server.edit(|server| {
        let share = Arc::make_mut(server.shares.first_mut().unwrap());
        share.admission.guest = None;
        share.admission.passwords.write = Some("sesame".into());
    });
    let mut client = server.connect_from("10.0.0.1:1");
    client.negotiate(&["PC NETWORK PROGRAM 1.0"]);
    let connect = |password: &str| {
        let mut bytes = b"\x04DISK\0\x04".to_vec();
        bytes.extend(password.bytes());
        bytes.extend(b"\0\x04A:\0");
        crate::testkit::block(&[], &bytes)
    };
    for _ in 0..4 {
        let answer = client.send_block(c::TREE_CONNECT, &connect("wrong"));
        assert_ne!(answer.status(), 0);
    }
    client.post(c::TREE_CONNECT, &connect("sesame"));
    assert!(client.answer().is_none());
    client.pass(SECOND);
    client.answer().expect("a reply").ok();
    let expected = vec![
        "wrong password",
        "wrong password; the next log-on from 10.0.0.1 waits 1 s",
    ];
    let mut reported = refusals(&mut client);
    reported.retain(|why| why.starts_with("wrong"));
    reported.dedup();
    assert_eq!(reported, expected);
}
