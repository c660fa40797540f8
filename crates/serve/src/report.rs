//! The server's events: one JSON object per line, or a line of text.

mod ci;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::format_push_string
)]
mod events;
mod repeated;
mod writer;

pub use ci::{CiLine, ExplainedLine, FaultCount, FaultLine, SummaryLine};
pub use writer::{Reporter, SCHEMA, Told};
pub(super) use writer::{log_file, log_path};

use serde::Serialize;

use super::repeats::Repeatable;

use coax_smbconf::log_level::Class;

/// An event of the server or of one client. `client` numbers clients from 1 in connection order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The server accepts clients.
    Listening {
        /// Address of the NetBIOS session service, if enabled.
        nbt: Option<String>,
        /// Address of direct SMB over TCP, if enabled.
        direct: Option<String>,
    },
    /// A share's folder has a problem.
    ShareProblem {
        /// The share.
        share: String,
        /// Its folder.
        path: String,
        /// The problem.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// The configuration was read again.
    Reloaded {
        /// What is different from now on.
        changes: Vec<String>,
        /// What takes effect only after a restart.
        restart: Vec<String>,
        /// Why the old configuration stays in force as a whole.
        errors: Vec<String>,
    },
    /// A notice about the server itself.
    Notice {
        /// The text.
        text: String,
    },
    /// A message between users (WinPopup, NET SEND) arrived.
    UserMessage {
        /// The client's number; `None` if it came in a datagram.
        client: Option<u64>,
        /// The sender's address.
        address: String,
        /// The sender's name.
        from: String,
        /// The recipient's name.
        to: String,
        /// The text.
        text: String,
    },
    /// A client connected.
    Connected {
        /// The client's number.
        client: u64,
        /// Its address and port.
        address: String,
        /// `nbt` or `direct`.
        transport: &'static str,
    },
    /// A dialect was agreed.
    Negotiated {
        /// The client's number.
        client: u64,
        /// The dialects offered, in order.
        offered: Vec<String>,
        /// The dialect selected; `None` if the server supports none of them.
        dialect: Option<&'static str>,
    },
    /// A user logged on.
    LoggedOn {
        /// The client's number.
        client: u64,
        /// The user; `None` for a guest.
        user: Option<String>,
        /// The authentication method.
        how: &'static str,
        /// The user name that a guest gave.
        tried: Option<String>,
        /// NativeOS and NativeLanMan as the client sent them.
        native: String,
    },
    /// A share was connected.
    Tree {
        /// The client's number.
        client: u64,
        /// The share.
        share: String,
    },
    /// The server refused a client or a request.
    Refused {
        /// The client's number; `None` if it was refused when it connected.
        client: Option<u64>,
        /// Its address.
        address: String,
        /// The operation refused.
        what: String,
        /// The status in the reply.
        status: Option<String>,
        /// The reason.
        why: String,
        /// The smb.conf line or option that would allow it.
        setting: Option<String>,
    },
    /// A request of a client was refused.
    RequestRefused(Box<RefusedLine>),
    /// A request and its answer (`log level` 3).
    Request(Box<RequestLine>),
    /// A message's fields and bytes (`log level` 10).
    Message(Box<MessageLine>),
    /// Refused requests of a client that are only counted, because too many different ones occurred at a time.
    RefusalsOmitted {
        /// The client's number.
        client: u64,
        /// Their number.
        count: u64,
    },
    /// What a script needs of a server for continuous integration.
    Ci(Box<CiLine>),
    /// A request that is invalid or failed (server for continuous integration).
    Explained(Box<ExplainedLine>),
    /// A fault was injected.
    Fault(Box<FaultLine>),
    /// The last event of a server for continuous integration.
    Summary(Box<SummaryLine>),
    /// A client's identity: reported once, when it first uses a share or when it disconnects.
    Client(Box<ClientLine>),
    /// A client disconnected.
    Disconnected {
        /// The client's number.
        client: u64,
        /// The reason.
        why: String,
        /// SMB messages received.
        requests: u64,
        /// Bytes received, session headers included.
        bytes_in: u64,
        /// Bytes sent, session headers included.
        bytes_out: u64,
        /// Duration of the connection, seconds.
        seconds: u64,
    },
}

/// A request of a client, and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestLine {
    /// The client's number.
    pub client: u64,
    /// Every command of the chain with its fields as `name=value`.
    pub request: String,
    /// TID of the request.
    pub tid: u16,
    /// UID of the request.
    pub uid: u16,
    /// PID of the request.
    pub pid: u32,
    /// MID of the request.
    pub mid: u16,
    /// The reply's status, or a note that there was none.
    pub result: String,
    /// From the request's arrival to its answer, microseconds.
    pub microseconds: u64,
}

impl std::fmt::Display for RequestLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "[{}] {} (tid={:#06x} uid={:#06x} pid={:#x} mid={:#06x}): {} in {} µs",
            self.client,
            self.request,
            self.tid,
            self.uid,
            self.pid,
            self.mid,
            self.result,
            self.microseconds
        )
    }
}

