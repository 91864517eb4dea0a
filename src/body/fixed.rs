use parry3d::shape::SharedShape;

use super::{Body, Bounds, Collider, MaterialId, MaterialPoint, Part, RigidShape, ShapeCollider, ShapeFault};
use crate::math::{Mat3, Pose, StateHash, Vec3};

/// A part of the static world: it has no degrees of freedom and never moves.
#[derive(Clone, Debug)]
pub struct Fixed {
    shape: SharedShape,
    pose: Pose,
    /// Material of its surface.
    pub material: MaterialId,
}

impl Fixed {
    /// A shape at a placement.
    pub fn new(shape: &RigidShape, pose: Pose) -> Result<Self, ShapeFault> {
        Ok(Self { shape: shape.shared()?, pose, material: MaterialId::at(0) })
    }

    /// The shape.
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }
}

crate::saved_fields!(Fixed:);

impl Body for Fixed {
    fn kind(&self) -> &'static str {
        "fixed"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        0
    }

    fn part(&self, _index: usize) -> &dyn Part {
        unreachable!("a fixed body has no parts")
    }

    fn part_mut(&mut self, _index: usize) -> &mut dyn Part {
        unreachable!("a fixed body has no parts")
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.pose.translation.vector + self.pose.rotation * at.local
    }

    fn velocity(&self, _at: &MaterialPoint, _place: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn parts_at(&self, _at: &MaterialPoint) -> [Option<usize>; 2] {
        [None, None]
    }

    fn columns(&self, _at: &MaterialPoint, _place: &Vec3, _column: &mut dyn FnMut(usize, usize, Vec3)) {}

    fn frame(&self, _collider: usize) -> Mat3 {
        Mat3::identity()
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider(&self, _index: usize) -> Collider<'_> {
        Collider::Shape(ShapeCollider { shape: &self.shape, pose: self.pose, moves: false, sampled: false })
    }

    fn top_speed(&self, _collider: usize, _bounds: &Bounds) -> f64 {
        0.0
    }

    fn attachment_point(&self, _part: usize, place: &Vec3) -> Option<MaterialPoint> {
        Some(MaterialPoint::rigid(0, self.pose.inverse_transform_point(&(*place).into()).coords))
    }

    fn pose(&self) -> Pose {
        self.pose
    }

    fn hash(&self, hash: &mut StateHash) {
        hash.pose(&self.pose);
    }

    fn is_finite(&self) -> bool {
        self.pose.translation.vector.iter().all(|x| x.is_finite())
    }
}
