//! TRANSACTION (0x25), TRANSACTION2 (0x32), NT_TRANSACT (0xA0) and their secondaries (0x26, 0x33, 0xA1): [MS-CIFS]
//! 2.2.4.33, 2.2.4.34, 2.2.4.46, 2.2.4.47, 2.2.4.62, 2.2.4.63.
//!
//! Three commands have the same contents: parameters and data, each possibly in several pieces with displacements. They
//! differ in the width of counts, and in where the function is: in a path, the first setup word, or a separate word.

use crate::{
    block::{Block, BlockWriter, WireStr},
    command,
    error::{Error, Result},
    io::{Reader, Writer},
};

/// Bits of the request's flags ([MS-CIFS] 2.2.4.33.1).
pub mod flags {
    /// The tree is to be disconnected when the transaction is done.
    pub const DISCONNECT_TID: u16 = 0x0001;
    /// No reply is wanted.
    pub const NO_RESPONSE: u16 = 0x0002;
}

/// Parameters and data begin at multiples of this, counted from the header.
const ALIGNMENT: usize = 4;

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// TRANSACTION: named by a path.
    Transaction,
    /// TRANSACTION2: named by its first setup word.
    Transaction2,
    /// NT_TRANSACT: 32-bit counts, named by a function code.
    NtTransact,
}

impl Kind {
    /// The kind of a command code, primary or secondary.
    pub const fn of(code: u8) -> Option<Self> {
        match code {
            command::TRANSACTION | command::TRANSACTION_SECONDARY => Some(Self::Transaction),
            command::TRANSACTION2 | command::TRANSACTION2_SECONDARY => Some(Self::Transaction2),
            command::NT_TRANSACT | command::NT_TRANSACT_SECONDARY => Some(Self::NtTransact),
            _ => None,
        }
    }

    /// The code of the request and of all replies.
    pub const fn command(self) -> u8 {
        match self {
            Self::Transaction => command::TRANSACTION,
            Self::Transaction2 => command::TRANSACTION2,
            Self::NtTransact => command::NT_TRANSACT,
        }
    }

    /// The code of further pieces of a request.
    pub const fn secondary(self) -> u8 {
        self.command().wrapping_add(1)
    }

    /// Words before the setup words in a request.
    const fn request_words(self) -> usize {
        match self {
            Self::NtTransact => 19,
            _ => 14,
        }
    }

    /// Words before the setup words in a reply.
    const fn response_words(self) -> usize {
        match self {
            Self::NtTransact => 18,
            _ => 10,
        }
    }

    /// Takes a count: 32 bits in NT_TRANSACT, 16 in the others.
    fn count(self, words: &mut Reader<'_>, what: &'static str) -> Result<u32> {
        match self {
            Self::NtTransact => words.u32(what),
            _ => words.u16(what).map(u32::from),
        }
    }

    /// Writes a count. The caller must avoid counts that do not fit into 16 bits.
    fn put(self, words: &mut Writer, count: u32) {
        match self {
            Self::NtTransact => words.u32(count),
            _ => words.u16(count as u16),
        };
    }
}

