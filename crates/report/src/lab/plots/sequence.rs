//! A time-sequence graph of a run: the data stream's sequence numbers over time, and below it the causes over time.
//!
//! The number of marks depends on the pixels, not on the segments: segments of one colour in one pixel column become
//! one stroke. Retransmitted and lost segments have their own marks.

use crate::digits::grouped;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use anyhow::{Context as _, Result, ensure};
use coax_lab::{
    Cause, Side, Stretch,
    segment::Sent,
    watch::{Happened, MOST, Seen},
};
use coax_wire::time::Time;

use super::legend::{self, Entry, How};
use crate::{
    lab::{report, run::Observed},
    plot::{self, Anchor, Area, Scale, Svg, axis, bytes_unit, cause_class, grid, seconds_unit},
};

const WIDTH: f64 = 1000.0;
const PLOT: Area = Area {
    x: 80.0,
    y: 64.0,
    width: 900.0,
    height: 420.0,
};
/// The area of the causes, below the plot.
const BAND: Area = Area {
    x: 80.0,
    y: 490.0,
    width: 900.0,
    height: 48.0,
};

/// A time range of a run, seconds from the start of its copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
}

impl Part {
    /// Parses `A..B` in seconds.
    ///
    /// # Errors
    /// The text is invalid; the error names the allowed form.
    pub fn parse(text: &str) -> Result<Self> {
        let allowed = || {
            format!("`{text}` is not a part of a run; allowed is A..B in seconds, such as 0..2.5")
        };
        let (from, to) = text.split_once("..").with_context(allowed)?;
        let number = |text: &str| text.trim().parse::<f64>().with_context(allowed);
        let (from, to) = (number(from)?, number(to)?);
        ensure!(from >= 0.0 && from < to && to.is_finite(), allowed());
        Ok(Self { from, to })
    }
}

/// Plots a run or a part of it.
///
/// # Errors
/// The part starts after the end of the copy.
pub fn sequence(run: &Observed, part: Option<Part>) -> Result<String> {
    let seconds = (run.copy.1 - run.copy.0).0 as f64 / 1e9;
    let part = part.unwrap_or(Part {
        from: 0.0,
        to: seconds,
    });
    ensure!(
        part.from < seconds,
        "--span begins at {} s, and the copy ends at {seconds:.3} s",
        part.from
    );
    let part = Part {
        to: part.to.min(seconds),
        ..part
    };
    Ok(Graph::new(run, part).draw())
}

/// Lost segments whose places are nearer than this, in pixels, share one cross.
const CELL: f64 = 5.0;

