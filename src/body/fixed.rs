use parry3d::shape::SharedShape;

use super::{Body, MaterialId, MaterialPoint, RigidShape, ShapeFault, Step};
use crate::math::{Pose, StateHash, Vec3};

/// A part of the static world: it has no degrees of freedom and never moves.
#[derive(Clone, Debug)]
pub struct Fixed {
    shape: SharedShape,
    pose: Pose,
    /// What its surface is made of.
    pub material: MaterialId,
}

impl Fixed {
    /// A shape that stands still.
    pub fn new(shape: &RigidShape, pose: Pose) -> Result<Self, ShapeFault> {
        Ok(Self { shape: shape.shared()?, pose, material: MaterialId::at(0) })
    }

    /// The shape.
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }

    /// Where it stands.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }
}

impl Body for Fixed {
    fn dofs(&self) -> usize {
        0
    }

    fn free_motion(&mut self, _step: &Step) {}

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.pose.translation.vector + self.pose.rotation * at.local
    }

    fn velocity(&self, _at: &MaterialPoint) -> Vec3 {
        Vec3::zeros()
    }

    fn add_row(&self, _at: &MaterialPoint, _direction: &Vec3, _row: &mut [f64]) {}

    fn apply_inverse(&mut self, _rows: &mut [f64]) {}

    fn free_change(&self, _change: &mut [f64]) {}

    fn change_velocity(&mut self, _dv: &[f64]) {}

    fn change_position(&mut self, _dq: &[f64]) {}

    fn advance(&mut self, _h: f64) {}

    fn hash(&self, hash: &mut StateHash) {
        hash.pose(&self.pose);
    }

    fn is_finite(&self) -> bool {
        self.pose.translation.vector.iter().all(|x| x.is_finite())
    }

    fn energy(&self) -> f64 {
        0.0
    }
}
