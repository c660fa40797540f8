//! One case: found, run, captured, explained, and held against the truth.

use coax_explain::{Account, Cause, explain};
use coax_lab::{
    Stretch, Tap,
    capture::EPOCH_S,
    scenario::Scenario,
    smb::{CopyResult, CopySetup, copy},
};
use coax_wire::time::{Span, Time};

use super::{
    carried,
    families::{Family, Knob},
};

/// Where captures are taken, and what they are called.
pub const TAPS: [(Tap, &str); 3] = [
    (Tap::Client, "client"),
    (Tap::Server, "server"),
    (Tap::Wire, "between"),
];

/// One of the two halves of all cases: the analyser was tuned on the first alone. They share no TCP stack, no redirector
/// and no seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tuned,
    HeldOut,
}

impl Half {
    const fn stacks(self) -> &'static [&'static str] {
        match self {
            Self::Tuned => &["linux", "windows-98", "bsd-4.4"],
            Self::HeldOut => &["windows-2000", "nt-4", "nts-3.18"],
        }
    }

    const fn clients(self, streaming: bool) -> &'static [&'static str] {
        match (self, streaming) {
            (Self::Tuned, true) => &["modern", "ms-net-3.11-full"],
            (Self::Tuned, false) => &["nt-4-copy", "ibm-dls-4.0", "windows-98"],
            (Self::HeldOut, true) => &["wfw-3.11", "modern"],
            (Self::HeldOut, false) => &["nt-4-explorer", "smbclient-1999", "windows-2000"],
        }
    }
}

/// A point of the factorial.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub family: &'static Family,
    pub half: Half,
    /// The share its cause is to have, points.
    pub target: u64,
    /// There and back, microseconds.
    pub round_us: u64,
    /// Kilobits a second.
    pub rate: u64,
    pub to_server: bool,
    pub seed: u64,
}

impl Case {
    /// What it is, for lists.
    pub fn name(&self) -> String {
        format!(
            "{} {} %, {} ms, {} Mbit/s, to {}, seed {}",
            self.family.name,
            self.target,
            self.round_us as f64 / 1000.0,
            self.rate as f64 / 1000.0,
            if self.to_server { "server" } else { "client" },
            self.seed
        )
    }

    fn scenario(&self, knob: Option<f64>) -> Scenario {
        let mut scenario = Scenario::new("accuracy");
        let mut set = |text: &str| {
            let text = self.placed(text);
            scenario
                .set_text(&text)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
        };
        for line in self.copied() {
            set(&line);
        }
        for line in self.family.set {
            set(line);
        }
        if self.family.knob.is_none() {
            mixture(self.seed, &mut set);
        }
        if let (Some(Knob { path, unit, .. }), Some(value)) = (self.family.knob, knob) {
            set(&match path {
                "LOSS" => format!(
                    "link.loss_to_RECEIVER={{ rule = {{ kind = \"random\", probability = {value} }}, data_only = true }}"
                ),
                _ => format!("{path}={}{unit}", value.round() as u64),
            });
        }
        scenario
    }

