//! NEGOTIATE (0x72), [MS-CIFS] 2.2.4.52; extended security: [MS-SMB] 2.2.4.5.

use crate::{
    block::{Block, BlockWriter, Strings, put_oem},
    dialect::NegotiateShape,
    error::{Error, Result},
    io::Writer,
};
use alloc::vec::Vec;

/// Bits of the security mode.
pub mod security {
    /// User-level security; otherwise share-level.
    pub const USER_LEVEL: u8 = 0x01;
    /// Passwords are challenge/response; otherwise plaintext.
    pub const ENCRYPT_PASSWORDS: u8 = 0x02;
    /// Signatures may be used.
    pub const SIGNATURES_ENABLED: u8 = 0x04;
    /// Signatures must be used.
    pub const SIGNATURES_REQUIRED: u8 = 0x08;
}

/// Bits of `RawMode` in LAN Manager replies.
pub mod raw_mode {
    /// READ_RAW is supported.
    pub const READ: u16 = 1;
    /// WRITE_RAW is supported.
    pub const WRITE: u16 = 2;
}

/// Capabilities of NT LM 0.12 ([MS-CIFS] 2.2.4.52.2, [MS-SMB] 2.2.4.5.2.1).
pub mod cap {
    /// READ_RAW and WRITE_RAW.
    pub const RAW_MODE: u32 = 0x0000_0001;
    /// READ_MPX and WRITE_MPX.
    pub const MPX_MODE: u32 = 0x0000_0002;
    /// UTF-16LE strings.
    pub const UNICODE: u32 = 0x0000_0004;
    /// 64-bit offsets.
    pub const LARGE_FILES: u32 = 0x0000_0008;
    /// NT LM 0.12 commands.
    pub const NT_SMBS: u32 = 0x0000_0010;
    /// RPC over named pipes.
    pub const RPC_REMOTE_APIS: u32 = 0x0000_0020;
    /// NTSTATUS.
    pub const NT_STATUS: u32 = 0x0000_0040;
    /// Level II oplocks.
    pub const LEVEL_II_OPLOCKS: u32 = 0x0000_0080;
    /// LOCK_AND_READ.
    pub const LOCK_AND_READ: u32 = 0x0000_0100;
    /// TRANS2 FIND with NT levels.
    pub const NT_FIND: u32 = 0x0000_0200;
    /// NT information levels passed through.
    pub const INFOLEVEL_PASSTHRU: u32 = 0x0000_2000;
    /// READ_ANDX beyond the buffer size.
    pub const LARGE_READX: u32 = 0x0000_4000;
    /// WRITE_ANDX beyond the buffer size.
    pub const LARGE_WRITEX: u32 = 0x0000_8000;
    /// Unix extensions.
    pub const UNIX: u32 = 0x0080_0000;
    /// SPNEGO.
    pub const EXTENDED_SECURITY: u32 = 0x8000_0000;
}

/// Length of the challenge of all LAN Manager and NT servers, bytes.
const CHALLENGE_LEN: usize = 8;

/// The dialects that the client offers.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    bytes: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// None: anything is a list of dialects, if an empty one.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        Ok(Self { bytes: block.bytes })
    }

    /// The dialect strings, in order.
    pub fn dialects(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = self.bytes;
        core::iter::from_fn(move || {
            let (&format, after) = rest.split_first()?;
            if format != 2 {
                return None;
            }
            let len = after.iter().position(|&b| b == 0).unwrap_or(after.len());
            let name = after.get(..len)?;
            rest = after.get(len + 1..).unwrap_or(&[]);
            Some(name)
        })
    }

    /// Appends a request that offers `dialects`.
    pub fn emit(dialects: &[&str], out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        for dialect in dialects {
            block.bytes().u8(2);
            put_oem(block.bytes(), dialect.as_bytes());
        }
        block.finish(0);
    }
}

