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
mod frames;
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

/// As [`explain`], of a file that can be opened again. If captures of both ends were merged into it and can be told apart, only the
/// client's packets count ([`report::Quality::other_end`]).
///
/// # Errors
/// The same.
pub fn explain_file<R: std::io::Read>(
    mut open: impl FnMut() -> std::io::Result<R>,
) -> Result<report::Capture, Error> {
    let capture = explain(open()?)?;
    if !assess::may_have_both_ends(&capture) {
        return Ok(capture);
    }
    let Some(of_server) = joined::merged::frames_of_server(open()?)? else {
        return Ok(capture);
    };
    let mut analyser = Analyser::without(of_server);
    analyser.read(open()?)?;
    let of_client = analyser.finish();
    let has_lost_all = of_client.copies.is_empty() && !capture.copies.is_empty();
    Ok(match of_client.quality.merged_ends || has_lost_all {
        true => capture,
        false => of_client,
    })
}
