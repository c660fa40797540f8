//! The driver over loopback, against minimal peers.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use coax_speed::{End, MEGABYTE, Role};

use super::{
    Limits, Measured, Stop,
    carry::carry,
    ceiling::{CeilingTarget, ceiling},
    serve::{Service, Visit, serve},
};

fn limits(bytes: Option<u64>) -> Limits {
    Limits {
        bytes,
        time: None,
        idle: Duration::from_secs(20),
        copy: false,
    }
}

/// Two ends of one connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

fn carried(role: Role, limits: Limits, peer: impl FnOnce(TcpStream) + Send) -> Measured {
    let (ours, theirs) = pair();
    thread::scope(|scope| {
        scope.spawn(move || peer(theirs));
        carry(ours, role, limits, &Stop::default(), &mut |_| {})
    })
}

fn drain(mut stream: TcpStream) -> u64 {
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
}

#[test]
fn the_peer_gets_the_requested_bytes_and_then_the_end() {
    let (sender, receiver) = mpsc::channel();
    let wanted = 5 * MEGABYTE + 1;
    let measured = carried(Role::Send, limits(Some(wanted)), move |peer| {
        sender.send(drain(peer)).unwrap()
    });
    assert_eq!(receiver.recv().unwrap(), wanted);
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Done), wanted)
    );
    let samples: u64 = measured.report.samples.iter().map(|s| s.bytes).sum();
    assert_eq!(samples, wanted);
}

#[test]
fn a_peer_that_never_closes_does_not_block_the_sender() {
    let (done, wait) = mpsc::channel::<()>();
    let measured = thread::scope(|scope| {
        let (ours, theirs) = pair();
        scope.spawn(move || {
            let mut stream = &theirs;
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
            let _ = wait.recv();
        });
        let measured = carry(
            ours,
            Role::Send,
            limits(Some(MEGABYTE)),
            &Stop::default(),
            &mut |_| {},
        );
        drop(done);
        measured
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Done), MEGABYTE)
    );
}

#[test]
fn a_peer_that_closes_its_own_direction_at_once_still_gets_everything() {
    let (sender, receiver) = mpsc::channel();
    let measured = carried(Role::Send, limits(Some(3 * MEGABYTE)), move |peer| {
        peer.shutdown(Shutdown::Write).unwrap();
        thread::sleep(Duration::from_millis(50));
        sender.send(drain(peer)).unwrap();
    });
    assert_eq!(receiver.recv().unwrap(), 3 * MEGABYTE);
    assert_eq!(measured.report.end, Some(End::Done));
}

#[test]
fn received_bytes_are_counted_until_the_peer_closes() {
    let measured = carried(Role::Receive, limits(None), |mut peer| {
        for _ in 0..1_000 {
            peer.write_all(&[7; 3_001]).unwrap();
        }
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Done), 3_001_000)
    );
}

#[test]
fn copied_and_discarded_bytes_are_counted_alike() {
    let copying = Limits {
        copy: true,
        ..limits(None)
    };
    let measured = carried(Role::Receive, copying, |mut peer| {
        peer.write_all(&vec![7; 3_000_001]).unwrap()
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Done), 3_000_001)
    );
}

#[test]
fn a_receiver_that_knows_the_size_does_not_wait_for_the_end() {
    let (done, wait) = mpsc::channel::<()>();
    let (ours, mut theirs) = pair();
    let measured = thread::scope(|scope| {
        scope.spawn(move || {
            theirs.write_all(&[0; 5_000]).unwrap();
            let _ = wait.recv();
        });
        let measured = carry(
            ours,
            Role::Receive,
            limits(Some(5_000)),
            &Stop::default(),
            &mut |_| {},
        );
        drop(done);
        measured
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Done), 5_000)
    );
}

#[test]
fn a_reset_keeps_the_measurement() {
    let measured = carried(Role::Receive, limits(None), |mut peer| {
        peer.write_all(&[0; 100_000]).unwrap();
        thread::sleep(Duration::from_millis(200));
        socket2::SockRef::from(&peer)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Reset), 100_000)
    );
    assert!(measured.error.is_some());
}

#[test]
fn a_sender_detects_that_its_peer_closed() {
    let measured = carried(Role::Send, limits(None), |mut peer| {
        peer.read_exact(&mut [0; 200_000]).unwrap();
    });
    assert_eq!(measured.report.end, Some(End::Reset));
}

#[test]
fn an_idle_peer_ends_the_transfer() {
    let (done, wait) = mpsc::channel::<()>();
    let (ours, theirs) = pair();
    let short = Limits {
        idle: Duration::from_millis(300),
        ..limits(None)
    };
    let measured = thread::scope(|scope| {
        scope.spawn(move || {
            let _ = wait.recv();
            drop(theirs);
        });
        let measured = carry(ours, Role::Receive, short, &Stop::default(), &mut |_| {});
        drop(done);
        measured
    });
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Silent), 0)
    );
}

#[test]
fn the_kernel_reports_statistics_where_permitted() {
    let measured = carried(Role::Send, limits(Some(MEGABYTE)), |peer| {
        drain(peer);
    });
    let (ours, _theirs) = pair();
    if super::kernel::Kernel::about(&ours).is_none() {
        assert_eq!(
            measured.tcp, None,
            "a system without TCP statistics must report none"
        );
        return;
    }
    let tcp = measured.tcp.unwrap();
    assert!(
        tcp.mss_bytes > 500 && tcp.segments_sent.is_none_or(|n| n > 0),
        "{tcp:?}"
    );
}

