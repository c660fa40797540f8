#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use super::*;
use alloc::vec;
use proptest::prelude::*;

const START: Time = Time(1_700_000_000_000_000_000);

/// A DOS client's session request: called `TOWER<20>`, calling `DOSBOX<00>`.
const REQUEST: &[u8] = b"\x81\x00\x00\x44\
    \x20FEEPFHEFFCCACACACACACACACACACACA\x00\
    \x20EEEPFDECEPFICACACACACACACACACAAA\x00";

fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

fn config() -> SessionConfig {
    SessionConfig::default()
}

fn server(transport: Transport, accept: Accept) -> Session {
    Session::server(START, transport, accept, config())
}

fn client(called: NbName) -> Session {
    let calling = name("DOSBOX").into();
    Session::client(START, Transport::Nbt139, called.into(), calling, config())
}

fn only(names: &[&str]) -> Accept {
    Accept::Names(names.iter().map(|text| name(text)).collect())
}

/// Feeds all bytes and consumes every message; returns the messages and the error.
fn feed(session: &mut Session, mut bytes: &[u8]) -> (Vec<Vec<u8>>, Option<SessionError>) {
    let mut messages = Vec::new();
    loop {
        let taken = session.handle_bytes(START, bytes);
        bytes = &bytes[taken..];
        match session.poll_message().map(|message| message.map(Vec::from)) {
            Some(Ok(message)) => messages.push(message),
            Some(Err(error)) => return (messages, Some(error)),
            None if bytes.is_empty() => return (messages, None),
            None => assert!(taken > 0, "no progress"),
        }
        session.consume();
    }
}

fn framed(session: &Session, message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::from(session.header_for(message.len()).unwrap());
    bytes.extend_from_slice(message);
    bytes
}

#[test]
fn a_dos_client_is_let_in_and_its_names_are_known() {
    let mut session = server(Transport::Nbt139, only(&["TOWER"]));
    assert!(!session.is_established());
    assert_eq!(feed(&mut session, REQUEST), (vec![], None));
    assert_eq!(session.poll_transmit().unwrap(), [0x82, 0, 0, 0]);
    assert_eq!(session.poll_transmit(), None);
    assert!(session.is_established());
    assert_eq!(session.called().unwrap().name, name("TOWER<20>"));
    assert_eq!(session.calling().unwrap().name, name("DOSBOX<00>"));
}

#[test]
fn a_handshake_split_at_every_byte_ends_the_same() {
    let mut bytes = Vec::from(REQUEST);
    bytes.extend([0x85, 0, 0, 0, 0, 0, 0, 5]);
    bytes.extend(b"hello\x00\x00\x00\x00");
    for cut in 0..=bytes.len() {
        let mut session = server(Transport::Nbt139, Accept::Any);
        let mut messages = feed(&mut session, &bytes[..cut]).0;
        let (more, error) = feed(&mut session, &bytes[cut..]);
        messages.extend(more);
        assert_eq!((messages, error), (vec![b"hello".to_vec(), vec![]], None));
        assert_eq!(session.handle_eof(), Ok(()));
    }
}

#[test]
fn client_and_server_agree_byte_by_byte() {
    let mut server = server(Transport::Nbt139, only(&["TOWER"]));
    let mut client = client(name("TOWER<20>"));
    let request = client.poll_transmit().unwrap();
    assert_eq!(request, REQUEST);
    for byte in request {
        assert!(!client.is_established());
        feed(&mut server, &[byte]);
    }
    for byte in server.poll_transmit().unwrap() {
        assert_eq!(client.handle_bytes(START, &[byte]), 1);
    }
    assert!(client.is_established() && server.is_established());
    let message = framed(&client, b"\xffSMB");
    assert_eq!(feed(&mut server, &message).0, [b"\xffSMB"]);
}

#[test]
fn a_strict_server_accepts_its_names_smbserver_and_addresses_only() {
    let accept = only(&["TOWER", "BACKUP"]);
    for called in ["TOWER<20>", "TOWER<00>", "BACKUP<20>", "192.168.1.200<20>"] {
        assert_eq!(accept.judge(&name(called)), Ok(()), "{called}");
    }
    assert_eq!(accept.judge(&NbName::SMBSERVER), Ok(()));
    for called in ["TOWEL<20>", "TOWER<1d>", "192.168.1<20>"] {
        let verdict = accept.judge(&name(called));
        assert_eq!(verdict, Err(Refusal::CalledNameNotPresent), "{called}");
    }
}

#[test]
fn a_refused_client_learns_the_code_and_falls_back() {
    let mut strict = server(Transport::Nbt139, only(&["BACKUP"]));
    let mut refused = client(name("TOWER<20>"));
    let request = refused.poll_transmit().unwrap();
    let refusal = Refusal::CalledNameNotPresent;
    let error = feed(&mut strict, &request).1;
    assert_eq!(error, Some(SessionError::WeRefused(refusal)));
    assert_eq!(strict.called().unwrap().name, name("TOWER<20>"));
    let reply = strict.poll_transmit().unwrap();
    assert_eq!(reply, [0x83, 0, 0, 1, 0x82]);
    let error = feed(&mut refused, &reply).1;
    assert_eq!(error, Some(SessionError::PeerRefused(refusal)));
}

