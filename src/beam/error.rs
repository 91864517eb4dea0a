/// Why there is no beam.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BeamError {
    /// A value is outside its range.
    #[error("{what} is {value}, expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The accepted range.
        expected: &'static str,
    },
    /// A path has fewer than two points.
    #[error("a beam needs a path of at least two points, not {0}")]
    ShortPath(usize),
    /// The number of beams is zero or too large.
    #[error("a chain has 1 to {most} beams, not {count}")]
    Count {
        /// The requested number.
        count: usize,
        /// The largest number.
        most: usize,
    },
    /// Two neighbouring points of a path are the same.
    #[error("points {0} and {next} of the path coincide; every beam needs a length", next = .0 + 1)]
    ZeroLength(usize),
    /// A path turns back on itself at a point.
    #[error("the path turns by more than 150 degrees at point {0}; use more points")]
    Reversal(usize),
    /// The two ends have different kinds of section.
    #[error("a taper joins two sections of one kind, both round or both rectangular")]
    MixedSections,
}

/// Rejects what is not a positive finite number.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), BeamError> {
    in_range(what, value, value > 0.0, "a positive number")
}

/// Rejects a value that fails its check or is not finite.
pub(super) fn in_range(what: &'static str, value: f64, good: bool, expected: &'static str) -> Result<(), BeamError> {
    if good && value.is_finite() { Ok(()) } else { Err(BeamError::OutOfRange { what, value, expected }) }
}
