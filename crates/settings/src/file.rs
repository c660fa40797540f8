//! The lines of a file, whatever its format: section, key, value, and the line's number.

use std::fmt;

/// A file of this size is no configuration file, bytes.
const LARGEST: usize = 16 << 20;

/// Formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PROTOCOL.INI of the protocol manager (Microsoft and IBM).
    ProtocolIni,
    /// SYSTEM.INI of Windows and of the Microsoft client.
    SystemIni,
    /// NETWORK.INI of IBM's DOS LAN Services.
    NetworkIni,
    /// TCPUTILS.INI of Microsoft's TCP/IP.
    TcpUtilsIni,
    /// An export of the Windows registry.
    Registry,
    /// smb.conf.
    SmbConf,
    /// `sysctl -a`, or /etc/sysctl.conf.
    Sysctl,
}

impl Kind {
    /// As the table names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProtocolIni => "protocol.ini",
            Self::SystemIni => "system.ini",
            Self::NetworkIni => "network.ini",
            Self::TcpUtilsIni => "tcputils.ini",
            Self::Registry => "registry",
            Self::SmbConf => "smb.conf",
            Self::Sysctl => "sysctl",
        }
    }

    /// Whether the server has this file, unless somebody says otherwise.
    #[must_use]
    pub const fn is_usually_the_servers(self) -> bool {
        matches!(self, Self::SmbConf | Self::Sysctl)
    }

    /// Recognises a file by its name, else by its contents.
    fn of(name: &str, text: &str) -> Option<Self> {
        let name = name.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
        let by_name = match name.as_str() {
            "protocol.ini" => Some(Self::ProtocolIni),
            "system.ini" => Some(Self::SystemIni),
            "network.ini" | "ibmlan.ini" => Some(Self::NetworkIni),
            "tcputils.ini" | "tcpdos.ini" => Some(Self::TcpUtilsIni),
            "smb.conf" => Some(Self::SmbConf),
            "sysctl.conf" => Some(Self::Sysctl),
            _ if name.ends_with(".reg") => Some(Self::Registry),
            _ => None,
        };
        by_name.or_else(|| Self::by_contents(&text.to_ascii_lowercase()))
    }

    fn by_contents(lower: &str) -> Option<Self> {
        let has = |word: &str| lower.contains(word);
        match () {
            () if has("regedit4") || has("windows registry editor") => Some(Self::Registry),
            () if has("[protman]") || has("[protocol manager]") => Some(Self::ProtocolIni),
            () if has("[tcpglobal]") => Some(Self::TcpUtilsIni),
            () if has("[386enh]") || has("[mstcp]") || has("preferredredir") => {
                Some(Self::SystemIni)
            }
            () if has("net.ipv4.") => Some(Self::Sysctl),
            () if has("[global]") => Some(Self::SmbConf),
            () if has("sizworkbuf") => Some(Self::NetworkIni),
            () => None,
        }
    }
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Neither its name nor its contents are known.
    #[error(
        "{0}: coax reads no file of this kind. It reads PROTOCOL.INI, SYSTEM.INI, NETWORK.INI, TCPUTILS.INI, a .reg export, smb.conf, \
         sysctl.conf. Give it the name it has on the machine"
    )]
    Unknown(String),
    /// It is too long.
    #[error("{0}: a file of {1} bytes is not a configuration file; the limit is {LARGEST} bytes")]
    TooLong(String, usize),
    /// No line of it sets anything.
    #[error("{0}: no line has the form KEY = VALUE")]
    Empty(String),
}

/// A line that sets something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The section, in lower case; for the registry the key.
    pub(crate) section: String,
    /// In lower case, for comparison.
    pub(crate) key: String,
    /// As written.
    pub(crate) shown_key: String,
    pub(crate) value: String,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, for messages.
    pub name: String,
    /// Its format.
    pub kind: Kind,
    pub(crate) entries: Vec<Entry>,
    /// Its lines without line feeds.
    pub(crate) lines: Vec<String>,
    pub(crate) encoding: Encoding,
    /// Its lines end as those of DOS.
    pub(crate) has_carriage_returns: bool,
    /// Its last line has no end.
    pub(crate) ends_open: bool,
}

