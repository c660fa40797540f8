//! From a capture to the copies in it, and to what each of them waited for.
//!
//! ```text
//! capture ── frames ──> net ── segments ──> tcp ── bytes in order ──> session ── messages ──> smb ── copies ──> report
//!                                            └── ledger: every stretch of time charged to a cause ──┘
//! ```
//!
//! One pass, in bounded memory: nothing of a file's data is kept, only the first bytes of each message. What is open at
//! a time (connections, requests, files, fragments, bytes that came before their turn) is capped; beyond the caps the
//! oldest is ended and counted.
//!
//! The codecs are those of `coax-wire`: a message of which only the beginning was captured is given its full length back
//! before they see it.

pub mod recognise;
pub mod report;

mod analyser;
mod charge;
mod constants;
mod conversation;
mod evidence;
mod histogram;
mod latest;
mod path;
mod session;
mod smb;
mod tcp;
mod timeline;

pub use analyser::Analyser;
pub use coax_capture::{self as capture, Error};
pub use coax_cause::{Account, Cause};
pub use recognise::{Advice, advise};

/// Reads one capture and reports what is in it.
///
/// # Errors
/// [`Error`], if nothing of it can be read. Of a damaged file, what comes before the damage is reported.
pub fn explain(file: impl std::io::Read) -> Result<report::Capture, Error> {
    let mut analyser = Analyser::default();
    analyser.read(file)?;
    Ok(analyser.finish())
}
