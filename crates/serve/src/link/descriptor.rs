//! The descriptor of a client's socket, for the runtime.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::Link;

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_fd().as_raw_fd()
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
