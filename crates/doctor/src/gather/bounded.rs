//! Files and answers, with limits of size and time.

use std::{path::Path, sync::mpsc, thread, time::Duration};

/// The configuration of the packages.
pub const PACKAGED_CONFIG: &str = "/etc/coax/smb.conf";

/// What `find` returns, if it does so in time. Otherwise its thread stays behind until the process ends.
pub fn within<T: Send + 'static>(
    time: Duration,
    find: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, receive) = mpsc::channel();
    let found = move || {
        // nobody waits any more if it took too long
        let _ = send.send(find());
    };
    thread::Builder::new().spawn(found).ok()?;
    receive.recv_timeout(time).ok()
}

/// The text of a file, up to `max` bytes; empty, if it cannot be read.
pub(super) fn text(path: impl AsRef<Path>, max: u64) -> String {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(max).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}
