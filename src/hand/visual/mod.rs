//! The visual skin: one closed surface over the whole hand, driven by the bones and the tissue.

mod field;
mod flesh;
mod forms;
mod frames;
mod weights;

use parry3d::query::PointQueryWithLocation;
use parry3d::shape::TriMesh;

use self::field::DistanceField;
pub use self::frames::Carrier;
use self::frames::ReferenceJoints;
use self::weights::{INFLUENCES, Weights};
use super::description::HandDescription;
use super::dynamics::REDUCED;
use super::meshing::SegmentMesh;
use super::shape::SegmentShape;
use super::skeleton::{Kinematics, Skeleton};
use crate::math::{Pose, Vec3, from_glam, to_glam};
use crate::mesh::{Grid, SurfaceMesh, polygonise};
use crate::tracking::{ANGLES, Angle, AngleKind, Segment, Side};

/// The closed visual skin of the whole hand, at rest in the reference pose with the palm at the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisualSkin {
    /// Vertices in the reference pose, and triangles.
    pub mesh: SurfaceMesh,
    /// The angles of the reference pose, rad.
    pub reference: [f64; ANGLES],
    /// Skinning of each vertex.
    pub vertices: Vec<VisualVertex>,
    joints: ReferenceJoints,
}

/// Skinning of a vertex: a few frames with weights that sum to one.
#[derive(Clone, Debug, PartialEq)]
pub struct VisualVertex {
    /// The influences; unused ones have weight zero.
    pub influences: [Influence; INFLUENCES],
}

/// The influence of one frame on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Which frame.
    pub carrier: Carrier,
    /// How much.
    pub weight: f64,
    /// Position of the vertex in the frame at rest.
    pub p_bone: Vec3,
    /// Point of the segment's collision skin whose displacement the vertex follows, so that the visual skin deforms
    /// with the collision skin.
    pub under: SkinPlace,
    /// Offset from there to the vertex if it lies outside the collision skin, which is coarser and lacks the flesh
    /// between segments. The offset shrinks where the collision skin is displaced.
    pub bulge: Vec3,
}

/// A point on a triangle of a segment's collision skin. The weights sum to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinPlace {
    /// Vertices of the collision skin.
    pub vertices: [u32; 3],
    /// Their weights.
    pub weights: [f64; 3],
}

impl SkinPlace {
    /// The weighted sum of a field over the vertices.
    pub fn sum(&self, field: &[Vec3]) -> Vec3 {
        (0..3).map(|i| self.weights[i] * field[self.vertices[i] as usize]).sum()
    }
}

impl VisualSkin {
    /// Polygonises the smooth union of the segments' outlines. A left hand is the exact mirror image of the right one.
    ///
    /// Returns an empty skin if the axes of the description do not span a frame; the model is rejected later.
    pub fn new(hand: &HandDescription, shapes: &[SegmentShape], meshes: &[SegmentMesh]) -> Self {
        Self::over(hand, shapes, meshes).unwrap_or_default()
    }

    fn over(hand: &HandDescription, shapes: &[SegmentShape], meshes: &[SegmentMesh]) -> Option<Self> {
        let right = HandDescription { side: Side::Right, ..hand.clone() };
        let reference = reference_pose(&right);
        let stand = |hand| Some(Skeleton::new(hand).ok()?.kinematics(&Pose::identity(), &reference));
        let kin = stand(&right)?;
        let field = DistanceField::new(&right, shapes, &kin);
        let mesh = polygonise(grid_around(&right, &field), |p| field.distance(p));
        let skins: Vec<_> = meshes.iter().map(|mesh| RestSkin::new(mesh, hand.side)).collect();
        let weights = Weights::new(&right, &field, &kin);
        let influence = |p: &Vec3, carrier: Carrier, weight: f64| {
            let segment = carrier.segment.index();
            let p_bone = kin.poses[segment].inverse_transform_point(&(*p).into()).coords;
            let nearest = (weight > 0.0).then(|| skins[segment].nearest(&p_bone)).flatten();
            let (under, bulge) = nearest.unwrap_or((NOWHERE, Vec3::zeros()));
            Influence { carrier, weight, p_bone, under, bulge }
        };
        let vertex = |p: &Vec3| VisualVertex { influences: weights.at(p).map(|(c, weight)| influence(p, c, weight)) };
        let vertices = mesh.vertices.iter().map(vertex).collect();
        let mut skin = Self { mesh, reference, vertices, joints: ReferenceJoints::new(&stand(hand)?) };
        if hand.side == Side::Left {
            skin.mirror();
        }
        Some(skin)
    }

    /// The mirror image x → −x, wound outward.
    fn mirror(&mut self) {
        self.mesh.vertices.iter_mut().for_each(|p| p.x = -p.x);
        self.mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        for influence in self.vertices.iter_mut().flat_map(|v| &mut v.influences) {
            influence.p_bone.x = -influence.p_bone.x;
            influence.bulge.x = -influence.bulge.x;
        }
    }

