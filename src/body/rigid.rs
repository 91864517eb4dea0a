use parry3d::shape::{SharedShape, TriMeshFlags};

use super::free_rotation::FreeRotation;
use super::{Body, Bounds, Collider, Drive, MaterialId, MaterialPoint, MeshCollider, Part, ShapeCollider, Step};
use crate::math::{Mat3, Pose, Quat, StateHash, Vec3, exp, from_glam, log, to_glam};
use crate::mesh::{SolidMoments, SurfaceMesh};
use crate::problem::Guide;

/// The shapes of rigid bodies, in the frame of the body, m.
#[derive(Clone, Debug, PartialEq)]
pub enum RigidShape {
    /// A box by its half sizes.
    Box(Vec3),
    /// A ball by its radius.
    Ball(f64),
    /// A capsule along Y: half the length of its axis, and its radius.
    Capsule(f64, f64),
    /// A cylinder along Y: half its height, and its radius.
    Cylinder(f64, f64),
    /// The convex hull of some points.
    Hull(Vec<Vec3>),
    /// A closed triangle mesh, concave or not.
    Mesh(SurfaceMesh),
    /// The half space below the plane Y = 0; for static bodies.
    Ground,
}

/// Why a shape is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeFault {
    /// A size that is not positive and finite.
    #[error("every size of a shape must be positive and finite")]
    Size,
    /// Points that span no volume.
    #[error("the points of a hull must span a volume")]
    FlatHull,
    /// A mesh that does not enclose a volume.
    #[error("a mesh must be closed and wound outward")]
    OpenMesh,
    /// A density or mass that is not positive and finite.
    #[error("the mass of a body must be positive and finite")]
    Mass,
}

impl RigidShape {
    /// The shape as a parry3d type.
    pub fn shared(&self) -> Result<SharedShape, ShapeFault> {
        let positive =
            |sizes: &[f64]| sizes.iter().all(|s| *s > 0.0 && s.is_finite()).then_some(()).ok_or(ShapeFault::Size);
        let finite = |points: &[Vec3]| points.iter().all(|p| p.iter().all(|x| x.is_finite()));
        match self {
            RigidShape::Box(half) => {
                positive(half.as_slice())?;
                Ok(SharedShape::cuboid(half.x, half.y, half.z))
            }
            RigidShape::Ball(r) => positive(&[*r]).map(|()| SharedShape::ball(*r)),
            RigidShape::Capsule(half, r) => positive(&[*half, *r]).map(|()| SharedShape::capsule_y(*half, *r)),
            RigidShape::Cylinder(half, r) => positive(&[*half, *r]).map(|()| SharedShape::cylinder(*half, *r)),
            RigidShape::Ground => Ok(SharedShape::halfspace(to_glam(&Vec3::y()))),
            RigidShape::Hull(points) => {
                if points.len() < 4 || !finite(points) || spans_no_volume(points) {
                    return Err(ShapeFault::FlatHull);
                }
                let points: Vec<_> = points.iter().map(to_glam).collect();
                SharedShape::convex_hull(&points).ok_or(ShapeFault::FlatHull)
            }
            RigidShape::Mesh(mesh) => {
                if !finite(&mesh.vertices) || !mesh.is_closed() || mesh.volume() <= 0.0 {
                    return Err(ShapeFault::OpenMesh);
                }
                let vertices = mesh.vertices.iter().map(to_glam).collect();
                // Without this flag parry3d treats a mesh as a sheet without an inside.
                SharedShape::trimesh_with_flags(vertices, mesh.triangles.clone(), TriMeshFlags::ORIENTED)
                    .map_err(|_| ShapeFault::OpenMesh)
            }
        }
    }
}

/// Whether points are coplanar, to a millionth of their extent.
fn spans_no_volume(points: &[Vec3]) -> bool {
    let centre: Vec3 = points.iter().sum::<Vec3>() / points.len() as f64;
    let spread: Mat3 = points.iter().map(|p| (p - centre) * (p - centre).transpose()).sum();
    let s = spread.symmetric_eigenvalues();
    s.min() <= 1e-12 * s.max()
}

