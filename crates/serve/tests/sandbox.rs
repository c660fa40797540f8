//! Tests what code in a serving process can reach, from within. It uses a separate process, because a process cannot
//! leave the sandbox.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
};

use coax_serve::sandbox::{Policy, Rights, enter};

fn main() {
    let share = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(share.path().join("SUB")).unwrap();
    fs::write(outside.path().join("secret"), b"secret").unwrap();
    let secret = outside.path().join("secret");
    std::os::unix::fs::symlink(&secret, share.path().join("link")).unwrap();

    let mut policy = Policy::default();
    policy.allow([share.path()].into_iter(), Rights::Write);
    let report = enter(&policy);
    println!("{report}");
    let unlimited = |what: &str| report.missing.iter().any(|missing| missing.contains(what));

    the_share_is_usable(share.path());
    the_network_and_threads_are_usable();
    if unlimited("files") {
        println!("SKIPPED: this kernel limits no files");
    } else {
        files_outside_are_out_of_reach(share.path(), outside.path());
        std::thread::scope(|scope| {
            scope.spawn(|| files_outside_are_out_of_reach(share.path(), outside.path()));
        });
    }
    if unlimited("system calls") {
        println!("SKIPPED: this kernel limits no system calls");
    } else {
        no_program_can_be_started();
    }
    println!("test result: ok");
    // The sandboxed process can no longer remove the folder outside.
    let _ = outside.keep();
}

fn the_share_is_usable(share: &Path) {
    let (here, there) = (share.join("a"), share.join("SUB/b"));
    fs::write(&here, b"data").unwrap();
    fs::rename(&here, &there).unwrap();
    fs::hard_link(&there, &here).unwrap();
    assert_eq!(fs::read(&here).unwrap(), b"data");
    fs::File::options()
        .write(true)
        .truncate(true)
        .open(&there)
        .unwrap();
    assert_eq!(fs::read_dir(share).unwrap().count(), 3);
    fs::remove_file(&here).unwrap();
}

fn the_network_and_threads_are_usable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = std::thread::spawn(move || {
        TcpStream::connect(address)
            .unwrap()
            .write_all(b"hello")
            .unwrap();
    });
    let mut text = String::new();
    listener
        .accept()
        .unwrap()
        .0
        .read_to_string(&mut text)
        .unwrap();
    client.join().unwrap();
    assert_eq!(text, "hello");
}

fn files_outside_are_out_of_reach(share: &Path, outside: &Path) {
    let denied = |result: std::io::Result<()>, what: &str| {
        let error = result.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{what}: {error}");
    };
    let secret = outside.join("secret");
    denied(fs::read(&secret).map(drop), "reading a file outside");
    denied(
        fs::read(share.join("link")).map(drop),
        "reading it through a link",
    );
    denied(
        fs::read("/etc/passwd").map(drop),
        "reading the user database",
    );
    denied(
        fs::read("/proc/self/environ").map(drop),
        "reading the environment",
    );
    denied(fs::read_dir(outside).map(drop), "listing a folder outside");
    denied(
        fs::write(outside.join("new"), b""),
        "creating a file outside",
    );
    denied(fs::remove_file(&secret), "deleting a file outside");
    let moved = fs::rename(share.join("SUB/b"), outside.join("b"));
    assert!(moved.is_err() && share.join("SUB/b").exists());
    let linked = fs::hard_link(&secret, share.join("stolen"));
    assert!(linked.is_err() && !share.join("stolen").exists());
}

fn no_program_can_be_started() {
    let error = Command::new("/bin/true")
        .spawn()
        .expect_err("a program started");
    println!("starting a program fails: {error}");
    let packet = socket2::Socket::new(socket2::Domain::PACKET, socket2::Type::RAW, None);
    assert!(packet.is_err(), "sending raw frames must be possible");
}
