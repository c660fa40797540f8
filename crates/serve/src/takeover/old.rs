//! The process that hands over.

use std::{
    io::ErrorKind,
    net::{TcpListener, UdpSocket},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{
            fs::{FileTypeExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::Path,
    time::Duration,
};

use coax_netbios::Transport;
use nix::unistd::{Uid, geteuid};
use rustix::net::sockopt::socket_peercred;

use super::message::{MOST, Message, Purpose, VERSION, receive, send};

/// How long the new process may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Copies of all sockets that a new process needs.
#[derive(Debug)]
pub(crate) struct Deed {
    sockets: Vec<(Purpose, Copy)>,
}

#[derive(Debug)]
enum Copy {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl AsFd for Copy {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Udp(socket) => socket.as_fd(),
        }
    }
}

impl Deed {
    /// Copies the descriptors.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn new<'a>(
        doors: impl Iterator<Item = (Transport, &'a TcpListener)>,
        names: &[UdpSocket],
        datagrams: &[UdpSocket],
    ) -> std::io::Result<Self> {
        let mut sockets = Vec::new();
        for (transport, listener) in doors {
            let purpose = match transport {
                Transport::Nbt139 => Purpose::Nbt,
                Transport::Direct445 => Purpose::Direct,
            };
            sockets.push((purpose, Copy::Tcp(listener.try_clone()?)));
        }
        for socket in names {
            sockets.push((Purpose::Names, Copy::Udp(socket.try_clone()?)));
        }
        for socket in datagrams {
            sockets.push((Purpose::Datagrams, Copy::Udp(socket.try_clone()?)));
        }
        // The control socket comes in addition.
        if sockets.len() >= MOST {
            return Err(std::io::Error::other(format!(
                "a takeover can hand over {MOST} sockets; listen at fewer addresses"
            )));
        }
        Ok(Self { sockets })
    }
}

/// The socket on which takeovers are requested.
#[derive(Debug)]
pub(crate) struct Control {
    listener: UnixListener,
    /// Why nothing can be handed over.
    refusal: Option<String>,
}

impl Control {
    /// Listens at `path`, with access for the owner only. A socket that a dead process left there is replaced.
    ///
    /// # Errors
    /// A server listens there already, or the system refuses.
    pub(crate) fn bind(path: &Path) -> Result<UnixListener, String> {
        let at = path.display();
        if UnixStream::connect(path).is_ok() {
            return Err(format!(
                "another server listens at {at} ('coax:takeover socket'); take over from it with --takeover, or stop it"
            ));
        }
        let is_socket = |found: std::fs::Metadata| found.file_type().is_socket();
        if std::fs::symlink_metadata(path).is_ok_and(is_socket) {
            // If this fails, so does bind, with a better error.
            let _ = std::fs::remove_file(path);
        }
        let wrong = |error: std::io::Error| {
            format!(
                "cannot listen at {at} ('coax:takeover socket'): {error}; name a file in a folder that this user may write to"
            )
        };
        let listener = UnixListener::bind(path).map_err(wrong)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(wrong)?;
        Ok(listener)
    }

    /// Answers at `listener`; `refusal` is the reason why nothing can be handed over.
    pub(crate) fn new(listener: UnixListener, refusal: Option<String>) -> Self {
        Self { listener, refusal }
    }

    /// A copy for the runtime's notifications.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn listener(&self) -> std::io::Result<UnixListener> {
        self.listener.try_clone()
    }

    /// Serves one request to take over, up to the moment at which the new process can serve. `report` receives what
    /// went wrong.
    ///
    /// # Errors
    /// Why this server serves on.
    pub(crate) fn offer(&self, deed: &Deed, stream: UnixStream) -> Result<Successor, String> {
        let lost = |error: std::io::Error| format!("a takeover failed: {error}");
        stream.set_nonblocking(false).map_err(lost)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
        if let Err(why) = self.judge(&stream) {
            let refusal = Message::Refused { why: why.clone() };
            // The other process may be gone already.
            let _ = send(&stream, &refusal, &[]);
            return Err(format!("a takeover was refused: {why}"));
        }
        let (mut purposes, mut sockets): (Vec<Purpose>, Vec<BorrowedFd<'_>>) = deed
            .sockets
            .iter()
            .map(|(purpose, socket)| (*purpose, socket.as_fd()))
            .unzip();
        purposes.push(Purpose::Control);
        sockets.push(self.listener.as_fd());
        let offer = Message::Offer {
            version: VERSION,
            sockets: purposes,
        };
        send(&stream, &offer, &sockets).map_err(lost)?;
        match receive(&stream) {
            Ok(Some((Message::Ready, _))) => Ok(Successor(stream)),
            Ok(_) => Err("a takeover failed: the new process ended before it could serve".into()),
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => format!(
                        "the new process was not ready after {} s",
                        PATIENCE.as_secs()
                    ),
                    _ => format!("the new process sent something unexpected ({error})"),
                };
                let refusal = Message::Refused { why: why.clone() };
                let _ = send(&stream, &refusal, &[]);
                Err(format!("a takeover failed: {why}"))
            }
        }
    }

    fn judge(&self, stream: &UnixStream) -> Result<(), String> {
        let peer = socket_peercred(stream).map_err(|error| error.to_string())?;
        let theirs = Uid::from_raw(peer.uid.as_raw());
        if theirs != geteuid() && !theirs.is_root() {
            return Err(format!(
                "the new process belongs to user {theirs}, this server to user {}",
                geteuid()
            ));
        }
        match receive(stream) {
            Ok(Some((Message::Hello { version }, _))) if version == VERSION => {}
            Ok(Some((Message::Hello { version }, _))) => {
                return Err(format!(
                    "the new process speaks version {version} of the takeover protocol, this server version {VERSION}"
                ));
            }
            _ => return Err("the new process sent no request".into()),
        }
        self.refusal.clone().map_or(Ok(()), Err)
    }
}

/// A process that is ready to serve.
#[derive(Debug)]
pub(crate) struct Successor(UnixStream);

impl Successor {
    /// Tells the new process that this one accepts no more clients.
    pub(crate) fn release(self) {
        // If it has died meanwhile, there is nobody to tell.
        let _ = send(&self.0, &Message::Yours, &[]);
    }
}
