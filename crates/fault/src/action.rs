//! What a fault does.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use coax_wire::time::Span;

use crate::{
    error::{FaultError, value},
    stage::Stage,
    status::Refusal,
};

/// The longest delay: one hour.
const DELAY_MAX: Span = Span::from_secs(3600);
/// The pause between the pieces of a split reply, unless one is given. Shorter ones let a kernel put pieces into one segment.
const PAUSE: Span = Span::from_millis(2);
/// No message is longer, bytes.
const LENGTH_MAX: usize = 0x00ff_ffff;

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The reply is sent later.
    Delay(Span),
    /// The request is not executed, or the reply is not sent.
    Drop,
    /// The connection is closed (FIN) instead.
    Disconnect,
    /// The connection is reset (RST) instead.
    Reset,
    /// The reply is this error.
    Error(Refusal),
    /// The message ends after this many bytes; the length before it says so.
    Truncate(usize),
    /// The packet ends after this many bytes, and the connection is closed.
    Cut(usize),
    /// The reply is sent twice.
    Duplicate,
    /// The packet is sent in pieces of this many bytes, with a pause after each.
    Split(usize, Span),
    /// The reply has this MID.
    Mid(u16),
    /// The bits of the reply's signature are inverted.
    Signature,
    /// A break of the oplock of the request's file is sent first.
    OplockBreak,
}

/// Names of actions and how each is written.
const ACTIONS: [(&str, &str); 12] = [
    ("delay", "delay TIME, such as delay 500ms or delay 2s"),
    ("drop", "drop"),
    ("disconnect", "disconnect"),
    ("reset", "reset"),
    (
        "error",
        "error STATUS, such as error ACCESS_DENIED or error ERRDOS/5",
    ),
    ("truncate", "truncate BYTES, such as truncate 40"),
    ("cut", "cut BYTES, such as cut 40"),
    ("duplicate", "duplicate"),
    (
        "split",
        "split BYTES [TIME], such as split 1 or split 100 20ms",
    ),
    ("mid", "mid NUMBER, such as mid 0xffff"),
    ("signature", "signature"),
    ("oplock-break", "oplock-break"),
];

impl FromStr for Action {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let known = ACTIONS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word));
        let (action, usage) = *known.ok_or_else(|| FaultError::Unknown {
            kind: "action",
            word: word.into(),
            known: ACTIONS.iter().map(|(name, _)| *name).collect(),
        })?;
        match (action, rest.as_slice()) {
            ("delay", [time]) => duration(time).map(Self::Delay),
            ("drop", []) => Ok(Self::Drop),
            ("disconnect", []) => Ok(Self::Disconnect),
            ("reset", []) => Ok(Self::Reset),
            ("error", [status]) => status.parse().map(Self::Error),
            ("truncate", [bytes]) => length(bytes, 0).map(Self::Truncate),
            ("cut", [bytes]) => length(bytes, 0).map(Self::Cut),
            ("duplicate", []) => Ok(Self::Duplicate),
            ("split", [bytes]) => Ok(Self::Split(length(bytes, 1)?, PAUSE)),
            ("split", [bytes, time]) => Ok(Self::Split(length(bytes, 1)?, duration(time)?)),
            ("mid", [number]) => mid(number).map(Self::Mid),
            ("signature", []) => Ok(Self::Signature),
            ("oplock-break", []) => Ok(Self::OplockBreak),
            _ => Err(FaultError::Usage { action, usage }),
        }
    }
}

fn duration(text: &str) -> Result<Span, FaultError> {
    let wrong = || {
        value(
            "time",
            text,
            "a number and ms, s or min, at most 60min, such as 500ms",
        )
    };
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (digits, unit) = text.split_at_checked(end).ok_or_else(wrong)?;
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let span = match unit {
        "ms" => Span::from_millis(number.min(DELAY_MAX.as_millis().saturating_add(1))),
        "s" => Span::from_secs(number.min(3601)),
        "min" => Span::from_secs(number.min(61).saturating_mul(60)),
        _ => return Err(wrong()),
    };
    match span <= DELAY_MAX {
        true => Ok(span),
        false => Err(wrong()),
    }
}

fn length(text: &str, least: usize) -> Result<usize, FaultError> {
    let wrong = || value("number of bytes", text, "a number such as 40");
    let number: usize = text.parse().map_err(|_| wrong())?;
    match (least..=LENGTH_MAX).contains(&number) {
        true => Ok(number),
        false => Err(wrong()),
    }
}

fn mid(text: &str) -> Result<u16, FaultError> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| value("MID", text, "a number up to 65535 or 0xffff"))
}

impl Action {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Drop => "drop",
            Self::Disconnect => "disconnect",
            Self::Reset => "reset",
            Self::Error(_) => "error",
            Self::Truncate(_) => "truncate",
            Self::Cut(_) => "cut",
            Self::Duplicate => "duplicate",
            Self::Split(..) => "split",
            Self::Mid(_) => "mid",
            Self::Signature => "signature",
            Self::OplockBreak => "oplock-break",
        }
    }

    /// When it acts if the fault does not say.
    pub(crate) const fn usual_stage(&self) -> Stage {
        match self {
            Self::Error(_) => Stage::Request,
            _ => Stage::Reply,
        }
    }

    pub(crate) const fn fits_request(&self) -> bool {
        matches!(
            self,
            Self::Drop | Self::Disconnect | Self::Reset | Self::Error(_)
        )
    }

    /// Whether it changes the header.
    pub(crate) const fn needs_header(&self) -> bool {
        matches!(self, Self::Mid(_) | Self::Signature | Self::Error(_))
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Delay(time) => write!(f, " {}ms", time.as_millis()),
            Self::Error(status) => write!(f, " {status}"),
            Self::Truncate(bytes) | Self::Cut(bytes) => write!(f, " {bytes}"),
            Self::Split(bytes, PAUSE) => write!(f, " {bytes}"),
            Self::Split(bytes, pause) => write!(f, " {bytes} {}ms", pause.as_millis()),
            Self::Mid(number) => write!(f, " {number:#06x}"),
            _ => Ok(()),
        }
    }
}
