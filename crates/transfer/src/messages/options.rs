//! How to send a message.

use coax_wire::codepage::CodePage;

use crate::names::Resolver;

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageMethod {
    /// A session, as NET SEND: to a machine or user, confirmed.
    Session,
    /// A datagram to the messenger's mailslot, as WinPopup: to a machine, user or workgroup, unconfirmed.
    Mailslot,
}

/// A message and how to send it.
#[derive(Clone, Debug)]
pub struct MessageOptions {
    /// The sender's name; by default this machine's.
    pub from: Option<String>,
    /// The method; by default a session to machines and users, and a mailslot to workgroups.
    pub method: Option<MessageMethod>,
    /// The TCP port of sessions.
    pub port: u16,
    /// The UDP port of datagrams.
    pub datagram_port: u16,
    /// The recipient's code page.
    pub code_page: CodePage,
    /// How names are found.
    pub resolver: Resolver,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self {
            from: None,
            method: None,
            port: 139,
            datagram_port: coax_wire::nbt::dgm::PORT,
            code_page: CodePage::cp850(),
            resolver: Resolver::default(),
        }
    }
}