/// The plot and its scales.
struct Graph<'a> {
    run: &'a Observed,
    part: Part,
    time: Scale,
    bytes: Scale,
    /// Sequence number of the first byte of the copy.
    base: u64,
    from: Side,
    unit: (f64, &'static str),
    time_unit: (f64, &'static str),
}

impl<'a> Graph<'a> {
    fn new(run: &'a Observed, part: Part) -> Self {
        let from = match run.summary.direction {
            "to-server" => Side::Client,
            _ => Side::Server,
        };
        let sent = run
            .frames
            .iter()
            .filter(|seen| seen.from == from && seen.at >= run.copy.0 && seen.len > 0);
        let base = sent.map(|seen| seen.seq).min().unwrap_or(0);
        let mut graph = Self {
            run,
            part,
            time: Scale::linear((part.from, part.to), (PLOT.x, PLOT.right())),
            bytes: Scale::linear((0.0, 1.0), (PLOT.bottom(), PLOT.y)),
            base,
            from,
            unit: (1.0, "bytes"),
            time_unit: seconds_unit(part.to),
        };
        let (least, most) = graph.extent();
        graph.unit = bytes_unit(most);
        graph.bytes = Scale::linear((least, most), (PLOT.bottom(), PLOT.y));
        graph
    }

    /// Frames in the drawn time range.
    fn frames(&self) -> impl Iterator<Item = &'a Seen> + use<'a> {
        let begin = self.run.copy.0;
        let moment = |seconds: f64| Time(begin.0.saturating_add((seconds * 1e9).round() as u64));
        let (from, to) = (moment(self.part.from), moment(self.part.to));
        let frames = self.run.frames.iter();
        frames.filter(move |seen| seen.at >= from && seen.at <= to)
    }

    /// The smallest and largest sequence number to draw.
    fn extent(&self) -> (f64, f64) {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for seen in self.frames() {
            let (low, high) = match self.role(seen) {
                Role::Data => (seen.seq, seen.seq.saturating_add(u64::from(seen.len))),
                Role::Ack => (seen.ack, seen.ack.saturating_add(u64::from(seen.window))),
                Role::Neither => continue,
            };
            least = least.min(self.offset(low));
            most = most.max(self.offset(high));
        }
        let least = if least.is_finite() { least } else { 0.0 };
        (least.min(most), most)
    }

    fn offset(&self, seq: u64) -> f64 {
        seq.saturating_sub(self.base) as f64
    }

    fn role(&self, seen: &Seen) -> Role {
        match seen.happened {
            Happened::Arrived if seen.from != self.from && seen.ack > self.base => Role::Ack,
            Happened::Arrived => Role::Neither,
            _ if seen.from == self.from && seen.len > 0 => Role::Data,
            _ => Role::Neither,
        }
    }

    fn x(&self, at: Time) -> f64 {
        self.time.at((at - self.run.copy.0).0 as f64 / 1e9)
    }

    fn y(&self, seq: u64) -> f64 {
        self.bytes.at(self.offset(seq))
    }

    fn draw(&self) -> String {
        let entries = self.entries();
        let rows = legend::rows(&entries, PLOT.width) as f64;
        let height = BAND.bottom() + 48.0 + rows * legend::ROW + 8.0;
        let summary = &self.run.summary;
        let title = match summary.title.as_str() {
            "" => "A copy".to_owned(),
            title => title.to_owned(),
        };
        let mut svg = Svg::new(WIDTH, height, &title, &self.about());
        svg.text((PLOT.x, 26.0), Anchor::Start, "head", &title);
        svg.text((PLOT.x, 46.0), Anchor::Start, "faint", &self.about());
        self.axes(&mut svg);
        self.lines(&mut svg);
        self.data(&mut svg);
        self.band(&mut svg);
        let corner = (PLOT.x, BAND.bottom() + 44.0);
        legend::draw(&mut svg, corner, PLOT.width, &entries);
        svg.finish()
    }

    fn about(&self) -> String {
        let summary = &self.run.summary;
        let mut about = format!(
            "{} bytes {} in {}",
            grouped(summary.bytes),
            match self.from {
                Side::Client => "to the server",
                Side::Server => "to the client",
            },
            report::duration(summary.seconds)
        );
        if let Some(failed) = &summary.failed {
            about = format!(
                "failed after {}: {failed}",
                report::duration(summary.seconds)
            );
        }
        if self.run.frames.len() >= MOST {
            about += "; too long to be kept whole: segments of its beginning only";
        }
        about
    }

    fn axes(&self, svg: &mut Svg) {
        let (bytes, name) = self.unit;
        let shown = |scale: &Scale, unit: f64| {
            let pixels = scale.pixels();
            Scale::linear((scale.least() / unit, scale.greatest() / unit), pixels)
        };
        let vertical = shown(&self.bytes, bytes);
        let ticks = vertical.ticks(7);
        grid(svg, PLOT, plot::Side::Left, &vertical, &ticks);
        let whose = match self.from {
            Side::Client => "client's",
            Side::Server => "server's",
        };
        let name = format!("{name} of the {whose} stream");
        axis(svg, PLOT, plot::Side::Left, &vertical, &ticks, &name);
        let (seconds, name) = self.time_unit;
        let horizontal = shown(&self.time, seconds);
        let ticks = horizontal.ticks(9);
        grid(svg, PLOT, plot::Side::Below, &horizontal, &ticks);
        let name = format!("{name} from the copy's beginning");
        axis(svg, BAND, plot::Side::Below, &horizontal, &ticks, &name);
    }

    /// Draws the ACKs and the right edge of the window as they arrive at the sender.
    fn lines(&self, svg: &mut Svg) {
        let (mut acks, mut edges) = (Steps::default(), Steps::default());
        let mut highest = 0;
        for seen in self.frames() {
            // an old ACK that arrives late carries no information
            if self.role(seen) == Role::Ack && seen.ack >= highest {
                highest = seen.ack;
                let x = self.x(seen.at);
                acks.go(x, self.y(seen.ack));
                edges.go(x, self.y(seen.ack.saturating_add(u64::from(seen.window))));
            }
        }
        svg.path(&edges.end(PLOT.right()), "window");
        svg.path(&acks.end(PLOT.right()), "ack");
    }

    /// Draws data segments, retransmissions and losses.
    fn data(&self, svg: &mut Svg) {
        let marks = self.marks();
        let mut paths: BTreeMap<&str, String> = BTreeMap::new();
        for ((class, column), (low, high)) in marks.strokes {
            let path = paths.entry(class).or_default();
            stroke(path, column, low.max(high + 1.5), high);
        }
        for (class, path) in paths {
            svg.path(&path, &format!("mark {class}"));
        }
        svg.path(&runs(&marks.again), "mark sent-again");
        let crosses: String = marks
            .lost
            .into_iter()
            .map(|(x, y)| legend::cross(f64::from(x) * CELL, f64::from(y) * CELL))
            .collect();
        svg.path(&crosses, "lost");
    }

    fn marks(&self) -> Marks {
        let causes = Causes::new(&self.run.truth);
        let mut marks = Marks::default();
        for seen in self.frames().filter(|seen| self.role(seen) == Role::Data) {
            let (x, low) = (self.x(seen.at), self.y(seen.seq));
            let high = self.y(seen.seq.saturating_add(u64::from(seen.len)));
            let column = x.floor() as i32;
            if matches!(seen.happened, Happened::SentInVain | Happened::NoRoom) {
                marks.lost.insert((
                    (x / CELL).round() as i32,
                    ((low + high) / 2.0 / CELL).round() as i32,
                ));
            }
            if seen.happened == Happened::NoRoom {
                continue;
            }
            if matches!(seen.sent, Sent::FastRetransmit | Sent::Timeout) {
                let rows = high.floor() as i32..=low.ceil() as i32;
                marks.again.extend(rows.map(|row| (column, row)));
                continue;
            }
            let class = cause_class(causes.at(seen.at));
            let stroke = marks.strokes.entry((class, column)).or_insert((low, high));
            *stroke = (stroke.0.max(low), stroke.1.min(high));
        }
        marks
    }

    /// Draws the causes of each pixel column as a stack.
    fn band(&self, svg: &mut Svg) {
        let spent = self.spent();
        let mut column = 0;
        while let Some(parts) = spent.get(column).map(levels) {
            let same = spent
                .iter()
                .skip(column)
                .take_while(|spent| levels(spent) == parts);
            let width = same.count();
            for (cause, top, bottom) in parts {
                let area = Area {
                    x: BAND.x + column as f64,
                    y: BAND.y + f64::from(top),
                    width: width as f64,
                    height: f64::from(bottom - top),
                };
                svg.rect(area, &format!("crisp {}", cause_class(cause)), None);
            }
            column += width;
        }
        let (x, y) = (BAND.x - 7.0, BAND.y + BAND.height / 2.0);
        svg.text((x, y - 3.0), Anchor::End, "small faint", "spent");
        svg.text((x, y + 11.0), Anchor::End, "small faint", "on");
    }

    /// The time of each cause per pixel column.
    fn spent(&self) -> Vec<[f64; Cause::COUNT]> {
        let mut spent = vec![[0.0_f64; Cause::COUNT]; BAND.width as usize];
        let begin = self.run.copy.0;
        for stretch in &self.run.truth {
            let place = |at: Time| {
                let seconds = (at - begin).0 as f64 / 1e9;
                (seconds - self.part.from) / (self.part.to - self.part.from) * BAND.width
            };
            let (from, to) = (
                place(stretch.from).max(0.0),
                place(stretch.to).min(BAND.width),
            );
            let mut at = from;
            while at < to {
                let next = (at.floor() + 1.0).min(to);
                let column = spent.get_mut(at as usize);
                if let Some(place) =
                    column.and_then(|column| column.get_mut(stretch.cause as usize))
                {
                    *place += next - at;
                }
                at = next;
            }
        }
        spent
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries = vec![
            Entry::new("ack", How::Line, "acknowledged"),
            Entry::new("window", How::Line, "edge of the window"),
            Entry::new("mark sent-again", How::Line, "retransmitted"),
            Entry::new("lost", How::Cross, "did not arrive"),
        ];
        let has = |wanted: &dyn Fn(&Seen) -> bool| {
            self.frames()
                .any(|seen| self.role(seen) == Role::Data && wanted(seen))
        };
        if !has(&|seen| matches!(seen.sent, Sent::FastRetransmit | Sent::Timeout)) {
            entries.retain(|entry| entry.text != "retransmitted");
        }
        if !has(&|seen| seen.happened != Happened::Sent) {
            entries.retain(|entry| entry.text != "did not arrive");
        }
        let (begin, mut spent) = (self.run.copy.0, BTreeMap::new());
        for stretch in &self.run.truth {
            let seconds = |at: Time| (at - begin).0 as f64 / 1e9;
            let (from, to) = (
                seconds(stretch.from).max(self.part.from),
                seconds(stretch.to).min(self.part.to),
            );
            *spent.entry(stretch.cause).or_insert(0.0) += (to - from).max(0.0);
        }
        let mut spent: Vec<(Cause, f64)> = spent.into_iter().collect();
        spent.sort_by(|one, other| other.1.total_cmp(&one.1));
        let whole = self.part.to - self.part.from;
        for (cause, seconds) in spent.into_iter().filter(|(_, seconds)| *seconds > 0.0) {
            let text = format!("{} {}", cause.name(), percent(seconds / whole));
            entries.push(Entry::new(cause_class(cause), How::Box, &text));
        }
        entries
    }
}

/// Marks of data segments.
#[derive(Default)]
struct Marks {
    /// By colour and pixel column: from the lowest to the highest row.
    strokes: BTreeMap<(&'static str, i32), (f64, f64)>,
    /// Retransmitted segments: pixel column and row.
    again: BTreeSet<(i32, i32)>,
    /// Lost segments, rounded to four pixels.
    lost: BTreeSet<(i32, i32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Data,
    Ack,
    Neither,
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        tiny if tiny < 0.1 => "under 0.1 %".to_owned(),
        small if small < 10.0 => format!("{small:.1} %"),
        much => format!("{much:.0} %"),
    }
}

/// A step line with at most one point per pixel.
#[derive(Default)]
struct Steps {
    path: String,
    at: Option<(i64, i64)>,
}

impl Steps {
    fn go(&mut self, x: f64, y: f64) {
        let to = ((x * 2.0).round() as i64, (y * 2.0).round() as i64);
        let half = |value: i64| value as f64 / 2.0;
        let _ = match self.at {
            None => write!(self.path, "M{} {}", half(to.0), half(to.1)),
            Some(at) if at == to => return,
            Some((x, _)) if x == to.0 => write!(self.path, "V{}", half(to.1)),
            Some((_, y)) if y == to.1 => return,
            Some(_) => write!(self.path, "H{}V{}", half(to.0), half(to.1)),
        };
        self.at = Some(to);
    }

    fn end(mut self, x: f64) -> String {
        if self.at.is_some() {
            let _ = write!(self.path, "H{x}");
        }
        self.path
    }
}

/// The causes over time.
struct Causes<'a>(&'a [Stretch]);

impl<'a> Causes<'a> {
    const fn new(truth: &'a [Stretch]) -> Self {
        Self(truth)
    }

    /// The cause that ends at this moment or is active: a segment is sent when a wait ends.
    fn at(&self, at: Time) -> Cause {
        let index = self.0.partition_point(|stretch| stretch.to < at);
        let found = self.0.get(index).or(self.0.last());
        found.map_or(Cause::Unattributed, |stretch| stretch.cause)
    }
}

fn stroke(path: &mut String, column: i32, low: f64, high: f64) {
    let _ = write!(path, "M{column}.5 {low:.1}V{high:.1}");
}

/// Combines vertically adjacent pixels into strokes.
fn runs(pixels: &BTreeSet<(i32, i32)>) -> String {
    let mut path = String::new();
    let mut run: Option<(i32, i32, i32)> = None;
    for (column, row) in pixels.iter().copied() {
        run = match run {
            Some((x, top, bottom)) if x == column && row == bottom + 1 => Some((x, top, row)),
            before => {
                if let Some((x, top, bottom)) = before {
                    stroke(&mut path, x, f64::from(bottom + 1), f64::from(top));
                }
                Some((column, row, row))
            }
        };
    }
    if let Some((x, top, bottom)) = run {
        stroke(&mut path, x, f64::from(bottom + 1), f64::from(top));
    }
    path
}

/// Stacks the causes of a column in whole pixels.
fn levels(spent: &[f64; Cause::COUNT]) -> Vec<(Cause, i32, i32)> {
    let total: f64 = spent.iter().sum();
    let (mut sum, mut top) = (0.0, 0);
    let mut out = Vec::new();
    for (cause, share) in Cause::ALL.into_iter().zip(spent) {
        sum += share;
        let bottom = (sum / total.max(1e-12) * BAND.height).round() as i32;
        if bottom > top {
            out.push((cause, top, bottom));
            top = bottom;
        }
    }
    out
}
