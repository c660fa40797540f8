//! Parsing and formatting of values: one [`Codec`] for each kind of value.

mod netbios;

pub use netbios::{ADDRESSES, AUTO, IPX, NODE_TYPE, REQUIRED_FILE, SCOPE};

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use super::hosts::HostList;
use super::list::{Names, Patterns, words};
use super::nearest::{self, Nearest};
use super::settings::{
    AuditEvents, AuditTarget, CaseMode, LetterCase, MangledNames, MapReadonly, MapToGuest,
    NtlmAuth, Pacing, Protocol, Secret, Security, Signing, StrictLocking,
};

/// Maximum length of a NetBIOS name, characters (RFC 1001 section 14.1).
const NETBIOS_NAME_MAX: usize = 15;
/// Minutes of a day.
const DAY_MINUTES: i32 = 1_440;
/// The permission bits of a file.
const MODE_BITS: u32 = 0o7777;

/// Parses and formats one kind of value.
pub struct Codec<T> {
    /// The form of a value, for documentation.
    pub kind: &'static str,
    /// Parses a value; the error says which values are valid.
    pub read: fn(&str) -> Result<T, String>,
    /// The replacement for a value that [`Self::read`] refuses, if there is one.
    pub nearest: fn(&str) -> Nearest<T>,
    /// Formats a value for smb.conf.
    pub show: fn(&T) -> String,
}

impl<T> Codec<T> {
    /// Parses a value, or returns a replacement and a warning.
    ///
    /// # Errors
    /// Which values are valid, if there is no replacement.
    pub fn take(&self, text: &str) -> Result<(T, Option<String>), String> {
        match (self.read)(text) {
            Ok(value) => Ok((value, None)),
            Err(wrong) => match (self.nearest)(text) {
                Some((value, warning)) => Ok((value, Some(warning))),
                None => Err(wrong),
            },
        }
    }
}

/// `yes`, `true`, `on`, `1` or `no`, `false`, `off`, `0`.
pub const BOOL: Codec<bool> = Codec {
    kind: "yes or no",
    read: boolean,
    nearest: nearest::none,
    show: |v| yes_no(*v).into(),
};

/// A boolean that the settings store inverted.
pub const INVERSE: Codec<bool> = Codec {
    kind: "yes or no",
    read: |t| boolean(t).map(|v| !v),
    nearest: nearest::none,
    show: |v| yes_no(!*v).into(),
};

/// Text; surrounding double quotes are removed.
pub const TEXT: Codec<String> = Codec {
    kind: "text",
    read: |t| Ok(unquoted(t).into()),
    nearest: nearest::none,
    show: Clone::clone,
};

/// The path of a folder or file; may contain macros.
pub const PATH: Codec<String> = Codec {
    kind: "path",
    read: |t| Ok(unquoted(t).into()),
    nearest: nearest::none,
    show: Clone::clone,
};

/// A command line for the shell.
pub const COMMAND: Codec<String> = Codec {
    kind: "command",
    read: |t| Ok(t.into()),
    nearest: nearest::none,
    show: Clone::clone,
};

/// A file, or none.
pub const FILE: Codec<Option<PathBuf>> = Codec {
    kind: "path",
    read: |t| {
        Ok(Some(unquoted(t))
            .filter(|t| !t.is_empty())
            .map(PathBuf::from))
    },
    nearest: nearest::none,
    show: |v| {
        v.as_ref()
            .map(|p| p.display().to_string())
            .unwrap_or_default()
    },
};

/// The address of the web page, or none. A port alone is one of this machine only.
pub const PAGE_ADDRESS: Codec<Option<SocketAddr>> = Codec {
    kind: "ADDR:PORT",
    read: page_address,
    nearest: nearest::none,
    show: |v| v.as_ref().map(ToString::to_string).unwrap_or_default(),
};

/// A file whose name may contain macros, or none.
pub const MACRO_FILE: Codec<Option<String>> = Codec {
    kind: "path",
    read: |t| {
        Ok(Some(unquoted(t))
            .filter(|t| !t.is_empty())
            .map(String::from))
    },
    nearest: nearest::none,
    show: |v| v.clone().unwrap_or_default(),
};

/// Where the audit log goes, or none.
pub const AUDIT: Codec<Option<AuditTarget>> = Codec {
    kind: "path, journal, syslog, syslog:FACILITY or no",
    read: |t| AuditTarget::parse(unquoted(t)),
    nearest: nearest::none,
    show: |v| v.as_ref().map_or("no".into(), ToString::to_string),
};

