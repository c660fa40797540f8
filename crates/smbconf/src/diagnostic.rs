//! Diagnostics of a configuration with their positions.

use std::fmt;
use std::sync::Arc;

/// A line of a configuration file, or an argument of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file name as given.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The line's text.
    pub text: Arc<str>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information.
    Note,
    /// The server deviates from the file.
    Warning,
    /// The server does not start.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// The problem.
    pub message: String,
    /// The position; `None` for the configuration as a whole.
    pub at: Option<Position>,
    /// How to fix it, or why it has no effect.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without position and help.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            at: None,
            help: None,
        }
    }

    /// Shorthand for an error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// Shorthand for a warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Shorthand for a note.
    pub fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, at: &Position) -> Self {
        self.at = Some(at.clone());
        self
    }

    /// Sets the help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Diagnostic {
    /// One line for a log: the message and the help text.
    pub fn in_one_line(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for Diagnostic {
    /// Formats like a compiler: severity and message, position, the line, help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.message)?;
        if let Some(at) = &self.at {
            let number = at.line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n{margin}--> {at}\n{number} | {}", at.text.trim())?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

/// The known name most similar to `wrong`, if it is similar enough.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + wrong.chars().count() / 6;
    known
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_reads_like_a_compilers() {
        let at = Position {
            file: "smb.conf".into(),
            line: 12,
            text: "  raed raw = no".into(),
        };
        let warning = Diagnostic::warning("no parameter is called 'raed raw'")
            .at(&at)
            .help("'read raw' is one")
            .to_string();
        assert_eq!(
            warning,
            "warning: no parameter is called 'raed raw'\n  --> smb.conf:12\n12 | raed raw = no\n  = help: 'read raw' is one"
        );
    }

    #[test]
    fn a_slip_of_the_pen_finds_what_was_meant_and_nonsense_finds_nothing() {
        let known = ["read raw", "write raw", "read only"];
        assert_eq!(nearest("raed raw", known.into_iter()), Some("read raw"));
        assert_eq!(nearest("read onl", known.into_iter()), Some("read only"));
        assert_eq!(nearest("zzzz", known.into_iter()), None);
        assert_eq!(nearest("pahts", ["path"].into_iter()), None);
        assert_eq!(nearest("paht", ["path"].into_iter()), Some("path"));
    }
}
