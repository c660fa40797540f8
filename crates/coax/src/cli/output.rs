//! What the verbs print, and what they report to [`main`](super::main).

use std::{io::Write as _, path::Path, process::ExitCode};

use coax_report::files::{check_writable, is_stdout};
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

/// Refuses outputs that cannot be written, before the work whose result they are, and more than one on standard output.
///
/// # Errors
/// Which option, and why.
pub fn check_outputs(
    verb: &'static str,
    json: bool,
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), WrongUsage> {
    let mut on_stdout = json.then_some("--json");
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        check_writable(path)
            .map_err(|error| WrongUsage::new(verb, format!("{option}: {error:#}")))?;
        if is_stdout(path)
            && let Some(other) = on_stdout.replace(option)
        {
            let message =
                format!("{other} and {option} - both write to standard output; name a file");
            return Err(WrongUsage::new(verb, message));
        }
    }
    Ok(())
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
