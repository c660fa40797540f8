//! Slow, large and senseless requests, and too many readers.

use std::{
    io::{Read as _, Write as _},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use coax_page::Limits;

use super::json_of;
use crate::kit::{self, Answer, Fake, Site, get, post};

fn with(change: impl FnOnce(&mut coax_http::Limits)) -> Limits {
    let mut limits = kit::limits();
    change(&mut limits.http);
    limits
}

#[test]
fn a_reader_that_reads_nothing_is_dropped_and_delays_nobody() {
    let fake = Fake::default();
    fake.padding.store(2_000_000, Ordering::SeqCst);
    let limits = with(|http| http.stall = Duration::from_millis(700));
    let site = Site::open_with(fake, None, limits);
    let slow = site.events();
    let mut fast = site.events();
    let began = Instant::now();
    assert_eq!(fast.texts(8).len(), 8);
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let until = Instant::now() + Duration::from_secs(20);
    let readers = || {
        json_of(&site.ask(&get("/snapshot")))["now"]["at"].is_u64()
            && site.metric("coax_page_readers") == 1
    };
    while !readers() {
        assert!(Instant::now() < until, "the slow reader is still there");
        fast.texts(1);
    }
    drop(slow);
}

#[test]
fn readers_and_connections_beyond_the_limits_are_told_so_and_come_again_later() {
    let limits = Limits {
        readers: 2,
        ..with(|http| http.connections = 4)
    };
    let site = Site::open_with(Fake::default(), None, limits);
    let (one, two) = (site.events(), site.events());
    let refused = site.ask(&get("/events"));
    assert_eq!(
        (refused.status, refused.field("retry-after").as_deref()),
        (503, Some("10"))
    );
    let idle = [site.connect(), site.connect()];
    asked_until(&site, |refused| {
        refused.status == 503 && refused.body.contains("too many connections")
    });
    drop((idle, one, two));
    asked_until(&site, |answer| answer.status == 200);
    assert!(site.metric("coax_page_refused_total{reason=\"connections\"}") >= 1);
    assert_eq!(
        site.metric("coax_page_refused_total{reason=\"readers\"}"),
        1
    );
}

#[test]
fn a_thousand_connections_at_once_are_answered_or_closed_and_none_stays() {
    let site = Site::open(Fake::default(), None);
    let all: Vec<_> = (0..1000).map(|_| site.connect()).collect();
    std::thread::sleep(Duration::from_millis(300));
    drop(all);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(site.ask(&get("/snapshot")).status, 200);
}

#[test]
fn slow_senders_lose_their_connection() {
    let limits = with(|http| {
        let short = Duration::from_millis(300);
        (http.head, http.body, http.idle) = (short, short, short);
    });
    let site = Site::open_with(Fake::default(), None, limits);
    for (text, status) in [
        ("GET / HT", "408"),
        (
            "POST /recording HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 20\r\n\r\n{",
            "408",
        ),
        ("", ""),
    ] {
        let mut stream = site.connect();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(
            answer.split(' ').nth(1).unwrap_or_default() == status,
            "{text:?}: {answer}"
        );
    }
    // a byte now and then does not help
    let mut stream = site.connect();
    let began = Instant::now();
    while stream.write_all(b"x").is_ok() && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_is_too_large_or_no_request_is_refused() {
    let site = Site::open(Fake::default(), None);
    let long = "x".repeat(20_000);
    let host = "Host: localhost\r\n";
    for (text, status) in [
        (format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n\r\n"), 431),
        (
            format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(100)),
            431,
        ),
        (
            format!("GET /{} HTTP/1.1\r\n{host}\r\n", "y".repeat(3000)),
            414,
        ),
        (
            format!(
                "POST /recording HTTP/1.1\r\n{host}Origin: http://localhost\r\nContent-Length: 5000\r\n\r\n{long}"
            ),
            413,
        ),
        (
            format!(
                "POST /recording HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            411,
        ),
        (
            format!("DELETE / HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
            405,
        ),
        ("GET / HTTP/1.1\r\n\r\n".into(), 400),
        (format!("GET / HTTP/2.0\r\n{host}\r\n"), 505),
        ("\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03".into(), 400),
        ("\r\n\r\n\r\n \r\n".into(), 400),
        (
            format!("GET /nothing HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
            404,
        ),
        (
            format!("GET /recording/99.html HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
            404,
        ),
        (
            format!("GET /recording/-1.html HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
            404,
        ),
    ] {
        let answer = site.ask(&text);
        assert_eq!(answer.status, status, "{:.60}", text);
    }
    let record = |body: &str| site.ask(&post("/recording", "Origin: http://localhost\r\n", body));
    for body in [
        "",
        "{",
        "[]",
        "{\"client\":-1}",
        "{\"client\":\"x\"}",
        "{\"client\":1,\"seconds\":0}",
        "{\"client\":1,\"seconds\":99999}",
        "{\"other\":1}",
    ] {
        let answer = record(body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order_and_garbage_ends_the_connection() {
    let site = Site::open(Fake::default(), None);
    let text = "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\nGET /page.css HTTP/1.1\r\nHost: localhost\r\n\r\n\x00\x01garbage\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = site.connect();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert_eq!(answer.matches("Content-Type: ").count(), 3, "{answer}");
    let places = [
        "HTTP/1.1 200 OK\r\nContent-Type: image/svg",
        "HTTP/1.1 200 OK\r\nContent-Type: text/css",
        "HTTP/1.1 400",
    ]
    .map(|part| answer.find(part).unwrap_or(usize::MAX));
    assert!(
        places[0] < places[1] && places[1] < places[2] && places[2] != usize::MAX,
        "{places:?}"
    );
    // nothing of a refused head is taken as a body, and the other way round
    let smuggled = "POST /recording/delete HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 4\r\nContent-Length: 60\r\n\r\n{}\r\nGET /snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = site.ask(smuggled);
    assert_eq!(answer.status, 400);
    assert!(!answer.body.contains("HTTP/1.1"));
}

/// Asks until the answer is as `wanted`: the server notices begun and ended connections a moment later.
fn asked_until(site: &Site, wanted: impl Fn(&Answer) -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = site.ask(&get("/snapshot"));
        if wanted(&answer) {
            return;
        }
        assert!(Instant::now() < until, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
