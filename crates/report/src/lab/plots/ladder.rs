//! A ladder diagram of an interval: each frame as an arrow between the time lines of client and server.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Result, ensure};
use coax_lab::{
    Cause, Side,
    segment::Sent,
    watch::{Happened, Seen},
};
use coax_wire::time::Time;

use super::{
    legend::{self, Entry, How},
    sequence::Part,
};
use crate::{
    digits::grouped,
    lab::{report, run::Observed},
    plot::{self, Anchor, Area, Scale, Svg, axis, cause_class, seconds_unit},
};

const WIDTH: f64 = 1000.0;
const CLIENT: f64 = 310.0;
const SERVER: f64 = 820.0;
/// The causes, between the axis of time and the client's line.
const BAND: (f64, f64) = (110.0, 24.0);
/// Most arrows that can be told apart.
const MOST_ARROWS: usize = 120;
/// Height for each arrow, and of the shortest picture.
const EACH: f64 = 17.0;
const LEAST_HEIGHT: f64 = 320.0;

/// Sequence numbers at the beginning of the copy, of the client's and of the server's bytes. Texts count from them.
struct Bases {
    client: u64,
    server: u64,
}

impl Bases {
    fn new(run: &Observed) -> Self {
        let least = |side: Side| {
            let from = run.frames.iter().filter(|seen| seen.from == side);
            let of_the_copy = from.filter(|seen| seen.at >= run.copy.0);
            of_the_copy.map(|seen| seen.seq).min().unwrap_or(0)
        };
        Self {
            client: least(Side::Client),
            server: least(Side::Server),
        }
    }

    /// Number of a frame's first byte, and of the byte that its sender expects.
    const fn numbers(&self, seen: &Seen) -> (u64, u64) {
        let (own, other) = match seen.from {
            Side::Client => (self.client, self.server),
            Side::Server => (self.server, self.client),
        };
        (seen.seq.saturating_sub(own), seen.ack.saturating_sub(other))
    }
}

/// A frame: when its card sent it, and when it arrived.
struct Arrow {
    seen: Seen,
    arrived: Option<Time>,
}

/// Draws an interval of a run.
///
/// # Errors
/// The interval starts after the end of the copy, or it has too many frames; the error says which interval is possible.
pub fn ladder(run: &Observed, part: Part) -> Result<String> {
    let seconds = (run.copy.1 - run.copy.0).0 as f64 / 1e9;
    ensure!(
        part.from < seconds,
        "--span begins at {} s, and the copy ends at {seconds:.3} s",
        part.from
    );
    let part = Part {
        to: part.to.min(seconds),
        ..part
    };
    let arrows = arrows(run, part);
    if let Some(next) = arrows.get(MOST_ARROWS) {
        let possible = (next.seen.at - run.copy.0).0 as f64 / 1e9;
        anyhow::bail!(
            "--span has {} frames, and a ladder has room for {MOST_ARROWS}: the first ones are within --span {}..{possible:.6}",
            arrows.len(),
            part.from
        );
    }
    Ok(draw(run, part, &arrows))
}

/// The frames that were sent in the interval, in order, with their arrivals. Frames of one direction can pass each other, so an arrival is that of
/// the first frame with the same contents.
fn arrows(run: &Observed, part: Part) -> Vec<Arrow> {
    type Key = (bool, u64, u32, u64, u32);
    let key = |seen: &Seen| -> Key {
        let from = seen.from == Side::Client;
        (from, seen.seq, seen.len, seen.ack, seen.window)
    };
    let moment = |seconds: f64| Time(run.copy.0.0 + (seconds * 1e9).round() as u64);
    let (from, to) = (moment(part.from), moment(part.to));
    let mut waiting: BTreeMap<Key, VecDeque<usize>> = BTreeMap::new();
    let mut all: Vec<Arrow> = Vec::new();
    for seen in &run.frames {
        match seen.happened {
            Happened::Sent | Happened::SentInVain => {
                if seen.happened == Happened::Sent {
                    waiting.entry(key(seen)).or_default().push_back(all.len());
                }
                all.push(Arrow {
                    seen: *seen,
                    arrived: None,
                });
            }
            Happened::Arrived => {
                let sent = waiting.get_mut(&key(seen)).and_then(VecDeque::pop_front);
                if let Some(arrow) = sent.and_then(|at| all.get_mut(at)) {
                    arrow.arrived = Some(seen.at);
                }
            }
            Happened::NoRoom => {
                waiting.get_mut(&key(seen)).and_then(VecDeque::pop_front);
            }
        }
    }
    all.retain(|arrow| (from..=to).contains(&arrow.seen.at));
    all
}

