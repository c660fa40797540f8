//! Connections over real sockets: what a client gets, whatever it sends or does not send.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    path::PathBuf,
    thread,
    time::Duration,
};

use coax_hosting::{Hosting, Limits, POLICY, Page};
use coax_http::HEAD_MAX;

const LIMITS: Limits = Limits {
    connections: 8,
    head: Duration::from_millis(400),
    body: Duration::from_millis(400),
    idle: Duration::from_millis(400),
    stall: Duration::from_secs(20),
};

fn page() -> Page {
    Page {
        path: PathBuf::from("index.html"),
        bytes: b"0123456789".repeat(300_000),
    }
}

fn hosted() -> SocketAddr {
    let hosting = Hosting::on(0).unwrap();
    let address = hosting.address();
    assert_eq!(hosting.url(), format!("http://{address}/"));
    thread::spawn(move || hosting.serve(page(), LIMITS));
    address
}

fn connected(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// The head and the body of the answer.
fn answer(mut stream: TcpStream) -> (String, Vec<u8>) {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let body = all.split_off(end);
    (String::from_utf8(all).unwrap(), body)
}

fn asked(address: SocketAddr, request: &str) -> (String, Vec<u8>) {
    let mut stream = connected(address);
    stream.write_all(request.as_bytes()).unwrap();
    answer(stream)
}

#[test]
fn the_page_arrives_whole_and_a_head_request_gets_its_length_only() {
    let address = hosted();
    let (head, body) = asked(
        address,
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
    );
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("\r\nContent-Length: 3000000\r\n"),
        "{head}"
    );
    assert!(
        head.contains(&format!("\r\nContent-Security-Policy: {POLICY}\r\n"))
            && body == page().bytes
    );
    let (head, body) = asked(
        address,
        &format!("HEAD / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
    );
    assert!(head.contains("\r\nContent-Length: 3000000\r\n") && body.is_empty());
    // byte by byte, with a body that nobody reads
    let mut stream = connected(address);
    for byte in format!("POST / HTTP/1.1\r\nHost: {address}\r\n\r\n").bytes() {
        stream.write_all(&[byte]).unwrap();
    }
    stream.write_all(&[b'x'; 20_000]).unwrap();
    let (head, _) = answer(stream);
    assert!(
        head.starts_with("HTTP/1.1 405 ") && head.contains("\r\nAllow: GET, HEAD\r\n"),
        "{head}"
    );
}

fn status(address: SocketAddr, line: &str, host: &str) -> u16 {
    let request = format!("{line} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
    let (head, body) = asked(address, &request);
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(
        body == page().bytes,
        status == 200 && !line.starts_with("HEAD"),
        "{request}"
    );
    status
}

#[test]
fn the_page_has_two_paths_and_two_methods() {
    let address = hosted();
    let host = format!("Host: {address}\r\n");
    for (line, expected) in [
        ("GET /", 200),
        ("GET /index.html?x#y", 200),
        ("HEAD /index.html", 200),
        ("GET /../etc/passwd", 404),
        ("HEAD /x", 404),
        ("POST /", 405),
        ("DELETE /", 405),
        ("GET http://127.0.0.1/", 400),
    ] {
        assert_eq!(status(address, line, &host), expected, "{line}");
    }
}

#[test]
fn only_names_of_this_address_are_served() {
    let address = hosted();
    let port = address.port();
    for host in [format!("localhost:{port}"), address.to_string()] {
        let host = format!("Host: {host}\r\n");
        assert_eq!(status(address, "GET /", &host), 200, "{host}");
    }
    for host in [
        format!("evil.example:{port}"),
        "evil.example".into(),
        "localhost".into(),
        "127.0.0.1".into(),
        format!("127.0.0.2:{port}"),
        format!("[::1]:{port}"),
        format!("localhost:{port}:{port}"),
        String::new(),
    ] {
        let host = format!("Host: {host}\r\n");
        assert_eq!(status(address, "GET /", &host), 421, "{host}");
    }
    assert_eq!(status(address, "GET /", ""), 400);
    let twice = format!("Host: {address}\r\nHost: {address}\r\n");
    assert_eq!(status(address, "GET /", &twice), 400);
    let (head, _) = asked(address, "GET / HTTP/2.0\r\nHost: a\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 505 HTTP Version Not Supported\r\n"),
        "{head}"
    );
}

#[test]
fn one_connection_serves_several_requests() {
    let address = hosted();
    let mut stream = connected(address);
    let next = format!("GET /x HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let last = format!("HEAD / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream
        .write_all(format!("{next}{next}{last}").as_bytes())
        .unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert_eq!(all.matches("HTTP/1.1 404 ").count(), 2, "{all}");
    assert_eq!(all.matches("HTTP/1.1 200 ").count(), 1, "{all}");
}

#[test]
fn connections_beyond_the_limit_are_refused_and_the_place_becomes_free() {
    let address = hosted();
    let held: Vec<TcpStream> = (0..LIMITS.connections)
        .map(|_| connected(address))
        .collect();
    let (head, _) = answer(connected(address));
    assert!(
        head.starts_with("HTTP/1.1 503 ") && head.contains("\r\nRetry-After: "),
        "{head}"
    );
    drop(held);
    thread::sleep(LIMITS.idle * 2);
    assert_eq!(
        status(address, "GET /", &format!("Host: {address}\r\n")),
        200
    );
}

#[test]
fn silent_slow_and_endless_clients_lose_their_connection() {
    let address = hosted();
    let silent: Vec<TcpStream> = (0..4).map(|_| connected(address)).collect();
    let mut slow = connected(address);
    slow.write_all(b"GET / HT").unwrap();
    let (head, _) = answer(slow);
    assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
    let mut endless = connected(address);
    // the server answers before it has read everything
    let _ = endless.write_all(format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(HEAD_MAX)).as_bytes());
    let (head, _) = answer(endless);
    assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
    for mut stream in silent {
        let mut nothing = Vec::new();
        assert_eq!(stream.read_to_end(&mut nothing).unwrap(), 0);
    }
    let half = connected(address);
    half.shutdown(Shutdown::Both).unwrap();
    let (head, _) = asked(
        address,
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
    );
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[test]
fn two_programs_cannot_have_one_port() {
    let first = Hosting::on(0).unwrap();
    let second = Hosting::on(first.address().port());
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}
