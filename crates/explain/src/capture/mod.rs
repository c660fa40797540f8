//! Capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), plain or gzipped (RFC 1952), read
//! as a stream in bounded memory.

mod buffer;
mod pcap;
mod pcapng;

use std::io::Read;

use coax_wire::time::Time;
use flate2::read::MultiGzDecoder;

use crate::error::Error;
use buffer::Buffer;

/// The link types that are understood (tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// 0: the address family in the capturing host's byte order, as BSD loopback has it; 108: in network byte order.
    Null,
    /// 1.
    Ethernet,
    /// 6: IEEE 802.5.
    TokenRing,
    /// 9, 50: PPP, with its HDLC header or without.
    Ppp,
    /// 10.
    Fddi,
    /// 12, 14, 101, 228, 229: an IP packet and nothing before it.
    Ip,
    /// 113: Linux cooked mode.
    LinuxSll,
    /// 276: Linux cooked mode, version 2.
    LinuxSll2,
    /// Any other.
    Other(u16),
}

impl From<u16> for Link {
    fn from(number: u16) -> Self {
        match number {
            0 | 108 => Self::Null,
            1 => Self::Ethernet,
            6 => Self::TokenRing,
            9 | 50 => Self::Ppp,
            10 => Self::Fddi,
            12 | 14 | 101 | 228 | 229 => Self::Ip,
            113 => Self::LinuxSll,
            276 => Self::LinuxSll2,
            other => Self::Other(other),
        }
    }
}

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// When it was captured. Packets without a time have that of the one before.
    pub at: Time,
    /// The link it was seen on.
    pub link: Link,
    /// What was kept of it.
    pub bytes: &'a [u8],
    /// How long it was, bytes.
    pub wire_len: u32,
}

/// Where a file ceases to be readable, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the (unpacked) file, bytes.
    pub at_byte: u64,
    /// What is wrong there.
    pub what: &'static str,
}

/// A capture file being read.
pub struct Reader<R: Read> {
    buffer: Buffer<Input<R>>,
    format: Format,
    number: u64,
    last: Time,
    damage: Option<Damage>,
    dropped: u64,
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

/// What one record of a file turned out to be: where in the buffer the packet lies.
#[derive(Debug)]
pub(crate) struct Record {
    /// Nanoseconds since 1970; `None` if the record holds no time.
    at: Option<u64>,
    link: Link,
    /// Where the packet's bytes begin in the record, and how many they are.
    start: usize,
    len: usize,
    wire_len: u32,
    /// Length of the whole record.
    whole: usize,
}

/// The outcome of looking for the next record.
#[derive(Debug)]
pub(crate) enum Next {
    /// A packet.
    Record(Record),
    /// The end of the file.
    End,
    /// What follows cannot be understood.
    Damaged(&'static str),
}

impl<R: Read> Reader<R> {
    /// Begins with a file, looking at its first bytes.
    ///
    /// # Errors
    /// [`Error`], if nothing of it can be read.
    pub fn new(file: R) -> Result<Self, Error> {
        let mut buffer = Buffer::new(Input::new(file)?);
        if !buffer.fill(4)? {
            return Err(Error::Empty);
        }
        let magic = buffer.bytes().first_chunk().copied().unwrap_or_default();
        let format = match magic {
            pcapng::MAGIC => Format::Pcapng(pcapng::Section::default()),
            _ => {
                let header = pcap::Header::read(&mut buffer)?;
                Format::Pcap(header.ok_or(if pcap::Header::is_begun_by(magic) {
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
            dropped: 0,
        })
    }

    /// The next packet; `None` at the end, or where the file ceases to be readable ([`Self::damage`]).
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
            Format::Pcapng(section) => section.next(&mut self.buffer, &mut self.dropped),
        };
        let record = match next {
            Ok(Next::Record(record)) => record,
            Ok(Next::End) => return Ok(None),
            Ok(Next::Damaged(what)) => return Ok(self.stop(what)),
            // a gzip stream that was cut says so by an error
            Err(error) if is_damage(&error) => {
                return Ok(self.stop("the compressed data is damaged"));
            }
            Err(error) => return Err(error.into()),
        };
        self.number += 1;
        self.last = record.at.map_or(self.last, Time);
        let whole = self.buffer.consume(record.whole);
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

    /// Where and why reading stopped before the end.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Packets that the capturing machine says it dropped (pcapng only).
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bytes of the (unpacked) file read so far.
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }
}

fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// A file, unpacked if it was packed.
enum Input<R: Read> {
    Plain(std::io::Chain<std::io::Cursor<Vec<u8>>, R>),
    Gzip(Box<MultiGzDecoder<std::io::Chain<std::io::Cursor<Vec<u8>>, R>>>),
}

impl<R: Read> Input<R> {
    fn new(mut file: R) -> Result<Self, Error> {
        let mut first = Vec::new();
        file.by_ref().take(2).read_to_end(&mut first)?;
        let packed = first == [0x1f, 0x8b];
        let whole = std::io::Cursor::new(first).chain(file);
        Ok(if packed {
            Self::Gzip(Box::new(MultiGzDecoder::new(whole)))
        } else {
            Self::Plain(whole)
        })
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
