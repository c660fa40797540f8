//! Random numbers that depend on the seed alone: SplitMix64 (Steele, Lea, Flood, 2014).

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of a seed and a part of the program: step 7 draws the same numbers whether step 6 ran or not.
    #[must_use]
    pub fn new(seed: u64, part: u64) -> Self {
        let mut mixed = Self(seed ^ part.wrapping_mul(0xd134_2543_de82_ef95));
        mixed.draw();
        mixed
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            bound => (self.draw() % bound as u64) as usize,
        }
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// One of several that are not empty.
    pub fn of<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        from[self.below(N)]
    }
}
