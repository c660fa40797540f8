//! What decoding gives: fields in the order of the wire.

use std::fmt;

/// An identifier that the server chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// An open file.
    Fid,
    /// A connection to a share.
    Tid,
    /// A session.
    Uid,
    /// A search.
    Sid,
}

/// What a field contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The fields that follow with a greater depth.
    Group,
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Flags, a mask or a code, and its size in bytes.
    Hex(u64, usize),
    /// An identifier that the server chose.
    Id(Identifier, u16),
    /// A time, written out.
    Time(String),
    /// A name, a path, a dialect; control characters are escaped.
    Text(String),
    /// A station's address.
    Address(String),
    /// Bytes without a further meaning here.
    Bytes,
    /// Authentication data, which is not shown.
    Secret,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group | Self::Bytes => Ok(()),
            Self::Number(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Hex(number, size) => write!(f, "{number:#0width$x}", width = size * 2 + 2),
            Self::Id(_, id) => write!(f, "{id:#06x}"),
            Self::Time(text) | Self::Address(text) => f.write_str(text),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Secret => f.write_str("(withheld)"),
        }
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset in the bytes that were decoded.
    pub at: usize,
    /// Bytes.
    pub len: usize,
    /// How many groups it is in.
    pub depth: u8,
    /// Name in the specification.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// The value in words: names of bits, units.
    pub meaning: String,
    /// What is invalid.
    pub problem: Option<String>,
}

/// The fields of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// What it is, for example `OPEN_ANDX request`.
    pub title: String,
    /// Its fields. A group precedes its members.
    pub fields: Vec<Field>,
    /// There are more fields than are kept.
    pub is_cut: bool,
}

impl Decoded {
    /// The fields in which something is invalid.
    pub fn problems(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.problem.is_some())
    }

    /// The first field with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
