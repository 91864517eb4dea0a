//! Rank 3: the kinds of body and the registry of the bodies of a world.
//!
//! A kind of body implements [`Body`]: its colliders, the motion of its material points, and its [`Part`]s, which are groups of degrees of
//! freedom with free motion, `A⁻¹` and an update. Contact, the solver, scripts and recordings know bodies only by these interfaces and by
//! [`BodyId`].
//!
//! ```
//! use fingerpad::body::{Bodies, Body, Fixed, RigidBody, RigidShape};
//! use fingerpad::math::Pose;
//!
//! let mut bodies = Bodies::default();
//! bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity())?);
//! let ball = bodies.add_named("ball", RigidBody::new(&RigidShape::Ball(0.05), 1000.0, Pose::identity())?);
//! // A handle knows the kind of its body; by an id every body has the same interface.
//! assert!((bodies[ball].mass() - 0.5236).abs() < 1e-4);
//! let masses: Vec<Option<f64>> = bodies.iter().map(|(_, body)| body.mass()).collect();
//! assert_eq!(masses, [None, Some(bodies[ball].mass())]);
//! assert_eq!(bodies.find("ball"), Some(ball.id()));
//! # Ok::<(), fingerpad::body::ShapeFault>(())
//! ```
//!
//! `examples/own_body.rs` adds a kind.

mod beam;
mod collider;
mod drive;
mod elastic;
mod elastic_tool;
pub mod fem;
mod fixed;
mod free_rotation;
mod hand;
mod layers;
mod phalanx;
mod quasi_rigid;
mod registry;
mod rigid;
mod skin;
mod soft;
mod tessellation;

pub use beam::BeamBody;
pub use collider::{Bounds, Collider, ElasticSurface, MeshCollider, ShapeCollider, SurfaceLayer, SurfaceLoad};
pub use drive::{Drive, DriveLaw, SLIP};
pub use elastic::{ElasticBody, ElasticBodyOptions};
pub use elastic_tool::HeldTool;
pub use fem::{Refactor, RefactorPolicy, StaticFault};
pub use fixed::Fixed;
pub use hand::HandBody;
pub use layers::{Hand, HandOptions, UnknownPose};
pub use phalanx::Phalanx;
pub use quasi_rigid::{Deformation, QuasiRigidBody, QuasiRigidFault};
pub use registry::{Bodies, BodyId, ColliderId, HandId, Handle, PartId};
pub use rigid::{RigidBody, RigidShape, Samples, ShapeFault};
pub use skin::{CollisionSkin, SkinVertex};
pub use soft::SoftBody;
pub use tessellation::tessellated;

use crate::math::{Mat3, Pose, Saved, StateHash, Vec3};
use crate::mesh::NodeMap;
use crate::problem::{CoordinateTerm, Guide};
use crate::typed_id;

typed_id! {
    /// Material of a body's surface; friction is defined for pairs.
    MaterialId
}

/// Parameters of a step common to all bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Time step, s.
    pub h: f64,
    /// Time at its start, s.
    pub time: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3,
    /// When soft bodies update their linearisation.
    pub refactor: RefactorPolicy,
}

/// A point that moves with a body: a point of a rigid frame, or a weighted sum of nodes. The frames and nodes depend on
/// the kind of body. A hand has a frame for each bone, and as nodes the vertices of the skin of each segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialPoint {
    /// Index of the rigid frame or mesh of the body.
    pub part: u32,
    /// Coordinates in the rigid frame.
    pub local: Vec3,
    /// Weights of the nodes; all zero for a point of a rigid frame.
    pub nodes: NodeMap,
}

impl MaterialPoint {
    /// A point of a rigid frame.
    pub fn rigid(part: usize, local: Vec3) -> Self {
        Self { part: part as u32, local, nodes: NodeMap { nodes: [0; 4], weights: [0.0; 4] } }
    }

    /// A weighted sum of nodes.
    pub fn soft(nodes: NodeMap) -> Self {
        Self { part: 0, local: Vec3::zeros(), nodes }
    }

