use std::ops::{Add, Mul, Neg, Sub};

/// Numbers of four elements. Operations are elementwise, so results do not depend on the vector width of the processor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Lanes(pub [f64; 4]);

impl Lanes {
    /// The same number in all entries.
    #[inline(always)]
    pub fn all(x: f64) -> Self {
        Self([x; 4])
    }

    /// Elementwise `1 / x`.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self(self.0.map(|x| 1.0 / x))
    }

    /// Elementwise square root.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }

    /// Elementwise minimum with a number.
    #[inline(always)]
    pub fn at_most(self, most: f64) -> Self {
        Self(self.0.map(|x| if x < most { x } else { most }))
    }

    /// Whether a condition holds for any pair of entries.
    #[inline(always)]
    pub fn any(self, other: Self, holds: impl Fn(f64, f64) -> bool) -> bool {
        (0..4).fold(false, |any, i| any | holds(self.0[i], other.0[i]))
    }
}

macro_rules! entry_by_entry {
    ($operator:ident, $name:ident) => {
        impl $operator for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                let (a, b) = (self.0, other.0);
                Self([a[0].$name(b[0]), a[1].$name(b[1]), a[2].$name(b[2]), a[3].$name(b[3])])
            }
        }
    };
}

entry_by_entry!(Add, add);
entry_by_entry!(Sub, sub);
entry_by_entry!(Mul, mul);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}
