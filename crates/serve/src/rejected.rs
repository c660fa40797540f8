//! Why a server does not start.

use std::fmt;

use coax_smbconf::diagnostic::Diagnostic;

/// Why a server cannot start: every reason that was found.
#[derive(Debug, thiserror::Error)]
pub struct Rejected(pub Vec<Diagnostic>);

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self.0.iter().map(|d| d.message.clone()).collect();
        f.write_str(&reasons.join("\n"))
    }
}
