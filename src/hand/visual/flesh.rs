use super::field::blend;
use super::forms::Cone;
use crate::hand::{HandDescription, Kinematics};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// The flesh between the outlines of the segments, for a right hand. Offsets are in units and in the palm frame.
pub(super) struct Flesh<'a> {
    pub(super) hand: &'a HandDescription,
    pub(super) kin: &'a Kinematics,
    pub(super) unit: f64,
}

impl Flesh<'_> {
    /// The part that belongs to the palm.
    pub(super) fn palm(&self) -> Vec<Cone> {
        let wrist = |x, y, z| self.hand.palm.wrist + self.unit * Vec3::new(x, y, z);
        let base = |f: Finger, x, y, z| self.hand.fingers[f as usize].base + self.unit * Vec3::new(x, y, z);
        let mut forms = vec![
            // Radius and ulna at the carpus.
            self.cone(wrist(-8.0, -4.0, -24.0), wrist(-11.0, -4.0, 2.0), [10.0, 14.0]),
            self.cone(wrist(9.0, -4.0, -24.0), wrist(11.0, -4.0, 2.0), [10.0, 13.5]),
            self.cone(wrist(-11.0, -4.0, 2.0), wrist(-11.0, -4.0, 20.0), [14.0, 14.0]),
            self.cone(wrist(11.0, -4.0, 2.0), wrist(11.0, -4.0, 20.0), [13.5, 13.5]),
            self.cone(wrist(0.0, -4.0, 2.0), wrist(0.0, -4.0, 20.0), [14.0, 14.0]),
            // Hypothenar eminence, and the pads below the knuckles: the palm between them and the thumb is hollow.
            self.cone(wrist(15.0, -8.0, -16.0), base(Finger::Little, -2.0, -5.0, 14.0), [11.0, 9.0]),
            self.cone(base(Finger::Index, 2.0, -5.0, 0.0), base(Finger::Ring, 0.0, -5.0, 0.0), [7.0, 7.0]),
            self.cone(base(Finger::Ring, 0.0, -5.0, 0.0), base(Finger::Little, 0.0, -3.0, 2.0), [7.0, 6.5]),
        ];
        for pair in Finger::ALL[1..].windows(2) {
            // From between the knuckles to the edge of the web.
            let at = |f: Finger, along| self.on_bone(f, along, Vec3::new(0.0, -1.5, 0.0));
            let between = |along| 0.5 * (at(pair[0], along) + at(pair[1], along));
            forms.push(self.cone(between(-0.1), between(0.36), [7.5, 5.0]));
        }
        for (&finger, carpus) in Finger::ALL[1..].iter().zip([-10.0, -3.0, 4.0, 10.0]) {
            // The head of the metacarpal, and its tendon fading towards the wrist.
            let description = &self.hand.fingers[finger as usize];
            let radii = [4.0 * self.unit, description.bone_radius[0] + description.tissue[0].dorsal];
            forms.push(Cone::new(
                wrist(carpus, 1.0, -40.0),
                base(finger, 0.0, 2.0, 2.0),
                radii,
                blend::TENDON * self.unit,
            ));
        }
        forms
    }

    /// The part that moves with the thumb's metacarpal.
    pub(super) fn thenar(&self) -> Vec<Cone> {
        let wrist = self.hand.palm.wrist + self.unit * Vec3::new(-12.0, -9.0, -14.0);
        let index = |y, z| self.hand.fingers[Finger::Index as usize].base + self.unit * Vec3::new(4.0, y, z);
        let thumb = |along, y| self.on_bone(Finger::Thumb, along, Vec3::new(0.0, y, 0.0));
        vec![
            self.cone(wrist, thumb(0.75, -4.0), [10.0, 9.0]),
            // The muscle between thumb and index finger, and the web in front of it.
            self.cone(index(-3.0, 24.0), thumb(0.4, 0.0), [9.0, 8.0]),
            self.cone(index(-5.0, 16.0), thumb(0.6, 0.0), [8.0, 6.0]),
        ]
    }

    /// A point beside the axis of a finger's first bone.
    fn on_bone(&self, finger: Finger, along: f64, beside: Vec3) -> Vec3 {
        let length = self.hand.fingers[finger as usize].lengths[0];
        let p = self.unit * beside - Vec3::z() * along * length;
        (self.kin.poses[Segment::phalanx(finger, 0).index()] * nalgebra::Point3::from(p)).coords
    }

    fn cone(&self, from: Vec3, to: Vec3, radii: [f64; 2]) -> Cone {
        Cone::new(from, to, radii.map(|r| r * self.unit), blend::PALM * self.unit)
    }
}
