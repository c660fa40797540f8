//! Progress of long work.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

/// Work that takes less long shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// A line on a terminal that says how many runs (or other things) are done, once the work takes two seconds.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    what: &'static str,
    began: Instant,
    next: Mutex<Instant>,
}

impl Progress {
    /// For work on these.
    pub fn new(what: &'static str) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            shown: !dumb && stderr().is_terminal(),
            what,
            began: Instant::now(),
            next: Mutex::new(Instant::now() + PATIENCE),
        }
    }

    /// So many of `all` are done.
    pub fn at(&self, done: usize, all: usize) {
        if !self.shown {
            return;
        }
        let Ok(mut next) = self.next.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now >= *next {
            *next = now + Duration::from_millis(100);
            // a terminal that is gone takes nothing away from the runs
            let _ = write!(
                stderr(),
                "\r{}\x1b[K",
                self.line(done, all, now - self.began)
            );
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    fn line(&self, done: usize, all: usize, elapsed: Duration) -> String {
        const BAR: usize = 20;
        let filled = (done * BAR).checked_div(all).unwrap_or(0).min(BAR);
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
        let left = match done {
            0 => "-:--".to_owned(),
            done => {
                let rest = all.saturating_sub(done) as f64;
                let seconds = (elapsed.as_secs_f64() * rest / done as f64) as u64;
                format!("{}:{:02}", seconds / 60, seconds % 60)
            }
        };
        format!("[{bar}] {done} of {} {}  {left} left", all, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_many_runs_are_done_and_how_long_the_rest_takes() {
        let progress = Progress {
            shown: false,
            what: "runs",
            began: Instant::now(),
            next: Mutex::new(Instant::now()),
        };
        assert_eq!(
            progress.line(10, 40, Duration::from_secs(25)),
            "[#####...............] 10 of 40 runs  1:15 left"
        );
        assert_eq!(
            progress.line(0, 40, Duration::ZERO),
            "[....................] 0 of 40 runs  -:-- left"
        );
    }
}
