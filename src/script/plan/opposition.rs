use nalgebra::{DMatrix, DVector};

use crate::hand::HandModel;
use crate::math::{Pose, Vec3};
use crate::tracking::{ANGLES, AngleKind, Finger, Segment};

/// A posture of the hand in which the thumb opposes some fingers.
#[derive(Clone, Debug)]
pub struct Posture {
    /// All angles, rad.
    pub angles: [f64; ANGLES],
    /// Unit vector from the pad of the thumb to the other pads, in the palm frame.
    pub axis: Vec3,
    /// Middle between them, in the palm frame, m.
    pub middle: Vec3,
    /// Their distance, m.
    pub gap: f64,
}

/// The postures in which the thumb opposes some fingers, by the gap between the pads.
///
/// With `q` the angles of these fingers, `p_t`, `n_t` the pad of the thumb and its normal, `p_f`, `n_f` those of the other
/// fingers, `m` the mean of the first two `p_f` and `a = (m − p_t) / |m − p_t|`, a posture for the gap `g` minimises
///
///   ((|m − p_t| − g) / ε)² + Σ_f ((p_f − m)·a / δ)² + (|n_t − a|² + Σ_f |n_f + a|²) / ν² + Σ (q − q₀)² / θ² + Σ (q_tip − ⅔ q_middle)² / θ²
///
/// within the joint limits, by Levenberg's and Marquardt's method. Each posture starts from that of the next smaller gap, so that the
/// postures are continuous in the gap, and closing the gap moves the pads along `a`.
#[derive(Clone, Debug)]
pub struct Opposition {
    /// The thumb, and the fingers that it opposes.
    pub fingers: Vec<Finger>,
    postures: Vec<Posture>,
}

/// Difference between the gaps of two postures, m.
const STEP: f64 = 0.004;
/// Largest gap that is tried, m.
const MOST: f64 = 0.16;
/// ε, δ (m), ν and θ (rad).
const GAP: f64 = 0.001;
const ROW: f64 = 0.004;
const FACING: f64 = 0.35;
const NATURAL: f64 = 0.8;
/// A posture misses its gap if it differs by more, m.
const MISSED: f64 = 0.002;
/// Largest angle between the pads and the axis, as a cosine.
const TILTED: f64 = 0.4;

/// Angles that a precise grasp is close to, in degrees: thumb, other fingers.
const THUMB: [f64; 4] = [10.0, 45.0, 15.0, 15.0];
const OTHER: [f64; 4] = [45.0, 0.0, 35.0, 23.0];

impl Opposition {
    /// The postures of a hand; the first of the fingers is the thumb.
    pub fn new(model: &HandModel, fingers: &[Finger]) -> Self {
        let search = OppositionSearch::new(model, fingers);
        let mut angles = search.natural;
        let mut postures = Vec::new();
        let mut gap = 0.0;
        while gap < MOST {
            angles = search.solve(angles, gap);
            let (posture, facing) = search.posture(&angles);
            if (posture.gap - gap).abs() > MISSED || facing < TILTED {
                // The smallest gaps may be out of reach too.
                if !postures.is_empty() {
                    break;
                }
            } else {
                postures.push(posture);
            }
            gap += STEP;
        }
        search.rest(&mut postures, model);
        Self { fingers: fingers.to_vec(), postures }
    }

    /// The largest gap, m; zero if the thumb opposes none of the fingers.
    pub fn widest(&self) -> f64 {
        self.postures.last().map_or(0.0, |posture| posture.gap)
    }

    /// The posture for a gap, or for the closest gap there is.
    pub fn at(&self, gap: f64) -> Option<Posture> {
        let first = self.postures.first()?;
        let after = self.postures.partition_point(|posture| posture.gap < gap);
        let (Some(b), Some(a)) = (self.postures.get(after), after.checked_sub(1).map(|i| &self.postures[i])) else {
            return Some(if after == 0 { first.clone() } else { self.postures[after - 1].clone() });
        };
        let t = (gap - a.gap) / (b.gap - a.gap).max(1e-9);
        Some(Posture {
            angles: std::array::from_fn(|j| a.angles[j] + t * (b.angles[j] - a.angles[j])),
            axis: a.axis.lerp(&b.axis, t).normalize(),
            middle: a.middle.lerp(&b.middle, t),
            gap,
        })
    }
}