/// Runs a service on free ports while `visit` runs and until it has reported `visitors` clients. Returns its reports.
fn served(service: &Service, visitors: usize, visit: impl FnOnce(u16, u16)) -> Vec<Visit> {
    let (sender, receiver) = mpsc::channel();
    let stop = Stop::default();
    let mut visits = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| serve(service, &stop, &move |visit| sender.send(visit).unwrap()).unwrap());
        let Visit::Listening(source, discard) = receiver.recv().unwrap() else {
            panic!("the first event must be the listening address");
        };
        visit(source.port(), discard.port());
        while finished_clients(&visits) < visitors
            && let Ok(visit) = receiver.recv_timeout(Duration::from_secs(30))
        {
            visits.push(visit);
        }
        stop.set();
        visits.extend(receiver.iter());
    });
    visits
}

fn finished_clients(visits: &[Visit]) -> usize {
    let visitors = visits.iter();
    visitors
        .filter(|visit| matches!(visit, Visit::Visitor(..)))
        .count()
}

fn service() -> Service {
    Service {
        source: "127.0.0.1:0".parse().unwrap(),
        discard: "127.0.0.1:0".parse().unwrap(),
        limits: limits(Some(2 * MEGABYTE)),
        visitors: 4,
        allow_public: false,
    }
}

#[test]
fn clients_of_both_ports_are_served_and_reported() {
    let visits = served(&service(), 2, |source, discard| {
        assert_eq!(
            drain(TcpStream::connect(("127.0.0.1", source)).unwrap()),
            2 * MEGABYTE
        );
        let mut sink = TcpStream::connect(("127.0.0.1", discard)).unwrap();
        sink.write_all(&[1; 70_000]).unwrap();
        sink.shutdown(Shutdown::Write).unwrap();
        assert_eq!(sink.read(&mut [0; 1]).unwrap(), 0);
    });
    let bytes = |role| {
        visits.iter().find_map(|visit| match visit {
            Visit::Visitor(r, measured) if *r == role => {
                Some((measured.report.bytes, measured.is_complete()))
            }
            _ => None,
        })
    };
    assert_eq!(bytes(Role::Send), Some((2 * MEGABYTE, true)));
    assert_eq!(bytes(Role::Receive), Some((70_000, true)));
}

#[test]
fn clients_beyond_the_limit_are_refused_and_present_ones_stay() {
    let one = Service {
        visitors: 1,
        ..service()
    };
    let visits = served(&one, 1, |_, discard| {
        let mut first = TcpStream::connect(("127.0.0.1", discard)).unwrap();
        first.write_all(&[1; 10]).unwrap();
        let mut second = TcpStream::connect(("127.0.0.1", discard)).unwrap();
        assert_eq!(second.read(&mut [0; 1]).unwrap_or(0), 0);
        first.write_all(&[1; 10]).unwrap();
        first.shutdown(Shutdown::Write).unwrap();
        assert_eq!(first.read(&mut [0; 1]).unwrap(), 0);
    });
    assert_eq!(
        visits
            .iter()
            .filter(|v| matches!(v, Visit::Refused(..)))
            .count(),
        1
    );
    let whole =
        |v: &&Visit| matches!(v, Visit::Visitor(_, m) if m.report.bytes == 20 && m.is_complete());
    assert_eq!(visits.iter().filter(whole).count(), 1);
}

#[test]
fn stopping_reports_running_transfers() {
    let mut open = None;
    let visits = served(&service(), 0, |_, discard| {
        let mut visitor = TcpStream::connect(("127.0.0.1", discard)).unwrap();
        visitor.write_all(&[1; 10]).unwrap();
        thread::sleep(Duration::from_millis(500));
        open = Some(visitor);
    });
    let [Visit::Visitor(Role::Receive, measured)] = visits.as_slice() else {
        panic!("{visits:?}");
    };
    assert_eq!(
        (measured.report.end, measured.report.bytes),
        (Some(End::Interrupted), 10)
    );
}

#[test]
fn the_ceiling_is_measured_both_ways() {
    let by_time = Service {
        limits: Limits {
            time: Some(Duration::from_secs(5)),
            ..limits(None)
        },
        ..service()
    };
    let mut rates = None;
    served(&by_time, 0, |source_port, discard_port| {
        let target = CeilingTarget {
            host: "127.0.0.1".into(),
            source_port,
            discard_port,
        };
        let measured = ceiling(&target, Duration::from_millis(300), &Stop::default()).unwrap();
        assert!(
            measured.to_us.is_complete() && measured.to_peer.is_complete(),
            "{measured:?}"
        );
        rates = Some((measured.to_us_bytes_per_s(), measured.to_peer_bytes_per_s()));
    });
    let (to_us, to_peer) = rates.unwrap();
    assert!(to_us > 0.0 && to_peer > 0.0);
}

#[test]
fn a_ceilings_target_names_one_port_or_both() {
    let target = |text: &str| {
        text.parse::<CeilingTarget>()
            .map(|t| (t.host, t.source_port, t.discard_port))
    };
    assert_eq!(target("nas:2000"), Ok(("nas".into(), 2000, 2001)));
    assert_eq!(target("[::1]:5,9"), Ok(("[::1]".into(), 5, 9)));
    for wrong in [
        "nas",
        "nas:",
        ":2000",
        "nas:0",
        "nas:65535",
        "nas:1,2,3",
        "nas:x",
    ] {
        assert!(target(wrong).is_err(), "{wrong}");
    }
}