/// A message's fields and bytes without authentication data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageLine {
    /// The client's number.
    pub client: u64,
    /// `in` from the client, `out` to it.
    pub direction: &'static str,
    /// The header's fields.
    pub header: String,
    /// Words and bytes in hexadecimal, in lines.
    pub dump: String,
}

impl std::fmt::Display for MessageLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}: {}", self.client, self.direction, self.header)?;
        if !self.dump.is_empty() {
            write!(f, "\n{}", self.dump.trim_end())?;
        }
        Ok(())
    }
}

/// A refused request of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RefusedLine {
    /// The client's number.
    pub client: u64,
    /// Its address and port.
    pub address: String,
    /// Its NetBIOS name, if it gave one.
    pub name: Option<String>,
    /// The user; the guest account's name for a guest.
    pub user: String,
    /// The command.
    pub command: &'static str,
    /// The share, if the request is about one.
    pub share: Option<String>,
    /// The path, if the request names one or has a file open.
    pub path: Option<String>,
    /// The request's other fields as `name=value`.
    pub fields: String,
    /// The reply's status.
    pub status: String,
    /// The reason.
    pub why: String,
    /// The smb.conf line or option that would allow it.
    pub setting: Option<String>,
    /// Repetitions of the refusal since its last report; 0 in the first report.
    pub repeated: u64,
}

impl Repeatable for RefusedLine {
    /// Whether both are the same refusal: fields other than the path (an offset, a length) may differ.
    fn is_same(&self, other: &Self) -> bool {
        (self.command, &self.share, &self.path, &self.user)
            == (other.command, &other.share, &other.path, &other.user)
            && (&self.status, &self.why) == (&other.status, &other.why)
    }
}

impl std::fmt::Display for RefusedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}", self.client, self.address)?;
        self.name
            .iter()
            .try_for_each(|name| write!(f, " \"{name}\""))?;
        write!(f, " user {}: refused {}", self.user, self.command)?;
        self.path.iter().try_for_each(|path| write!(f, " {path}"))?;
        self.share
            .iter()
            .try_for_each(|share| write!(f, " on {share}"))?;
        if !self.fields.is_empty() {
            write!(f, " ({})", self.fields)?;
        }
        write!(f, ": {} [{}]", self.why, self.status)?;
        self.setting
            .iter()
            .try_for_each(|setting| write!(f, "; setting: {setting}"))?;
        match self.repeated {
            0 => Ok(()),
            times => write!(f, "; repeated {times} times"),
        }
    }
}

/// A client's identity and the result of its log-on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientLine {
    /// The client's number.
    pub client: u64,
    /// Its address and port.
    pub address: String,
    /// Its NetBIOS name, if it gave one.
    pub name: Option<String>,
    /// The guessed client system.
    pub guess: String,
    /// The reason for the guess.
    pub why: String,
    /// The negotiated dialect.
    pub dialect: Option<&'static str>,
    /// `nbt` or `direct`.
    pub transport: &'static str,
    /// The user, `guest`, or `None` if no user logged on.
    pub log_on: Option<String>,
    /// The authentication method.
    pub how: Option<&'static str>,
    /// Why the client is a guest, if it is one.
    pub guest_because: Option<String>,
    /// The refusals so far, each with the setting that would allow it.
    pub refused: Vec<String>,
}

impl Line {
    /// The minimum `log level` at which the line is printed as text: 0 errors and the server's own notices, 1 clients,
    /// 2 refusals and everything else.
    fn level(&self) -> u8 {
        match self {
            Self::Listening { .. }
            | Self::ShareProblem { .. }
            | Self::Reloaded { .. }
            | Self::Notice { .. }
            | Self::Ci(_)
            | Self::Summary(_) => 0,
            // The server creates these lines only if they are enabled.
            Self::Request(_) | Self::Message(_) | Self::Explained(_) => 0,
            Self::Client(_)
            | Self::UserMessage { .. }
            | Self::Fault(_)
            | Self::Disconnected { .. }
            | Self::RequestRefused(_)
            | Self::RefusalsOmitted { .. } => 1,
            Self::Refused { setting, .. } if setting.is_some() => 1,
            Self::Connected { .. }
            | Self::Negotiated { .. }
            | Self::LoggedOn { .. }
            | Self::Tree { .. }
            | Self::Refused { .. } => 2,
        }
    }
}

impl Line {
    /// The line's debug class, for `log level`.
    fn class(&self) -> Class {
        match self {
            Self::LoggedOn { .. } => Class::Auth,
            _ => Class::Smb,
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listening { .. }
            | Self::ShareProblem { .. }
            | Self::Notice { .. }
            | Self::Reloaded { .. }
            | Self::UserMessage { .. } => self.of_server(f),
            Self::Connected { .. }
            | Self::Negotiated { .. }
            | Self::Tree { .. }
            | Self::RefusalsOmitted { .. }
            | Self::Disconnected { .. } => self.of_connection(f),
            Self::LoggedOn { .. } => self.log_on(f),
            Self::Refused { .. } => self.refusal(f),
            Self::Request(line) => line.fmt(f),
            Self::Message(line) => line.fmt(f),
            Self::RequestRefused(line) => line.fmt(f),
            Self::Ci(line) => line.fmt(f),
            Self::Explained(line) => line.fmt(f),
            Self::Fault(line) => line.fmt(f),
            Self::Summary(line) => line.fmt(f),
            Self::Client(line) => line.fmt(f),
        }
    }
}