    /// What is copied, by whom and over which stacks and link.
    fn copied(&self) -> Vec<String> {
        let pick = |from: &'static [&'static str], by: u64| from[(by % from.len() as u64) as usize];
        let (clients, stacks) = (self.half.clients(self.family.streaming), self.half.stacks());
        let receiver = if self.to_server { "server" } else { "client" };
        vec![
            format!("direction=to-{receiver}"),
            format!("size={}", self.family.size),
            format!("seed={}", self.seed),
            "limit=\"2000000 s\"".to_owned(),
            format!("client.profile={}", pick(clients, self.seed)),
            format!("client.stack={}", pick(stacks, self.seed / 2)),
            format!("server.stack={}", pick(stacks, self.seed / 3)),
            "client.stack.max_retries=1000".to_owned(),
            "server.stack.max_retries=1000".to_owned(),
            format!("link.delay=\"{} us\"", self.round_us / 2),
            format!("link.rate=\"{} kbit/s\"", self.rate),
        ]
    }

    /// The sides' names in place of what stands for them.
    fn placed(&self, text: &str) -> String {
        let (sender, receiver, disk) = if self.to_server {
            ("client", "server", "disk_read")
        } else {
            ("server", "client", "disk_write")
        };
        text.replace("SENDER", sender)
            .replace("RECEIVER", receiver)
            .replace("DISK", disk)
    }

    /// What the work of the receiver is charged to.
    const fn receiver(&self) -> Cause {
        if self.to_server {
            Cause::ServerThink
        } else {
            Cause::ClientThink
        }
    }

    fn setup(&self, knob: Option<f64>) -> CopySetup {
        let mut setup =
            CopySetup::of(&self.scenario(knob)).unwrap_or_else(|error| panic!("{error}"));
        setup.world.keep_truth = true;
        setup
    }

    fn share(&self, knob: f64) -> f64 {
        let result = copy(&self.setup(Some(knob)));
        let cause = match self.family.cause {
            // the lab charges a closed window to the program that does not read
            Cause::ZeroWindow => self.receiver(),
            cause => cause,
        };
        result.account.get(cause).0 as f64 * 100.0 / result.took.0.max(1) as f64
    }

    /// The value of the knob that comes nearest to the share that is wanted.
    fn knob(&self) -> Option<f64> {
        let Knob { from, to, .. } = self.family.knob?;
        let (mut low, mut high) = (from.ln(), to.ln());
        let mut best = (f64::INFINITY, from);
        for _ in 0..7 {
            let middle = (low + high) / 2.0;
            let share = self.share(middle.exp());
            let off = (share - self.target as f64).abs();
            if off < best.0 {
                best = (off, middle.exp());
            }
            if off < 1.0 || from == to {
                break;
            }
            if share < self.target as f64 {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(best.1)
    }
}

/// Several things wrong at once, by the seed.
fn mixture(seed: u64, set: &mut dyn FnMut(&str)) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let lines = [
        format!("client.machine.request.fixed={} us", 1 << next(13)),
        format!("server.machine.request.fixed={} us", 1 << next(13)),
        format!("RECEIVER.stack.receive_window={}", 2920 * (1 + next(20))),
        format!(
            "RECEIVER.stack.delayed_ack={} ms",
            [0, 40, 100, 200][next(4) as usize]
        ),
        format!(
            "SENDER.stack.nagle={}",
            ["off", "standard"][next(2) as usize]
        ),
        format!("client.machine.DISK.per_byte={} ns", 1 << next(10)),
    ];
    for line in &lines {
        if next(2) == 0 {
            set(line);
        }
    }
    if next(3) == 0 {
        let probability = 0.0005 * (1 << next(5)) as f64;
        set(&format!(
            "link.loss_to_RECEIVER={{ rule = {{ kind = \"random\", probability = {probability} }}, data_only = true }}"
        ));
    }
}

/// What was true of a case, and what was said.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub case: Case,
    pub wall: Span,
    /// Of each capture: of the time that the copy took as the capture has it.
    pub said: [Option<Said>; 3],
}

/// The truth and what was said of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// By the chain of what waited for what.
    chain: Account,
    /// The same, but `bandwidth` wherever the link carried new data.
    link: Account,
    pub account: Account,
}

/// Which truth counts where the copy waited for two things at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    Chain,
    Link,
}

impl Said {
    pub const fn truth(&self, truth: Truth) -> &Account {
        match truth {
            Truth::Chain => &self.chain,
            Truth::Link => &self.link,
        }
    }
}

/// Runs a case; `None` if it comes to no copy.
pub fn run(case: &Case) -> Option<Outcome> {
    let mut setup = case.setup(case.knob());
    setup.taps = TAPS.map(|(tap, _)| tap).to_vec();
    let mut result: CopyResult = copy(&setup);
    result.copied.as_ref().ok()?;
    let captures = result.world.captures();
    if let Some(folder) = std::env::var_os("COAX_ACCURACY_KEEP") {
        for (bytes, (_, name)) in captures.iter().zip(TAPS) {
            let file = format!(
                "{}-{name}.pcapng",
                case.name().replace([' ', '/', ','], "_")
            );
            let _ = std::fs::write(std::path::Path::new(&folder).join(file), bytes);
        }
    }
    let stretches = result.world.truth();
    let ends = [&captures[0][..], &captures[1][..]];
    let carried = carried::intervals(ends, &setup.world.link);
    let link_first = carried::before_all(&stretches, &carried);
    let said = [0, 1, 2].map(|place| {
        let capture = explain(captures.get(place)?.as_slice()).ok()?;
        let copy = capture.copies.into_iter().max_by_key(|copy| copy.moved)?;
        let (from, to) = (copy.start, copy.start + copy.wall);
        Some(Said {
            chain: clipped(&stretches, from, to),
            link: clipped(&link_first, from, to),
            account: copy.account,
        })
    });
    Some(Outcome {
        case: *case,
        wall: result.took,
        said,
    })
}

/// What of the truth lies between two moments of a capture.
fn clipped(stretches: &[Stretch], from: Time, to: Time) -> Account {
    let since = |at: Time| Time(at.0.saturating_sub(EPOCH_S * 1_000_000_000));
    let (from, to) = (since(from), since(to));
    let mut account = Account::default();
    for stretch in stretches {
        let (begin, end) = (stretch.from.max(from), stretch.to.min(to));
        if end > begin {
            account.add(stretch.cause, end - begin);
        }
    }
    account
}

/// Shares in points, by cause.
pub fn shares(account: &Account) -> [f64; Cause::COUNT] {
    let total = account.total().0.max(1) as f64;
    Cause::ALL.map(|cause| account.get(cause).0 as f64 * 100.0 / total)
}
