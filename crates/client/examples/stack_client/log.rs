//! What a program and its TCP passed to each other, when.

use std::{
    fs::File,
    io::{BufWriter, Result, Write},
    time::{SystemTime, UNIX_EPOCH},
};

use coax_wire::time::Time;

/// Lines of `NANOSECONDS KIND OFFSET`: the time since 1970, and an offset of the stream. Kinds: `offered` (what the program
/// wants to send), `taken` (what the send buffer has of it) and `read` (what the program has of the other stream).
pub struct Log {
    file: BufWriter<File>,
    offered: u64,
    taken: u64,
    read: u64,
}

impl Log {
    pub fn create(path: &str) -> Result<Self> {
        Ok(Self {
            file: BufWriter::new(File::create(path)?),
            offered: 0,
            taken: 0,
            read: 0,
        })
    }

    /// The engine's clock is that of the log.
    pub fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Time(since.map_or(0, |since| since.as_nanos() as u64))
    }

    pub fn offered(&mut self, count: usize) -> Result<()> {
        self.offered += count as u64;
        self.line("offered", self.offered)
    }

    pub fn taken(&mut self, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.taken += count as u64;
        self.line("taken", self.taken)
    }

    pub fn read(&mut self, count: usize) -> Result<()> {
        self.read += count as u64;
        self.line("read", self.read)
    }

    fn line(&mut self, kind: &str, offset: u64) -> Result<()> {
        let now = self.now().0;
        writeln!(self.file, "{now} {kind} {offset}")
    }

    pub fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}