/// Moments of a shape of unit density. Those of meshes and hulls are integrated here: parry3d diagonalises their
/// inertia with an absolute threshold, which gives wrong axes for bodies of hand size.
fn solid_moments(shape: &SharedShape) -> SolidMoments {
    let mesh = |vertices: &[parry3d::math::Vector], triangles: &[[u32; 3]]| {
        let vertices = vertices.iter().map(|v| from_glam(*v)).collect();
        SurfaceMesh { vertices, triangles: triangles.to_vec() }.solid_moments()
    };
    if let Some(surface) = shape.as_trimesh() {
        return mesh(surface.vertices(), surface.indices());
    }
    if let Some(hull) = shape.as_convex_polyhedron() {
        let (vertices, triangles) = hull.to_trimesh();
        return mesh(&vertices, &triangles);
    }
    let properties = shape.mass_properties(1.0);
    let m = properties.reconstruct_inertia_matrix();
    let inertia = Mat3::from_columns(&[from_glam(m.x_axis), from_glam(m.y_axis), from_glam(m.z_axis)]);
    SolidMoments { volume: properties.mass(), centre: from_glam(properties.local_com), inertia }
}

/// A rigid body.
///
/// Its state is its angular momentum `L`, not its angular velocity: a free body preserves `L` to the bit. Contact acts
/// on the angular velocity at the start of the step, `ω = I(q)⁻¹ L`, and an impulse that changes it by `Δω` changes `L`
/// by `I(q) Δω`. So contact acts on exactly the kinetic energy `L·ω / 2` of the body. The body is then rotated by
/// `FreeRotation` with the momentum after contact, which preserves momentum and energy for bodies of any shape and any
/// time step.
///
/// DEVIATION: the gyroscopic term is in the rotation, not in `A`. The implicit midpoint rule puts it into the free
/// motion, but for a slender body its equation has several solutions whose energies differ by up to `I_max / I_min`,
/// and contact converts the difference to speed.
#[derive(Clone, Debug)]
pub struct RigidBody {
    shape: SharedShape,
    mass: f64,
    /// Centre of mass in the frame of the body.
    local_centre: Vec3,
    /// Inertia about it in the frame of the body, and its inverse.
    inertia: Mat3,
    inverse_inertia: Mat3,
    /// Position of the centre of mass, orientation.
    place: Vec3,
    orientation: Quat,
    velocity: Vec3,
    angular_momentum: Vec3,
    rotation: FreeRotation,
    /// Angular velocity at the start of the step plus the changes by contact, and the inertia for it, in the world.
    turn: Vec3,
    inertia_world: Mat3,
    inverse_inertia_world: Mat3,
    /// Mass and inertia in the world, and the guide: the system matrix.
    matrix: [f64; 36],
    guide: Option<Guide>,
    /// Drives of the next step.
    drives: Vec<Drive>,
    /// Whether the system matrix has a guide or drives, and its inverse.
    is_guided: bool,
    guided_inverse: nalgebra::Matrix6<f64>,
    /// Velocities at the start of the step.
    start: (Vec3, Vec3),
    /// Material of its surface.
    pub material: MaterialId,
    samples: Option<Samples>,
    /// Maximum distance of a point of the shape from the centre of mass, m.
    reach: f64,
}

/// Samples of a rigid surface in the frame of the body: their contacts with another body are aggregated, with the
/// pressure and friction of a patch, instead of individual contacts at the corners of the touching faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The samples and the triangles between them.
    pub mesh: SurfaceMesh,
    /// Area of each sample, m².
    pub areas: Vec<f64>,
}

impl RigidBody {
    /// A homogeneous body, at rest.
    pub fn new(shape: &RigidShape, density: f64, pose: Pose) -> Result<Self, ShapeFault> {
        let shape = shape.shared()?;
        if !(density > 0.0 && density.is_finite()) {
            return Err(ShapeFault::Mass);
        }
        let moments = solid_moments(&shape);
        Self::with_moments(shape, density, &moments, pose)
    }