#[test]
fn a_retarget_reply_contains_the_new_address() {
    let error = feed(
        &mut client(name("A")),
        &[0x84, 0, 0, 6, 10, 0, 0, 9, 0, 139],
    )
    .1;
    let address = Ipv4Addr::new(10, 0, 0, 9);
    assert_eq!(error, Some(SessionError::Retargeted { address, port: 139 }));
}

#[test]
fn a_session_request_on_445_is_refused_with_a_reply() {
    let mut session = server(Transport::Direct445, Accept::Any);
    assert!(session.is_established());
    let error = feed(&mut session, REQUEST).1;
    assert_eq!(error, Some(SessionError::RequestOnDirect));
    assert_eq!(session.poll_transmit().unwrap(), [0x83, 0, 0, 1, 0x8f]);
    assert!(session.recv_space(0).is_empty());
}

#[test]
fn a_bare_message_on_139_is_served_unless_names_are_checked() {
    let bare = b"\x00\x00\x00\x02hi";
    let mut lenient = server(Transport::Nbt139, Accept::Any);
    assert_eq!(feed(&mut lenient, bare), (vec![b"hi".to_vec()], None));
    assert_eq!(lenient.framing(), Framing::Direct);
    let mut strict = server(Transport::Nbt139, only(&["TOWER"]));
    assert_eq!(feed(&mut strict, bare).1, Some(SessionError::Unexpected(0)));
    assert_eq!(strict.poll_transmit().unwrap(), [0x83, 0, 0, 1, 0x8f]);
}

#[test]
fn the_longest_message_of_17_bits_arrives_whole() {
    let mut session = server(Transport::Nbt139, Accept::Any);
    feed(&mut session, REQUEST);
    let message: Vec<u8> = (0..0x1_ffffu32).map(|i| i.to_be_bytes()[3]).collect();
    let bytes = framed(&session, &message);
    assert_eq!(bytes[..4], [0, 1, 0xff, 0xff]);
    let (messages, error) = feed(&mut session, &[bytes.as_slice(), &bytes].concat());
    assert!(error.is_none());
    assert!(messages == [message.clone(), message]);
    assert!(session.header_for(0x2_0000).is_err());
}

#[test]
fn a_message_beyond_the_limit_is_refused_at_its_header() {
    let mut session = server(Transport::Direct445, Accept::Any);
    let error = feed(&mut session, &[0, 2, 0, 0]).1;
    let (len, max) = (0x2_0000, 0x1_ffff);
    assert_eq!(error, Some(SessionError::TooLong { len, max }));
}

#[test]
fn a_lying_length_allocates_no_more_than_twice_what_came() {
    let mut session = server(Transport::Direct445, Accept::Any);
    feed(&mut session, &[0, 1, 0xff, 0xff]);
    let mut came = 4usize;
    while came < 0x1_0000 {
        assert!(session.recv_space(0).len() + came <= (2 * came).max(4096));
        assert!(session.buffered_capacity() <= (2 * came).max(4096));
        session.received(START, 100);
        came += 100;
    }
}

#[test]
fn an_idle_session_holds_next_to_nothing() {
    let mut session = server(Transport::Direct445, Accept::Any);
    assert_eq!(session.buffered_capacity(), 0);
    feed(
        &mut session,
        &[&[0, 0, 0xff, 0xff][..], &[7; 0xffff]].concat(),
    );
    assert_eq!(session.buffered_capacity(), 0x1_0003);
    let due = session.poll_timeout().unwrap();
    assert_eq!(due, START + Span::from_secs(2));
    session.handle_timeout(due);
    assert_eq!(session.buffered_capacity(), 0);
    assert_eq!(session.poll_timeout(), None);
    assert!(size_of::<Session>() <= 320, "{}", size_of::<Session>());
}

#[test]
fn a_driver_that_asks_for_space_again_and_again_is_not_woken_again_and_again() {
    let mut session = server(Transport::Direct445, Accept::Any);
    let mut now = START;
    let mut wakes = 0;
    while now < START + Span::from_secs(60) {
        session.recv_space(0);
        match session.poll_timeout() {
            Some(due) => now = now.max(due),
            None => break,
        }
        session.handle_timeout(now);
        wakes += 1;
        assert!(
            wakes <= 30,
            "woken {wakes} times in {} s",
            (now - START).as_millis() / 1000
        );
    }
}

