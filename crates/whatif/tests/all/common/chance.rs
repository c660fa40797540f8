//! The same numbers every time (xorshift64*, Vigna 2016).

/// A generator; its seed is not 0.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// By the upper half: the lower bits of seeds that are alike stay alike.
    pub fn below(&mut self, most: u64) -> u64 {
        (self.next() >> 32) % most
    }

    pub fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len() as u64) as usize]
    }

    /// Evenly by its logarithm.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let part = self.below(1 << 20) as f64 / (1 << 20) as f64;
        low * (high / low).powf(part)
    }
}