    /// A homogeneous body of a given mass, at rest.
    pub fn with_mass(shape: &RigidShape, mass: f64, pose: Pose) -> Result<Self, ShapeFault> {
        let volume = solid_moments(&shape.shared()?).volume;
        Self::new(shape, mass / volume, pose)
    }

    fn with_moments(shape: SharedShape, density: f64, moments: &SolidMoments, pose: Pose) -> Result<Self, ShapeFault> {
        let mass = density * moments.volume;
        let inertia = 0.5 * density * (moments.inertia + moments.inertia.transpose());
        let inverse_inertia = inertia.try_inverse().ok_or(ShapeFault::Mass)?;
        if !(mass > 0.0 && mass.is_finite() && inverse_inertia.iter().all(|x| x.is_finite())) {
            return Err(ShapeFault::Mass);
        }
        let centre = moments.centre;
        let bounds = shape.compute_local_aabb();
        let reach = (from_glam(bounds.mins) - centre).abs().sup(&(from_glam(bounds.maxs) - centre).abs()).norm();
        let mut body = Self {
            shape,
            mass,
            local_centre: centre,
            inertia,
            inverse_inertia,
            place: pose.translation.vector + pose.rotation * centre,
            orientation: pose.rotation,
            velocity: Vec3::zeros(),
            angular_momentum: Vec3::zeros(),
            rotation: FreeRotation::new(&inertia),
            turn: Vec3::zeros(),
            inertia_world: inertia,
            inverse_inertia_world: inverse_inertia,
            matrix: [0.0; 36],
            guide: None,
            drives: Vec::new(),
            is_guided: false,
            guided_inverse: nalgebra::Matrix6::zeros(),
            start: (Vec3::zeros(), Vec3::zeros()),
            material: MaterialId::at(0),
            samples: None,
            reach,
        };
        body.set_inertia(&pose.rotation);
        Ok(body)
    }

