//! The same numbers every time (xorshift).

/// A generator; its seed is not 0.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most
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