/// How its characters are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Latin1,
    Utf16,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl File {
    /// The lines that are headings: their numbers, from 1, and the sections in lower case.
    pub(crate) fn headings(&self) -> impl Iterator<Item = (usize, String)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(place, line)| {
            Some((
                place.saturating_add(1),
                heading(line.trim())?.to_lowercase(),
            ))
        })
    }

    /// Reads a file. Bytes beyond ASCII are taken as Latin-1, a byte order mark says UTF-16.
    ///
    /// # Errors
    /// The file is not one of the known ones, or sets nothing.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > LARGEST {
            return Err(Unreadable::TooLong(name.into(), bytes.len()));
        }
        let (text, encoding) = text_of(bytes);
        let kind = Kind::of(name, &text).ok_or_else(|| Unreadable::Unknown(name.into()))?;
        let lines: Vec<String> = text.split_terminator('\n').map(str::to_owned).collect();
        let empty = Self {
            name: name.into(),
            kind,
            entries: Vec::new(),
            has_carriage_returns: lines.first().is_some_and(|line| line.ends_with('\r')),
            ends_open: !text.ends_with('\n'),
            encoding,
            lines: Vec::new(),
        };
        let file = empty.with_lines(lines);
        match file.entries.is_empty() {
            true => Err(Unreadable::Empty(name.into())),
            false => Ok(file),
        }
    }

    /// The same file with other lines.
    pub(crate) fn with_lines(&self, lines: Vec<String>) -> Self {
        let mut entries = Vec::new();
        let mut section = String::new();
        for (line, raw) in joined(&lines, self.kind) {
            if let Some(inner) = heading(raw.trim()) {
                section = inner.to_lowercase();
            } else if let Some((key, value)) = assignment(raw.trim(), self.kind) {
                entries.extend(split(line, &section, &key, &value, self.kind));
            }
        }
        Self {
            entries,
            lines,
            name: self.name.clone(),
            ..*self
        }
    }
}

fn text_of(bytes: &[u8]) -> (String, Encoding) {
    let utf16 = |of: fn([u8; 2]) -> u16| {
        let pairs = bytes.get(2..).unwrap_or_default().as_chunks::<2>().0;
        let units: Vec<u16> = pairs.iter().map(|pair| of(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => (utf16(u16::from_le_bytes), Encoding::Utf16),
        [0xfe, 0xff, ..] => (utf16(u16::from_be_bytes), Encoding::Utf16),
        [0xef, 0xbb, 0xbf, rest @ ..] => {
            (String::from_utf8_lossy(rest).into_owned(), Encoding::Utf8)
        }
        _ => match str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), Encoding::Utf8),
            Err(_) => (
                bytes.iter().copied().map(char::from).collect(),
                Encoding::Latin1,
            ),
        },
    }
}

/// Lines with their numbers. A backslash at the end of a line joins the next one in smb.conf and in the registry.
fn joined(all: &[String], kind: Kind) -> Vec<(usize, String)> {
    let joins = matches!(kind, Kind::SmbConf | Kind::Registry);
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in all.iter().enumerate() {
        let line = line.trim_end_matches(['\r', '\u{1a}']);
        let ends_open = joins && line.ends_with('\\') && !line.trim_start().starts_with('[');
        let part = if ends_open {
            line.trim_end_matches('\\')
        } else {
            line
        };
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, whole)) => whole.push_str(part.trim_start()),
            None => lines.push((number.saturating_add(1), part.to_owned())),
        }
        goes_on = ends_open;
    }
    lines
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix('[')?
        .rsplit_once(']')
        .map(|(inner, _)| inner)
}

fn assignment(line: &str, kind: Kind) -> Option<(String, String)> {
    if line.starts_with([';', '#']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    let unquoted = |text: &str| text.trim().trim_matches('"').to_owned();
    let value = match kind {
        Kind::Registry => registry_value(value.trim()),
        Kind::ProtocolIni | Kind::SystemIni | Kind::NetworkIni | Kind::TcpUtilsIni => {
            unquoted(value.split(';').next().unwrap_or_default())
        }
        Kind::SmbConf | Kind::Sysctl => unquoted(value),
    };
    Some((unquoted(key), value))
}

/// `dword:000043e0` as a decimal number, strings without quotes.
fn registry_value(text: &str) -> String {
    if let Some(hex) = text.strip_prefix("dword:") {
        return u32::from_str_radix(hex.trim(), 16)
            .map_or_else(|_| text.to_owned(), |n| n.to_string());
    }
    text.trim_matches('"').to_owned()
}

/// One entry, or one for each option of `socket options`.
fn split(line: usize, section: &str, key: &str, value: &str, kind: Kind) -> Vec<Entry> {
    let entry = |shown_key: String, value: String| Entry {
        line,
        section: if kind == Kind::Sysctl {
            String::new()
        } else {
            section.to_owned()
        },
        key: normal(&shown_key, kind),
        shown_key,
        value,
    };
    if kind != Kind::SmbConf || normal(key, kind) != "socket options" {
        return vec![entry(key.to_owned(), value.to_owned())];
    }
    let options = value
        .split([' ', ',', '\t'])
        .filter(|word| !word.is_empty());
    options
        .map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, "1"));
            entry(format!("socket options: {name}"), value.to_owned())
        })
        .collect()
}

/// Lower case, and in smb.conf one blank between words.
fn normal(key: &str, kind: Kind) -> String {
    let lower = key.trim().to_lowercase();
    match kind {
        Kind::SmbConf => lower.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => lower,
    }
}
