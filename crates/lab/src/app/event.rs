//! What applications and their host tell each other.

/// What an application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// The run begins. A client connects now; a server is listening already.
    Start,
    /// The connection is there.
    Connected,
    /// There are bytes to read. Told again whenever more come, whether or not any were read.
    Readable,
    /// Less is unacknowledged than [`Context::notify_below`](crate::Context::notify_below) asked for.
    Drained,
    /// The peer will send no more.
    PeerFinished,
    /// The connection was broken off.
    Reset,
    /// The timer with this token ran out.
    Timer(u64),
    /// The processor has done the work with this token.
    Worked(u64),
    /// The disk has done the work with this token.
    DiskDone(u64),
}

/// What the disk is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskWork {
    /// Read so many bytes.
    Read(u64),
    /// Write so many bytes.
    Write(u64),
}