/// Distance of the point that grasps from the centre of the pad, as a part of the way to the tip.
const TO_TIP: f64 = 0.3;

/// The point of the pad of a finger that grasps, in the frame of its last bone.
pub fn pad(model: &HandModel, finger: Finger) -> Vec3 {
    let skin = &model.meshes[Segment::phalanx(finger, 2).index()].skin.vertices;
    let middle = skin.iter().sum::<Vec3>() / skin.len().max(1) as f64;
    let deepest = skin.iter().map(|p| middle.y - p.y).fold(0.0, f64::max);
    let end = skin.iter().map(|p| middle.z - p.z).fold(0.0, f64::max);
    middle - deepest * Vec3::y() - TO_TIP * end * Vec3::z()
}

struct OppositionSearch<'m> {
    model: &'m HandModel,
    fingers: Vec<Finger>,
    pads: Vec<Vec3>,
    /// The angles that are searched.
    free: Vec<usize>,
    natural: [f64; ANGLES],
}

impl<'m> OppositionSearch<'m> {
    fn new(model: &'m HandModel, fingers: &[Finger]) -> Self {
        let limits = model.limits;
        let natural = std::array::from_fn(|j| {
            let degrees: f64 = if j < 4 { THUMB[j] } else { OTHER[j % 4] };
            degrees.to_radians().clamp(limits[j][0], limits[j][1])
        });
        Self {
            model,
            pads: fingers.iter().map(|&finger| pad(model, finger)).collect(),
            free: fingers.iter().flat_map(|&finger| 4 * finger as usize..4 * finger as usize + 4).collect(),
            fingers: fingers.to_vec(),
            natural,
        }
    }

    /// Positions and outward normals of the pads in the palm frame.
    fn pads(&self, angles: &[f64; ANGLES]) -> Vec<[Vec3; 2]> {
        let kinematics = self.model.skeleton.kinematics(&Pose::identity(), angles);
        let of = |(&finger, pad): (&Finger, &Vec3)| {
            let pose = &kinematics.poses[Segment::phalanx(finger, 2).index()];
            [pose.translation.vector + pose.rotation * pad, pose.rotation * -Vec3::y()]
        };
        self.fingers.iter().zip(&self.pads).map(of).collect()
    }

    /// Axis, middle and gap.
    fn line(pads: &[[Vec3; 2]]) -> (Vec3, Vec3, f64) {
        let opposite = &pads[1..pads.len().min(3)];
        let m = opposite.iter().map(|pad| pad[0]).sum::<Vec3>() / opposite.len() as f64;
        let way = m - pads[0][0];
        // Where the pads meet, the normals tell the direction.
        let axis = if way.norm() > 1e-3 { way.normalize() } else { (pads[0][1] - pads[1][1]).normalize() };
        (axis, 0.5 * (m + pads[0][0]), way.dot(&axis))
    }

    fn residuals(&self, angles: &[f64; ANGLES], gap: f64, out: &mut Vec<f64>) {
        out.clear();
        let pads = self.pads(angles);
        let (axis, middle, distance) = Self::line(&pads);
        out.push((distance - gap) / GAP);
        for (i, [place, normal]) in pads.iter().enumerate() {
            let side = if i == 0 { 1.0 } else { -1.0 };
            out.extend(((normal - side * axis) / FACING).iter());
            if i > 0 {
                out.push(((place - middle).dot(&axis) - 0.5 * distance) / ROW);
            }
        }
        for &j in &self.free {
            out.push((angles[j] - self.natural[j]) / NATURAL);
            if j % 4 == AngleKind::TipFlexion as usize {
                out.push((angles[j] - angles[j - 1] * 2.0 / 3.0) / NATURAL);
            }
        }
    }