    /// Positions of the vertices: `Σ w X (p + u)` over the frames `X`, with the displacement `u` of the collision skin
    /// in the bone frame.
    pub fn posed(&self, kin: &Kinematics, displacement: impl Fn(Segment, &SkinPlace) -> Vec3, out: &mut Vec<Vec3>) {
        let frames = self.joints.frames(kin);
        out.clear();
        out.extend(self.vertices.iter().map(|vertex| {
            vertex.used().map(|i| i.weight * i.place(&frames.poses[i.carrier.index()], &displacement)).sum::<Vec3>()
        }));
    }

    /// The transpose of [`posed`](Self::posed): adds to `onto` the reduced forces with the same virtual work as
    /// `forces` at the vertices, with a fixed displacement of the collision skin.
    pub fn push_forces(
        &self,
        kin: &Kinematics,
        displacement: impl Fn(Segment, &SkinPlace) -> Vec3,
        forces: &[Vec3],
        onto: &mut [f64; REDUCED],
    ) {
        let frames = self.joints.frames(kin);
        for (vertex, force) in self.vertices.iter().zip(forces).filter(|(_, f)| **f != Vec3::zeros()) {
            for i in vertex.used() {
                let p = i.place(&frames.poses[i.carrier.index()], &displacement);
                frames.add_point_force(i.carrier, &p, &(i.weight * force), onto);
            }
        }
    }
}

impl VisualVertex {
    fn used(&self) -> impl Iterator<Item = &Influence> {
        self.influences.iter().filter(|i| i.weight > 0.0)
    }
}

impl Influence {
    fn place(&self, frame: &Pose, displacement: impl Fn(Segment, &SkinPlace) -> Vec3) -> Vec3 {
        let u = displacement(self.carrier.segment, &self.under);
        (frame * nalgebra::Point3::from(self.p_bone + u - self.flattened(&u) * self.bulge)).coords
    }

    /// Fraction of the offset that is removed where the collision skin is displaced by `u`: all of it once `u` exceeds
    /// the offset.
    fn flattened(&self, u: &Vec3) -> f64 {
        let height = self.bulge.norm();
        if height == 0.0 {
            return 0.0;
        }
        let outwards = u.dot(&self.bulge) / height;
        let aside = (u.norm_squared() - outwards * outwards).max(0.0).sqrt();
        ((aside - outwards) / height).clamp(0.0, 1.0)
    }
}

/// Cell size of the description, limited to resolve fingers and to bound the number of cells.
fn grid_around(hand: &HandDescription, field: &DistanceField<'_>) -> Grid {
    const COARSEST: f64 = 1.0 / 50.0;
    const MAX_CELLS: f64 = 4e6;
    let (low, high) = field.bounds();
    let finest = ((high - low).product() / MAX_CELLS).cbrt();
    Grid::around(&low, &high, hand.mesh.visual.min(COARSEST * hand.hand_length()).max(finest))
}

/// Straight fingers, spread so far that neighbours do not touch, and the thumb away from the palm.
fn reference_pose(hand: &HandDescription) -> [f64; ANGLES] {
    /// Abduction of each finger as a fraction of its range, thumb to little finger.
    const SPREAD: [f64; 5] = [0.2, 0.7, 0.0, -0.7, -0.8];
    let mut angles = [0.0; ANGLES];
    for angle in Angle::all() {
        let [low, high] = hand.fingers[angle.finger as usize].limits[angle.kind as usize];
        let wanted = match (angle.kind, SPREAD[angle.finger as usize]) {
            (AngleKind::BaseAbduction, spread) if spread >= 0.0 => spread * high,
            (AngleKind::BaseAbduction, spread) => -spread * low,
            _ => 0.0,
        };
        angles[angle.index()] = wanted.max(low).min(high);
    }
    angles
}

/// No collision skin: no displacement.
const NOWHERE: SkinPlace = SkinPlace { vertices: [0; 3], weights: [0.0; 3] };

/// The collision skin of a segment at rest, for a right hand.
struct RestSkin {
    triangles: Vec<[u32; 3]>,
    surface: Option<TriMesh>,
}

impl RestSkin {
    fn new(mesh: &SegmentMesh, side: Side) -> Self {
        let mut skin = mesh.skin.clone();
        if side == Side::Left {
            skin.vertices.iter_mut().for_each(|p| p.x = -p.x);
            skin.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let surface = TriMesh::new(skin.vertices.iter().map(to_glam).collect(), skin.triangles.clone()).ok();
        Self { triangles: skin.triangles, surface }
    }

    /// The closest point on it, and the offset from there to the point if that is outside.
    fn nearest(&self, p: &Vec3) -> Option<(SkinPlace, Vec3)> {
        let surface = self.surface.as_ref()?;
        let (nearest, (face, place)) = surface.project_local_point_and_get_location(to_glam(p), false);
        let under = SkinPlace { vertices: self.triangles[face as usize], weights: place.barycentric_coordinates()? };
        let away = to_glam(p) - nearest.point;
        let is_outside = surface.triangle(face).normal().is_some_and(|normal| normal.dot(away) > 0.0);
        Some((under, if is_outside { from_glam(away) } else { Vec3::zeros() }))
    }
}