/// What the audit log records.
pub const AUDIT_EVENTS: Codec<AuditEvents> = Codec {
    kind: "list of events",
    read: |t| AuditEvents::parse(&words(t)),
    nearest: nearest::none,
    show: ToString::to_string,
};

/// The name of a local user.
pub const USER: Codec<Option<String>> = Codec {
    kind: "user",
    read: |t| Ok(Some(unquoted(t).to_owned()).filter(|t| !t.is_empty())),
    nearest: nearest::none,
    show: |v| v.clone().unwrap_or_default(),
};

/// `passdb backend`: the file of `smbpasswd:FILE`; other backends are ignored with a warning.
pub const PASSDB_BACKEND: Codec<Option<PathBuf>> = Codec {
    kind: "smbpasswd:FILE",
    read: |t| match passdb_backend(t) {
        Some(file) => Ok(file),
        None => Err(format!("'{t}' is not smbpasswd:FILE")),
    },
    nearest: |t| {
        let why = format!(
            "'{t}' holds no users that coax can read; 'pdbedit -e smbpasswd:FILE' writes them to a file for it"
        );
        Some((None, why))
    },
    show: |v| {
        v.as_ref()
            .map(|p| format!("smbpasswd:{}", p.display()))
            .unwrap_or_default()
    },
};

/// A password, never shown.
pub const PASSWORD: Codec<Option<Secret>> = Codec {
    kind: "password",
    read: |t| Ok(Some(Secret(unquoted(t).into()))),
    nearest: nearest::none,
    show: |v| {
        if v.is_some() {
            "(set)".into()
        } else {
            String::new()
        }
    },
};

/// A NetBIOS name: upper case, at most 15 characters (RFC 1001 section 14.1).
pub const NETBIOS_NAME: Codec<String> = Codec {
    kind: "name of at most 15 characters",
    read: netbios_name,
    nearest: |t| {
        nearest::shortened(unquoted(t), NETBIOS_NAME_MAX)
            .filter(|(name, _)| netbios_name(name).is_ok())
            .map(|(name, why)| (name.to_uppercase(), why))
    },
    show: Clone::clone,
};

/// NetBIOS names.
pub const NETBIOS_NAMES: Codec<Vec<String>> = Codec {
    kind: "list of names",
    read: |t| words(t).iter().map(|w| netbios_name(w)).collect(),
    nearest: nearest::none,
    show: |v| v.join(" "),
};

/// Words.
pub const WORDS: Codec<Vec<String>> = Codec {
    kind: "list",
    read: |t| Ok(words(t)),
    nearest: nearest::none,
    show: |v| v.join(" "),
};

/// User names.
pub const NAMES: Codec<Names> = Codec {
    kind: "list of users",
    read: user_names,
    nearest: nearest::none,
    show: |v| v.iter().collect::<Vec<_>>().join(" "),
};

/// File name patterns.
pub const PATTERNS: Codec<Patterns> = Codec {
    kind: "patterns, as /*.tmp/~*/",
    read: |t| Ok(Patterns::parse(unquoted(t))),
    nearest: nearest::none,
    show: |v| {
        if v.is_empty() {
            String::new()
        } else {
            format!("/{}/", v.iter().collect::<Vec<_>>().join("/"))
        }
    },
};

/// Hosts.
pub const HOSTS: Codec<HostList> = Codec {
    kind: "list of addresses and networks",
    read: HostList::parse,
    nearest: nearest::none,
    show: ToString::to_string,
};

/// A non-negative integer.
pub const COUNT: Codec<u32> = Codec {
    kind: "number",
    read: |t| number(t, 0, u32::MAX.into()),
    nearest: |t| nearest::number(t, 0, u32::MAX.into()),
    show: ToString::to_string,
};

/// A 16-bit integer above 0.
pub const COUNT16: Codec<u16> = Codec {
    kind: "number",
    read: |t| number(t, 1, u16::MAX.into()),
    nearest: |t| nearest::number(t, 1, u16::MAX.into()),
    show: ToString::to_string,
};

/// Minutes, positive or negative.
pub const MINUTES: Codec<i32> = Codec {
    kind: "minutes",
    read: minutes,
    nearest: |t| nearest::minutes(t, DAY_MINUTES),
    show: ToString::to_string,
};

/// Octal permission bits.
pub const MODE: Codec<u32> = Codec {
    kind: "octal mode",
    read: octal,
    nearest: |t| nearest::octal(t, MODE_BITS),
    show: |v| format!("{v:04o}"),
};

