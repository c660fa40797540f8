//! What a second capture, taken at the other end, adds.

use coax_wire::time::Span;

/// The clocks of two captures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joined {
    /// The server's clock less the client's at the first common packet, nanoseconds.
    pub offset_ns: i64,
    /// How much faster the server's clock runs, parts per million; 0 if no difference shows.
    pub drift_ppm: f64,
    /// How far off the offset may be: half of the shortest round trip, for delays may differ by direction.
    pub uncertainty: Span,
    /// Whether one line of offset and drift (at most 1 %) fits all packets. If not, a clock was set meanwhile, and the report is that of
    /// the client's capture alone.
    pub clocks_fit: bool,
    /// Whether the first file named is the server's.
    pub is_swapped: bool,
    /// Packets that both captures have, each with numbers that no other has.
    pub packets: u64,
    /// Connections that both captures have.
    pub connections: u64,
    /// Connections of the client's capture alone.
    pub unmatched: u64,
}

/// A connection's path, by both captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedPath {
    /// From the client to the server.
    pub to_server: JoinedWay,
    /// From the server to the client.
    pub to_client: JoinedWay,
    /// Requests whose answers were found.
    pub exchanges: u64,
    /// From the arrival of a request's last byte at the server to the departure of its answer's first byte: least, median,
    /// 95th percentile.
    pub server_time: Option<[Span; 3]>,
}

/// One direction of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedWay {
    /// The shortest one-way delay of data.
    pub delay_min: Span,
    /// Half of the data took no longer.
    pub delay_median: Span,
    /// 95 % of the data took no longer.
    pub delay_p95: Span,
    /// Segments sent again that had not arrived.
    pub lost: u64,
    /// Segments sent again that had arrived.
    pub needless: u64,
    /// The rate of the path, if it carried packets without a pause.
    pub bits_per_s: Option<u64>,
}
