/// Why there is no elastic object or no tool.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ElasticError {
    /// A value is outside the range in which it has a meaning.
    #[error("{what} is {value}, expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A profile is not convex, so the surface of revolution is not.
    #[error("the profile is concave at point {point}; an elastic object is convex when undeformed")]
    ConcaveProfile {
        /// Its position in the list, from 0.
        point: usize,
    },
    /// A profile does not run from the axis, upwards, back to the axis.
    #[error(
        "the profile must run from a point on the axis around to a higher point on the axis, without repeated points"
    )]
    OpenProfile,
    /// Everywhere on the surface some contact would have all anchor points inside its neighbourhood.
    #[error("a contact has no anchor point outside its neighbourhood of {neighbourhood} m; choose a smaller radius")]
    NoAnchorInReach {
        /// Radius of the neighbourhood, m.
        neighbourhood: f64,
    },
    /// An inclusion is not inside the object.
    #[error("inclusion {index} is not inside the object")]
    InclusionOutside {
        /// Its position in the list, from 0.
        index: usize,
    },
    /// Two inclusions share a volume, so the material there is not known.
    #[error("inclusions {a} and {b} overlap")]
    InclusionsOverlap {
        /// The first of them.
        a: usize,
        /// The second.
        b: usize,
    },
    /// A tool has no pieces.
    #[error("a tool needs at least one piece")]
    EmptyTool,
    /// A piece of a tool is not a closed surface that looks outward.
    #[error("piece {piece} of the tool is not a closed surface wound counter-clockwise seen from outside")]
    OpenPiece {
        /// Its position in the list, from 0.
        piece: usize,
    },
    /// A piece of a tool is not convex.
    #[error("piece {piece} of the tool is concave; split it into closed convex pieces that share no vertices")]
    ConcavePiece {
        /// Its position in the list, from 0.
        piece: usize,
    },
    /// Neighbouring points of the tool are farther apart than the distance that links contact points.
    #[error(
        "points of the tool are {spacing} m apart, farther than the linking distance of {link} m; use a finer mesh"
    )]
    SparseTool {
        /// Greatest distance of a point to its nearest neighbour, m.
        spacing: f64,
        /// The linking distance r_th, m.
        link: f64,
    },
}

/// Rejects what is not a positive finite number.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), ElasticError> {
    in_range(what, value, value > 0.0, "a positive number")
}

/// Rejects a value that fails its check or is not finite.
pub(super) fn in_range(
    what: &'static str,
    value: f64,
    is_good: bool,
    expected: &'static str,
) -> Result<(), ElasticError> {
    if is_good && value.is_finite() { Ok(()) } else { Err(ElasticError::OutOfRange { what, value, expected }) }
}
