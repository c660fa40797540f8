//! What the server tells of its clients: one JSON object a line, or a line of text.

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::format_push_string
)]
mod events;
mod writer;

pub use writer::{Reporter, SCHEMA, Told};
pub(super) use writer::{log_file, log_path};

use serde::Serialize;

use coax_smbconf::log_level::Class;

/// An event of the server or of one client. `client` numbers clients from 1 in the order they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The server accepts clients.
    Listening {
        /// Where the NetBIOS session service is, if it is.
        nbt: Option<String>,
        /// Where SMB directly over TCP is, if it is.
        direct: Option<String>,
    },
    /// Something is wrong with a share's folder.
    ShareProblem {
        /// The share.
        share: String,
        /// Its folder.
        path: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// Something to know about the server itself.
    Notice {
        /// What.
        text: String,
    },
    /// A client connected.
    Connected {
        /// Which.
        client: u64,
        /// Its address and port.
        address: String,
        /// `nbt` or `direct`.
        transport: &'static str,
    },
    /// A dialect was agreed.
    Negotiated {
        /// Which client.
        client: u64,
        /// What it offered, in order.
        offered: Vec<String>,
        /// What was chosen; nothing if the server serves none of them.
        dialect: Option<&'static str>,
    },
    /// Somebody logged on.
    LoggedOn {
        /// Which client.
        client: u64,
        /// The user; none for a guest.
        user: Option<String>,
        /// With what proof.
        how: &'static str,
        /// The user name that a guest gave.
        tried: Option<String>,
        /// System and LAN manager, as the client names them.
        native: String,
    },
    /// A share was connected.
    Tree {
        /// Which client.
        client: u64,
        /// The share.
        share: String,
    },
    /// Something was refused.
    Refused {
        /// Which client; none if it was turned away at the door.
        client: Option<u64>,
        /// Its address.
        address: String,
        /// What it wanted.
        what: String,
        /// What it was told.
        status: Option<String>,
        /// Why.
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
    /// A client had requests refused that are not listed one by one: too many different ones at a time.
    RefusalsOmitted {
        /// Which client.
        client: u64,
        /// How many.
        count: u64,
    },
    /// Who a client is: told once, as soon as it uses a share, or at its end.
    Client(Box<ClientLine>),
    /// A client is gone.
    Disconnected {
        /// Which.
        client: u64,
        /// Why.
        why: String,
        /// SMB messages received.
        requests: u64,
        /// Bytes received, session headers included.
        bytes_in: u64,
        /// Bytes sent, session headers included.
        bytes_out: u64,
        /// How long it was connected, seconds.
        seconds: u64,
    },
}

/// A request of a client, and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestLine {
    /// Which client.
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
    /// The answer's status, or that there was none.
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

/// A message's fields and bytes, without what authenticates anybody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageLine {
    /// Which client.
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
    /// Which client.
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
    /// Why.
    pub why: String,
    /// The smb.conf line or option that would allow it.
    pub setting: Option<String>,
    /// How often the same was refused again since it was last reported; 0 when it is reported at once.
    pub repeated: u64,
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

/// Who a client is, and what it got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientLine {
    /// Which.
    pub client: u64,
    /// Its address and port.
    pub address: String,
    /// Its NetBIOS name, if it gave one.
    pub name: Option<String>,
    /// What it seems to be.
    pub guess: String,
    /// Why one would think so.
    pub why: String,
    /// The dialect agreed.
    pub dialect: Option<&'static str>,
    /// `nbt` or `direct`.
    pub transport: &'static str,
    /// The user, `guest`, or nothing if nobody logged on.
    pub log_on: Option<String>,
    /// The proof it gave.
    pub how: Option<&'static str>,
    /// Why it is a guest, if it is one.
    pub guest_because: Option<String>,
    /// What was refused so far, each with the setting that would allow it.
    pub refused: Vec<String>,
}

impl Line {
    /// The `log level` from which on a line of text is printed: 0 errors and what the server itself says, 1 clients, 2
    /// refusals and everything else.
    fn level(&self) -> u8 {
        match self {
            Self::Listening { .. } | Self::ShareProblem { .. } | Self::Notice { .. } => 0,
            // These exist only where they are wanted.
            Self::Request(_) | Self::Message(_) => 0,
            Self::Client(_)
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
    /// The part of the server that a line is about, for `log level`.
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
            Self::Connected {
                client,
                address,
                transport,
            } => {
                write!(f, "[{client}] {address} connected ({transport})")
            }
            Self::Negotiated {
                client,
                offered,
                dialect,
            } => {
                let (offered, chosen) = (offered.join(", "), dialect.unwrap_or("none"));
                write!(f, "[{client}] offers {offered}; chosen: {chosen}")
            }
            Self::LoggedOn {
                client,
                user,
                how,
                tried,
                native,
            } => match user {
                Some(user) => write!(f, "[{client}] {user} logged on ({how}; {native})"),
                None => {
                    let because = guest_because(how, tried.as_deref());
                    write!(f, "[{client}] guest ({because}) logged on ({native})")
                }
            },
            Self::Tree { client, share } => write!(f, "[{client}] connected to {share}"),
            Self::Refused { .. } => self.refusal(f),
            Self::Request(line) => line.fmt(f),
            Self::Message(line) => line.fmt(f),
            Self::RequestRefused(line) => line.fmt(f),
            Self::RefusalsOmitted { client, count } => {
                write!(
                    f,
                    "[{client}] {count} more requests refused, of further kinds"
                )
            }
            Self::Client(line) => line.fmt(f),
            Self::Disconnected { .. } => self.end(f),
        }
    }
}

/// Why somebody is a guest, in words.
pub(super) fn guest_because(how: &str, tried: Option<&str>) -> String {
    match tried {
        Some(name) if how == "wrong password" => format!("wrong password for {name:?}"),
        Some(name) => format!("{how} {name:?}"),
        None => how.into(),
    }
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

    fn end(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Disconnected {
            client,
            why,
            requests,
            bytes_in,
            bytes_out,
            seconds,
        } = self
        else {
            return Ok(());
        };
        write!(
            f,
            "[{client}] disconnected after {seconds} s: {why}; {requests} requests, {bytes_in} bytes in, {bytes_out} bytes out"
        )
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
mod tests {
    use super::*;

    #[test]
    fn a_guest_s_lines_show_the_name_that_was_tried_and_why_it_made_a_guest() {
        let line = |how, tried: Option<&str>| {
            let client = ClientLine {
                log_on: Some("nobody".into()),
                how: Some(how),
                guest_because: Some(guest_because(how, tried)),
                ..ClientLine::default()
            };
            let logged_on = Line::LoggedOn {
                client: 1,
                user: None,
                how,
                tried: tried.map(Into::into),
                native: "Windows 4.0".into(),
            };
            (client.to_string(), logged_on.to_string())
        };
        for (how, tried, because) in [
            ("unknown user", Some("joe"), "guest (unknown user \"joe\")"),
            (
                "wrong password",
                Some("joe"),
                "guest (wrong password for \"joe\")",
            ),
            ("anonymous", None, "guest (anonymous)"),
        ] {
            let (client, logged_on) = line(how, tried);
            assert!(client.contains(because), "{client}");
            assert!(logged_on.contains(because), "{logged_on}");
        }
    }
}