    /// The shape.
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }

    /// Mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Inertia about the centre of mass in the frame of the body, kg·m².
    pub fn inertia(&self) -> &Mat3 {
        &self.inertia
    }

    /// Centre of mass in the world.
    pub fn centre(&self) -> &Vec3 {
        &self.place
    }

    /// Pose of the body's frame.
    pub fn pose(&self) -> Pose {
        Pose::from_parts((self.place - self.orientation * self.local_centre).into(), self.orientation)
    }

    /// Velocity of the centre of mass, m/s.
    pub fn linear_velocity(&self) -> &Vec3 {
        &self.velocity
    }

    /// Current angular velocity, rad/s.
    pub fn angular_velocity(&self) -> Vec3 {
        self.orientation * (self.inverse_inertia * (self.orientation.inverse() * self.angular_momentum))
    }

    /// Angular momentum about the centre of mass, kg·m²/s.
    pub fn angular_momentum(&self) -> &Vec3 {
        &self.angular_momentum
    }

    /// Centre of mass in the frame of the body.
    pub fn local_centre(&self) -> &Vec3 {
        &self.local_centre
    }

    /// Angular velocity that contact acts on, rad/s.
    pub fn turning(&self) -> &Vec3 {
        &self.turn
    }

    /// Velocity of a point at the start of the step, before the free motion.
    pub fn start_velocity(&self, at: &MaterialPoint) -> Vec3 {
        self.start.0 + self.start.1.cross(&self.arm(at))
    }

    /// An upper bound of the distance of points of the shape from the centre of mass, m.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Samples of the surface, if its contacts are aggregated.
    pub fn samples(&self) -> Option<&Samples> {
        self.samples.as_ref()
    }

    /// Enables aggregation with these samples.
    pub fn set_samples(&mut self, mesh: SurfaceMesh) {
        self.samples = Some(Samples { areas: mesh.vertex_areas(), mesh });
    }

    /// Places the body, at rest.
    pub fn set_pose(&mut self, pose: &Pose) {
        self.place = pose.translation.vector + pose.rotation * self.local_centre;
        self.orientation = pose.rotation;
        self.set_velocity(Vec3::zeros(), Vec3::zeros());
        self.set_inertia(&pose.rotation);
    }

    /// Sets the velocities.
    pub fn set_velocity(&mut self, linear: Vec3, angular: Vec3) {
        self.velocity = linear;
        self.angular_momentum = self.orientation * (self.inertia * (self.orientation.inverse() * angular));
        self.turn = angular;
    }

    fn set_inertia(&mut self, at: &Quat) {
        let r = at.to_rotation_matrix().into_inner();
        self.inertia_world = r * self.inertia * r.transpose();
        self.inverse_inertia_world = r * self.inverse_inertia * r.transpose();
        self.matrix.fill(0.0);
        for i in 0..3 {
            self.matrix[7 * i] = self.mass;
            (0..3).for_each(|j| self.matrix[6 * (3 + i) + 3 + j] = self.inertia_world[(i, j)]);
        }
    }

    fn arm(&self, at: &MaterialPoint) -> Vec3 {
        self.orientation * (at.local - self.local_centre)
    }

    /// Adds a guide of the body's frame to the matrix and to the free motion. With the arm `r` of the frame its velocity is `J v`,
    /// `J = [1, −r×; 0, 1]`, so `A = M + Jᵀ diag(a, b) J`.
    fn add_guide(&mut self, guide: &Guide, h: f64) {
        let arm = -(self.orientation * self.local_centre);
        let velocity = self.velocity + self.turn.cross(&arm);
        let term = guide.at(&(self.place + arm), &self.orientation, [&velocity, &self.turn], h);
        let [a, b] = term.matrix;
        let across = arm.cross_matrix();
        let turning = a * across.transpose() * across + Mat3::from_diagonal_element(b);
        for i in 0..3 {
            self.matrix[7 * i] += a;
            for j in 0..3 {
                self.matrix[6 * i + 3 + j] -= a * across[(i, j)];
                self.matrix[6 * (3 + i) + j] -= a * across[(j, i)];
                self.matrix[6 * (3 + i) + 3 + j] += turning[(i, j)];
            }
        }
        let [force, torque] = term.wrench;
        let torque = torque + arm.cross(&force);
        self.push_guided(&nalgebra::Vector6::new(force.x, force.y, force.z, torque.x, torque.y, torque.z), h);
    }

    /// Adds a drive to the matrix and to the free motion: `A = M + h s Jᵀ J` with the row `J` of its coordinate and the slope `s`. With several
    /// drives each one starts from the velocity that those before gave, with their slopes in the matrix.
    fn add_drive_term(&mut self, drive: &Drive, h: f64) {
        let axis = drive.axis;
        let (coordinate, velocity, row) = if drive.turns {
            let turned = log(&(self.orientation * drive.orientation.inverse()));
            (turned.dot(&axis), self.turn.dot(&axis), [0.0, 0.0, 0.0, axis.x, axis.y, axis.z])
        } else {
            let arm = self.orientation * (drive.point[0] - self.local_centre);
            let across = arm.cross(&axis);
            let velocity = (self.velocity + self.turn.cross(&arm)).dot(&axis);
            let row = [axis.x, axis.y, axis.z, across.x, across.y, across.z];
            ((self.place + arm - drive.point[1]).dot(&axis), velocity, row)
        };
        let row = nalgebra::Vector6::from_row_slice(&row);
        let inertia = if drive.turns { 1.0 / (self.inverse_inertia_world * axis).dot(&axis) } else { self.mass };
        let [force, slope] = drive.law.at(coordinate, velocity, inertia, h);
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            self.matrix[6 * i + j] += h * slope * row[i] * row[j];
        }
        self.push_guided(&(force * row), h);
    }

    /// Inverts the system matrix and applies a wrench for the step.
    fn push_guided(&mut self, wrench: &nalgebra::Vector6<f64>, h: f64) {
        self.is_guided = true;
        let matrix = nalgebra::Matrix6::from_row_slice(&self.matrix);
        self.guided_inverse = matrix.try_inverse().unwrap_or_else(nalgebra::Matrix6::zeros);
        let dv = self.guided_inverse * (h * wrench);
        self.change_velocity(dv.as_slice());
    }
}

