//! Long work: without the interpreter's lock, and ended by signals.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use pyo3::prelude::*;

use crate::errors::CoaxError;

/// How often Python's signals are looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// Whether somebody still wants the result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// A value that another thread makes.
#[derive(Debug)]
pub(crate) struct Expected<T> {
    from: Mutex<Receiver<T>>,
    stop: Stop,
}

impl<T: Send> Expected<T> {
    pub(crate) fn new(from: Receiver<T>, stop: Stop) -> Self {
        Self {
            from: Mutex::new(from),
            stop,
        }
    }

    /// Waits with the interpreter's lock released. `None` if the other thread ended without a value.
    ///
    /// # Errors
    /// The exception of a signal's handler, such as `KeyboardInterrupt`. The work is told to stop.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<Option<T>> {
        loop {
            let received = py.detach(|| self.receive());
            match received {
                Ok(value) => return Ok(Some(value)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals().inspect_err(|_| self.stop.set())?;
                }
            }
        }
    }

    /// Waits on a thread that does not have the interpreter's lock.
    ///
    /// # Errors
    /// A signal's handler raised an exception. The caller is a C library, which reports it as an error of its own.
    pub(crate) fn take_detached(&self) -> Result<Option<T>, String> {
        loop {
            match self.receive() {
                Ok(value) => return Ok(Some(value)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.look_at_signals()?,
            }
        }
    }

    fn look_at_signals(&self) -> Result<(), String> {
        let raised = Python::attach(|py| {
            let error = py.check_signals().err()?;
            Some(format!("interrupted by a signal: {error}"))
        });
        match raised {
            Some(error) => {
                self.stop.set();
                Err(error)
            }
            None => Ok(()),
        }
    }

    fn receive(&self) -> Result<T, RecvTimeoutError> {
        let from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        from.recv_timeout(PERIOD)
    }
}

impl<T> Drop for Expected<T> {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// Does `work` on a thread of its own and waits for it. `work` looks at its argument and ends when nobody wants the result.
///
/// # Errors
/// The exception of a signal's handler, or [`CoaxError`] if `work` panics.
pub(crate) fn attended<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = sync_channel(1);
    let stop = Stop::default();
    let expected = Expected::new(receive, stop.clone());
    thread::Builder::new()
        .name("coax".to_owned())
        .spawn(move || {
            // after a signal nobody receives
            let _ = send.send(work(&stop));
        })?;
    let defect = "coax failed on it: this is a defect, please report it";
    expected.take(py)?.ok_or_else(|| CoaxError::new_err(defect))
}
