//! One line of a table: a field, its type, and when it exists.

/// A line of a table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {text:?}: {reason}")]
pub(crate) struct TableError {
    pub(crate) file: &'static str,
    pub(crate) line: usize,
    pub(crate) text: &'static str,
    pub(crate) reason: &'static str,
}

/// Calls `row` with each line of a table that is neither empty nor a comment, and with whether the line is indented.
pub(crate) fn each_line(
    file: &'static str,
    text: &'static str,
    mut row: impl FnMut(&'static str, bool) -> Result<(), &'static str>,
) -> Result<(), TableError> {
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let indented = line.strip_prefix("  ");
        row(indented.unwrap_or(line), indented.is_some()).map_err(|reason| TableError {
            file,
            line: index + 1,
            text: line,
            reason,
        })?;
    }
    Ok(())
}

/// When a field exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    /// From this many words on.
    Words(u8),
    /// If the search asked for resume keys.
    ResumeKeys,
    /// If a field before has (or has not) this bit.
    Bit {
        field: &'static str,
        mask: u64,
        set: bool,
    },
}

/// The type of a field. `layouts/smb.txt` explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unsigned(usize),
    Signed(usize),
    /// With the list that names its bits or values.
    Hex(usize, Option<&'static str>),
    /// In network order.
    Big(usize),
    BigHex(usize, Option<&'static str>),
    Mac,
    /// 15 characters of a NetBIOS name and its suffix.
    NetbiosName,
    /// A string in that many bytes.
    Label(usize),
    Utime,
    Date,
    Time,
    FileTime,
    Millis,
    Fid,
    Tid,
    Sid,
    Zero(usize),
    Any(usize),
    AndX,
    /// An information level of this family.
    Level(&'static str),
    NextEntry,
    Path,
    Formatted,
    Hidden,
    Text,
    Oem,
    Negotiated,
    Block,
    Key,
    Entries,
    Dialects,
    Data(&'static str),
    Secret(&'static str),
    At {
        offset: &'static str,
        len: &'static str,
        high: Option<&'static str>,
    },
    Rest,
    Counted(&'static str),
    Utf16(&'static str),
    Named(&'static str),
    Ranges(&'static str),
    Setup(&'static str),
}

/// A field of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) condition: Condition,
}

impl Item {
    /// Reads `[?N] Name [if FIELD MASK | unless FIELD MASK] type [arguments]`.
    pub(crate) fn parse(line: &'static str) -> Result<Self, &'static str> {
        let mut words = line.split_whitespace().peekable();
        let mut condition = Condition::Always;
        if let Some(mark) = words.next_if(|word| word.starts_with('?')) {
            condition = match mark.trim_start_matches('?') {
                "key" => Condition::ResumeKeys,
                count => Condition::Words(count.parse().map_err(|_| "no number of words")?),
            };
        }
        let name = words.next().ok_or("no name")?;
        if let Some(word) = words.next_if(|word| ["if", "unless"].contains(word)) {
            let field = words.next().ok_or("no field")?;
            let mask = words.next().and_then(hex).ok_or("no mask")?;
            let set = word == "if";
            condition = Condition::Bit { field, mask, set };
        }
        let kind = Kind::parse(words)?;
        Ok(Self {
            name,
            kind,
            condition,
        })
    }
}

/// A number in hexadecimal.
pub(super) fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

impl Kind {
    fn parse(mut words: impl Iterator<Item = &'static str>) -> Result<Self, &'static str> {
        let name = words.next().ok_or("no type")?;
        let arguments: Vec<&'static str> = words.collect();
        match arguments.as_slice() {
            [] => Self::plain(name),
            [one] => Self::of_one(name, one),
            [offset, len] if name == "at" => Ok(Self::at(offset, len, None)),
            [offset, len, high] if name == "at" => Ok(Self::at(offset, len, Some(high))),
            _ => Err("too many arguments"),
        }
    }

    const fn at(offset: &'static str, len: &'static str, high: Option<&'static str>) -> Self {
        Self::At { offset, len, high }
    }

    fn plain(name: &str) -> Result<Self, &'static str> {
        Ok(match name {
            "u8" => Self::Unsigned(1),
            "u16" => Self::Unsigned(2),
            "u32" => Self::Unsigned(4),
            "u64" => Self::Unsigned(8),
            "i16" => Self::Signed(2),
            "i32" => Self::Signed(4),
            "b16" => Self::Big(2),
            "b32" => Self::Big(4),
            "mac" => Self::Mac,
            "nbname" => Self::NetbiosName,
            "utime" => Self::Utime,
            "date" => Self::Date,
            "time" => Self::Time,
            "filetime" => Self::FileTime,
            "ms" => Self::Millis,
            "fid" => Self::Fid,
            "tid" => Self::Tid,
            "sid" => Self::Sid,
            "andx" => Self::AndX,
            "next" => Self::NextEntry,
            "path" => Self::Path,
            "formatted" => Self::Formatted,
            "hidden" => Self::Hidden,
            "string" => Self::Text,
            "oem" => Self::Oem,
            "negotiated" => Self::Negotiated,
            "block" => Self::Block,
            "key" => Self::Key,
            "entries" => Self::Entries,
            "dialects" => Self::Dialects,
            "rest" => Self::Rest,
            _ => return Self::hex(name, None),
        })
    }

    fn hex(name: &str, names: Option<&'static str>) -> Result<Self, &'static str> {
        match name {
            "x8" => Ok(Self::Hex(1, names)),
            "x16" => Ok(Self::Hex(2, names)),
            "x32" => Ok(Self::Hex(4, names)),
            "x64" => Ok(Self::Hex(8, names)),
            "xb16" => Ok(Self::BigHex(2, names)),
            "xb32" => Ok(Self::BigHex(4, names)),
            _ => Err("no such type"),
        }
    }

    fn of_one(name: &str, argument: &'static str) -> Result<Self, &'static str> {
        let count = || argument.parse().map_err(|_| "no number of bytes");
        Ok(match name {
            "zero" => Self::Zero(count()?),
            "any" => Self::Any(count()?),
            "label" => Self::Label(count()?),
            "level" => Self::Level(argument),
            "data" => Self::Data(argument),
            "secret" => Self::Secret(argument),
            "counted" => Self::Counted(argument),
            "utf16" => Self::Utf16(argument),
            "named" => Self::Named(argument),
            "ranges" => Self::Ranges(argument),
            "setup" => Self::Setup(argument),
            _ => return Self::hex(name, Some(argument)),
        })
    }

    /// Bytes of a field whose size does not depend on the message.
    pub(crate) const fn fixed_len(self) -> Option<usize> {
        Some(match self {
            Self::Unsigned(n) | Self::Signed(n) | Self::Hex(n, _) => n,
            Self::Big(n) | Self::BigHex(n, _) => n,
            Self::Zero(n) | Self::Any(n) | Self::Label(n) => n,
            Self::Mac => 6,
            Self::NetbiosName => 16,
            Self::Utime | Self::Millis | Self::AndX | Self::NextEntry => 4,
            Self::Date | Self::Time | Self::Fid | Self::Tid | Self::Sid | Self::Level(_) => 2,
            Self::FileTime => 8,
            _ => return None,
        })
    }

    /// Fields that this type refers to.
    #[cfg(test)]
    pub(crate) fn refers_to(self) -> Vec<&'static str> {
        match self {
            Self::Data(field)
            | Self::Secret(field)
            | Self::Counted(field)
            | Self::Utf16(field)
            | Self::Named(field)
            | Self::Ranges(field)
            | Self::Setup(field) => vec![field],
            Self::At { offset, len, high } => [Some(offset), Some(len), high]
                .into_iter()
                .flatten()
                .collect(),
            _ => Vec::new(),
        }
    }
}