fn draw(run: &Observed, part: Part, arrows: &[Arrow]) -> String {
    let height = (arrows.len() as f64 * EACH).max(LEAST_HEIGHT);
    let title = match run.summary.title.as_str() {
        "" => "Frames between client and server".to_owned(),
        title => title.to_owned(),
    };
    let about = format!(
        "{} frames from {} to {} of the copy, whose whole time is {}",
        arrows.len(),
        report::duration(part.from),
        report::duration(part.to),
        report::duration((run.copy.1 - run.copy.0).0 as f64 / 1e9),
    );
    let entries = entries(run, part, arrows);
    let rows = legend::rows(&entries, WIDTH - 40.0) as f64;
    let top = 84.0 + rows * legend::ROW;
    let mut svg = Svg::new(WIDTH, top + height + 30.0, &title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    svg.text((20.0, 46.0), Anchor::Start, "faint", &about);
    legend::draw(&mut svg, (20.0, 54.0), WIDTH - 40.0, &entries);
    let scale = Scale::linear((part.from, part.to), (top, top + height));
    frame(&mut svg, part, &scale);
    band(&mut svg, run, part, &scale);
    let bases = Bases::new(run);
    let mut last = [f64::NEG_INFINITY; 2];
    for arrow in arrows {
        let text = text(&arrow.seen, &bases);
        one(&mut svg, (run, &scale), arrow, &text, &mut last);
    }
    svg.finish()
}

/// Time axis, both lines and their names.
fn frame(svg: &mut Svg, part: Part, scale: &Scale) {
    let (top, bottom) = scale.pixels();
    let (unit, name) = seconds_unit(part.to - part.from);
    let shown = Scale::linear((part.from / unit, part.to / unit), (top, bottom));
    let area = Area {
        x: BAND.0 - 6.0,
        y: top,
        width: 0.0,
        height: bottom - top,
    };
    let ticks = shown.ticks(((bottom - top) / 40.0) as usize);
    let name = format!("{name} from the copy's beginning");
    axis(svg, area, plot::Side::Left, &shown, &ticks, &name);
    for (x, name) in [(CLIENT, "client"), (SERVER, "server")] {
        svg.line((x, top), (x, bottom), "frame");
        svg.text((x, top - 8.0), Anchor::Middle, "strong", name);
    }
    let middle = BAND.0 + BAND.1 / 2.0;
    svg.text(
        (middle, top - 8.0),
        Anchor::Middle,
        "small faint",
        "spent on",
    );
}

/// What the copy waited for.
fn band(svg: &mut Svg, run: &Observed, part: Part, scale: &Scale) {
    let seconds = |at: Time| (at - run.copy.0).0 as f64 / 1e9;
    for stretch in &run.truth {
        let (from, to) = (seconds(stretch.from), seconds(stretch.to));
        if to <= part.from || from >= part.to {
            continue;
        }
        let (y, end) = (scale.at(from), scale.at(to));
        let area = Area {
            x: BAND.0,
            y,
            width: BAND.1,
            height: end - y,
        };
        let tip = format!("{}: {}", stretch.cause.name(), report::duration(to - from));
        svg.rect(
            area,
            &format!("crisp {}", cause_class(stretch.cause)),
            Some(&tip),
        );
    }
}

/// An arrow with its text at its beginning; one that does not arrive ends in a cross.
fn one(
    svg: &mut Svg,
    (run, scale): (&Observed, &Scale),
    arrow: &Arrow,
    text: &str,
    last: &mut [f64; 2],
) {
    let seconds = |at: Time| (at - run.copy.0).0 as f64 / 1e9;
    let is_client = arrow.seen.from == Side::Client;
    let (x, far, anchor, aside) = match is_client {
        true => (CLIENT, SERVER, Anchor::End, -8.0),
        false => (SERVER, CLIENT, Anchor::Start, 8.0),
    };
    let y = scale.at(seconds(arrow.seen.at));
    let class = class_of(&arrow.seen);
    match arrow.arrived {
        Some(at) => {
            let below = scale.at(seconds(at));
            svg.path(&head((x, y), (far, below)), class);
        }
        None => {
            let middle = f64::midpoint(x, far);
            svg.path(&format!("M{x} {y:.1}L{middle} {:.1}", y + 6.0), class);
            svg.path(&legend::cross(middle, y + 6.0), "lost");
        }
    }
    let [client, server] = last;
    let before = if is_client { client } else { server };
    // texts of frames that leave together would cover each other
    if y - *before >= 11.0 {
        svg.text((x + aside, y + 4.0), anchor, "tiny", text);
        *before = y;
    }
}

/// A line with an arrow head at its end.
fn head(from: (f64, f64), to: (f64, f64)) -> String {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let back = |side: f64| {
        let (x, y) = (to.0 - 8.0 * ux, to.1 - 8.0 * uy);
        (x - side * uy, y + side * ux)
    };
    let (left, right) = (back(4.0), back(-4.0));
    format!(
        "M{} {:.1}L{} {:.1}M{:.1} {:.1}L{} {:.1}L{:.1} {:.1}",
        from.0, from.1, to.0, to.1, left.0, left.1, to.0, to.1, right.0, right.1
    )
}

const fn class_of(seen: &Seen) -> &'static str {
    match seen.sent {
        Sent::FastRetransmit | Sent::Timeout => "sent-again",
        _ if seen.len > 0 => "s0",
        _ => "ack",
    }
}

