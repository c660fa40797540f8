//! Plot of a sample: the seconds of all points against each key.

use super::{legend, lines, titles::titles};
use crate::{
    lab::sweep::{Run, Swept, grid::Axis, quantity::Quantity},
    plot::{self, Anchor, Area, Scale, Svg, axis, grid},
};

const WIDTH: f64 = 900.0;
const ROW: f64 = 250.0;
const COLUMNS: usize = 2;

pub(super) fn scatter(swept: &Swept) -> String {
    let (title, about) = titles(swept);
    let rows = swept.axes.len().div_ceil(COLUMNS);
    let mut svg = Svg::new(WIDTH, 60.0 + rows as f64 * ROW, &title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    svg.text((20.0, 46.0), Anchor::Start, "faint", &about);
    let width = WIDTH / COLUMNS as f64;
    for (at, key) in swept.axes.iter().enumerate() {
        let area = Area {
            x: 70.0 + (at % COLUMNS) as f64 * width,
            y: 66.0 + (at / COLUMNS) as f64 * ROW,
            width: width - 95.0,
            height: ROW - 70.0,
        };
        panel(&mut svg, area, swept, (at, key));
    }
    svg.finish()
}

fn panel(svg: &mut Svg, area: Area, swept: &Swept, (at, key): (usize, &Axis)) {
    let vertical = lines::scale_of(swept, (area.bottom(), area.y));
    let ticks = vertical.ticks(6);
    grid(svg, area, plot::Side::Left, &vertical, &ticks);
    axis(svg, area, plot::Side::Left, &vertical, &ticks, "seconds");
    let places: Vec<Option<f64>> = swept.runs.iter().map(|run| place(run, at, key)).collect();
    let numbers = || places.iter().flatten().copied();
    let least = numbers().fold(f64::INFINITY, f64::min);
    let most = numbers().fold(f64::NEG_INFINITY, f64::max);
    let ends = if least < most {
        (least, most)
    } else {
        (0.0, 1.0)
    };
    let is_logarithmic = key
        .range
        .as_ref()
        .is_some_and(|range| range.is_logarithmic());
    let pixels = (area.x + 6.0, area.right() - 6.0);
    let scale = match is_logarithmic && least > 0.0 {
        true => Scale::log(ends, pixels),
        false => Scale::linear(ends, pixels),
    };
    if let Some(unit) = key.unit() {
        let name = match unit {
            "" => key.key.clone(),
            unit => format!("{}, {unit}", key.key),
        };
        axis(svg, area, plot::Side::Below, &scale, &scale.ticks(6), &name);
    } else {
        names(svg, area, &scale, key);
    }
    for (run, place) in swept.runs.iter().zip(&places) {
        if let Some(place) = place {
            dot(svg, (scale.at(*place), &vertical), area, run);
        }
    }
}

/// The values of a key without numbers, below their dots.
fn names(svg: &mut Svg, area: Area, scale: &Scale, key: &Axis) {
    for (at, value) in key.values.iter().enumerate() {
        let name = crate::lab::sweep::quantity::shown(value);
        let drop = 16.0 + 12.0 * (at % 2) as f64;
        svg.text(
            (scale.at(at as f64), area.bottom() + drop),
            Anchor::Middle,
            "small",
            &name,
        );
    }
}

fn dot(svg: &mut Svg, (x, vertical): (f64, &Scale), area: Area, run: &Run) {
    let Ok(summary) = &run.outcome else {
        svg.path(&legend::cross(x, area.bottom() - 6.0), "lost");
        return;
    };
    let dot = Area {
        x: x - 2.0,
        y: vertical.at(summary.seconds) - 2.0,
        width: 4.0,
        height: 4.0,
    };
    svg.rect(dot, "predicted", Some(&lines::tooltip(run)));
}

/// A run's number for a key, or the number of its value in the list.
fn place(run: &Run, at: usize, key: &Axis) -> Option<f64> {
    let text = run.values.get(at)?;
    if key.unit().is_some() {
        return Some(Quantity::of(&key.key, text)?.value);
    }
    let mut values = key.values.iter();
    let found = values.position(|value| crate::lab::sweep::quantity::shown(value) == *text)?;
    Some(found as f64)
}
