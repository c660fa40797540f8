//! `coax status` asks a running server.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    process::Output,
};

use serde_json::Value;

use crate::site::{Copying, Server, Site, coax, content};

fn start(site: &Site) -> Server {
    let socket = site.path("status");
    site.configure(&format!("coax:status socket = {}\n", socket.display()), "");
    Server::start(site)
}

fn status(site: &Site, further: &[&str]) -> Output {
    let socket = site.path("status");
    let socket = ["--socket", socket.to_str().unwrap()];
    coax(&[&["status"], &socket[..], further].concat())
}

fn object(site: &Site) -> Value {
    let done = status(site, &["--json"]);
    assert!(done.status.success(), "{done:?}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The status once `is` says so.
fn until(site: &Site, is: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..200 {
        let object = object(site);
        if is(&object) {
            return object;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("never; at last {}", object(site));
}

/// The answer to a raw question.
fn answer(site: &Site, question: &[u8]) -> Value {
    let mut stream = UnixStream::connect(site.path("status")).unwrap();
    stream.write_all(question).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn clients_and_open_files_are_shown_while_a_client_copies() {
    let site = Site::new();
    let server = start(&site);
    let idle = object(&site);
    assert_eq!(
        (idle["state"].as_str(), idle["files_total"].as_u64()),
        (Some("serving"), Some(0))
    );
    assert_eq!(idle["clients"].as_array().unwrap().len(), 0);
    assert!(idle["seconds"].as_u64() < Some(3600), "{idle}");
    let bytes = content(5, 2_000_000);
    let (first, rest) = bytes.split_at(1_000_000);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), first);
    let now = until(&site, |now| {
        now["files_total"] == 1 && now["clients"][0]["bytes_in"].as_u64() > Some(500_000)
    });
    let client = &now["clients"][0];
    assert_eq!(client["transport"], "direct");
    assert!(
        client["dialect"].is_string() && client["system"] != "",
        "{client}"
    );
    assert!(client["requests"].as_u64() > Some(10), "{client}");
    let file = &now["files"][0];
    assert_eq!(file["share"], "DATA");
    // a copy has a temporary name until it is complete
    let path = file["path"].as_str().unwrap();
    assert_eq!(file["writes"], true);
    let text = status(&site, &[]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("serving for") && text.contains(path),
        "{text}"
    );
    copy.finish(rest);
    until(&site, |now| now["clients"].as_array().unwrap().is_empty());
    server.stop();
}

#[test]
fn a_copy_is_shown_with_what_its_time_was_spent_on() {
    let site = Site::new();
    let server = start(&site);
    let bytes = content(5, 2_000_000);
    let (first, rest) = bytes.split_at(1_500_000);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), first);
    // the client waits for its pipe
    let now = until(&site, |now| {
        now["clients"][0]["account"]["copy"]["bytes"].as_u64() > Some(1_000_000)
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    copy.finish(rest);
    let account = &now["clients"][0]["account"];
    assert_eq!(account["copy"]["direction"], "to-server");
    let parts = account["copy"]["shares"]["us"].as_object().unwrap();
    let sum: u64 = parts.values().map(|us| us.as_u64().unwrap()).sum();
    let wall = account["copy"]["wall_us"].as_u64().unwrap();
    assert!(sum <= wall && wall - sum <= 15, "{account}");
    assert!(account["seconds"]["most"].is_string(), "{account}");
    server.stop();
}

#[test]
fn a_client_can_be_disconnected_and_another_number_is_refused() {
    let site = Site::new();
    let mut server = start(&site);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), &content(5, 500_000));
    let now = until(&site, |now| now["files_total"] == 1);
    let number = now["clients"][0]["client"].to_string();
    let wrong = status(&site, &["kick", "4711"]);
    assert_eq!(wrong.status.code(), Some(1));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(said, "error: no client 4711 is connected\n");
    let done = status(&site, &["kick", &number]);
    assert!(done.status.success(), "{done:?}");
    server.notice("disconnected by 'coax status kick'");
    until(&site, |now| now["files_total"] == 0);
    let mut child = copy.0;
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success(), "the copy must fail");
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}

#[test]
fn an_open_file_can_be_closed_by_its_path_and_by_its_number() {
    let site = Site::new();
    let mut server = start(&site);
    for by_number in [false, true] {
        let copy = Copying::begin(&server.url("DATA/slow.bin"), &content(5, 500_000));
        let now = until(&site, |now| now["files_total"] == 1);
        let file = &now["files"][0];
        let path = format!("data\\{}", file["path"].as_str().unwrap());
        let name = if by_number {
            file["id"].to_string()
        } else {
            path
        };
        let unlocked = status(&site, &["unlock", &name]);
        let said = String::from_utf8_lossy(&unlocked.stderr).into_owned();
        assert!(said.contains("holds no locks"), "{said}");
        let done = status(&site, &["close", &name]);
        assert!(done.status.success(), "{done:?}");
        server.notice("an open file was closed by 'coax status close'");
        assert_eq!(object(&site)["files_total"], 0);
        let mut child = copy.0;
        drop(child.stdin.take());
        assert!(!child.wait().unwrap().success(), "the copy must fail");
    }
    for (name, wanted) in [
        ("DATA/none", "there is no open file DATA/none"),
        ("4711", "there is no open file 4711"),
    ] {
        for verb in ["close", "unlock"] {
            let wrong = status(&site, &[verb, name]);
            assert_eq!(wrong.status.code(), Some(1));
            let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
            assert!(said.contains(wanted), "{said}");
        }
    }
    server.stop();
}

