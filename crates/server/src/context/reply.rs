//! A reply under construction, and a message ready to be sent.

use crate::vfs::VfsFile;
use alloc::{sync::Arc, vec::Vec};
use coax_wire::{
    header::{HEADER_LEN, Header},
    io::Writer,
    status::Status,
};

/// The part of a message after its head.
#[derive(Clone, Debug, Default)]
pub enum Tail {
    /// None.
    #[default]
    None,
    /// From memory.
    Bytes(Vec<u8>),
    /// From a file, which a driver may pass to the kernel. If the file has become shorter, zeros replace the missing
    /// part, because the head already contains the length.
    File {
        /// The file.
        file: Arc<dyn VfsFile>,
        /// Offset in the file.
        offset: u64,
        /// Length, bytes.
        len: usize,
    },
}

impl Tail {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::File { len, .. } => *len,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in memory, read from the file if necessary. A file that fails or has become shorter reads as zeros.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Bytes(bytes) => bytes,
            Self::File { file, offset, len } => {
                let mut bytes = alloc::vec![0; len];
                let _ = file.read_at(offset, &mut bytes);
                bytes
            }
        }
    }
}

/// A message to send: frame its length, then head, then tail.
#[derive(Clone, Debug, Default)]
pub struct Transmit {
    /// First bytes; empty for raw data.
    pub head: Vec<u8>,
    /// The rest.
    pub tail: Tail,
}

impl Transmit {
    /// Length in bytes without any framing.
    pub fn len(&self) -> usize {
        self.head.len().saturating_add(self.tail.len())
    }

    /// Whether it is a zero-length message, as at the end of raw reads.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A reply under construction: handlers append their block to `out`, which begins with the header.
#[derive(Debug, Default)]
pub struct Reply {
    /// Header and blocks so far. Offsets on the wire count from its beginning.
    pub out: Writer,
    /// Data after the blocks.
    pub tail: Tail,
    /// The status for the client.
    pub status: Option<Status>,
    /// Oplock bits of the header's flags, for core opens.
    pub oplock_flags: u8,
    /// Further messages of a transaction's answer; each begins with space for a header.
    pub more: Vec<Writer>,
}

impl Reply {
    /// A reply with space for a header, which [`super::send`] fills in at the end.
    pub fn begin() -> Self {
        let mut out = Writer::with_capacity(128);
        out.zeros(HEADER_LEN);
        Self {
            out,
            tail: Tail::None,
            status: None,
            oplock_flags: 0,
            more: Vec::new(),
        }
    }

    /// Moves the tail into `out`, before another block follows it.
    pub fn flatten(&mut self) {
        let tail = core::mem::take(&mut self.tail);
        self.out.bytes(&tail.into_bytes());
    }

    /// Writes the header into its space.
    pub(super) fn put_header(&mut self, header: &Header) {
        self.out.patch(0, &header.to_bytes());
    }
}
