//! `coax get` as a part of a pipeline.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use crate::site::{COAX, Server, Site, content};

#[test]
fn a_copy_to_a_pipe_ends_quietly_when_the_reader_has_enough() {
    let site = Site::new();
    site.configure("", "");
    std::fs::write(site.path("data/F.BIN"), content(1, 3_000_000)).unwrap();
    let server = Server::start(&site);
    let mut child = Command::new(COAX)
        .args(["get", &server.url("DATA/F.BIN"), "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut head = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut head).unwrap();
    assert_eq!(head[..], content(1, 10)[..]);
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    server.stop();
}
