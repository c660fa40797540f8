//! A socket to a process with another TCP.

use std::{
    io::{ErrorKind, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, poll};

use crate::{Result, Transport, smoltcp::timespec};

pub struct Stream {
    socket: UnixStream,
    is_full: bool,
}

impl Stream {
    pub fn from_standard_input() -> Result<Self> {
        let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            is_full: false,
        })
    }
}

impl Transport for Stream {
    fn send(&mut self, bytes: &[u8]) -> Result<usize> {
        let sent = match self.socket.write(bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error.into()),
        };
        self.is_full = sent < bytes.len();
        Ok(sent)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match self.socket.read(buffer) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<()> {
        let wanted = if self.is_full {
            PollFlags::IN | PollFlags::OUT
        } else {
            PollFlags::IN
        };
        let limit = limit.map(timespec);
        poll(&mut [PollFd::new(&self.socket, wanted)], limit.as_ref())?;
        Ok(())
    }

    fn close(&mut self, _: Duration) -> Result<()> {
        self.socket.shutdown(std::net::Shutdown::Write)?;
        Ok(())
    }

    fn has_send_buffer(&self) -> bool {
        false
    }
}
