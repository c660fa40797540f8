//! The configuration of a server. The binary fills it from smb.conf; tests and the lab fill it directly.

use crate::budget::Budgets;
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_logon::policy::Policy;
use coax_wire::{codepage::CodePage, dialect::Generation, time::Span};

/// The authentication mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// User level: users log on.
    User,
    /// Share level: shares have passwords, or none.
    Share,
}

/// Whether messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Never offered.
    Off,
    /// The server signs if the client asks. A connection with signing has no raw mode.
    Offered,
    /// The server refuses clients that do not sign, and does not offer raw mode to NT clients.
    Required,
}

/// Limits of one connection, so that no client exhausts the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files, folders, pipes and print jobs.
    pub opens: usize,
    /// Logged-on sessions.
    pub sessions: usize,
    /// Connected trees.
    pub trees: usize,
    /// Open searches.
    pub searches: usize,
    /// Requests parked on locks, oplock breaks and notifications.
    pub parked: usize,
    /// Bytes of incomplete transactions.
    pub transaction_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            opens: 16_384,
            sessions: 256,
            trees: 1_024,
            searches: 2_048,
            parked: 1_024,
            transaction_bytes: 1 << 20,
        }
    }
}

/// Settings of the whole server.
#[derive(Clone, Debug)]
pub struct Config {
    /// NetBIOS name, upper case, at most 15 characters.
    pub name: String,
    /// Workgroup, in the same form.
    pub workgroup: String,
    /// Comment shown beside the server's name.
    pub comment: String,
    /// Identifies the server in extended security.
    pub guid: [u8; 16],
    /// User-level or share-level authentication.
    pub security: Security,
    /// The accepted authentication methods.
    pub policy: Policy,
    /// Clients send challenge responses. If false, they send plain-text passwords.
    pub encrypt_passwords: bool,
    /// Signing.
    pub signing: Signing,
    /// The oldest supported dialect generation.
    pub min_generation: Generation,
    /// The newest supported dialect generation.
    pub max_generation: Generation,
    /// The maximum size of a received message, bytes, 1,024 to 65,535.
    pub max_buffer: u16,
    /// The maximum number of outstanding requests of a client.
    pub max_mpx: u16,
    /// The server offers READ_RAW.
    pub read_raw: bool,
    /// The server offers WRITE_RAW.
    pub write_raw: bool,
    /// The server offers NT clients reads and writes above the buffer size.
    pub large_readwrite: bool,
    /// The server offers NTSTATUS.
    pub nt_status: bool,
    /// The server offers UTF-16LE.
    pub unicode: bool,
    /// The server offers SPNEGO.
    pub extended_security: bool,
    /// The server serves named pipes.
    pub pipes: bool,
    /// The code page of clients without Unicode.
    pub code_page: CodePage,
    /// The time zone for clients, in minutes west of UTC.
    pub time_zone_minutes: i16,
    /// The time that an oplock holder has to answer a break.
    pub oplock_break_timeout: Span,
    /// The wait after a sharing violation for others to close the file. NT servers wait one second in every dialect.
    pub sharing_violation_delay: Span,
    /// The delay after the first write through an open until its time is visible. NT servers use two seconds.
    pub write_time_delay: Span,
    /// An unknown user name or a wrong password gives a guest session.
    pub map_to_guest: MapToGuest,
    /// SESSION_SETUP_ANDX with VcNumber 0 closes the other connections from the client's address ([MS-CIFS]
    /// 2.2.4.53.1; smb.conf `reset on zero vc`).
    pub reset_on_zero_vc: bool,
    /// Limits per connection.
    pub limits: Limits,
    /// Limits per connection, per address and in total.
    pub budgets: Budgets,
    /// Server aliases. The names of users who may log on are in [`crate::Server::accounts`].
    pub aliases: Vec<String>,
    /// Maps a client's user name to an account. Without it, the account has the same name.
    pub user_names: Option<Arc<dyn UserNames>>,
    /// The other servers and workgroups of the network, for NetServerEnum2. Without it, the list has this server only.
    pub neighbours: Option<Arc<dyn Neighbours>>,
    /// The server announces itself as a time server.
    pub time_server: bool,
    /// The server is the domain controller of Windows 9x in its workgroup, and what its users get at log-on.
    pub domain_logons: Option<Arc<dyn DomainLogons>>,
    /// The server receives messages between users (WinPopup, NET SEND).
    pub messages: bool,
    /// Operations on files are recorded for [`crate::Connection::take_acts`].
    pub audit: bool,
    /// The operating system and LAN manager names that the server sends ([MS-CIFS] 2.2.4.53.2).
    pub native: [String; 2],
}