/// A transaction's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Which of the three commands.
    pub kind: Kind,
    /// Parameter bytes of the whole transaction.
    pub total_parameters: u32,
    /// Data bytes of the whole transaction.
    pub total_data: u32,
    /// Parameter bytes the reply may have.
    pub max_parameters: u32,
    /// Data bytes the reply may have.
    pub max_data: u32,
    /// Setup words the reply may have.
    pub max_setup: u8,
    /// Flags ([`flags`]); 0 in NT_TRANSACT, which has none.
    pub flags: u16,
    /// The client's timeout, milliseconds; 0 means no wait, `0xFFFF_FFFF` for ever.
    pub timeout_ms: u32,
    /// NT_TRANSACT's function; TRANSACTION2's first setup word; 0 in TRANSACTION.
    pub function: u16,
    /// Setup words as bytes.
    pub setup: &'a [u8],
    /// TRANSACTION's name; empty in the others.
    pub name: WireStr<'a>,
    /// This message's parameter bytes, the transaction's first.
    pub parameters: &'a [u8],
    /// This message's data bytes, the transaction's first.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::WordCount`] if the setup words do not fit the word count; [`Error::Outside`] for
    /// parameters or data outside the message.
    pub fn parse(kind: Kind, block: &Block<'a>, unicode: bool) -> Result<Self> {
        match kind {
            Kind::NtTransact => Self::parse_nt(block, unicode),
            _ => Self::parse_16(kind, block, unicode),
        }
    }

    /// A request without a name in one message, with an immediate reply. `max` is the maximum number of parameter and
    /// data bytes of the reply.
    pub(super) const fn whole(
        kind: Kind,
        setup: &'a [u8],
        parameters: &'a [u8],
        data: &'a [u8],
        max: (u32, u32),
    ) -> Self {
        Self {
            kind,
            total_parameters: parameters.len() as u32,
            total_data: data.len() as u32,
            max_parameters: max.0,
            max_data: max.1,
            max_setup: 0,
            flags: 0,
            timeout_ms: 0,
            function: 0,
            setup,
            name: no_name(false),
            parameters,
            data,
        }
    }

    fn parse_16(kind: Kind, block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let total_parameters = u32::from(words.u16("total parameter count")?);
        let total_data = u32::from(words.u16("total data count")?);
        let max_parameters = u32::from(words.u16("max parameter count")?);
        let max_data = u32::from(words.u16("max data count")?);
        let max_setup = words.u8("max setup count")?;
        words.u8("reserved")?;
        let flags = words.u16("flags")?;
        let timeout_ms = words.u32("timeout")?;
        words.u16("reserved")?;
        let (parameters, data) = extents(kind, block, &mut words)?;
        let setup = setup(kind.request_words(), block, words.u8("setup count")?)?;
        let function = Reader::new(setup).u16("setup").unwrap_or(0);
        let is_named = kind == Kind::Transaction;
        Ok(Self {
            kind,
            total_parameters,
            total_data,
            max_parameters,
            max_data,
            max_setup,
            flags,
            timeout_ms,
            function: if is_named { 0 } else { function },
            setup,
            name: if is_named {
                block.strings(unicode).string()
            } else {
                no_name(unicode)
            },
            parameters,
            data,
        })
    }

    fn parse_nt(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let kind = Kind::NtTransact;
        let mut words = block.words();
        let max_setup = words.u8("max setup count")?;
        words.u16("reserved")?;
        let total_parameters = words.u32("total parameter count")?;
        let total_data = words.u32("total data count")?;
        let max_parameters = words.u32("max parameter count")?;
        let max_data = words.u32("max data count")?;
        let (parameters, data) = extents(kind, block, &mut words)?;
        let setup_count = words.u8("setup count")?;
        let function = words.u16("function")?;
        Ok(Self {
            kind,
            total_parameters,
            total_data,
            max_parameters,
            max_data,
            max_setup,
            flags: 0,
            timeout_ms: 0,
            function,
            setup: setup(kind.request_words(), block, setup_count)?,
            name: no_name(unicode),
            parameters,
            data,
        })
    }

    /// Appends the message's block. `function` is written in NT_TRANSACT only; in TRANSACTION2 it is `setup`'s first
    /// word. The encoded name is written in TRANSACTION only.
    pub fn emit(&self, out: &mut Writer) {
        let kind = self.kind;
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        if kind == Kind::NtTransact {
            words.u8(self.max_setup).u16(0);
        }
        for count in [
            self.total_parameters,
            self.total_data,
            self.max_parameters,
            self.max_data,
        ] {
            kind.put(words, count);
        }
        if kind != Kind::NtTransact {
            words.u8(self.max_setup).u8(0).u16(self.flags);
            words.u32(self.timeout_ms).u16(0);
        }
        let counts_at = words.len();
        words.zeros(if kind == Kind::NtTransact { 16 } else { 8 });
        words.u8((self.setup.len() / 2) as u8);
        if kind == Kind::NtTransact {
            words.u16(self.function).bytes(self.setup);
        } else {
            words.u8(0).bytes(self.setup);
        }
        let bytes = block.bytes();
        self.put_name(bytes);
        let places = put_both(bytes, self.parameters, self.data);
        patch_request_counts(kind, bytes, counts_at, self.parameters, self.data, places);
        block.finish(0);
    }

    fn put_name(&self, bytes: &mut Writer) {
        match self.kind {
            Kind::Transaction if self.name.unicode => {
                crate::block::put_unicode(bytes, self.name.raw);
            }
            Kind::Transaction => crate::block::put_oem(bytes, self.name.raw),
            // The nameless field that TRANSACTION2 inherited: Windows sends a zero byte.
            Kind::Transaction2 => {
                bytes.u8(0);
            }
            Kind::NtTransact => {}
        }
    }
}

