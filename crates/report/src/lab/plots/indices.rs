//! Plot of sensitivity indices: two bars for each key, with their confidence intervals.

use super::{
    legend::{self, Entry, How},
    titles::titles,
};
use crate::{
    lab::sweep::{Swept, sensitivity::Indices},
    plot::{self, Anchor, Area, Scale, Svg, axis, grid, text_width},
};

const WIDTH: f64 = 900.0;
const ROW: f64 = 34.0;
const BAR: f64 = 11.0;

pub(super) fn indices(swept: &Swept, found: &[Indices]) -> String {
    let (_, about) = titles(swept);
    let title = "What the time of the copy depends on: Sobol' indices";
    let widest = swept.axes.iter().map(|axis| text_width(&axis.key, 11.0));
    let names = widest.fold(0.0, f64::max).min(400.0);
    let area = Area {
        x: names + 30.0,
        y: 88.0,
        width: WIDTH - names - 30.0 - 160.0,
        height: found.len() as f64 * ROW,
    };
    let mut svg = Svg::new(WIDTH, area.bottom() + 52.0, title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", title);
    svg.text((20.0, 46.0), Anchor::Start, "faint", &about);
    let entries = [
        Entry::new("predicted", How::Box, "first order: this key alone"),
        Entry::new(
            "published",
            How::Box,
            "total: with what it does together with others",
        ),
        Entry::new("s0", How::Line, "95 % confidence interval"),
    ];
    legend::draw(&mut svg, (20.0, 54.0), WIDTH - 40.0, &entries);
    let ends = found
        .iter()
        .map(|one| (one.total + one.total_error).max(one.first + one.first_error));
    let scale = Scale::linear((0.0, ends.fold(1.0, f64::max)), (area.x, area.right()));
    let ticks = scale.ticks(8);
    grid(&mut svg, area, plot::Side::Below, &scale, &ticks);
    for ((key, one), at) in swept.axes.iter().zip(found).zip(0..) {
        let y = area.y + f64::from(at) * ROW;
        row(&mut svg, (&scale, area), y, (&key.key, one));
    }
    let name = "share of the variance of the seconds";
    axis(&mut svg, area, plot::Side::Below, &scale, &ticks, name);
    svg.finish()
}

/// A key's name, its two bars and its figures.
fn row(svg: &mut Svg, (scale, area): (&Scale, Area), y: f64, (key, one): (&str, &Indices)) {
    svg.text((area.x - 8.0, y + 20.0), Anchor::End, "small", key);
    bar(
        svg,
        (scale, area),
        y + 5.0,
        "predicted",
        (one.first, one.first_error),
    );
    bar(
        svg,
        (scale, area),
        y + 6.0 + BAR,
        "published",
        (one.total, one.total_error),
    );
    let figures = format!("{:.2} / {:.2}", one.first, one.total);
    svg.text(
        (area.right() + 40.0, y + 20.0),
        Anchor::Start,
        "small",
        &figures,
    );
}

/// A bar and its interval. Estimates may be a little below zero.
fn bar(
    svg: &mut Svg,
    (scale, area): (&Scale, Area),
    y: f64,
    class: &str,
    (value, error): (f64, f64),
) {
    let x = |value: f64| scale.at(value.max(0.0));
    let shape = Area {
        x: area.x,
        y,
        width: (x(value) - area.x).max(1.0),
        height: BAR,
    };
    svg.rect(shape, class, Some(&format!("{value:.4} ±{error:.4}")));
    let middle = y + BAR / 2.0;
    let (from, to) = (x(value - error), x(value + error));
    svg.path(&format!("M{from:.1} {middle:.1}L{to:.1} {middle:.1}"), "s0");
}
