//! A reply while it is written, and a message ready to be sent.

use crate::vfs::VfsFile;
use alloc::{sync::Arc, vec::Vec};
use coax_wire::{
    header::{HEADER_LEN, Header},
    io::Writer,
    status::Status,
};

/// Bytes of a message that come after those in its head.
#[derive(Clone, Debug, Default)]
pub enum Tail {
    /// None.
    #[default]
    None,
    /// From memory.
    Bytes(Vec<u8>),
    /// From a file, which a driver may hand to the kernel. If the file has become shorter, zeros take the place of
    /// what is missing: the length was promised in the head.
    File {
        /// The file.
        file: Arc<dyn VfsFile>,
        /// Where in it.
        offset: u64,
        /// How much, bytes.
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

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in memory, read from the file if need be. A file that fails or has become shorter reads as zeros.
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

    /// Whether there is nothing: a zero-length message, as raw reads end with.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A reply being written: handlers append their block to `out`, which begins with the header.
#[derive(Debug, Default)]
pub struct Reply {
    /// Header and blocks so far. Offsets on the wire count from its beginning.
    pub out: Writer,
    /// Data after them.
    pub tail: Tail,
    /// The status the client is told.
    pub status: Option<Status>,
    /// Oplock bits of the header's flags, for opens of the core protocol.
    pub oplock_flags: u8,
    /// Further messages of the same answer, as transactions have them; each begins with room for a header.
    pub more: Vec<Writer>,
}

impl Reply {
    /// A reply with room for a header, which [`super::send`] fills in when it is finished.
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

    /// Writes the header over its room.
    pub(super) fn put_header(&mut self, header: &Header) {
        let mut bytes = Writer::with_capacity(HEADER_LEN);
        header.emit(&mut bytes);
        self.out.patch(0, bytes.as_slice());
    }
}
