//! Keeps bursts within what an old client's card takes: [`coax_pace`] decides, Linux's socket options and the amount handed to
//! the kernel at once carry it out.

mod learned;
mod linux;
#[cfg(test)]
mod tests;

use std::{
    net::IpAddr,
    os::fd::AsFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::Duration,
};

use coax_clock::Clock;
use coax_pace::{FIRST_RECEIVE_SEGMENTS, Handshake, Mode, Pacer, Received, Sent};
use coax_smbconf::settings::{self, GlobalSettings, SocketOption};
use coax_waits::Kernel;
use coax_wire::time::Span;
pub(super) use learned::LearnedLimits;
use linux::Info;
use socket2::Socket;

/// Segment size of Ethernet, bytes. A listener does not know the client's.
const ETHERNET_MSS: usize = 1460;
/// Time between two looks at the kernel's counters while a client's acknowledgments are awaited: a quarter of the shortest
/// round trip within these limits. One frame takes 1.2 ms at 10 Mbit/s.
const LOOK_MIN: Duration = Duration::from_micros(100);
const LOOK_MAX: Duration = Duration::from_millis(1);
/// How long a thread waits for acknowledgments before it leaves the rest to the client's task.
const PATIENCE: Duration = Duration::from_millis(200);

/// The pacing of one connection.
#[derive(Debug)]
pub(super) struct Pacing {
    clock: Arc<Clock>,
    limits: Arc<LearnedLimits>,
    address: IpAddr,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pacer: Pacer,
    /// The window that was set, bytes.
    window: Option<u32>,
    /// smb.conf sets the receive buffer, so the window stays as it is.
    fixed_window: bool,
    /// Bytes handed to the kernel,
    handed: u64,
    /// and how many of them it keeps until more follow.
    kept: u64,
    mss: u64,
    min_rtt: Span,
}

/// Makes a listener offer small windows, so that old clients begin with small bursts. Returns whether the system can.
pub(super) fn start_small(listener: &Socket, options: &[SocketOption]) -> bool {
    let bytes = ETHERNET_MSS.saturating_mul(FIRST_RECEIVE_SEGMENTS as usize);
    sets_receive_buffer(options)
        || (linux::reports(listener) && linux::start_small(listener, bytes).is_ok())
}

/// The kernel's counters of a connection; nothing of one that is not TCP, or of a kernel that is too old.
pub(super) fn kernel(socket: &impl AsFd) -> Kernel {
    Info::of(socket).map_or(Kernel::default(), |info| info.kernel())
}

fn sets_receive_buffer(options: &[SocketOption]) -> bool {
    let set = |option: &SocketOption| matches!(option, SocketOption::ReceiveBuffer(_));
    options.iter().any(set)
}

impl Pacing {
    /// The pacing of a client that has just connected; `None` if it needs none.
    pub(super) fn begin(
        global: &GlobalSettings,
        (clock, limits): (&Arc<Clock>, &Arc<LearnedLimits>),
        socket: &impl AsFd,
        address: IpAddr,
    ) -> Option<Self> {
        let mode = mode(global, address);
        let fixed_window = sets_receive_buffer(&global.socket_options);
        // An error means that the client is gone, which the next read reports.
        let info = Info::of(socket).ok()?;
        let handshake = Handshake {
            mss: info.mss(),
            window_scale: info.window_scale(),
            timestamps: info.timestamps(),
            rtt: info.rtt(),
        };
        let pacer = Pacer::new(mode, handshake, limits.of(address));
        if !pacer.is_active() {
            if global.pacing != settings::Pacing::Off && !fixed_window {
                let _ = linux::release_window(socket);
            }
            return None;
        }
        let pacing = Self {
            clock: clock.clone(),
            limits: limits.clone(),
            address,
            state: Mutex::new(State {
                pacer,
                window: None,
                fixed_window,
                handed: 0,
                kept: 0,
                mss: u64::from(handshake.mss).max(1),
                min_rtt: info.min_rtt(),
            }),
        };
        pacing.lock().apply(socket);
        Some(pacing)
    }

