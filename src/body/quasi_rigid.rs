use std::cell::RefCell;
use std::sync::Arc;

use super::fem::{Continuum, StaticCompliance, StaticFault};
use super::{
    Body, Bounds, Collider, MaterialId, MaterialPoint, MeshCollider, Part, RigidBody, RigidShape, ShapeFault, Step,
};
use crate::hand::Material;
use crate::math::{Mat3, Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3};
use crate::mesh::{SurfaceMesh, TetMesh};
use crate::problem::Guide;

/// A quasi-rigid body: a rigid body whose surface yields statically (Duriez 2004, §5; Duriez 2006, §6.2–6.3).
///
/// It has two parts. The first is a [`RigidBody`] with all of the mass. The second is the displacement `u` of the surface in the frame of the first,
/// in equilibrium with the contact forces `f` at every time: `u = C f`, with the compliance of the finite elements condensed on the surface
/// ([`StaticCompliance`]). A point of the surface moves by `J q̇ + R Σ β u̇`, so both compliances add up in the Delassus operator (Duriez 2006,
/// eq. 30): mass and stiffness are decoupled, and the time step depends on neither.
///
/// Displacements are linear in the forces, as in the papers: rotations of the surface against the frame are not followed. Nodes may be held by the
/// frame, as where a tool is gripped. The surface's own inertia and weight do not displace it.
#[derive(Clone, Debug)]
pub struct QuasiRigidBody {
    rigid: RigidBody,
    deformation: Deformation,
    surface: Arc<RestSurface>,
    /// Vertices of the surface in the world.
    positions: Vec<Vec3>,
}

/// The surface at rest in the frame of the body.
#[derive(Debug)]
struct RestSurface {
    mesh: SurfaceMesh,
    areas: Vec<f64>,
    elements: usize,
    nodes: usize,
}

