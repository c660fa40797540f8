//! What this machine says of itself.
#![allow(clippy::unwrap_used)]

use std::net::{TcpListener, UdpSocket};

use super::*;
use crate::{Severity, findings};

fn ask<'a>(config: &'a Path, client: Option<&'a str>) -> Question<'a> {
    Question {
        config: Some(config),
        client,
        resolver: Resolver {
            lmhosts: Some("/nonexistent".into()),
            ..Resolver::default()
        },
        status: |_| Status::Silent,
        progress: &|_, _| {},
    }
}

#[test]
fn a_port_that_we_hold_is_found_with_our_number_and_nothing_takes_longer_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("smb.conf");
    let held = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = held.local_addr().unwrap().port();
    // a port that ends in 39 would be for NetBIOS; any other is direct SMB
    let text = format!(
        "[global]\nsmb ports = {port}\n[A]\npath = {}\nguest ok = yes\n",
        folder.path().display()
    );
    std::fs::write(&conf, text).unwrap();
    let begun = Instant::now();
    let facts = facts(&ask(&conf, Some("127.0.0.1")));
    assert!(begun.elapsed() < PATIENCE + CONFIG_PATIENCE);
    assert!(facts.late.is_empty(), "{:?}", facts.late);
    let us = std::process::id();
    let process = facts.ports.tcp.iter().find_map(|held| held.process.clone());
    assert_eq!(process.map(|(number, _)| number), Some(us));
    let all = findings(&facts);
    let about = format!("(process {us}) holds TCP port {port}");
    assert!(
        all.iter()
            .any(|f| f.severity == Severity::Error && f.what.contains(&about)),
        "{all:#?}"
    );
    assert_eq!(facts.shares.len(), 1);
    assert!(
        facts
            .shares
            .iter()
            .all(|share| share.folder.is_ok() && !share.is_hidden())
    );
    assert!(facts.interfaces.iter().any(|interface| interface.loopback));
    assert!(facts.client.unwrap().address.unwrap().is_loopback());
}

#[test]
fn what_hangs_is_given_up() {
    let none = within(Duration::from_millis(20), || {
        thread::sleep(Duration::from_secs(3600))
    });
    assert!(none.is_none());
    assert_eq!(within(Duration::from_secs(5), || 7), Some(7));
}

#[test]
fn a_udp_socket_counts_only_while_it_is_open() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    assert_eq!(holder::sockets(Kind::Udp, &[port]).len(), 1);
    drop(socket);
    assert_eq!(holder::sockets(Kind::Udp, &[port]).len(), 0);
}