    fn solve(&self, start: [f64; ANGLES], gap: f64) -> [f64; ANGLES] {
        const ROUNDS: usize = 25;
        const DIFFERENCE: f64 = 1e-5;
        let mut angles = start;
        let (mut at, mut beside) = (Vec::new(), Vec::new());
        self.residuals(&angles, gap, &mut at);
        let cost = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>();
        let mut damping = 1e-2;
        for _ in 0..ROUNDS {
            let (rows, columns) = (at.len(), self.free.len());
            let mut jacobian = DMatrix::zeros(rows, columns);
            for (c, &j) in self.free.iter().enumerate() {
                let mut moved = angles;
                moved[j] += DIFFERENCE;
                self.residuals(&moved, gap, &mut beside);
                (0..rows).for_each(|r| jacobian[(r, c)] = (beside[r] - at[r]) / DIFFERENCE);
            }
            let gradient = jacobian.transpose() * DVector::from_column_slice(&at);
            let mut matrix = jacobian.transpose() * &jacobian;
            (0..columns).for_each(|c| matrix[(c, c)] *= 1.0 + damping);
            let Some(step) = matrix.cholesky().map(|factor| factor.solve(&gradient)) else { break };
            let mut moved = angles;
            for (c, &j) in self.free.iter().enumerate() {
                let [low, high] = self.model.limits[j];
                moved[j] = (angles[j] - step[c]).clamp(low, high);
            }
            self.residuals(&moved, gap, &mut beside);
            let gain = cost(&at) - cost(&beside);
            if gain > 0.0 {
                angles = moved;
                std::mem::swap(&mut at, &mut beside);
                damping = (0.3 * damping).max(1e-6);
                if gain < 1e-6 * cost(&at) {
                    break;
                }
            } else {
                damping *= 8.0;
                if damping > 1e6 {
                    break;
                }
            }
        }
        angles
    }

    /// A posture, and the cosine of the largest angle between a pad and the axis.
    fn posture(&self, angles: &[f64; ANGLES]) -> (Posture, f64) {
        let pads = self.pads(angles);
        let (axis, middle, gap) = Self::line(&pads);
        let facing =
            pads.iter().enumerate().map(|(i, pad)| if i == 0 { pad[1].dot(&axis) } else { -pad[1].dot(&axis) });
        (Posture { angles: *angles, axis, middle, gap }, facing.fold(1.0, f64::min))
    }

    /// The other fingers stay out of the way.
    fn rest(&self, postures: &mut [Posture], model: &HandModel) {
        let open = model.description.pose("open").copied().unwrap_or([0.0; ANGLES]);
        for posture in postures {
            for j in (0..ANGLES).filter(|j| !self.free.contains(j)) {
                posture.angles[j] = open[j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand_model;

    #[test]
    fn the_thumb_opposes_the_fingers_at_every_gap() {
        let model = builtin_hand_model().expect("a hand");
        for (fingers, widest) in [
            (&[Finger::Thumb, Finger::Index][..], 0.09),
            (&[Finger::Thumb, Finger::Index, Finger::Middle], 0.09),
            (&Finger::ALL, 0.09),
        ] {
            let opposition = Opposition::new(&model, fingers);
            println!("{fingers:?}: {} postures up to {:.3} m", opposition.postures.len(), opposition.widest());
            for posture in opposition.postures.iter().step_by(4) {
                let d = posture.angles.map(|a| a.to_degrees().round());
                println!(
                    "  {:.3} axis {:.2?} middle {:.3?} {:?}",
                    posture.gap,
                    posture.axis.as_slice(),
                    posture.middle.as_slice(),
                    d
                );
            }
            assert!(opposition.widest() > widest, "{}", opposition.widest());
            // Things of a centimetre and more: where the pads touch each other the fingers may cross.
            let wide = opposition.postures.iter().skip_while(|posture| posture.gap < 0.01);
            for (a, b) in wide.clone().zip(wide.skip(1)) {
                let most = a.angles.iter().zip(&b.angles).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(most < 0.35, "{most} rad from {} to {} m", a.gap, b.gap);
            }
        }
    }
}