/// Maps the user name that a client sends to an account (smb.conf `username map`).
pub trait UserNames: Send + Sync + core::fmt::Debug {
    /// The name of the account.
    fn account(&self, sent: &str) -> String;
}

/// What users get who log on to the domain (smb.conf `domain logons`).
pub trait DomainLogons: Send + Sync + core::fmt::Debug {
    /// The settings of `user`, who logs on at the machine `client` (its NetBIOS name, or its address).
    fn profile(&self, user: &str, client: &str) -> UserProfile;
}

/// What a user gets at log-on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserProfile {
    /// The log-on script, relative to the share `NETLOGON`.
    pub script: String,
    /// The home folder, as `\\SERVER\SHARE`.
    pub home: String,
}

/// The browse list, which the driver of the browser service keeps.
pub trait Neighbours: Send + Sync + core::fmt::Debug {
    /// The servers of the workgroup without this one.
    fn servers(&self) -> Vec<Neighbour>;
    /// The workgroups, with the master browser in place of the comment, without this server's own.
    fn workgroups(&self) -> Vec<Neighbour>;
    /// The name of the own workgroup's master browser, if it is known.
    fn master(&self) -> Option<String>;
    /// Type bits of this server's role as a browser.
    fn own_type(&self) -> u32;
    /// Replaces what is known of one network, which has a name of its own.
    fn publish(&self, network: &str, lists: NeighbourLists);
}

/// All that a [`Neighbours`] knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeighbourLists {
    /// See [`Neighbours::servers`].
    pub servers: Vec<Neighbour>,
    /// See [`Neighbours::workgroups`].
    pub workgroups: Vec<Neighbour>,
    /// See [`Neighbours::master`].
    pub master: Option<String>,
    /// See [`Neighbours::own_type`].
    pub own_type: u32,
}

/// A server or workgroup of the browse list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its name, in upper case.
    pub name: String,
    /// Version of its system.
    pub version: (u8, u8),
    /// Bits of its type ([MS-RAP] 2.5.5.1).
    pub server_type: u32,
    /// Its comment.
    pub comment: String,
    /// It was heard on a network of this server, not listed by a browser of another network.
    pub local: bool,
}

impl Config {
    /// The table settings for this configuration.
    pub fn tables(&self) -> crate::table::Config {
        crate::table::Config {
            break_timeout: self.oplock_break_timeout,
            write_time_delay: self.write_time_delay,
            limits: crate::table::Limits {
                opens: self.limits.opens,
                ..crate::table::Limits::default()
            },
            budgets: self.budgets,
            ..crate::table::Config::default()
        }
    }
}

/// When a failed log-on becomes a guest session (smb.conf `map to guest`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapToGuest {
    /// Never.
    Never,
    /// If the user is unknown.
    BadUser,
    /// If user or password is wrong.
    BadPassword,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: String::from("COAX"),
            workgroup: String::from("WORKGROUP"),
            comment: String::from("coax"),
            guid: *b"coax-smb1-server",
            security: Security::User,
            policy: Policy::default(),
            encrypt_passwords: true,
            signing: Signing::Off,
            min_generation: Generation::Core,
            max_generation: Generation::Nt,
            max_buffer: 16_644,
            max_mpx: 50,
            read_raw: true,
            write_raw: true,
            large_readwrite: true,
            nt_status: true,
            unicode: true,
            extended_security: true,
            pipes: true,
            code_page: CodePage::cp850(),
            time_zone_minutes: 0,
            oplock_break_timeout: crate::table::OPLOCK_BREAK_TIMEOUT,
            sharing_violation_delay: Span::from_secs(1),
            write_time_delay: Span::from_secs(2),
            map_to_guest: MapToGuest::BadUser,
            reset_on_zero_vc: false,
            limits: Limits::default(),
            budgets: Budgets::default(),
            aliases: Vec::new(),
            user_names: None,
            neighbours: None,
            time_server: false,
            domain_logons: None,
            messages: false,
            audit: false,
            native: ["Unix", "coax"].map(String::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_default_configuration_have_the_defaults_of_tables() {
        let tables = Config::default().tables();
        let default = crate::table::Config::default();
        assert_eq!(tables.break_timeout, Span::from_secs(35));
        assert_eq!(tables.break_timeout, default.break_timeout);
        assert_eq!(tables.write_time_delay, default.write_time_delay);
        assert_eq!(tables.contention_limit, default.contention_limit);
    }
}
