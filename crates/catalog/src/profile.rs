//! Redirector profiles: `data/clients/*.toml`, read into [`Profile`].
//!
//! Every value is a [`Fact`]: it names its source, or it is marked as assumed with a reason. The engine uses only the
//! values, never the name of a redirector.

mod fact;
mod requests;
mod step;
#[cfg(test)]
mod tests;

pub use fact::{Fact, Provenance};
pub use requests::{BlockSize, FillsBuffer, RequestSizes};
pub use step::Step;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use coax_netbios::Transport;
use serde::Deserialize;

use crate::{component::ProfileError, read};

/// A redirector.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// Short name, as in `--as NAME`.
    pub name: String,
    /// Title in one line.
    pub title: String,
    /// How a person recognises it in a capture, in a few words.
    pub recognised: String,
    /// Description.
    #[serde(default)]
    pub about: String,
    /// The file in `data/stacks` that the lab usually runs it on.
    pub stack: String,
    /// The file in `data/machines` that the lab usually runs it on.
    pub machine: String,
    /// The file in `data/netbios` that the lab usually runs it on.
    pub netbios: String,
    /// The negotiate request.
    pub negotiate: Negotiate,
    /// The method of authentication.
    pub logon: LogOn,
    /// Buffers.
    pub buffers: Buffers,
    /// The transport.
    pub transport: TransportProfile,
    /// How it reads file data.
    pub read: Reading,
    /// How it writes file data.
    pub write: Writing,
    /// When it uses raw mode.
    pub raw: RawRules,
    /// Its requests around a copy.
    pub copy: Copying,
}

/// The dialects and options of the negotiate request, and the header's flags after it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Negotiate {
    /// Dialect strings, in order.
    pub dialects: Fact<Vec<String>>,
    /// UTF-16LE strings, where the server can.
    pub unicode: Fact<bool>,
    /// NTSTATUS instead of class and code, where the server can.
    pub nt_status: Fact<bool>,
    /// SPNEGO, where the server can.
    pub extended_security: Fact<bool>,
    /// The header's flags ([`coax_wire::header::Flags`]).
    pub flags: Fact<u8>,
    /// The header's Flags2 apart from the three above ([`coax_wire::header::Flags2`]).
    pub flags2: Fact<u16>,
    /// Capabilities it claims in the session set-up ([`coax_wire::smb::negotiate::cap`]), of those the server has.
    pub capabilities: Fact<u32>,
}

/// The method of authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// The plaintext password, for servers that require it. With the other methods it is sent only if weak methods are
    /// allowed (the client crate's `Credentials::allow_weak`).
    Plaintext,
    /// The LAN Manager response alone.
    Lm,
    /// LM and NTLM responses.
    Ntlm,
    /// LMv2 and NTLMv2 responses.
    Ntlmv2,
}

/// The log-on request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogOn {
    /// Its best proof of who the user is.
    pub proof: Fact<Proof>,
    /// User name and password are sent in capitals.
    pub capitals: Fact<bool>,
    /// The tree connect rides in the session set-up's AndX chain.
    pub chain_tree_connect: Fact<bool>,
    /// Its native OS string.
    pub native_os: Fact<String>,
    /// Its native LAN manager string.
    pub native_lan_man: Fact<String>,
}

/// Buffer sizes, bytes, and how many requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Buffers {
    /// Maximum message size that its session set-up announces.
    pub announced: Fact<u16>,
    /// The largest message it makes, if the server takes that much.
    pub request: Fact<u32>,
    /// Maximum number of outstanding requests that its session set-up announces.
    pub max_mpx: Fact<u16>,
}

/// How messages are split into writes to TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// One write a message.
    Whole,
    /// The four bytes of the session header apart from the rest.
    SessionHeader,
    /// File data apart from what precedes it.
    Data,
}

/// Which port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// 139, with a NetBIOS session.
    Nbt,
    /// 445.
    Direct,
}

impl From<Port> for Transport {
    fn from(port: Port) -> Self {
        match port {
            Port::Nbt => Self::Nbt139,
            Port::Direct => Self::Direct445,
        }
    }
}

/// The transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TransportProfile {
    /// Port.
    pub port: Fact<Port>,
    /// How messages are split into writes to TCP.
    pub cut: Fact<Cut>,
}

/// A command family that moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// READ and WRITE.
    Core,
    /// READ_ANDX and WRITE_ANDX.
    Andx,
    /// READ_RAW and WRITE_RAW if [`RawRules`] allow it, else the method in `otherwise`.
    Raw,
}

