//! The door of the web page: its socket and its token. What is behind it is not this crate's.

use std::{
    io::{ErrorKind, Read as _},
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
    time::Duration,
};

use coax_smbconf::settings::{GlobalSettings, Settings};
use socket2::{Domain, Protocol, Socket, Type};
use zeroize::Zeroizing;

use super::{holder, host::Host, random::random, view::View};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 64;
/// The shortest token, bytes.
const TOKEN_MIN: usize = 16;
/// The longest token, bytes.
const TOKEN_MAX: usize = 512;
/// How long a new process waits for the old one to release the address, and how often it tries.
const TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(200);

/// Shows the server at a door. It is called once, within the runtime, and starts what it needs.
pub type Page = Box<dyn FnOnce(Door, View) + Send>;

/// Where readers of the page connect.
#[derive(Debug)]
pub struct Door {
    /// The socket.
    pub listener: TcpListener,
    /// What readers must know.
    pub token: Option<Token>,
}

/// What readers of the page must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// A token.
    pub fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// The token.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// A door, before clients are accepted.
#[derive(Debug)]
pub(super) struct Opened {
    address: SocketAddr,
    /// `None`: another process has the address, and will release it.
    listener: Option<TcpListener>,
    token: Option<Token>,
    is_generated: bool,
}

/// Binds the address of `coax:web`. `replaces`: the server that this one replaces may still hold it.
///
/// # Errors
/// The address cannot be used, or the token file is of no use.
pub(super) fn open(settings: &Settings, replaces: bool) -> Result<Option<Opened>, String> {
    let global = &settings.global;
    let Some(address) = global.web else {
        return Ok(None);
    };
    let (token, is_generated) = token(global, address)?;
    let listener = match bind(address) {
        Ok(listener) => Some(listener),
        Err(error) if replaces && error.kind() == ErrorKind::AddrInUse => None,
        Err(error) => return Err(explain(address, &error)),
    };
    Ok(Some(Opened {
        address,
        listener,
        token,
        is_generated,
    }))
}

impl Opened {
    /// The address that it is bound to.
    pub(super) fn address(&self) -> SocketAddr {
        let bound = self.listener.as_ref().map(TcpListener::local_addr);
        bound.and_then(Result::ok).unwrap_or(self.address)
    }

    /// Hands the door to the page, as soon as the address is free.
    pub(super) fn show(self, host: &Arc<Host>, page: Page) {
        let view = View::new(host.clone());
        let at = self.address();
        if let Some(listener) = self.listener {
            announce(host, at, self.is_generated.then_some(&self.token));
            return page(
                Door {
                    listener,
                    token: self.token,
                },
                view,
            );
        }
        let (host, token) = (host.clone(), self.token);
        let is_generated = self.is_generated;
        tokio::spawn(async move {
            match released(at).await {
                Ok(listener) => {
                    announce(&host, at, is_generated.then_some(&token));
                    page(Door { listener, token }, view);
                }
                Err(error) => host
                    .reporter
                    .notice(format!("there is no web page: {}", explain(at, &error))),
            }
        });
    }
}

fn announce(host: &Host, at: SocketAddr, generated: Option<&Option<Token>>) {
    let notice = match generated {
        Some(Some(token)) => format!(
            "the web page is at http://{at}/; its token is {}",
            token.text()
        ),
        _ => format!("the web page is at http://{at}/"),
    };
    host.reporter.notice(notice);
}

/// Waits for another process to release the address.
async fn released(at: SocketAddr) -> std::io::Result<TcpListener> {
    for _ in 0..TRIES {
        match bind(at) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => tokio::time::sleep(PAUSE).await,
            other => return other,
        }
    }
    bind(at)
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    // A restarted server must not wait for connections in TIME-WAIT.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn explain(address: SocketAddr, error: &std::io::Error) -> String {
    let at = format!("the web page cannot listen at {address} (--web, 'coax:web')");
    match error.kind() {
        ErrorKind::AddrInUse => {
            let holder = holder::of(address, holder::Kind::Tcp);
            let holder = holder.unwrap_or_else(|| "another program".into());
            format!("{at}: {holder} holds this port; stop it, or choose another port")
        }
        ErrorKind::PermissionDenied => {
            format!("{at}: ports below 1024 need a permission; choose a higher port")
        }
        ErrorKind::AddrNotAvailable => format!("{at}: this machine has no such address"),
        _ => format!("{at}: {error}"),
    }
}

/// The token, and whether it is a new one.
fn token(global: &GlobalSettings, address: SocketAddr) -> Result<(Option<Token>, bool), String> {
    if let Some(path) = &global.web_token_file {
        return Ok((Some(from_file(path)?), false));
    }
    if address.ip().is_loopback() {
        return Ok((None, false));
    }
    let bytes: [u8; 16] =
        random().map_err(|error| format!("the system gives no random numbers: {error}"))?;
    let text = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((Some(Token(Zeroizing::new(text))), true))
}

fn from_file(path: &Path) -> Result<Token, String> {
    let at = format!("the token file {} ('coax:web token file')", path.display());
    let file = std::fs::File::open(path).map_err(|error| {
        format!("cannot read {at}: {error}; write a token to it, or remove the parameter")
    })?;
    let mut text = Zeroizing::new(String::new());
    let limit = TOKEN_MAX.saturating_add(2) as u64;
    file.take(limit)
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot read {at}: {error}"))?;
    let token = text.trim_end_matches(['\r', '\n']);
    if !(TOKEN_MIN..=TOKEN_MAX).contains(&token.len())
        || !token.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(format!(
            "{at} needs one line of {TOKEN_MIN} to {TOKEN_MAX} letters, digits and signs without blanks; \
             make one with 'openssl rand -hex 16'"
        ));
    }
    Ok(Token::new(token))
}

#[cfg(test)]
#[path = "tests/web.rs"]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
