//! Waits for the next request, charged by what the kernel reports of the connection.

use super::*;

/// The client sends no request for `gap_ms` after the server sent `bytes`.
fn gap(gap_ms: u64, bytes: u64) -> Slice {
    Slice {
        gaps: ms(gap_ms),
        longest: ms(gap_ms),
        data: 1,
        bytes,
        ..Slice::default()
    }
}

/// What the kernel says after 64 KB: for how long it was busy, and for how long a window limited it, ms.
fn of(kernel: Kernel, busy: u64, window: u64) -> Reported {
    Reported {
        kernel,
        acknowledged: 65_536,
        busy: ms(busy),
        window_limited: ms(window),
        delivery_rate: kernel.delivery_rate,
        congestion_window: kernel.congestion_window,
        ..Reported::default()
    }
}

fn near() -> Kernel {
    Kernel {
        rtt: Span(200_000),
        min_rtt: Span(200_000),
        ..far()
    }
}

type Charged<'a> = (&'a str, Slice, Reported, &'a [(Cause, u64)]);

fn charged(table: &[Charged<'_>]) {
    for (what, slice, reported, wanted) in table {
        assert_eq!(shares(*slice, *reported), *wanted, "{what}");
    }
}

#[test]
fn waits_for_the_path_are_charged_by_what_the_kernel_reports() {
    use Cause::*;
    // 64 KB at 10 Mbit/s, the path's round trip has grown to 50 ms
    let paced = Kernel {
        rtt: ms(50),
        delivery_rate: 1_250_000,
        ..near()
    };
    // windows of two segments over 20 ms
    let small = Kernel {
        client_window: 2_920,
        ..far()
    };
    let starts = Kernel {
        slow_start: true,
        ..far()
    };
    let sends = Slice {
        sending: ms(60),
        ..gap(20, 65_536)
    };
    charged(&[
        (
            "a full send buffer behind a slow link",
            sends,
            of(
                Kernel {
                    rtt: ms(60),
                    ..paced
                },
                80,
                0,
            ),
            &[(ClientThink, 34), (Bandwidth, 66)],
        ),
        (
            "a link of 10 Mbit/s",
            gap(53, 65_536),
            of(paced, 53, 0),
            &[(ClientThink, 1), (Bandwidth, 99)],
        ),
        (
            "a window of two segments",
            gap(460, 65_536),
            of(small, 460, 440),
            &[(RoundTrips, 4), (ReceiveWindow, 96)],
        ),
        (
            "slow start of 45 segments from 10",
            gap(80, 65_536),
            of(starts, 80, 0),
            &[(ClientThink, 25), (RoundTrips, 25), (SlowStart, 50)],
        ),
    ]);
}

#[test]
fn waits_for_the_client_are_charged_by_what_the_kernel_reports() {
    use Cause::*;
    charged(&[
        (
            "a small reply over 20 ms",
            gap(20, 1000),
            of(far(), 20, 0),
            &[(RoundTrips, 100)],
        ),
        (
            "the same, and the client works for 20 ms",
            gap(40, 1000),
            of(far(), 20, 0),
            &[(ClientThink, 50), (RoundTrips, 50)],
        ),
        (
            "a program that does not read",
            gap(1000, 65_536),
            of(near(), 1000, 1000),
            &[(ClientThink, 100)],
        ),
        (
            "nothing reported: NetBEUI",
            gap(20, 1000),
            Reported::default(),
            &[(ClientThink, 100)],
        ),
    ]);
}

#[test]
fn repairs_are_charged_by_what_the_kernel_reports() {
    use Cause::*;
    charged(&[
        (
            "a timeout",
            gap(1020, 1000),
            Reported {
                retransmitted: 1,
                ..of(far(), 1020, 0)
            },
            &[(RoundTrips, 2), (Timeout, 98)],
        ),
        (
            "a fast retransmission",
            gap(60, 65_536),
            Reported {
                retransmitted: 1,
                ..of(far(), 60, 0)
            },
            &[(RoundTrips, 33), (FastRecovery, 67)],
        ),
    ]);
}
