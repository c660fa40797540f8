//! Events for applications, and disk requests.

/// An event for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// The run starts. A client connects now; a server already listens.
    Start,
    /// The connection is established.
    Connected,
    /// Data can be read. Repeated when more data arrives, whether or not the application has read.
    Readable,
    /// Fewer bytes are unacknowledged than [`Context::notify_below`](crate::Context::notify_below) requested.
    Drained,
    /// The peer has closed its direction.
    PeerFinished,
    /// The connection was reset.
    Reset,
    /// The timer with this token has expired.
    Timer(u64),
    /// Another connection of the server requires attention of this one ([`Context::wake`](crate::Context::wake)).
    Woken,
    /// The processor has finished the work with this token.
    Worked(u64),
    /// The disk has finished the work with this token.
    DiskDone(u64),
}

/// A request to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskWork {
    /// Read this number of bytes.
    Read(u64),
    /// Write this number of bytes.
    Write(u64),
}
