use std::f64::consts::TAU;

use super::description::{HandDescription, TissueThickness};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// The outline of one segment of the hand in the frame of its bone: −Z along the bone, +Y the back of the hand.
///
/// Bone and skin have the same construction, a body of superelliptic sections closed by two elliptic caps, so that a point
/// of one has its partner on the other and the tissue between them can be swept. With `z` along the axis, `θ` around it
/// from the palmar side, half axes `a` across and `b` up or down, and the exponent `p`:
///
/// ```text
/// R(z, θ) = ρ(z) · (|sin θ / a(z)|^p + |cos θ / b(z, θ)|^p)^(−1/p),   ρ = 1 on the body, √(1 − ((z − z_c)/c)²) on a cap of length c
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentShape {
    /// Length of the bone, m.
    pub length: f64,
    /// Where the bone begins along −Z, m (zero but for the palm, whose frame lies in its middle).
    pub start: f64,
    /// Half axes of the bone's section, across and up, at its near and its far end, m.
    bone: [[f64; 2]; 2],
    /// Tissue at the near and the far end.
    tissue: [TissueThickness; 2],
    /// How far the skin reaches beyond the bone at each end, m.
    overhang: [f64; 2],
    /// Length of the skin's caps, m.
    cap: [f64; 2],
    /// Bulge of the pad, m.
    pad: f64,
    /// Exponent of the sections: 2 for fingers, more for the boxy palm.
    exponent: f64,
    /// Where the axis passes at the near and the far end, across and up, m: fingers have none, the palm leans.
    lean: [[f64; 2]; 2],
}

/// How much closer the nodes lie on the palmar side than on average.
const PALMAR_DENSITY: f64 = 0.3;

impl SegmentShape {
    /// The outline of a segment of a described hand.
    pub fn of(hand: &HandDescription, segment: Segment) -> Self {
        match segment.finger() {
            None => Self::palm(hand),
            Some((finger, place)) => Self::phalanx(hand, finger, place),
        }
    }

    fn palm(hand: &HandDescription) -> Self {
        let palm = &hand.palm;
        let knuckle = hand.fingers[Finger::Middle as usize].base.z;
        let half = 0.5 * palm.thickness;
        let section = |end: usize| [0.5 * palm.breadth[end], half];
        Self {
            length: palm.wrist.z - knuckle,
            start: -palm.wrist.z,
            bone: [section(0), section(1)],
            tissue: [palm.tissue; 2],
            overhang: [0.3 * palm.tissue.palmar, palm.tissue.dorsal],
            cap: [half + palm.tissue.dorsal, half + palm.tissue.palmar],
            pad: 0.0,
            exponent: 3.0,
            lean: [[palm.wrist.x, palm.wrist.y], hand.knuckles()],
        }
    }

    fn phalanx(hand: &HandDescription, finger: Finger, place: usize) -> Self {
        let finger = &hand.fingers[finger as usize];
        let (near, next) = (place, (place + 1).min(2));
        let tip = place == 2;
        // The last bone tapers; the others grow into the next one.
        let taper = if tip { 0.8 } else { 1.0 };
        let radius = [finger.bone_radius[near], taper * finger.bone_radius[next]];
        let tissue = [finger.tissue[near], finger.tissue[next]];
        let outer = |end: usize| radius[end] + tissue[end].side;
        Self {
            length: finger.lengths[place],
            start: 0.0,
            bone: radius.map(|r| [r, r]),
            tissue,
            overhang: [0.4 * outer(0), if tip { finger.tip } else { 0.4 * outer(1) }],
            cap: [0.8 * outer(0), if tip { 1.1 * outer(1) } else { 0.8 * outer(1) }],
            pad: if tip { finger.pad } else { 0.0 },
            exponent: 2.0,
            lean: [[0.0; 2]; 2],
        }
    }

    /// The axis at a height.
    fn axis(&self, z: f64) -> Vec3 {
        let s = self.fraction(z);
        let at = |i: usize| self.lean[0][i] + s * (self.lean[1][i] - self.lean[0][i]);
        Vec3::new(at(0), at(1), 0.0)
    }

    /// Where the skin begins and ends along Z.
    fn skin_span(&self) -> [f64; 2] {
        [-self.start + self.overhang[0], -self.start - self.length - self.overhang[1]]
    }

