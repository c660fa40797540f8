//! Plot of `coax lab fit`: copies as measured, and predicted ones with their ranges.

use coax_fit::{Estimate, Fitted, Prediction};

use super::legend::{self, Entry, How};
use crate::plot::{self, Anchor, Area, Scale, Svg, axis, grid, number, text_width};

const WIDTH: f64 = 1000.0;
const ROW: f64 = 26.0;
const FIGURES: f64 = 190.0;

/// Draws measured copies beside the fitted scenario's times, and below them the predicted copies: before and after a change.
pub fn ranges(found: &Estimate) -> String {
    let names = found.fitted.iter().map(|it| &it.name);
    let names = names.chain(found.predictions.iter().map(|it| &it.name));
    let widest = names.map(|name| text_width(name, 11.0)).fold(0.0, f64::max);
    let rows = found.fitted.len() + found.predictions.len();
    let entries = [
        Entry::new("published", How::Box, "measured"),
        Entry::new("fitted", How::Box, "the fitted scenario"),
        Entry::new(
            "predicted",
            How::Box,
            "predicted: median, and the range of 90 % of measurements",
        ),
    ];
    let top = 60.0 + legend::rows(&entries, WIDTH - 40.0) as f64 * legend::ROW;
    let left = widest.min(420.0) + 30.0;
    let area = Area {
        x: left,
        y: top,
        width: WIDTH - left - FIGURES,
        height: rows as f64 * ROW + 8.0,
    };
    let title = "Measured and predicted copies";
    let about = format!(
        "{} measured copies, {} predictions",
        found.fitted.len(),
        found.predictions.len()
    );
    let mut svg = Svg::new(WIDTH, area.bottom() + 56.0, title, &about);
    svg.text((20.0, 26.0), Anchor::Start, "head", title);
    svg.text((20.0, 44.0), Anchor::Start, "faint", &about);
    legend::draw(&mut svg, (20.0, 50.0), WIDTH - 40.0, &entries);
    let scale = scale(found, area);
    let ticks = scale.ticks(((area.width / 70.0) as usize).min(8));
    grid(&mut svg, area, plot::Side::Below, &scale, &ticks);
    let mut y = area.y + ROW / 2.0 + 4.0;
    for one in &found.fitted {
        measured(&mut svg, (area, y), &scale, one);
        y += ROW;
    }
    for one in &found.predictions {
        predicted(&mut svg, (area, y), &scale, one);
        y += ROW;
    }
    let name = scale.titled("seconds");
    axis(&mut svg, area, plot::Side::Below, &scale, &ticks, &name);
    svg.finish()
}

/// From the shortest to the longest time, ranges included.
fn scale(found: &Estimate, area: Area) -> Scale {
    let measured = found.fitted.iter().flat_map(|it| [it.seconds, it.model]);
    let predicted = found.predictions.iter();
    let predicted = predicted.flat_map(|it| [it.low, it.high].into_iter().chain(it.seconds));
    let all = measured
        .chain(predicted)
        .filter(|it| it.is_finite() && *it > 0.0);
    let (least, most) = all.fold((f64::INFINITY, 0.0_f64), |(least, most), figure| {
        (least.min(figure), most.max(figure))
    });
    let least = if least.is_finite() { least } else { 1.0 };
    let pixels = (area.x, area.right());
    match most > 5.0 * least {
        true => Scale::log((least, most), pixels),
        false => Scale::linear((0.0, most * 1.05), pixels),
    }
}

fn measured(svg: &mut Svg, (area, y): (Area, f64), scale: &Scale, one: &Fitted) {
    svg.text((area.x - 8.0, y + 4.0), Anchor::End, "small", &one.name);
    mark(
        svg,
        scale.at(one.seconds),
        y - 4.0,
        "published",
        &format!("measured {} s", number(one.seconds)),
    );
    mark(
        svg,
        scale.at(one.model),
        y + 4.0,
        "fitted",
        &format!("fitted scenario {} s", number(one.model)),
    );
    let text = format!("{} s, fitted {} s", number(one.seconds), number(one.model));
    svg.text((area.right() + 8.0, y + 4.0), Anchor::Start, "small", &text);
}

fn predicted(svg: &mut Svg, (area, y): (Area, f64), scale: &Scale, one: &Prediction) {
    svg.text((area.x - 8.0, y + 4.0), Anchor::End, "small", &one.name);
    let Some(seconds) = one.seconds else {
        svg.text(
            (area.right() + 8.0, y + 4.0),
            Anchor::Start,
            "small faint",
            "the copy fails",
        );
        return;
    };
    let (from, to) = (scale.at(one.low), scale.at(one.high));
    let text = format!(
        "{} s ({} to {})",
        number(seconds),
        number(one.low),
        number(one.high)
    );
    let bar = Area {
        x: from,
        y: y - 2.0,
        width: (to - from).max(1.0),
        height: 4.0,
    };
    svg.rect(bar, "predicted", Some(&text));
    for x in [from, to] {
        svg.line((x, y - 6.0), (x, y + 6.0), "frame");
    }
    mark(svg, scale.at(seconds), y, "predicted", &text);
    svg.text((area.right() + 8.0, y + 4.0), Anchor::Start, "small", &text);
}

fn mark(svg: &mut Svg, x: f64, y: f64, class: &str, tip: &str) {
    let area = Area {
        x: x - 3.0,
        y: y - 4.0,
        width: 6.0,
        height: 8.0,
    };
    svg.rect(area, class, Some(tip));
}
