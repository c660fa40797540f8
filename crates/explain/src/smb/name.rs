//! Names of requests.

use std::borrow::Cow;

use coax_wire::{
    command,
    smb::{subcommand, transaction::Kind},
};

/// A command, and a transaction's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) command: u8,
    pub(crate) function: Option<u16>,
}

impl Name {
    /// Whether its answer comes when something happens: a change in a folder, a lock given up.
    pub(super) fn waits(self) -> bool {
        // of one whose function was not kept nobody knows: NT clients ask for hardly anything else
        let unknown = self.command == command::NT_TRANSACT;
        let waits = |kind| {
            self.function
                .map_or(unknown, |function| subcommand::waits(kind, function))
        };
        self.command == command::LOCKING_ANDX || Kind::of(self.command).is_some_and(waits)
    }

    /// Its text, which mostly is one that is there already.
    pub(super) fn told(self) -> Cow<'static, str> {
        let plain = command::name(self.command).filter(|_| self.function.is_none());
        plain.map_or_else(|| self.to_string().into(), Cow::Borrowed)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match command::name(self.command) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "command 0x{:02X}", self.command)?,
        }
        let Some(function) = self.function else {
            return Ok(());
        };
        let kind = Kind::of(self.command);
        match kind.and_then(|kind| subcommand::name(kind, function)) {
            Some(name) => write!(f, " {name}"),
            None => write!(f, " 0x{function:04X}"),
        }
    }
}
