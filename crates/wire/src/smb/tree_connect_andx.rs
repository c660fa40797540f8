//! TREE_CONNECT_ANDX (0x75), [MS-CIFS] 2.2.4.55.

use crate::{
    block::{Block, BlockWriter, WireStr, put_oem, put_unicode},
    error::{Error, Result},
    io::Writer,
};

/// A request for a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Bit 0: disconnect the header's tree first.
    pub flags: u16,
    /// Share password, plain or response.
    pub password: &'a [u8],
    /// `\\server\share`, or the share alone.
    pub path: WireStr<'a>,
    /// `A:`, `LPT1:`, `IPC`, `COMM` or `?????`.
    pub service: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes; `unicode` is the header's flag (the service is OEM always).
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let flags = words.u16("flags")?;
        let len = usize::from(words.u16("password length")?);
        let mut strings = block.strings(unicode);
        let password = strings.bytes(len, "password")?;
        let path = strings.string();
        Ok(Self {
            flags,
            password,
            path,
            service: strings.oem_string(),
        })
    }

    /// Appends the request. The service is written as an OEM string, which its bytes have to be.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        block
            .words()
            .u16(self.flags)
            .u16(self.password.len() as u16);
        let bytes = block.bytes();
        bytes.bytes(self.password);
        self.path.emit(bytes);
        put_oem(bytes, self.service.raw);
        block.finish(0);
    }
}

/// The answer. LAN Manager 1 clients get two words, later ones three; extended ones seven ([MS-SMB] 2.2.4.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Words: 2, 3 or 7.
    pub word_count: u8,
    /// Bit 0: search attributes honoured; bit 1: DFS.
    pub optional_support: u16,
    /// Rights of the user, and of guests (seven words).
    pub access: (u32, u32),
    /// `A:`, `LPT1:`, `IPC`.
    pub service: &'a [u8],
    /// `NTFS`, `FAT` …, encoded; empty for IPC$.
    pub file_system: &'a [u8],
    /// Whether the file system's name is UTF-16LE.
    pub unicode: bool,
}

impl<'a> Response<'a> {
    /// Decodes; `unicode` is the header's flag (the service is OEM always). What older servers leave out is 0 or empty.
    ///
    /// # Errors
    /// [`Error::WordCount`] if there is not even an AndX head.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        if block.word_count() < 2 {
            return Err(Error::WordCount {
                what: "TREE_CONNECT_ANDX",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        words.u32("AndX")?;
        let optional_support = words.u16("optional support").unwrap_or(0);
        let user = words.u32("access rights").unwrap_or(0);
        let guest = words.u32("guest's access rights").unwrap_or(0);
        let mut strings = block.strings(unicode);
        Ok(Self {
            word_count: block.word_count(),
            optional_support,
            access: (user, guest),
            service: strings.oem_string().raw,
            file_system: strings.string().raw,
            unicode,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        if self.word_count >= 3 {
            block.words().u16(self.optional_support);
        }
        if self.word_count >= 7 {
            block.words().u32(self.access.0).u32(self.access.1);
        }
        let bytes = block.bytes();
        put_oem(bytes, self.service);
        if self.word_count >= 3 {
            if self.unicode {
                put_unicode(bytes, self.file_system);
            } else {
                put_oem(bytes, self.file_system);
            }
        }
        block.finish(0);
    }
}
