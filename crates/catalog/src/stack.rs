//! The rules of a TCP stack, each a parameter. Stacks differ in these and in nothing else.

use alloc::string::String;

use coax_wire::time::Span;
use serde::Deserialize;

use crate::{
    component::{Described, broken},
    files::{self, Files},
    units::span,
};

/// The delay of ACKs in BSD stacks, whose clock `tcp_fasttimo` has this period, and of Windows (`data/stacks`).
pub const BSD_DELAYED_ACK: Span = Span::from_millis(200);

/// The shortest delay of ACKs in Linux (`TCP_DELACK_MIN`).
pub const LINUX_DELAYED_ACK: Span = Span::from_millis(40);

/// The shortest retransmission timeout of RFC 6298 (2.4).
pub const STANDARD_RTO_MIN: Span = Span::from_secs(1);

/// The shortest retransmission timeout of Linux (`TCP_RTO_MIN`).
pub const LINUX_RTO_MIN: Span = Span::from_millis(200);

/// When a receiver acknowledges without waiting for its timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckRule {
    /// When at least this number of segments is unacknowledged.
    #[default]
    SegmentsAtLeast,
    /// When the bytes of at least this number of full segments are unacknowledged (the common reading of RFC 1122
    /// 4.2.3.2).
    BytesAtLeast,
    /// When more bytes than this number of full segments are unacknowledged.
    BytesMoreThan,
}

/// Nagle's algorithm for small segments (RFC 896).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nagle {
    /// They are not.
    #[default]
    Off,
    /// While anything is unacknowledged.
    Standard,
    /// While a small segment is (Minshall's variant, Linux).
    Minshall,
}

/// The growth of the retransmission timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backoff {
    /// Nothing.
    None,
    /// It doubles (RFC 6298 5.5).
    #[default]
    Double,
    /// The smoothed round trip itself is doubled, and so remembered (mTCP).
    DoubleRtt,
}

/// When a timer that backed off is taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Karn {
    /// At the first measurement of a segment that was sent once (Karn and Partridge 1987).
    #[default]
    Keep,
    /// At the first acknowledgment of new data.
    Reset,
}

/// What is retransmitted after a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRecovery {
    /// Everything from the oldest unacknowledged byte on, as the windows allow.
    #[default]
    GoBackN,
    /// The oldest segment alone.
    OldestOnly,
}

/// Congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// None: the window offered is filled at once.
    None,
    /// Slow start and congestion avoidance; a recovery ends with the first new acknowledgment (RFC 2581).
    #[default]
    Reno,
    /// A recovery ends when all that was outstanding is acknowledged (RFC 6582).
    NewReno,
    /// The same, and the window grows with the cube of the time since the last loss (RFC 9438).
    Cubic,
}

/// Which segments have the PSH flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Push {
    /// The segment that ends a write of the application.
    #[default]
    WriteEnd,
    /// The one that empties the send buffer (BSD).
    BufferEmpty,
    /// Every one with data (mTCP).
    Always,
    /// None.
    Never,
}

/// When a new window of the peer is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRefresh {
    /// With every acknowledgment (RFC 9293 3.10.7.4).
    #[default]
    Always,
    /// When everything sent was acknowledged (mTCP).
    WhenDrained,
}