crate::saved_fields!(RigidBody: place, orientation, velocity, angular_momentum, turn, guide; lists: drives);

impl Part for RigidBody {
    fn dofs(&self) -> usize {
        6
    }

    fn free_motion(&mut self, step: &Step) {
        self.turn = self.angular_velocity();
        self.start = (self.velocity, self.turn);
        self.velocity += step.h * step.gravity;
        self.set_inertia(&self.orientation.clone());
        self.is_guided = false;
        if let Some(guide) = self.guide {
            self.add_guide(&guide, step.h);
        }
        while let Some(drive) = self.drives.pop() {
            self.add_drive_term(&drive, step.h);
        }
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.place + self.arm(at)
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        self.velocity + self.turn.cross(&self.arm(at))
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        let torque = self.arm(at).cross(direction);
        for c in 0..3 {
            row[c] += direction[c];
            row[3 + c] += torque[c];
        }
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        if self.is_guided {
            for row in rows.chunks_exact_mut(6) {
                let moved = self.guided_inverse * nalgebra::Vector6::from_row_slice(row);
                row.copy_from_slice(moved.as_slice());
            }
            return;
        }
        for row in rows.chunks_exact_mut(6) {
            let spin = self.inverse_inertia_world * Vec3::new(row[3], row[4], row[5]);
            for c in 0..3 {
                row[c] /= self.mass;
                row[3 + c] = spin[c];
            }
        }
    }

    fn is_small(&self) -> bool {
        true
    }

    fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    fn partition(&self) -> &[usize] {
        &[6]
    }

    fn rotation_arm(&self, place: &Vec3) -> Option<f64> {
        Some((place - self.place).norm())
    }

    fn free_change(&self, change: &mut [f64]) {
        let (linear, angular) = (self.velocity - self.start.0, self.turn - self.start.1);
        change.copy_from_slice(&[linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]);
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        self.velocity += Vec3::new(dv[0], dv[1], dv[2]);
        let turn = Vec3::new(dv[3], dv[4], dv[5]);
        self.turn += turn;
        self.angular_momentum += self.inertia_world * turn;
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.place += Vec3::new(dq[0], dq[1], dq[2]);
        self.orientation = exp(&Vec3::new(dq[3], dq[4], dq[5])) * self.orientation;
        self.orientation.renormalize();
    }

    fn advance(&mut self, h: f64) {
        self.place += h * self.velocity;
        self.orientation = self.rotation.turned(&self.orientation, &self.angular_momentum, h);
    }

    fn hash(&self, hash: &mut StateHash) {
        hash.vector(&self.place);
        hash.numbers(self.orientation.coords.as_slice());
        hash.vector(&self.velocity);
        hash.vector(&self.angular_momentum);
    }

    fn is_finite(&self) -> bool {
        let vectors = self.place.iter().chain(self.velocity.iter()).chain(self.angular_momentum.iter());
        vectors.chain(self.orientation.coords.iter()).all(|x| x.is_finite())
    }

    fn energy(&self) -> f64 {
        0.5 * self.mass * self.velocity.norm_squared() + 0.5 * self.angular_momentum.dot(&self.angular_velocity())
    }
}