    fn bone_span(&self) -> [f64; 2] {
        [-self.start, -self.start - self.length]
    }

    fn skin_caps(&self) -> [f64; 2] {
        let [near, far] = self.skin_span();
        self.cap.map(|c| c.min(0.49 * (near - far)))
    }

    fn bone_caps(&self) -> [f64; 2] {
        [0, 1].map(|end| self.bone[end][1].min(0.45 * self.length))
    }

    /// Fraction along the bone at a height, kept within it.
    fn fraction(&self, z: f64) -> f64 {
        ((-z - self.start) / self.length).clamp(0.0, 1.0)
    }

    /// Half axes of the skin's section at a height: across, down (palmar), up (dorsal).
    fn skin_axes(&self, z: f64) -> [f64; 3] {
        let s = self.fraction(z);
        let mix = |a: f64, b: f64| a + s * (b - a);
        let (t0, t1) = (&self.tissue[0], &self.tissue[1]);
        let bulge = self.pad * (std::f64::consts::PI * s).sin().powi(2);
        [
            mix(self.bone[0][0] + t0.side, self.bone[1][0] + t1.side),
            mix(self.bone[0][1] + t0.palmar, self.bone[1][1] + t1.palmar) + bulge,
            mix(self.bone[0][1] + t0.dorsal, self.bone[1][1] + t1.dorsal),
        ]
    }

    /// Whether a point lies in the bone or on its surface.
    pub fn is_in_bone(&self, p: &Vec3) -> bool {
        const SLACK: f64 = 1.0 + 1e-6;
        let [near, far] = self.bone_span();
        let out = p - self.axis(p.z);
        let theta = f64::atan2(out.x, -out.y);
        let [a, b] = self.bone_axes(p.z);
        let r = cap_factor(p.z, [near, far], self.bone_caps()) * section_radius(theta, a, b, self.exponent);
        p.z <= near && p.z >= far && f64::hypot(out.x, out.y) <= SLACK * r
    }

    /// Half axes of the bone's section at a height: across, and up or down.
    fn bone_axes(&self, z: f64) -> [f64; 2] {
        let s = self.fraction(z);
        [0, 1].map(|i| self.bone[0][i] + s * (self.bone[1][i] - self.bone[0][i]))
    }

    /// A point of the tissue: `depth` 0 on the bone to 1 on the skin, `s` 0 to 1 from the near to the far pole by equal
    /// steps along the skin, `t` in [0, 1) around from the palmar side, where steps are shorter.
    pub fn point(&self, depth: f64, s: f64, t: f64) -> Vec3 {
        let skin = self.skin_point(s, t);
        let bone = self.bone_point(s, t);
        bone + depth * (skin - bone)
    }

    fn skin_point(&self, s: f64, t: f64) -> Vec3 {
        self.skin_at(self.height_at(s), angle(t))
    }

    fn skin_at(&self, z: f64, theta: f64) -> Vec3 {
        let rho = cap_factor(z, self.skin_span(), self.skin_caps());
        let r = rho * self.skin_radius(z, theta);
        self.axis(z) + Vec3::new(r * theta.sin(), -r * theta.cos(), z)
    }

    /// Radius of the skin's section, without its caps.
    fn skin_radius(&self, z: f64, theta: f64) -> f64 {
        let [a, down, up] = self.skin_axes(z);
        section_radius(theta, a, if theta.cos() > 0.0 { down } else { up }, self.exponent)
    }

    fn bone_point(&self, s: f64, t: f64) -> Vec3 {
        let [near, far] = self.skin_span();
        let [bone_near, bone_far] = self.bone_span();
        let along = (near - self.height_at(s)) / (near - far);
        let z = bone_near + along * (bone_far - bone_near);
        let rho = cap_factor(z, [bone_near, bone_far], self.bone_caps());
        let theta = angle(t);
        let [a, b] = self.bone_axes(z);
        let r = rho * section_radius(theta, a, b, self.exponent);
        self.axis(z) + Vec3::new(r * theta.sin(), -r * theta.cos(), z)
    }

