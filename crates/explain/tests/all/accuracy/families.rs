//! What is varied: for each cause a copy that has as much of it as is asked for.

use coax_explain::Cause;

/// A parameter that makes its cause larger, from least to most.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    pub path: &'static str,
    /// What follows the number.
    pub unit: &'static str,
    pub from: f64,
    pub to: f64,
}

/// Copies made for one cause.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    /// The cause, whose share the knob sets. Without one the share is whatever comes of it.
    pub cause: Cause,
    pub knob: Option<Knob>,
    /// Bytes copied.
    pub size: &'static str,
    /// Many bytes a request, so that TCP has something to keep.
    pub streaming: bool,
    /// What else is set. `SENDER`, `RECEIVER` and `DATA` stand for the sides and the way that file data takes.
    pub set: &'static [&'static str],
}

const WIDE: &str = "RECEIVER.stack.receive_window=1000000";
const SCALED: [&str; 2] = ["client.stack.window_scale=5", "server.stack.window_scale=5"];
const PROMPT: &str = "RECEIVER.stack.delayed_ack=0 ms";

const fn knob(path: &'static str, unit: &'static str, from: f64, to: f64) -> Option<Knob> {
    Some(Knob {
        path,
        unit,
        from,
        to,
    })
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "client-think",
        cause: Cause::ClientThink,
        knob: knob("client.machine.request.fixed", " us", 1.0, 1e7),
        size: "200000",
        streaming: false,
        set: &[],
    },
    Family {
        name: "server-think",
        cause: Cause::ServerThink,
        knob: knob("server.machine.request.fixed", " us", 1.0, 1e7),
        size: "200000",
        streaming: false,
        set: &[],
    },
    Family {
        name: "client-disk",
        cause: Cause::ClientThink,
        knob: knob("client.machine.DISK.per_byte", " ns", 1.0, 1e6),
        size: "400000",
        streaming: true,
        set: &[],
    },
    Family {
        name: "round-trips",
        cause: Cause::RoundTrips,
        knob: knob("size", "", 40_000.0, 600_000.0),
        size: "200000",
        streaming: false,
        set: &[],
    },
    Family {
        name: "metadata",
        cause: Cause::Metadata,
        knob: knob("size", "", 400_000.0, 100.0),
        size: "1000",
        streaming: true,
        set: &[WIDE, SCALED[0], SCALED[1]],
    },
    Family {
        name: "receive-window",
        cause: Cause::ReceiveWindow,
        knob: knob("RECEIVER.stack.receive_window", "", 600_000.0, 2920.0),
        size: "600000",
        streaming: true,
        set: &[SCALED[0], SCALED[1], "SENDER.stack.congestion=none"],
    },
    Family {
        name: "server-disk",
        cause: Cause::ServerThink,
        knob: knob("server.machine.disk_write.per_byte", " ns", 1.0, 1e6),
        size: "600000",
        streaming: true,
        set: &[
            "direction=to-server",
            "client.profile=modern",
            "server.stack.receive_window=17520",
            "client.profile.write.block=16384",
        ],
    },
    Family {
        name: "send-window",
        cause: Cause::SendWindow,
        knob: knob("SENDER.stack.send_buffer", "", 600_000.0, 1460.0),
        size: "600000",
        streaming: true,
        set: &[
            WIDE,
            SCALED[0],
            SCALED[1],
            PROMPT,
            "SENDER.stack.congestion=none",
        ],
    },
    Family {
        name: "slow-start",
        cause: Cause::SlowStart,
        knob: knob("size", "", 4_000_000.0, 20_000.0),
        size: "200000",
        streaming: true,
        set: &[
            WIDE,
            SCALED[0],
            SCALED[1],
            "SENDER.stack.congestion=new-reno",
            "SENDER.stack.initial_window=2",
        ],
    },
    Family {
        name: "delayed-ack",
        cause: Cause::NagleDelayedAck,
        knob: knob("size", "", 2_000_000.0, 100_000.0),
        size: "200000",
        streaming: true,
        set: &[
            "SENDER.stack.nagle=standard",
            "RECEIVER.stack.delayed_ack=200 ms",
            "RECEIVER.stack.ack_every=2",
            "RECEIVER.stack.ack_on_push=false",
            "RECEIVER.stack.receive_window=8760",
        ],
    },
    Family {
        name: "fast-recovery",
        cause: Cause::FastRecovery,
        knob: knob("LOSS", "", 0.0001, 0.1),
        size: "600000",
        streaming: true,
        set: &[
            "SENDER.stack.congestion=new-reno",
            "SENDER.stack.fast_retransmit=3",
            WIDE,
            SCALED[0],
            SCALED[1],
        ],
    },
    Family {
        name: "timeout",
        cause: Cause::Timeout,
        knob: knob("LOSS", "", 0.0001, 0.2),
        size: "400000",
        streaming: true,
        set: &["SENDER.stack.fast_retransmit=0"],
    },
    Family {
        name: "ring",
        cause: Cause::Timeout,
        knob: knob("SENDER.stack.receive_window", "", 60_000.0, 60_000.0),
        size: "400000",
        streaming: true,
        set: &[
            "SENDER.card.tx_full=drop",
            "SENDER.card.tx_ring=10",
            "SENDER.stack.fast_retransmit=0",
            "SENDER.stack.congestion=none",
            "RECEIVER.stack.receive_window=17520",
        ],
    },
    Family {
        name: "bandwidth",
        cause: Cause::Bandwidth,
        knob: knob("link.rate", " kbit/s", 1_000_000.0, 30.0),
        size: "400000",
        streaming: true,
        set: &[WIDE, SCALED[0], SCALED[1]],
    },
    Family {
        name: "shallow-queue",
        cause: Cause::FastRecovery,
        knob: knob("link.queue_bytes", "", 100_000.0, 3_000.0),
        size: "1000000",
        streaming: true,
        set: &[
            WIDE,
            SCALED[0],
            SCALED[1],
            "SENDER.stack.congestion=new-reno",
            "SENDER.stack.fast_retransmit=3",
            "link.access_rate=1000 Mbit/s",
        ],
    },
    Family {
        name: "mixed",
        cause: Cause::Unattributed,
        knob: None,
        size: "300000",
        streaming: false,
        set: &[],
    },
    Family {
        name: "zero-window",
        cause: Cause::ZeroWindow,
        knob: knob("RECEIVER.machine.disk_write.per_byte", " ns", 1.0, 1e6),
        size: "1500000",
        streaming: true,
        set: &[
            "client.profile=modern",
            "client.machine.blocking=true",
            "RECEIVER.stack.receive_window=8760",
            "client.profile.read.block=24576",
            "client.profile.read.in-flight=2",
            "client.profile.write.block=24576",
            "client.profile.write.in-flight=2",
        ],
    },
];
