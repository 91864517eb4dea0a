//! Names of the parts of the hand. OpenXR's are canonical; angles are ordered as in Talvas 2015, §4.

/// Left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left hand.
    Left,
    /// The right hand.
    Right,
}

impl Side {
    /// `left` or `right`.
    pub fn name(self) -> &'static str {
        match self {
            Side::Left => "left",
            Side::Right => "right",
        }
    }
}

/// A finger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Finger {
    Thumb,
    Index,
    Middle,
    Ring,
    Little,
}

impl Finger {
    /// All five, thumb first.
    pub const ALL: [Finger; 5] = [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];

    /// The OpenXR name.
    pub fn name(self) -> &'static str {
        ["thumb", "index", "middle", "ring", "little"][self as usize]
    }
}

/// Number of joint angles of a hand.
pub const ANGLES: usize = 20;

/// Kind of a joint angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AngleKind {
    /// Flexion at the base of the finger; positive curls towards the palm.
    BaseFlexion,
    /// Abduction at the base; positive towards the thumb's side (for the thumb: away from the palm's plane).
    BaseAbduction,
    /// Flexion at the middle joint.
    MiddleFlexion,
    /// Flexion at the joint nearest the tip.
    TipFlexion,
}

impl AngleKind {
    /// All four, in the order of the angles of a finger.
    pub const ALL: [AngleKind; 4] =
        [AngleKind::BaseFlexion, AngleKind::BaseAbduction, AngleKind::MiddleFlexion, AngleKind::TipFlexion];
}

/// One of the twenty angles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Angle {
    /// Finger.
    pub finger: Finger,
    /// Kind of angle.
    pub kind: AngleKind,
}

impl Angle {
    /// Index among the twenty.
    pub fn index(self) -> usize {
        4 * self.finger as usize + self.kind as usize
    }

    /// All twenty in order.
    pub fn all() -> impl Iterator<Item = Angle> {
        Finger::ALL.into_iter().flat_map(|finger| AngleKind::ALL.into_iter().map(move |kind| Angle { finger, kind }))
    }

    /// Name, such as `index_base_flexion`.
    pub fn name(self) -> String {
        let kind = ["base_flexion", "base_abduction", "middle_flexion", "tip_flexion"][self.kind as usize];
        format!("{}_{kind}", self.finger.name())
    }
}

/// Number of phalanges of a hand, including the thumb's metacarpal.
pub const PHALANGES: usize = 15;
/// Number of rigid segments of a hand: the phalanges and the palm.
pub const SEGMENTS: usize = 16;

/// A rigid segment of the hand: the palm, or one of the fifteen phalanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(u8);

impl Segment {
    /// The palm.
    pub const PALM: Segment = Segment(0);

    /// A phalanx; `place` is 0 at the base to 2 at the tip.
    pub fn phalanx(finger: Finger, place: usize) -> Self {
        debug_assert!(place < 3);
        Segment((1 + 3 * finger as usize + place) as u8)
    }

    /// The segment with this index.
    pub fn at(index: usize) -> Self {
        debug_assert!(index < SEGMENTS);
        Segment(index as u8)
    }

    /// All sixteen, palm first.
    pub fn all() -> impl Iterator<Item = Segment> {
        (0..SEGMENTS).map(Segment::at)
    }

    /// The fifteen phalanges.
    pub fn phalanges() -> impl Iterator<Item = Segment> {
        Segment::all().skip(1)
    }

    /// Index among the sixteen.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The finger and the position along it; `None` for the palm.
    pub fn finger(self) -> Option<(Finger, usize)> {
        let place = self.index().checked_sub(1)?;
        Some((Finger::ALL[place / 3], place % 3))
    }

    /// Whether it is the fingertip.
    pub fn is_tip(self) -> bool {
        matches!(self.finger(), Some((_, 2)))
    }

    /// The parent segment.
    pub fn parent(self) -> Option<Segment> {
        let (_, place) = self.finger()?;
        Some(if place == 0 { Segment::PALM } else { Segment(self.0 - 1) })
    }

    /// The OpenXR name: `palm`, `thumb_metacarpal`, `index_intermediate`, `little_distal` …
    pub fn name(self) -> String {
        match self.finger() {
            None => "palm".into(),
            Some((Finger::Thumb, place)) => format!("thumb_{}", ["metacarpal", "proximal", "distal"][place]),
            Some((finger, place)) => {
                format!("{}_{}", finger.name(), ["proximal", "intermediate", "distal"][place])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_names_are_one_to_one() {
        let angles: Vec<_> = Angle::all().collect();
        assert_eq!(angles.len(), ANGLES);
        assert!(angles.iter().enumerate().all(|(i, a)| a.index() == i));
        let names: std::collections::BTreeSet<_> = Segment::all().map(Segment::name).collect();
        assert_eq!(names.len(), SEGMENTS);
        assert_eq!(Segment::phalanx(Finger::Little, 2), Segment::at(15));
        assert_eq!(Segment::phalanx(Finger::Index, 1).parent(), Some(Segment::phalanx(Finger::Index, 0)));
        assert_eq!(Segment::phalanx(Finger::Index, 0).parent(), Some(Segment::PALM));
        assert_eq!(Segment::PALM.parent(), None);
    }
}
