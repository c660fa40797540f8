//! Parameter words and data bytes of a message, and the strings in them ([MS-CIFS] 2.2.3.2, 2.2.3.3).
//!
//! A message contains one block, or several chained by AndX. [`Block`] decodes any input: counts beyond the message are
//! limited to its length, and [`Block::declared_bytes`] keeps the declared count.

use crate::{
    command,
    error::{Error, Result},
    header::HEADER_LEN,
    io::{Reader, Writer},
};

/// The AndX command code that ends a chain.
pub const NO_ANDX: u8 = 0xff;
/// Commands of an AndX chain that [`each_in_chain`] visits. No client sends more.
pub const MAX_CHAIN: usize = 8;

/// One command's words and bytes within a message.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The whole message from the header's first byte: offsets in words count from here.
    pub message: &'a [u8],
    /// Parameter words as bytes (an even number).
    pub words: &'a [u8],
    /// Data bytes that the message contains.
    pub bytes: &'a [u8],
    /// Offset of `bytes` in the message.
    pub bytes_offset: usize,
    /// The byte count as the message gives it; `bytes` may be shorter in a truncated or malformed message.
    pub declared_bytes: u16,
}

impl<'a> Block<'a> {
    /// The first block of a message.
    ///
    /// # Errors
    /// [`Error::Short`] if the word count, the words or the byte count are missing.
    pub fn first(message: &'a [u8]) -> Result<Self> {
        Self::at(message, HEADER_LEN)
    }

    /// The block at `offset` from the header's first byte.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Outside`].
    pub fn at(message: &'a [u8], offset: usize) -> Result<Self> {
        let mut r = Reader::at(message, offset, "AndX offset")?;
        let word_count = r.u8("word count")?;
        let words = r.take(usize::from(word_count) * 2, "words")?;
        let declared_bytes = r.u16("byte count")?;
        let bytes_offset = r.position();
        let bytes = r.take_up_to(usize::from(declared_bytes));
        Ok(Self {
            message,
            words,
            bytes,
            bytes_offset,
            declared_bytes,
        })
    }

    /// The word count.
    pub fn word_count(&self) -> u8 {
        (self.words.len() / 2) as u8
    }

    /// A reader of the words.
    pub fn words(&self) -> Reader<'a> {
        Reader::new(self.words)
    }

    /// Word `index`.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn word(&self, index: usize) -> Result<u16> {
        let mut r = Reader::at(self.words, index.saturating_mul(2), "words")?;
        r.u16("words")
    }

    /// The next command of an AndX chain and its offset, if this command's block begins with an AndX head and names one.
    pub fn andx(&self) -> Option<(u8, usize)> {
        let mut r = self.words();
        let command = r.u8("AndX command").ok()?;
        r.u8("AndX reserved").ok()?;
        let offset = r.u16("AndX offset").ok()?;
        (command != NO_ANDX).then_some((command, usize::from(offset)))
    }

    /// Bytes at `offset` from the header, as words like `DataOffset` give it. Empty data may lie anywhere.
    ///
    /// # Errors
    /// [`Error::Outside`] naming `what`.
    pub fn slice(&self, offset: usize, len: usize, what: &'static str) -> Result<&'a [u8]> {
        if len == 0 {
            return Ok(&[]);
        }
        let end = offset.checked_add(len).ok_or(Error::Outside { what })?;
        self.message.get(offset..end).ok_or(Error::Outside { what })
    }

    /// The place of `len` bytes at `offset` from the header, checked as [`Self::slice`] checks it.
    ///
    /// # Errors
    /// [`Error::Outside`] naming `what`.
    pub fn range(
        &self,
        offset: usize,
        len: usize,
        what: &'static str,
    ) -> Result<core::ops::Range<usize>> {
        if len == 0 {
            return Ok(0..0);
        }
        self.slice(offset, len, what)?;
        Ok(offset..offset.saturating_add(len))
    }

    /// A cursor over the strings and buffers in the data bytes.
    pub fn strings(&self, unicode: bool) -> Strings<'a> {
        let end = self.bytes_offset.saturating_add(self.bytes.len());
        let upto = self.message.get(..end).unwrap_or(self.message);
        Strings {
            reader: Reader::at(upto, self.bytes_offset, "bytes").unwrap_or(Reader::new(&[])),
            unicode,
        }
    }
}

/// A string from the wire, not decoded: its bytes and its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireStr<'a> {
    /// The bytes without the terminating zero.
    pub raw: &'a [u8],
    /// UTF-16LE; otherwise the client's OEM code page.
    pub unicode: bool,
}

impl WireStr<'_> {
    /// Whether the string is empty.
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Appends the string with its terminator, in its own encoding; UTF-16LE is aligned first.
    pub fn emit(&self, out: &mut Writer) {
        if self.unicode {
            put_unicode(out, self.raw);
        } else {
            put_oem(out, self.raw);
        }
    }

    /// Appends the buffer-format byte 4 and the string, the form of paths in core commands ([MS-CIFS] 2.2.3.3).
    /// UTF-16LE is aligned after that byte.
    pub fn emit_formatted(&self, out: &mut Writer) {
        self.emit(out.u8(FORMAT_STRING));
    }
}