/// The server's reply. The encoder ignores fields that the reply's shape lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Index of the chosen dialect.
    pub index: u16,
    /// Security mode bits ([`security`]).
    pub security_mode: u8,
    /// Maximum number of outstanding requests.
    pub max_mpx: u16,
    /// Virtual circuits.
    pub max_vcs: u16,
    /// Largest message the server takes, bytes. At most 65,535: some clients keep 16 bits.
    pub max_buffer: u32,
    /// Largest raw transfer, bytes (NT).
    pub max_raw: u32,
    /// Raw mode bits (LAN Manager, [`raw_mode`]).
    pub raw_mode: u16,
    /// Identifies this server's instance.
    pub session_key: u32,
    /// Capabilities ([`cap`]; NT).
    pub capabilities: u32,
    /// System time, 100 ns since 1601 UTC (NT).
    pub file_time: u64,
    /// Local date and time in DOS format: (time, date) (LAN Manager).
    pub dos_time: (u16, u16),
    /// Minutes west of UTC.
    pub time_zone: i16,
    /// Challenge; empty if passwords are plaintext or with extended security.
    pub challenge: Vec<u8>,
    /// Domain or workgroup, encoded; to be emitted, terminated as the client reads it.
    pub domain: Vec<u8>,
    /// Server name, the same (NT).
    pub server: Vec<u8>,
    /// With extended security: GUID and SPNEGO token instead of challenge and names.
    pub extended: Option<([u8; 16], Vec<u8>)>,
}

impl Response {
    /// Appends the reply. `domain` selects whether a LAN Manager reply carries the domain.
    pub fn emit(&self, shape: NegotiateShape, domain: bool, out: &mut Writer) {
        match shape {
            NegotiateShape::Core => self.emit_core(out),
            NegotiateShape::Lanman => self.emit_lanman(domain, out),
            NegotiateShape::Nt => self.emit_nt(out),
        }
    }

    /// The index that rejects all dialects offered.
    pub const NONE: u16 = 0xffff;

    /// Decodes, and returns the shape of the reply. `unicode` is the header's flag. Domain and server come without
    /// their terminators, in UTF-16LE only in the NT shape with the flag set.
    ///
    /// Windows 98 declares a challenge of zero bytes but sends eight, and expects the client to use them.
    ///
    /// # Errors
    /// [`Error::WordCount`]; [`Error::Short`] if challenge or GUID are not there.
    pub fn parse(block: &Block<'_>, unicode: bool) -> Result<(NegotiateShape, Self)> {
        match block.word_count() {
            1 => Ok((
                NegotiateShape::Core,
                Self {
                    index: block.word(0)?,
                    ..Self::default()
                },
            )),
            13..=16 => Ok((NegotiateShape::Lanman, Self::parse_lanman(block)?)),
            17.. => Ok((NegotiateShape::Nt, Self::parse_nt(block, unicode)?)),
            found => Err(Error::WordCount {
                what: "NEGOTIATE",
                found,
            }),
        }
    }

    fn parse_lanman(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        let mut response = Self {
            index: words.u16("dialect index")?,
            security_mode: words.u16("security mode")? as u8,
            max_buffer: u32::from(words.u16("max buffer")?),
            max_mpx: words.u16("max mpx")?,
            max_vcs: words.u16("max VCs")?,
            raw_mode: words.u16("raw mode")?,
            session_key: words.u32("session key")?,
            dos_time: (words.u16("time")?, words.u16("date")?),
            time_zone: words.u16("time zone")? as i16,
            ..Self::default()
        };
        let len = usize::from(words.u16("challenge length")?);
        let mut strings = block.strings(false);
        response.take_challenge(&mut strings, len)?;
        response.domain = strings.string().raw.to_vec();
        Ok(response)
    }

