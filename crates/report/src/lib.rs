//! The reports of coax: as text, JSON, HTML page or plot.
//!
//! [`explain`] reports on captures, [`decode`] prints the fields of messages, [`lab`] on simulated copies, [`mod@bench`] and [`speed`] on measurements, and
//! [`client`] says what to try after an error. [`plot`] draws
//! SVG. Without the feature `measured` (on by default) `bench` and `speed` are left out, and the crate needs no sockets.
//! With the feature `served`, [`greeting`] says what a server offers and [`status`] what it does.

#[cfg(feature = "measured")]
pub mod bench;
#[cfg(feature = "measured")]
pub mod client;
pub mod decode;
pub mod digits;
pub mod explain;
pub mod files;
#[cfg(feature = "served")]
pub mod greeting;
pub mod lab;
pub mod nearest;
pub mod plot;
pub mod profiles;
#[cfg(feature = "measured")]
pub mod speed;
#[cfg(feature = "served")]
pub mod status;