#[test]
fn shrinking_keeps_a_message_that_waits() {
    let mut session = server(Transport::Direct445, Accept::Any);
    feed(
        &mut session,
        &[&[0, 0, 0xff, 0xff][..], &[7; 0xffff]].concat(),
    );
    session.handle_bytes(START, b"\x00\x00\x00\x03abc");
    session.handle_timeout(session.poll_timeout().unwrap());
    assert!(session.buffered_capacity() <= 4096);
    assert_eq!(session.poll_message(), Some(Ok(&b"abc"[..])));
    assert_eq!(session.poll_message(), Some(Ok(&b"abc"[..])));
    session.consume();
    assert_eq!(session.poll_message(), None);
}

#[test]
fn a_hint_lets_the_buffer_take_a_large_message_in_one_read() {
    let mut session = server(Transport::Direct445, Accept::Any);
    feed(&mut session, &[0, 0, 0xf0, 0]);
    assert_eq!(session.recv_space(1 << 30).len(), 0xf000);
}

#[test]
fn a_quiet_peer_gets_keep_alives_on_139() {
    let keep_alive = Some(Span::from_secs(60));
    let config = SessionConfig {
        keep_alive,
        ..config()
    };
    let mut session = Session::server(START, Transport::Nbt139, Accept::Any, config);
    feed(&mut session, REQUEST);
    session.poll_transmit();
    session.handle_timeout(START + Span::from_secs(2));
    for round in 1..=3 {
        let due = session.poll_timeout().unwrap();
        assert_eq!(due, START + Span::from_secs(60 * round));
        session.handle_timeout(due);
        assert_eq!(session.poll_transmit().unwrap(), [0x85, 0, 0, 0]);
    }
    let direct = Session::server(START, Transport::Direct445, Accept::Any, config);
    assert_eq!(direct.poll_timeout(), None);
}

#[test]
fn a_handshake_that_trickles_times_out() {
    let mut session = server(Transport::Nbt139, Accept::Any);
    let due = START + Span::from_secs(30);
    session.handle_bytes(START + Span::from_secs(29), &[0x85, 0, 0, 0, 0x81]);
    assert_eq!(session.poll_timeout(), Some(due));
    session.handle_timeout(due);
    let error = SessionError::HandshakeTimeout;
    assert_eq!(session.poll_message(), Some(Err(error)));
    assert_eq!(session.poll_timeout(), None);
}

#[test]
fn bad_frames_end_the_session() {
    let after_handshake: [(&[u8], SessionError); 4] = [
        (&[0, 2, 0, 0], SessionError::ReservedFlags(2)),
        (&[0x47, 0, 0, 0], SessionError::Unexpected(0x47)),
        (&[0x82, 0, 0, 0], SessionError::Unexpected(0x82)),
        (REQUEST, SessionError::Unexpected(0x81)),
    ];
    for (bytes, expected) in after_handshake {
        let mut session = server(Transport::Nbt139, Accept::Any);
        feed(&mut session, REQUEST);
        assert_eq!(feed(&mut session, bytes), (vec![], Some(expected)));
        assert_eq!(session.poll_message(), Some(Err(expected)));
        assert_eq!(session.handle_bytes(START, REQUEST), 0);
    }
    let mut session = server(Transport::Nbt139, Accept::Any);
    let error = feed(&mut session, &[0x81, 0, 0, 2, 0xc0, 0]).1;
    assert_eq!(error, Some(SessionError::Malformed(Malformed::BadPointer)));
}

#[test]
fn a_close_within_a_packet_differs_from_a_clean_close() {
    for cut in 1..REQUEST.len() {
        let mut session = server(Transport::Nbt139, Accept::Any);
        feed(&mut session, &REQUEST[..cut]);
        assert_eq!(session.handle_eof(), Err(SessionError::CutShort));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_nor_stall(
        nbt: bool, bytes in prop::collection::vec(prop_oneof![0u8..2, any::<u8>(), 0x81u8..0x86], 0..300),
    ) {
        let transport = if nbt { Transport::Nbt139 } else { Transport::Direct445 };
        let mut session = server(transport, Accept::Any);
        let (_, error) = feed(&mut session, &bytes);
        prop_assert_eq!(session.error(), error);
        prop_assert!(session.buffered_capacity() <= 4096);
    }

    #[test]
    fn messages_arrive_as_they_were_sent_however_they_are_cut(
        lens in prop::collection::vec(0usize..20_000, 1..8), cuts in prop::collection::vec(1usize..9_000, 1..20),
    ) {
        let mut session = server(Transport::Direct445, Accept::Any);
        let sent: Vec<Vec<u8>> = lens.iter().map(|&len| vec![len.to_be_bytes()[7]; len]).collect();
        let stream: Vec<u8> = sent.iter().flat_map(|message| framed(&session, message)).collect();
        let (mut rest, mut got) = (stream.as_slice(), Vec::new());
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            let (messages, error) = feed(&mut session, now);
            prop_assert_eq!(error, None);
            got.extend(messages);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert!(got == sent);
        prop_assert_eq!(session.handle_eof(), Ok(()));
    }
}