/// The buffer-format byte of a zero-terminated string ([MS-CIFS] 2.2.3.3).
pub const FORMAT_STRING: u8 = 4;

/// Reads strings from data bytes: UTF-16LE ones aligned to two bytes from the header's start.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    reader: Reader<'a>,
    unicode: bool,
}

impl<'a> Strings<'a> {
    /// A cursor over the data that starts `offset` bytes into `bytes`; UTF-16LE strings are aligned relative to
    /// `bytes`. It is empty if `offset` is past the end.
    pub fn of(bytes: &'a [u8], offset: usize, unicode: bool) -> Self {
        Self {
            reader: Reader::at(bytes, offset, "string").unwrap_or(Reader::new(&[])),
            unicode,
        }
    }

    /// Takes a buffer-format byte (1 data block, 2 dialect, 3 path, 4 string, 5 variable block).
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] if another byte is found.
    pub fn format(&mut self, expected: u8) -> Result<()> {
        if self.reader.u8("buffer format")? != expected {
            return Err(Error::Value {
                what: "buffer format",
            });
        }
        Ok(())
    }

    /// Takes the buffer-format byte before a second name. A zero byte before it is padding: libogc (Wii) and libdsm (VLC)
    /// align that byte instead of the UTF-16 name that follows it, and Samba accepts what they send.
    ///
    /// # Errors
    /// As [`Self::format`].
    pub fn second_format(&mut self, expected: u8) -> Result<()> {
        if self.reader.rest().starts_with(&[0, expected]) {
            self.reader.take_up_to(1);
        }
        self.format(expected)
    }

    /// Takes a buffer-format byte if the next byte is that one: replies of real servers lack some.
    pub fn maybe_format(&mut self, expected: u8) {
        if self.reader.rest().first() == Some(&expected) {
            self.reader.take_up_to(1);
        }
    }

    /// The same before a second name, with the padding byte that [`Self::second_format`] skips.
    pub fn maybe_second_format(&mut self, expected: u8) {
        let skipped = match self.reader.rest() {
            [0, next, ..] if *next == expected => 2,
            [next, ..] if *next == expected => 1,
            _ => 0,
        };
        self.reader.take_up_to(skipped);
    }

    /// Takes a zero-terminated string in the message's encoding. A missing terminator at the end of the bytes is
    /// forgiven, as real servers do.
    pub fn string(&mut self) -> WireStr<'a> {
        if self.unicode {
            self.unicode_string()
        } else {
            self.oem_string()
        }
    }

    /// Reads a zero-terminated OEM string, regardless of the message's encoding.
    pub fn oem_string(&mut self) -> WireStr<'a> {
        let rest = self.reader.rest();
        let len = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
        let raw = self.reader.take_up_to(len);
        self.reader.take_up_to(1);
        WireStr {
            raw,
            unicode: false,
        }
    }

    /// Reads a zero-terminated string in the message's encoding that some clients do not align in UTF-16LE: ps2sdk's
    /// smbman pads it to an odd offset, libdsm puts it directly after a token of any length. If alignment would split
    /// the characters of Latin text, the string is read without alignment.
    pub fn misaligned_string(&mut self) -> WireStr<'a> {
        if !self.unicode {
            return self.oem_string();
        }
        let rest = self.reader.rest();
        let is_odd = self.reader.position() % 2 == 1;
        match (is_odd, latin_at(rest, 0), latin_at(rest, 1)) {
            (true, true, false) => self.utf16_here(),
            (false, false, true) if rest.first() == Some(&0) => {
                self.reader.take_up_to(1);
                self.utf16_here()
            }
            _ => self.unicode_string(),
        }
    }

    /// Aligns, then reads a zero-terminated UTF-16LE string, regardless of the message's encoding.
    pub fn unicode_string(&mut self) -> WireStr<'a> {
        self.reader.align(2);
        self.utf16_here()
    }

    fn utf16_here(&mut self) -> WireStr<'a> {
        let rest = self.reader.rest();
        let whole = rest.len() & !1;
        let len = rest
            .chunks_exact(2)
            .position(|c| c == [0, 0])
            .map_or(whole, |units| units * 2);
        let raw = self.reader.take_up_to(len);
        self.reader.take_up_to(2);
        WireStr { raw, unicode: true }
    }

    /// Takes a string of `len` bytes in the message's encoding (aligned if UTF-16LE), up to its first zero.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn counted(&mut self, len: usize) -> Result<WireStr<'a>> {
        if self.unicode {
            self.reader.align(2);
        }
        let mut inner = Strings {
            reader: Reader::new(self.reader.take(len, "name")?),
            unicode: self.unicode,
        };
        Ok(inner.string())
    }

    /// Takes `n` plain bytes.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn bytes(&mut self, n: usize, what: &'static str) -> Result<&'a [u8]> {
        self.reader.take(n, what)
    }

    /// Takes a 16-bit number.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u16(&mut self, what: &'static str) -> Result<u16> {
        self.reader.u16(what)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    /// The remaining bytes, without consuming them.
    pub fn rest(&self) -> &'a [u8] {
        self.reader.rest()
    }
}

