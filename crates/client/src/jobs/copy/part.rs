//! Tags of a copy's requests, and block sizes.

use crate::{profile::BlockSize, spec::CopySpec};

/// Tags of requests without data.
pub(super) const STEP: u32 = 0;
pub(super) const WATCH_FOLDER: u32 = 1;
pub(super) const WATCH: u32 = 2;
/// Tags from here on belong to the data transfer.
pub(super) const DATA: u32 = 16;

/// The sizes of a transfer's blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The number of the next request of a list of sizes.
    next: u64,
    /// The end of the present request of the list in the file.
    end: u64,
}

impl Blocks {
    /// At the beginning of a copy.
    pub fn new(spec: &CopySpec) -> Self {
        Self {
            next: spec.first_request,
            end: spec.from,
        }
    }

    /// The size of the block at `offset` with this profile setting and number of bytes that fit into the buffer.
    pub fn bytes(&mut self, block: &BlockSize, room: u32, offset: u64) -> u32 {
        match block {
            BlockSize::Bytes(bytes) => (*bytes).max(1),
            BlockSize::Buffer(fills) => fills.bytes(room),
            BlockSize::Sizes(sizes) => {
                while self.end <= offset {
                    self.end = self.end.saturating_add(u64::from(sizes.size(self.next)));
                    self.next = self.next.wrapping_add(1);
                }
                u32::try_from(self.end.saturating_sub(offset)).unwrap_or(u32::MAX)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::profile::{FillsBuffer, RequestSizes};

    #[test]
    fn a_block_has_one_size_or_fills_the_buffer() {
        let mut blocks = Blocks::new(&CopySpec::get("F"));
        assert_eq!(blocks.bytes(&BlockSize::Bytes(1000), 4292, 2300), 1000);
        let buffer = BlockSize::Buffer(FillsBuffer::Buffer);
        assert_eq!(blocks.bytes(&buffer, 4292, 2300), 4292);
        assert_eq!(blocks.bytes(&buffer, 0, 0), 1);
        let whole = BlockSize::Buffer(FillsBuffer::Kibibytes);
        // what Samba 2.0.5a leaves of its servers' buffers
        for (buffer, block) in [
            (4356, 4096),
            (16_644, 16_384),
            (65_535, 64_512),
            (1200, 1024),
        ] {
            assert_eq!(blocks.bytes(&whole, buffer - 71, 0), block);
        }
        assert_eq!(blocks.bytes(&whole, 900, 0), 900);
        assert_eq!(blocks.bytes(&whole, 0, 0), 1);
    }

    #[test]
    fn the_sizes_of_a_list_come_in_turn_from_the_first_request_on() {
        let sizes = RequestSizes::new(&[(512, 1), (4096, 2)]).unwrap();
        let block = BlockSize::Sizes(sizes.into());
        let mut blocks = Blocks::new(&CopySpec {
            from: 100,
            first_request: 2,
            ..CopySpec::get("F")
        });
        // the sequence from its third request on is 4096, 4096, 512; a short reply leaves the rest of a request
        for (offset, bytes) in [
            (100, 4096),
            (1100, 3096),
            (4196, 4096),
            (8292, 512),
            (8291, 513),
        ] {
            assert_eq!(blocks.bytes(&block, 4292, offset), bytes, "{offset}");
        }
    }
}