/// The size of a message, bytes.
pub const MESSAGE_SIZE: Codec<u32> = Codec {
    kind: "bytes, 1024 to 65535",
    read: |t| bytes(t, 1_024, 65_535),
    nearest: |t| nearest::bytes(t, 1_024, 65_535),
    show: ToString::to_string,
};

/// Mebibytes, stored as bytes.
pub const MEBIBYTES: Codec<u64> = Codec {
    kind: "MiB",
    read: |t| number::<u64>(t, 0, 1 << 40).map(|v| v << 20),
    nearest: |t| nearest::number::<u64>(t, 0, 1 << 40).map(|(v, why)| (v << 20, why)),
    show: |v| (v >> 20).to_string(),
};

/// TCP ports.
pub const PORTS: Codec<Vec<u16>> = Codec {
    kind: "list of ports",
    read: |t| words(t).iter().map(|w| number(w, 1, 65_535)).collect(),
    nearest: nearest::none,
    show: |v| {
        v.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    },
};

/// A code page: `CP850`, `850` or `IBM850`.
pub const CODE_PAGE: Codec<u16> = Codec {
    kind: "code page",
    read: code_page,
    nearest: nearest::none,
    show: |v| format!("CP{v}"),
};

/// `server max protocol`: a level beyond NT1 means NT1.
pub const MAX_PROTOCOL: Codec<Protocol> = Codec {
    kind: "CORE, COREPLUS, LANMAN1, LANMAN2 or NT1",
    read: |t| {
        if is_smb2(t) {
            Ok(Protocol::Nt1)
        } else {
            choose(PROTOCOLS, t)
        }
    },
    nearest: nearest::none,
    show: |v| shown(PROTOCOLS, *v),
};

/// `server min protocol`: a level beyond NT1 would refuse every client.
pub const MIN_PROTOCOL: Codec<Protocol> = Codec {
    kind: MAX_PROTOCOL.kind,
    read: min_protocol,
    nearest: nearest::none,
    show: MAX_PROTOCOL.show,
};

/// `protocol`.
const PROTOCOLS: &[(&str, Protocol)] = &[
    ("CORE", Protocol::Core),
    ("COREPLUS", Protocol::CorePlus),
    ("LANMAN1", Protocol::Lanman1),
    ("LANMAN2", Protocol::Lanman2),
    ("NT1", Protocol::Nt1),
    ("CORE+", Protocol::CorePlus),
    ("LANMAN 1.0", Protocol::Lanman1),
    ("LANMAN 2.1", Protocol::Lanman2),
    ("LM1.2X002", Protocol::Lanman2),
    ("NT LM 0.12", Protocol::Nt1),
    ("SMB1", Protocol::Nt1),
];

const SECURITIES: &[(&str, Security)] = &[
    ("user", Security::User),
    ("share", Security::Share),
    ("auto", Security::User),
];

/// `security`.
pub const SECURITY: Codec<Security> = Codec {
    kind: "user or share",
    read: |t| {
        choose(SECURITIES, t).map_err(|_| {
            format!("'{t}' is not 'user' or 'share'; coax checks passwords itself and asks no domain and no other server")
        })
    },
    nearest: nearest::none,
    show: |v| shown(SECURITIES, *v),
};