/// Why a quasi-rigid body is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuasiRigidFault {
    /// The surface is no shape of a rigid body, or the mass is invalid.
    #[error(transparent)]
    Shape(#[from] ShapeFault),
    /// There is no static compliance.
    #[error(transparent)]
    Static(#[from] StaticFault),
}

/// The static part: displacements of the vertices of the surface in the frame of the body.
///
/// In a step of length `h` its energy `½ uᵀ C⁻¹ u` acts as a matrix `A = h² C⁻¹` on velocities, and without forces it returns to rest:
/// `v_free = −u / h`. Then `u + h (v_free + h A⁻¹ f) = C f`.
#[derive(Clone, Debug)]
pub struct Deformation {
    model: Arc<StaticCompliance>,
    frame: Pose,
    displacement: Vec<f64>,
    velocity: Vec<f64>,
    change: Vec<f64>,
    h: f64,
}

impl Deformation {
    /// The compliance.
    pub fn model(&self) -> &StaticCompliance {
        &self.model
    }

    /// Displacement of a degree of freedom by forces on others, m.
    pub(crate) fn response(&self, dof: u32, dofs: &[u32], forces: &[f64]) -> f64 {
        let row = self.model.row(dof as usize);
        dofs.iter().zip(forces).map(|(&other, f)| row[other as usize] * f).sum()
    }

    /// Sets a displacement.
    pub(crate) fn set(&mut self, dof: u32, displacement: f64) {
        self.displacement[dof as usize] = displacement;
    }

    /// Displacement of a vertex in the frame of the body.
    pub fn displacement(&self, vertex: u32) -> Vec3 {
        self.at(&self.displacement, vertex)
    }

    fn at(&self, field: &[f64], vertex: u32) -> Vec3 {
        self.model.first(vertex).map_or_else(Vec3::zeros, |i| Vec3::new(field[i], field[i + 1], field[i + 2]))
    }

    fn sum(&self, field: &[f64], at: &MaterialPoint) -> Vec3 {
        at.nodes.nodes.iter().zip(&at.nodes.weights).map(|(&v, &w)| w * self.at(field, v)).sum()
    }

    /// Free motion of some degrees of freedom: back to rest.
    pub(crate) fn relax_some(&mut self, dofs: &[u32], h: f64) {
        for &dof in dofs {
            self.velocity[dof as usize] = -self.displacement[dof as usize] / h;
        }
    }

    /// Sets the displacements of some vertices, given by their first degrees of freedom, to the response to forces on the same.
    /// [`Deformation::complete`] does the same for all others.
    pub(crate) fn load_some(&mut self, dofs: &[u32], compliance: &[f64], forces: &[f64], h: f64) {
        let n = dofs.len();
        for (row, &dof) in compliance.chunks_exact(n.max(1)).zip(dofs) {
            let (moved, dof) = (row.iter().zip(forces).map(|(c, f)| c * f).sum::<f64>(), dof as usize);
            // The velocity is that of the free motion, which ends at rest.
            self.velocity[dof] += moved / h;
            self.displacement[dof] = moved;
        }
    }

    /// Sets all displacements to the response to forces on some degrees of freedom.
    pub(crate) fn complete(&mut self, dofs: &[u32], forces: &[f64]) {
        self.displacement.fill(0.0);
        for (&dof, &force) in dofs.iter().zip(forces).filter(|(_, f)| **f != 0.0) {
            self.displacement.iter_mut().zip(self.model.row(dof as usize)).for_each(|(u, c)| *u += force * c);
        }
    }
}

impl QuasiRigidBody {
    /// A body at rest. `held` nodes do not move in its frame. Without a mass it follows from the density of the material.
    pub fn new(
        mesh: &TetMesh,
        held: &[bool],
        material: Material,
        mass: Option<f64>,
        pose: Pose,
    ) -> Result<Self, QuasiRigidFault> {
        let (surface, nodes) = mesh.boundary();
        let shape = RigidShape::Mesh(surface);
        let mut rigid = match mass {
            Some(mass) => RigidBody::with_mass(&shape, mass, pose)?,
            None => RigidBody::new(&shape, material.density, pose)?,
        };
        let RigidShape::Mesh(surface) = shape else { return Err(ShapeFault::OpenMesh.into()) };
        rigid.material = MaterialId::at(0);
        let model = Continuum::new(mesh, held, material).static_compliance(&nodes)?;
        let dofs = model.dofs();
        let deformation = Deformation {
            model: Arc::new(model),
            frame: pose,
            displacement: vec![0.0; dofs],
            velocity: vec![0.0; dofs],
            change: vec![0.0; dofs],
            h: 0.0,
        };
        let positions = vec![Vec3::zeros(); surface.vertices.len()];
        let areas = surface.vertex_areas();
        let surface =
            Arc::new(RestSurface { mesh: surface, areas, elements: mesh.tets.len(), nodes: mesh.nodes.len() });
        let mut body = Self { rigid, deformation, surface, positions };
        body.update();
        Ok(body)
    }

    /// The rigid part.
    pub fn rigid(&self) -> &RigidBody {
        &self.rigid
    }

    /// The displacements.
    pub fn deformation(&self) -> &Deformation {
        &self.deformation
    }

    /// The surface at rest, in the frame of the body.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.surface.mesh
    }

    /// Nodes and tetrahedra of the finite elements.
    pub fn size(&self) -> [usize; 2] {
        [self.surface.nodes, self.surface.elements]
    }

    /// Changes pose or velocity of the rigid part. The surface keeps its displacements.
    pub fn change_rigid<R>(&mut self, change: impl FnOnce(&mut RigidBody) -> R) -> R {
        let done = change(&mut self.rigid);
        self.update();
        done
    }

    /// Sets the velocities.
    pub fn set_velocity(&mut self, linear: Vec3, angular: Vec3) {
        self.rigid.set_velocity(linear, angular);
    }

    /// Places the body, undeformed and at rest.
    pub fn set_pose(&mut self, pose: &Pose) {
        self.rigid.set_pose(pose);
        self.deformation.displacement.fill(0.0);
        self.deformation.velocity.fill(0.0);
        self.update();
    }

    fn vertex(&self, pose: &Pose, vertex: usize) -> Vec3 {
        let local = self.surface.mesh.vertices[vertex] + self.deformation.displacement(vertex as u32);
        pose.translation.vector + pose.rotation * local
    }
}

