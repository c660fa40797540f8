//! Isolation of clients from each other: clocks, budgets, time limits.

use coax_wire::time::Span;

use super::*;

const LANMAN: &[&str] = &["PC NETWORK PROGRAM 1.0", "LANMAN1.0"];

impl Client {
    /// Opens FILE.TXT for reading and writing, all shared.
    fn open_file(&mut self) -> [u8; 2] {
        let mut open = request(0x02, &[0x42, 0, 0x16, 0], b"\x04\\FILE.TXT\0");
        open[24..26].copy_from_slice(&self.tid);
        self.send(&open);
        let reply = self.receive();
        assert_eq!((reply[4], reply[5]), (0x02, 0), "{reply:x?}");
        [reply[33], reply[34]]
    }

    /// Asks to lock the first ten bytes, and to wait for it.
    fn ask_lock(&mut self, fid: [u8; 2], timeout_ms: u32) {
        let t = timeout_ms.to_le_bytes();
        let words = [
            0xff, 0, 0, 0, fid[0], fid[1], 0, 0, t[0], t[1], t[2], t[3], 0, 0, 1, 0,
        ];
        let mut lock = request(0x24, &words, &[1, 0, 0, 0, 0, 0, 10, 0, 0, 0]);
        lock[24..26].copy_from_slice(&self.tid);
        self.send(&lock);
    }

    fn use_the_share_as_lanman(&mut self) {
        assert_eq!(self.negotiate(LANMAN), 1);
        self.send(&request(0x70, &[], b"\x04DATA\0\x04\0\x04A:\0"));
        let reply = self.receive();
        assert_eq!((reply[4], reply[5]), (0x70, 0), "{reply:x?}");
        self.tid = [reply[35], reply[36]];
    }
}

#[test]
fn a_wall_clock_that_is_stepped_back_postpones_no_deadline() {
    let server = Fixture::start("security = share");
    std::fs::write(server.folder.path().join("FILE.TXT"), b"0123456789").unwrap();
    let (mut holder, mut waiter) = (server.direct(), server.direct());
    for client in [&mut holder, &mut waiter] {
        client.use_the_share_as_lanman();
    }
    let (held, wanted) = (holder.open_file(), waiter.open_file());
    holder.ask_lock(held, 0);
    assert_eq!(holder.receive()[5], 0);
    waiter.ask_lock(wanted, 700);
    std::thread::sleep(Duration::from_millis(100));
    let hour = 3_600_000_000_000;
    let host = &server.running.host;
    host.follow_wall_clock(coax_clock::wall_ns() - hour);
    let reply = waiter.receive();
    assert_eq!(
        (reply[4], reply[5]),
        (0x24, 1),
        "the request must still wait: {reply:x?}"
    );
}

/// The default tuning with shorter periods for tests.
fn hasty() -> Tuning {
    Tuning {
        threads: 8,
        logon_timeout: Span::from_millis(300),
        folder_period: Duration::from_millis(50),
    }
}

#[test]
fn only_clients_that_do_not_log_on_are_disconnected_with_a_reason() {
    let server = Fixture::tuned("security = share", hasty(), |_| {});
    let mut known = server.direct();
    known.use_the_share();
    let mut silent = server.direct();
    let mut negotiated = server.direct();
    negotiated.negotiate(CORE);
    let mut trickles = server.direct();
    trickles.stream.write_all(b"\x00\x00").unwrap();
    for client in [&mut silent, &mut negotiated, &mut trickles] {
        assert!(client.is_closed());
    }
    for _ in 0..3 {
        assert!(server.disconnected().contains("did not log on within"));
    }
    known.echo(b"still served");
}

#[test]
fn a_client_that_never_pauses_is_also_disconnected_if_it_does_not_log_on() {
    let server = Fixture::tuned("", hasty(), |_| {});
    let mut client = server.direct();
    client.negotiate(CORE);
    let echo = request(0x2b, &[1, 0], b"busy");
    let framed = [&[0, 0, 0, echo.len() as u8][..], &echo].concat();
    let until = Instant::now() + LONG;
    while client.stream.write_all(&framed).is_ok()
        && client.stream.read(&mut [0; 64]).is_ok_and(|n| n > 0)
    {
        assert!(Instant::now() < until, "the client is served without end");
    }
    assert!(server.disconnected().contains("did not log on within"));
}

