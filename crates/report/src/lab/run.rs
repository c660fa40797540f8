//! Runs a scenario and summarises the result.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use coax_client::Direction;
use coax_lab::{
    Cause, Setup, Stretch, Tap,
    scenario::Scenario,
    smb::{CopyResult, CopySetup, NOT_MODELLED, copy},
    watch::Seen,
    world::PathStats,
};
use coax_wire::time::Time;
use serde::Serialize;

use crate::files::write_whole;

/// Frames in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// Frames that the card sent.
    pub frames: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
    /// Segments retransmitted after a timeout.
    pub timeout_retransmissions: u64,
    /// Segments retransmitted after duplicate ACKs.
    pub fast_retransmissions: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Frames dropped by the sender's card, the link, a router's queue or the receiver's card.
    pub dropped: Dropped,
}

impl Way {
    /// All retransmitted segments.
    pub const fn sent_again(&self) -> u64 {
        self.timeout_retransmissions
            .saturating_add(self.fast_retransmissions)
    }

    /// Lost frames and retransmission timeouts in words; `None` if there were none.
    fn losses(&self) -> Option<String> {
        let counts = [
            (self.dropped.sending_card, "frames dropped by its full card"),
            (self.dropped.link, "frames lost on the link"),
            (self.dropped.queue, "frames dropped by a full queue"),
            (
                self.dropped.receiving_card,
                "frames dropped by the full card of the receiver",
            ),
            (self.timeouts, "retransmission timeouts"),
        ];
        let found = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = found
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

/// Dropped frames by place.
#[derive(Clone, Debug, Serialize)]
pub struct Dropped {
    /// The sender's card had no free buffer.
    pub sending_card: u64,
    /// The link lost them.
    pub link: u64,
    /// A router's queue was full.
    pub queue: u64,
    /// The receiver's card had no free buffer.
    pub receiving_card: u64,
}

impl Dropped {
    /// The total.
    pub fn total(&self) -> u64 {
        [
            self.sending_card,
            self.link,
            self.queue,
            self.receiving_card,
        ]
        .iter()
        .sum()
    }
}

/// Requests of one command.
#[derive(Clone, Debug, Serialize)]
pub struct Requests {
    /// The command.
    pub command: &'static str,
    /// Number of requests.
    pub requests: u64,
    /// Bytes of file data they moved.
    pub bytes: u64,
    /// Largest number of bytes in one request.
    pub largest: u32,
}

/// One of several clients.
#[derive(Clone, Debug, Serialize)]
pub struct Client {
    /// Its redirector.
    pub profile: String,
    /// Bytes copied.
    pub bytes: u64,
    /// The error, if its copy failed.
    pub failed: Option<String>,
    /// From the first request of the first copy of all to the first request of this one's.
    pub began_s: f64,
    /// From its first request to its last response.
    pub seconds: f64,
    /// Nanoseconds by cause; their sum equals its time.
    pub causes_ns: BTreeMap<&'static str, u64>,
}

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's title.
    pub title: String,
    /// The scenario's parameters.
    pub parameters: BTreeMap<String, String>,
    /// `to-server` or `to-client`.
    pub direction: &'static str,
    /// Bytes copied.
    pub bytes: u64,
    /// The error, if the run failed.
    pub failed: Option<String>,
    /// From the first request of the copy to its last response.
    pub seconds: f64,
    /// The negotiated dialect.
    pub dialect: &'static str,
    /// The requests.
    pub requests: Vec<Requests>,
    /// Frames from the client, including those of the log-on.
    pub to_server: Way,
    /// Frames from the server, including those of the log-on.
    pub to_client: Way,
    /// Nanoseconds by cause; their sum equals the copy's time. Empty if the copy failed: then its end is a timer of the
    /// client, which tells nothing about the cause.
    pub causes_ns: BTreeMap<&'static str, u64>,
    /// All clients, if there are several; the other values are those of the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Client>,
    /// What the model does not include.
    pub not_modelled: [&'static str; NOT_MODELLED.len()],
}

impl Summary {
    /// Bytes per second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// The largest cause and its share.
    pub fn dominant(&self) -> (&'static str, f64) {
        let most = self.causes_ns.iter().max_by_key(|(_, ns)| **ns);
        most.map_or(("nothing", 0.0), |(name, ns)| {
            (name, *ns as f64 / (self.seconds * 1e9))
        })
    }

    /// Why the simulated client gave up, with the losses before; `None` if the copy did not fail.
    pub fn failure(&self) -> Option<String> {
        let failed = self.failed.as_ref()?;
        let ways = [("client", &self.to_server), ("server", &self.to_client)];
        let losses = ways.map(|(sender, way)| way.losses().map(|what| format!("{sender}: {what}")));
        let losses: Vec<String> = losses.into_iter().flatten().collect();
        Some(match losses.is_empty() {
            true => failed.clone(),
            false => format!("{failed} ({})", losses.join("; ")),
        })
    }

    fn new(scenario: &Scenario, result: &CopyResult) -> Self {
        let direction = match scenario.direction() {
            Direction::ToServer => "to-server",
            Direction::ToClient => "to-client",
        };
        let requests = result.mix.iter().map(|(_, command, entry)| Requests {
            command,
            requests: entry.requests,
            bytes: entry.bytes,
            largest: entry.largest,
        });
        let ended = result.copied.is_ok();
        let causes = result
            .account
            .iter()
            .filter(|(_, span)| ended && span.0 > 0);
        Self {
            title: scenario.title().to_owned(),
            parameters: scenario.parameters().into_iter().collect(),
            direction,
            bytes: *result.copied.as_ref().unwrap_or(&0),
            failed: result.copied.as_ref().err().cloned(),
            seconds: result.took.0 as f64 / 1e9,
            dialect: result.dialect,
            requests: requests.collect(),
            to_server: way(&result.to_server, &result.client_tcp),
            to_client: way(&result.to_client, &result.server_tcp),
            causes_ns: causes.map(|(cause, span)| (cause.name(), span.0)).collect(),
            clients: clients(result),
            not_modelled: NOT_MODELLED,
        }
    }

    /// Bytes that all clients copied, and the seconds from the first request of any to the last response.
    pub fn together(&self) -> (u64, f64) {
        let bytes = self.clients.iter().map(|it| it.bytes).sum();
        let ends = self.clients.iter().map(|it| it.began_s + it.seconds);
        (bytes, ends.fold(0.0, f64::max))
    }
}

fn clients(result: &CopyResult) -> Vec<Client> {
    let began = result.clients.iter().map(|it| it.began).min();
    let each = result.clients.iter().map(|it| {
        let causes = it.account.iter().filter(|(_, span)| span.0 > 0);
        Client {
            profile: it.profile.clone(),
            bytes: *it.copied.as_ref().unwrap_or(&0),
            failed: it.copied.as_ref().err().cloned(),
            began_s: (it.began - began.unwrap_or_default()).0 as f64 / 1e9,
            seconds: (it.ended - it.began).0 as f64 / 1e9,
            causes_ns: causes.map(|(cause, span)| (cause.name(), span.0)).collect(),
        }
    });
    each.collect()
}

fn way(path: &PathStats, tcp: &coax_lab::tcp::TcpStats) -> Way {
    Way {
        frames: path.frames,
        wire_bytes: path.wire_bytes,
        timeout_retransmissions: tcp.timeout_retransmissions,
        fast_retransmissions: tcp.fast_retransmissions,
        timeouts: tcp.timeouts,
        dropped: Dropped {
            sending_card: path.ring_drops,
            link: path.lost,
            queue: path.queue_drops,
            receiving_card: path.rx_drops,
        },
    }
}

/// Runs a scenario.
///
/// # Errors
/// A name is unknown, or a change is not allowed.
pub fn run(scenario: &Scenario) -> Result<Summary> {
    let setup = CopySetup::of(scenario)?;
    Ok(Summary::new(scenario, &copy(&setup)))
}

/// A run with its recorded data.
#[derive(Debug)]
pub struct Observed {
    /// The summary.
    pub summary: Summary,
    /// The bytes of a pcapng file, if a capture point was given.
    pub capture: Vec<u8>,
    /// The causes of the copy's time in order.
    pub truth: Vec<Stretch>,
    /// Records of all frames, if requested.
    pub frames: Vec<Seen>,
    /// Start and end of the copy; the log-on is before it.
    pub copy: (Time, Time),
}

/// Runs a scenario and records the ground truth, optionally a capture and every frame.
///
/// # Errors
/// As for [`run`].
pub fn run_observed(scenario: &Scenario, tap: Option<Tap>, frames: bool) -> Result<Observed> {
    let mut setup = CopySetup::of(scenario)?;
    setup.taps = tap.into_iter().collect();
    setup.world = Setup {
        keep_truth: true,
        keep_frames: frames,
        ..setup.world
    };
    let mut result = copy(&setup);
    let first = result.clients.first().map(|client| client.ended);
    let end = first.unwrap_or_else(|| result.world.now());
    Ok(Observed {
        summary: Summary::new(scenario, &result),
        capture: result.world.captures().pop().unwrap_or_default(),
        truth: result.world.truth(),
        frames: result.world.seen().to_vec(),
        copy: (Time(end.0.saturating_sub(result.took.0)), end),
    })
}

/// Runs a scenario and captures at one place; returns the bytes of a pcapng file.
///
/// # Errors
/// As for [`run`].
pub fn run_captured(scenario: &Scenario, tap: Tap) -> Result<(Summary, Vec<u8>, Vec<Stretch>)> {
    let observed = run_observed(scenario, Some(tap), false)?;
    Ok((observed.summary, observed.capture, observed.truth))
}

/// Writes the capture and, beside it, the ground truth: the cause of every nanosecond of the copy.
///
/// # Errors
/// Writing failed.
pub fn write_capture(path: &Path, capture: &[u8], truth: &[Stretch]) -> Result<()> {
    write_whole(path, capture)?;
    let stretches: Vec<_> = truth
        .iter()
        .map(|stretch| (stretch.from.0, stretch.to.0, stretch.cause.name()))
        .collect();
    let epoch_ns = coax_lab::capture::EPOCH_S * 1_000_000_000;
    let text = serde_json::json!({
        "about": "what the copy in the capture beside this file waited for: from, to (nanoseconds after epoch_ns), cause",
        "epoch_ns": epoch_ns,
        "causes": Cause::ALL.map(Cause::name),
        "stretches": stretches,
    });
    let mut name = path.as_os_str().to_owned();
    name.push(".truth.json");
    write_whole(Path::new(&name), text.to_string().as_bytes())
}
