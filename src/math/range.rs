use std::fmt;

/// An inclusive range of a quantity, with its unit. Files, scripts and the command line check numbers with it, so that their
/// messages agree.
///
/// ```
/// use fingerpad::math::Range;
///
/// let seconds = Range::new(0.0, 60.0, "s");
/// assert_eq!(seconds.parse("2.5"), Ok(2.5));
/// assert_eq!(seconds.parse("90").unwrap_err().to_string(), "expected a number from 0 to 60 s");
/// assert!(seconds.parse("NaN").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Unit, as messages print it.
    pub unit: &'static str,
}

/// A text that is not a number in a range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected {0}")]
pub struct OutOfRange(pub Range);

impl Range {
    /// From the least to the greatest value.
    pub const fn new(min: f64, max: f64, unit: &'static str) -> Self {
        Self { min, max, unit }
    }

    /// Whether a value lies in it; NaN does not.
    pub fn contains(&self, x: f64) -> bool {
        x >= self.min && x <= self.max
    }

    /// The number of a text, if it lies in the range.
    pub fn parse(&self, text: &str) -> Result<f64, OutOfRange> {
        text.trim().parse().ok().filter(|x| self.contains(*x)).ok_or(OutOfRange(*self))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from {} to {}", Short(self.min), Short(self.max))?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// A number with four decimals at most, or with an exponent if it is very small or large.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(x) = self;
        if *x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e5) {
            write!(f, "{x:e}")
        } else {
            write!(f, "{}", (x * 1e4).round() / 1e4)
        }
    }
}
