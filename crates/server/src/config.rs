//! What a server is told at its start. The binary fills it from smb.conf; tests and the lab fill it by hand.

use crate::budget::Budgets;
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_logon::policy::Policy;
use coax_wire::{codepage::CodePage, dialect::Generation, time::Span};

/// How clients prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Users log on.
    User,
    /// Shares have passwords, or none.
    Share,
}

/// Whether messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Never offered.
    Off,
    /// Signed if the client asks; a connection that really signs has no raw mode.
    Offered,
    /// Clients that do not sign are refused; raw mode is not offered to NT clients.
    Required,
}

/// Caps on what one connection may hold, so that no client exhausts the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files, folders, pipes and print jobs.
    pub opens: usize,
    /// Logged-on sessions.
    pub sessions: usize,
    /// Connected trees.
    pub trees: usize,
    /// Searches kept open.
    pub searches: usize,
    /// Requests parked on locks, oplock breaks and notifications.
    pub parked: usize,
    /// Bytes of transactions still being received.
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
    /// Workgroup, the same.
    pub workgroup: String,
    /// Comment shown beside the server's name.
    pub comment: String,
    /// Identifies the server in extended security.
    pub guid: [u8; 16],
    /// User-level or share-level.
    pub security: Security,
    /// Which proofs of identity are admitted.
    pub policy: Policy,
    /// Passwords are sent as challenge responses; else in plain text.
    pub encrypt_passwords: bool,
    /// Signing.
    pub signing: Signing,
    /// Oldest generation served.
    pub min_generation: Generation,
    /// Newest generation served.
    pub max_generation: Generation,
    /// Largest message taken, bytes, 1,024 to 65,535.
    pub max_buffer: u16,
    /// Requests a client may keep outstanding.
    pub max_mpx: u16,
    /// READ_RAW is offered.
    pub read_raw: bool,
    /// WRITE_RAW is offered.
    pub write_raw: bool,
    /// Reads and writes above the buffer size are offered to NT clients.
    pub large_readwrite: bool,
    /// NTSTATUS is offered.
    pub nt_status: bool,
    /// UTF-16LE is offered.
    pub unicode: bool,
    /// SPNEGO is offered.
    pub extended_security: bool,
    /// Named pipes are served.
    pub pipes: bool,
    /// What clients without Unicode speak.
    pub code_page: CodePage,
    /// Minutes west of UTC, as clients are told.
    pub time_zone_minutes: i16,
    /// How long an oplock holder may take to answer a break.
    pub oplock_break_timeout: Span,
    /// How long an open that share modes forbid waits for others to close the file. NT servers wait a second, whatever
    /// the dialect.
    pub sharing_violation_delay: Span,
    /// How long after the first write through an open its time shows. NT servers take two seconds.
    pub write_time_delay: Span,
    /// Logging on with an unknown user name, or a wrong password, gives a guest session.
    pub map_to_guest: MapToGuest,
    /// SESSION_SETUP_ANDX with VcNumber 0 closes the other connections from the client's address ([MS-CIFS]
    /// 2.2.4.53.1; smb.conf `reset on zero vc`).
    pub reset_on_zero_vc: bool,
    /// Caps per connection.
    pub limits: Limits,
    /// Caps per connection, per address and in total.
    pub budgets: Budgets,
    /// Names of users who may log on are kept apart, in [`crate::Server::accounts`]; this list is of server aliases.
    pub aliases: Vec<String>,
    /// Which account a client's user name stands for; without it, the one of that name.
    pub user_names: Option<Arc<dyn UserNames>>,
    /// The server is announced as one to set clocks by.
    pub time_server: bool,
    /// What the server says its operating system and its LAN manager are ([MS-CIFS] 2.2.4.53.2).
    pub native: [String; 2],
}

/// Which account the name that a client sends stands for (smb.conf `username map`).
pub trait UserNames: Send + Sync + core::fmt::Debug {
    /// The account's name.
    fn account(&self, sent: &str) -> String;
}

impl Config {
    /// The settings of the tables that go with this one.
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
            time_server: false,
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