/// A further piece of a transaction's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secondary<'a> {
    /// Which of the three commands.
    pub kind: Kind,
    /// Parameter bytes of the whole transaction; may be fewer than in the first message.
    pub total_parameters: u32,
    /// Data bytes of the whole transaction; may be fewer than in the first message.
    pub total_data: u32,
    /// This message's parameter bytes.
    pub parameters: &'a [u8],
    /// Their displacement, bytes.
    pub parameter_displacement: u32,
    /// This message's data bytes.
    pub data: &'a [u8],
    /// Their displacement, bytes.
    pub data_displacement: u32,
}

impl<'a> Secondary<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] for parameters or data that are not in the message.
    pub fn parse(kind: Kind, block: &Block<'a>) -> Result<Self> {
        let mut words = block.words();
        if kind == Kind::NtTransact {
            words.take(3, "reserved")?;
        }
        let total_parameters = kind.count(&mut words, "total parameter count")?;
        let total_data = kind.count(&mut words, "total data count")?;
        let pieces = Pieces::parse(kind, block, &mut words)?;
        Ok(Self {
            kind,
            total_parameters,
            total_data,
            parameters: pieces.parameters,
            parameter_displacement: pieces.parameter_displacement,
            data: pieces.data,
            data_displacement: pieces.data_displacement,
        })
    }

    /// Appends the message's block.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        if self.kind == Kind::NtTransact {
            words.zeros(3);
        }
        self.kind.put(words, self.total_parameters);
        self.kind.put(words, self.total_data);
        let counts_at = words.len();
        words.zeros(if self.kind == Kind::NtTransact {
            24
        } else {
            12
        });
        match self.kind {
            Kind::Transaction => {}
            Kind::Transaction2 => {
                words.u16(0xffff); // FID, of no use ([MS-CIFS] 2.2.4.47.1)
            }
            Kind::NtTransact => {
                words.u8(0);
            }
        }
        let parameters = (self.parameters, self.parameter_displacement);
        let data = (self.data, self.data_displacement);
        put_pieces(self.kind, block.bytes(), counts_at, parameters, data);
        block.finish(0);
    }
}

/// One message of a transaction's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Which of the three commands.
    pub kind: Kind,
    /// Parameter bytes of the whole reply.
    pub total_parameters: u32,
    /// Data bytes of the whole reply.
    pub total_data: u32,
    /// Setup words as bytes.
    pub setup: &'a [u8],
    /// This message's parameter bytes.
    pub parameters: &'a [u8],
    /// Their displacement, bytes.
    pub parameter_displacement: u32,
    /// This message's data bytes.
    pub data: &'a [u8],
    /// Their displacement, bytes.
    pub data_displacement: u32,
}

impl<'a> Response<'a> {
    /// Decodes. `None` for interim and error replies, which have no words.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::WordCount`], [`Error::Outside`].
    pub fn parse(kind: Kind, block: &Block<'a>) -> Result<Option<Self>> {
        if block.words.is_empty() {
            return Ok(None);
        }
        let mut words = block.words();
        if kind == Kind::NtTransact {
            words.take(3, "reserved")?;
        }
        let total_parameters = kind.count(&mut words, "total parameter count")?;
        let total_data = kind.count(&mut words, "total data count")?;
        if kind != Kind::NtTransact {
            words.u16("reserved")?;
        }
        let pieces = Pieces::parse(kind, block, &mut words)?;
        Ok(Some(Self {
            kind,
            total_parameters,
            total_data,
            setup: setup(kind.response_words(), block, words.u8("setup count")?)?,
            parameters: pieces.parameters,
            parameter_displacement: pieces.parameter_displacement,
            data: pieces.data,
            data_displacement: pieces.data_displacement,
        }))
    }

    /// Appends the message's block.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        if self.kind == Kind::NtTransact {
            words.zeros(3);
        }
        self.kind.put(words, self.total_parameters);
        self.kind.put(words, self.total_data);
        if self.kind != Kind::NtTransact {
            words.u16(0);
        }
        let counts_at = words.len();
        words.zeros(if self.kind == Kind::NtTransact {
            24
        } else {
            12
        });
        words.u8((self.setup.len() / 2) as u8);
        if self.kind != Kind::NtTransact {
            words.u8(0);
        }
        words.bytes(self.setup);
        let parameters = (self.parameters, self.parameter_displacement);
        let data = (self.data, self.data_displacement);
        put_pieces(self.kind, block.bytes(), counts_at, parameters, data);
        block.finish(0);
    }

    /// How many parameter and data bytes fit into a message of `max_message` bytes with `before` bytes before the block
    /// and `setup` setup words: parameters first, then data.
    pub fn fit(
        kind: Kind,
        before: usize,
        setup: usize,
        max_message: usize,
        parameters: usize,
        data: usize,
    ) -> (usize, usize) {
        let fixed = 1 + 2 * kind.response_words() + 2 * setup + 2;
        let start = before.saturating_add(fixed).next_multiple_of(ALIGNMENT);
        let parameters = parameters.min(max_message.saturating_sub(start));
        let data_at = start.saturating_add(parameters).next_multiple_of(ALIGNMENT);
        (parameters, data.min(max_message.saturating_sub(data_at)))
    }
}

