//! The benchmark's data: incompressible bytes generated from a seed, and memory or unnamed files that hold the copies.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
};

use coax_client::LocalError;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::{
    client::local::{LocalEnd, failed},
    speed::Stop,
};

/// Copies up to this size are kept in memory, larger ones in unnamed files. Bytes.
const IN_MEMORY: u64 = 256 << 20;
/// Number of bytes generated or hashed at a time.
const PIECE: usize = 1 << 20;

/// The SHA-256 of a file's contents.
pub type Hash = [u8; 32];

/// The next number of the SplitMix64 generator (Steele, Lea and Flood, 2014). Its output does not compress.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Creates an unnamed local file with `size` bytes generated from `seed`. The same seed gives the same bytes.
///
/// # Errors
/// There is not enough space.
pub fn generated(size: u64, seed: u64) -> io::Result<File> {
    let mut file = nameless(size)?;
    let mut state = seed;
    let mut piece = vec![0; PIECE];
    let mut left = size;
    while left > 0 {
        for word in piece.chunks_exact_mut(8) {
            word.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        let now = left.min(PIECE as u64);
        file.write_all(piece.get(..now as usize).unwrap_or_default())?;
        left = left.saturating_sub(now);
    }
    Ok(file)
}

/// Creates an unnamed local file with `size` bytes allocated, so that a copy into it does not wait for the allocation.
///
/// # Errors
/// There is not enough space.
pub fn preallocated(size: u64) -> io::Result<File> {
    let file = nameless(size)?;
    wipe(&file, size)?;
    Ok(file)
}

/// Overwrites `size` bytes with a pattern that the copied data does not contain.
///
/// # Errors
/// Writing failed.
pub fn wipe(file: &File, size: u64) -> io::Result<()> {
    let piece = vec![0xa5; PIECE];
    let mut at = 0;
    while at < size {
        let now = size.saturating_sub(at).min(PIECE as u64);
        file.write_all_at(piece.get(..now as usize).unwrap_or_default(), at)?;
        at = at.saturating_add(now);
    }
    Ok(())
}

fn nameless(size: u64) -> io::Result<File> {
    if size <= IN_MEMORY {
        return Ok(rustix::fs::memfd_create("coax-bench", MemfdFlags::CLOEXEC)?.into());
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open(std::env::temp_dir(), flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// The hash of the first `size` bytes of a file.
///
/// # Errors
/// Reading failed.
pub fn hash(file: &File, size: u64) -> io::Result<Hash> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < size {
        let now = (size.saturating_sub(at)).min(PIECE as u64) as usize;
        let part = piece.get_mut(..now).unwrap_or_default();
        file.read_exact_at(part, at)?;
        hasher.update(&*part);
        at = at.saturating_add(now as u64);
    }
    Ok(hasher.finalize().into())
}

/// The local end of a copy: a file, and the flag that stops the copy.
#[derive(Debug)]
pub struct Stoppable<'a> {
    /// The file.
    pub file: &'a File,
    /// Ends the copy once it is set.
    pub stop: &'a Stop,
}

impl Stoppable<'_> {
    fn check(&self) -> Result<(), LocalError> {
        if self.stop.is_set() {
            return Err(LocalError {
                message: "stopped".into(),
                disk_full: false,
            });
        }
        Ok(())
    }
}

impl LocalEnd for Stoppable<'_> {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.check()?;
        self.file
            .write_all_at(data, offset)
            .map_err(|error| failed(NAME, &error))
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        self.check()?;
        self.file
            .read_at(buffer, offset)
            .map_err(|error| failed(NAME, &error))
    }

    fn file(&self) -> Option<(BorrowedFd<'_>, &str)> {
        Some((self.file.as_fd(), NAME))
    }
}

const NAME: &str = "the bench's own file";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        let size = 3_000_001;
        let [a, b, c] = [1, 1, 2].map(|seed| generated(size, seed).unwrap());
        assert_eq!(a.metadata().unwrap().len(), size);
        assert_eq!(hash(&a, size).unwrap(), hash(&b, size).unwrap());
        assert_ne!(hash(&a, size).unwrap(), hash(&c, size).unwrap());
    }

    #[test]
    fn all_byte_values_are_equally_frequent() {
        let size = 1 << 20;
        let file = generated(size, 7).unwrap();
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let mut counts = [0i64; 256];
        bytes
            .iter()
            .for_each(|byte| counts[usize::from(*byte)] += 1);
        // expected: 4,096 each; six standard deviations are 384
        assert!(counts.iter().all(|count| (count - 4096).abs() < 384));
        let halves: Vec<_> = bytes.chunks(bytes.len() / 2).collect();
        assert_ne!(halves[0], halves[1]);
    }

    #[test]
    fn a_byte_that_differs_anywhere_changes_the_hash() {
        let size = 2_500_000;
        let file = generated(size, 1).unwrap();
        let before = hash(&file, size).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, size - 1).unwrap();
        file.write_all_at(&[byte[0] ^ 1], size - 1).unwrap();
        assert_ne!(hash(&file, size).unwrap(), before);
    }

    #[test]
    fn a_stopped_copy_accepts_no_data() {
        let (file, stop) = (preallocated(10).unwrap(), Stop::default());
        let mut end = Stoppable {
            file: &file,
            stop: &stop,
        };
        end.write(0, b"ab").unwrap();
        stop.set();
        assert!(end.write(2, b"cd").is_err() && end.read(0, &mut [0; 2]).is_err());
    }
}
