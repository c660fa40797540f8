//! Legends of plots.

use crate::plot::{Anchor, Area, Svg, text_width};

/// Height of a row, pixels.
pub(super) const ROW: f64 = 18.0;

/// One entry: its CSS class, its shape and its meaning.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) class: String,
    pub(super) how: How,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Box,
    Line,
    Cross,
}

impl Entry {
    pub(super) fn new(class: &str, how: How, text: &str) -> Self {
        Self {
            class: class.to_owned(),
            how,
            text: text.to_owned(),
        }
    }

    fn width(&self) -> f64 {
        36.0 + text_width(&self.text, 12.0)
    }
}

/// Number of rows for the entries.
pub(super) fn rows(entries: &[Entry], width: f64) -> usize {
    let mut at = (0.0, 1);
    for entry in entries {
        at = place(at, entry, width);
        at.0 += entry.width();
    }
    at.1
}

/// Draws the entries from a corner within a width.
pub(super) fn draw(svg: &mut Svg, (x, y): (f64, f64), width: f64, entries: &[Entry]) {
    let mut at = (0.0, 1);
    for entry in entries {
        at = place(at, entry, width);
        let (left, middle) = (x + at.0, y + ROW * (at.1 as f64 - 0.5));
        match entry.how {
            How::Box => {
                let area = Area {
                    x: left,
                    y: middle - 5.0,
                    width: 14.0,
                    height: 10.0,
                };
                svg.rect(area, &entry.class, None);
            }
            How::Line => {
                let path = format!("M{left:.1} {middle:.1}h16");
                svg.path(&path, &entry.class);
            }
            How::Cross => svg.path(&cross(left + 7.0, middle), &entry.class),
        }
        let text = (left + 20.0, middle + 4.0);
        svg.text(text, Anchor::Start, "faint", &entry.text);
        at.0 += entry.width();
    }
}

/// A cross centred at a point.
pub(super) fn cross(x: f64, y: f64) -> String {
    format!("M{:.1} {:.1}l6 6m-6 0l6 -6", x - 3.0, y - 3.0)
}

fn place((x, row): (f64, usize), entry: &Entry, width: f64) -> (f64, usize) {
    if x > 0.0 && x + entry.width() > width {
        (0.0, row + 1)
    } else {
        (x, row)
    }
}
