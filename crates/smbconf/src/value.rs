//! Parsing and formatting of values: one [`Codec`] for each kind of value.

mod choices;
mod netbios;
mod numbers;

pub use choices::{
    CASE_MODE, LETTER_CASE, MANGLED_NAMES, MAP_READONLY, MAP_TO_GUEST, MAX_PROTOCOL, MIN_PROTOCOL,
    NTLM_AUTH, PACING, SECURITY, SIGNING, STRICT_LOCKING,
};
pub use netbios::{ADDRESSES, AUTO, IPX, NODE_TYPE, REQUIRED_FILE, SCOPE};
pub use numbers::{COUNT, COUNT16, MEBIBYTES, MESSAGE_SIZE, MINUTES, MODE, PORTS};

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use super::hosts::HostList;
use super::list::{Names, Patterns, words};
use super::nearest::{self, Nearest};
use super::settings::{AuditEvents, AuditTarget, Secret};

/// Maximum length of a NetBIOS name, characters (RFC 1001 section 14.1).
const NETBIOS_NAME_MAX: usize = 15;

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

/// A code page: `CP850`, `850` or `IBM850`.
pub const CODE_PAGE: Codec<u16> = Codec {
    kind: "code page",
    read: code_page,
    nearest: nearest::none,
    show: |v| format!("CP{v}"),
};

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

#[cfg(test)]
mod tests;
