//! The reports of coax: as text, JSON, HTML page or plot.
//!
//! [`explain`] reports on captures, [`lab`] on simulated copies, [`mod@bench`] and [`speed`] on measurements. [`plot`] draws
//! SVG.

pub mod bench;
pub mod digits;
pub mod explain;
pub mod files;
pub mod lab;
pub mod plot;
pub mod speed;