#[test]
fn a_log_on_that_the_server_delays_is_answered_even_after_the_time_limit() {
    let server = Fixture::tuned("", hasty(), |_| {});
    let log_on = || {
        let mut words = [0_u8; 20];
        words[0] = 0xff;
        words[4..8].copy_from_slice(&[0xff, 0xff, 50, 0]);
        words[14] = 24;
        request(0x73, &words, &[&[7; 24][..], b"NOBODY\0\0\0\0"].concat())
    };
    let mut first = server.direct();
    first.negotiate(LANMAN);
    for _ in 0..4 {
        first.send(&log_on());
        assert_ne!(first.receive()[5], 0, "an unknown user");
    }
    // The next log-on of this address waits 1 s, longer than a silent client may stay.
    let mut second = server.direct();
    second.negotiate(LANMAN);
    second.send(&log_on());
    let reply = second.receive();
    assert_eq!((reply[4], reply[5] != 0), (0x73, true), "{reply:x?}");
}

#[test]
fn a_tree_copy_does_not_follow_links_to_the_folders_around_it() {
    let server = Fixture::start("security = share");
    let folder = server.folder.path();
    std::fs::create_dir_all(folder.join("LOOP/IN")).unwrap();
    std::fs::write(folder.join("LOOP/IN/FILE.TXT"), b"copied").unwrap();
    for link in ["LOOP/A", "LOOP/B", "LOOP/IN/UP"] {
        let to = if link.ends_with("UP") { ".." } else { "." };
        std::os::unix::fs::symlink(to, folder.join(link)).unwrap();
    }
    let mut client = server.direct();
    client.use_the_share_as_lanman();
    let mut copy = request(0x29, &[0xff, 0xff, 0x10, 0, 0x20, 0], b"LOOP\0OUT\0");
    copy[24..26].copy_from_slice(&client.tid);
    client.send(&copy);
    let reply = client.receive();
    assert_eq!((reply[4], reply[5]), (0x29, 0), "{reply:x?}");
    let copied = std::fs::read(folder.join("OUT/IN/FILE.TXT")).unwrap();
    assert_eq!(copied, b"copied");
    let names = |path: &str| std::fs::read_dir(folder.join(path)).unwrap().count();
    assert_eq!((names("OUT"), names("OUT/IN")), (1, 1));
}

#[test]
fn a_client_beyond_the_limit_receives_an_smb_error() {
    let server = Fixture::start("max smbd processes = 1\nsecurity = share");
    let mut first = server.direct();
    first.use_the_share();
    let mut nbt = server.nbt();
    nbt.stream
        .write_all(&session_request("ATTIC", "DOSBOX"))
        .unwrap();
    let mut negative = [0; 5];
    nbt.stream.read_exact(&mut negative).unwrap();
    assert_eq!(negative, [0x83, 0, 0, 1, 0x83], "insufficient resources");
    assert!(nbt.is_closed());
    let mut direct = server.direct();
    direct.send(&request(0x72, &[], b"\x02PC NETWORK PROGRAM 1.0\0"));
    let reply = direct.receive();
    // ERRDOS 71: no more connections are accepted.
    assert_eq!((reply[4], reply[5], reply[7]), (0x72, 1, 71), "{reply:x?}");
    assert!(direct.is_closed());
    let settings = |line: &Line| match line {
        Line::Refused { setting, .. } => setting.clone(),
        _ => None,
    };
    assert_eq!(server.line(settings), "max smbd processes");
    first.echo(b"undisturbed");
}

