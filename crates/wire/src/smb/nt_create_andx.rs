//! NT_CREATE_ANDX (0xA2), [MS-CIFS] 2.2.4.64; extended reply: [MS-SMB] 2.2.4.9.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::{Error, Result},
    header::Fid,
    io::{Reader, Writer},
    time::FileTime,
};

/// Bits of the request's flags.
pub mod flags {
    /// Exclusive oplock.
    pub const OPLOCK: u32 = 0x02;
    /// Batch oplock.
    pub const OPBATCH: u32 = 0x04;
    /// The request refers to the path's parent folder.
    pub const OPEN_TARGET_DIR: u32 = 0x08;
    /// The reply shall be extended ([MS-SMB]).
    pub const EXTENDED_RESPONSE: u32 = 0x10;
}

/// Bits of the create options.
pub mod options {
    /// A folder.
    pub const DIRECTORY: u32 = 0x0000_0001;
    /// Write through to the disk.
    pub const WRITE_THROUGH: u32 = 0x0000_0002;
    /// Read sequentially.
    pub const SEQUENTIAL_ONLY: u32 = 0x0000_0004;
    /// Never buffer.
    pub const NO_INTERMEDIATE_BUFFERING: u32 = 0x0000_0008;
    /// Synchronous, alertable.
    pub const SYNCHRONOUS_ALERT: u32 = 0x0000_0010;
    /// Synchronous.
    pub const SYNCHRONOUS_NONALERT: u32 = 0x0000_0020;
    /// Not a folder.
    pub const NON_DIRECTORY: u32 = 0x0000_0040;
    /// The client does not support extended attributes.
    pub const NO_EA_KNOWLEDGE: u32 = 0x0000_0200;
    /// Delete it when it is closed.
    pub const DELETE_ON_CLOSE: u32 = 0x0000_1000;
    /// Open by identifier.
    pub const OPEN_BY_FILE_ID: u32 = 0x0000_2000;
}

/// An open or create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Flags ([`flags`]).
    pub flags: u32,
    /// The folder that the path counts from; 0 for the share's root.
    pub root: u32,
    /// Access mask.
    pub access: u32,
    /// Space to reserve for a created file, bytes.
    pub allocation: u64,
    /// Attributes of a created file.
    pub attributes: u32,
    /// Share access.
    pub share_access: u32,
    /// Disposition: 0 supersede, 1 open, 2 create, 3 open or create, 4 overwrite, 5 overwrite or create.
    pub disposition: u32,
    /// Options ([`options`]).
    pub options: u32,
    /// Impersonation level.
    pub impersonation: u32,
    /// Path.
    pub path: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::WordCount`].
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        if block.word_count() < 24 {
            return Err(Error::WordCount {
                what: "NT_CREATE_ANDX",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        words.u32("AndX")?;
        words.u8("reserved")?;
        let name_len = usize::from(words.u16("name length")?);
        let request = Self {
            flags: words.u32("flags")?,
            root: words.u32("root FID")?,
            access: words.u32("access mask")?,
            allocation: words.u64("allocation size")?,
            attributes: words.u32("attributes")?,
            share_access: words.u32("share access")?,
            disposition: words.u32("disposition")?,
            options: words.u32("options")?,
            impersonation: words.u32("impersonation level")?,
            path: WireStr { raw: &[], unicode },
        };
        let mut strings = block.strings(unicode);
        let path = strings
            .counted(name_len)
            .unwrap_or_else(|_| block.strings(unicode).string());
        Ok(Self { path, ..request })
    }

    /// Appends the request with 24 words. The name's length does not include the terminator, which is written as NT
    /// does.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words.u8(0).u16(self.path.raw.len() as u16);
        words.u32(self.flags).u32(self.root).u32(self.access);
        words.u64(self.allocation).u32(self.attributes);
        words.u32(self.share_access).u32(self.disposition);
        words.u32(self.options).u32(self.impersonation).u8(0);
        self.path.emit(block.bytes());
        block.finish(0);
    }
}

/// The reply. Clients other than Windows read beyond the 34 words of the specification's form only if they asked for
/// the extended one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// 0 none, 1 exclusive, 2 batch, 3 level II.
    pub oplock: u8,
    /// FID.
    pub fid: Fid,
    /// 0 superseded, 1 opened, 2 created, 3 overwritten.
    pub action: u32,
    /// Creation time.
    pub created: FileTime,
    /// Time of last access.
    pub accessed: FileTime,
    /// Time of last write.
    pub modified: FileTime,
    /// Time of last change.
    pub changed: FileTime,
    /// Attributes.
    pub attributes: u32,
    /// Space allocated, bytes.
    pub allocation: u64,
    /// Length, bytes.
    pub size: u64,
    /// 0 file or folder, 1 byte pipe, 2 message pipe.
    pub resource_type: u16,
    /// State of a pipe.
    pub pipe_state: u16,
    /// Whether it is a folder.
    pub directory: bool,
    /// Maximal access rights of user and guest, for the extended reply.
    pub extended: Option<(u32, u32)>,
}

impl Response {
    /// Decodes, with 34 words, or those of the extended reply: 50, of which Windows counts 42 ([MS-SMB] 2.2.4.9.2).
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let response = Self {
            oplock: words.u8("oplock level")?,
            fid: Fid(words.u16("FID")?),
            action: words.u32("create action")?,
            created: FileTime(words.u64("creation time")?),
            accessed: FileTime(words.u64("last access time")?),
            modified: FileTime(words.u64("last write time")?),
            changed: FileTime(words.u64("last change time")?),
            attributes: words.u32("attributes")?,
            allocation: words.u64("allocation size")?,
            size: words.u64("end of file")?,
            resource_type: words.u16("resource type")?,
            pipe_state: words.u16("pipe state")?,
            directory: words.u8("directory")? != 0,
            extended: None,
        };
        Ok(Self {
            extended: (block.word_count() >= 42)
                .then(|| extended_rights(block))
                .flatten(),
            ..response
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words.u8(self.oplock).u16(self.fid.0).u32(self.action);
        words
            .u64(self.created.0)
            .u64(self.accessed.0)
            .u64(self.modified.0)
            .u64(self.changed.0);
        words
            .u32(self.attributes)
            .u64(self.allocation)
            .u64(self.size);
        words
            .u16(self.resource_type)
            .u16(self.pipe_state)
            .u8(u8::from(self.directory));
        if let Some((user, guest)) = self.extended {
            words.zeros(16).zeros(8).u32(user).u32(guest);
        }
        block.finish(0);
    }
}

/// Offset of the rights in the extended reply's words: after the volume's GUID and the file id, bytes.
const RIGHTS_AT: usize = 4 + 64 + 16 + 8;

fn extended_rights(block: &Block<'_>) -> Option<(u32, u32)> {
    let words_at = block.bytes_offset.checked_sub(block.words.len() + 2)?;
    let mut r = Reader::at(block.message, words_at + RIGHTS_AT, "access rights").ok()?;
    let user = r.u32("access rights").ok()?;
    Some((user, r.u32("guest's access rights").ok()?))
}
