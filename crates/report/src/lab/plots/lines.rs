//! Plot of a sweep over one key: a line for numbers, bars for names.

use super::{legend, titles::titles};
use crate::{
    lab::sweep::{Run, Swept},
    plot::{self, Anchor, Area, Scale, Svg, axis, grid, number, text_width},
};

const WIDTH: f64 = 900.0;

pub(super) fn lines(swept: &Swept) -> String {
    let numbers = swept.axes.first().and_then(|axis| axis.numbers());
    match numbers {
        Some((numbers, unit)) if numbers.len() > 1 => line(swept, &numbers, unit),
        _ => bars(swept),
    }
}

fn seconds(run: &Run) -> Option<f64> {
    run.outcome.as_ref().ok().map(|summary| summary.seconds)
}

/// A linear scale from zero, or a logarithmic one for a wide range.
pub(super) fn scale_of(swept: &Swept, pixels: (f64, f64)) -> Scale {
    let figures = swept.runs.iter().filter_map(seconds);
    let (least, most) = figures.fold((f64::INFINITY, 0.0_f64), |(least, most), figure| {
        (least.min(figure), most.max(figure))
    });
    if most > 50.0 * least {
        Scale::log((least / 1.5, most), pixels)
    } else {
        Scale::linear((0.0, most * 1.05), pixels)
    }
}

fn line(swept: &Swept, numbers: &[f64], unit: &str) -> String {
    let (title, about) = titles(swept);
    let area = Area {
        x: 80.0,
        y: 64.0,
        width: WIDTH - 110.0,
        height: 330.0,
    };
    let mut svg = Svg::new(WIDTH, area.bottom() + 56.0, &title, &about);
    svg.text((area.x, 26.0), Anchor::Start, "head", &title);
    svg.text((area.x, 46.0), Anchor::Start, "faint", &about);
    let vertical = scale_of(swept, (area.bottom(), area.y));
    let mut ruled = |side, scale: &Scale, ticks, name| {
        let ticks = scale.ticks(ticks);
        grid(&mut svg, area, side, scale, &ticks);
        axis(&mut svg, area, side, scale, &ticks, name);
    };
    ruled(plot::Side::Left, &vertical, 7, "seconds");
    let (horizontal, name) = across(swept, numbers, unit, area);
    ruled(plot::Side::Below, &horizontal.0, 9, &name);
    let mut points: Vec<(f64, &Run)> = numbers
        .iter()
        .map(|number| horizontal.0.at(number / horizontal.1))
        .zip(&swept.runs)
        .collect();
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let path = curve(&mut svg, area, &vertical, &points);
    svg.path(path.trim_end(), "s0");
    svg.finish()
}

/// Draws the points and returns the path through them, with gaps at missing values.
fn curve(svg: &mut Svg, area: Area, vertical: &Scale, points: &[(f64, &Run)]) -> String {
    let mut path = String::new();
    for (x, run) in points {
        let Some(figure) = seconds(run) else {
            path.push(' ');
            svg.path(&legend::cross(*x, area.bottom() - 8.0), "lost");
            continue;
        };
        let y = vertical.at(figure);
        let begins = path.is_empty() || path.ends_with(' ');
        path += &format!("{}{x:.1} {y:.1}", if begins { 'M' } else { 'L' });
        let dot = Area {
            x: x - 3.0,
            y: y - 3.0,
            width: 6.0,
            height: 6.0,
        };
        svg.rect(dot, "predicted", Some(&tooltip(run)));
    }
    path
}

/// The axis of the key, the factor to the unit of its ticks, and its name.
fn across(swept: &Swept, numbers: &[f64], unit: &str, area: Area) -> ((Scale, f64), String) {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let (factor, name) = match unit {
        "s" => plot::seconds_unit(most),
        "bytes" => plot::bytes_unit(most),
        "bit_per_s" if most >= 2e6 => (1e6, "Mbit/s"),
        "bit_per_s" => (1e3, "kbit/s"),
        other => (1.0, other),
    };
    let ends = (least / factor, most / factor);
    let pixels = (area.x + 8.0, area.right() - 8.0);
    let scale = if least > 0.0 && most > 12.0 * least {
        Scale::log(ends, pixels)
    } else {
        Scale::linear(ends, pixels)
    };
    let key = swept.axes.first().map_or("", |axis| axis.key.as_str());
    let name = if name.is_empty() {
        key.to_owned()
    } else {
        format!("{key}, {name}")
    };
    ((scale, factor), name)
}

fn bars(swept: &Swept) -> String {
    let (title, about) = titles(swept);
    let label = |run: &Run| run.values.join(", ");
    let widest = swept.runs.iter().map(|run| text_width(&label(run), 11.0));
    let names = widest.fold(0.0, f64::max).min(400.0);
    let area = Area {
        x: names + 30.0,
        y: 64.0,
        width: WIDTH - names - 30.0 - 190.0,
        height: swept.runs.len() as f64 * 22.0,
    };
    let mut svg = Svg::new(WIDTH, area.bottom() + 52.0, &title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    svg.text((20.0, 46.0), Anchor::Start, "faint", &about);
    let scale = scale_of(swept, (area.x, area.right()));
    let ticks = scale.ticks(7);
    grid(&mut svg, area, plot::Side::Below, &scale, &ticks);
    for (at, run) in swept.runs.iter().enumerate() {
        let y = area.y + at as f64 * 22.0;
        svg.text((area.x - 8.0, y + 15.0), Anchor::End, "small", &label(run));
        let mut end = area.x;
        if let Some(figure) = seconds(run) {
            end = scale.at(figure);
            let bar = Area {
                y: y + 4.0,
                width: (end - area.x).max(1.0),
                height: 14.0,
                ..area
            };
            svg.rect(bar, "predicted", Some(&tooltip(run)));
        }
        svg.text((end + 6.0, y + 15.0), Anchor::Start, "small", &beside(run));
    }
    axis(&mut svg, area, plot::Side::Below, &scale, &ticks, "seconds");
    svg.finish()
}

fn beside(run: &Run) -> String {
    match &run.outcome {
        Ok(summary) => {
            let (cause, share) = summary.dominant();
            format!(
                "{} s, {cause} {:.0} %",
                number(summary.seconds),
                share * 100.0
            )
        }
        Err(_) => "failed".to_owned(),
    }
}

/// The tooltip of a run.
pub(super) fn tooltip(run: &Run) -> String {
    match &run.outcome {
        Ok(_) => format!("{}: {}", run.values.join(", "), beside(run)),
        Err(failed) => format!("{}: {failed}", run.values.join(", ")),
    }
}
