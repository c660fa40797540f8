//! Connections over real sockets: what a client gets, whatever it sends or does not send.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    path::PathBuf,
    thread,
    time::Duration,
};

use coax_hosting::{Hosting, Limits, MAX_HEAD, Page};

const LIMITS: Limits = Limits {
    threads: 2,
    head: Duration::from_millis(400),
    body: Duration::from_secs(20),
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
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
    );
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("\r\nContent-Length: 3000000\r\n"),
        "{head}"
    );
    assert!(head.contains("Content-Security-Policy: default-src 'none'; ") && body == page().bytes);
    let (head, body) = asked(
        address,
        &format!("HEAD / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
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

#[test]
fn the_name_of_another_host_is_refused() {
    let address = hosted();
    let (head, body) = asked(address, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 421 ") && body == b"421 Misdirected Request\n",
        "{head}"
    );
}

#[test]
fn silent_slow_and_endless_clients_keep_no_thread() {
    let address = hosted();
    // more than there are threads
    let silent: Vec<TcpStream> = (0..6).map(|_| connected(address)).collect();
    let mut slow = connected(address);
    slow.write_all(b"GET / HT").unwrap();
    let (head, _) = answer(slow);
    assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
    let mut endless = connected(address);
    // the server answers and closes before it has read everything
    let _ = endless.write_all(format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(MAX_HEAD)).as_bytes());
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
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
    );
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[test]
fn two_programs_cannot_have_one_port() {
    let first = Hosting::on(0).unwrap();
    let second = Hosting::on(first.address().port());
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}
