//! A new server process takes over from a running one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::Command,
    sync::atomic::AtomicBool,
};

use crate::site::{AtEnd, Copying, Server, Site, coax, content, copy_until};

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

fn assert_serves(server: &Server) {
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
}

/// A connection to the takeover socket that has sent a line, and the line that came back.
fn say_hello(site: &Site, hello: &str) -> (UnixStream, String) {
    let mut stream = UnixStream::connect(site.path("takeover")).unwrap();
    stream.write_all(hello.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream.try_clone().unwrap())
        .read_line(&mut answer)
        .unwrap();
    (stream, answer)
}

/// The error of a server that cannot start with the site's configuration and these further arguments.
fn start_error(site: &Site, further: &[&str]) -> String {
    let conf = site.conf();
    let arguments = [&["serve", "--config", conf.to_str().unwrap()], further].concat();
    let done = coax(&arguments);
    assert!(!done.status.success());
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn a_takeover_that_breaks_off_or_asks_for_nonsense_leaves_the_old_server_serving() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let (stream, answer) = say_hello(&site, "{\"hello\":{\"version\":99}}\n");
    assert!(
        answer.contains("refused") && answer.contains("version 99"),
        "{answer}"
    );
    drop(stream);
    assert!(server.notice("takeover").contains("keeps running"));
    let (stream, answer) = say_hello(&site, "{\"hello\":{\"version\":1}}\n");
    assert!(
        answer.contains("offer") && answer.contains("direct"),
        "{answer}"
    );
    drop(stream);
    server.notice("ended before it could serve");
    let (mut stream, _) = say_hello(&site, "{\"hello\":{\"version\":1}}\n");
    stream.write_all(b"\"nonsense\"\n").unwrap();
    assert!(server.notice("takeover").contains("keeps running"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("refused"), "{rest}");
    let (_, answer) = say_hello(&site, "GET / HTTP/1.0\n");
    assert!(answer.contains("no request"), "{answer}");
    assert_serves(&server);
    server.stop();
}

#[test]
fn a_new_server_that_cannot_start_leaves_the_old_server_serving() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let socket = format!("coax:takeover socket = {}", site.path("takeover").display());
    let takeover = |address: &str, socket: &[&str]| {
        start_error(
            &site,
            &[&["--takeover", "--direct", address], socket].concat(),
        )
    };
    site.configure("", "[NEW]\npath = /no/such/folder\n");
    let error = takeover(&server.address, &["--option", &socket]);
    assert!(error.contains("/no/such/folder"), "{error}");
    server.notice("ended before it could serve");
    site.configure("", "");
    let error = takeover("127.0.0.1:0", &[]);
    assert!(error.contains("coax:takeover socket"), "{error}");
    let nowhere = "coax:takeover socket = /no/such/socket";
    let error = takeover("127.0.0.1:0", &["--option", nowhere]);
    assert!(error.contains("no server answers"), "{error}");
    let error = start_error(&site, &["--direct", "127.0.0.1:0", "--option", &socket]);
    assert!(error.contains("another server listens"), "{error}");
    assert_serves(&server);
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
