use crate::math::Random;

/// Random choices that depend on a seed and an episode only.
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Random::new(seed, stream))
    }

    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below a limit, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.unit() * limit as f64) as usize).min(limit - 1)
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of some values, of which there is at least one.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    pub fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}
