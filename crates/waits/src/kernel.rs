//! What the kernel reports of a connection.

use coax_wire::time::Span;

/// `TCP_INFO` of Linux (`struct tcp_info` of linux/tcp.h), as far as it tells what data waits for. Counters run since the
/// connection's beginning. The default is that of a connection of which the kernel reports nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The smoothed round-trip time (`tcpi_rtt`).
    pub rtt: Span,
    /// The shortest round trip of the last minutes (`tcpi_min_rtt`); zero if none was measured.
    pub min_rtt: Span,
    /// Time with data in flight or waiting (`tcpi_busy_time`).
    pub busy: Span,
    /// The part of it in which the client's receive window allowed no more (`tcpi_rwnd_limited`).
    pub window_limited: Span,
    /// Bytes that the client has acknowledged (`tcpi_bytes_acked`).
    pub acknowledged: u64,
    /// Segments sent again (`tcpi_total_retrans`).
    pub retransmitted: u64,
    /// Segments that arrived behind a gap (`tcpi_rcv_ooopack`).
    pub out_of_order: u64,
    /// The rate at which data arrived at the client, bytes a second (`tcpi_delivery_rate`). It is never above the path's.
    pub delivery_rate: u64,
    /// The client's receive window, bytes (`tcpi_snd_wnd`).
    pub client_window: u64,
    /// Segments in flight (`tcpi_unacked`),
    pub unacknowledged: u64,
    /// and bytes that wait to be sent (`tcpi_notsent_bytes`).
    pub unsent: u64,
    /// This server's receive window, bytes (`tcpi_rcv_ssthresh`).
    pub server_window: u64,
    /// The congestion window, segments (`tcpi_snd_cwnd`),
    pub congestion_window: u64,
    /// and whether it still grows from the start (below `tcpi_snd_ssthresh`).
    pub slow_start: bool,
    /// Largest segment to the client, bytes (`tcpi_snd_mss`).
    pub mss: u64,
}
