//! What the verbs print, and what they report to [`main`](super::main).

use std::{io::Write as _, process::ExitCode};

use coax_smbconf::diagnostic::Diagnostic;

/// A command line that makes no sense: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongUsage {
    /// The verb whose usage line helps.
    pub verb: &'static str,
    /// What is wrong.
    pub message: String,
}

impl WrongUsage {
    /// A wrong command line of `verb`.
    pub fn new(verb: &'static str, message: impl Into<String>) -> Self {
        Self {
            verb,
            message: message.into(),
        }
    }
}

/// Prints to standard output. A reader that closes the pipe early (`| head`) is no failure.
pub fn print(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints diagnostics to standard error.
pub fn print_diagnostics(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        eprintln!("{diagnostic}");
    }
}
