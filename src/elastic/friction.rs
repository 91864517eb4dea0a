use super::law::{DuffingLaw, FrictionLaw};
use crate::math::Vec3;

/// A contact that slid sticks again when it carries less than this part of the friction of sliding.
const STOPS_BELOW: f64 = 0.5;
/// Rounding of the law and its inverse.
const ROUNDING: f64 = 1e-12;

/// Whether a contact sticks or slides, and its tangential displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StickSlide {
    /// Tangential displacement D_t of the contact from the origin of deformation p₀, m.
    pub shear: Vec3,
    /// Whether the contact was in compliant motion in the last step.
    pub sliding: bool,
    /// Part of the friction of sliding that the contact carries while it slides.
    pub(super) share: f64,
    /// Distance moved since it began to slide, m.
    pub(super) slid: f64,
}

/// Which condition of §IV.B a step met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// C1: it was stuck and the tangential force is within the static bound.
    #[default]
    Stuck,
    /// C2: it slid and stops.
    Stops,
    /// C3: it slides, as before.
    Slides,
    /// C4: the tangential force exceeds the static bound.
    Breaks,
}

impl StickSlide {
    /// A contact that is stuck with some friction on the tool.
    pub fn stuck_with(law: &DuffingLaw, friction: &Vec3) -> Self {
        let magnitude = friction.norm();
        let shear = -friction * (law.displacement(magnitude) / magnitude.max(f64::MIN_POSITIVE));
        Self { shear, ..Self::default() }
    }

    /// Moves the contact tangentially and returns the friction on the tool (Luo 2007, §IV.B).
    ///
    /// The trial force is the Duffing law of D_t. Conditions C1 to C4 decide whether the contact sticks. If it slides, p₀
    /// follows the contact so that the force of D_t is the friction of sliding.
    // DEVIATION: the paper shifts p₀ by the motion of the contact and turns friction against that motion at once. Here
    // p₀ follows behind the contact, at the distance where the Duffing law gives the friction. Both agree in
    // steady sliding; the force does not jump when the motion turns or stops.
    pub fn advance(
        &mut self,
        law: &DuffingLaw,
        friction: &FrictionLaw,
        normal: &Vec3,
        normal_force: f64,
        motion: &Vec3,
    ) -> (Vec3, Condition) {
        let tangential = |v: &Vec3| v - normal * normal.dot(v);
        let motion = tangential(motion);
        let limit = friction.static_bound(normal_force);
        self.shear = tangential(&self.shear);
        if !self.sliding {
            self.shear += motion;
            let length = self.shear.norm();
            let trial = law.force(length);
            if trial <= limit {
                return (against(&self.shear, length, trial), Condition::Stuck);
            }
            (self.sliding, self.share, self.slid) = (true, 1.0, 0.0);
            self.set_length(law.displacement(limit));
            return (against(&self.shear, self.shear.norm(), limit), Condition::Breaks);
        }
        self.slid += motion.norm();
        let bound = self.bound(friction, normal_force);
        // The friction of sliding follows the normal force.
        self.set_length(law.displacement(self.share * bound));
        self.shear += motion;
        let length = self.shear.norm();
        let trial = law.force(length);
        if friction.dynamic * normal_force >= limit && trial <= limit {
            *self = Self { shear: self.shear, ..Self::default() };
            return (against(&self.shear, length, trial), Condition::Stops);
        }
        if trial >= (1.0 - ROUNDING) * bound {
            self.share = 1.0;
            let force = against(&self.shear, length, bound);
            self.set_length(law.displacement(bound));
            return (force, if trial > limit { Condition::Breaks } else { Condition::Slides });
        }
        // DEVIATION: by C1 to C4 a tool that slid once never sticks again at moderate forces. It sticks here when it
        // has turned back so far that its friction is half of that of sliding.
        self.share = trial / bound;
        let condition = if self.share < STOPS_BELOW { Condition::Stops } else { Condition::Slides };
        if condition == Condition::Stops {
            *self = Self { shear: self.shear, ..Self::default() };
        }
        (against(&self.shear, length, trial), condition)
    }

    /// Tangent stiffness of the friction, N/m: along the tangential displacement and across it. Along it there is none where the contact
    /// slides with its full friction.
    pub fn stiffness(&self, law: &DuffingLaw) -> [f64; 2] {
        let length = self.shear.norm();
        let across = if length > 0.0 { law.force(length) / length } else { law.slope(0.0) };
        let is_full = self.sliding && self.share >= 1.0;
        [if is_full { 0.0 } else { law.slope(length) }, across]
    }

    /// Friction of a sliding contact: static at the start, dynamic after the breakaway distance.
    // DEVIATION: the paper's friction drops from K |F_n|^β to μ_D |F_n| within one step.
    fn bound(&self, friction: &FrictionLaw, normal_force: f64) -> f64 {
        let dynamic = friction.dynamic_bound(normal_force);
        let part = self.slid / friction.breakaway;
        if part >= 1.0 {
            return dynamic;
        }
        let limit = friction.static_bound(normal_force);
        limit + (dynamic - limit) * part * part * (3.0 - 2.0 * part)
    }

    fn set_length(&mut self, length: f64) {
        let old = self.shear.norm();
        if old > 0.0 {
            self.shear *= length / old;
        }
    }
}

/// A force of some magnitude against a vector of some length.
fn against(direction: &Vec3, length: f64, magnitude: f64) -> Vec3 {
    if length > 0.0 { -direction * (magnitude / length) } else { Vec3::zeros() }
}
