//! The object of `coax status --json`.

use serde::{Deserialize, Serialize};

use super::{
    account::{AccountStatus, AdviceStatus},
    history::HistoryStatus,
};

/// The version of these objects; it grows if a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;
/// Files that are listed at most.
pub const FILES_MAX: usize = 10_000;

/// The server now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of the server.
    pub version: String,
    /// Its process number.
    pub process: u32,
    /// Seconds since it started.
    pub seconds: u64,
    /// What it does: `serving`, `draining` or `stopping`.
    pub state: String,
    /// The clients, by number.
    pub clients: Vec<ClientStatus>,
    /// Open files and folders, oldest first, at most [`FILES_MAX`].
    pub files: Vec<FileStatus>,
    /// How many there are.
    pub files_total: usize,
    /// Networks with NetBIOS names: over TCP/IP first, then by interface.
    pub networks: Vec<NetworkStatus>,
    /// Print jobs whose command runs or waits, oldest first.
    pub print_jobs: Vec<String>,
    /// Limits of the server and how much of them is used.
    pub limits: Vec<LimitStatus>,
    /// The WINS server, if it runs.
    #[serde(default)]
    pub wins: Option<WinsStatus>,
    /// The audit log, if there is one.
    #[serde(default)]
    pub audit: Option<AuditStatus>,
}

/// The audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditStatus {
    /// Its file, `journal` or `syslog`.
    pub to: String,
    /// Entries that were passed on,
    pub written: u64,
    /// that wait in memory,
    pub waiting: u64,
    /// and that were dropped because too many waited.
    pub dropped: u64,
    /// Why nothing can be passed on at the moment.
    pub problem: Option<String>,
}

impl Status {
    /// Numbers of the opens of a file, as `SHARE/PATH`, in any case and with either slash.
    pub fn opens_of(&self, file: &str) -> Vec<u64> {
        let plain = |text: &str| text.replace('\\', "/").to_lowercase();
        let wanted = plain(file);
        let rows = self.files.iter();
        rows.filter(|row| plain(&format!("{}/{}", row.share, row.path)) == wanted)
            .map(|row| row.id)
            .collect()
    }

    /// Numbers of the connections of a client with this NetBIOS name, or this address with or without its port.
    pub fn clients_called(&self, who: &str) -> Vec<u64> {
        let is_it = |client: &&ClientStatus| {
            let name = client.name.as_deref();
            let host = client.address.rsplit_once(':').map(|(host, _)| host);
            name.is_some_and(|name| name.eq_ignore_ascii_case(who))
                || client.address.eq_ignore_ascii_case(who)
                || host.is_some_and(|host| host.trim_matches(['[', ']']).eq_ignore_ascii_case(who))
        };
        let found = self.clients.iter().filter(is_it);
        found.map(|client| client.client).collect()
    }
}

/// A client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// Its number, as in the log.
    pub client: u64,
    /// Its address and port.
    pub address: String,
    /// Its NetBIOS name.
    pub name: Option<String>,
    /// The recognised system; empty before it has negotiated.
    pub system: String,
    /// The dialect.
    pub dialect: Option<String>,
    /// `nbt`, `direct`, `netbeui`, `nbipx` or `ipx`.
    pub transport: String,
    /// The user, or the guest account.
    pub user: Option<String>,
    /// Seconds since it connected.
    pub seconds: u64,
    /// Seconds since its last request.
    pub idle_seconds: u64,
    /// Requests so far.
    pub requests: u64,
    /// Bytes received from it,
    pub bytes_in: u64,
    /// and sent to it.
    pub bytes_out: u64,
    /// A thread serves it at this moment, so figures other than address and number are missing.
    pub busy: bool,
    /// What it waits for, once it uses a share.
    pub account: Option<AccountStatus>,
    /// What would make its current copy faster.
    pub advice: Option<AdviceStatus>,
    /// The last refusals, each with the setting that would allow the request.
    pub refused: Vec<String>,
}

/// A network with NetBIOS names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkStatus {
    /// The server's address there, or an interface with the protocol, such as `eth0 (NetBEUI)`.
    pub address: String,
    /// The names of this server, with their suffix.
    pub names: Vec<NameStatus>,
    /// Its part in browsing: `master`, `backup`, `potential` or `server`; `None` if it does not browse.
    pub role: Option<String>,
    /// The master browser, as far as it is known.
    pub master: Option<String>,
}

/// The WINS server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WinsStatus {
    /// Names whose old owners it asks at the moment.
    pub challenges: u64,
    /// Registrations that it refused because it asked the owners of too many other names.
    pub refused_challenges: u64,
}

/// A NetBIOS name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameStatus {
    /// The name, such as `COAX<20>`.
    pub name: String,
    /// It is registered; otherwise it is being claimed, or another machine has it.
    pub registered: bool,
}

/// An open file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStatus {
    /// Its number, for `coax status close` and `unlock`.
    pub id: u64,
    /// The client, as other clients' reports name it.
    pub client: String,
    /// The share.
    pub share: String,
    /// The path on it.
    pub path: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// Open for reading,
    pub reads: bool,
    /// and for writing.
    pub writes: bool,
    /// `none`, `level2`, `exclusive` or `batch`.
    pub oplock: String,
    /// The client was asked to give the oplock up and has not answered.
    pub breaking: bool,
    /// Bytes of it are locked.
    pub locked: bool,
    /// It will be deleted when its last user closes it.
    pub deleted_at_close: bool,
}

/// A limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitStatus {
    /// What is limited.
    pub what: String,
    /// How much is used,
    pub used: u64,
    /// of so much.
    pub most: u64,
}

/// What `coax status` asks for: one line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The [`Status`].
    Status,
    /// The [`HistoryStatus`].
    History,
    /// Close an open file.
    Close {
        /// Its number.
        open: u64,
    },
    /// Remove all byte-range locks of an open file.
    Unlock {
        /// Its number.
        open: u64,
    },
    /// Disconnect a client.
    Kick {
        /// Its number.
        client: u64,
    },
}

/// The answer: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Ask::Status`].
    Status(Box<Status>),
    /// To [`Ask::History`].
    History(Box<HistoryStatus>),
    /// It was done.
    Done,
    /// It was not.
    Refused {
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_names_and_addresses() {
        let client = |client, name: Option<&str>, address: &str| ClientStatus {
            client,
            name: name.map(Into::into),
            address: address.into(),
            ..ClientStatus::default()
        };
        let status = Status {
            clients: vec![
                client(1, Some("ATTIC"), "10.0.0.5:1025"),
                client(2, None, "10.0.0.5:1026"),
                client(3, None, "[fd00::1]:445"),
                client(4, Some("DEN"), "00:a0:c9:11:22:33"),
            ],
            ..Status::default()
        };
        for (who, found) in [
            ("attic", &[1][..]),
            ("10.0.0.5", &[1, 2]),
            ("10.0.0.5:1026", &[2]),
            ("FD00::1", &[3]),
            ("00:A0:C9:11:22:33", &[4]),
            ("10.0.0", &[]),
            ("", &[]),
        ] {
            assert_eq!(status.clients_called(who), found, "{who}");
        }
    }
}
