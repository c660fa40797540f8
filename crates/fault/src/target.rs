//! The requests that a fault is for.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use coax_wire::{
    command::{self, COMMANDS},
    smb::{subcommand, transaction::Kind},
};

use crate::error::FaultError;

/// The requests that a fault is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// All.
    Any,
    /// Those with this command anywhere in their chain.
    Command(u8),
    /// Transactions with this command and function.
    Function(u8, u16),
}

/// Functions have numbers below this, and one more.
const FUNCTIONS_END: u16 = 0x100;

impl FromStr for Target {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let word = text.strip_prefix("SMB_COM_").unwrap_or(text);
        let is_meant = |name: &str| name.eq_ignore_ascii_case(word);
        if let Some(command) = requests().find(|command| is_meant(command.name)) {
            return Ok(Self::Command(command.code));
        }
        let function = functions().find(|(_, _, name)| is_meant(name));
        match function {
            Some((code, function, _)) => Ok(Self::Function(code, function)),
            None => Err(FaultError::Unknown {
                kind: "SMB command",
                word: text.into(),
                known: names(),
            }),
        }
    }
}

/// Commands that clients send. WRITE_COMPLETE is a reply.
fn requests() -> impl Iterator<Item = &'static command::Command> {
    COMMANDS
        .iter()
        .filter(|command| command.code != command::WRITE_COMPLETE)
}

/// Functions of transactions: command, number, name.
fn functions() -> impl Iterator<Item = (u8, u16, &'static str)> {
    let kinds = [
        (command::TRANSACTION2, Kind::Transaction2),
        (command::NT_TRANSACT, Kind::NtTransact),
        (command::TRANSACTION, Kind::Transaction),
    ];
    kinds.into_iter().flat_map(|(code, kind)| {
        let numbers = 0..FUNCTIONS_END;
        numbers.filter_map(move |number| {
            subcommand::name(kind, number).map(|name| (code, number, name))
        })
    })
}

fn names() -> Vec<&'static str> {
    let commands = requests().map(|command| command.name);
    commands
        .chain(functions().map(|(_, _, name)| name))
        .collect()
}

impl Target {
    /// Whether such a request can have an interim reply.
    pub(crate) const fn has_interim(self) -> bool {
        match self {
            Self::Any => false,
            Self::Command(code) | Self::Function(code, _) => matches!(
                code,
                command::WRITE_RAW
                    | command::TRANSACTION
                    | command::TRANSACTION2
                    | command::NT_TRANSACT
            ),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Any => f.write_str("*"),
            Self::Command(code) => f.write_str(command::name(code).unwrap_or("?")),
            Self::Function(code, function) => {
                let kind = Kind::of(code).unwrap_or(Kind::Transaction);
                f.write_str(subcommand::name(kind, function).unwrap_or("?"))
            }
        }
    }
}
