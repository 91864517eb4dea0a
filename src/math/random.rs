/// A reproducible random number generator: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator for a trial of a seed.
    pub fn new(seed: u64, trial: u64) -> Self {
        let mut random = Self(seed);
        // Adjacent seeds and trials must not give shifted copies of one sequence.
        Self(random.next() ^ Self(trial.wrapping_add(0x5851_f42d_4c95_7f2d)).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even_and_depend_on_seed_and_trial() {
        let mut random = Random::new(1, 1);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = numbers.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let first = |seed, trial| Random::new(seed, trial).unit();
        assert_eq!(first(1, 1), numbers[0]);
        assert!(first(2, 1) != numbers[0] && first(1, 2) != numbers[0] && first(2, 1) != first(1, 2));
    }
}
