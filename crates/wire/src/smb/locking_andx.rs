//! LOCKING_ANDX (0x24), [MS-CIFS] 2.2.4.32: locks, unlocks, cancels, and both directions of oplock breaks.

use crate::{
    block::{Block, BlockWriter},
    error::{Error, Result},
    header::Fid,
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Bits of the type of lock.
pub mod kind {
    /// The requested locks are shared; otherwise exclusive.
    pub const SHARED: u8 = 0x01;
    /// From the server: the oplock breaks. From the client: it has given it up.
    pub const OPLOCK_RELEASE: u8 = 0x02;
    /// Change an existing lock to the other type without waiting.
    pub const CHANGE_TYPE: u8 = 0x04;
    /// Give up a lock request that waits.
    pub const CANCEL: u8 = 0x08;
    /// Ranges have 64-bit offsets and lengths.
    pub const LARGE_FILES: u8 = 0x10;
}

/// An infinite timeout.
pub const FOREVER: u32 = 0xffff_ffff;

/// A range of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The process: the low half of its PID.
    pub pid: u16,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

impl Range {
    const SMALL: usize = 10;
    const LARGE: usize = 20;

    fn parse(r: &mut Reader<'_>, large: bool) -> Result<Self> {
        let pid = r.u16("range's PID")?;
        if !large {
            let offset = u64::from(r.u32("range's offset")?);
            let length = u64::from(r.u32("range's length")?);
            return Ok(Self {
                pid,
                offset,
                length,
            });
        }
        r.take(2, "pad")?;
        let mut wide = |what| -> Result<u64> {
            let high = u64::from(r.u32(what)?);
            Ok(high << 32 | u64::from(r.u32(what)?))
        };
        Ok(Self {
            pid,
            offset: wide("range's offset")?,
            length: wide("range's length")?,
        })
    }

    fn emit(&self, large: bool, out: &mut Writer) {
        out.u16(self.pid);
        if large {
            out.u16(0);
            for number in [self.offset, self.length] {
                out.u32((number >> 32) as u32).u32(number as u32);
            }
        } else {
            out.u32(self.offset as u32).u32(self.length as u32);
        }
    }
}

/// A request of the client, or the server's break of an oplock ([`Request::oplock_break`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Type of lock ([`kind`]).
    pub kind: u8,
    /// The new oplock level: 0 none, 1 level II.
    pub oplock_level: u8,
    /// Timeout of the locks, milliseconds; [`FOREVER`].
    pub timeout_ms: u32,
    /// Ranges to unlock, before anything is locked.
    pub unlocks: Vec<Range>,
    /// Ranges to lock.
    pub locks: Vec<Range>,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::WordCount`]; [`Error::Short`] if there are fewer ranges than the counts require.
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        if block.word_count() != 8 {
            return Err(Error::WordCount {
                what: "LOCKING_ANDX",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        words.u32("AndX")?;
        let fid = Fid(words.u16("FID")?);
        let kind = words.u8("type of lock")?;
        let oplock_level = words.u8("oplock level")?;
        let timeout_ms = words.u32("timeout")?;
        let unlocks = usize::from(words.u16("number of unlocks")?);
        let locks = usize::from(words.u16("number of locks")?);
        let large = kind & kind::LARGE_FILES != 0;
        let size = if large { Range::LARGE } else { Range::SMALL };
        let mut bytes = Reader::new(block.bytes);
        if bytes.remaining() < unlocks.saturating_add(locks).saturating_mul(size) {
            return Err(Error::Short { what: "ranges" });
        }
        let mut ranges = |count: usize| -> Result<Vec<Range>> {
            (0..count)
                .map(|_| Range::parse(&mut bytes, large))
                .collect()
        };
        Ok(Self {
            fid,
            kind,
            oplock_level,
            timeout_ms,
            unlocks: ranges(unlocks)?,
            locks: ranges(locks)?,
        })
    }

    /// The server's oplock break message, sent with its own header ([MS-CIFS] 3.3.4.2). A client uses the same form to
    /// acknowledge the break to `level` (3.2.4.18), which has no reply.
    pub fn oplock_break(fid: Fid, level: u8) -> Self {
        Self {
            fid,
            kind: kind::OPLOCK_RELEASE,
            oplock_level: level,
            timeout_ms: 0,
            unlocks: Vec::new(),
            locks: Vec::new(),
        }
    }

    /// Whether this type has `bits`.
    pub fn is(&self, bits: u8) -> bool {
        self.kind & bits == bits
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let large = self.is(kind::LARGE_FILES);
        let mut block = BlockWriter::begin_andx(out);
        block
            .words()
            .u16(self.fid.0)
            .u8(self.kind)
            .u8(self.oplock_level)
            .u32(self.timeout_ms)
            .u16(self.unlocks.len() as u16)
            .u16(self.locks.len() as u16);
        let bytes = block.bytes();
        for range in self.unlocks.iter().chain(&self.locks) {
            range.emit(large, bytes);
        }
        block.finish(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::header::HEADER_LEN;

    fn request(kind: u8) -> Request {
        let range = |pid, offset| Range {
            pid,
            offset,
            length: 10,
        };
        Request {
            fid: Fid(5),
            kind,
            oplock_level: 0,
            timeout_ms: FOREVER,
            unlocks: [range(1, 100)].to_vec(),
            locks: [range(2, 200), range(3, 300)].to_vec(),
        }
    }

    fn message(request: &Request) -> Vec<u8> {
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        request.emit(&mut out);
        out.into_vec()
    }

    #[test]
    fn ranges_of_both_widths_come_back_and_unlocks_stand_first() {
        let mut large = request(kind::LARGE_FILES);
        large.locks[0].offset = 5 << 32 | 9;
        for request in [request(0), request(kind::SHARED), large] {
            let message = message(&request);
            let parsed = Request::parse(&Block::first(&message).unwrap());
            assert_eq!(parsed.unwrap(), request);
        }
    }

    #[test]
    fn a_large_range_has_its_high_halves_first() {
        let mut request = request(kind::LARGE_FILES);
        request.unlocks.clear();
        request.locks.truncate(1);
        request.locks[0].offset = 0x0000_0001_0000_0002;
        let message = message(&request);
        let bytes = Block::first(&message).unwrap().bytes;
        assert_eq!(bytes[..12], [2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(bytes.len(), 20);
    }

    #[test]
    fn fewer_ranges_than_promised_are_refused() {
        let message = message(&request(0));
        let cut = &message[..message.len() - 1];
        assert_eq!(
            Request::parse(&Block::first(cut).unwrap()),
            Err(Error::Short { what: "ranges" })
        );
    }
}