/// A stack. What a file leaves out is as `Default`: a plain stack of RFC 1122 and RFC 2581.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools)]
pub struct StackParams {
    /// Maximum segment size, announced in the SYN; it also limits its own segments.
    pub mss: u16,
    /// Initial TTL of its packets; only captures show it.
    pub ttl: u8,
    /// Bytes it offers to receive.
    pub receive_window: u32,
    /// Size of the send buffer, bytes; 0: no limit.
    pub send_buffer: u32,
    /// Window scale it offers (RFC 7323); `None`: not known to it.
    pub window_scale: Option<u8>,
    /// It understands and sends selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// It sends timestamps (RFC 7323), 12 bytes of every segment.
    pub timestamps: bool,
    /// The sender does not send a segment that the window would shorten, unless it has half the maximum window (RFC
    /// 1122 4.2.3.4).
    pub sender_sws_avoidance: bool,
    /// Without that: it sends a segment that the window shortens only right behind a full one, and if Nagle's algorithm allows it.
    pub cut_behind_full: bool,
    /// After this time it sends anyway; 0: never.
    #[serde(deserialize_with = "span")]
    pub sws_override: Span,
    /// A receiver sends a window update when the window has grown by this number of segments, or by half its size (RFC
    /// 1122 4.2.3.3); 0: only if the last advertised window was smaller than a segment.
    pub window_update_segments: u32,
    /// Nagle's algorithm.
    pub nagle: Nagle,
    /// Longest wait of an acknowledgment; 0: none waits.
    #[serde(deserialize_with = "span")]
    pub delayed_ack: Span,
    /// The timer of delayed acknowledgments runs out only at multiples of this; 0: exactly.
    #[serde(deserialize_with = "span")]
    pub delayed_ack_tick: Span,
    /// Number of full segments per ACK.
    pub ack_every: u32,
    /// How they are counted.
    pub ack_rule: AckRule,
    /// A segment with PSH is acknowledged at once.
    pub ack_on_push: bool,
    /// Segments received out of order are kept.
    pub reassembly: bool,
    /// Retransmission timer before the first measurement.
    #[serde(deserialize_with = "span")]
    pub rto_initial: Span,
    /// It is never shorter.
    #[serde(deserialize_with = "span")]
    pub rto_min: Span,
    /// It is never longer.
    #[serde(deserialize_with = "span")]
    pub rto_max: Span,
    /// Four deviations count as no less.
    #[serde(deserialize_with = "span")]
    pub rto_deviations_min: Span,
    /// It runs out only at multiples of this; 0: exactly.
    #[serde(deserialize_with = "span")]
    pub rto_tick: Span,
    /// Added to the smoothed round trip and four deviations.
    #[serde(deserialize_with = "span")]
    pub rto_extra: Span,
    /// The growth of the timeout.
    pub backoff: Backoff,
    /// When that is taken back.
    pub karn: Karn,
    /// What is retransmitted after a timeout.
    pub rto_recovery: RtoRecovery,
    /// Retransmissions of one segment after which the connection is given up.
    pub max_retries: u32,
    /// Duplicate acknowledgments that mean a loss; 0: they mean nothing.
    pub fast_retransmit: u32,
    /// Congestion control.
    pub congestion: CongestionControl,
    /// Slow start ends when the round trip grows by an eighth, 4 to 16 ms (RFC 9406), which is measured where there is
    /// `rack`, or when acknowledgments follow each other for half a round trip (HyStart, Ha and Rhee 2011).
    pub hystart: bool,
    /// With SACK: a segment is lost if one sent later was delivered, retransmissions included (RFC 8985). Without: as
    /// with `fast_retransmit` duplicate ACKs, once.
    pub rack: bool,
    /// With `rack`: while a loss is repaired the window shrinks in proportion to what arrives (RFC 6937), not at once.
    pub rate_reduction: bool,
    /// The congestion window is counted in whole segments.
    pub whole_segments: bool,
    /// Segments that may be sent before the first acknowledgment.
    pub initial_window: u32,
    /// The congestion window grows by the bytes acknowledged, not by one segment an acknowledgment (RFC 3465).
    pub byte_counting: bool,
    /// After an idle time of one retransmission timeout the congestion window restarts (RFC 2581 4.1).
    pub idle_restart: bool,
    /// Shortest wait before a shut window is probed.
    #[serde(deserialize_with = "span")]
    pub persist_min: Span,
    /// Longest.
    #[serde(deserialize_with = "span")]
    pub persist_max: Span,
    /// Which segments have the PSH flag.
    pub push: Push,
    /// When a new window of the peer is believed.
    pub window_refresh: WindowRefresh,
    /// After more than this number of consecutive segments out of order it advertises a window of one segment; 0: never
    /// (mTCP).
    pub distress_after: u32,
    /// Until this number arrived in order.
    pub distress_until: u32,
}

impl Default for StackParams {
    fn default() -> Self {
        Self {
            mss: 1460,
            ttl: 64,
            receive_window: 65_535,
            send_buffer: 0,
            window_scale: None,
            sack: false,
            timestamps: false,
            sender_sws_avoidance: true,
            cut_behind_full: false,
            sws_override: Span::from_millis(500),
            window_update_segments: 2,
            nagle: Nagle::Standard,
            delayed_ack: BSD_DELAYED_ACK,
            delayed_ack_tick: Span(0),
            ack_every: 2,
            ack_rule: AckRule::SegmentsAtLeast,
            ack_on_push: false,
            reassembly: true,
            rto_initial: Span::from_secs(3),
            rto_min: STANDARD_RTO_MIN,
            rto_max: Span::from_secs(64),
            rto_deviations_min: Span(0),
            rto_tick: Span(0),
            rto_extra: Span(0),
            backoff: Backoff::Double,
            karn: Karn::Keep,
            rto_recovery: RtoRecovery::GoBackN,
            max_retries: 12,
            fast_retransmit: 3,
            congestion: CongestionControl::Reno,
            hystart: false,
            rack: false,
            rate_reduction: false,
            whole_segments: false,
            initial_window: 2,
            byte_counting: false,
            idle_restart: false,
            persist_min: Span::from_secs(5),
            persist_max: Span::from_secs(60),
            push: Push::WriteEnd,
            window_refresh: WindowRefresh::Always,
            distress_after: 0,
            distress_until: 0,
        }
    }
}

impl Described for StackParams {
    const KIND: &'static str = "stack";
    const BUILT_IN: Files = files::STACKS;

    fn check(&self) -> Result<(), (&'static str, String)> {
        let rules = [
            ("mss", (64..=9000).contains(&self.mss), "64 to 9000 bytes"),
            (
                "receive_window",
                (64..=1 << 30).contains(&self.receive_window),
                "64 bytes to 1 GiB",
            ),
            ("ack_every", self.ack_every > 0, "at least 1"),
            ("rto_min", self.rto_min.0 > 0, "more than nothing"),
            ("rto_initial", self.rto_initial.0 > 0, "more than nothing"),
            ("rto_max", self.rto_max >= self.rto_min, "at least rto_min"),
            ("persist_min", self.persist_min.0 > 0, "more than nothing"),
            (
                "window_scale",
                self.window_scale.is_none_or(|shift| shift <= 14),
                "0 to 14 (RFC 7323 2.2)",
            ),
        ];
        broken(&rules)
    }
}
