//! Captures for a program that takes the results as they come.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{captures, error::Failure, input::Found, ordered, shard::Shard};

/// Captures to explain.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Captures, and folders to search for captures.
    pub paths: Vec<PathBuf>,
    /// Threads.
    pub threads: usize,
    /// The part of the captures that is explained.
    pub shard: Shard,
}

/// The captures among files and folders in the order in which they are explained, and what cannot be read.
pub fn find(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Failure>) {
    let found = Found::search(paths);
    let captures = found.inputs.into_iter().map(|input| input.path);
    (captures.collect(), found.failures)
}

impl Stream {
    /// Explains the captures in the order of the names. `take` gets each element of `captures` in the object of `coax explain --json`, or
    /// why there is none; first all paths that cannot be read. `take` is waited for, so memory is bounded. All work ends soon when
    /// `take` or `goes_on` says no.
    pub fn each(
        &self,
        goes_on: &(dyn Fn() -> bool + Sync),
        mut take: impl FnMut(&Path, Result<Value, String>) -> bool,
    ) {
        let found = Found::search(&self.paths);
        let mut inputs = found.inputs;
        inputs.retain(|input| self.shard.has(&input.place));
        for failure in found.failures {
            // each failure is in one part only
            if self.shard.has(&failure.path) && !take(&failure.path, Err(failure.reason)) {
                return;
            }
        }
        let explain = |input: &_| captures::explain(input, goes_on);
        let take = |input: &crate::input::Input, outcome| match goes_on() {
            true if take(&input.path, outcome) => Ok(()),
            _ => Err(()),
        };
        // the error only says that nobody wants more
        let _ = ordered::each(&inputs, self.threads, explain, take);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{
        fs,
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::*;

    fn labelled() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled")
    }

    fn stream(paths: Vec<PathBuf>) -> Stream {
        Stream {
            paths,
            threads: 3,
            shard: Shard::ALL,
        }
    }

    #[test]
    fn each_capture_has_one_result_and_bad_files_fail_alone() {
        let folder = tempfile::tempdir().unwrap();
        let bad = folder.path().join("bad.pcap");
        fs::write(&bad, b"no capture").unwrap();
        let missing = folder.path().join("missing.pcap");
        let (mut good, mut failed) = (0, Vec::new());
        stream(vec![labelled(), bad.clone(), missing.clone()]).each(&|| true, |path, outcome| {
            match outcome {
                Ok(_) => good += 1,
                Err(_) => failed.push(path.to_owned()),
            }
            true
        });
        assert!(good > 10, "{good}");
        assert_eq!(failed, [missing, bad]);
    }

    #[test]
    fn nothing_is_delivered_after_a_stop() {
        let goes_on = AtomicBool::new(true);
        let mut taken = 0;
        stream(vec![labelled()]).each(&|| goes_on.load(Ordering::Relaxed), |_, _| {
            taken += 1;
            goes_on.store(taken < 3, Ordering::Relaxed);
            true
        });
        assert_eq!(taken, 3);
        let mut taken = 0;
        stream(vec![labelled()]).each(&|| true, |_, _| {
            taken += 1;
            taken < 2
        });
        assert_eq!(taken, 2);
    }
}
