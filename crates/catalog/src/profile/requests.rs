//! Number of bytes per request.

use alloc::{sync::Arc, vec::Vec};
use serde::Deserialize;

/// Number of bytes per request: a number, `"buffer"`, or a list of sizes with their counts, `[[4096, 3], [512, 1]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub enum BlockSize {
    /// So many.
    Bytes(u32),
    /// As much as fits into the negotiated buffer.
    Buffer(FillsBuffer),
    /// Different sizes in turn, as in a recorded workload.
    Sizes(Arc<RequestSizes>),
}

/// A word for as much as fits: `"buffer"`, or `"kibibytes"` for whole multiples of 1,024 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillsBuffer {
    /// All of it.
    Buffer,
    /// Whole multiples of 1,024 bytes, if one fits.
    Kibibytes,
}

impl FillsBuffer {
    /// The size of a request for whose data there is so much room, bytes: at least 1.
    #[must_use]
    pub const fn bytes(self, room: u32) -> u32 {
        const KIBIBYTE: u32 = 1024;
        match (self, room) {
            (_, 0) => 1,
            (Self::Kibibytes, KIBIBYTE..) => room - room % KIBIBYTE,
            _ => room,
        }
    }
}

/// Sizes of requests with their counts, in a fixed order that has each size in proportion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSizes {
    /// Each size, and the number of requests with this size or an earlier one.
    sizes: Vec<(u32, u64)>,
    requests: u64,
    bytes: u128,
}

/// 2^64 divided by the golden ratio. Multiples of it modulo 2^64 are as even as those of any number (Knuth, The Art of
/// Computer Programming, volume 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl RequestSizes {
    /// From pairs of a size in bytes and the number of requests with it.
    ///
    /// # Errors
    /// There is no pair, or a size or a count is 0.
    pub fn new(pairs: &[(u32, u32)]) -> Result<Self, &'static str> {
        if pairs.is_empty() {
            return Err("a list of request sizes must have at least one [bytes, count]");
        }
        if pairs.iter().any(|(size, count)| *size == 0 || *count == 0) {
            return Err("bytes and count of a request size must be 1 or more");
        }
        let (mut sizes, mut requests, mut bytes) = (Vec::new(), 0_u64, 0_u128);
        for (size, count) in pairs {
            requests = requests.saturating_add(u64::from(*count));
            bytes = bytes.saturating_add(u128::from(*size).saturating_mul(u128::from(*count)));
            sizes.push((*size, requests));
        }
        Ok(Self {
            sizes,
            requests,
            bytes,
        })
    }

    /// Number of requests in the list.
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// Bytes of all of them.
    pub const fn bytes(&self) -> u128 {
        self.bytes
    }

    /// The largest size.
    pub fn largest(&self) -> u32 {
        let sizes = self.sizes.iter().map(|(size, _)| *size);
        sizes.max().unwrap_or(1)
    }

    /// The size of a request, by its number from 0. Any number of requests in sequence has each size nearly in proportion
    /// to its count. The sequence does not depend on a seed.
    pub fn size(&self, number: u64) -> u32 {
        let fraction = number.wrapping_add(1).wrapping_mul(GOLDEN);
        let place = (u128::from(fraction).saturating_mul(u128::from(self.requests)) >> 64) as u64;
        let at = self.sizes.partition_point(|(_, end)| *end <= place);
        let found = self.sizes.get(at).or(self.sizes.last());
        found.map_or(1, |(size, _)| *size)
    }

    /// The number of requests whose sizes add up to `bytes`, rounded; at least one.
    pub fn requests_in(&self, bytes: u64) -> u64 {
        let wanted = u128::from(bytes).saturating_mul(u128::from(self.requests));
        let rounded = wanted
            .saturating_add(self.bytes / 2)
            .checked_div(self.bytes);
        u64::try_from(rounded.unwrap_or(0))
            .unwrap_or(u64::MAX)
            .max(1)
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a whole number of bytes, \"buffer\", \"kibibytes\", or a list of [bytes, count], such as [[4096, 3], [512, 1]]"
)]
enum Written {
    Bytes(u32),
    Buffer(FillsBuffer),
    Sizes(Vec<(u32, u32)>),
}

impl TryFrom<Written> for BlockSize {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        Ok(match written {
            Written::Bytes(bytes) => Self::Bytes(bytes),
            Written::Buffer(word) => Self::Buffer(word),
            Written::Sizes(pairs) => Self::Sizes(Arc::new(RequestSizes::new(&pairs)?)),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    const PAIRS: [(u32, u32); 3] = [(1, 1), (512, 20), (4096, 79)];

    #[test]
    fn each_size_comes_in_proportion_to_its_count() {
        let sizes = RequestSizes::new(&PAIRS).unwrap();
        assert_eq!((sizes.requests(), sizes.bytes()), (100, 333_825));
        assert_eq!(sizes.largest(), 4096);
        let mut counts: BTreeMap<u32, i64> = BTreeMap::new();
        for number in 0..10_000 {
            *counts.entry(sizes.size(number)).or_default() += 1;
        }
        for (size, count) in PAIRS {
            let found = counts.remove(&size).unwrap_or(0);
            let expected = i64::from(count) * 100;
            assert!((found - expected).abs() <= 3, "{size}: {found}");
        }
        assert!(counts.is_empty(), "{counts:?}");
    }

    #[test]
    fn the_sizes_alternate_and_their_order_is_always_the_same() {
        let sizes = RequestSizes::new(&[(512, 1), (4096, 2)]).unwrap();
        let first: Vec<u32> = (0..9).map(|number| sizes.size(number)).collect();
        let expected = [4096, 512, 4096, 4096, 512, 4096, 512, 4096, 4096];
        assert_eq!(first, expected);
        let again = RequestSizes::new(&[(512, 1), (4096, 2)]).unwrap();
        assert!((0..1000).all(|number| again.size(number) == sizes.size(number)));
    }

    #[test]
    fn a_number_of_bytes_takes_requests_of_the_average_size() {
        let sizes = RequestSizes::new(&PAIRS).unwrap();
        assert_eq!(sizes.requests_in(333_825), 100);
        assert_eq!(sizes.requests_in(33_382_500), 10_000);
        assert_eq!(sizes.requests_in(0), 1);
        assert_eq!(sizes.size(u64::MAX), 1);
    }

    #[test]
    fn counts_of_any_magnitude_are_possible() {
        let sizes = RequestSizes::new(&[(u32::MAX, u32::MAX); 3]).unwrap();
        assert_eq!(sizes.size(7), u32::MAX);
        assert!(sizes.requests_in(u64::MAX) > 1);
    }

    #[test]
    fn an_empty_list_and_a_size_or_a_count_of_0_are_refused() {
        let refused = |pairs: &[(u32, u32)]| RequestSizes::new(pairs).unwrap_err();
        assert!(refused(&[]).contains("at least one [bytes, count]"));
        assert!(refused(&[(512, 1), (0, 3)]).contains("1 or more"));
        assert!(refused(&[(512, 0)]).contains("1 or more"));
    }
}
