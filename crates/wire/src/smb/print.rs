//! OPEN_PRINT_FILE (0xC0), WRITE_PRINT_FILE (0xC1), CLOSE_PRINT_FILE (0xC2), GET_PRINT_QUEUE (0xC3): [MS-CIFS] 2.2.4.67 to
//! 2.2.4.69; the queue: SMB-CORE 5.27.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::{Error, Result},
    header::Fid,
    io::{Reader, Writer},
    time::DosDateTime,
};
use alloc::vec::Vec;

/// A job begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open<'a> {
    /// Bytes at the job's beginning that are for the printer's set-up.
    pub setup_bytes: u16,
    /// 0 text, 1 graphics.
    pub mode: u16,
    /// The client's name of the job.
    pub identifier: WireStr<'a>,
}

impl<'a> Open<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`] for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let (setup_bytes, mode) = (block.word(0)?, block.word(1)?);
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            setup_bytes,
            mode,
            identifier: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.setup_bytes).u16(self.mode);
        self.identifier.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// A piece of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The job.
    pub fid: Fid,
    /// The piece.
    pub data: &'a [u8],
}

impl<'a> Write<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if the data is shorter than the count.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let fid = Fid(block.word(0)?);
        let mut strings = block.strings(false);
        strings.format(1)?;
        let count = usize::from(strings.u16("count")?);
        let data = strings.bytes(count, "data");
        Ok(Self {
            fid,
            data: data.map_err(|_| Error::Outside { what: "count" })?,
        })
    }

    /// Appends the request. The reply is an empty block.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.fid.0);
        let bytes = block.bytes().u8(1).u16(self.data.len() as u16);
        bytes.bytes(self.data);
        block.finish(0);
    }
}

/// Appends a CLOSE_PRINT_FILE: the job is whole and may be printed. The reply is an empty block.
pub fn emit_close(fid: Fid, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(fid.0);
    block.finish(0);
}

/// Decodes the reply to an open: the job.
///
/// # Errors
/// [`Error::Short`].
pub fn parse_open_response(block: &Block<'_>) -> Result<Fid> {
    block.word(0).map(Fid)
}

/// GET_PRINT_QUEUE's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetQueue {
    /// Entries wanted at most; negative ones backwards.
    pub max_count: i16,
    /// The first wanted.
    pub start: u16,
}

impl GetQueue {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        Ok(Self {
            max_count: block.word(0)? as i16,
            start: block.word(1)?,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.max_count as u16).u16(self.start);
        block.finish(0);
    }
}

/// A job in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEntry<'a> {
    /// Time of arrival.
    pub queued: DosDateTime,
    /// 1 held, 2 printing, 3 waiting, 4 in intercept, 5 file had error, 6 printer error.
    pub status: u8,
    /// Number of the job.
    pub job: u16,
    /// Length, bytes.
    pub size: u32,
    /// The user who sent it.
    pub originator: WireStr<'a>,
}

/// Length of a queue's entry, bytes.
const QUEUE_ENTRY_LEN: usize = 28;

impl<'a> QueueEntry<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        let date = r.u16("date")?;
        let time = r.u16("time")?;
        let (status, job, size) = (r.u8("status")?, r.u16("job")?, r.u32("size")?);
        r.u8("reserved")?;
        let name = r.take(16, "originator")?;
        let raw = name.split(|&byte| byte == 0).next().unwrap_or(name);
        Ok(Self {
            queued: DosDateTime { date, time },
            status,
            job,
            size,
            originator: WireStr {
                raw: raw.trim_ascii_end(),
                unicode: false,
            },
        })
    }

    fn emit(&self, out: &mut Writer) {
        out.u16(self.queued.date).u16(self.queued.time);
        out.u8(self.status).u16(self.job).u32(self.size).u8(0);
        let mut name = [0; 16];
        for (slot, byte) in name.iter_mut().zip(self.originator.raw) {
            *slot = *byte;
        }
        out.bytes(&name);
    }
}

/// GET_PRINT_QUEUE's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue<'a> {
    /// Index at which to continue.
    pub restart: u16,
    /// The jobs, limited by the count in the words and by the data.
    pub entries: Vec<QueueEntry<'a>>,
}

impl<'a> Queue<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let count = usize::from(block.word(0)?);
        let mut strings = block.strings(false);
        strings.maybe_format(1);
        let _ = strings.u16("data length");
        let whole = strings.rest().chunks_exact(QUEUE_ENTRY_LEN);
        Ok(Self {
            restart: block.word(1)?,
            entries: whole
                .take(count)
                .map(QueueEntry::parse)
                .collect::<Result<_>>()?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let count = self.entries.len();
        block.words().u16(count as u16).u16(self.restart);
        let bytes = block.bytes().u8(1);
        bytes.u16((count * QUEUE_ENTRY_LEN) as u16);
        self.entries.iter().for_each(|entry| entry.emit(bytes));
        block.finish(0);
    }
}

/// Appends the reply to an open.
pub fn emit_open_response(fid: Fid, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(fid.0);
    block.finish(0);
}

/// Appends the list of an empty queue: no entries, and an empty data block.
pub fn emit_empty_queue(out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(0).u16(0);
    block.bytes().u8(1).u16(0);
    block.finish(0);
}
