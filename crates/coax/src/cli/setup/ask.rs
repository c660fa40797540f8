//! Questions on the terminal.

use std::io::{BufRead, Read as _, Write as _};

use coax_setup::Wrong;

/// The longest answer, bytes.
const LINE_MAX: u64 = 4096;

/// A question.
pub(super) struct Question<'a> {
    pub(super) title: &'a str,
    pub(super) hints: &'a [String],
    /// What an empty line means.
    pub(super) default: &'a str,
}

/// A person at the terminal.
pub(super) struct Asking {
    /// There is one.
    pub(super) talks: bool,
    asked: usize,
}

impl Asking {
    pub(super) fn new(talks: bool) -> Self {
        Self { talks, asked: 0 }
    }

    /// Asks until the answer is right; `None`: the person gave up.
    pub(super) fn ask<T>(
        &mut self,
        question: &Question<'_>,
        read: impl Fn(&str) -> Result<T, Wrong>,
    ) -> Option<T> {
        self.asked += 1;
        let mut text = format!("\n{}. {}\n", self.asked, question.title);
        for hint in question.hints {
            text.push_str(&format!("   {hint}\n"));
        }
        show(&text)?;
        loop {
            show(&format!("   [{}] ", question.default))?;
            let line = line(&mut std::io::stdin().lock())?;
            let answer = if line.is_empty() {
                question.default
            } else {
                &line
            };
            match read(answer) {
                Ok(answer) => return Some(answer),
                Err(wrong) => show(&format!("   {}\n   = help: {}\n", wrong.what, wrong.fix))?,
            }
        }
    }

    /// Whether the person agrees.
    pub(super) fn confirm(&mut self, question: &str, default: bool) -> bool {
        let choice = if default { "Y/n" } else { "y/N" };
        let asked = show(&format!("\n{question} [{choice}] "));
        let answer = asked.and_then(|()| line(&mut std::io::stdin().lock()));
        match answer.map(|line| line.to_lowercase()).as_deref() {
            Some("y" | "yes") => true,
            Some("") => default,
            _ => false,
        }
    }
}

fn show(text: &str) -> Option<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .ok()
}

/// A line without blanks at its ends; `None` at the end of input.
fn line(from: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let len = from.take(LINE_MAX).read_until(b'\n', &mut bytes).ok()?;
    (len > 0).then(|| String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_its_feed_at_the_limit_or_at_the_end() {
        let mut input = std::io::Cursor::new(b" a b \n\nlast".to_vec());
        let lines: Vec<Option<String>> = (0..4).map(|_| line(&mut input)).collect();
        let expected = [Some("a b"), Some(""), Some("last"), None];
        assert_eq!(
            lines.iter().map(Option::as_deref).collect::<Vec<_>>(),
            expected
        );
        let mut endless = std::io::Cursor::new(vec![b'x'; 10_000]);
        assert_eq!(line(&mut endless).map(|line| line.len()), Some(4096));
    }
}
