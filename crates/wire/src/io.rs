//! Reading and writing little-endian fields. A [`Reader`] never reads past its slice and names what ran short.

use crate::error::{Error, Result};
use alloc::vec::Vec;

/// A cursor over untrusted bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    buf: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of `buf`.
    pub const fn new(buf: &'a [u8]) -> Self {
        Self { buf, pos: 0 }
    }

    /// A reader of `buf` that begins at `pos` (which may be its end), for offsets that count from `buf`'s start.
    ///
    /// # Errors
    /// [`Error::Outside`] if `pos` is past the end.
    pub fn at(buf: &'a [u8], pos: usize, what: &'static str) -> Result<Self> {
        if pos > buf.len() {
            return Err(Error::Outside { what });
        }
        Ok(Self { buf, pos })
    }

    /// Offset of the next byte from the start of the reader's slice.
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// The remaining bytes, without consuming them.
    pub fn rest(&self) -> &'a [u8] {
        self.buf.get(self.pos..).unwrap_or(&[])
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.buf.len().saturating_sub(self.pos)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// Takes `n` bytes.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8]> {
        let end = self.pos.checked_add(n).ok_or(Error::Short { what })?;
        let taken = self.buf.get(self.pos..end).ok_or(Error::Short { what })?;
        self.pos = end;
        Ok(taken)
    }

    /// Reads at most `n` bytes, or all that remain.
    pub fn take_up_to(&mut self, n: usize) -> &'a [u8] {
        let n = n.min(self.remaining());
        self.take(n, "").unwrap_or(&[])
    }

    /// Takes a fixed array.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let taken = self.take(N, what)?;
        taken.try_into().map_err(|_| Error::Short { what })
    }

    /// Takes one byte.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    /// Takes a 16-bit little-endian number.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Takes a 32-bit little-endian number.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Takes a 64-bit little-endian number.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Skips to the next multiple of `to` counted from the beginning of the slice; stops at the end.
    pub fn align(&mut self, to: usize) {
        self.pos = self.pos.next_multiple_of(to.max(1)).min(self.buf.len());
    }
}

/// A growing message. Offsets count from its first byte.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    buf: Vec<u8>,
}

impl Writer {
    /// An empty writer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            buf: Vec::with_capacity(capacity),
        }
    }

    /// Bytes written so far, and so the offset of the next.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// The bytes written.
    pub fn as_slice(&self) -> &[u8] {
        &self.buf
    }

    /// The bytes written, for changes in place.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.buf
    }

    /// The finished bytes.
    pub fn into_vec(self) -> Vec<u8> {
        self.buf
    }

    /// Appends a byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.buf.push(value);
        self
    }

    /// Appends a 16-bit little-endian number.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a 32-bit little-endian number.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a 64-bit little-endian number.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends 16-bit little-endian numbers at once.
    pub fn u16s<const N: usize>(&mut self, values: [u16; N]) -> &mut Self {
        self.bytes(values.map(u16::to_le_bytes).as_flattened())
    }

    /// Appends bytes.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.buf.extend_from_slice(value);
        self
    }

    /// Appends `n` zero bytes.
    pub fn zeros(&mut self, n: usize) -> &mut Self {
        self.buf.resize(self.buf.len().saturating_add(n), 0);
        self
    }

    /// Appends zero bytes up to the next multiple of `to`.
    pub fn align(&mut self, to: usize) -> &mut Self {
        let end = self.buf.len().next_multiple_of(to.max(1));
        self.buf.resize(end, 0);
        self
    }

    /// Overwrites two bytes at `offset`, which must have been written; otherwise does nothing.
    pub fn patch_u16(&mut self, offset: usize, value: u16) {
        self.patch(offset, &value.to_le_bytes());
    }

    /// Overwrites four bytes at `offset`, which must have been written; otherwise does nothing.
    pub fn patch_u32(&mut self, offset: usize, value: u32) {
        self.patch(offset, &value.to_le_bytes());
    }

    /// Overwrites bytes at `offset`, which must have been written; otherwise does nothing.
    pub fn patch(&mut self, offset: usize, value: &[u8]) {
        debug_assert!(offset + value.len() <= self.buf.len());
        if let Some(place) = self.buf.get_mut(offset..offset.saturating_add(value.len())) {
            place.copy_from_slice(value);
        }
    }

    /// Drops everything from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.buf.truncate(len);
    }

    /// The buffer itself, for filling from a file.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }
}