    /// A weighted sum of three vertices of a mesh.
    pub fn on_mesh(mesh: usize, vertices: [u32; 3], weights: [f64; 3]) -> Self {
        let ([a, b, c], [u, v, w]) = (vertices, weights);
        Self { part: mesh as u32, ..Self::soft(NodeMap { nodes: [a, b, c, c], weights: [u, v, w, 0.0] }) }
    }

    /// Whether it is a point of a rigid frame.
    pub fn is_rigid(&self) -> bool {
        self.nodes.weights == [0.0; 4]
    }
}

/// Rank of [`LowRank`]: six rigid motions and their responses.
pub const LOW_RANK: usize = 12;

/// Coupling matrix of the columns of a [`LowRank`].
pub type LowRankCore = nalgebra::SMatrix<f64, LOW_RANK, LOW_RANK>;

/// A part `W Q Wᵀ` of `A⁻¹` that changes from step to step.
#[derive(Clone, Copy, Debug)]
pub struct LowRank<'a> {
    /// A version number.
    pub stamp: u64,
    /// The columns of `W`, consecutively.
    pub columns: &'a [f64],
    /// `Q`, symmetric and invertible.
    pub core: &'a LowRankCore,
}

/// A group of degrees of freedom that is solved with one matrix.
///
/// With `q_t`, `v_t` the state at the start of a step of length `h`, implicit Euler linearised once gives
/// `A dv = b`, `A = M − h ∂f/∂v − h² ∂f/∂q`, `b = h f + h² ∂f/∂q v_t` (Talvas 2015, eq. 2; the paper prints the signs for an `f` on the
/// left-hand side). [`Part::free_motion`] sets `A` up and leaves `v_free`; constraints add `A⁻¹ Hᵀ λ`;
/// [`Part::advance`] moves the position by `h v`. Points, directions and velocities are in the world frame.
pub trait Part {
    /// Degrees of freedom.
    fn dofs(&self) -> usize;

    /// Moves the velocity to the one at the end of the step without constraints, and sets `A` up.
    fn free_motion(&mut self, step: &Step);

    /// Position of a material point.
    fn position(&self, at: &MaterialPoint) -> Vec3;

    /// Velocity of a material point, for the present velocity of the part.
    fn velocity(&self, at: &MaterialPoint) -> Vec3;

    /// Adds the row of `direction · velocity(at)` to `row`, which has one entry per degree of freedom.
    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]);

    /// Computes what [`Part::apply_inverse`] and [`Part::low_rank`] need in this step, once contact acts on the part.
    fn prepare_inverse(&mut self) {}

    /// Replaces each row by `A⁻¹` times it; rows are consecutive. Valid after [`Part::prepare_inverse`].
    fn apply_inverse(&self, rows: &mut [f64]);

    /// Whether contact uses all degrees of freedom with [`Part::matrix`]. For other parts it uses those that it acts
    /// on.
    fn is_small(&self) -> bool {
        false
    }

    /// `A` of a small part after the free motion, row by row.
    fn matrix(&self) -> &[f64] {
        &[]
    }

    /// Sizes of the groups of degrees of freedom of a small part; not every pair of groups is coupled in [`Part::matrix`].
    fn partition(&self) -> &[usize] {
        &[]
    }

    /// Springs and limits of a small part that contact may saturate or reach, after the free motion.
    fn coordinate_terms(&self) -> &[CoordinateTerm] {
        &[]
    }

    /// Distance of a point from the centre of rotation of the degrees of freedom 3 to 5, m; `None` if there is no such
    /// centre.
    fn rotation_arm(&self, _place: &Vec3) -> Option<f64> {
        None
    }

    /// A version number of [`Part::apply_kept_inverse`]; `None` if it may change every step.
    fn inverse_epoch(&self) -> Option<u64> {
        None
    }

    /// [`Part::apply_inverse`] without [`Part::low_rank`].
    fn apply_kept_inverse(&self, rows: &mut [f64]) {
        self.apply_inverse(rows);
    }

    /// The part of `A⁻¹` that changes from step to step, if there is one.
    fn low_rank(&self) -> Option<LowRank<'_>> {
        None
    }

    /// Change of velocity by the free motion, one entry per degree of freedom. Valid until constraints change the velocity.
    fn free_change(&self, change: &mut [f64]);

    /// Adds to the velocity.
    fn change_velocity(&mut self, dv: &[f64]);

    /// Adds to the position without changing the velocity.
    fn change_position(&mut self, dq: &[f64]);

    /// Moves the position by `h` times the velocity.
    fn advance(&mut self, h: f64);

    /// Mixes the state into a hash.
    fn hash(&self, hash: &mut StateHash);

    /// Whether every number of the state is finite.
    fn is_finite(&self) -> bool;

    /// Kinetic and elastic energy, J.
    fn energy(&self) -> f64;
}

