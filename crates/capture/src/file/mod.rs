//! Capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), plain or compressed with gzip
//! (RFC 1952), read as a stream in bounded memory.

mod buffer;
mod pcap;
mod pcapng;
mod record;

use std::io::{ErrorKind, Read};

use coax_wire::time::Time;
use flate2::read::MultiGzDecoder;

use crate::{Error, Packet};
use buffer::Buffer;
use record::Next;

/// Where and why a file is damaged.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the uncompressed file, bytes.
    pub at_byte: u64,
    /// The defect.
    pub what: &'static str,
}

/// Reads the packets of a capture file.
pub struct Reader<R: Read> {
    buffer: Buffer<Input<R>>,
    format: Format,
    number: u64,
    last: Time,
    damage: Option<Damage>,
    notices: pcapng::Notices,
}

impl<R: Read> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("format", &self.format)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
}

impl<R: Read> Reader<R> {
    /// Opens a capture and detects its format.
    ///
    /// # Errors
    /// [`Error`] if the file is not a capture or cannot be read.
    pub fn new(file: R) -> Result<Self, Error> {
        let mut buffer = Buffer::new(Input::new(file)?);
        match buffer.fill(4) {
            Ok(true) => {}
            Ok(false) => return Err(Error::Empty),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(Error::Empty),
            Err(error) => return Err(error.into()),
        }
        let magic = buffer.bytes().first_chunk().copied().unwrap_or_default();
        let format = match magic {
            pcapng::MAGIC => Format::Pcapng(pcapng::Section::default()),
            _ => {
                let header = pcap::Header::read(&mut buffer)?;
                Format::Pcap(header.ok_or(if pcap::Header::is_magic(magic) {
                    Error::Empty
                } else {
                    Error::NotACapture(magic)
                })?)
            }
        };
        Ok(Self {
            buffer,
            format,
            number: 0,
            last: Time(0),
            damage: None,
            notices: pcapng::Notices::default(),
        })
    }

    /// The next packet; `None` at the end of the file or where it is damaged ([`Self::damage`]).
    ///
    /// # Errors
    /// [`Error::Io`].
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, Error> {
        if self.damage.is_some() {
            return Ok(None);
        }
        let next = match &mut self.format {
            Format::Pcap(header) => header.next(&mut self.buffer),
            Format::Pcapng(section) => section.next(&mut self.buffer, &mut self.notices),
        };
        let record = match next {
            Ok(Next::Record(record)) => record,
            Ok(Next::End) => return Ok(None),
            Ok(Next::Damaged(what)) => return Ok(self.stop(what)),
            // a truncated gzip stream ends in an error
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Ok(self.stop("the compressed data ends early"));
            }
            Err(error) if is_damage(&error) => {
                return Ok(self.stop("the compressed data is damaged"));
            }
            Err(error) => return Err(error.into()),
        };
        self.number += 1;
        self.last = record.at.map_or(self.last, Time);
        let whole = self.buffer.consume(record.record_len);
        let bytes = whole.get(record.start..).unwrap_or_default();
        Ok(Some(Packet {
            number: self.number,
            at: self.last,
            link: record.link,
            bytes: bytes.get(..record.len).unwrap_or(bytes),
            wire_len: record.wire_len,
        }))
    }

    fn stop(&mut self, what: &'static str) -> Option<Packet<'_>> {
        let at_byte = self.buffer.offset();
        self.damage = Some(Damage { at_byte, what });
        None
    }

    /// What the reader reads from. It may return [`std::io::ErrorKind::WouldBlock`] where no bytes are available yet; the next
    /// call of [`Self::next_packet`] then goes on.
    pub fn source(&mut self) -> &mut R {
        self.buffer.source().file()
    }

    /// Where and why the reader stopped before the end.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Packets that the capturing machine reports as dropped (pcapng only).
    pub fn dropped(&self) -> u64 {
        self.notices.dropped
    }

    /// Interfaces whose time offset (if_tsoffset) was ignored, because it moves packets to before 1970 or after 2554 (pcapng only).
    pub fn ignored_offsets(&self) -> u64 {
        self.notices.ignored_offsets
    }

    /// Bytes of the uncompressed file read so far.
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }
}

fn is_damage(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput
    )
}

/// A file, decompressed if necessary.
enum Input<R: Read> {
    Plain(std::io::Chain<std::io::Cursor<Vec<u8>>, R>),
    Gzip(Box<MultiGzDecoder<std::io::Chain<std::io::Cursor<Vec<u8>>, R>>>),
}

impl<R: Read> Input<R> {
    fn new(mut file: R) -> Result<Self, Error> {
        let mut first = Vec::new();
        file.by_ref().take(2).read_to_end(&mut first)?;
        let is_gzip = first == [0x1f, 0x8b];
        let whole = std::io::Cursor::new(first).chain(file);
        Ok(if is_gzip {
            Self::Gzip(Box::new(MultiGzDecoder::new(whole)))
        } else {
            Self::Plain(whole)
        })
    }
}

impl<R: Read> Input<R> {
    fn file(&mut self) -> &mut R {
        match self {
            Self::Plain(file) => file.get_mut().1,
            Self::Gzip(file) => file.get_mut().get_mut().1,
        }
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(into),
            Self::Gzip(file) => file.read(into),
        }
    }
}
