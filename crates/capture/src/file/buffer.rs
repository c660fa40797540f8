//! A buffer over a stream that holds one whole record at a time.

use std::io::Read;

/// Read size, bytes.
const CHUNK: usize = 1 << 18;

/// The longest record that the buffer holds, bytes. The reader skips longer ones (pcapng blocks without a packet).
pub(super) const MAX_RECORD: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Buffer<R> {
    from: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the stream before the buffer.
    before: u64,
    ended: bool,
    /// Bytes that [`Self::skip`] has still to pass over, after a read that would have blocked.
    to_skip: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            bytes: vec![0; CHUNK],
            start: 0,
            end: 0,
            before: 0,
            ended: false,
            to_skip: 0,
        }
    }

    /// Reads until `wanted` bytes (at most [`MAX_RECORD`]) are available; `false` if the stream ends before.
    #[inline]
    pub(super) fn fill(&mut self, wanted: usize) -> std::io::Result<bool> {
        if self.len() >= wanted {
            return Ok(true);
        }
        self.fetch(wanted)
    }

    #[cold]
    fn fetch(&mut self, wanted: usize) -> std::io::Result<bool> {
        while self.len() < wanted {
            if self.ended || wanted > MAX_RECORD {
                return Ok(false);
            }
            self.read_more(wanted)?;
        }
        Ok(true)
    }

    fn read_more(&mut self, wanted: usize) -> std::io::Result<()> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.before = self.before.saturating_add(self.start as u64);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted.next_multiple_of(CHUNK), 0);
        }
        let room = self.bytes.get_mut(self.end..).unwrap_or_default();
        loop {
            match self.from.read(room) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end = self.end.saturating_add(read),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Where the bytes come from.
    pub(super) fn source(&mut self) -> &mut R {
        &mut self.from
    }

    /// The available bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.end - self.start
    }

    /// Takes up to `count` of the available bytes.
    pub(super) fn consume(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start = from.saturating_add(count).min(self.end);
        self.bytes.get(from..self.start).unwrap_or_default()
    }

    /// Skips `count` bytes of the stream; `false` if it ends before. After an error, [`Self::finish_skip`] goes on.
    pub(super) fn skip(&mut self, count: u64) -> std::io::Result<bool> {
        self.to_skip = count;
        self.finish_skip()
    }

    /// Goes on with a skip that an error interrupted; `false` if the stream ends before.
    pub(super) fn finish_skip(&mut self) -> std::io::Result<bool> {
        loop {
            let count = usize::try_from(self.to_skip).unwrap_or(usize::MAX);
            let now = count.min(self.len());
            self.consume(now);
            self.to_skip -= now as u64;
            if self.to_skip == 0 {
                return Ok(true);
            }
            if !self.fill(1)? {
                return Ok(false);
            }
        }
    }

    /// Bytes consumed so far.
    pub(super) fn offset(&self) -> u64 {
        self.before.saturating_add(self.start as u64)
    }
}
