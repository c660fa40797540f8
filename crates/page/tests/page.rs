//! The page over real sockets, with a server that the test makes up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod kit;

use std::{
    io::{Read as _, Write as _},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use coax_page::Limits;
use kit::{Answer, Fake, Site, TOKEN, get, post};
use serde_json::{Value, json};

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

#[test]
fn the_page_and_its_files_come_with_a_policy_that_forbids_other_hosts() {
    let site = Site::open(Fake::default(), None);
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.css", "text/css"),
        ("/page.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
        ("/favicon.ico", "image/svg+xml"),
    ] {
        let answer = site.ask(&get(path));
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            answer.field("content-type").unwrap().starts_with(kind),
            "{path}"
        );
        let policy = answer.field("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'")
                && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(
            !answer.body.contains("https://"),
            "{path} names another host"
        );
        let places = answer.body.matches("http://").count();
        assert_eq!(
            places,
            answer.body.matches("http://www.w3.org/2000/svg").count(),
            "{path}"
        );
        assert_eq!(
            answer.field("x-content-type-options").as_deref(),
            Some("nosniff")
        );
        assert_eq!(answer.field("cache-control").as_deref(), Some("no-store"));
    }
    let head = site.ask("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(
        head.field("content-length")
            .unwrap()
            .parse::<usize>()
            .unwrap()
            > 1000
    );
}

#[test]
fn a_snapshot_has_the_clients_and_hostile_names_stay_data() {
    let site = Site::open(Fake::default(), None);
    let object = json_of(&site.ask(&get("/snapshot")));
    assert_eq!(
        object["now"]["clients"][0]["system"],
        "<script>alert(1)</script>"
    );
    assert_eq!(object["now"]["server"]["name"], "FAKE");
    assert_eq!(object["past"]["1"], json!([[0, 0]]));
    let settings = json_of(&site.ask(&get("/configuration")));
    assert_eq!(settings["settings"][0]["parameter"], "deadtime");
    let day = json_of(&site.ask(&get("/history")));
    assert_eq!(
        (
            day["step"].as_u64(),
            day["clients"].as_array().unwrap().len()
        ),
        (Some(60), 1)
    );
}

