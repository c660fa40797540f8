//! OPEN_ANDX (0x2D), [MS-CIFS] 2.2.4.41; extended reply: [MS-SMB] 2.2.4.1.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    header::Fid,
    io::Writer,
    time::Utime,
};

/// Access and sharing mode of DOS opens ([MS-CIFS] 2.2.4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessMode(pub u16);

impl AccessMode {
    /// The mode of opens by file control block.
    pub const FCB: Self = Self(0xff);

    /// Access: 0 read, 1 write, 2 read and write, 3 execute. Higher values, including the reserved bit 3, are invalid,
    /// as in smbd.
    pub fn access(self) -> u16 {
        self.0 & 0xf
    }

    /// Sharing: 0 compatibility, 1 deny all, 2 deny write, 3 deny read, 4 deny none.
    pub fn sharing(self) -> u16 {
        self.0 >> 4 & 0x7
    }

    /// Whether this is an open by file control block.
    pub fn is_fcb(self) -> bool {
        self.0 & 0xff == Self::FCB.0
    }

    /// Write through to the disk.
    pub fn write_through(self) -> bool {
        self.0 & 0x4000 != 0
    }
}

/// Bits of the request's flags.
pub mod flags {
    /// The reply must contain the file's metadata.
    pub const QUERY_INFORMATION: u16 = 1;
    /// Exclusive oplock.
    pub const OPLOCK: u16 = 2;
    /// Batch oplock.
    pub const OPBATCH: u16 = 4;
    /// The reply shall be extended ([MS-SMB]).
    pub const EXTENDED_RESPONSE: u16 = 0x10;
}

/// An open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Flags ([`flags`]).
    pub flags: u16,
    /// Access and sharing.
    pub access_mode: AccessMode,
    /// Attributes a file may have beyond the ordinary.
    pub search_attributes: u16,
    /// Attributes of a created file.
    pub attributes: u16,
    /// Creation time of a created file; 0 for now.
    pub created: Utime,
    /// Action: bits 0–1 if the file exists (0 fail, 1 open, 2 truncate), bit 4 create if it does not.
    pub open_mode: u16,
    /// Space to reserve for a created or truncated file, bytes.
    pub allocation: u32,
    /// Time to wait if the file cannot be opened now, milliseconds.
    pub timeout_ms: u32,
    /// Path.
    pub path: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let request = Self {
            flags: words.u16("flags")?,
            access_mode: AccessMode(words.u16("access mode")?),
            search_attributes: words.u16("search attributes")?,
            attributes: words.u16("attributes")?,
            created: Utime(words.u32("creation time")?),
            open_mode: words.u16("open mode")?,
            allocation: words.u32("allocation size")?,
            timeout_ms: words.u32("timeout").unwrap_or(0),
            path: WireStr { raw: &[], unicode },
        };
        Ok(Self {
            path: block.strings(unicode).string(),
            ..request
        })
    }

    /// Appends the request, with 15 words.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        block
            .words()
            .u16(self.flags)
            .u16(self.access_mode.0)
            .u16(self.search_attributes)
            .u16(self.attributes)
            .u32(self.created.0)
            .u16(self.open_mode)
            .u32(self.allocation)
            .u32(self.timeout_ms)
            .u32(0);
        self.path.emit(block.bytes());
        block.finish(0);
    }
}

/// The reply: 15 words, or 19 if the extended one was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// FID.
    pub fid: Fid,
    /// Attributes.
    pub attributes: u16,
    /// Time of last write, local.
    pub modified: Utime,
    /// Length, bytes.
    pub size: u32,
    /// Access granted.
    pub access: u16,
    /// 0 file, 1 byte pipe, 2 message pipe, 3 printer.
    pub resource_type: u16,
    /// State of a pipe.
    pub pipe_state: u16,
    /// 1 opened, 2 created, 3 truncated; 0x8000: an oplock was granted.
    pub action: u16,
    /// Maximal access rights of user and guest, for the extended reply.
    pub extended: Option<(u32, u32)>,
}

impl Response {
    /// Decodes, with 15 words or with 19.
    ///
    /// # Errors
    /// [`crate::Error::Short`] if there are not even those up to the action.
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let response = Self {
            fid: Fid(words.u16("FID")?),
            attributes: words.u16("attributes")?,
            modified: Utime(words.u32("last write time")?),
            size: words.u32("file size")?,
            access: words.u16("access")?,
            resource_type: words.u16("resource type")?,
            pipe_state: words.u16("pipe state")?,
            action: words.u16("action")?,
            extended: None,
        };
        words.take_up_to(6);
        let user = words.u32("access rights");
        let guest = words.u32("guest's access rights");
        Ok(Self {
            extended: user.ok().zip(guest.ok()),
            ..response
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u16(self.attributes)
            .u32(self.modified.0)
            .u32(self.size)
            .u16(self.access);
        words
            .u16(self.resource_type)
            .u16(self.pipe_state)
            .u16(self.action)
            .u32(0)
            .u16(0);
        if let Some((user, guest)) = self.extended {
            words.u32(user).u32(guest);
        }
        block.finish(0);
    }
}
