//! The table of causes: everything that text, JSON, pages, plots, advice and predictions need to know about each.

/// A row of the table of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Its key in JSON, in truth files and in `data/advice`.
    pub key: &'static str,
    /// The name of the fact that is its share of a copy's time, in conditions of `data/advice`.
    pub share: &'static str,
    /// Its label in text, as in "82 % of the time was LABEL".
    pub label: &'static str,
    /// Its colour in pages and plots, as CSS writes it.
    pub colour: &'static str,
    /// Its texture in pages, for readers who cannot tell colours apart.
    pub texture: Texture,
    /// The kind of cause that it is.
    pub kind: Kind,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// The pattern over a cause's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Texture {
    /// None.
    Plain,
    /// Lines that rise to the right.
    Diagonal,
    /// Lines that fall to the right.
    Back,
    /// Both.
    Cross,
    /// Vertical lines.
    Upright,
    /// Dots.
    Dots,
}

impl Texture {
    /// Its name in the script of pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Diagonal => "diagonal",
            Self::Back => "back",
            Self::Cross => "cross",
            Self::Upright => "upright",
            Self::Dots => "dots",
        }
    }
}

/// A group of causes that a capture may not tell apart. Predictions compare a copy with its model by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Round trips with file data.
    RoundTrips,
    /// Round trips without file data.
    Metadata,
    /// A window or buffer of TCP.
    Window,
    /// Delayed ACKs and Nagle's algorithm.
    DelayedAck,
    /// Recovery of losses.
    Recovery,
    /// The path.
    Path,
    /// Unknown.
    Unknown,
}

impl Kind {
    /// All, in the order of their first causes.
    pub const ALL: [Self; 9] = [
        Self::Client,
        Self::Server,
        Self::RoundTrips,
        Self::Metadata,
        Self::Window,
        Self::DelayedAck,
        Self::Recovery,
        Self::Path,
        Self::Unknown,
    ];

    /// Its causes.
    pub fn causes(self) -> impl Iterator<Item = Cause> {
        let all = Cause::ALL.into_iter();
        all.filter(move |cause| cause.description().kind == self)
    }
}

macro_rules! causes {
    ($($name:ident {
        key: $key:literal,
        label: $label:literal,
        colour: $colour:literal,
        texture: $texture:ident,
        kind: $kind:ident,
        meaning: $meaning:literal,
    })*) => {
        /// What time was spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Cause {
            $(#[doc = $meaning] $name,)*
        }

        impl Cause {
            /// All, in the order of reports.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name),*];

            /// Number of causes.
            pub const COUNT: usize = [$(Self::$name),*].len();

            /// Its row in the table of causes.
            pub const fn description(self) -> &'static Description {
                match self {
                    $(Self::$name => &Description {
                        key: $key,
                        share: concat!("share.", $key),
                        label: $label,
                        colour: $colour,
                        texture: Texture::$texture,
                        kind: Kind::$kind,
                        meaning: $meaning,
                    },)*
                }
            }
        }
    };
}

causes! {
    ClientThink {
        key: "client-think",
        label: "client processing (its program, disk or user)",
        colour: "#e3a008",
        texture: Plain,
        kind: Client,
        meaning: "The client's program, disk or user was busy; TCP could have gone on.",
    }
    ServerThink {
        key: "server-think",
        label: "server processing (its program or disk)",
        colour: "#b45309",
        texture: Diagonal,
        kind: Server,
        meaning: "The server's program or disk was busy with a request.",
    }
    RoundTrips {
        key: "round-trips",
        label: "waiting for round trips",
        colour: "#2f81d6",
        texture: Plain,
        kind: RoundTrips,
        meaning: "Requests that moved file data, and their responses, travelled.",
    }
    Metadata {
        key: "metadata",
        label: "round trips that moved no data",
        colour: "#7cb3f0",
        texture: Dots,
        kind: Metadata,
        meaning: "Requests that moved no file data, and their responses, travelled.",
    }
    ReceiveWindow {
        key: "receive-window",
        label: "waiting for the receive window",
        colour: "#8250df",
        texture: Plain,
        kind: Window,
        meaning: "The sender had filled the receive window and waited for an update.",
    }
    ZeroWindow {
        key: "zero-window",
        label: "waiting for a closed receive window",
        colour: "#b58af5",
        texture: Cross,
        kind: Window,
        meaning: "The receiving program did not read, so that its window was closed.",
    }
    SendWindow {
        key: "send-window",
        label: "too little data in flight (congestion window or send buffer)",
        colour: "#c03d96",
        texture: Diagonal,
        kind: Window,
        meaning: "The sender had sent all that its congestion window or send buffer allows.",
    }
    SlowStart {
        key: "slow-start",
        label: "TCP slow start",
        colour: "#e58ac4",
        texture: Dots,
        kind: Window,
        meaning: "The congestion window was still growing, and nothing had been lost.",
    }
    Pacing {
        key: "pacing",
        label: "pacing by the sender's TCP",
        colour: "#9f1239",
        texture: Dots,
        kind: Window,
        meaning: "The sender's TCP spread its data over time, although the windows allowed more.",
    }
    NagleDelayedAck {
        key: "nagle-delayed-ack",
        label: "waiting for delayed ACKs",
        colour: "#0d9488",
        texture: Back,
        kind: DelayedAck,
        meaning: "The sender held back a small segment, or the receiver an acknowledgment.",
    }
    FastRecovery {
        key: "fast-recovery",
        label: "loss recovery after duplicate ACKs",
        colour: "#f0883e",
        texture: Upright,
        kind: Recovery,
        meaning: "The sender repaired a loss that duplicate acknowledgments had reported.",
    }
    Timeout {
        key: "timeout",
        label: "retransmission timeouts (RTO)",
        colour: "#d1242f",
        texture: Cross,
        kind: Recovery,
        meaning: "The sender waited for its retransmission timer after a loss.",
    }
    Bandwidth {
        key: "bandwidth",
        label: "transmission at the speed of the path",
        colour: "#2da44e",
        texture: Plain,
        kind: Path,
        meaning: "The path carried the data.",
    }
    Queueing {
        key: "queueing",
        label: "waiting behind other packets",
        colour: "#85b83a",
        texture: Diagonal,
        kind: Path,
        meaning: "The path carried other packets first.",
    }
    Capture {
        key: "capture",
        label: "unknown: the capture lacks packets",
        colour: "#8c959f",
        texture: Dots,
        kind: Unknown,
        meaning: "Packets are missing in the capture, so that the cause is unknown.",
    }
    Unattributed {
        key: "unattributed",
        label: "unknown",
        colour: "#6e7781",
        texture: Back,
        kind: Unknown,
        meaning: "Nothing in the capture explains the time.",
    }
}

impl Cause {
    /// Its key in JSON, in truth files and in `data/advice`.
    pub const fn name(self) -> &'static str {
        self.description().key
    }

    /// Its label in text, as in "82 % of the time was LABEL".
    pub const fn label(self) -> &'static str {
        self.description().label
    }
}
