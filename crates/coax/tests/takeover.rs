//! A new server process takes over from a running one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod site;

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::Command,
    sync::atomic::AtomicBool,
};

use site::{AtEnd, Copying, Server, Site, coax, content, copy_until};

#[test]
fn a_takeover_cuts_no_copy_and_refuses_no_client() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let bytes = content(9, 2_000_000);
    let (first, rest) = bytes.split_at(1_000_000);
    let slow = Copying::begin(&server.url("DATA/slow.bin"), first);
    server.event("client");
    let (ended, url) = (AtomicBool::new(false), server.url("DATA"));
    let address = server.address.clone();
    let mut olds = Vec::new();
    std::thread::scope(|scope| {
        let _end = AtEnd(&ended);
        for seed in 0..2 {
            let (ended, url) = (&ended, &url);
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                copy_until(ended, url, folder.path(), seed)
            });
        }
        for _ in 0..4 {
            let new = Server::replaceable(&site, &["--takeover"]);
            assert_eq!(new.address, address);
            server.notice("a new process accepts clients now");
            olds.push(std::mem::replace(&mut server, new));
        }
    });
    slow.finish(rest);
    assert!(std::fs::read(site.path("data/slow.bin")).unwrap() == bytes);
    for old in olds {
        old.ended();
    }
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}

#[test]
fn a_takeover_that_fails_at_any_step_leaves_the_old_server_serving() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let serves = |server: &Server| assert!(coax(&["ls", &server.url("DATA")]).status.success());
    let path = site.path("takeover");
    let ask = |hello: &[u8]| {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(hello).unwrap();
        let mut answer = String::new();
        BufReader::new(stream.try_clone().unwrap())
            .read_line(&mut answer)
            .unwrap();
        (stream, answer)
    };
    let (stream, answer) = ask(b"{\"hello\":{\"version\":99}}\n");
    assert!(
        answer.contains("refused") && answer.contains("version 99"),
        "{answer}"
    );
    drop(stream);
    assert!(server.notice("takeover").contains("serves on"));
    let (stream, answer) = ask(b"{\"hello\":{\"version\":1}}\n");
    assert!(
        answer.contains("offer") && answer.contains("direct"),
        "{answer}"
    );
    drop(stream);
    server.notice("ended before it could serve");
    let (mut stream, _) = ask(b"{\"hello\":{\"version\":1}}\n");
    stream.write_all(b"\"nonsense\"\n").unwrap();
    assert!(server.notice("takeover").contains("serves on"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("refused"), "{rest}");
    let (_, answer) = ask(b"GET / HTTP/1.0\n");
    assert!(answer.contains("no request"), "{answer}");
    serves(&server);
    // A new server that cannot start.
    site.configure("", "[NEW]\npath = /no/such/folder\n");
    let socket = format!("coax:takeover socket = {}", path.display());
    let conf = site.conf();
    let run = |further: &[&str]| {
        let arguments = [
            &["serve", "--takeover", "--config", conf.to_str().unwrap()],
            further,
        ]
        .concat();
        let done = coax(&arguments);
        assert!(!done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let error = run(&["--direct", &server.address, "--option", &socket]);
    assert!(error.contains("/no/such/folder"), "{error}");
    server.notice("ended before it could serve");
    site.configure("", "");
    let error = run(&["--direct", "127.0.0.1:0"]);
    assert!(error.contains("coax:takeover socket"), "{error}");
    let error = run(&[
        "--direct",
        "127.0.0.1:0",
        "--option",
        "coax:takeover socket = /no/such/socket",
    ]);
    assert!(error.contains("no server answers"), "{error}");
    // A second server at the same socket, without a takeover.
    let done = coax(&[
        "serve",
        "--direct",
        "127.0.0.1:0",
        "--option",
        &socket,
        "--config",
        conf.to_str().unwrap(),
    ]);
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(error.contains("another server listens"), "{error}");
    serves(&server);
    server.stop();
}

#[test]
fn another_users_process_gets_no_sockets() {
    if !rustix::process::geteuid().is_root() {
        return println!("SKIPPED: only root can become another user");
    }
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let path = site.path("takeover");
    for (path, mode) in [(path.as_path(), 0o666), (site.0.path(), 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.recv(999).decode())";
    let done = Command::new("python3")
        .args(["-c", script])
        .arg(&path)
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        answer.contains("refused") && answer.contains("user 65534"),
        "{done:?}"
    );
    assert!(server.notice("takeover").contains("user 65534"));
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}