    /// `bytes` were read; `rest` are missing of their message.
    pub(super) fn received(&self, socket: &impl AsFd, bytes: usize, rest: usize) {
        let now = self.clock.now();
        let out_of_order = Info::of(socket).map_or(0, |info| info.out_of_order());
        let mut state = self.lock();
        let got = Received {
            bytes: bytes as u64,
            rest: rest as u64,
            rtt: state.min_rtt,
            out_of_order,
        };
        state.pacer.received(now, got);
        state.apply(socket);
    }

    /// The server was busy with a message and reads again.
    pub(super) fn resumed(&self) {
        let now = self.clock.now();
        self.lock().pacer.resumed(now);
    }

    /// How many bytes may be handed to the kernel now. Waits for acknowledgments if none may; 0 if they do not arrive in time.
    pub(super) fn permit(&self, socket: &impl AsFd) -> usize {
        let begin = self.clock.now();
        let mut limited = false;
        loop {
            let (allowance, pause) = self.lock().look(&self.clock, socket, limited);
            let waited = self.clock.now() - begin;
            if allowance > 0 || u128::from(waited.0) >= PATIENCE.as_nanos() {
                return usize::try_from(allowance).unwrap_or(usize::MAX);
            }
            limited = true;
            sleep(pause);
        }
    }

    /// The kernel has taken `bytes`. With `more`, it keeps what fills no segment until more bytes follow.
    pub(super) fn handed(&self, bytes: usize, more: bool) {
        let mut state = self.lock();
        let bytes = bytes as u64;
        state.handed = state.handed.saturating_add(bytes);
        state.kept = match more {
            true => state.kept.saturating_add(bytes) % state.mss,
            false => 0,
        };
    }

    /// The connection ends: what it learned is remembered for the client's next one.
    pub(super) fn finish(&self) {
        let learned = self.lock().pacer.learned();
        self.limits
            .learn(self.address, learned, coax_clock::wall_s());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Asks the kernel for its counters. Returns how many bytes may be handed to it, and when to look again if none may.
    fn look(&mut self, clock: &Clock, socket: &impl AsFd, limited: bool) -> (u64, Duration) {
        // Without counters the next send reports the error.
        let Ok(info) = Info::of(socket) else {
            return (u64::MAX, LOOK_MIN);
        };
        self.min_rtt = info.min_rtt();
        let sent = Sent {
            acknowledged: info.acknowledged(),
            retransmitted: info.retransmitted(),
            rtt: self.min_rtt,
        };
        // An acknowledgment makes the kernel send what it kept, in a segment of its own.
        self.kept = self.kept.min(info.unsent());
        let sent_bytes = self.handed.saturating_sub(self.kept);
        let unacknowledged = sent_bytes.saturating_sub(sent.acknowledged);
        self.pacer.observed(clock.now(), sent, limited);
        let pause = Duration::from_nanos(self.min_rtt.0 / 4).clamp(LOOK_MIN, LOOK_MAX);
        // What is kept leaves in one segment with what follows.
        let allowance = self.pacer.allowance(unacknowledged);
        (allowance.saturating_sub(self.kept), pause)
    }

    /// Offers the window that the policy wants.
    fn apply(&mut self, socket: &impl AsFd) {
        let window = self.pacer.receive_window();
        if self.fixed_window || window == self.window {
            return;
        }
        let _ = match window {
            Some(bytes) => linux::limit_window(socket, bytes as usize),
            None => linux::release_window(socket),
        };
        self.window = window;
    }
}

fn mode(global: &GlobalSettings, address: IpAddr) -> Mode {
    if global.pacing_off_for.contains(address) {
        return Mode::Off;
    }
    if global.pacing_always_for.contains(address) {
        return Mode::Always;
    }
    match global.pacing {
        settings::Pacing::Auto => Mode::Auto,
        settings::Pacing::Always => Mode::Always,
        settings::Pacing::Off => Mode::Off,
    }
}