/// Declares the codec of an enumeration; the first name of each value is the preferred one.
macro_rules! choice {
    ($(#[$doc:meta])* $codec:ident: $type:ty = $kind:literal, $($name:literal => $value:expr),+ $(,)?) => {
        $(#[$doc])*
        pub const $codec: Codec<$type> = Codec {
            kind: $kind,
            read: |text| choose(&[$(($name, $value)),+], text),
            nearest: nearest::none,
            show: |value| shown(&[$(($name, $value)),+], *value),
        };
    };
}

choice!(/// `map to guest`.
    MAP_TO_GUEST: MapToGuest = "never, bad user or bad password",
    "never" => MapToGuest::Never, "bad user" => MapToGuest::BadUser, "bad password" => MapToGuest::BadPassword);
choice!(/// `ntlm auth`.
    NTLM_AUTH: NtlmAuth = "ntlmv1-permitted, ntlmv2-only or disabled",
    "ntlmv1-permitted" => NtlmAuth::V1Permitted, "yes" => NtlmAuth::V1Permitted, "true" => NtlmAuth::V1Permitted,
    "1" => NtlmAuth::V1Permitted, "ntlmv2-only" => NtlmAuth::V2Only, "no" => NtlmAuth::V2Only,
    "false" => NtlmAuth::V2Only, "0" => NtlmAuth::V2Only, "mschapv2-and-ntlmv2-only" => NtlmAuth::V2Only,
    "disabled" => NtlmAuth::Disabled);
choice!(/// `server signing`.
    SIGNING: Signing = "disabled, auto or mandatory",
    "auto" => Signing::Auto, "default" => Signing::Auto, "desired" => Signing::Auto, "enabled" => Signing::Auto,
    "yes" => Signing::Auto, "true" => Signing::Auto, "1" => Signing::Auto, "if_required" => Signing::Auto,
    "disabled" => Signing::Disabled, "no" => Signing::Disabled, "off" => Signing::Disabled,
    "false" => Signing::Disabled, "0" => Signing::Disabled, "mandatory" => Signing::Mandatory,
    "required" => Signing::Mandatory, "force" => Signing::Mandatory, "forced" => Signing::Mandatory,
    "enforced" => Signing::Mandatory);
choice!(/// `coax:pacing`.
    PACING: Pacing = "auto, always or no",
    "auto" => Pacing::Auto, "yes" => Pacing::Auto, "always" => Pacing::Always, "no" => Pacing::Off, "off" => Pacing::Off);
choice!(/// `case sensitive`.
    CASE_MODE: CaseMode = "auto, yes or no",
    "auto" => CaseMode::Auto, "yes" => CaseMode::Sensitive, "no" => CaseMode::Insensitive,
    "true" => CaseMode::Sensitive, "false" => CaseMode::Insensitive, "on" => CaseMode::Sensitive,
    "off" => CaseMode::Insensitive, "1" => CaseMode::Sensitive, "0" => CaseMode::Insensitive);
choice!(/// `default case`.
    LETTER_CASE: LetterCase = "lower or upper", "lower" => LetterCase::Lower, "upper" => LetterCase::Upper);
choice!(/// `mangled names`.
    MANGLED_NAMES: MangledNames = "yes, illegal or no",
    "yes" => MangledNames::Yes, "illegal" => MangledNames::Illegal, "no" => MangledNames::No,
    "true" => MangledNames::Yes, "on" => MangledNames::Yes, "1" => MangledNames::Yes,
    "false" => MangledNames::No, "off" => MangledNames::No, "0" => MangledNames::No);
choice!(/// `map readonly`.
    MAP_READONLY: MapReadonly = "yes, no or permissions",
    "yes" => MapReadonly::Yes, "no" => MapReadonly::No, "permissions" => MapReadonly::Permissions,
    "perms" => MapReadonly::Permissions, "true" => MapReadonly::Yes, "on" => MapReadonly::Yes,
    "1" => MapReadonly::Yes, "false" => MapReadonly::No, "off" => MapReadonly::No, "0" => MapReadonly::No);
choice!(/// `strict locking`.
    STRICT_LOCKING: StrictLocking = "auto, yes or no",
    "auto" => StrictLocking::Auto, "yes" => StrictLocking::Yes, "no" => StrictLocking::No,
    "true" => StrictLocking::Yes, "on" => StrictLocking::Yes, "1" => StrictLocking::Yes,
    "false" => StrictLocking::No, "off" => StrictLocking::No, "0" => StrictLocking::No);

/// Removes double quotes that enclose the whole text.
pub fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    inner.filter(|t| !t.contains('"')).unwrap_or(text)
}

fn page_address(text: &str) -> Result<Option<SocketAddr>, String> {
    let text = unquoted(text);
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    }
    let address = text.parse().map(Some);
    address.map_err(|_| {
        "write ADDR:PORT, as 127.0.0.1:8139, or a port alone for this machine only".into()
    })
}

fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Ok(true),
        "no" | "false" | "off" | "0" => Ok(false),
        _ => Err(format!("'{text}' is neither yes nor no")),
    }
}

/// The file of the first backend; `Some(None)` for `smbpasswd` without a file, or for nothing.
fn passdb_backend(text: &str) -> Option<Option<PathBuf>> {
    let backends = words(text);
    let (kind, file) = match backends.first() {
        None => return Some(None),
        Some(first) => first.split_once(':').unwrap_or((first.as_str(), "")),
    };
    let file = Some(file)
        .filter(|file| !file.is_empty())
        .map(PathBuf::from);
    kind.eq_ignore_ascii_case("smbpasswd").then_some(file)
}

