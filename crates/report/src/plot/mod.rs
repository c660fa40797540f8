//! Plots as SVG: a page to draw on, scales with readable ticks, axes and colours. What is drawn lies with what it is of
//! (`lab::plots`).
//!
//! Written by hand rather than by a plotting library: a plot here is a few lines, bars and cells, and what matters are
//! colours that follow the reader's light or dark theme, a title and a description for those who cannot see it, and no
//! more bytes than the plot has pixels. An `<svg>` made here stands alone as a file and goes unchanged into an HTML page:
//! all its styles are beneath the class `coax-plot`, and it has no ids.

mod axis;
mod colour;
mod scale;
mod svg;

pub use axis::{Side, axis, grid};
pub use colour::{cause_class, heat, ink_on};
pub use scale::{Scale, Tick, bytes_unit, number, seconds_unit};
pub use svg::{Anchor, Area, Svg, text_width};
