//! Linux's socket options for windows, which neither `rustix` nor `socket2` offers. The macros of `nix` contain the system calls.

use std::os::fd::AsFd;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use coax_waits::Kernel;
use coax_wire::time::Span;
use nix::sys::socket::{
    getsockopt, setsockopt,
    sockopt::{GetStruct, RcvBuf, SetUsize},
};

/// `SO_BUF_LOCK` of Linux 5.14 (asm-generic/socket.h; the architectures that number it otherwise run no Rust with std).
const SO_BUF_LOCK: libc::c_int = 72;
/// Bytes of `struct tcp_info` that are read: up to `tcpi_snd_wnd` (Linux 5.5).
const INFO_BYTES: usize = 232;
/// A window clamp that clamps nothing: the largest window that RFC 7323 permits.
const NO_CLAMP: usize = 1 << 30;
/// Receive buffer of a connection that is not limited, bytes: `net.ipv4.tcp_rmem`'s default. Linux doubles the value.
const USUAL_BUFFER: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct BufferLock;
nix::setsockopt_impl!(BufferLock, libc::SOL_SOCKET, SO_BUF_LOCK, usize, SetUsize);

#[derive(Clone, Copy, Debug)]
struct WindowClamp;
nix::setsockopt_impl!(
    WindowClamp,
    libc::IPPROTO_TCP,
    libc::TCP_WINDOW_CLAMP,
    usize,
    SetUsize
);

#[derive(Clone, Copy, Debug)]
struct TcpInfo;
nix::getsockopt_impl!(
    TcpInfo,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u8; INFO_BYTES],
    GetStruct<[u8; INFO_BYTES]>
);

/// What the kernel says of a connection (`struct tcp_info` of linux/tcp.h).
#[derive(Clone, Copy, Debug)]
pub(super) struct Info([u8; INFO_BYTES]);

/// Whether the kernel returns all of [`Info`]. Kernels before 5.5 and QEMU's user emulation return less, at which `nix` panics;
/// therefore one socket is asked once, at the start.
static REPORTS: OnceLock<bool> = OnceLock::new();

/// Finds out whether the kernel returns all of [`Info`]; `socket` is any TCP socket.
pub(super) fn reports(socket: &impl AsFd) -> bool {
    *REPORTS.get_or_init(|| {
        let ask = || getsockopt(socket, TcpInfo).is_ok();
        without_message(|| catch_unwind(AssertUnwindSafe(ask)).unwrap_or(false))
    })
}

/// Runs `work` with panics unreported.
fn without_message<T>(work: impl FnOnce() -> T) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = work();
    panic::set_hook(hook);
    result
}

impl Info {
    pub(super) fn of(socket: &impl AsFd) -> nix::Result<Self> {
        if !reports(socket) {
            return Err(nix::Error::ENOPROTOOPT);
        }
        getsockopt(socket, TcpInfo).map(Self)
    }

    pub(super) fn timestamps(&self) -> bool {
        self.options() & 1 != 0
    }

    pub(super) fn window_scale(&self) -> bool {
        self.options() & 4 != 0
    }

    /// Largest segment to the peer, bytes.
    pub(super) fn mss(&self) -> u32 {
        self.word(16)
    }

    /// Smoothed round-trip time; after the handshake that of the handshake.
    pub(super) fn rtt(&self) -> Span {
        Span(u64::from(self.word(68)).saturating_mul(1000))
    }

    /// The shortest round-trip time; zero if none was measured.
    pub(super) fn min_rtt(&self) -> Span {
        let us = Some(self.word(148)).filter(|us| *us != u32::MAX);
        Span(u64::from(us.unwrap_or(0)).saturating_mul(1000))
    }

    /// Segments sent again.
    pub(super) fn retransmitted(&self) -> u64 {
        u64::from(self.word(100))
    }

    /// Bytes that the peer has acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.long(120)
    }

    /// Bytes that the kernel has, but has not sent.
    pub(super) fn unsent(&self) -> u64 {
        self.word(144).into()
    }

    /// Segments that arrived behind a gap.
    pub(super) fn out_of_order(&self) -> u64 {
        u64::from(self.word(224))
    }

    /// What [`coax_waits`] needs.
    pub(super) fn kernel(&self) -> Kernel {
        let us = |us: u64| Span(us.saturating_mul(1000));
        Kernel {
            rtt: self.rtt(),
            min_rtt: self.min_rtt(),
            busy: us(self.long(168)),
            window_limited: us(self.long(176)),
            acknowledged: self.acknowledged(),
            retransmitted: self.retransmitted(),
            out_of_order: self.out_of_order(),
            delivery_rate: self.long(160),
            client_window: self.word(228).into(),
            unacknowledged: self.word(24).into(),
            unsent: self.unsent(),
            server_window: self.word(64).into(),
            congestion_window: self.word(80).into(),
            slow_start: self.word(80) < self.word(76),
            mss: self.mss().into(),
        }
    }

    fn options(&self) -> u8 {
        self.0.get(5).copied().unwrap_or(0)
    }

    fn long(&self, at: usize) -> u64 {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }
}

/// Makes SYN-ACKs of a listener offer a small window, without a limit for the window scale or for autotuning.
///
/// # Errors
/// The kernel lacks `SO_BUF_LOCK` (before 5.14). Then nothing has changed, except for the buffer's size, which is restored.
pub(super) fn start_small(socket: &impl AsFd, bytes: usize) -> nix::Result<()> {
    setsockopt(socket, BufferLock, &0)?;
    setsockopt(socket, RcvBuf, &bytes)?;
    setsockopt(socket, BufferLock, &0)
}

/// Limits the window of a connection. The limit takes effect as soon as data fills what was offered before.
pub(super) fn limit_window(socket: &impl AsFd, bytes: usize) -> nix::Result<()> {
    setsockopt(socket, RcvBuf, &bytes)?;
    setsockopt(socket, WindowClamp, &bytes)
}

/// Leaves the window of a connection to the system's autotuning.
pub(super) fn release_window(socket: &impl AsFd) -> nix::Result<()> {
    setsockopt(socket, RcvBuf, &USUAL_BUFFER)?;
    setsockopt(socket, BufferLock, &0)?;
    setsockopt(socket, WindowClamp, &NO_CLAMP)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic)]

    use std::net::TcpListener;

    use super::*;

    #[test]
    fn this_kernel_reports_what_pacing_needs() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        assert!(reports(&listener));
        assert!(Info::of(&listener).is_ok());
    }

    #[test]
    fn a_panic_of_the_question_is_an_answer() {
        let answer = without_message(|| catch_unwind(|| panic!("too short")).is_ok());
        assert!(!answer);
    }
}
