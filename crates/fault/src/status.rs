//! The status of an injected error.

use core::{fmt, str::FromStr};

use coax_wire::{
    header::Flags2,
    status::{Class, DosStatus, Status, TABLE, reply},
};

use crate::error::{FaultError, value};

/// The status of an injected error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// An NTSTATUS. A client that does not ask for one gets the class and code that mean the same.
    Nt(Status),
    /// A class and code, which every client gets.
    Dos(DosStatus),
}

const EXAMPLE: &str =
    "an NTSTATUS (ACCESS_DENIED, 0xc0000022) or a DOS error (ERRnoaccess, ERRDOS/5)";

/// Names of classes.
const CLASSES: [(&str, Class); 6] = [
    ("ERRDOS", Class::Dos),
    ("ERRSRV", Class::Server),
    ("ERRHRD", Class::Hardware),
    ("DOS", Class::Dos),
    ("SERVER", Class::Server),
    ("HARDWARE", Class::Hardware),
];

impl FromStr for Refusal {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let wrong = || value("status", text, EXAMPLE);
        if let Some(digits) = text.strip_prefix("0x") {
            let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
            return match number {
                0 => Err(wrong()),
                number => Ok(Self::Nt(Status(number))),
            };
        }
        if let Some((class, code)) = text.split_once('/') {
            let class = CLASSES
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(class.trim()));
            let code = code.trim().parse().ok().filter(|code| *code != 0);
            return class
                .zip(code)
                .map(|((_, class), code)| {
                    Self::Dos(DosStatus {
                        class: *class,
                        code,
                    })
                })
                .ok_or_else(wrong);
        }
        if let Some((_, dos)) = reply::dos_names().find(|(name, _)| name.eq_ignore_ascii_case(text))
        {
            return Ok(Self::Dos(dos));
        }
        let word = text.strip_prefix("STATUS_").unwrap_or(text);
        let nt = || TABLE.iter().filter(|row| !row.0.is_ok());
        nt().find(|row| row.1.eq_ignore_ascii_case(word))
            .map(|row| Self::Nt(row.0))
            .ok_or_else(|| FaultError::Unknown {
                kind: "status",
                word: text.into(),
                known: nt()
                    .map(|row| row.1)
                    .chain(reply::dos_names().map(|(name, _)| name))
                    .collect(),
            })
    }
}

impl Refusal {
    /// The header's status field and flags for a client whose request has `flags2`.
    pub(crate) fn on_the_wire(self, flags2: Flags2) -> (u32, Flags2) {
        match self {
            Self::Nt(status) => (status.to_wire(flags2.has(Flags2::NT_STATUS)), flags2),
            Self::Dos(dos) => (dos.to_wire(), Flags2(flags2.0 & !Flags2::NT_STATUS)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nt(status) => match status.name() {
                Some(name) => f.write_str(name),
                None => write!(f, "{:#010x}", status.0),
            },
            Self::Dos(dos) => {
                let class = CLASSES.iter().find(|(_, class)| *class == dos.class);
                write!(
                    f,
                    "{}/{}",
                    class.map_or("ERRDOS", |(name, _)| name),
                    dos.code
                )
            }
        }
    }
}
