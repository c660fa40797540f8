#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod recognise;
pub mod report;

mod analyser;
mod assess;
mod charge;
mod constants;
mod conversation;
mod evidence;
mod histogram;
mod holders;
pub mod joined;
mod latest;
mod live;
mod longest;
mod netbios;
mod path;
mod pieces;
mod reorder;
mod session;
mod smb;
mod tcp;
mod timeline;

pub use analyser::Analyser;
pub use coax_capture::{self as capture, Error};
pub use coax_cause::{Account, Cause};
pub use constants::MAX_ANDX_HEADER;
pub use pieces::Pieces;
pub use recognise::{Advice, advise};

/// Reads one capture and reports what is in it.
///
/// # Errors
/// [`Error`] if the file is not a capture or cannot be read. A damaged file is reported up to the damage.
pub fn explain(file: impl std::io::Read) -> Result<report::Capture, Error> {
    let mut analyser = Analyser::default();
    analyser.read(file)?;
    Ok(analyser.finish())
}
