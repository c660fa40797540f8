//! Tells when a server takes long to answer, so that nobody looks at a silent terminal.

use std::{
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// How long a server may take before a person wants to know what coax waits for.
const SILENCE: Duration = Duration::from_secs(5);

/// While this exists, coax waits for a server.
#[derive(Debug)]
pub struct Waiting {
    /// The other end learns of its end.
    _over: Sender<()>,
}

impl Waiting {
    /// Calls `tell` with the seconds that have passed, if this still exists after some of them.
    pub fn begin(tell: impl FnOnce(u64) + Send + 'static) -> Self {
        Self::telling(SILENCE, tell)
    }

    fn telling(silence: Duration, tell: impl FnOnce(u64) + Send + 'static) -> Self {
        let (over, end) = channel::<()>();
        thread::spawn(move || {
            if end.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
                tell(silence.as_secs());
            }
        });
        Self { _over: over }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_long_wait_is_told_and_one_that_is_over_is_not() {
        let (sender, told) = channel();
        let long = sender.clone();
        let waiting = Waiting::telling(Duration::from_millis(1), move |_| {
            long.send("long").unwrap()
        });
        assert_eq!(told.recv(), Ok("long"));
        drop(waiting);
        drop(Waiting::telling(Duration::from_secs(3600), move |_| {
            sender.send("over").unwrap()
        }));
        assert!(told.recv().is_err(), "its thread ended without a word");
    }
}