/// Count, offset and displacement of both halves, as secondaries and replies have them.
struct Pieces<'a> {
    parameters: &'a [u8],
    parameter_displacement: u32,
    data: &'a [u8],
    data_displacement: u32,
}

impl<'a> Pieces<'a> {
    fn parse(kind: Kind, block: &Block<'a>, words: &mut Reader<'_>) -> Result<Self> {
        let (parameters, parameter_displacement) = piece(kind, block, words, "parameters")?;
        let (data, data_displacement) = piece(kind, block, words, "data")?;
        Ok(Self {
            parameters,
            parameter_displacement,
            data,
            data_displacement,
        })
    }
}

fn piece<'a>(
    kind: Kind,
    block: &Block<'a>,
    words: &mut Reader<'_>,
    what: &'static str,
) -> Result<(&'a [u8], u32)> {
    let found = extent(kind, block, words, what)?;
    Ok((found, kind.count(words, "displacement")?))
}

/// Parameters and data of a request at their counts and offsets.
fn extents<'a>(
    kind: Kind,
    block: &Block<'a>,
    words: &mut Reader<'_>,
) -> Result<(&'a [u8], &'a [u8])> {
    let parameters = extent(kind, block, words, "parameters")?;
    Ok((parameters, extent(kind, block, words, "data")?))
}

fn extent<'a>(
    kind: Kind,
    block: &Block<'a>,
    words: &mut Reader<'_>,
    what: &'static str,
) -> Result<&'a [u8]> {
    let count = kind.count(words, "count")?;
    let offset = kind.count(words, "offset")?;
    let outside = Error::Outside { what };
    let len = usize::try_from(count).map_err(|_| outside)?;
    let offset = usize::try_from(offset).map_err(|_| outside)?;
    block.slice(offset, len, what)
}

fn setup<'a>(before: usize, block: &Block<'a>, count: u8) -> Result<&'a [u8]> {
    let from = before.saturating_mul(2);
    let to = from.saturating_add(usize::from(count) * 2);
    block.words.get(from..to).ok_or(Error::WordCount {
        what: "transaction",
        found: block.word_count(),
    })
}

const fn no_name<'a>(unicode: bool) -> WireStr<'a> {
    WireStr { raw: &[], unicode }
}

/// Appends both parts, each aligned, and returns their offsets.
fn put_both(bytes: &mut Writer, parameters: &[u8], data: &[u8]) -> (usize, usize) {
    let parameters_at = bytes.align(ALIGNMENT).len();
    bytes.bytes(parameters);
    if data.is_empty() {
        return (parameters_at, bytes.len());
    }
    let data_at = bytes.align(ALIGNMENT).len();
    bytes.bytes(data);
    (parameters_at, data_at)
}

fn patch_request_counts(
    kind: Kind,
    bytes: &mut Writer,
    at: usize,
    parameters: &[u8],
    data: &[u8],
    places: (usize, usize),
) {
    let values = [parameters.len(), places.0, data.len(), places.1];
    patch_counts(kind, bytes, at, &values);
}

/// Appends parameters and data, and writes their counts, offsets and displacements into the words at `at`.
fn put_pieces(
    kind: Kind,
    bytes: &mut Writer,
    at: usize,
    (parameters, parameter_displacement): (&[u8], u32),
    (data, data_displacement): (&[u8], u32),
) {
    let (parameters_at, data_at) = put_both(bytes, parameters, data);
    let values = [
        parameters.len(),
        parameters_at,
        parameter_displacement as usize,
        data.len(),
        data_at,
        data_displacement as usize,
    ];
    patch_counts(kind, bytes, at, &values);
}

fn patch_counts(kind: Kind, bytes: &mut Writer, at: usize, values: &[usize]) {
    let width = if kind == Kind::NtTransact { 4 } else { 2 };
    for (i, value) in values.iter().enumerate() {
        let place = at.saturating_add(i.saturating_mul(width));
        match kind {
            Kind::NtTransact => bytes.patch_u32(place, *value as u32),
            _ => bytes.patch_u16(place, *value as u16),
        }
    }
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
