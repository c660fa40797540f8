//! What the web page needs of `coax explain`.

use std::fs::File;

use coax_page::Contents;
use coax_report::explain::{explained, html};

/// The page that explains a recording.
///
/// # Errors
/// It is no capture.
pub(super) fn explain(capture: File) -> Result<String, String> {
    let capture = coax_explain::explain(Contents::new(capture));
    let capture = capture.map_err(|error| error.to_string())?;
    Ok(html::page(&[explained(
        "the recording".into(),
        capture,
        None,
    )]))
}
