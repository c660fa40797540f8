//! The page over real sockets, with a server that the test makes up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod kit;
#[path = "page/limits.rs"]
mod limits;

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use coax_page::Limits;
use kit::{Answer, Fake, Site, TOKEN, get, post};
use serde_json::{Value, json};

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// A change that the page itself asks for.
fn change(site: &Site, path: &str, body: &str) -> Answer {
    site.ask(&post(path, "Origin: http://localhost\r\n", body))
}

fn snapshot_status(site: &Site, fields: &str) -> u16 {
    site.ask(&format!(
        "GET /snapshot HTTP/1.1\r\nHost: localhost\r\n{fields}\r\nConnection: close\r\n\r\n"
    ))
    .status
}

fn recording(site: &Site) -> Value {
    json_of(&site.ask(&get("/snapshot")))["now"]["recording"].clone()
}

/// The recording as soon as it has the state.
fn until_recording(site: &Site, state: &str) -> Value {
    site.until(|| Some(recording(site)).filter(|recording| recording["state"] == state))
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
    assert_eq!(none.status, 400);
    assert!(json_of(&none)["error"].as_str().unwrap().contains("Host"));
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
    assert_eq!(change(&site, "/recording", "{}").status, 401);
    let page = site.ask(&get("/"));
    assert!(page.status == 401 && page.body.contains("needs a token"));
}

#[test]
fn only_the_whole_token_as_a_bearer_opens_the_data() {
    let site = Site::open(Fake::default(), Some(TOKEN));
    let with = |fields: &str| snapshot_status(&site, fields);
    assert_eq!(with(&format!("Authorization: Bearer {TOKEN}")), 200);
    for wrong in [
        format!("Authorization: Bearer {TOKEN}x"),
        "Authorization: Bearer ".into(),
        format!("Authorization: Basic {TOKEN}"),
        format!("Cookie: coax-page={TOKEN}"),
    ] {
        assert_eq!(with(&wrong), 401, "{wrong}");
    }
}

#[test]
fn a_log_in_gives_a_cookie_that_opens_the_data_and_is_not_the_token() {
    let site = Site::open(Fake::default(), Some(TOKEN));
    let token = TOKEN.replace('0', "%30");
    let answer = change(&site, "/login", &format!("token={token}"));
    assert_eq!(
        (answer.status, answer.field("location").as_deref()),
        (303, Some("/"))
    );
    let cookie = answer.field("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly")
            && cookie.contains("SameSite=Strict")
            && !cookie.contains(TOKEN),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    let with_cookie = format!("Cookie: other=1; {pair}");
    assert_eq!(snapshot_status(&site, &with_cookie), 200);
}

#[test]
fn a_log_in_with_a_wrong_token_or_from_another_site_is_refused() {
    let site = Site::open(Fake::default(), Some(TOKEN));
    let wrong = change(&site, "/login", "token=0123456789abcdeg");
    assert!(
        wrong.status == 401 && wrong.body.contains("not the token"),
        "{wrong:?}"
    );
    let notices = site.notices();
    assert!(
        notices.iter().any(|text| text.contains("wrong token")),
        "{notices:?}"
    );
    let foreign = "Origin: http://evil.example\r\n";
    let foreign = site.ask(&post("/login", foreign, &format!("token={TOKEN}")));
    assert_eq!(foreign.status, 403);
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
fn a_recording_can_be_downloaded_and_explained_until_its_time_is_over() {
    let limits = Limits {
        recording_kept: Duration::from_secs(2),
        ..kit::limits()
    };
    let site = Site::open_with(Fake::default(), None, limits);
    assert_eq!(recording(&site)["state"], "none");
    assert_eq!(change(&site, "/recording", "{\"client\":1}").status, 202);
    until_recording(&site, "recording");
    assert_eq!(change(&site, "/recording/end", "{}").status, 202);
    let done = until_recording(&site, "done");
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
    let other = format!("/recording/{}.html", id + 1);
    assert_eq!(site.ask(&get(&other)).status, 404);
    until_recording(&site, "none");
    let late = format!("/recording/{id}.pcapng");
    assert_eq!(site.ask(&get(&late)).status, 404);
    assert_eq!(
        site.fake.recordings.load(Ordering::SeqCst),
        0,
        "all recordings were ended"
    );
}

#[test]
fn a_second_recording_is_refused_while_one_runs() {
    let site = Site::open(Fake::default(), None);
    let record = |body: &str| change(&site, "/recording", body);
    assert_eq!(record("{\"client\":1,\"seconds\":60}").status, 202);
    assert_eq!(until_recording(&site, "recording")["client"], 1);
    let second = record("{\"client\":2}");
    assert!(
        second.status == 409 && second.body.contains("under way"),
        "{second:?}"
    );
}

#[test]
fn a_recording_that_is_deleted_while_it_runs_ends_at_once() {
    let site = Site::open(Fake::default(), None);
    let record = || change(&site, "/recording", "{\"client\":null}").status;
    assert_eq!(record(), 202);
    assert_eq!(change(&site, "/recording/delete", "{}").status, 202);
    site.until(|| (site.fake.recordings.load(Ordering::SeqCst) == 0).then_some(()));
    assert_eq!(record(), 202);
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