#[test]
fn a_client_is_disconnected_by_its_address() {
    let site = Site::new();
    let mut server = start(&site);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), &content(5, 500_000));
    until(&site, |now| now["files_total"] == 1);
    let wrong = status(&site, &["kick", "127.0.0.77"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("there is no client 127.0.0.77"), "{said}");
    let done = status(&site, &["kick", "127.0.0.1"]);
    assert!(done.status.success(), "{done:?}");
    server.notice("disconnected by 'coax status kick'");
    let mut child = copy.0;
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success(), "the copy must fail");
    server.stop();
}

#[test]
fn questions_that_make_no_sense_are_refused_and_cost_nothing() {
    let site = Site::new();
    let server = start(&site);
    for question in [
        &b"rubbish\n"[..],
        b"{}\n",
        b"{\"ask\":\"kick\"}\n",
        &[b'x'; 5000],
    ] {
        assert_eq!(answer(&site, question)["answer"], "refused");
    }
    drop(UnixStream::connect(site.path("status")).unwrap());
    assert_eq!(answer(&site, b"{\"ask\":\"status\"}\n")["answer"], "status");
    let mode = std::fs::metadata(site.path("status"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    server.stop();
    let gone = status(&site, &[]);
    assert_eq!(gone.status.code(), Some(1));
    let said = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(
        said.contains("no server answers at") && said.contains("--socket"),
        "{said}"
    );
}

#[test]
fn a_second_server_at_the_same_socket_is_refused_and_a_dead_ones_socket_is_taken() {
    let site = Site::new();
    let mut first = start(&site);
    let conf = site.conf();
    let arguments = [
        "serve",
        "--direct",
        "127.0.0.1:0",
        "--config",
        conf.to_str().unwrap(),
    ];
    let second = coax(&arguments);
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("another server answers at"), "{said}");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let third = Server::start(&site);
    assert_eq!(object(&site)["process"], third.child.id());
    third.stop();
}

#[test]
fn after_a_takeover_the_new_server_answers() {
    let site = Site::new();
    let socket = site.path("status");
    site.configure(&format!("coax:status socket = {}\n", socket.display()), "");
    let mut old = Server::replaceable(&site, &[]);
    let new = Server::replaceable(&site, &["--takeover"]);
    old.notice("a new process accepts clients now");
    assert_eq!(object(&site)["process"], new.child.id());
    old.ended();
    assert_eq!(object(&site)["process"], new.child.id());
    new.stop();
}

#[test]
fn the_last_day_is_kept_across_restarts_and_is_refused_without_a_state_folder() {
    let site = Site::new();
    let server = start(&site);
    let refused = status(&site, &["--history"]);
    assert!(!refused.status.success());
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("'coax:state directory'"), "{text}");
    drop(server);
    let (socket, state) = (site.path("status"), site.path("state"));
    let (socket, state) = (socket.display(), state.display());
    let global = format!("coax:status socket = {socket}\ncoax:state directory = {state}\n");
    site.configure(&global, "");
    let bytes = content(7, 300_000);
    for name in ["one.bin", "two.bin"] {
        let server = Server::start(&site);
        let copy = Copying::begin(&server.url(&format!("DATA/{name}")), &bytes);
        copy.finish(&[]);
        // the end writes the minute that is not over
        server.stop();
    }
    let _server = Server::start(&site);
    let day = status(&site, &["--history", "--json"]);
    assert!(day.status.success(), "{day:?}");
    let day: Value = serde_json::from_slice(&day.stdout).unwrap();
    let minutes = day["minutes"].as_array().unwrap();
    let sum = |list: &str, field: &str| -> u64 {
        let rows = minutes
            .iter()
            .flat_map(|minute| minute[list].as_array().unwrap());
        rows.map(|row| row[field].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("shares", "written"), 600_000, "{day}");
    assert!(sum("clients", "received") > 600_000, "{day}");
    assert_eq!(minutes[0]["clients"][0]["address"], "127.0.0.1");
    let text = String::from_utf8(status(&site, &["--history"]).stdout).unwrap();
    assert!(text.contains("DATA") && text.contains("600.0 kB"), "{text}");
}
