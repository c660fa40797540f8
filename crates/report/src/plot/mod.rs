//! Plots as SVG: a canvas, scales with readable ticks, axes and colours. `lab::plots` draws the data.
//!
//! There is no plotting library because a plot here consists of a few lines, bars and cells. The important properties
//! are colours that follow the reader's theme, a title and a description for screen readers, and a small size. An
//! `<svg>` is valid as a file and inside an HTML page: all styles are below the class `coax-plot`, and there are no
//! ids.

mod axis;
mod colour;
mod scale;
mod svg;

pub use axis::{Side, axis, grid};
pub use colour::{cause_class, heat, ink_on};
pub use scale::{Scale, Tick, bytes_unit, number, seconds_unit};
pub use svg::{Anchor, Area, Svg, text_width};
