//! The data to send.

/// Fills a buffer with incompressible bytes; the same seed gives the same bytes.
///
/// SPDTEST sends repeated printable ASCII. A modem or VPN with compression then looks faster than it is.
pub fn fill_pattern(buffer: &mut [u8], seed: u64) {
    // xorshift64* (Vigna 2014); its state must not be zero
    let mut state = seed | 1;
    for chunk in buffer.chunks_mut(8) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let word = state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes();
        for (byte, from) in chunk.iter_mut().zip(word) {
            *byte = from;
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        let (mut one, mut two, mut other) = (vec![0; 1003], vec![0xa5; 1003], vec![0; 1003]);
        fill_pattern(&mut one, 7);
        fill_pattern(&mut two, 7);
        fill_pattern(&mut other, 8);
        assert_eq!(one, two);
        assert_ne!(one, other);
    }

    #[test]
    fn every_byte_value_occurs_about_as_often_as_any_other() {
        let mut buffer = vec![0; 256 * 1024];
        fill_pattern(&mut buffer, 1);
        let mut counts = [0u32; 256];
        for byte in buffer {
            counts[usize::from(byte)] += 1;
        }
        assert!(
            counts.iter().all(|&n| (850..1200).contains(&n)),
            "{counts:?}"
        );
    }
}
