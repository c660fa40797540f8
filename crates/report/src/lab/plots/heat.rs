//! Plot of a sweep: one heat map for two keys, several for more, with the border of what is good enough.

use std::fmt::Write as _;

use super::{lines::tooltip, titles::titles};
use crate::{
    lab::sweep::{Run, Swept, grid::Axis, quantity::shown},
    plot::{self, Anchor, Area, Scale, Svg, axis, heat as colour, ink_on, number, text_width},
};

/// The dimensions of the plot.
struct Layout {
    columns: Vec<String>,
    rows: Vec<String>,
    cell: (f64, f64),
    /// Space left of and below the cells.
    left: f64,
    below: f64,
    /// Column names are rotated.
    upright: bool,
    across: usize,
}

const HEAD: f64 = 64.0;
/// A copy is good enough if it takes at most this many times as long as the fastest one of the plot.
const GOOD_ENOUGH: f64 = 1.25;
const PANEL_HEAD: f64 = 26.0;

impl Layout {
    fn new(swept: &Swept, panels: usize) -> Self {
        let names = |axis: Option<&Axis>| -> Vec<String> {
            let values = axis.map(|axis| axis.values.as_slice()).unwrap_or_default();
            values.iter().map(shown).collect()
        };
        let mut axes = swept.axes.iter().rev();
        let (columns, rows) = (names(axes.next()), names(axes.next()));
        let across = match panels {
            1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        let room = if panels == 1 {
            780.0
        } else {
            1180.0 / across as f64 - 120.0
        };
        let widest = |names: &[String]| {
            let widths = names.iter().map(|name| text_width(name, 11.0));
            widths.fold(0.0, f64::max)
        };
        let width = (room / columns.len() as f64).clamp(9.0, 110.0).floor();
        let height = (520.0 / rows.len() as f64).clamp(14.0, 40.0).floor();
        let upright = widest(&columns) + 8.0 > width;
        Self {
            left: widest(&rows).min(240.0) + 46.0,
            below: if upright {
                widest(&columns).min(200.0) + 36.0
            } else {
                42.0
            },
            columns,
            rows,
            cell: (width, height),
            upright,
            across,
        }
    }

    fn panel(&self) -> (f64, f64) {
        (
            self.left + self.columns.len() as f64 * self.cell.0 + 24.0,
            PANEL_HEAD + self.rows.len() as f64 * self.cell.1 + self.below,
        )
    }
}

pub(super) fn heat(swept: &Swept, panels: usize) -> String {
    let layout = Layout::new(swept, panels);
    let (width, height) = layout.panel();
    let (title, about) = titles(swept);
    let down = panels.div_ceil(layout.across) as f64;
    let page = (width * layout.across as f64)
        .max(text_width(&title, 15.0) + 40.0)
        // the legend below
        .max(820.0);
    let mut svg = Svg::new(page, HEAD + down * height + 62.0, &title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    svg.text((20.0, 46.0), Anchor::Start, "faint", &about);
    let scale = scale_of(swept);
    let limit = fastest(swept) * GOOD_ENOUGH;
    let cells = layout.columns.len() * layout.rows.len();
    for (at, runs) in swept.runs.chunks(cells.max(1)).enumerate() {
        let corner = (
            (at % layout.across) as f64 * width,
            HEAD + (at / layout.across) as f64 * height,
        );
        panel(&mut svg, corner, &layout, swept, runs, (&scale, limit));
    }
    legend(&mut svg, (20.0, HEAD + down * height + 6.0), &scale, limit);
    svg.finish()
}

/// The colour scale from the smallest to the largest value; logarithmic for a wide range.
fn scale_of(swept: &Swept) -> Scale {
    let figures = swept
        .runs
        .iter()
        .filter_map(|run| run.outcome.as_ref().ok());
    let figures = figures.map(|summary| summary.seconds);
    let (least, most) = figures.fold((f64::INFINITY, 0.0_f64), |(least, most), figure| {
        (least.min(figure), most.max(figure))
    });
    let least = if least.is_finite() { least } else { 0.0 };
    if least > 0.0 && most > 8.0 * least {
        Scale::log((least, most), (0.0, 1.0))
    } else {
        Scale::linear((least, most), (0.0, 1.0))
    }
}

fn panel(
    svg: &mut Svg,
    (x, y): (f64, f64),
    layout: &Layout,
    swept: &Swept,
    runs: &[Run],
    (scale, limit): (&Scale, f64),
) {
    let (width, height) = layout.cell;
    let before = swept.axes.len().saturating_sub(2);
    if let Some(run) = runs.first().filter(|_| before > 0) {
        let keys = swept.axes.iter().map(|axis| &axis.key);
        let pairs = keys.zip(&run.values).take(before);
        let name: Vec<String> = pairs.map(|(key, value)| format!("{key} {value}")).collect();
        svg.text(
            (x + layout.left, y + 16.0),
            Anchor::Start,
            "strong",
            &name.join(", "),
        );
    }
    let area = Area {
        x: x + layout.left,
        y: y + PANEL_HEAD,
        width: width * layout.columns.len() as f64,
        height: height * layout.rows.len() as f64,
    };
    for (at, run) in runs.iter().enumerate() {
        let columns = layout.columns.len().max(1);
        let place = Area {
            x: area.x + (at % columns) as f64 * width,
            y: area.y + (at / columns) as f64 * height,
            width: width - 1.0,
            height: height - 1.0,
        };
        cell(svg, place, run, scale);
    }
    let is_good = |run: &Run| is_good(run, limit);
    let border = contour(area, layout.cell, layout.columns.len(), runs, &is_good);
    svg.path(&border, "halo");
    svg.path(&border, "contour");
    names(svg, area, layout, swept);
}

fn is_good(run: &Run, limit: f64) -> bool {
    let seconds = run.outcome.as_ref().map(|summary| summary.seconds);
    seconds.is_ok_and(|seconds| seconds <= limit)
}

/// The border between cells that are good enough and others, as a path.
fn contour(
    area: Area,
    (width, height): (f64, f64),
    columns: usize,
    runs: &[Run],
    is_good: &dyn Fn(&Run) -> bool,
) -> String {
    let mut path = String::new();
    let columns = columns.max(1);
    for (at, run) in runs.iter().enumerate() {
        let (column, row) = (at % columns, at / columns);
        let (x, y) = (
            area.x + column as f64 * width - 0.5,
            area.y + row as f64 * height - 0.5,
        );
        let differs = |other: Option<&Run>| other.is_some_and(|it| is_good(it) != is_good(run));
        let right = runs.get(at + 1).filter(|_| column + 1 < columns);
        if differs(right) {
            let _ = write!(path, "M{:.1} {y:.1}V{:.1}", x + width, y + height);
        }
        if differs(runs.get(at + columns)) {
            let _ = write!(path, "M{x:.1} {:.1}H{:.1}", y + height, x + width);
        }
    }
    path
}

fn fastest(swept: &Swept) -> f64 {
    let ended = swept
        .runs
        .iter()
        .filter_map(|run| run.outcome.as_ref().ok());
    ended
        .map(|summary| summary.seconds)
        .fold(f64::INFINITY, f64::min)
}

fn cell(svg: &mut Svg, place: Area, run: &Run, scale: &Scale) {
    let middle = (
        place.x + place.width / 2.0,
        place.y + place.height / 2.0 + 4.0,
    );
    let Ok(summary) = &run.outcome else {
        svg.rect(place, "missing", Some(&tooltip(run)));
        if place.width >= 40.0 {
            svg.text(middle, Anchor::Middle, "small faint", "failed");
        } else {
            svg.text(middle, Anchor::Middle, "small faint", "×");
        }
        return;
    };
    let share = scale.share(summary.seconds);
    svg.coloured(place, &colour(share), Some(&tooltip(run)));
    let text = number(summary.seconds);
    let (cause, part) = summary.dominant();
    let why = format!("{cause} {:.0} %", part * 100.0);
    let ink = ink_on(share);
    if place.height >= 32.0 && text_width(&why, 9.5) < place.width - 2.0 {
        svg.coloured_text((middle.0, middle.1 - 5.0), "small strong", ink, &text);
        svg.coloured_text((middle.0, middle.1 + 8.0), "tiny", ink, &why);
        return;
    }
    // fewer digits fit into a narrow cell
    let rounded = match summary.seconds {
        few if few < 1.0 => format!("{few:.2}"),
        some if some < 10.0 => format!("{some:.1}"),
        many => format!("{many:.0}"),
    };
    let fits = |text: &&String| text_width(text, 11.0) < place.width + 1.0;
    if let Some(text) = [&text, &rounded].into_iter().find(fits) {
        svg.coloured_text(middle, "small", ink, text);
    }
}

/// Draws keys and values along both axes; omits some values if there are many.
fn names(svg: &mut Svg, area: Area, layout: &Layout, swept: &Swept) {
    let (width, height) = layout.cell;
    let every = |size: f64| (13.0 / size).ceil().max(1.0) as usize;
    for (at, name) in layout.rows.iter().enumerate().step_by(every(height)) {
        let y = area.y + (at as f64 + 0.5) * height + 4.0;
        svg.text((area.x - 6.0, y), Anchor::End, "small", name);
    }
    let step = if layout.upright { every(width) } else { 1 };
    for (at, name) in layout.columns.iter().enumerate().step_by(step) {
        let x = area.x + (at as f64 + 0.5) * width;
        if layout.upright {
            svg.turned((x + 4.0, area.bottom() + 6.0), Anchor::End, "small", name);
        } else {
            svg.text((x, area.bottom() + 15.0), Anchor::Middle, "small", name);
        }
    }
    let mut keys = swept.axes.iter().rev().map(|axis| axis.key.as_str());
    let below = (
        area.x + area.width / 2.0,
        area.bottom() + layout.below - 8.0,
    );
    svg.text(
        below,
        Anchor::Middle,
        "faint",
        keys.next().unwrap_or_default(),
    );
    let beside = (area.x - layout.left + 16.0, area.y + area.height / 2.0);
    svg.turned(
        beside,
        Anchor::Middle,
        "faint",
        keys.next().unwrap_or_default(),
    );
}

fn legend(svg: &mut Svg, (x, y): (f64, f64), scale: &Scale, limit: f64) {
    const STEPS: usize = 64;
    let area = Area {
        x: x + 20.0,
        y,
        width: 384.0,
        height: 12.0,
    };
    for step in 0..STEPS {
        let share = step as f64 / (STEPS - 1) as f64;
        let width = area.width / STEPS as f64;
        let part = Area {
            x: area.x + step as f64 * width,
            // overlap hides the seam between two steps
            width: width + 0.5,
            ..area
        };
        svg.coloured(part, &colour(share), None);
    }
    let ends = (scale.least(), scale.greatest());
    let pixels = (area.x, area.right());
    let shown = if scale.is_log() {
        Scale::log(ends, pixels)
    } else {
        Scale::linear(ends, pixels)
    };
    let ticks = shown.ticks(6);
    let name = shown.titled("seconds");
    axis(svg, area, plot::Side::Below, &shown, &ticks, &name);
    if limit.is_finite() {
        let at = (area.right() + 30.0, area.y + 6.0);
        let line = format!("M{:.1} {:.1}H{:.1}", at.0, at.1, at.0 + 24.0);
        svg.path(&line, "halo");
        svg.path(&line, "contour");
        let share = (GOOD_ENOUGH - 1.0) * 100.0;
        let text = format!(
            "good enough: {} s, {share:.0} % more than the fastest",
            number(limit)
        );
        svg.text((at.0 + 30.0, at.1 + 4.0), Anchor::Start, "small", &text);
    }
}
