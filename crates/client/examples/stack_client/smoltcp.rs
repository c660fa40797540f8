//! smoltcp on a TUN device.

use std::{
    net::Ipv4Addr,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use smoltcp::{
    iface::{Config, Interface, PollResult, SocketHandle, SocketSet},
    phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken},
    socket::tcp,
    time::Instant,
    wire::{HardwareAddress, IpAddress, IpCidr},
};

use crate::{Job, Result, Transport, entropy};

const MTU: usize = 1500;
const PORT: u16 = 445;
const BUFFER: usize = 65_535;

/// First port for outgoing connections (RFC 6335).
const FIRST_PORT: u16 = 49_152;

/// How long the handshake may take.
const CONNECTING_MAX: Duration = Duration::from_secs(30);

/// A TUN device: each read is a packet, each write another.
struct Tun(OwnedFd);

struct Arrived(Vec<u8>);

struct Leaving<'a>(&'a OwnedFd);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        // a packet that the device refuses is lost, as on any link
        let _ = rustix::io::write(self.0, &packet);
        result
    }
}

impl Device for Tun {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let mut packet = vec![0; MTU];
        let len = rustix::io::read(&self.0, &mut packet).ok()?;
        packet.truncate(len);
        Some((Arrived(packet), Leaving(&self.0)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&self.0))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
        capabilities
    }
}

/// A connection of smoltcp.
pub struct Smoltcp {
    device: Tun,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    began: std::time::Instant,
}

impl Smoltcp {
    /// Keys: `client` and `server` (addresses), `receive` and `send` (bytes of its buffers), `nodelay`.
    pub fn connect(job: &Job) -> Result<Self> {
        let mut device = Tun(std::io::stdin().as_fd().try_clone_to_owned()?);
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = u64::from_le_bytes(entropy()?);
        let port = FIRST_PORT + u16::from_le_bytes(entropy()?) % (u16::MAX - FIRST_PORT);
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        let (client, server): (Ipv4Addr, Ipv4Addr) =
            (job.text("client")?.parse()?, job.text("server")?.parse()?);
        let mut is_room = true;
        interface.update_ip_addrs(|addresses| {
            is_room = addresses
                .push(IpCidr::new(IpAddress::from(client), 8))
                .is_ok();
        });
        if !is_room {
            return Err("smoltcp takes no address".into());
        }
        let buffer = |size| tcp::SocketBuffer::new(vec![0; size]);
        let (receive, send) = (job.number("receive", BUFFER)?, job.number("send", BUFFER)?);
        let mut socket = tcp::Socket::new(buffer(receive), buffer(send));
        socket.set_nagle_enabled(job.number("nodelay", 1)? == 0);
        socket.connect(interface.context(), (IpAddress::from(server), PORT), port)?;
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        let began = std::time::Instant::now();
        let mut found = Self {
            device,
            interface,
            sockets,
            handle,
            began,
        };
        found.wait_until(CONNECTING_MAX, |socket| socket.may_send())?;
        if !found.socket().may_send() {
            return Err(format!("no connection to {server}:{PORT}").into());
        }
        Ok(found)
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.began.elapsed().as_micros() as i64)
    }

    /// Lets smoltcp take packets and send. Whether a socket changed.
    fn poll(&mut self) -> bool {
        let now = self.now();
        self.interface
            .poll(now, &mut self.device, &mut self.sockets)
            == PollResult::SocketStateChanged
    }

    fn wait_until(&mut self, limit: Duration, wanted: fn(&tcp::Socket<'_>) -> bool) -> Result<()> {
        let end = std::time::Instant::now() + limit;
        while !wanted(self.socket()) && self.socket().is_open() {
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.wait(Some(left))?;
        }
        Ok(())
    }
}

impl Transport for Smoltcp {
    fn send(&mut self, bytes: &[u8]) -> Result<usize> {
        let sent = self.socket().send_slice(bytes)?;
        self.poll();
        Ok(sent)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        let socket = self.socket();
        if !socket.may_recv() {
            return Ok(Some(0));
        }
        if !socket.can_recv() {
            return Ok(None);
        }
        let count = socket.recv_slice(buffer)?;
        self.poll();
        Ok(Some(count))
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<()> {
        if self.poll() {
            return Ok(());
        }
        let own = self
            .interface
            .poll_delay(self.now(), &self.sockets)
            .map(Duration::from);
        let limit = own.into_iter().chain(limit).min().map(timespec);
        match poll(
            &mut [PollFd::new(&self.device.0, PollFlags::IN)],
            limit.as_ref(),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.poll();
        Ok(())
    }

    fn close(&mut self, limit: Duration) -> Result<()> {
        self.socket().close();
        self.wait_until(limit, |socket| socket.state() == tcp::State::TimeWait)
    }

    fn has_send_buffer(&self) -> bool {
        true
    }
}

pub fn timespec(of: Duration) -> Timespec {
    Timespec {
        tv_sec: of.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: of.subsec_nanos().into(),
    }
}
