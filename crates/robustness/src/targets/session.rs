//! Engines of the NetBIOS layer fed with whatever comes.

use crate::choices::Choices;
use coax_netbios::{Accept, NameService, NameServiceConfig, Session, SessionConfig, Transport};
use coax_wire::{
    nbt::{name::NbName, session::Refusal},
    time::{Span, Time},
};
use std::net::{Ipv4Addr, SocketAddrV4};

/// A session server fed with bytes in pieces of any size, with time passing between.
pub fn nbt_session(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (transport, accept, config) = set_up(&mut choices);
    let mut now = Time(1_000_000_000);
    let mut session = Session::server(now, transport, accept, config);
    let mut sizes = Choices::new(choices.bytes(16));
    let mut stream = choices.rest();
    while !stream.is_empty() && session.error().is_none() {
        let (piece, rest) = stream.split_at((1 + sizes.below(256)).min(stream.len()));
        stream = rest;
        now = now + Span(u64::from(sizes.u8()) * 100_000_000);
        feed_session(&mut session, now, piece);
        assert!(session.buffered_capacity() <= config.max_message + 70_000);
    }
    let _ = session.handle_eof();
    while session.poll_transmit().is_some() {}
}

fn set_up(choices: &mut Choices<'_>) -> (Transport, Accept, SessionConfig) {
    let transport = *choices.one_of(&[Transport::Nbt139, Transport::Direct445]);
    let accept = match choices.below(3) {
        0 => Accept::Any,
        1 => Accept::Names(NbName::new(b"COAX", 0x20).into_iter().collect()),
        _ => Accept::Nothing(Refusal::UNSPECIFIED),
    };
    let config = SessionConfig {
        max_message: *choices.one_of(&[0x1_ffff, 64, 4096]),
        keep_alive: Some(Span::from_secs(60)),
        bare_messages: choices.once_in(2),
        ..SessionConfig::default()
    };
    (transport, accept, config)
}

fn feed_session(session: &mut Session, now: Time, mut piece: &[u8]) {
    while !piece.is_empty() && session.error().is_none() {
        let taken = session.handle_bytes(now, piece);
        piece = &piece[taken..];
        let mut messages = 0;
        while let Some(Ok(message)) = session.poll_message() {
            assert!(message.len() <= 0x1_ffff);
            session.consume();
            messages += 1;
        }
        assert!(
            taken > 0 || messages > 0 || session.error().is_some(),
            "no progress"
        );
    }
    if session.poll_timeout().is_some_and(|due| due <= now) {
        session.handle_timeout(now);
        assert!(
            session.poll_timeout().is_none_or(|due| due > now),
            "the timeout does not advance"
        );
    }
    while session.poll_transmit().is_some() {}
}

/// The name service fed with datagrams from anywhere, each with its length before it.
pub fn name_service(data: &[u8]) {
    let mut now = Time(1_000_000_000);
    let computer = NbName::new(b"COAX", 0).unwrap();
    let workgroup = NbName::new(b"WORKGROUP", 0).unwrap();
    let mut config =
        NameServiceConfig::file_server(computer, workgroup, false, Ipv4Addr::new(10, 0, 0, 1));
    config.first_id = 0x1234;
    let mut service = NameService::new(now, config).unwrap();
    let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 7), 137);
    service.handle_datagram(now, from, data);
    let mut choices = Choices::new(data);
    for _ in 0..32 {
        let datagram = choices.counted();
        let host = Ipv4Addr::new(10, 0, 0, choices.u8());
        service.handle_datagram(now, SocketAddrV4::new(host, 137), datagram);
        now = now + Span::from_millis(u64::from(choices.u16()));
        service.handle_timeout(now);
        assert!(service.poll_timeout().is_none_or(|due| due > now));
        let sent = std::iter::from_fn(|| service.poll_transmit())
            .take(200)
            .count();
        assert!(sent < 200, "one datagram causes too many replies");
        while service.poll_event().is_some() {}
    }
    service.shutdown(now);
}
