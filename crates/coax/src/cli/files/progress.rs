//! A line that shows how far a copy is: on a terminal only, without colours.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

use super::text;

/// How often the line is drawn anew.
const BETWEEN: Duration = Duration::from_millis(100);
/// Width of the bar, characters.
const BAR: usize = 20;

/// The progress of several files as one.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    drawn: bool,
    began: Instant,
    next: Instant,
    total: Option<u64>,
    /// Bytes of the files before this one.
    before: u64,
    /// Bytes that were there already and cost no time.
    given: u64,
    now: u64,
    /// The next report is the file's first.
    fresh: bool,
    name: String,
}

impl Progress {
    /// A line for so many bytes, if they are known; `quiet` shows none.
    pub fn new(total: Option<u64>, quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let began = Instant::now();
        Self {
            shown: !quiet && !dumb && stderr().is_terminal(),
            drawn: false,
            began,
            next: began,
            total,
            before: 0,
            given: 0,
            now: 0,
            fresh: false,
            name: String::new(),
        }
    }

    /// Whether a person watches.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// The next file begins.
    pub fn file(&mut self, name: &str) {
        self.before = self.before.saturating_add(self.now);
        self.now = 0;
        self.fresh = true;
        self.name = name.into();
    }

    /// So many bytes of the file are copied; the first report of a file is where it goes on.
    pub fn at(&mut self, bytes: u64) {
        if std::mem::take(&mut self.fresh) {
            self.given = self.given.saturating_add(bytes);
        }
        self.now = bytes;
        if self.shown && Instant::now() >= self.next {
            self.next = Instant::now() + BETWEEN;
            self.drawn = true;
            // A terminal that is gone takes nothing away from the copy.
            let _ = write!(stderr(), "\r{}\x1b[K", self.line(self.began.elapsed()));
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.drawn {
            self.drawn = false;
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let done = self.before.saturating_add(self.now);
        let moved = done.saturating_sub(self.given);
        let rate = text::rate(moved, elapsed);
        let name: String = self.name.chars().take(24).collect();
        let Some(total) = self.total.filter(|total| *total > 0) else {
            return format!("{name}  {}  {rate}", text::size(done));
        };
        let share = (done as f64 / total as f64).min(1.0);
        let filled = (share * BAR as f64) as usize;
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
        let left = if moved == 0 {
            "-:--".into()
        } else {
            let rest = total.saturating_sub(done) as f64;
            let seconds = elapsed.as_secs_f64() * rest / moved as f64;
            clock(seconds as u64)
        };
        format!(
            "{name}  [{bar}] {:3.0} %  {} of {}  {rate}  {left} left",
            share * 100.0,
            text::size(done),
            text::size(total)
        )
    }
}

fn clock(seconds: u64) -> String {
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_share_rate_and_time_left() {
        let mut progress = Progress::new(Some(40_000_000), true);
        progress.file("A.BIN");
        progress.at(0);
        progress.at(10_000_000);
        let line = progress.line(Duration::from_secs(10));
        assert_eq!(
            line,
            "A.BIN  [#####...............]  25 %  10.00 MB of 40.00 MB  1.0 MB/s  0:30 left"
        );
        progress.file("B.BIN");
        progress.at(0);
        progress.at(10_000_000);
        let line = progress.line(Duration::from_secs(10));
        assert!(
            line.contains(" 50 %  20.00 MB") && line.ends_with("0:10 left"),
            "{line}"
        );
    }

    #[test]
    fn without_a_total_there_is_no_bar() {
        let mut progress = Progress::new(None, true);
        progress.file("standard input");
        progress.at(0);
        progress.at(2_000_000);
        let line = progress.line(Duration::from_secs(4));
        assert!(line.starts_with("standard input  2.00 MB"), "{line}");
    }
}
