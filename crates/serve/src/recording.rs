//! A capture on request, of one client or all, into memory that has no name in any folder. There is one at a time.

use std::{fs::File, sync::Arc};

use rustix::fs::{MemfdFlags, memfd_create};

use super::{
    host::Host,
    pcap::{Capture, Target},
};

/// Begins to record `client`, or all; at most `limit` bytes.
///
/// # Errors
/// A recording is under way, or the system has no memory or thread for one.
pub(super) fn begin(
    host: &Arc<Host>,
    client: Option<u64>,
    limit: u64,
) -> Result<Recording, String> {
    let failed = |error: std::io::Error| format!("cannot begin a recording: {error}");
    let file = memfd_create("coax-recording", MemfdFlags::CLOEXEC);
    let file = File::from(file.map_err(|error| failed(error.into()))?);
    let copy = file.try_clone().map_err(failed)?;
    let start = || {
        let target = Target::unnamed(copy, "of the web page", limit);
        Capture::start(target, host.reporter.clone())
    };
    let capture = host.recorder.begin(client, start).map_err(failed)?;
    let capture = capture.ok_or("a recording is under way; wait for its end, or end it")?;
    Ok(Recording {
        host: host.clone(),
        file,
        capture,
        is_over: false,
    })
}

/// A recording that has begun. It ends when this is dropped.
#[derive(Debug)]
pub struct Recording {
    host: Arc<Host>,
    file: File,
    capture: Capture,
    is_over: bool,
}

impl Recording {
    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Whether the limit is reached, so that nothing more is recorded.
    pub fn is_full(&self) -> bool {
        self.capture.is_over()
    }

    /// Ends it. Returns the capture, to be read by position: others may read it too.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn finish(mut self) -> std::io::Result<File> {
        self.stop();
        self.capture.flush();
        self.file.try_clone()
    }

    fn stop(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        self.host.recorder.end();
        self.host.clients.end_recording();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.stop();
    }
}
