//! The values that the page lets a person change with a slider.

use serde::Serialize;

/// How a slider's number is written in a scenario.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A whole number.
    Number,
    /// Milliseconds, as `31 ms`.
    Milliseconds,
    /// Megabits per second, as `10 Mbit/s`.
    Megabits,
    /// 10^6 bytes, as a whole number of bytes.
    Megabytes,
}

/// A value with a range.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Slider {
    /// The scenario's key.
    pub key: &'static str,
    /// What it is.
    pub label: &'static str,
    /// The unit that the page shows.
    pub unit: &'static str,
    pub form: Form,
    /// The smallest value,
    pub min: f64,
    /// and the largest. Steps are even in the logarithm.
    pub max: f64,
}

const fn slider(
    key: &'static str,
    label: &'static str,
    (unit, form): (&'static str, Form),
    (min, max): (f64, f64),
) -> Slider {
    Slider {
        key,
        label,
        unit,
        form,
        min,
        max,
    }
}

const BYTES: (&str, Form) = ("bytes", Form::Number);
const FRAMES: (&str, Form) = ("frames", Form::Number);
const MS: (&str, Form) = ("ms", Form::Milliseconds);

/// The sliders, in the order of the page. The ranges are those of Ethernet and modem links and of windows without scaling.
pub const SLIDERS: &[Slider] = &[
    slider(
        "size",
        "Size of the file",
        ("MB", Form::Megabytes),
        (0.1, 100.0),
    ),
    slider(
        "client.stack.receive_window",
        "Receive window of the client",
        BYTES,
        (512.0, 65_535.0),
    ),
    slider(
        "server.stack.receive_window",
        "Receive window of the server",
        BYTES,
        (1_460.0, 65_535.0),
    ),
    slider(
        "client.card.tx_ring",
        "Send buffers of the client's card",
        FRAMES,
        (1.0, 64.0),
    ),
    slider(
        "client.card.rx_ring",
        "Receive buffers of the client's card",
        FRAMES,
        (1.0, 64.0),
    ),
    slider(
        "client.stack.delayed_ack",
        "Delayed acknowledgment of the client",
        MS,
        (0.0, 500.0),
    ),
    slider(
        "server.stack.delayed_ack",
        "Delayed acknowledgment of the server",
        MS,
        (0.0, 500.0),
    ),
    slider(
        "client.stack.rto_min",
        "Shortest retransmission timeout of the client",
        MS,
        (10.0, 3_000.0),
    ),
    slider(
        "link.rate",
        "Rate of the link",
        ("Mbit/s", Form::Megabits),
        (0.05, 1_000.0),
    ),
    slider(
        "link.delay",
        "Delay of the link, one way",
        MS,
        (0.01, 400.0),
    ),
];

/// A value that is on or off.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Switch {
    /// The scenario's key.
    pub key: &'static str,
    /// What it is.
    pub label: &'static str,
    /// The values for on and off.
    pub values: [&'static str; 2],
    /// The value where neither the scenario nor the profile has one.
    pub usual: &'static str,
}

const fn switch(key: &'static str, label: &'static str, usual: &'static str) -> Switch {
    Switch {
        key,
        label,
        values: ["true", "false"],
        usual,
    }
}

const fn nagle(key: &'static str, label: &'static str) -> Switch {
    Switch {
        key,
        label,
        values: ["standard", "off"],
        usual: "standard",
    }
}

/// The switches.
pub const SWITCHES: &[Switch] = &[
    switch(
        "server.config.pacing",
        "The server limits bursts (coax)",
        "false",
    ),
    switch("server.config.write_raw", "Raw writes", "true"),
    switch("server.config.read_raw", "Raw reads", "true"),
    nagle("client.stack.nagle", "Nagle's algorithm at the client"),
    nagle("server.stack.nagle", "Nagle's algorithm at the server"),
];