#[test]
fn the_host_must_be_this_machine_so_that_no_other_site_can_be_it() {
    let site = Site::open(Fake::default(), None);
    let ask = |host: &str| {
        site.ask(&format!(
            "GET /snapshot HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
        .status
    };
    for own in [
        "127.0.0.1",
        "127.0.0.1:8139",
        "localhost:9000",
        "LOCALHOST.",
        "fake",
        "fake.local:8139",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert_eq!(ask(own), 200, "{own}");
    }
    for foreign in [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.2",
        "[::1]",
        "192.168.0.1",
        "xfake",
        "2130706433",
    ] {
        assert_eq!(ask(foreign), 421, "{foreign}");
    }
    let none = site.ask("GET /snapshot HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(none.status, 421);
    assert!(
        json_of(&none)["error"]
            .as_str()
            .unwrap()
            .contains("this machine")
    );
}

#[test]
fn changes_come_from_the_page_itself() {
    let site = Site::open(Fake::default(), None);
    let record = |fields: &str| site.ask(&post("/recording/delete", fields, "{}")).status;
    assert_eq!(record("Origin: http://localhost\r\n"), 202);
    assert_eq!(record("Sec-Fetch-Site: same-origin\r\n"), 202);
    for foreign in [
        "",
        "Origin: null\r\n",
        "Origin: http://evil.example\r\n",
        "Origin: http://localhost:1\r\n",
        "Origin: http://localhost\r\nSec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Site: none\r\n",
    ] {
        assert_eq!(record(foreign), 403, "{foreign}");
    }
    let get = site.ask(&get("/recording/delete"));
    assert_eq!(
        (get.status, get.field("allow").as_deref()),
        (405, Some("POST"))
    );
    let data = |site_: &str| {
        site.ask(&format!("GET /snapshot HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: {site_}\r\nConnection: close\r\n\r\n")).status
    };
    assert_eq!(
        (
            data("cross-site"),
            data("same-site"),
            data("none"),
            data("same-origin")
        ),
        (403, 403, 200, 200)
    );
    assert_eq!(
        site.ask(&post("/snapshot", "Origin: http://localhost\r\n", ""))
            .status,
        405
    );
}

#[test]
fn with_a_token_nothing_but_the_log_in_is_shown_without_it() {
    let site = Site::open(Fake::default(), Some(TOKEN));
    for path in [
        "/snapshot",
        "/events",
        "/history",
        "/configuration",
        "/metrics",
        "/recording/1.pcapng",
    ] {
        let answer = site.ask(&get(path));
        assert_eq!(answer.status, 401, "{path}");
        assert!(
            answer
                .field("www-authenticate")
                .unwrap()
                .starts_with("Bearer")
        );
        assert!(!answer.body.contains("FAKE"));
    }
    assert_eq!(
        site.ask(&post("/recording", "Origin: http://localhost\r\n", "{}"))
            .status,
        401
    );
    let page = site.ask(&get("/"));
    assert!(page.status == 401 && page.body.contains("needs a token"));
    let with = |fields: &str| {
        site.ask(&format!(
            "GET /snapshot HTTP/1.1\r\nHost: localhost\r\n{fields}\r\nConnection: close\r\n\r\n"
        ))
        .status
    };
    assert_eq!(with(&format!("Authorization: Bearer {TOKEN}")), 200);
    for wrong in [
        format!("Authorization: Bearer {TOKEN}x"),
        "Authorization: Bearer ".into(),
        format!("Authorization: Basic {TOKEN}"),
        format!("Cookie: coax-page={TOKEN}"),
    ] {
        assert_eq!(with(&wrong), 401, "{wrong}");
    }
    let log_in = |token: &str| {
        site.ask(&post(
            "/login",
            "Origin: http://localhost\r\n",
            &format!("token={token}"),
        ))
    };
    let wrong = log_in("0123456789abcdeg");
    assert!(
        wrong.status == 401 && wrong.body.contains("not the token"),
        "{wrong:?}"
    );
    assert!(
        site.notices()
            .iter()
            .any(|text| text.contains("wrong token")),
        "{:?}",
        site.notices()
    );
    assert_eq!(
        site.ask(&post(
            "/login",
            "Origin: http://evil.example\r\n",
            &format!("token={TOKEN}")
        ))
        .status,
        403
    );
    let right = log_in(&TOKEN.replace('0', "%30"));
    assert_eq!(
        (right.status, right.field("location").as_deref()),
        (303, Some("/"))
    );
    let cookie = right.field("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly")
            && cookie.contains("SameSite=Strict")
            && !cookie.contains(TOKEN),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(with(&format!("Cookie: other=1; {pair}")), 200);
}

#[test]
fn all_readers_get_the_same_text_and_the_server_is_looked_at_once() {
    let site = Site::open(Fake::default(), None);
    let mut readers: Vec<_> = (0..8).map(|_| site.events()).collect();
    let first: Vec<Vec<String>> = readers.iter_mut().map(|reader| reader.texts(4)).collect();
    let looks = site.fake.looks.load(Ordering::SeqCst);
    for texts in &first {
        let common = texts.iter().filter(|text| first[0].contains(text)).count();
        assert!(
            common >= 3,
            "{common} of {} texts are the same",
            texts.len()
        );
    }
    assert!(looks <= 8, "{looks} looks for 8 readers of 4 texts");
    drop(readers);
    std::thread::sleep(Duration::from_millis(300));
    let before = site.fake.looks.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        site.fake.looks.load(Ordering::SeqCst) <= before + 1,
        "nobody watches"
    );
}

#[test]
fn a_reader_that_reads_nothing_is_dropped_and_delays_nobody() {
    let fake = Fake::default();
    fake.padding.store(2_000_000, Ordering::SeqCst);
    let limits = Limits {
        stall: Duration::from_millis(700),
        ..kit::limits()
    };
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
        connections: 4,
        ..kit::limits()
    };
    let site = Site::open_with(Fake::default(), None, limits);
    let (one, two) = (site.events(), site.events());
    let refused = site.ask(&get("/events"));
    assert_eq!(
        (refused.status, refused.field("retry-after").as_deref()),
        (503, Some("10"))
    );
    let idle = [site.connect(), site.connect()];
    std::thread::sleep(Duration::from_millis(100));
    let refused = site.ask(&get("/snapshot"));
    assert!(
        refused.status == 503 && refused.body.contains("too many connections"),
        "{refused:?}"
    );
    drop((idle, one, two));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(site.ask(&get("/snapshot")).status, 200);
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
    let limits = Limits {
        head: Duration::from_millis(300),
        body: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        ..kit::limits()
    };
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
        (format!("DELETE / HTTP/1.1\r\n{host}\r\n"), 405),
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
    let statuses: Vec<&str> = answer.matches("HTTP/1.1 ").collect();
    assert_eq!(statuses.len(), 3, "{answer}");
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

#[test]
fn a_recording_is_one_at_a_time_downloadable_explained_and_deleted() {
    let limits = Limits {
        recording_kept: Duration::from_secs(2),
        ..kit::limits()
    };
    let site = Site::open_with(Fake::default(), None, limits);
    let record = |body: &str| site.ask(&post("/recording", "Origin: http://localhost\r\n", body));
    let state = || json_of(&site.ask(&get("/snapshot")))["now"]["recording"].clone();
    assert_eq!(state()["state"], "none");
    assert_eq!(record("{\"client\":1,\"seconds\":60}").status, 202);
    let begun = site.until(|| (state()["state"] == "recording").then(state));
    assert_eq!(begun["client"], 1);
    let second = record("{\"client\":2}");
    assert!(
        second.status == 409 && second.body.contains("under way"),
        "{second:?}"
    );
    assert_eq!(
        site.ask(&post(
            "/recording/end",
            "Origin: http://localhost\r\n",
            "{}"
        ))
        .status,
        202
    );
    let done = site.until(|| (state()["state"] == "done").then(state));
    let id = done["id"].as_u64().unwrap();
    assert_eq!(done["bytes"], 7);
    let capture = site.ask(&get(&format!("/recording/{id}.pcapng")));
    assert_eq!((capture.status, capture.body.as_str()), (200, "capture"));
    assert!(
        capture
            .field("content-disposition")
            .unwrap()
            .contains("attachment")
    );
    let page = site.ask(&get(&format!("/recording/{id}.html")));
    assert!(
        page.status == 200 && page.body.contains("explained 7 bytes"),
        "{page:?}"
    );
    let policy = page.field("content-security-policy").unwrap();
    assert!(
        policy.contains("sandbox allow-scripts") && !policy.contains("allow-same-origin"),
        "{policy}"
    );
    assert_eq!(
        site.ask(&get(&format!("/recording/{}.html", id + 1)))
            .status,
        404
    );
    site.until(|| (state()["state"] == "none").then_some(()));
    assert_eq!(
        site.ask(&get(&format!("/recording/{id}.pcapng"))).status,
        404
    );
    assert_eq!(
        site.fake.recordings.load(Ordering::SeqCst),
        0,
        "all recordings were ended"
    );
    // a recording that is deleted while it runs ends at once
    assert_eq!(record("{\"client\":null}").status, 202);
    assert_eq!(
        site.ask(&post(
            "/recording/delete",
            "Origin: http://localhost\r\n",
            "{}"
        ))
        .status,
        202
    );
    site.until(|| (site.fake.recordings.load(Ordering::SeqCst) == 0).then_some(()));
    assert_eq!(record("{\"client\":null}").status, 202);
}

#[test]
fn metrics_are_open_metrics_and_a_server_that_hangs_at_a_disk_is_shown_all_the_same() {
    let fake = Fake::default();
    fake.disk_hangs.store(true, Ordering::SeqCst);
    let site = Site::open(fake, None);
    for _ in 0..3 {
        let answer = site.ask(&get("/metrics"));
        assert!(
            answer
                .field("content-type")
                .unwrap()
                .starts_with("application/openmetrics-text")
        );
        assert!(answer.body.ends_with("# EOF\n") && answer.body.contains("coax_clients{system="));
        assert!(
            !answer.body.contains("coax_share_free_bytes{"),
            "the disk hangs"
        );
        std::thread::sleep(Duration::from_millis(150));
    }
    assert_eq!(
        site.fake.disks_asked.load(Ordering::SeqCst),
        1,
        "a disk that hangs is asked once"
    );
}

#[test]
fn a_server_that_takes_long_to_look_at_is_looked_at_by_one_thread() {
    let fake = Fake::default();
    fake.look_ms.store(400, Ordering::SeqCst);
    let site = Site::open(fake, None);
    let asking: Vec<_> = (0..20)
        .map(|_| {
            let address = site.address;
            std::thread::spawn(move || kit::ask_at(address, &get("/snapshot")).status)
        })
        .collect();
    assert!(asking.into_iter().all(|one| one.join().unwrap() == 200));
    assert_eq!(site.fake.at_once.load(Ordering::SeqCst), 1);
}

#[test]
fn the_page_ends_with_the_server() {
    let site = Site::open(Fake::default(), None);
    let mut reader = site.events();
    reader.texts(1);
    site.end();
    let until = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(site.address).is_ok() {
        assert!(Instant::now() < until, "the page still accepts");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(reader.is_over());
}