thread_local! {
    /// Entries of a row.
    static ENTRIES: RefCell<Vec<(usize, f64)>> = const { RefCell::new(Vec::new()) };
}

crate::saved_fields!(Deformation: frame, displacement, velocity, h);

impl Saved for QuasiRigidBody {
    fn save(&self, to: &mut StateWriter) {
        self.rigid.save(to);
        self.deformation.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.rigid.restore(from)?;
        self.deformation.restore(from)?;
        self.update();
        Ok(())
    }
}

impl Part for Deformation {
    fn dofs(&self) -> usize {
        self.model.dofs()
    }

    fn free_motion(&mut self, step: &Step) {
        self.h = step.h;
        for ((v, u), change) in self.velocity.iter_mut().zip(&self.displacement).zip(&mut self.change) {
            let free = -u / step.h;
            *change = free - *v;
            *v = free;
        }
    }

    /// Displacement of a point in the world.
    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.frame.rotation * self.sum(&self.displacement, at)
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        self.frame.rotation * self.sum(&self.velocity, at)
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        let direction = self.frame.rotation.inverse() * direction;
        for (&vertex, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights) {
            if let Some(first) = self.model.first(vertex) {
                (0..3).for_each(|c| row[first + c] += weight * direction[c]);
            }
        }
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        let (n, scale) = (self.model.dofs(), 1.0 / (self.h * self.h));
        ENTRIES.with_borrow_mut(|entries| {
            for row in rows.chunks_exact_mut(n) {
                entries.clear();
                entries.extend(row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0));
                row.fill(0.0);
                for &(i, x) in entries.iter() {
                    row.iter_mut().zip(self.model.row(i)).for_each(|(out, c)| *out += scale * x * c);
                }
            }
        });
    }

    fn inverse_epoch(&self) -> Option<u64> {
        Some(self.h.to_bits())
    }

    fn free_change(&self, change: &mut [f64]) {
        change.copy_from_slice(&self.change);
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        self.velocity.iter_mut().zip(dv).for_each(|(v, dv)| *v += dv);
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.displacement.iter_mut().zip(dq).for_each(|(u, dq)| *u += dq);
    }

    fn advance(&mut self, h: f64) {
        self.displacement.iter_mut().zip(&self.velocity).for_each(|(u, v)| *u += h * v);
    }

    fn hash(&self, hash: &mut StateHash) {
        hash.numbers(&self.displacement);
    }

    fn is_finite(&self) -> bool {
        self.displacement.iter().chain(&self.velocity).all(|x| x.is_finite())
    }

    fn energy(&self) -> f64 {
        self.model.energy(&self.displacement)
    }
}

