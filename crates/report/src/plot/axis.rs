//! Axes and grid lines.

use super::{
    scale::{Scale, Tick},
    svg::{Anchor, Area, Svg},
};

/// Position of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Below the plot.
    Below,
    /// Left of it.
    Left,
}

/// Draws an axis along `area` with its ticks and its name.
pub fn axis(svg: &mut Svg, area: Area, side: Side, scale: &Scale, ticks: &[Tick], name: &str) {
    match side {
        Side::Below => {
            let y = area.bottom();
            svg.line((area.x, y), (area.right(), y), "frame");
            for tick in ticks {
                let x = scale.at(tick.value);
                svg.line((x, y), (x, y + 4.0), "frame");
                svg.text((x, y + 17.0), Anchor::Middle, "small", &tick.label);
            }
            let middle = area.x + area.width / 2.0;
            svg.text((middle, y + 35.0), Anchor::Middle, "faint", name);
        }
        Side::Left => {
            svg.line((area.x, area.y), (area.x, area.bottom()), "frame");
            let mut longest = 0.0_f64;
            for tick in ticks {
                let y = scale.at(tick.value);
                svg.line((area.x - 4.0, y), (area.x, y), "frame");
                let at = (area.x - 7.0, y + 4.0);
                svg.text(at, Anchor::End, "small", &tick.label);
                longest = longest.max(super::text_width(&tick.label, 11.0));
            }
            let middle = area.y + area.height / 2.0;
            let at = (area.x - 15.0 - longest, middle);
            svg.turned(at, Anchor::Middle, "faint", name);
        }
    }
}

/// Draws grid lines at the ticks across `area`.
pub fn grid(svg: &mut Svg, area: Area, side: Side, scale: &Scale, ticks: &[Tick]) {
    for tick in ticks {
        let at = scale.at(tick.value);
        match side {
            Side::Below => svg.line((at, area.y), (at, area.bottom()), "grid"),
            Side::Left => svg.line((area.x, at), (area.right(), at), "grid"),
        }
    }
}
