//! Causes, and what text, JSON, pages and documents say about each.

/// What time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The client's program, disk or user.
    ClientThink,
    /// The server's program or disk.
    ServerThink,
    /// Round trips of requests that moved file data.
    RoundTrips,
    /// Round trips of requests that moved no file data.
    Metadata,
    /// The sender had filled the receive window.
    ReceiveWindow,
    /// The receive window was closed.
    ZeroWindow,
    /// The sender had too little data in flight: its congestion window or send buffer.
    SendWindow,
    /// The congestion window of a connection without loss so far.
    SlowStart,
    /// TCP held back a small segment (Nagle) or an acknowledgment.
    NagleDelayedAck,
    /// Recovery of a loss after duplicate ACKs, until the congestion window has grown back.
    FastRecovery,
    /// A retransmission timeout, until the congestion window has grown back.
    Timeout,
    /// The path carried data.
    Bandwidth,
    /// The path carried other packets.
    Queueing,
    /// The capture lacks packets. The lab's captures lack none.
    Capture,
    /// Unknown.
    Unattributed,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = 15;

    /// All, in the order of reports.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ClientThink,
        Self::ServerThink,
        Self::RoundTrips,
        Self::Metadata,
        Self::ReceiveWindow,
        Self::ZeroWindow,
        Self::SendWindow,
        Self::SlowStart,
        Self::NagleDelayedAck,
        Self::FastRecovery,
        Self::Timeout,
        Self::Bandwidth,
        Self::Queueing,
        Self::Capture,
        Self::Unattributed,
    ];

    /// Its key in JSON, in truth files and in `data/advice`.
    pub const fn name(self) -> &'static str {
        self.description().key
    }

    /// Its label in text, as in "82 % of the time was LABEL".
    pub const fn label(self) -> &'static str {
        self.description().label
    }

    /// Its row in the table of causes.
    pub const fn description(self) -> &'static Description {
        describe(self)
    }
}

/// A row of the table of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Its key in JSON, in truth files and in `data/advice`.
    pub key: &'static str,
    /// Its label in text.
    pub label: &'static str,
    /// Its colour in pages and plots, as CSS writes it.
    pub colour: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// The row of a cause.
const fn describe(cause: Cause) -> &'static Description {
    match cause {
        Cause::ClientThink => &Description {
            key: "client-think",
            label: "client processing (its program, disk or user)",
            colour: "#e3a008",
            meaning: "The client's program, disk or user was busy; TCP could have gone on.",
        },
        Cause::ServerThink => &Description {
            key: "server-think",
            label: "server processing (its program or disk)",
            colour: "#b45309",
            meaning: "The server's program or disk was busy with a request.",
        },
        Cause::RoundTrips => &Description {
            key: "round-trips",
            label: "waiting for round trips",
            colour: "#2f81d6",
            meaning: "Requests that moved file data, and their responses, travelled.",
        },
        Cause::Metadata => &Description {
            key: "metadata",
            label: "round trips that moved no data",
            colour: "#7cb3f0",
            meaning: "Requests that moved no file data, and their responses, travelled.",
        },
        Cause::ReceiveWindow => &Description {
            key: "receive-window",
            label: "waiting for the receive window",
            colour: "#8250df",
            meaning: "The sender had filled the receive window and waited for an update.",
        },
        Cause::ZeroWindow => &Description {
            key: "zero-window",
            label: "waiting for a closed receive window",
            colour: "#b58af5",
            meaning: "The receiving program did not read, so that its window was closed.",
        },
        Cause::SendWindow => &Description {
            key: "send-window",
            label: "too little data in flight (congestion window or send buffer)",
            colour: "#c03d96",
            meaning: "The sender had sent all that its congestion window or send buffer allows.",
        },
        Cause::SlowStart => &Description {
            key: "slow-start",
            label: "TCP slow start",
            colour: "#e58ac4",
            meaning: "The congestion window was still growing, and nothing had been lost.",
        },
        Cause::NagleDelayedAck => &Description {
            key: "nagle-delayed-ack",
            label: "waiting for delayed ACKs",
            colour: "#0d9488",
            meaning: "The sender held back a small segment, or the receiver an acknowledgment.",
        },
        Cause::FastRecovery => &Description {
            key: "fast-recovery",
            label: "loss recovery after duplicate ACKs",
            colour: "#f0883e",
            meaning: "The sender repaired a loss that duplicate acknowledgments had reported.",
        },
        Cause::Timeout => &Description {
            key: "timeout",
            label: "retransmission timeouts (RTO)",
            colour: "#d1242f",
            meaning: "The sender waited for its retransmission timer after a loss.",
        },
        Cause::Bandwidth => &Description {
            key: "bandwidth",
            label: "transmission at the speed of the path",
            colour: "#2da44e",
            meaning: "The path carried the data.",
        },
        Cause::Queueing => &Description {
            key: "queueing",
            label: "waiting behind other packets",
            colour: "#85b83a",
            meaning: "The path carried other packets first.",
        },
        Cause::Capture => &Description {
            key: "capture",
            label: "unknown: the capture lacks packets",
            colour: "#8c959f",
            meaning: "Packets are missing in the capture, so that the cause is unknown.",
        },
        Cause::Unattributed => &Description {
            key: "unattributed",
            label: "unknown",
            colour: "#6e7781",
            meaning: "Nothing in the capture explains the time.",
        },
    }
}
