//! Mutations of seeds, for fuzzing without a compiler's help.

/// A small generator of random numbers (SplitMix64): the same seed, the same numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % (n as u64).max(1)) as usize
    }
}

/// Numbers that decoders stumble over.
const NUMBERS: &[u32] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    257,
    511,
    512,
    1023,
    1024,
    4095,
    4096,
    0x7fff,
    0x8000,
    0xfffe,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
];

/// The longest input made, bytes.
pub const MAX_LEN: usize = 4096;

/// A seed changed in one to eight places; now and then spliced with another, or nothing but noise.
pub fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut data = seeds[random.below(seeds.len())].clone();
    if random.below(50) == 0 {
        data = (0..random.below(300))
            .map(|_| random.next_u64() as u8)
            .collect();
    }
    if random.below(8) == 0 {
        let other = &seeds[random.below(seeds.len())];
        data.truncate(random.below(data.len() + 1));
        data.extend_from_slice(&other[random.below(other.len() + 1)..]);
    }
    for _ in 0..=random.below(8) {
        mutate_once(&mut data, random);
    }
    data.truncate(MAX_LEN);
    data
}

fn mutate_once(data: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(data.len() + 1);
    match random.below(9) {
        0 => data.truncate(at),
        1 => data.insert(at, random.next_u64() as u8),
        2 => drop(data.drain(at..(at + random.below(8)).min(data.len()))),
        3 => overwrite(data, at, &[random.next_u64() as u8]),
        4 => overwrite(
            data,
            at,
            &(NUMBERS[random.below(NUMBERS.len())] as u16).to_le_bytes(),
        ),
        5 => overwrite(
            data,
            at,
            &NUMBERS[random.below(NUMBERS.len())].to_le_bytes(),
        ),
        6 => flip_bit(data, random),
        7 => repeat_piece(data, at, random),
        _ => nudge(data, random),
    }
}

fn overwrite(data: &mut [u8], at: usize, with: &[u8]) {
    for (place, byte) in data.iter_mut().skip(at).zip(with) {
        *place = *byte;
    }
}

fn flip_bit(data: &mut [u8], random: &mut Random) {
    let at = random.below(data.len());
    if let Some(byte) = data.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn nudge(data: &mut [u8], random: &mut Random) {
    let at = random.below(data.len());
    if let Some(byte) = data.get_mut(at) {
        *byte = byte.wrapping_add([1, 255][random.below(2)]);
    }
}

fn repeat_piece(data: &mut Vec<u8>, at: usize, random: &mut Random) {
    let end = (at + random.below(64)).min(data.len());
    let piece = data[at..end].to_vec();
    data.splice(end..end, piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_another_seed_others() {
        let seeds = [b"hello".to_vec(), vec![0; 40]];
        let inputs = |seed| {
            let mut random = Random(seed);
            (0..200)
                .map(|_| mutated(&seeds, &mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert!(inputs(1).iter().all(|input| input.len() <= MAX_LEN));
    }
}
