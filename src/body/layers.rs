use std::sync::Arc;

use super::fem::{Continuum, Relaxation};
use super::{
    Body, Bounds, Collider, CollisionSkin, HandBody, MaterialId, MaterialPoint, MeshCollider, Part, Phalanx,
    SurfaceLayer,
};
use crate::hand::{HandDescription, HandModel};
use crate::math::{Mat3, Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3};
use crate::mesh::TetMesh;
use crate::text::unknown;
use crate::tracking::{HandSample, Limits, SEGMENTS, SampleSource, Segment, TrackedHand, Verdict};

/// A hand in the world with its five layers.
///
/// As a body it has a part for the skeleton, then one for the tissue of each segment. Its colliders are the skins of
/// the segments. For its material points the nodes are vertices of the skin of segment `part`, and the rigid frames are
/// the bones.
#[derive(Clone, Debug)]
pub struct Hand {
    model: Arc<HandModel>,
    /// Layers 1 to 3.
    pub skeleton: HandBody,
    /// Layer 4, one per segment, palm first.
    pub tissues: Vec<Phalanx>,
    /// Layer 5.
    pub skin: CollisionSkin,
    /// Material of the skin.
    pub material: MaterialId,
    soft: bool,
    meets_itself: bool,
    /// Whether tissue and skin stay where they are.
    bare: bool,
}

/// Initial state of a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct HandOptions {
    /// Pose of the palm.
    pub palm: Pose,
    /// Pose by name.
    pub pose: String,
    /// Plausibility limits of samples.
    pub tracking: Limits,
}

impl Default for HandOptions {
    fn default() -> Self {
        Self { palm: Pose::identity(), pose: "open".into(), tracking: Limits::default() }
    }
}

/// A pose that the description of the hand does not name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", unknown("pose", name, known))]
pub struct UnknownPose {
    /// The name that was given.
    pub name: String,
    /// The names of all poses of the hand.
    pub known: Vec<String>,
}

impl Hand {
    /// A hand at rest in a pose that its description names.
    pub fn new(model: Arc<HandModel>, options: &HandOptions) -> Result<Self, UnknownPose> {
        let description = &model.description;
        let angles = description.pose(&options.pose).ok_or_else(|| UnknownPose {
            name: options.pose.clone(),
            known: description.poses.iter().map(|pose| pose.name.clone()).collect(),
        })?;
        let tracked = TrackedHand::new(options.palm, *angles, options.tracking);
        let skeleton = HandBody::new(model.clone(), tracked);
        let tissue = |s: Segment| {
            let mesh = &model.meshes[s.index()];
            let continuum = tissue_of(&model.description, &mesh.tissue, &mesh.held);
            Phalanx::new(Arc::new(continuum), skeleton.kinematics().poses[s.index()])
        };
        let tissues: Vec<_> = Segment::all().map(tissue).collect();
        let mut skin = CollisionSkin::new(&model);
        skin.update(&skeleton, &tissues);
        Ok(Self {
            model,
            skeleton,
            tissues,
            skin,
            material: MaterialId::at(0),
            soft: true,
            meets_itself: false,
            bare: false,
        })
    }

    /// The constant part.
    pub fn model(&self) -> &Arc<HandModel> {
        &self.model
    }

    /// Takes a tracked sample in, with the priority of a device.
    pub fn track(&mut self, sample: HandSample) -> Verdict {
        self.track_from(SampleSource::Device, sample)
    }

    /// Takes the parts of a tracked sample in that no source of higher priority has claimed.
    pub fn track_from(&mut self, source: SampleSource, sample: HandSample) -> Verdict {
        self.skeleton.tracked.accept_from(source, sample)
    }

    /// Updates the tissue to the poses of the bones, and the skin to both.
    pub fn follow_bones(&mut self) {
        for (tissue, pose) in self.tissues.iter_mut().zip(&self.skeleton.kinematics().poses) {
            tissue.set_frame(*pose);
        }
        self.skin.update(&self.skeleton, &self.tissues);
    }

    /// Whether the tissue deforms; if not, the fingers are rigid.
    pub fn is_soft(&self) -> bool {
        self.soft
    }

    /// Sets whether the tissue deforms.
    pub fn set_soft(&mut self, soft: bool) {
        self.soft = soft;
        self.tissues.iter_mut().for_each(|tissue| tissue.set_deforms(soft));
    }

    /// Sets whether its fingers touch each other and the palm.
    pub fn set_meets_itself(&mut self, meets: bool) {
        self.meets_itself = meets;
    }

    /// Leaves tissue and skin where they are from now on, as for the copy in a haptic loop, which needs the skeleton only.
    pub fn leave_skin(&mut self) {
        self.bare = true;
    }