/// A kind of body: the interface for contact, scripts and recordings.
///
/// Most kinds have one [`Part`]. A hand has one for its skeleton and one for the tissue of each segment: a point of its skin belongs to two
/// of them, its velocity is the sum of theirs, and so is its compliance (Duriez 2006, §6.2).
///
/// [`Saved`] writes the state of the body: what its later steps depend on and what is not fixed when it is made.
pub trait Body: std::any::Any + std::fmt::Debug + Saved + Send + Sync {
    /// Name of the kind, as in scene files.
    fn kind(&self) -> &'static str;

    /// A copy in its own box.
    fn boxed_clone(&self) -> Box<dyn Body>;

    /// Number of parts; constant. Zero for bodies that never move.
    fn part_count(&self) -> usize;

    /// One of the parts.
    fn part(&self, index: usize) -> &dyn Part;

    /// One of the parts.
    fn part_mut(&mut self, index: usize) -> &mut dyn Part;

    /// Recomputes what depends on the positions of the parts, after they changed.
    fn update(&mut self) {}

    /// Position of a material point.
    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.part(0).position(at)
    }

    /// Velocity of a material point; `place` is its position.
    fn velocity(&self, at: &MaterialPoint, _place: &Vec3) -> Vec3 {
        self.part(0).velocity(at)
    }

    /// The parts that move a material point.
    fn parts_at(&self, _at: &MaterialPoint) -> [Option<usize>; 2] {
        [Some(0), None]
    }

    /// Jacobian of a material point by columns: calls `column(part, dof, velocity per unit of the degree of freedom)`. `place` is the
    /// position of the point.
    fn columns(&self, at: &MaterialPoint, place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3));

    /// Orientation that the surface of a collider rotates with.
    fn frame(&self, collider: usize) -> Mat3;

    /// Material of the surface.
    fn material(&self) -> MaterialId;

    /// Sets the material of the surface.
    fn set_material(&mut self, material: MaterialId);

    /// Number of colliders.
    fn collider_count(&self) -> usize {
        1
    }

    /// Geometry of a collider.
    fn collider(&self, index: usize) -> Collider<'_>;

    /// Positions of the vertices of a mesh collider, in the order of its vertices.
    fn vertex_positions(&self, _collider: usize, _positions: &mut Vec<Vec3>) {}

    /// A point of a mesh collider as a weighted sum of three vertices.
    fn mesh_point(&self, collider: usize, vertices: [u32; 3], weights: [f64; 3]) -> MaterialPoint {
        MaterialPoint::on_mesh(collider, vertices, weights)
    }

    /// A point of a shape collider by its coordinates in the frame of the shape.
    fn shape_point(&self, collider: usize, local: Vec3) -> MaterialPoint {
        MaterialPoint::rigid(collider, local)
    }

    /// Points of a rigid core under the surface of a mesh collider: calls `point(index, point, position)`.
    fn core_points(&self, _collider: usize, _point: &mut dyn FnMut(u32, MaterialPoint, Vec3)) {}

    /// Whether two mesh colliders of the body may meet each other closer than a margin, m. For most bodies none do.
    fn may_meet_itself(&self, _colliders: [usize; 2], _margin: f64) -> bool {
        false
    }

    /// Whether a vertex of a mesh collider meets another collider of the body, where these may meet.
    fn vertex_meets_itself(&self, _collider: usize, _vertex: usize, _other: usize) -> bool {
        false
    }

    /// The law of the surface of an elastic object, in series with the layers of contacts.
    fn elastic_surface(&self) -> Option<ElasticSurface> {
        None
    }

    /// Colliders next to a part. They do not touch what is attached to the part.
    fn colliders_at(&self, _part: usize) -> std::ops::Range<usize> {
        0..0
    }

    /// Whether two of its colliders may touch each other.
    fn touches_itself(&self, _colliders: [usize; 2]) -> bool {
        false
    }

    /// The list that the forces of each step on the surface are written to, if the body uses them.
    fn surface_loads(&mut self) -> Option<&mut Vec<SurfaceLoad>> {
        None
    }

    /// Completes a step of length `h`, after [`Body::surface_loads`] are known.
    fn settle(&mut self, _h: f64) {}

    /// An upper bound of the speed of the points of a collider, m/s; `bounds` contains the collider.
    fn top_speed(&self, collider: usize, bounds: &Bounds) -> f64;

    /// The material point at a position in the world, for an attachment to a rigid frame or collider of the body;
    /// `None` if the position is not on the body.
    fn attachment_point(&self, part: usize, place: &Vec3) -> Option<MaterialPoint>;

    /// The rigid frame of the body that has a name in scene files, as in `BODY.NAME`.
    fn part_named(&self, _name: &str) -> Option<usize> {
        None
    }

    /// Pose of the body: of its frame or its palm. That of a soft body is its centre of mass, without rotation.
    fn pose(&self) -> Pose;

    /// Mass, kg; `None` for bodies that never move and for hands.
    fn mass(&self) -> Option<f64> {
        None
    }

    /// Centre of mass, or the origin of bodies without a mass.
    fn centre(&self) -> Vec3 {
        self.pose().translation.vector
    }

    /// Velocity of the centre, m/s.
    fn centre_velocity(&self) -> Vec3 {
        Vec3::zeros()
    }

    /// Positions of the nodes of a deformable body, m.
    fn nodes(&self) -> &[Vec3] {
        &[]
    }

    /// Angular velocity of rigid bodies, rad/s.
    fn angular_velocity(&self) -> Vec3 {
        Vec3::zeros()
    }

    /// The static displacements of the surface, of kinds whose second part they are.
    fn deformation(&self) -> Option<&Deformation> {
        None
    }

    /// The same, to be changed.
    fn deformation_mut(&mut self) -> Option<&mut Deformation> {
        None
    }

    /// Pulls a frame of the body to a moving pose, or releases it. Returns whether bodies of the kind can be pulled there.
    fn set_guide(&mut self, _frame: usize, _guide: Option<&Guide>) -> bool {
        false
    }

    /// Adds a drive for the next step. Returns whether bodies of the kind can be driven.
    fn add_drive(&mut self, _drive: &Drive) -> bool {
        false
    }

    /// Pose of a frame that [`Body::set_guide`] pulls, and its linear and angular velocity.
    fn guided_frame(&self, _frame: usize) -> Option<(Pose, [Vec3; 2])> {
        None
    }

    /// Copies positions and velocities of a copy of the body. Returns whether the kind supports this; it allocates nothing.
    fn copy_state(&mut self, _from: &dyn Body) -> bool {
        false
    }

    /// Names and units of the numbers that [`Body::trace`] writes, for tables of a run.
    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Appends one number per column of [`Body::trace_columns`].
    fn trace(&self, _row: &mut Vec<f64>) {}

    /// Mixes the state into a hash.
    fn hash(&self, hash: &mut StateHash) {
        (0..self.part_count()).for_each(|part| self.part(part).hash(hash));
    }

    /// Whether every number of the state is finite.
    fn is_finite(&self) -> bool {
        (0..self.part_count()).all(|part| self.part(part).is_finite())
    }

    /// Kinetic and elastic energy, J.
    fn energy(&self) -> f64 {
        (0..self.part_count()).map(|part| self.part(part).energy()).sum()
    }
}
