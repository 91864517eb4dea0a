use std::f64::consts::TAU;

use crate::hand::SegmentShape;
use crate::math::{Mat3, Pose, Vec3};

/// Smooth minimum of two distances that differ by less than `k`.
pub(super) fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let near = k - (a - b).abs();
    if near > 0.0 { a.min(b) - near * near / (4.0 * k) } else { a.min(b) }
}

/// The outline of a segment in the pose, with a bounding capsule.
pub(super) struct Bone<'a> {
    shape: &'a SegmentShape,
    origin: Vec3,
    /// From the palm frame to the bone frame.
    turn: Mat3,
    /// Ends of the capsule's axis along Z of the bone.
    pub(super) axis: [f64; 2],
    /// Its radius.
    reach: f64,
}

impl<'a> Bone<'a> {
    pub(super) fn new(shape: &'a SegmentShape, pose: &Pose) -> Self {
        let axis = [-shape.start, -shape.start - shape.length];
        let turn = pose.rotation.inverse().to_rotation_matrix().into_inner();
        let mut bone = Self { shape, origin: pose.translation.vector, turn, axis, reach: 0.0 };
        bone.reach = bone.skin().map(|p| off_axis(axis, &p)).fold(0.0, f64::max);
        bone
    }

    /// Points distributed over the outline, in the bone frame.
    pub(super) fn skin(&self) -> impl Iterator<Item = Vec3> {
        const SAMPLES: usize = 16;
        (0..=SAMPLES).flat_map(|i| (0..SAMPLES).map(move |j| (i, j))).map(|(i, j)| {
            let z = self.axis[0] - (1.6 * i as f64 / SAMPLES as f64 - 0.3) * self.shape.length;
            let (sin, cos) = (TAU * j as f64 / SAMPLES as f64).sin_cos();
            self.shape.onto_skin(&Vec3::new(sin, cos, z))
        })
    }

    pub(super) fn in_frame(&self, p: &Vec3) -> Vec3 {
        self.turn * (p - self.origin)
    }

    /// Approximate distance of a point in the bone frame; beyond `far`, where it has no effect, that from the capsule.
    pub(super) fn distance(&self, p: &Vec3, far: f64) -> f64 {
        let outside = off_axis(self.axis, p) - self.reach;
        if outside > far { outside } else { self.shape.distance(p) }
    }

    pub(super) fn in_palm(&self, p: &Vec3) -> Vec3 {
        self.origin + self.turn.tr_mul(p)
    }

    /// The ends of the capsule.
    pub(super) fn balls(&self) -> [Ball; 2] {
        self.axis.map(|z| Ball { centre: self.in_palm(&Vec3::new(0.0, 0.0, z)), radius: self.reach })
    }
}

fn off_axis([near, far]: [f64; 2], p: &Vec3) -> f64 {
    Vec3::new(p.x, p.y, p.z - p.z.clamp(far, near)).norm()
}

/// A ball in the palm frame.
#[derive(Clone, Copy)]
pub(super) struct Ball {
    pub(super) centre: Vec3,
    pub(super) radius: f64,
}

impl Ball {
    /// A ball that encloses others.
    pub(super) fn around(balls: impl Iterator<Item = Ball> + Clone) -> Self {
        let (sum, count) = balls.clone().fold((Vec3::zeros(), 0.0), |(sum, n), ball| (sum + ball.centre, n + 1.0));
        let centre = sum / count;
        Self { centre, radius: balls.map(|b| (b.centre - centre).norm() + b.radius).fold(0.0, f64::max) }
    }

    pub(super) fn distance(&self, p: &Vec3) -> f64 {
        (p - self.centre).norm() - self.radius
    }
}

/// A capsule with a radius that changes linearly.
pub(super) struct Cone {
    from: Vec3,
    /// Vector to the other end, and the same divided by its squared length.
    axis: Vec3,
    dual: Vec3,
    radii: [f64; 2],
    /// Blend radius with the preceding primitives.
    blend: f64,
}

impl Cone {
    pub(super) fn new(from: Vec3, to: Vec3, radii: [f64; 2], blend: f64) -> Self {
        let axis = to - from;
        let dual = axis / axis.norm_squared().max(f64::MIN_POSITIVE);
        Self { from, axis, dual, radii, blend }
    }

    pub(super) fn distance(&self, p: &Vec3) -> f64 {
        let out = p - self.from;
        let s = out.dot(&self.dual).clamp(0.0, 1.0);
        (out - s * self.axis).norm() - (self.radii[0] + s * (self.radii[1] - self.radii[0]))
    }

    /// Its ends.
    pub(super) fn balls(&self) -> [Ball; 2] {
        [(self.from, self.radii[0]), (self.from + self.axis, self.radii[1])]
            .map(|(centre, radius)| Ball { centre, radius })
    }

    /// Smooth union with a distance.
    pub(super) fn smooth_union(&self, distance: f64, p: &Vec3) -> f64 {
        smooth_min(distance, self.distance(p), self.blend)
    }
}