    /// Velocity of the point of the palm at an offset from its origin.
    fn palm_velocity(&self, offset: &Vec3) -> Vec3 {
        let (state, kinematics) = (self.skeleton.state(), self.skeleton.kinematics());
        kinematics.point_velocity(Segment::PALM, &(state.palm.translation.vector + offset), &state.velocity)
    }

    /// Number of factorisations of the tissues.
    pub fn refactorisations(&self) -> u64 {
        self.tissues.iter().map(|t| t.state().refactorisations()).sum()
    }
}

impl Saved for Hand {
    fn save(&self, to: &mut StateWriter) {
        self.skeleton.save(to);
        self.tissues.save(to);
        (self.soft, self.meets_itself).save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.skeleton.restore(from)?;
        self.tissues.restore(from)?;
        (self.soft, self.meets_itself) = from.get()?;
        self.update();
        Ok(())
    }
}

impl Body for Hand {
    fn kind(&self) -> &'static str {
        "hand"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        1 + SEGMENTS
    }

    fn part(&self, index: usize) -> &dyn Part {
        if index == 0 { &self.skeleton } else { &self.tissues[index - 1] }
    }

    fn part_mut(&mut self, index: usize) -> &mut dyn Part {
        if index == 0 { &mut self.skeleton } else { &mut self.tissues[index - 1] }
    }

    fn update(&mut self) {
        if !self.bare {
            self.follow_bones();
        }
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        if at.is_rigid() { self.skeleton.position(at) } else { at.nodes.sum(self.skin.positions(segment_of(at))) }
    }

    /// `J_i q̇_r + R_bone Σ_k β_ik u̇_k`.
    fn velocity(&self, at: &MaterialPoint, place: &Vec3) -> Vec3 {
        let segment = segment_of(at);
        let bone = self.skeleton.kinematics().point_velocity(segment, place, &self.skeleton.state().velocity);
        if at.is_rigid() || !self.soft {
            return bone;
        }
        let (maps, tissue) = (&self.model.meshes[segment.index()].skin_maps, &self.tissues[segment.index()]);
        let vertices = at.nodes.nodes.iter().zip(&at.nodes.weights).filter(|(_, w)| **w != 0.0);
        let part = |(&v, &w): (&u32, &f64)| w * tissue.velocity(&MaterialPoint::soft(maps[v as usize]));
        bone + vertices.map(part).sum::<Vec3>()
    }

    fn parts_at(&self, at: &MaterialPoint) -> [Option<usize>; 2] {
        let tissue = (self.soft && !at.is_rigid()).then_some(1 + at.part as usize);
        [Some(0), tissue]
    }

    fn columns(&self, at: &MaterialPoint, place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        let segment = segment_of(at);
        self.skeleton.kinematics().point_columns(segment, place, |dof, v| column(0, dof, v));
        if at.is_rigid() || !self.soft {
            return;
        }
        let (maps, tissue) = (&self.model.meshes[segment.index()].skin_maps, &self.tissues[segment.index()]);
        let turn = tissue.frame().rotation.to_rotation_matrix();
        for (&vertex, &share) in at.nodes.nodes.iter().zip(&at.nodes.weights).filter(|(_, w)| **w != 0.0) {
            let map = &maps[vertex as usize];
            for (&node, &weight) in map.nodes.iter().zip(&map.weights).filter(|(_, w)| **w != 0.0) {
                let Some(unknown) = tissue.model().unknown(node) else { continue };
                for c in 0..3 {
                    column(1 + segment.index(), 3 * unknown + c, share * weight * turn.matrix().column(c));
                }
            }
        }
    }

    fn frame(&self, collider: usize) -> Mat3 {
        self.skeleton.kinematics().poses[collider].rotation.to_rotation_matrix().into_inner()
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider_count(&self) -> usize {
        SEGMENTS
    }

    fn collider(&self, index: usize) -> Collider<'_> {
        let (mesh, tissue) = (&self.model.meshes[index], &self.model.description.tissue);
        let skin = skin_factor(&self.model.description);
        let layer = SurfaceLayer {
            modulus: skin * (tissue.lambda() + 2.0 * tissue.mu()),
            shear_modulus: skin * tissue.mu(),
            damping: tissue.damping_stiffness,
        };
        Collider::Mesh(MeshCollider {
            rest: &mesh.skin,
            areas: &mesh.skin_areas,
            aggregates: true,
            deformable: true,
            layer: self.soft.then_some(layer),
        })
    }

    fn vertex_positions(&self, collider: usize, positions: &mut Vec<Vec3>) {
        positions.extend_from_slice(self.skin.positions(Segment::at(collider)));
    }

    /// The nodes of the tissue that are fixed to the bone.
    fn core_points(&self, collider: usize, point: &mut dyn FnMut(u32, MaterialPoint, Vec3)) {
        if !self.soft {
            return;
        }
        let mesh = &self.model.meshes[collider];
        for (n, local) in mesh.tissue.nodes.iter().enumerate().filter(|(n, _)| mesh.held[*n]) {
            let at = MaterialPoint::rigid(collider, *local);
            point(n as u32, at, self.skeleton.position(&at));
        }
    }

    fn may_meet_itself(&self, colliders: [usize; 2], margin: f64) -> bool {
        self.meets_itself && self.model.self_contact.may_meet(self.skeleton.kinematics(), colliders, margin)
    }

    fn vertex_meets_itself(&self, collider: usize, vertex: usize, other: usize) -> bool {
        self.model.self_contact.meets(collider, vertex, other)
    }

    /// The bone is rigid: no point of it is faster than the fastest corner of the bounds.
    fn top_speed(&self, collider: usize, bounds: &Bounds) -> f64 {
        let (skeleton, tissue) = (&self.skeleton, &self.tissues[collider]);
        let at = |corner: Vec3| {
            skeleton.kinematics().point_velocity(Segment::at(collider), &corner, &skeleton.state().velocity).norm()
        };
        let square = |v: &[f64]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let nodes = tissue.state().velocity.chunks_exact(3).map(square).fold(0.0, f64::max).sqrt();
        bounds.corners().map(at).fold(0.0, f64::max) + if self.soft { nodes } else { 0.0 }
    }

    fn attachment_point(&self, part: usize, place: &Vec3) -> Option<MaterialPoint> {
        let pose = self.skeleton.kinematics().poses.get(part)?;
        Some(MaterialPoint::rigid(part, pose.inverse_transform_point(&(*place).into()).coords))
    }

    fn pose(&self) -> Pose {
        self.skeleton.state().palm
    }

    fn centre_velocity(&self) -> Vec3 {
        self.palm_velocity(&Vec3::zeros())
    }

    /// From the velocities of two other points of the palm.
    fn angular_velocity(&self) -> Vec3 {
        let linear = self.centre_velocity();
        let [x, y] = [Vec3::x(), Vec3::y()].map(|axis| self.palm_velocity(&axis) - linear);
        Vec3::new(y.z, -x.z, x.y)
    }

    /// The skeleton only.
    fn copy_state(&mut self, from: &dyn Body) -> bool {
        let Some(from) = (from as &dyn std::any::Any).downcast_ref::<Self>() else { return false };
        self.skeleton.set_state(from.skeleton.state().clone());
        self.update();
        true
    }

    fn hash(&self, hash: &mut StateHash) {
        self.skeleton.hash(hash);
        self.tissues.iter().for_each(|tissue| tissue.hash(hash));
    }
}

