//! `socket options`.

use super::list::words;
use super::nearest::Nearest;
use super::settings::SocketOption;
use super::value::Codec;

/// For example `TCP_NODELAY SO_SNDBUF=8192`; a flag without a value is on.
pub const SOCKET_OPTIONS: Codec<Vec<SocketOption>> = Codec {
    kind: "list of options",
    read,
    nearest: known,
    show: |v| v.iter().map(|o| show(*o)).collect::<Vec<_>>().join(" "),
};

fn read(text: &str) -> Result<Vec<SocketOption>, String> {
    words(text).iter().map(|w| option(w)).collect()
}

/// The supported options of a list with others. Samba also ignores options that a system does not have.
fn known(text: &str) -> Nearest<Vec<SocketOption>> {
    let (mut known, mut wrong) = (Vec::new(), Vec::new());
    for word in words(text) {
        match option(&word) {
            Ok(option) => known.push(option),
            Err(why) => wrong.push(why),
        }
    }
    Some((
        known,
        format!("{}; the option is left out", wrong.join("; ")),
    ))
}

fn option(word: &str) -> Result<SocketOption, String> {
    let (name, value) = word
        .split_once('=')
        .map_or((word, None), |(name, value)| (name, Some(value)));
    let on = || switch(word, value);
    let number = || count(word, value);
    match name.trim().to_ascii_uppercase().as_str() {
        "TCP_NODELAY" => on().map(SocketOption::NoDelay),
        "SO_KEEPALIVE" => on().map(SocketOption::KeepAlive),
        "TCP_KEEPIDLE" => number().map(SocketOption::KeepIdle),
        "TCP_KEEPINTVL" => number().map(SocketOption::KeepInterval),
        "TCP_KEEPCNT" => number().map(SocketOption::KeepCount),
        "SO_SNDBUF" => number().map(SocketOption::SendBuffer),
        "SO_RCVBUF" => number().map(SocketOption::ReceiveBuffer),
        "SO_REUSEADDR" => on().map(SocketOption::ReuseAddress),
        "SO_BROADCAST" => on().map(SocketOption::Broadcast),
        "TCP_QUICKACK" => on().map(SocketOption::QuickAck),
        "TCP_USER_TIMEOUT" => number().map(SocketOption::UserTimeout),
        "IPTOS_LOWDELAY" => Ok(SocketOption::TypeOfService(0x10)),
        "IPTOS_THROUGHPUT" => Ok(SocketOption::TypeOfService(0x08)),
        _ => Err(format!(
            "'{name}' is no socket option that coax can set; it knows TCP_NODELAY, TCP_QUICKACK, TCP_USER_TIMEOUT, \
             TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, SO_KEEPALIVE, SO_SNDBUF, SO_RCVBUF, SO_REUSEADDR, SO_BROADCAST, \
             IPTOS_LOWDELAY and IPTOS_THROUGHPUT"
        )),
    }
}

fn switch(word: &str, value: Option<&str>) -> Result<bool, String> {
    match value.map(str::trim) {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(format!("'{word}': 1 switches it on, 0 off")),
    }
}

fn count(word: &str, value: Option<&str>) -> Result<u32, String> {
    value
        .and_then(|v| v.trim().parse().ok())
        .ok_or_else(|| format!("'{word}' needs a number, as SO_SNDBUF=65536"))
}

fn show(option: SocketOption) -> String {
    let flag = |name: &str, on: bool| format!("{name}={}", u8::from(on));
    match option {
        SocketOption::NoDelay(on) => flag("TCP_NODELAY", on),
        SocketOption::KeepAlive(on) => flag("SO_KEEPALIVE", on),
        SocketOption::KeepIdle(n) => format!("TCP_KEEPIDLE={n}"),
        SocketOption::KeepInterval(n) => format!("TCP_KEEPINTVL={n}"),
        SocketOption::KeepCount(n) => format!("TCP_KEEPCNT={n}"),
        SocketOption::SendBuffer(n) => format!("SO_SNDBUF={n}"),
        SocketOption::ReceiveBuffer(n) => format!("SO_RCVBUF={n}"),
        SocketOption::ReuseAddress(on) => flag("SO_REUSEADDR", on),
        SocketOption::Broadcast(on) => flag("SO_BROADCAST", on),
        SocketOption::QuickAck(on) => flag("TCP_QUICKACK", on),
        SocketOption::UserTimeout(n) => format!("TCP_USER_TIMEOUT={n}"),
        SocketOption::TypeOfService(0x10) => "IPTOS_LOWDELAY".into(),
        SocketOption::TypeOfService(_) => "IPTOS_THROUGHPUT".into(),
    }
}