/// The colliders are the shape and, if there are any, the samples of the surface.
impl Body for RigidBody {
    fn kind(&self) -> &'static str {
        "rigid"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        1
    }

    fn part(&self, _index: usize) -> &dyn Part {
        self
    }

    fn part_mut(&mut self, _index: usize) -> &mut dyn Part {
        self
    }

    fn columns(&self, _at: &MaterialPoint, place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        let arm = place - self.place;
        for i in 0..3 {
            column(0, i, Vec3::ith(i, 1.0));
            column(0, 3 + i, Vec3::ith(i, 1.0).cross(&arm));
        }
    }

    fn frame(&self, _collider: usize) -> Mat3 {
        self.orientation.to_rotation_matrix().into_inner()
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider_count(&self) -> usize {
        1 + usize::from(self.samples.is_some())
    }

    fn collider(&self, index: usize) -> Collider<'_> {
        match &self.samples {
            Some(samples) if index == 1 => Collider::Mesh(MeshCollider {
                rest: &samples.mesh,
                areas: &samples.areas,
                aggregates: true,
                deformable: false,
                layer: None,
            }),
            samples => Collider::Shape(ShapeCollider {
                shape: &self.shape,
                pose: RigidBody::pose(self),
                moves: true,
                sampled: samples.is_some(),
            }),
        }
    }

    fn vertex_positions(&self, _collider: usize, positions: &mut Vec<Vec3>) {
        let pose = RigidBody::pose(self);
        let samples = self.samples.iter().flat_map(|samples| &samples.mesh.vertices);
        positions.extend(samples.map(|p| pose.translation.vector + pose.rotation * p));
    }

    fn mesh_point(&self, _collider: usize, vertices: [u32; 3], weights: [f64; 3]) -> MaterialPoint {
        let sum = |mesh: &SurfaceMesh| (0..3).map(|i| weights[i] * mesh.vertices[vertices[i] as usize]).sum::<Vec3>();
        MaterialPoint::rigid(0, self.samples.as_ref().map_or_else(Vec3::zeros, |samples| sum(&samples.mesh)))
    }

    fn top_speed(&self, _collider: usize, _bounds: &Bounds) -> f64 {
        self.velocity.norm() + self.turn.norm() * self.reach
    }

    fn attachment_point(&self, _part: usize, place: &Vec3) -> Option<MaterialPoint> {
        Some(MaterialPoint::rigid(0, RigidBody::pose(self).inverse_transform_point(&(*place).into()).coords))
    }

    fn pose(&self) -> Pose {
        RigidBody::pose(self)
    }

    fn mass(&self) -> Option<f64> {
        Some(self.mass)
    }

    fn centre(&self) -> Vec3 {
        self.place
    }

    fn centre_velocity(&self) -> Vec3 {
        self.velocity
    }

    fn angular_velocity(&self) -> Vec3 {
        RigidBody::angular_velocity(self)
    }

    fn set_guide(&mut self, _frame: usize, guide: Option<&Guide>) -> bool {
        self.guide = guide.copied();
        true
    }

    fn add_drive(&mut self, drive: &Drive) -> bool {
        self.drives.push(*drive);
        true
    }

    fn guided_frame(&self, _frame: usize) -> Option<(Pose, [Vec3; 2])> {
        let (pose, turn) = (RigidBody::pose(self), RigidBody::angular_velocity(self));
        Some((pose, [self.velocity + turn.cross(&(pose.translation.vector - self.place)), turn]))
    }

    fn copy_state(&mut self, from: &dyn Body) -> bool {
        let Some(from) = (from as &dyn std::any::Any).downcast_ref::<Self>() else { return false };
        (self.place, self.orientation) = (from.place, from.orientation);
        (self.velocity, self.angular_momentum, self.turn) = (from.velocity, from.angular_momentum, from.turn);
        true
    }

    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("x", "m"),
            ("y", "m"),
            ("z", "m"),
            ("qx", ""),
            ("qy", ""),
            ("qz", ""),
            ("qw", ""),
            ("vx", "m/s"),
            ("vy", "m/s"),
            ("vz", "m/s"),
            ("wx", "rad/s"),
            ("wy", "rad/s"),
            ("wz", "rad/s"),
        ]
    }

    fn trace(&self, row: &mut Vec<f64>) {
        let pose = RigidBody::pose(self);
        row.extend(pose.translation.vector.iter().chain(pose.rotation.coords.iter()));
        row.extend(self.velocity.iter().chain(self.angular_velocity().iter()));
    }
}