/// Factors on Young's modulus and on the coefficient of strain limiting of a mesh of resolution 1.
///
/// Linear tetrahedra are too stiff, the more so the fewer they are. The factors are calibrated once, on the pad of the index finger under a plate at
/// 30°: its indentation at 1, 2 and 4 N is within 3 % of that of a mesh eight times finer without them. They tend to one with the
/// logarithm of the resolution up to that of the finer mesh.
const COARSE: [f64; 2] = [0.7, 0.83];

/// Resolution from which on they are one.
const FINE: f64 = 8.0;

/// Modulus of the skin's outermost layer over that of tissue with strain limiting at first touch: an estimate.
const SKIN: f64 = 2.0;

/// Modulus of the outermost layer over that of the tissue.
fn skin_factor(hand: &HandDescription) -> f64 {
    if hand.stiffening > 0.0 { SKIN } else { 1.0 }
}

/// The tissue of a segment of a described hand.
fn tissue_of(hand: &HandDescription, mesh: &TetMesh, held: &[bool]) -> Continuum {
    // Linear tissue is taken as it is given: it is calibrated as it is, on the usual mesh.
    let linear = hand.stiffening <= 0.0;
    let fine = if linear { 1.0 } else { (hand.mesh.resolution.ln() / FINE.ln()).clamp(0.0, 1.0) };
    let [modulus, limit] = COARSE.map(|factor| factor + fine * (1.0 - factor));
    let mut material = hand.tissue;
    material.young *= modulus;
    let relaxation = hand.relaxation.then_some(Relaxation::FINGERTIP);
    Continuum::new(mesh, held, material).stiffened(limit * hand.stiffening).relaxing(relaxation)
}

fn segment_of(at: &MaterialPoint) -> Segment {
    Segment::at(at.part as usize)
}
