//! ECHO (0x2B), [MS-CIFS] 2.2.4.39.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    io::Writer,
};

/// A question whether the server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The number of replies requested.
    pub count: u16,
    /// The data that the replies repeat.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        Ok(Self {
            count: block.word(0)?,
            data: block.bytes,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        emit(self.count, self.data, out);
    }
}

/// One of the replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Which of them, from 1.
    pub sequence: u16,
    /// The request's data.
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        Ok(Self {
            sequence: block.word(0)?,
            data: block.bytes,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        emit(self.sequence, self.data, out);
    }
}

fn emit(number: u16, data: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(number);
    block.bytes().bytes(data);
    block.finish(0);
}