/// An integer within bounds, decimal or `0x…`.
fn number<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Result<T, String> {
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    within(
        value.ok_or_else(|| format!("'{text}' is not a whole number"))?,
        text,
        low,
        high,
    )
}

/// A number of bytes, optionally with K, M, G or T for powers of 1,024.
fn bytes<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Result<T, String> {
    let (digits, shift) = match text.chars().last().map(|c| c.to_ascii_uppercase()) {
        Some('K') => (text.get(..text.len() - 1), 10),
        Some('M') => (text.get(..text.len() - 1), 20),
        Some('G') => (text.get(..text.len() - 1), 30),
        Some('T') => (text.get(..text.len() - 1), 40),
        _ => (Some(text), 0),
    };
    let value: u64 = number(digits.unwrap_or_default().trim_end(), 0, u64::MAX)
        .map_err(|_| format!("'{text}' is not a number of bytes (4356, 16K)"))?;
    within(value.saturating_mul(1 << shift), text, low, high)
}

fn within<T: TryFrom<u64>>(value: u64, text: &str, low: u64, high: u64) -> Result<T, String> {
    let fits = T::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value));
    fits.ok_or_else(|| format!("'{text}' is outside {low} to {high}"))
}

fn minutes(text: &str) -> Result<i32, String> {
    let value: i32 = text
        .parse()
        .map_err(|_| format!("'{text}' is not a whole number of minutes"))?;
    if (-DAY_MINUTES..=DAY_MINUTES).contains(&value) {
        Ok(value)
    } else {
        Err(format!("'{text}' is more than a day"))
    }
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|v| *v <= MODE_BITS)
        .ok_or_else(|| format!("'{text}' is not an octal mode (0644)"))
}

fn netbios_name(text: &str) -> Result<String, String> {
    let name = unquoted(text).to_uppercase();
    if name.is_empty() || name.chars().count() > NETBIOS_NAME_MAX {
        return Err(format!(
            "'{name}' is not a NetBIOS name: write 1 to 15 characters"
        ));
    }
    match name
        .chars()
        .find(|c| c.is_control() || "\"*+,/:;<=>?[\\]|.".contains(*c))
    {
        Some(bad) => Err(format!(
            "'{bad}' is not allowed in a NetBIOS name such as '{name}'"
        )),
        None => Ok(name),
    }
}

fn user_names(text: &str) -> Result<Names, String> {
    let names = words(text);
    match names.iter().find(|n| n.starts_with(['@', '+', '&'])) {
        Some(group) => Err(format!(
            "'{group}' is a group; coax has users only, so name each"
        )),
        None => Ok(Names::new(names)),
    }
}

fn code_page(text: &str) -> Result<u16, String> {
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_start_matches(|c: char| !c.is_ascii_digit());
    if upper == "ASCII" {
        return Ok(437);
    }
    if upper.contains("UTF") {
        return Err(format!(
            "'{text}' is not a DOS code page; clients without Unicode expect CP437, CP850, CP852 …"
        ));
    }
    digits
        .parse()
        .map_err(|_| format!("'{text}' is not a code page (CP850)"))
}

fn is_smb2(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.starts_with("SMB2") || upper.starts_with("SMB3") || upper == "DEFAULT"
}

fn min_protocol(text: &str) -> Result<Protocol, String> {
    if is_smb2(text) && !text.eq_ignore_ascii_case("default") {
        return Err(format!(
            "'{text}' would refuse every dialect, because coax supports only SMB1. CORE allows all dialects, NT1 only the newest"
        ));
    }
    if text.eq_ignore_ascii_case("default") {
        Ok(Protocol::Core)
    } else {
        choose(PROTOCOLS, text)
    }
}

fn choose<T: Copy>(choices: &[(&str, T)], text: &str) -> Result<T, String> {
    let squeezed = |s: &str| {
        s.split_whitespace()
            .collect::<String>()
            .to_ascii_lowercase()
    };
    let wanted = squeezed(unquoted(text));
    choices
        .iter()
        .find(|(name, _)| squeezed(name) == wanted)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            format!(
                "'{text}' is none of {}",
                choices
                    .iter()
                    .map(|(n, _)| *n)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        })
}

fn shown<T: Copy + PartialEq>(choices: &[(&str, T)], value: T) -> String {
    choices
        .iter()
        .find(|(_, v)| *v == value)
        .map(|(name, _)| (*name).to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
