//! Named pipes of `IPC$`.

/// An open pipe.
#[derive(Debug)]
pub struct Pipe {}