    fn parse_nt(block: &Block<'_>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let mut response = Self {
            index: words.u16("dialect index")?,
            security_mode: words.u8("security mode")?,
            max_mpx: words.u16("max mpx")?,
            max_vcs: words.u16("max VCs")?,
            max_buffer: words.u32("max buffer")?,
            max_raw: words.u32("max raw size")?,
            session_key: words.u32("session key")?,
            capabilities: words.u32("capabilities")?,
            file_time: words.u64("system time")?,
            time_zone: words.u16("time zone")? as i16,
            ..Self::default()
        };
        let len = usize::from(words.u8("challenge length")?);
        let mut strings = block.strings(unicode);
        if response.capabilities & cap::EXTENDED_SECURITY != 0 {
            let guid = strings.bytes(16, "server GUID")?;
            let guid = guid.try_into().map_err(|_| Error::Short {
                what: "server GUID",
            })?;
            response.extended = Some((guid, strings.rest().to_vec()));
            return Ok(response);
        }
        response.take_challenge(&mut strings, len)?;
        // These two are not aligned: they follow the challenge as they are.
        let mut names = Strings::of(strings.rest(), 0, unicode);
        response.domain = names.string().raw.to_vec();
        response.server = names.string().raw.to_vec();
        Ok(response)
    }

    fn take_challenge(&mut self, strings: &mut Strings<'_>, len: usize) -> Result<()> {
        let encrypts = self.security_mode & security::ENCRYPT_PASSWORDS != 0;
        let len = if len == 0 && encrypts {
            CHALLENGE_LEN.min(strings.rest().len())
        } else {
            len
        };
        self.challenge = strings.bytes(len, "challenge")?.to_vec();
        Ok(())
    }

    /// Appends the reply for a client that offered no supported dialect.
    pub fn emit_none(out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(Self::NONE);
        block.finish(0);
    }

    fn emit_core(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.index);
        block.finish(0);
    }

    fn emit_lanman(&self, domain: bool, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words
            .u16(self.index)
            .u16(u16::from(self.security_mode))
            .u16(self.max_buffer.min(65_535) as u16);
        words
            .u16(self.max_mpx)
            .u16(self.max_vcs)
            .u16(self.raw_mode)
            .u32(self.session_key);
        words
            .u16(self.dos_time.0)
            .u16(self.dos_time.1)
            .u16(self.time_zone as u16);
        words.u16(self.challenge.len() as u16).u16(0);
        let bytes = block.bytes();
        bytes.bytes(&self.challenge);
        if domain {
            bytes.bytes(&self.domain);
        }
        block.finish(0);
    }

    fn emit_nt(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words
            .u16(self.index)
            .u8(self.security_mode)
            .u16(self.max_mpx)
            .u16(self.max_vcs);
        words
            .u32(self.max_buffer)
            .u32(self.max_raw)
            .u32(self.session_key)
            .u32(self.capabilities);
        words
            .u64(self.file_time)
            .u16(self.time_zone as u16)
            .u8(self.challenge.len() as u8);
        let bytes = block.bytes();
        match &self.extended {
            Some((guid, token)) => bytes.bytes(guid).bytes(token),
            None => bytes
                .bytes(&self.challenge)
                .bytes(&self.domain)
                .bytes(&self.server),
        };
        block.finish(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn the_three_shapes_have_one_thirteen_and_seventeen_words() {
        let response = Response {
            challenge: [7; 8].to_vec(),
            domain: b"WG\0".to_vec(),
            ..Response::default()
        };
        for (shape, words, bytes) in [
            (NegotiateShape::Core, 1, 0),
            (NegotiateShape::Lanman, 13, 11),
            (NegotiateShape::Nt, 17, 11),
        ] {
            let mut out = Writer::default();
            out.zeros(HEADER_LEN);
            response.emit(shape, true, &mut out);
            let block = Block::first(out.as_slice()).unwrap();
            assert_eq!((block.word_count(), block.declared_bytes), (words, bytes));
        }
    }

    #[test]
    fn offered_dialects_come_back_in_order_and_a_stray_format_byte_ends_the_list() {
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        Request::emit(&["PC NETWORK PROGRAM 1.0", "LANMAN1.0"], &mut out);
        let block = Block::first(out.as_slice()).unwrap();
        let mut offered = Request::parse(&block).unwrap().dialects();
        assert_eq!(offered.next(), Some(b"PC NETWORK PROGRAM 1.0".as_slice()));
        assert_eq!(offered.next(), Some(b"LANMAN1.0".as_slice()));
        assert_eq!(offered.next(), None);
        assert_eq!(
            Request {
                bytes: b"\x02A\0\x09B\0"
            }
            .dialects()
            .count(),
            1
        );
    }
}
