//! What the verbs print, and what they report to [`main`](super::main).

use std::{io::Write as _, path::Path, process::ExitCode};

use coax_report::files::{check_writable, is_stdout};
use coax_smbconf::diagnostic::Diagnostic;

/// A command line that makes no sense: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongUsage {
    verb: String,
    message: String,
    word: Option<String>,
    help: Option<String>,
    hides_value: bool,
}

impl WrongUsage {
    /// A wrong command line of `verb`, as `lab run`.
    pub fn new(verb: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            verb: verb.into(),
            message: message.into(),
            word: None,
            help: None,
            hides_value: false,
        }
    }

    /// The wrong argument is the one that contains `word`.
    #[must_use]
    pub fn at(self, word: &str) -> Self {
        let word = Some(word.to_owned()).filter(|word| !word.is_empty());
        Self { word, ..self }
    }

    /// The wrong argument is an option that coax does not have: its value may be a password.
    #[must_use]
    pub fn at_unknown_option(self, option: &str) -> Self {
        Self {
            hides_value: true,
            ..self.at(option)
        }
    }

    /// What to try.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// The verb whose help explains more.
    pub fn verb(&self) -> &str {
        &self.verb
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Part of the wrong argument.
    pub fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// Whether only the name of the wrong option may be shown.
    pub fn hides_value(&self) -> bool {
        self.hides_value
    }

    /// What to try, if it is known apart from the message.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
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
        check_writable(path).map_err(|error| {
            WrongUsage::new(verb, format!("{error:#}"))
                .at(&path.to_string_lossy())
                .help("name a file in a folder that exists and that you may write in")
        })?;
        if is_stdout(path)
            && let Some(other) = on_stdout.replace(option)
        {
            let message = format!("{other} and {option} - both write to standard output");
            return Err(WrongUsage::new(verb, message)
                .at(option)
                .help(format!("name a file for {option}")));
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