/// Whether two characters of ASCII text in UTF-16LE begin `at` bytes into `bytes`.
fn latin_at(bytes: &[u8], at: usize) -> bool {
    let is_text = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    matches!(bytes.get(at..), Some([a, 0, b, 0, ..]) if is_text(*a) && is_text(*b))
}

/// Writes one block: word count, words, byte count, bytes, with the counts patched when it ends.
#[derive(Debug)]
pub struct BlockWriter<'w> {
    out: &'w mut Writer,
    start: usize,
    bytes_at: Option<usize>,
}

impl<'w> BlockWriter<'w> {
    /// Begins a block at the writer's end.
    pub fn begin(out: &'w mut Writer) -> Self {
        let start = out.len();
        out.u8(0);
        Self {
            out,
            start,
            bytes_at: None,
        }
    }

    /// Begins a block with an AndX head that names no further command; the chain patches it.
    pub fn begin_andx(out: &'w mut Writer) -> Self {
        let block = Self::begin(out);
        block.out.bytes(&[NO_ANDX, 0, 0, 0]);
        block
    }

    /// The writer, while words are written.
    pub fn words(&mut self) -> &mut Writer {
        debug_assert!(
            self.bytes_at.is_none(),
            "words must be written before bytes"
        );
        self.out
    }

    /// Ends the words and returns the writer for the bytes.
    pub fn bytes(&mut self) -> &mut Writer {
        if self.bytes_at.is_none() {
            let words = (self.out.len() - self.start - 1) / 2;
            self.out.patch(self.start, &[words as u8]);
            self.out.u16(0);
            self.bytes_at = Some(self.out.len());
        }
        self.out
    }

    /// Ends the block. Its byte count includes `tail` further bytes that are sent separately; counts above 65,535 wrap,
    /// as in large reads ([MS-CIFS] 2.2.4.42.2).
    pub fn finish(mut self, tail: usize) {
        self.bytes();
        let at = self.bytes_at.unwrap_or(self.start);
        let count = self.out.len() - at + tail;
        self.out.patch_u16(at - 2, count as u16);
    }
}

/// Calls `each` with the commands of an AndX chain and their blocks. `command` is the first one, from the header. It
/// stops at the first malformed block.
pub fn each_in_chain<'a>(command: u8, message: &'a [u8], mut each: impl FnMut(u8, &Block<'a>)) {
    let mut at = (command, HEADER_LEN);
    for _ in 0..MAX_CHAIN {
        let Ok(block) = Block::at(message, at.1) else {
            return;
        };
        each(at.0, &block);
        match block.andx() {
            Some(next) if command::is_andx(at.0) && next.1 > at.1 => at = next,
            _ => return,
        }
    }
}

/// Appends a block without words and bytes, as requests that need neither have and most replies of the core protocol.
pub fn put_empty(out: &mut Writer) {
    BlockWriter::begin(out).finish(0);
}

/// Writes `command` as the next of an AndX chain into the block at `block_at`. The next block follows at the writer's
/// end, and the offset is set accordingly ([MS-CIFS] 2.2.3.4).
pub fn chain(out: &mut Writer, block_at: usize, command: u8) {
    let next = out.len() as u16;
    out.patch(block_at.saturating_add(1), &[command]);
    out.patch_u16(block_at.saturating_add(3), next);
}

/// Appends a zero-terminated OEM string (already encoded).
pub fn put_oem(out: &mut Writer, encoded: &[u8]) {
    out.bytes(encoded).u8(0);
}

/// Appends a zero-terminated UTF-16LE string (already encoded), aligned to two bytes from the writer's start.
pub fn put_unicode(out: &mut Writer, encoded: &[u8]) {
    out.align(2).bytes(encoded).u16(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn a_lying_byte_count_is_clipped_and_remembered() {
        let mut message = [0u8; 40];
        message[32] = 1;
        message[35..37].copy_from_slice(&900u16.to_le_bytes());
        let block = Block::first(&message).unwrap();
        assert_eq!(
            (block.word_count(), block.bytes.len(), block.declared_bytes),
            (1, 3, 900)
        );
        assert!(block.slice(38, 5, "data").is_err());
    }

    #[test]
    fn unicode_strings_align_to_the_header_not_to_the_bytes() {
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        let mut block = BlockWriter::begin(&mut out);
        let bytes = block.bytes();
        assert_eq!(bytes.len() % 2, 1);
        put_unicode(bytes, b"A\0");
        block.finish(0);
        let message = out.into_vec();
        let block = Block::first(&message).unwrap();
        assert_eq!(
            block.strings(true).string(),
            WireStr {
                raw: b"A\0",
                unicode: true
            }
        );
        assert_eq!(block.declared_bytes, 5);
    }
}
