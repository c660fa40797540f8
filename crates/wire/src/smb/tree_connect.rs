//! TREE_CONNECT (0x70) and TREE_DISCONNECT's counterpart of the core protocol, [MS-CIFS] 2.2.4.50.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    header::Tid,
    io::Writer,
};

/// A core client's request for a share.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Share, perhaps with `\\server\` before it.
    pub path: WireStr<'a>,
    /// Share password in plain text.
    pub password: WireStr<'a>,
    /// `A:`, `LPT1:`, `IPC`, `COMM` or `?????`.
    pub service: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes. All three strings are OEM whatever the flags say.
    ///
    /// # Errors
    /// [`crate::Error::Value`] or `Short` if a buffer format byte is wrong or missing.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut strings = block.strings(false);
        strings.format(4)?;
        let path = strings.string();
        strings.format(4)?;
        let password = strings.string();
        strings.format(4)?;
        Ok(Self {
            path,
            password,
            service: strings.string(),
        })
    }
}

/// The answer: how large messages may be, and the tree.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// Largest message the server takes, bytes: core clients learn it here.
    pub max_buffer: u16,
    /// Tree.
    pub tid: Tid,
}

impl Response {
    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.max_buffer).u16(self.tid.0);
        block.finish(0);
    }
}