fn text(seen: &Seen, bases: &Bases) -> String {
    let (number, expected) = bases.numbers(seen);
    let window = u64::from(seen.window);
    match (seen.len, seen.sent) {
        (0, _) => format!("ACK {}, window {}", grouped(expected), grouped(window)),
        (len, Sent::Timeout) => format!("{} bytes again, after a timeout", grouped(u64::from(len))),
        (len, Sent::FastRetransmit) => {
            format!(
                "{} bytes again, after duplicate ACKs",
                grouped(u64::from(len))
            )
        }
        (len, _) => format!("{} bytes from {}", grouped(u64::from(len)), grouped(number)),
    }
}

fn entries(run: &Observed, part: Part, arrows: &[Arrow]) -> Vec<Entry> {
    let has = |wanted: &dyn Fn(&Arrow) -> bool| arrows.iter().any(wanted);
    let mut entries = vec![
        Entry::new("s0", How::Line, "data"),
        Entry::new("ack", How::Line, "without data"),
    ];
    if has(&|arrow| class_of(&arrow.seen) == "sent-again") {
        entries.push(Entry::new("sent-again", How::Line, "retransmitted"));
    }
    if has(&|arrow| arrow.arrived.is_none()) {
        entries.push(Entry::new("lost", How::Cross, "did not arrive"));
    }
    let seconds = |at: Time| (at - run.copy.0).0 as f64 / 1e9;
    for cause in Cause::ALL {
        let is_there = run.truth.iter().any(|stretch| {
            let (from, to) = (seconds(stretch.from), seconds(stretch.to));
            stretch.cause == cause && to > part.from && from < part.to
        });
        if is_there {
            entries.push(Entry::new(cause_class(cause), How::Box, cause.name()));
        }
    }
    entries
}
