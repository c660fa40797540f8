//! A client's socket: plain system calls, blocking with short time-outs.

use std::{
    io::IoSlice,
    net::SocketAddr,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown},
};
use socket2::SockRef;

use super::pacing::Pacing;
use coax_smbconf::settings::SocketOption;

/// How long a thread waits for the next request of a client it has just served.
pub(super) const LINGER: Duration = Duration::from_millis(10);
/// How long a thread waits for space in the send buffer before it leaves the rest to the client's task.
const PATIENCE: Duration = Duration::from_millis(200);

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// The number of bytes, at least one.
    Bytes(usize),
    /// No data arrived in time.
    Nothing,
    /// The peer has closed its side.
    Closed,
}

/// A connected socket: TCP, or a local one that carries a session of another network.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    /// Limits of the bursts, for a client that needs them.
    pacing: Option<Pacing>,
    /// The connection ends with a reset.
    resets: AtomicBool,
}

impl Socket {
    /// Wraps an accepted connection and sets its options. Options that the system refuses keep their values.
    pub(super) fn new(
        stream: std::net::TcpStream,
        options: &[SocketOption],
    ) -> std::io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LINGER))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        for option in options {
            // A buffer size above the system's limit or an unknown option does not justify a refusal.
            let _ = apply(&SockRef::from(&stream), *option);
        }
        Ok(Self {
            fd: stream.into(),
            pacing: None,
            resets: AtomicBool::new(false),
        })
    }

    /// Limits the bursts in both directions from now on.
    pub(super) fn pace(&mut self, pacing: Option<Pacing>) {
        self.pacing = pacing;
    }

    #[cfg(test)]
    pub(super) fn pacing(&self) -> Option<&Pacing> {
        self.pacing.as_ref()
    }

    /// `bytes` were read and `rest` are missing of their message.
    pub(super) fn note_received(&self, bytes: usize, rest: usize) {
        if let Some(pacing) = &self.pacing {
            pacing.received(self, bytes, rest);
        }
    }

    /// A message was served while another one is incomplete.
    pub(super) fn note_resumed(&self) {
        if let Some(pacing) = &self.pacing {
            pacing.resumed();
        }
    }

    /// Wraps a local socket.
    pub(super) fn local(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LINGER))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            fd: stream.into(),
            pacing: None,
            resets: AtomicBool::new(false),
        })
    }

    /// Reads available data into `space`. Without data it waits for [`LINGER`], or not at all without `wait`.
    pub(super) fn receive(&self, space: &mut [u8], wait: bool) -> Result<Received, Errno> {
        let flags = if wait {
            RecvFlags::empty()
        } else {
            RecvFlags::DONTWAIT
        };
        loop {
            match rustix::net::recv(&self.fd, &mut *space, flags) {
                Ok((_, 0)) => return Ok(Received::Closed),
                Ok((_, count)) => return Ok(Received::Bytes(count)),
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::INTR) => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// Sends some of `parts`; 0 bytes if the send buffer stays full. `more`: the message continues after them.
    pub(super) fn send(&self, parts: &[IoSlice<'_>], more: bool) -> Result<usize, Errno> {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        self.paced(more, |allowed| {
            let cut;
            let parts = if allowed == usize::MAX {
                parts
            } else {
                cut = within(parts, allowed);
                &cut
            };
            self.patiently(|| {
                rustix::net::sendmsg(&self.fd, parts, &mut SendAncillaryBuffer::default(), flags)
            })
        })
    }

    /// Sends up to `len` bytes of `file` at `offset` from the page cache; `None` if the file ends there, 0 bytes if the
    /// send buffer stays full.
    pub(super) fn send_file(
        &self,
        file: &OwnedFd,
        offset: u64,
        len: usize,
    ) -> Result<Option<usize>, Errno> {
        let mut at = offset;
        let mut ended = false;
        let sent = self.paced(false, |allowed| {
            self.patiently(|| {
                let sent = rustix::fs::sendfile(&self.fd, file, Some(&mut at), len.min(allowed))?;
                ended = sent == 0;
                Ok(sent)
            })
        })?;
        Ok((!ended).then_some(sent))
    }

    /// Shuts down sending and discards unread data: closing a socket with unread bytes would reset the connection and
    /// lose the last reply.
    pub(super) fn finish(&self) {
        self.pacing.iter().for_each(Pacing::finish);
        if self.resets.load(Ordering::Relaxed) {
            return;
        }
        if rustix::net::shutdown(&self.fd, Shutdown::Write).is_err() {
            return;
        }
        let mut rest = [0; 4096];
        for _ in 0..64 {
            match self.receive(&mut rest, false) {
                Ok(Received::Bytes(_)) => {}
                _ => return,
            }
        }
    }

    /// Makes the end of the connection a reset (RST) instead of a FIN.
    pub(super) fn reset_at_end(&self) {
        // A local socket has no reset; its end is an end all the same.
        let is_set = SockRef::from(&self.fd).set_linger(Some(Duration::ZERO));
        self.resets.store(is_set.is_ok(), Ordering::Relaxed);
    }

    /// Makes the system send keep-alive probes after `idle` without data. A peer that no longer knows the connection
    /// answers with a reset.
    pub(super) fn probe_after(&self, idle: Duration) -> std::io::Result<()> {
        let socket = SockRef::from(&self.fd);
        socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(idle))
    }

    /// The local address of this connection.
    pub(super) fn local_address(&self) -> Option<SocketAddr> {
        SockRef::from(&self.fd).local_addr().ok()?.as_socket()
    }

    /// Sends up to as many bytes as the client's card takes at once; 0 if it has not acknowledged enough. `more`: the message
    /// continues after them.
    fn paced(
        &self,
        more: bool,
        send: impl FnOnce(usize) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let Some(pacing) = &self.pacing else {
            return send(usize::MAX);
        };
        match pacing.permit(self) {
            0 => Ok(0),
            allowed => {
                let sent = send(allowed)?;
                pacing.handed(sent, more);
                Ok(sent)
            }
        }
    }

    fn patiently(&self, mut send: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
        let mut waited = false;
        loop {
            match send() {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !waited && self.writable() => waited = true,
                Err(Errno::AGAIN) => return Ok(0),
                outcome => return outcome,
            }
        }
    }

    fn writable(&self) -> bool {
        let patience = Timespec::try_from(PATIENCE).ok();
        poll(
            &mut [PollFd::new(&self.fd, PollFlags::OUT)],
            patience.as_ref(),
        )
        .is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The first `allowed` bytes of `parts`.
fn within<'a>(parts: &'a [IoSlice<'_>], allowed: usize) -> Vec<IoSlice<'a>> {
    let mut left = allowed;
    let cut = |part: &'a IoSlice<'_>| {
        let taken = part.get(..left.min(part.len())).unwrap_or_default();
        left = left.saturating_sub(taken.len());
        IoSlice::new(taken)
    };
    parts.iter().map(cut).collect()
}

/// Sets one of smb.conf's `socket options`.
pub(super) fn apply(socket: &SockRef<'_>, option: SocketOption) -> std::io::Result<()> {
    let seconds = |s: u32| Duration::from_secs(u64::from(s));
    let bytes = |b: u32| usize::try_from(b).unwrap_or(usize::MAX);
    let keepalive = socket2::TcpKeepalive::new();
    match option {
        SocketOption::NoDelay(on) => socket.set_tcp_nodelay(on),
        SocketOption::KeepAlive(on) => socket.set_keepalive(on),
        SocketOption::KeepIdle(s) => socket.set_tcp_keepalive(&keepalive.with_time(seconds(s))),
        SocketOption::KeepInterval(s) => {
            socket.set_tcp_keepalive(&keepalive.with_interval(seconds(s)))
        }
        SocketOption::KeepCount(n) => socket.set_tcp_keepalive(&keepalive.with_retries(n)),
        SocketOption::SendBuffer(n) => socket.set_send_buffer_size(bytes(n)),
        SocketOption::ReceiveBuffer(n) => socket.set_recv_buffer_size(bytes(n)),
        SocketOption::ReuseAddress(on) => socket.set_reuse_address(on),
        SocketOption::Broadcast(_) => Ok(()),
        SocketOption::QuickAck(on) => socket.set_tcp_quickack(on),
        SocketOption::UserTimeout(ms) => {
            socket.set_tcp_user_timeout(Some(Duration::from_millis(u64::from(ms))))
        }
        SocketOption::TypeOfService(tos) => socket.set_tos_v4(u32::from(tos)),
    }
}
