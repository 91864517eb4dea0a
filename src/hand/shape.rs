use std::f64::consts::TAU;

use super::description::{HandDescription, TissueThickness};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// The outline of one segment of the hand in its bone frame: −Z along the bone, +Y the back of the hand.
///
/// Bone and skin have the same construction, a body of superelliptic sections closed by two elliptic caps, so that
/// points of one map to the other and the tissue between them can be swept. With `u` from 0 to 1 along the axis, `θ`
/// around it from the palmar side, half axes `a` across and `b` up or down, and the exponent `p`:
///
/// ```text
/// R(u, θ) = ρ(u) (|sin θ / a(u)|^p + |cos θ / b(u, θ)|^p)^(−1/p),   ρ = 1 on the body, √(1 − (1 − u/c)²) on a cap of length c
/// ```
///
/// Both share `u`, `ρ` and the axis; the skin's half axes are those of the bone plus the tissue. So the skin encloses
/// the bone for any parameters, and no element can be inverted.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentShape {
    /// Length of the bone, m.
    pub length: f64,
    /// Start of the bone along −Z, m (nonzero only for the palm, whose frame lies in its middle).
    pub start: f64,
    /// Half axes of the bone's section, across and up, at its proximal and its distal end, m.
    bone: [[f64; 2]; 2],
    /// Tissue at the proximal and the distal end.
    tissue: [TissueThickness; 2],
    /// Overhang of the skin beyond the bone at each end, m.
    overhang: [f64; 2],
    /// Length of the caps along the bone, m.
    reach: [f64; 2],
    /// Bulge of the pad, m.
    pad: f64,
    /// Exponent of the sections: 2 for fingers, more for the boxy palm.
    exponent: f64,
    /// Lateral offset of the axis at the proximal and the distal end, m: zero for fingers, nonzero for the palm.
    lean: [f64; 2],
}

