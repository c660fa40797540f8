//! Line-wrapped output of a report.

use std::fmt::{self, Write as _};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Paper {
    text: String,
    columns: Option<usize>,
}

impl Paper {
    /// Output for a terminal of this width; `None` means no limit.
    pub(super) fn new(columns: Option<usize>) -> Self {
        const NARROWEST: usize = 60;
        Self {
            text: String::new(),
            columns: columns.map(|columns| columns.max(NARROWEST)),
        }
    }

    /// The width of lines for layouts that depend on it.
    pub(super) fn columns(&self) -> usize {
        self.columns.unwrap_or(usize::MAX)
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A sentence. Without a width it stays on one line, so that programs can find the verdict.
    pub(super) fn sentence(&mut self, text: &str) -> fmt::Result {
        match self.columns {
            None => writeln!(self, "{text}"),
            Some(_) => self.prose("", text),
        }
    }

    /// Text after a label, with a hanging indent.
    pub(super) fn prose(&mut self, label: &str, text: &str) -> fmt::Result {
        /// Maximum width of prose, even on a wider terminal.
        const WIDEST: usize = 105;
        let indent = label.chars().count();
        let room = self.columns().min(WIDEST).saturating_sub(indent);
        let mut lines = wrapped(text, room).into_iter();
        writeln!(self, "{label}{}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(self, "{:indent$}{line}", ""))
    }
}

impl fmt::Write for Paper {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.write_str(text)
    }
}

/// Wraps text at `width` characters. A longer word gets its own line. A number is not separated from its unit.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn text_after_a_label_has_a_hanging_indent() {
        let mut paper = Paper::new(Some(60));
        let text = "one two three four five six seven eight nine ten eleven twelve";
        paper.prose("  label     ", text).unwrap();
        let lines = "  label     one two three four five six seven eight nine ten\n            eleven twelve\n";
        assert_eq!(paper.into_text(), lines);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            wrapped("it took 9.36 s all told", 13),
            ["it took", "9.36 s all", "told"]
        );
    }

    #[test]
    fn the_verdict_is_one_line_unless_it_is_known_how_wide_lines_are() {
        let long = "word ".repeat(60);
        let lines = |columns| {
            let mut paper = Paper::new(columns);
            paper.sentence(&long).unwrap();
            paper.into_text().lines().count()
        };
        assert_eq!((lines(None), lines(Some(80))), (1, 4));
    }
}
