//! The results of `coax speed` as text.

use crate::digits::grouped;
use std::fmt::Write as _;

use coax_speed::{Rate, Role, Sample, TcpFigures};

use crate::speed::json::seconds;
use coax_transfer::speed::Measured;

/// A shorter transfer is not meaningful, seconds.
const SHORT_S: f64 = 1.0;
/// The report mentions a wait for the first byte beyond this part of the total.
const LONG_WAIT: f64 = 0.05;

/// The report of one transfer.
pub fn report(measured: &Measured) -> String {
    let report = &measured.report;
    let mut out = format!("{}\n  {}\n", what(measured), speed(report.rate()));
    let waited = seconds(report.first_byte.unwrap_or_default());
    let whole = seconds(report.elapsed);
    if waited > whole * LONG_WAIT && report.bytes > 0 {
        let _ = writeln!(
            out,
            "  first byte after {}; then {}",
            time(waited),
            speed(report.rate_since_first_byte())
        );
    }
    if measured.is_complete() && whole < SHORT_S {
        out.push_str("  too short to be meaningful: repeat with a larger --mb\n");
    }
    match &measured.tcp {
        Some(tcp) => out.push_str(&tcp_lines(report.role, tcp)),
        None => out.push_str("  TCP: this system does not report its counters\n"),
    }
    out
}

/// One line for a client of `coax speed serve`.
pub fn visitor(measured: &Measured) -> String {
    let mut out = format!("{}: {}", what(measured), speed(measured.report.rate()));
    if let Some(tcp) = measured.tcp.filter(|tcp| tcp.retransmissions > 0) {
        let _ = write!(
            out,
            ", {} segments retransmitted",
            grouped(tcp.retransmissions.into())
        );
    }
    if !measured.is_complete() {
        let _ = write!(out, "; {}", super::advice::why(measured));
    }
    out.push('\n');
    out
}

/// The progress line, updated every second.
pub fn second(
    sample: &Sample,
    bytes: u64,
    wanted: Option<u64>,
    tcp: Option<&TcpFigures>,
) -> String {
    let mb = |bytes: u64| bytes as f64 / coax_speed::MEGABYTE as f64;
    let mut out = format!(
        "{:>5.0} s  {}  {:.1}",
        seconds(sample.at),
        speed(sample.rate()),
        mb(bytes)
    );
    match wanted {
        Some(wanted) => {
            let _ = write!(out, " of {:.0} MB", mb(wanted));
        }
        None => out.push_str(" MB"),
    }
    if let Some(tcp) = tcp.filter(|tcp| tcp.retransmissions > 0) {
        let _ = write!(out, "  {} retransmitted", tcp.retransmissions);
    }
    out
}

fn what(measured: &Measured) -> String {
    let report = &measured.report;
    let peer = measured
        .peer
        .map_or_else(|| "the other end".into(), |peer| peer.to_string());
    let bytes = grouped(report.bytes);
    let took = time(seconds(report.elapsed));
    match report.role {
        Role::Send => format!("sent {bytes} bytes to {peer} in {took}"),
        Role::Receive => format!("received {bytes} bytes from {peer} in {took}"),
    }
}

fn speed(rate: Rate) -> String {
    format!(
        "{} KB/s ({} Mbit/s)",
        figure(rate.kb_per_s()),
        figure(rate.mbit_per_s())
    )
}

fn tcp_lines(role: Role, tcp: &TcpFigures) -> String {
    match role {
        Role::Send => sender_lines(tcp),
        Role::Receive => receiver_lines(tcp),
    }
}

fn sender_lines(tcp: &TcpFigures) -> String {
    let mut out = format!("  TCP: round trip {}", ms(tcp.rtt_us.into()));
    if let Some(least) = tcp.min_rtt_us {
        let _ = write!(out, " (least {})", ms(least.into()));
    }
    let _ = write!(out, ", segments of {} bytes", grouped(tcp.mss_bytes.into()));
    if let Some(window) = tcp.peer_window_bytes {
        let _ = write!(
            out,
            ", the other end's window {} bytes",
            grouped(window.into())
        );
    }
    let again = grouped(tcp.retransmissions.into());
    let of = tcp
        .segments_sent
        .map_or_else(String::new, |sent| format!(" of {}", grouped(sent.into())));
    let _ = writeln!(out, ", {again}{of} segments retransmitted");
    if let (Some(busy), Some(window)) = (tcp.busy_us, tcp.window_limited_us)
        && busy > 0
    {
        let percent = window as f64 * 100.0 / busy as f64;
        let _ = writeln!(
            out,
            "  the other end's window held us back for {percent:.0} % of the time"
        );
    }
    out
}

fn receiver_lines(tcp: &TcpFigures) -> String {
    let mut out = String::from("  TCP: ");
    if tcp.receive_rtt_us > 0 {
        let _ = write!(out, "round trip about {}, ", ms(tcp.receive_rtt_us.into()));
    }
    if let Some(window) = tcp.own_window_bytes {
        let _ = write!(out, "our window {} bytes, ", grouped(window.into()));
    }
    let segments = tcp
        .segments_received
        .map_or_else(String::new, |n| format!(" of {}", grouped(n.into())));
    match tcp.out_of_order {
        Some(late) => {
            let _ = writeln!(
                out,
                "{}{segments} segments out of order",
                grouped(late.into())
            );
        }
        None => {
            let _ = writeln!(out, "segments of {} bytes", grouped(tcp.mss_bytes.into()));
        }
    }
    out
}

fn ms(us: u64) -> String {
    format!("{} ms", figure(us as f64 / 1e3))
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A number with a useful precision and grouped digits.
fn figure(value: f64) -> String {
    match value {
        v if v >= 1000.0 => grouped(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v < 0.1 => format!("{v:.3}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_at_a_glance() {
        assert_eq!(grouped(8_388_608), "8,388,608");
        assert_eq!(
            (grouped(12), grouped(123), grouped(1234)),
            ("12".into(), "123".into(), "1,234".into())
        );
        assert_eq!(
            (figure(115.34), figure(0.944), figure(10_638.4)),
            ("115.3".into(), "0.94".into(), "10,638".into())
        );
    }
}