/// Factor on the node density of the palmar side.
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
        let half = 0.5 * palm.thickness;
        let section = |end: usize| [0.5 * palm.breadth[end], half];
        Self {
            length: hand.palm_length(),
            start: -palm.wrist.z,
            bone: [section(0), section(1)],
            tissue: [palm.tissue; 2],
            overhang: [0.3 * palm.tissue.palmar, palm.tissue.dorsal],
            reach: [half, half],
            pad: 0.0,
            exponent: 3.0,
            lean: [palm.wrist.x, hand.knuckles()],
        }
    }

    fn phalanx(hand: &HandDescription, finger: Finger, place: usize) -> Self {
        let finger = &hand.fingers[finger as usize];
        let (near, next) = (place, (place + 1).min(2));
        let tip = place == 2;
        // The last bone tapers; the others match the radius of the next.
        let taper = if tip { 0.8 } else { 1.0 };
        let radius = [finger.bone_radius[near], taper * finger.bone_radius[next]];
        let tissue = [finger.tissue[near], finger.tissue[next]];
        let outer = |end: usize| radius[end] + tissue[end].side;
        let length = finger.lengths[place];
        let joint = |end: usize| (0.4 * outer(end)).min(0.35 * length);
        Self {
            length,
            start: 0.0,
            bone: radius.map(|r| [r, r]),
            tissue,
            overhang: [joint(0), if tip { finger.tip } else { joint(1) }],
            reach: [0.4 * outer(0), if tip { (1.1 * outer(1) - finger.tip).max(radius[1]) } else { 0.4 * outer(1) }],
            pad: if tip { finger.pad } else { 0.0 },
            exponent: 2.0,
            lean: [0.0; 2],
        }
    }

    /// Start and end of the skin along Z.
    fn skin_span(&self) -> [f64; 2] {
        [-self.start + self.overhang[0], -self.start - self.length - self.overhang[1]]
    }

    /// Lengths of the caps as fractions of the axis. They leave at least a tenth of the bone between them.
    fn caps(&self) -> [f64; 2] {
        let [near, far] = self.skin_span();
        [0, 1].map(|end| (self.overhang[end] + self.reach[end].min(0.45 * self.length)) / (near - far))
    }

    /// Height of the skin at a fraction of the axis.
    fn skin_height(&self, u: f64) -> f64 {
        let [near, far] = self.skin_span();
        Self::mix(u, near, far)
    }

    /// Height of the bone: equal to the skin's along the body, minus the overhang towards the poles.
    fn bone_height(&self, u: f64) -> f64 {
        let caps = self.caps();
        let into = |depth: f64, cap: f64| (1.0 - depth / cap).max(0.0);
        self.skin_height(u) - self.overhang[0] * into(u, caps[0]) + self.overhang[1] * into(1.0 - u, caps[1])
    }

    fn mix(u: f64, near: f64, far: f64) -> f64 {
        near + u * (far - near)
    }

    /// The axis at fraction `u`.
    fn axis(&self, u: f64) -> Vec3 {
        Vec3::new(Self::mix(u, self.lean[0], self.lean[1]), 0.0, 0.0)
    }

    /// Half axes of the bone's section: across, and up or down.
    fn bone_axes(&self, u: f64) -> [f64; 2] {
        [0, 1].map(|i| Self::mix(u, self.bone[0][i], self.bone[1][i]))
    }

    /// Half axes of the skin's section: across, down (palmar), up (dorsal).
    fn skin_axes(&self, u: f64) -> [f64; 3] {
        let [across, up] = self.bone_axes(u);
        let tissue = |of: fn(&TissueThickness) -> f64| Self::mix(u, of(&self.tissue[0]), of(&self.tissue[1]));
        let bulge = self.pad * (std::f64::consts::PI * u).sin().powi(2);
        [across + tissue(|t| t.side), up + tissue(|t| t.palmar) + bulge, up + tissue(|t| t.dorsal)]
    }

    /// Radius of the skin's section in a direction, without its caps.
    fn skin_radius(&self, u: f64, theta: f64) -> f64 {
        let [a, down, up] = self.skin_axes(u);
        section_radius(theta, a, if theta.cos() > 0.0 { down } else { up }, self.exponent)
    }

    fn bone_radius(&self, u: f64, theta: f64) -> f64 {
        let [a, b] = self.bone_axes(u);
        section_radius(theta, a, b, self.exponent)
    }

    fn place(&self, u: f64, theta: f64, height: f64, radius: f64) -> Vec3 {
        let r = cap_factor(u, self.caps()) * radius;
        self.axis(u) + Vec3::new(r * theta.sin(), -r * theta.cos(), height)
    }

    fn on_skin(&self, u: f64, theta: f64) -> Vec3 {
        self.place(u, theta, self.skin_height(u), self.skin_radius(u, theta))
    }

    /// The points of the tissue, for meshes.
    pub fn tissue(&self) -> Tissue<'_> {
        Tissue { shape: self, profile: self.profile_samples() }
    }

    /// Direction around and distance from the axis for a point at a fraction of the axis.
    fn around(&self, p: &Vec3, u: f64) -> (f64, f64) {
        let out = p - self.axis(u.clamp(0.0, 1.0));
        (f64::atan2(out.x, -out.y), f64::hypot(out.x, out.y))
    }

    /// Fraction of the axis at a height of the skin; outside [0, 1] beyond its ends.
    fn part_of_height(&self, z: f64) -> f64 {
        let [near, far] = self.skin_span();
        (near - z) / (near - far)
    }

    /// Whether a point lies in the bone or on its surface.
    pub fn is_in_bone(&self, p: &Vec3) -> bool {
        const SLACK: f64 = 1.0 + 1e-6;
        // The bone's height decreases monotonically in three linear pieces; fifty bisections find the position.
        let (mut low, mut high) = (0.0, 1.0);
        if p.z > self.bone_height(low) || p.z < self.bone_height(high) {
            return false;
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if self.bone_height(middle) > p.z { low = middle } else { high = middle }
        }
        let (theta, r) = self.around(p, low);
        r <= SLACK * cap_factor(low, self.caps()) * self.bone_radius(low, theta)
    }

    /// The corresponding point of the skin: same height, same direction from the axis.
    pub fn onto_skin(&self, p: &Vec3) -> Vec3 {
        let u = self.part_of_height(p.z).clamp(0.0, 1.0);
        self.on_skin(u, self.around(p, u).0)
    }

    /// Fractions of the axis and arc lengths up to there of the skin's mean profile. Samples are denser at the poles,
    /// where the profile is steep.
    fn profile_samples(&self) -> [[f64; 2]; PROFILE_POINTS + 1] {
        let [near, far] = self.skin_span();
        let sample = |i: usize| {
            let u = 0.5 * (1.0 - (std::f64::consts::PI * i as f64 / PROFILE_POINTS as f64).cos());
            let [a, down, up] = self.skin_axes(u);
            (u, cap_factor(u, self.caps()) * (2.0 * a + down + up) / 4.0)
        };
        let (mut samples, mut before) = ([[0.0; 2]; PROFILE_POINTS + 1], sample(0));
        samples[0][0] = before.0;
        for i in 1..=PROFILE_POINTS {
            let ((u0, r0), (u1, r1)) = (before, sample(i));
            samples[i] = [u1, samples[i - 1][1] + f64::hypot((near - far) * (u1 - u0), r1 - r0)];
            before = (u1, r1);
        }
        samples
    }

    /// Length of the skin's profile from pole to pole and its mean girth, m.
    pub fn profile(&self) -> (f64, f64) {
        let [near, far] = self.skin_span();
        let middle = self.skin_axes(0.5);
        let girth = TAU * (2.0 * middle[0] + middle[1] + middle[2]) / 4.0;
        let caps: f64 = self.caps().iter().map(|c| 0.57 * middle[0] - 0.43 * c * (near - far)).sum();
        (near - far + caps, girth)
    }

    /// Approximate signed distance from the skin, negative inside: exact on the skin, with a gradient close to one near
    /// it.
    ///
    /// To first order, `(k − 1) / |∇k|`, where `k` is the factor by which the body must be scaled to reach the point.
    pub fn distance(&self, p: &Vec3) -> f64 {
        let [near, far] = self.skin_span();
        let caps = self.caps();
        let u = self.part_of_height(p.z);
        let within = u.clamp(0.0, 1.0);
        let out = p - self.axis(within);
        let [a, down, up] = self.skin_axes(within);
        let (across, steepness) = section_gauge(out.x, out.y, a, if out.y < 0.0 { down } else { up }, self.exponent);
        let (beyond, cap) = if u < caps[0] {
            ((caps[0] - u) / caps[0], caps[0] * (near - far))
        } else if u > 1.0 - caps[1] {
            ((u - 1.0 + caps[1]) / caps[1], caps[1] * (near - far))
        } else {
            (0.0, 1.0)
        };
        let k = length(across, beyond);
        let slope = length(across * steepness, beyond / cap);
        if slope < 1e-12 { -a.min(down).min(up) } else { k * (k - 1.0) / slope }
    }
}

