//! What the kernel keeps and sends of a connection, on loopback with Ethernet's segments.
#![allow(clippy::expect_used)]

use std::{
    io::{IoSlice, Read},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
};

use socket2::{Domain, Type};

use super::{super::socket::Socket, *};

const PIECE: usize = 1460 * 2 + 216;

/// A client that offers segments of at most 1,460 bytes, and its connection to the server.
fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let client = socket2::Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    client.set_tcp_mss(1460).expect("a segment size");
    let address: SocketAddr = listener.local_addr().expect("an address");
    client.connect(&address.into()).expect("a connection");
    let (server, _) = listener.accept().expect("a client");
    (client.into(), server)
}

fn paced(server: &TcpStream) -> Pacing {
    let global = GlobalSettings {
        pacing: settings::Pacing::Always,
        ..GlobalSettings::default()
    };
    let shared = (&Arc::new(Clock::new()), &Arc::new(LearnedLimits::default()));
    let address = IpAddr::from(Ipv4Addr::LOCALHOST);
    Pacing::begin(&global, shared, server, address).expect("limits")
}

#[test]
fn what_an_acknowledgment_released_counts_as_sent() {
    let (mut client, server) = connected();
    let pacing = paced(&server);
    let mut socket = Socket::new(server, &[]).expect("a socket");
    socket.pace(Some(pacing));
    let reader = thread::spawn(move || {
        let mut got = vec![0; PIECE];
        client.read_exact(&mut got).map(|()| client)
    });

    let sent = socket.send(&[IoSlice::new(&[7; PIECE])], true);
    let mut client = reader.join().expect("the reader").expect("all bytes");

    assert_eq!(sent, Ok(PIECE), "four segments may be in flight");
    let pacing = socket.pacing().expect("limits");
    assert_ne!(pacing.lock().kept, 0, "the last piece fills no segment");
    // The client has all of it, so the kernel keeps nothing, although more was announced.
    assert!(pacing.permit(&socket) > 0);
    assert_eq!(pacing.lock().kept, 0);
    drop(socket);
    let _ = client.read(&mut [0]);
}
