//! NDR (C706 chapter 14), as far as strings, numbers and pointers to them go.

use crate::{
    codepage::utf16,
    error::{Error, Result},
    io::{self, Reader},
};
use alloc::string::String;

/// Maximum length of a string from a client, UTF-16 units.
const MAX_UNITS: u32 = 1024;

/// Reads arguments. Alignment counts from their first byte.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    reader: Reader<'a>,
}

impl<'a> Arguments<'a> {
    /// A reader of a call's stub.
    pub const fn new(stub: &'a [u8]) -> Self {
        Self {
            reader: Reader::new(stub),
        }
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.reader.remaining()
    }

    /// Takes a 32-bit number.
    ///
    /// # Errors
    /// [`Error::Short`] naming `what`.
    pub fn u32(&mut self, what: &'static str) -> Result<u32> {
        self.reader.align(4);
        self.reader.u32(what)
    }

    /// Takes a conformant varying string, without its zero.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] if its three counts contradict each other or are beyond reason.
    pub fn text(&mut self, what: &'static str) -> Result<String> {
        let max = self.u32(what)?;
        let offset = self.u32(what)?;
        let actual = self.u32(what)?;
        if offset != 0 || actual > max || actual > MAX_UNITS {
            return Err(Error::Value { what });
        }
        let raw = self.reader.take(actual as usize * 2, what)?;
        let text = utf16::decode(raw);
        Ok(text.split('\0').next().unwrap_or_default().into())
    }

    /// Takes a unique pointer to a string.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub fn optional_text(&mut self, what: &'static str) -> Result<Option<String>> {
        match self.u32(what)? {
            0 => Ok(None),
            _ => self.text(what).map(Some),
        }
    }
}

/// Writes results. Alignment counts from their first byte.
#[derive(Clone, Debug, Default)]
pub struct Results {
    out: io::Writer,
    referents: u32,
}

impl Results {
    /// Writes a 32-bit number.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.out.align(4).u32(value);
        self
    }

    /// Writes a non-null pointer. The caller writes its target at the right position.
    pub fn pointer(&mut self) -> &mut Self {
        self.referents = self.referents.wrapping_add(1);
        let referent = 0x0002_0000 | self.referents << 2;
        self.u32(referent)
    }

    /// Writes a null pointer.
    pub fn null(&mut self) -> &mut Self {
        self.u32(0)
    }

    /// Writes a conformant varying string with its zero.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let units = utf16::len(text).saturating_add(1) as u32;
        self.u32(units).u32(0).u32(units);
        self.out.bytes(&utf16::encode(text)).u16(0);
        self
    }

    /// The results, padded to a multiple of four.
    pub fn finish(mut self) -> alloc::vec::Vec<u8> {
        self.out.align(4);
        self.out.into_vec()
    }
}