/// Text that explains why a client is a guest.
pub(super) fn guest_because(how: &str, tried: Option<&str>) -> String {
    match tried {
        Some(name) if how == "wrong password" => format!("wrong password for {name:?}"),
        Some(name) => format!("{how} {name:?}"),
        None => how.into(),
    }
}

fn reloaded(changes: &[String], restart: &[String], errors: &[String]) -> String {
    if !errors.is_empty() {
        let errors = errors.join("; ");
        return format!("reload: the old configuration stays: {errors}");
    }
    let mut text = match changes {
        [] => String::from("reload: nothing to change"),
        changes => format!("reload: {}", changes.join("; ")),
    };
    if !restart.is_empty() {
        text.push_str("; needs a restart: ");
        text.push_str(&restart.join("; "));
    }
    text
}

fn place(address: &Option<String>) -> String {
    match address {
        Some(address) => format!(" at {address}"),
        None => ": off".into(),
    }
}

impl Line {
    fn refusal(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Refused {
            client,
            address,
            what,
            status,
            why,
            setting,
        } = self
        else {
            return Ok(());
        };
        match client {
            Some(client) => write!(f, "[{client}] refused {what}: {why}")?,
            None => write!(f, "{address}: refused {what}: {why}")?,
        }
        status
            .iter()
            .try_for_each(|status| write!(f, " ({status})"))?;
        setting
            .iter()
            .try_for_each(|setting| write!(f, "; setting: {setting}"))
    }

    /// Lines about the server and its network.
    fn of_server(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listening { nbt, direct } => {
                let (nbt, direct) = (place(nbt), place(direct));
                write!(f, "listening: NetBIOS sessions{nbt}, direct SMB{direct}")
            }
            Self::ShareProblem {
                share,
                problem,
                remedy,
                ..
            } => write!(f, "share {share}: {problem}; remedy: {remedy}"),
            Self::Notice { text } => f.write_str(text),
            Self::Reloaded {
                changes,
                restart,
                errors,
            } => f.write_str(&reloaded(changes, restart, errors)),
            Self::UserMessage {
                address,
                from,
                to,
                text,
                ..
            } => write!(f, "message from {from} at {address} to {to}: {text}"),
            _ => Ok(()),
        }
    }

    /// Lines about a connection, except log-ons and refusals.
    fn of_connection(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connected {
                client,
                address,
                transport,
            } => write!(f, "[{client}] {address} connected ({transport})"),
            Self::Negotiated {
                client,
                offered,
                dialect,
            } => {
                let (offered, chosen) = (offered.join(", "), dialect.unwrap_or("none"));
                write!(f, "[{client}] offers {offered}; chosen: {chosen}")
            }
            Self::Tree { client, share } => write!(f, "[{client}] connected to {share}"),
            Self::RefusalsOmitted { client, count } => {
                write!(
                    f,
                    "[{client}] {count} more requests refused, of further kinds"
                )
            }
            Self::Disconnected {
                client,
                why,
                requests,
                bytes_in,
                bytes_out,
                seconds,
            } => write!(
                f,
                "[{client}] disconnected after {seconds} s: {why}; {requests} requests, {bytes_in} bytes in, {bytes_out} bytes out"
            ),
            _ => Ok(()),
        }
    }

    fn log_on(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::LoggedOn {
            client,
            user,
            how,
            tried,
            native,
        } = self
        else {
            return Ok(());
        };
        match user {
            Some(user) if native.is_empty() => write!(f, "[{client}] {user} logged on ({how})"),
            Some(user) => write!(f, "[{client}] {user} logged on ({how}; {native})"),
            None => {
                let because = guest_because(how, tried.as_deref());
                write!(f, "[{client}] guest ({because}) logged on")?;
                match native.is_empty() {
                    true => Ok(()),
                    false => write!(f, " ({native})"),
                }
            }
        }
    }
}

impl std::fmt::Display for ClientLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}", self.client, self.address)?;
        self.name
            .iter()
            .try_for_each(|name| write!(f, " \"{name}\""))?;
        write!(
            f,
            " is {} ({}), by {}",
            self.guess, self.why, self.transport
        )?;
        write!(f, ", dialect {}", self.dialect.unwrap_or("none"))?;
        match (&self.log_on, self.how) {
            _ if self.guest_because.is_some() => {
                let because = self.guest_because.as_deref().unwrap_or_default();
                write!(f, ", guest ({because})")?;
            }
            (Some(user), Some(how)) => write!(f, ", {user} by {how}")?,
            (Some(user), None) => write!(f, ", {user}")?,
            (None, _) => f.write_str(", no log-on")?,
        }
        self.refused
            .iter()
            .try_for_each(|refused| write!(f, "; refused {refused}"))
    }
}

#[cfg(test)]
mod tests;