impl Body for QuasiRigidBody {
    fn kind(&self) -> &'static str {
        "quasi_rigid"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        2
    }

    fn part(&self, index: usize) -> &dyn Part {
        if index == 0 { &self.rigid } else { &self.deformation }
    }

    fn part_mut(&mut self, index: usize) -> &mut dyn Part {
        if index == 0 { &mut self.rigid } else { &mut self.deformation }
    }

    fn update(&mut self) {
        let pose = self.rigid.pose();
        self.deformation.frame = pose;
        let mut positions = std::mem::take(&mut self.positions);
        positions.iter_mut().enumerate().for_each(|(i, p)| *p = self.vertex(&pose, i));
        self.positions = positions;
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        if at.is_rigid() {
            return Part::position(&self.rigid, at);
        }
        let pose = self.rigid.pose();
        let vertices = at.nodes.nodes.iter().zip(&at.nodes.weights).filter(|(_, w)| **w != 0.0);
        vertices.map(|(&v, &w)| w * self.vertex(&pose, v as usize)).sum()
    }

    /// `v + ω × r + R Σ β u̇`.
    fn velocity(&self, at: &MaterialPoint, place: &Vec3) -> Vec3 {
        let arm = place - self.rigid.centre();
        let rigid = self.rigid.linear_velocity() + self.rigid.turning().cross(&arm);
        let yielding = self.deformation.sum(&self.deformation.velocity, at);
        rigid + self.rigid.pose().rotation * yielding
    }

    fn parts_at(&self, at: &MaterialPoint) -> [Option<usize>; 2] {
        let mut vertices = at.nodes.nodes.iter().zip(&at.nodes.weights);
        let yields = vertices.any(|(&v, &w)| w != 0.0 && self.deformation.model.first(v).is_some());
        [Some(0), yields.then_some(1)]
    }

    fn columns(&self, at: &MaterialPoint, place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        self.rigid.columns(at, place, column);
        if at.is_rigid() {
            return;
        }
        let turn = self.rigid.frame(0);
        for (&vertex, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights).filter(|(_, w)| **w != 0.0) {
            let Some(first) = self.deformation.model.first(vertex) else { continue };
            (0..3).for_each(|c| column(1, first + c, weight * turn.column(c)));
        }
    }

    fn frame(&self, _collider: usize) -> Mat3 {
        self.rigid.frame(0)
    }

    fn material(&self) -> MaterialId {
        self.rigid.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.rigid.material = material;
    }

    fn collider(&self, _index: usize) -> Collider<'_> {
        Collider::Mesh(MeshCollider {
            rest: &self.surface.mesh,
            areas: &self.surface.areas,
            aggregates: false,
            deformable: true,
            layer: None,
        })
    }

    fn vertex_positions(&self, _collider: usize, positions: &mut Vec<Vec3>) {
        positions.extend_from_slice(&self.positions);
    }

    fn top_speed(&self, _collider: usize, bounds: &Bounds) -> f64 {
        let at = |corner: Vec3| {
            (self.rigid.linear_velocity() + self.rigid.turning().cross(&(corner - self.rigid.centre()))).norm()
        };
        let square = |v: &[f64]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let yielding = self.deformation.velocity.chunks_exact(3).map(square).fold(0.0, f64::max).sqrt();
        bounds.corners().map(at).fold(0.0, f64::max) + yielding
    }

    fn attachment_point(&self, part: usize, place: &Vec3) -> Option<MaterialPoint> {
        self.rigid.attachment_point(part, place)
    }

    fn pose(&self) -> Pose {
        self.rigid.pose()
    }

    fn mass(&self) -> Option<f64> {
        Some(self.rigid.mass())
    }

    fn centre(&self) -> Vec3 {
        *self.rigid.centre()
    }

    fn centre_velocity(&self) -> Vec3 {
        *self.rigid.linear_velocity()
    }

    fn nodes(&self) -> &[Vec3] {
        &self.positions
    }

    fn angular_velocity(&self) -> Vec3 {
        self.rigid.angular_velocity()
    }

    fn deformation(&self) -> Option<&Deformation> {
        Some(&self.deformation)
    }

    fn deformation_mut(&mut self) -> Option<&mut Deformation> {
        Some(&mut self.deformation)
    }

    fn set_guide(&mut self, frame: usize, guide: Option<&Guide>) -> bool {
        self.rigid.set_guide(frame, guide)
    }

    fn guided_frame(&self, frame: usize) -> Option<(Pose, [Vec3; 2])> {
        self.rigid.guided_frame(frame)
    }

    fn copy_state(&mut self, from: &dyn Body) -> bool {
        let Some(from) = (from as &dyn std::any::Any).downcast_ref::<Self>() else { return false };
        self.deformation.displacement.copy_from_slice(&from.deformation.displacement);
        self.deformation.velocity.copy_from_slice(&from.deformation.velocity);
        let copied = self.rigid.copy_state(&from.rigid);
        self.update();
        copied
    }

    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        self.rigid.trace_columns()
    }

    fn trace(&self, row: &mut Vec<f64>) {
        self.rigid.trace(row);
    }
}