/// Samples of the mean profile of the skin.
const PROFILE_POINTS: usize = 128;

/// The tissue of a segment, parametrised from bone to skin.
pub struct Tissue<'a> {
    shape: &'a SegmentShape,
    profile: [[f64; 2]; PROFILE_POINTS + 1],
}

impl Tissue<'_> {
    /// A point of the tissue: `depth` from 0 on the bone to 1 on the skin, `s` from 0 to 1 from the proximal to the
    /// distal pole by arc length of the skin, `t` in [0, 1) around from the palmar side, where the spacing is smaller.
    pub fn point(&self, depth: f64, s: f64, t: f64) -> Vec3 {
        let (u, theta) = (self.part_at(s), angle(t));
        let shape = self.shape;
        let bone = shape.place(u, theta, shape.bone_height(u), shape.bone_radius(u, theta));
        bone + depth * (shape.on_skin(u, theta) - bone)
    }

    /// Fraction of the axis at the fraction `s` of the skin's arc length from pole to pole, along the mean profile.
    fn part_at(&self, s: f64) -> f64 {
        if s <= 0.0 || s >= 1.0 {
            return s.clamp(0.0, 1.0);
        }
        let wanted = s * self.profile[PROFILE_POINTS][1];
        let i = self.profile.partition_point(|[_, length]| *length < wanted).clamp(1, PROFILE_POINTS);
        let [[u0, l0], [u1, l1]] = [self.profile[i - 1], self.profile[i]];
        SegmentShape::mix((wanted - l0) / (l1 - l0), u0, u1)
    }
}

/// Radius factor of a body closed by elliptic caps, at a fraction from pole to pole.
fn cap_factor(u: f64, caps: [f64; 2]) -> f64 {
    let into = |depth: f64, cap: f64| {
        let v = (1.0 - depth / cap).clamp(0.0, 1.0);
        (1.0 - v * v).max(0.0).sqrt()
    };
    into(u, caps[0]).min(into(1.0 - u, caps[1]))
}

fn section_radius(theta: f64, a: f64, b: f64, exponent: f64) -> f64 {
    let (sin, cos) = (theta.sin().abs() / a, theta.cos().abs() / b);
    if exponent == 2.0 {
        return 1.0 / f64::hypot(sin, cos);
    }
    (sin.powf(exponent) + cos.powf(exponent)).powf(-1.0 / exponent)
}

/// Norm of a vector in the plane. `hypot` guards against overflow and dominates the run time.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// The factor by which a section must be scaled to reach a point, and the length of its gradient.
fn section_gauge(x: f64, y: f64, a: f64, b: f64, exponent: f64) -> (f64, f64) {
    let (x, y) = (x.abs() / a, y.abs() / b);
    if exponent == 2.0 {
        let gauge = length(x, y);
        return (gauge, if gauge > 0.0 { length(x / a, y / b) / gauge } else { 1.0 / a.max(b) });
    }
    let (in_x, in_y) = (x.powf(exponent - 1.0), y.powf(exponent - 1.0));
    let gauge = (x * in_x + y * in_y).powf(1.0 / exponent);
    let steepness = length(in_x / a, in_y / b) / gauge.powf(exponent - 1.0);
    if gauge > 0.0 { (gauge, steepness) } else { (0.0, 1.0 / a.max(b)) }
}

fn angle(t: f64) -> f64 {
    TAU * t - PALMAR_DENSITY * (TAU * t).sin()
}