/// Number of requests in flight: a number, or `[first, most]` if it adapts to the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenInFlight")]
pub struct InFlight {
    /// At first.
    pub first: u16,
    /// At most.
    pub most: u16,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a whole number from 1 to 65535, or [first, most]"
)]
enum WrittenInFlight {
    Always(u16),
    Between([u16; 2]),
}

impl From<WrittenInFlight> for InFlight {
    fn from(written: WrittenInFlight) -> Self {
        let [first, most] = match written {
            WrittenInFlight::Always(n) => [n, n],
            WrittenInFlight::Between(both) => both,
        };
        Self { first, most }
    }
}

/// How it reads file data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reading {
    /// Method.
    pub method: Fact<Method>,
    /// Method where raw mode is not possible.
    pub otherwise: Fact<Method>,
    /// Bytes a request, other than raw.
    pub block: Fact<BlockSize>,
    /// Bytes a raw request.
    pub raw_block: Fact<u32>,
    /// Space for headers in a buffer-filling block, bytes.
    pub headroom: Fact<u32>,
    /// Requests in flight: more than one where it reads ahead.
    pub in_flight: Fact<InFlight>,
}

/// How it writes file data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Writing {
    /// Method.
    pub method: Fact<Method>,
    /// Method where raw mode is not possible.
    pub otherwise: Fact<Method>,
    /// Bytes a request, other than raw.
    pub block: Fact<BlockSize>,
    /// Bytes a raw request.
    pub raw_block: Fact<u32>,
    /// Space for headers in a buffer-filling block, bytes.
    pub headroom: Fact<u32>,
    /// Requests in flight: more than one where it writes behind.
    pub in_flight: Fact<InFlight>,
    /// Data is to be on the server's disk before the reply. A raw write has a final reply only then.
    pub through: Fact<bool>,
    /// A raw write's first message carries as much data as fits.
    pub data_with_raw_request: Fact<bool>,
}

/// When raw mode is used, if both sides support it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawRules {
    /// A raw read moves at least this share of the request buffer, percent.
    pub read_at_least: Fact<u32>,
    /// A raw write moves at least this share of the request buffer, percent.
    pub write_at_least: Fact<u32>,
    /// Not while another request is outstanding, a watch on a folder among them.
    pub alone: Fact<bool>,
    /// No more raw mode after one exchange took longer, milliseconds; 0: no such rule.
    pub time_limit_ms: Fact<u32>,
}

/// Requests around a copy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Copying {
    /// From the server: the requests in order.
    pub get: Fact<Vec<Step>>,
    /// To the server: the requests in order.
    pub put: Fact<Vec<Step>>,
    /// Bytes the copying program asks for at a time: a read or write never crosses a multiple of it. 0: no matter.
    pub application_block: Fact<u32>,
}

impl Profile {
    /// Reads a profile. `file` is the file's name, for messages.
    ///
    /// # Errors
    /// The text is not a profile, or it contains a contradiction.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let malformed = |reason: String| ProfileError::Malformed {
            file: file.to_string(),
            reason,
        };
        let profile: Self = read::text(text).map_err(malformed)?;
        match profile.fault() {
            Some(fault) => Err(malformed(fault.to_string())),
            None => Ok(profile),
        }
    }

    /// The first contradiction, if there is one.
    pub fn fault(&self) -> Option<&'static str> {
        let transfers =
            |steps: &[Step]| steps.iter().filter(|step| **step == Step::Transfer).count();
        let raw = [*self.read.otherwise, *self.write.otherwise].contains(&Method::Raw);
        let is_list = |block: &BlockSize| matches!(block, BlockSize::Sizes(_));
        let raw_list = (is_list(&self.read.block) && *self.read.method == Method::Raw)
            || (is_list(&self.write.block) && *self.write.method == Method::Raw);
        let wrong = |of: InFlight| of.first == 0 || of.most < of.first;
        if self.negotiate.dialects.is_empty() {
            Some("negotiate.dialects offers nothing")
        } else if transfers(&self.copy.get) != 1 || transfers(&self.copy.put) != 1 {
            Some("copy.get and copy.put must hold \"transfer\" once")
        } else if raw {
            Some("otherwise must be \"core\" or \"andx\"")
        } else if wrong(*self.read.in_flight) || wrong(*self.write.in_flight) {
            Some("in-flight must be 1 or more, or two such numbers, the larger one last")
        } else if [&self.read.block, &self.write.block]
            .iter()
            .any(|block| ***block == BlockSize::Bytes(0))
        {
            Some("block must be 1 or more, or \"buffer\"")
        } else if raw_list {
            Some(
                "a list of sizes in block needs method = \"andx\" or \"core\"; raw requests have one size, raw-block",
            )
        } else {
            None
        }
    }
}
