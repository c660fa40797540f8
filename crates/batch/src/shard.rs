//! A part of the work, for several machines.

use std::{fmt, path::Path, str::FromStr};

/// The `index`-th of `count` parts, from 1 on. A capture's part depends on its name only; the points of a sweep are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Everything.
    pub const ALL: Self = Self { index: 1, count: 1 };

    /// Whether a capture of this name is in the part.
    pub fn has(self, name: &Path) -> bool {
        // FNV-1a, 64 bits: the same on every machine and in every version
        let bytes = name.as_os_str().as_encoded_bytes().iter();
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash % u64::from(self.count) == u64::from(self.index - 1)
    }

    /// Its number, from 1 on, and how many parts there are.
    pub fn numbers(self) -> (u32, u32) {
        (self.index, self.count)
    }

    /// Whether it is everything.
    pub fn is_all(self) -> bool {
        self.count == 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("'{text}' is not a part; expected I/N with I from 1 to N, such as 2/8");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        match (1..=count).contains(&index) {
            true => Ok(Self { index, count }),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-of-{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_name_is_in_one_part() {
        for number in 0..500 {
            let name = format!("folder/{number}.pcap");
            let parts = (1..=7).filter(|index| {
                Shard {
                    index: *index,
                    count: 7,
                }
                .has(Path::new(&name))
            });
            assert_eq!(parts.count(), 1, "{name}");
            assert!(Shard::ALL.has(Path::new(&name)));
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        assert_eq!("2/8".parse(), Ok(Shard { index: 2, count: 8 }));
        for text in ["", "2", "0/8", "9/8", "1/0", "a/b", "1/8/9", "-1/8"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