    /// The skin's point nearest in the sense of the parametrisation: same height, same direction from the axis.
    pub fn onto_skin(&self, p: &Vec3) -> Vec3 {
        let [near, far] = self.skin_span();
        let out = p - self.axis(p.z);
        self.skin_at(p.z.clamp(far, near), f64::atan2(out.x, -out.y))
    }

    /// Height of the fraction `s` of the skin's length from pole to pole, measured along the mean profile.
    fn height_at(&self, s: f64) -> f64 {
        if s <= 0.0 || s >= 1.0 {
            return self.skin_span()[usize::from(s >= 1.0)];
        }
        const SAMPLES: usize = 128;
        let [near, far] = self.skin_span();
        // Samples crowd at the poles, where the profile is steep.
        let sample = |i: usize| {
            let z = near + (far - near) * 0.5 * (1.0 - (std::f64::consts::PI * i as f64 / SAMPLES as f64).cos());
            let [a, down, up] = self.skin_axes(z);
            (z, cap_factor(z, [near, far], self.skin_caps()) * (2.0 * a + down + up) / 4.0)
        };
        let mut lengths = [0.0; SAMPLES + 1];
        for i in 1..=SAMPLES {
            let ((z0, r0), (z1, r1)) = (sample(i - 1), sample(i));
            lengths[i] = lengths[i - 1] + f64::hypot(z1 - z0, r1 - r0);
        }
        let wanted = s * lengths[SAMPLES];
        let i = lengths.partition_point(|&l| l < wanted).clamp(1, SAMPLES);
        let part = (wanted - lengths[i - 1]) / (lengths[i] - lengths[i - 1]);
        let (z0, z1) = (sample(i - 1).0, sample(i).0);
        z0 + part * (z1 - z0)
    }

    /// Length of the skin's profile from pole to pole and its mean girth, m.
    pub fn profile(&self) -> (f64, f64) {
        let [near, far] = self.skin_span();
        let middle = self.skin_axes(0.5 * (near + far));
        let girth = TAU * (2.0 * middle[0] + middle[1] + middle[2]) / 4.0;
        let caps: f64 = (0..2).map(|end| 0.57 * middle[0] - 0.43 * self.skin_caps()[end]).sum();
        (near - far + caps, girth)
    }

    /// About the distance of a point from the skin, negative inside: exact on the skin, with a gradient near one around it.
    pub fn distance(&self, p: &Vec3) -> f64 {
        let [near, far] = self.skin_span();
        let caps = self.skin_caps();
        let out = p - self.axis(p.z);
        let r = f64::hypot(out.x, out.y);
        let radius = self.skin_radius(p.z, f64::atan2(out.x, -out.y));
        let beyond = if p.z > near - caps[0] {
            (p.z - (near - caps[0])) / caps[0]
        } else if p.z < far + caps[1] {
            ((far + caps[1]) - p.z) / caps[1]
        } else {
            return r - radius;
        };
        let cap = if p.z > 0.5 * (near + far) { caps[0] } else { caps[1] };
        // An ellipsoid of half axes `radius` and `cap`: first-order distance k (k − 1) / |∇k²/2|.
        let (across, along) = (r / radius, beyond);
        let k = f64::hypot(across, along);
        let slope = f64::hypot(across / radius, along / cap);
        if slope < 1e-12 { -radius.min(cap) } else { k * (k - 1.0) / slope }
    }
}

/// Radius factor of a body closed by elliptic caps of the given lengths.
fn cap_factor(z: f64, [near, far]: [f64; 2], caps: [f64; 2]) -> f64 {
    let into = |depth: f64, cap: f64| {
        let u = (1.0 - depth / cap).clamp(0.0, 1.0);
        (1.0 - u * u).max(0.0).sqrt()
    };
    into(near - z, caps[0]).min(into(z - far, caps[1]))
}

fn section_radius(theta: f64, a: f64, b: f64, exponent: f64) -> f64 {
    let (sin, cos) = (theta.sin().abs() / a, theta.cos().abs() / b);
    if exponent == 2.0 {
        return 1.0 / f64::hypot(sin, cos);
    }
    (sin.powf(exponent) + cos.powf(exponent)).powf(-1.0 / exponent)
}

fn angle(t: f64) -> f64 {
    TAU * t - PALMAR_DENSITY * (TAU * t).sin()
}
