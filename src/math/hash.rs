use super::{Pose, Vec3};

/// A 64-bit hash of a simulation state, a function of the bits of its numbers alone: the same on every run and
/// every machine with the same floating-point results. Word-wise multiply and rotate; not for adversaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateHash(u64);

impl Default for StateHash {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl StateHash {
    /// Mixes one word in.
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }

    /// Mixes a number in, by its bits.
    pub fn number(&mut self, x: f64) {
        self.word(x.to_bits());
    }

    /// Mixes a slice in.
    pub fn numbers(&mut self, xs: &[f64]) {
        for &x in xs {
            self.number(x);
        }
    }

    /// Mixes a vector in.
    pub fn vector(&mut self, v: &Vec3) {
        self.numbers(v.as_slice());
    }

    /// Mixes a pose in.
    pub fn pose(&mut self, pose: &Pose) {
        self.vector(&pose.translation.vector);
        self.numbers(pose.rotation.coords.as_slice());
    }

    /// The hash.
    pub fn value(&self) -> u64 {
        let mut x = self.0;
        x ^= x >> 32;
        x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_sign_of_zero_matter() {
        let hash = |xs: &[f64]| {
            let mut h = StateHash::default();
            h.numbers(xs);
            h.value()
        };
        assert_eq!(hash(&[1.0, 2.0]), hash(&[1.0, 2.0]));
        assert_ne!(hash(&[1.0, 2.0]), hash(&[2.0, 1.0]));
        assert_ne!(hash(&[0.0]), hash(&[-0.0]));
        assert_ne!(hash(&[]), hash(&[0.0]));
    }
}