#[test]
fn clients_of_one_address_that_send_nothing_do_not_fill_the_server() {
    let server = Fixture::start("max smbd processes = 50\nsecurity = share");
    let silent: Vec<Client> = (0..50).map(|_| server.direct()).collect();
    let refused = |line: &Line| match line {
        Line::Refused { why, .. } => Some(why.clone()),
        _ => None,
    };
    assert!(server.line(refused).contains("have not logged on"));
    let target = server.running.bound().direct[0];
    let mut other = Client::connect_from("127.0.0.2", target);
    other.use_the_share();
    other.echo(b"let in");
    drop(silent);
}

#[test]
fn resources_of_clients_are_freed_when_they_disconnect() {
    let server = Fixture::start("security = share");
    std::fs::write(server.folder.path().join("FILE.TXT"), b"0123456789").unwrap();
    for _ in 0..20 {
        let mut client = server.direct();
        client.use_the_share_as_lanman();
        let fid = client.open_file();
        // The server may still hold the previous client's lock until it sees that client's disconnect.
        client.ask_lock(fid, 20_000);
        assert_eq!(client.receive()[5], 0);
        // A message that stays incomplete.
        client
            .stream
            .write_all(b"\x00\x00\x10\x00\xffSMB\x2b")
            .unwrap();
    }
    for _ in 0..20 {
        server.disconnected();
    }
    let host = &server.running.host;
    let held = || {
        use coax_server::budget::Resource::{Locks, Memory, Opens};
        host.server()
            .locked(|tables| [Opens, Locks, Memory].map(|which| tables.total().get(which)))
    };
    // The periodic folder check also takes a pass.
    let until = Instant::now() + LONG;
    while held() != [0, 0, 0] || host.lanes.inside() > 0 {
        assert!(
            Instant::now() < until,
            "bytes in use: {:?}, passes: {}",
            held(),
            host.lanes.inside()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_share_whose_folder_is_removed_is_reported_and_served_again_when_it_is_back() {
    let server = Fixture::tuned("security = share", hasty(), |_| {});
    let path = server.folder.path().to_owned();
    let notice = |about: &str| {
        server.line(|line| match line {
            Line::Notice { text } if text.contains(about) => Some(text.clone()),
            _ => None,
        })
    };
    let mut client = server.direct();
    client.use_the_share();
    std::fs::remove_dir(&path).unwrap();
    assert!(notice("is gone").contains("share DATA"));
    client.ask_open("\\FILE.TXT");
    assert_ne!(client.receive()[5], 0);
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("FILE.TXT"), b"back").unwrap();
    notice("is there again");
    client.ask_open("\\FILE.TXT");
    assert_eq!(client.receive()[5], 0);
}

#[test]
fn a_second_server_of_the_same_folder_reports_it() {
    let server = Fixture::tuned("", hasty(), |_| {});
    let path = server.folder.path().display().to_string();
    let mut settings =
        load_text("test", &format!("[COPY]\npath = {path}\nread only = no\n")).settings;
    let anywhere = coax_smbconf::settings::Listener::exactly("127.0.0.1:0".parse().unwrap());
    settings.listen = coax_smbconf::settings::Listeners {
        nbt: Vec::new(),
        direct: vec![anywhere],
        names: None,
        netbeui: Vec::new(),
        ipx: Vec::new(),
    };
    // The server's own claim must exist first.
    let claimed = || {
        let other = coax_disk::DiskFs::new(path.as_ref(), Default::default()).unwrap();
        matches!(other.claim(true), coax_disk::Claim::Theirs)
    };
    let until = Instant::now() + LONG;
    while !claimed() {
        assert!(
            Instant::now() < until,
            "the first server must not claim names"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let (tell, told) = channel();
    let reporter = Reporter::to(move |line| {
        if let Told::Line(Line::Notice { text }, _) = line {
            let _ = tell.send(text);
        }
    })
    .unwrap();
    let built = build::server(&settings, &mut Vec::new()).unwrap();
    let second = start(built, settings, reporter, hasty());
    let text = told.recv_timeout(LONG).unwrap();
    assert!(
        text.contains("share COPY: another server") && text.contains(&path),
        "{text}"
    );
    second.stop();
}
