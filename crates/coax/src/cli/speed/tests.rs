//! What each command line asks for.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use clap::Parser as _;
use coax_speed::{MEGABYTE, Role};

use super::*;
use crate::cli::{Cli, Command};

fn parsed(line: &str) -> Result<SpeedArgs, clap::Error> {
    match Cli::try_parse_from(line.split(' '))?.command {
        Command::Speed(args) => Ok(*args),
        _ => panic!("another verb"),
    }
}

fn order(line: &str) -> Order {
    match parsed(line).unwrap().what {
        What::Send(args) => args.order(Role::Send),
        What::Receive(args) => args.order(Role::Receive),
        What::Serve(_) => panic!("no transfer"),
    }
}

#[test]
fn a_sender_sends_4_mb_as_spdtest_does_and_a_receiver_takes_all_that_comes() {
    assert_eq!(
        order("coax speed send --target dos:2000").limits.bytes,
        Some(4 * MEGABYTE)
    );
    assert_eq!(
        order("coax speed send --target dos:2000 --mb 8")
            .limits
            .bytes,
        Some(8 * MEGABYTE)
    );
    assert_eq!(
        order("coax speed receive --target dos:2000").limits.bytes,
        None
    );
    assert_eq!(
        order("coax speed receive --target dos:2000 --mb 1")
            .limits
            .bytes,
        Some(MEGABYTE)
    );
}

#[test]
fn a_port_alone_listens_at_every_address() {
    assert_eq!(
        order("coax speed send --listen 2000").way,
        Way::Listen("0.0.0.0:2000".parse().unwrap())
    );
    assert_eq!(
        order("coax speed send --listen [::1]:7").way,
        Way::Listen("[::1]:7".parse().unwrap())
    );
    assert_eq!(
        order("coax speed send --target [::1]:7 --srcport 9").way,
        Way::Target("[::1]:7".into(), Some(9))
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    for wrong in [
        "coax speed",
        "coax speed send",
        "coax speed send --target dos:1 --listen 2",
        "coax speed send --target dos",
        "coax speed send --target dos:0",
        "coax speed send --target :1",
        "coax speed send --listen here",
        "coax speed send --listen 2 --srcport 3",
        "coax speed send --listen 2 --mb 0",
        "coax speed receive --listen 2 --idle 0",
        "coax speed serve --mb 1 --seconds 1",
        "coax speed serve --visitors 0",
    ] {
        assert!(parsed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn serving_is_by_time_unless_it_is_by_size() {
    let service = |line| match parsed(line).unwrap().what {
        What::Serve(args) => args.service(),
        _ => panic!("no service"),
    };
    let usual = service("coax speed serve");
    assert_eq!((usual.source.port(), usual.discard.port()), (2000, 2001));
    assert_eq!(
        (usual.limits.bytes, usual.limits.time),
        (None, Some(Duration::from_secs(10)))
    );
    let sized = service("coax speed serve --mb 3 --source 127.0.0.1:0");
    assert_eq!(
        (sized.limits.bytes, sized.limits.time),
        (Some(3 * MEGABYTE), None)
    );
}
