use std::sync::Arc;

use super::fem::{Continuum, ContinuumState};
use super::{
    Body, Bounds, Collider, LOW_RANK, LowRank, LowRankCore, MaterialId, MaterialPoint, MeshCollider, Part, Step,
};
use crate::math::{Mat3, Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3, polar_from};
use crate::mesh::{NodeMap, SurfaceMesh, TetMesh};

/// A soft body: nodes in the world, solved in a corotating frame.
///
/// In that frame element rotations stay small, so a factor serves for many steps even if the body tumbles.
///
/// Degrees of freedom are velocities of the nodes along the axes of that frame, so `A⁻¹` does not rotate with the
/// world.
///
/// Implicit Euler with a linearised force does not conserve angular momentum: neither `K v` nor `A⁻¹ f` is torque-free
/// once the
/// body is strained. So the six rigid motions of a free body are treated separately. With rigid motions `Φ` about the
/// centre of mass for which
/// `Φᵀ M Φ = I`, the projection `P = I − Φ Φᵀ M` and `Z = A⁻¹ M Φ`,
///
/// ```text
/// A⁻¹  becomes  P A⁻¹ Pᵀ + Φ Φᵀ / (1 + h α)  =  A⁻¹ − Z Φᵀ − Φ Zᵀ + Φ (Φᵀ M Z + I / (1 + h α)) Φᵀ
/// ```
///
/// on external forces: the deformation responds to the load without its resultant, and the rigid motion to the
/// resultant, exactly. The operator is still symmetric and positive definite. It changes from step to step only by a
/// low-rank matrix. It is disabled if nodes are fixed in the world.
#[derive(Clone, Debug)]
pub struct SoftBody {
    model: Arc<Continuum>,
    state: ContinuumState,
    free: bool,
    /// Corotating frame: world from body, and the centre of mass.
    frame: Mat3,
    centre: Vec3,
    rest_centre: Vec3,
    total_mass: f64,
    /// Node positions and velocities in the world.
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Node velocities at the start of the step.
    start_velocities: Vec<Vec3>,
    rigid: RigidModes,
    h: f64,
    dv: Vec<f64>,
    /// Material of its surface.
    pub material: MaterialId,
    /// The boundary at rest, the node of each of its vertices, and their areas.
    surface: SurfaceMesh,
    surface_nodes: Vec<u32>,
    surface_areas: Vec<f64>,
}

/// Rigid motions of the unknowns about the centre of mass, in the corotating frame.
#[derive(Clone, Debug)]
struct RigidModes {
    masses: Vec<f64>,
    arms: Vec<Vec3>,
    total: f64,
    inertia: Mat3,
    inverse_inertia: Mat3,
    /// `Φ` and `Z`, motion by motion, computed on demand in a step.
    columns: Vec<f64>,
    core: Box<LowRankCore>,
    /// Number of steps; whether the columns are those of this one.
    stamp: u64,
    ready: bool,
}

impl RigidModes {
    fn new(masses: Vec<f64>, total: f64) -> Self {
        Self {
            arms: Vec::with_capacity(masses.len()),
            columns: vec![0.0; LOW_RANK * 3 * masses.len()],
            masses,
            total,
            inertia: Mat3::zeros(),
            inverse_inertia: Mat3::zeros(),
            core: Box::new(LowRankCore::zeros()),
            stamp: 0,
            ready: false,
        }
    }

    fn update(&mut self, arms: impl Iterator<Item = Vec3>) {
        self.arms.clear();
        self.arms.extend(arms);
        self.inertia = Mat3::zeros();
        for (m, y) in self.masses.iter().zip(&self.arms) {
            self.inertia += *m * (Mat3::from_diagonal_element(y.norm_squared()) - y * y.transpose());
        }
        self.inverse_inertia = self.inertia.try_inverse().unwrap_or_else(Mat3::zeros);
    }

    /// Computes `Φ`, `Z` and their coupling for the step.
    fn respond(&mut self, state: &ContinuumState, drag: f64) {
        if std::mem::replace(&mut self.ready, true) {
            return;
        }
        // Rotations about axes with unit inertia.
        let axes = self.inertia.cholesky().and_then(|c| c.l().try_inverse()).unwrap_or_else(Mat3::zeros);
        let n = 3 * self.masses.len();
        let (motions, responses) = self.columns.split_at_mut(6 * n);
        for k in 0..6 {
            let (motion, response) = (&mut motions[k * n..(k + 1) * n], &mut responses[k * n..(k + 1) * n]);
            for (i, (y, m)) in self.arms.iter().zip(&self.masses).enumerate() {
                let v =
                    if k < 3 { Vec3::ith(k, 1.0 / self.total.sqrt()) } else { axes.row(k - 3).transpose().cross(y) };
                motion[3 * i..3 * i + 3].copy_from_slice(v.as_slice());
                // A translation causes no strain, so its response is known.
                let load = if k < 3 { v / drag } else { *m * v };
                response[3 * i..3 * i + 3].copy_from_slice(load.as_slice());
            }
        }
        state.apply_inverse(&mut responses[3 * n..]);
        self.core.fill(0.0);
        for i in 0..6 {
            self.core[(i, 6 + i)] = -1.0;
            self.core[(6 + i, i)] = -1.0;
            self.core[(i, i)] = 1.0 / drag;
            for j in 0..6 {
                let (motion, response) = (&motions[i * n..(i + 1) * n], &responses[j * n..(j + 1) * n]);
                let parts = motion.chunks_exact(3).zip(response.chunks_exact(3)).zip(&self.masses);
                self.core[(i, j)] +=
                    parts.map(|((a, b), m)| m * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])).sum::<f64>();
            }
        }
    }

    /// The rigid motion with the momentum of some velocities.
    fn motion(&self, velocities: &[f64]) -> (Vec3, Vec3) {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for ((v, y), m) in velocities.chunks_exact(3).zip(&self.arms).zip(&self.masses) {
            let p = *m * Vec3::new(v[0], v[1], v[2]);
            linear += p;
            angular += y.cross(&p);
        }
        (linear / self.total, self.inverse_inertia * angular)
    }

    /// Adds `scale` times a rigid motion.
    fn add(&self, (linear, angular): (Vec3, Vec3), scale: f64, onto: &mut [f64]) {
        for (v, y) in onto.chunks_exact_mut(3).zip(&self.arms) {
            let motion = scale * (linear + angular.cross(y));
            for c in 0..3 {
                v[c] += motion[c];
            }
        }
    }
}

impl SoftBody {
    /// A body at rest with a pose of its mesh frame. Fixed nodes stay in place.
    pub fn new(model: Arc<Continuum>, pose: Pose) -> Self {
        let state = model.at_rest();
        let masses = model.masses().to_vec();
        let free = model.free_nodes().len() == model.rest().len();
        let total_mass: f64 = masses.iter().sum();
        let rest_centre = if free {
            let moment: Vec3 =
                model.free_nodes().iter().zip(&masses).map(|(&n, m)| *m * model.rest()[n as usize]).sum();
            moment / total_mass
        } else {
            Vec3::zeros()
        };
        let positions: Vec<Vec3> = model.rest().iter().map(|p| pose.translation.vector + pose.rotation * p).collect();
        let velocities = vec![Vec3::zeros(); positions.len()];
        let dv = vec![0.0; model.dofs()];
        let rigid = RigidModes::new(masses, total_mass);
        let frame = pose.rotation.to_rotation_matrix().into_inner();
        let centre = pose.translation.vector + frame * rest_centre;
        let tets = model.elements().iter().map(|e| e.nodes).collect();
        let (surface, surface_nodes) = TetMesh { nodes: model.rest().to_vec(), tets }.boundary();
        let mut body = Self {
            model,
            state,
            free,
            frame,
            centre,
            rest_centre,
            total_mass,
            positions,
            start_velocities: velocities.clone(),
            velocities,
            rigid,
            h: 0.0,
            dv,
            material: MaterialId::at(0),
            surface_areas: surface.vertex_areas(),
            surface,
            surface_nodes,
        };
        body.fit_frame();
        body
    }

    /// The constant part.
    pub fn model(&self) -> &Continuum {
        &self.model
    }

    /// The corotating frame: world from body.
    pub fn frame(&self) -> &Mat3 {
        &self.frame
    }

    /// State in the corotating frame.
    pub fn state(&self) -> &ContinuumState {
        &self.state
    }

    /// The boundary at rest and the node of each of its vertices.
    pub fn surface(&self) -> (&SurfaceMesh, &[u32]) {
        (&self.surface, &self.surface_nodes)
    }

    /// Area of each vertex of the boundary at rest, m².
    pub fn surface_areas(&self) -> &[f64] {
        &self.surface_areas
    }

    /// Node positions in the world.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Node velocities in the world.
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocities
    }

    /// Node velocities at the start of the step, before the free motion.
    pub fn start_velocities(&self) -> &[Vec3] {
        &self.start_velocities
    }

    /// Sets positions and velocities of the free nodes.
    pub fn set_nodes(&mut self, set: impl Fn(usize, &mut Vec3, &mut Vec3)) {
        for &node in self.model.free_nodes() {
            let node = node as usize;
            set(node, &mut self.positions[node], &mut self.velocities[node]);
        }
        self.fit_frame();
        self.rigid.ready = false;
        self.rigid.stamp += 1;
    }

    /// Mass of the free nodes, kg.
    pub fn mass(&self) -> f64 {
        self.total_mass
    }

    /// Linear momentum, and angular momentum about the origin.
    pub fn momentum(&self) -> (Vec3, Vec3) {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for (&node, m) in self.model.free_nodes().iter().zip(self.model.masses()) {
            let (x, v) = (&self.positions[node as usize], &self.velocities[node as usize]);
            linear += *m * v;
            angular += *m * x.cross(v);
        }
        (linear, angular)
    }

    /// Fits the frame to the nodes, and expresses displacement and velocity in it.
    fn fit_frame(&mut self) {
        if self.free {
            let mut moment = Vec3::zeros();
            for (&node, m) in self.model.free_nodes().iter().zip(self.model.masses()) {
                moment += *m * self.positions[node as usize];
            }
            self.centre = moment / self.total_mass;
            let mut fit = Mat3::zeros();
            for (&node, m) in self.model.free_nodes().iter().zip(self.model.masses()) {
                let rest = self.model.rest()[node as usize] - self.rest_centre;
                fit += *m * (self.positions[node as usize] - self.centre) * rest.transpose();
            }
            // Scaled to match the thresholds of the polar decomposition.
            self.frame = polar_from(&(fit / fit.norm().max(1e-300)), &self.frame);
        }
        let to_body = self.frame.transpose();
        for (i, &node) in self.model.free_nodes().iter().enumerate() {
            let node = node as usize;
            let y = to_body * (self.positions[node] - self.centre);
            self.state.displacement[node] = y - (self.model.rest()[node] - self.rest_centre);
            let w = to_body * self.velocities[node];
            self.state.velocity[3 * i..3 * i + 3].copy_from_slice(w.as_slice());
        }
        if self.free {
            let (rest, centre, u) = (self.model.rest(), self.rest_centre, &self.state.displacement);
            let arms = self.model.free_nodes().iter().map(|&n| rest[n as usize] - centre + u[n as usize]);
            self.rigid.update(arms);
        }
    }

    /// Number of inverted elements in the current state.
    pub fn inverted(&self) -> usize {
        let volume = |nodes: [u32; 4]| {
            let [a, b, c, d] = nodes.map(|n| self.positions[n as usize]);
            (b - a).dot(&(c - a).cross(&(d - a)))
        };
        self.model.elements().iter().filter(|e| volume(e.nodes) <= 0.0).count()
    }

    /// Adds a change in the corotating frame to a field over the nodes in the world.
    fn add_to_world(model: &Continuum, frame: &Mat3, change: &[f64], field: &mut [Vec3]) {
        for (&node, d) in model.free_nodes().iter().zip(change.chunks_exact(3)) {
            field[node as usize] += frame * Vec3::new(d[0], d[1], d[2]);
        }
    }

    fn drag(&self) -> f64 {
        1.0 + self.h * self.model.material().damping_mass
    }
}

impl Saved for SoftBody {
    fn save(&self, to: &mut StateWriter) {
        (self.frame, self.centre, self.rigid.stamp).save(to);
        self.positions.save(to);
        self.velocities.save(to);
        self.model.save(&self.state, to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        (self.frame, self.centre, self.rigid.stamp) = from.get()?;
        self.positions.restore(from)?;
        self.velocities.restore(from)?;
        self.rigid.ready = false;
        self.model.restore(&mut self.state, from)
    }
}

impl Part for SoftBody {
    fn dofs(&self) -> usize {
        self.model.dofs()
    }

    fn free_motion(&mut self, step: &Step) {
        self.h = step.h;
        self.start_velocities.copy_from_slice(&self.velocities);
        self.fit_frame();
        self.model.prepare(&mut self.state, step.h, &step.refactor);
        self.rigid.ready = false;
        self.rigid.stamp += 1;
        let gravity = self.frame.transpose() * step.gravity;
        let mut dv = std::mem::take(&mut self.dv);
        if self.free {
            // Elastic and viscous forces have no resultant, and a rigid motion causes no strain; gravity and drag act
            // on the whole body.
            let motion = self.rigid.motion(&self.state.velocity);
            self.rigid.add(motion, -1.0, &mut self.state.velocity);
            self.model.free_change(&mut self.state, step.h, |_| Vec3::zeros(), &mut dv);
            self.rigid.add(motion, 1.0, &mut self.state.velocity);
            let spurious = self.rigid.motion(&dv);
            self.rigid.add(spurious, -1.0, &mut dv);
            let (slowing, drag) = (step.h * self.model.material().damping_mass, self.drag());
            let change = ((step.h * gravity - slowing * motion.0) / drag, -slowing / drag * motion.1);
            self.rigid.add(change, 1.0, &mut dv);
        } else {
            let masses = self.model.masses();
            self.model.free_change(&mut self.state, step.h, |i| masses[i] * gravity, &mut dv);
        }
        Self::add_to_world(&self.model, &self.frame, &dv, &mut self.velocities);
        self.dv = dv;
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        at.nodes.sum(&self.positions)
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        at.nodes.sum(&self.velocities)
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        let direction = self.frame.transpose() * direction;
        for (&node, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights) {
            if let Some(i) = self.model.unknown(node) {
                for c in 0..3 {
                    row[3 * i + c] += weight * direction[c];
                }
            }
        }
    }

    fn prepare_inverse(&mut self) {
        if self.free {
            let drag = self.drag();
            self.rigid.respond(&self.state, drag);
        }
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        let n = self.model.dofs();
        if !self.free {
            return self.state.apply_inverse(rows);
        }
        for row in rows.chunks_exact_mut(n) {
            let columns = self.rigid.columns.chunks_exact(n);
            let dot = |column: &[f64]| column.iter().zip(&*row).map(|(c, r)| c * r).sum::<f64>();
            let mut parts = nalgebra::SVector::<f64, LOW_RANK>::zeros();
            parts.iter_mut().zip(columns.clone()).for_each(|(part, column)| *part = dot(column));
            self.state.apply_inverse(row);
            for (part, column) in (*self.rigid.core * parts).iter().zip(columns) {
                row.iter_mut().zip(column).for_each(|(x, c)| *x += part * c);
            }
        }
    }

    fn inverse_epoch(&self) -> Option<u64> {
        Some(self.state.refactorisations())
    }

    fn apply_kept_inverse(&self, rows: &mut [f64]) {
        self.state.apply_inverse(rows);
    }

    fn low_rank(&self) -> Option<LowRank<'_>> {
        self.free.then_some(LowRank { stamp: self.rigid.stamp, columns: &self.rigid.columns, core: &self.rigid.core })
    }

    fn free_change(&self, change: &mut [f64]) {
        change.copy_from_slice(&self.dv);
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        Self::add_to_world(&self.model, &self.frame, dv, &mut self.velocities);
    }

    fn change_position(&mut self, dq: &[f64]) {
        Self::add_to_world(&self.model, &self.frame, dq, &mut self.positions);
    }

    fn advance(&mut self, h: f64) {
        for &node in self.model.free_nodes() {
            self.positions[node as usize] += h * self.velocities[node as usize];
        }
    }

    fn hash(&self, hash: &mut StateHash) {
        for (x, v) in self.positions.iter().zip(&self.velocities) {
            hash.vector(x);
            hash.vector(v);
        }
    }

    fn is_finite(&self) -> bool {
        self.positions.iter().chain(&self.velocities).all(|v| v.iter().all(|x| x.is_finite()))
    }

    fn energy(&self) -> f64 {
        // The elastic energy does not depend on the frame, so that of the last step is used with current positions.
        let mut displacement = self.state.displacement.clone();
        for &node in self.model.free_nodes() {
            let node = node as usize;
            let y = self.frame.transpose() * (self.positions[node] - self.centre);
            displacement[node] = y - (self.model.rest()[node] - self.rest_centre);
        }
        let speed = |(&node, m): (&u32, &f64)| 0.5 * m * self.velocities[node as usize].norm_squared();
        let kinetic: f64 = self.model.free_nodes().iter().zip(self.model.masses()).map(speed).sum();
        kinetic + self.model.elastic_energy(&self.state, &displacement)
    }
}

/// Minimum barycentric weight of a point inside an element: a margin for rounding.
const INSIDE: f64 = -0.01;

impl Body for SoftBody {
    fn kind(&self) -> &'static str {
        "soft"
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

    fn columns(&self, at: &MaterialPoint, _place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        for (&node, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights).filter(|(_, w)| **w != 0.0) {
            let Some(unknown) = self.model.unknown(node) else { continue };
            (0..3).for_each(|c| column(0, 3 * unknown + c, weight * self.frame.column(c)));
        }
    }

    fn frame(&self, _collider: usize) -> Mat3 {
        self.frame
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider(&self, _index: usize) -> Collider<'_> {
        Collider::Mesh(MeshCollider {
            rest: &self.surface,
            areas: &self.surface_areas,
            aggregates: false,
            deformable: true,
            layer: None,
        })
    }

    fn vertex_positions(&self, _collider: usize, positions: &mut Vec<Vec3>) {
        positions.extend(self.surface_nodes.iter().map(|&node| self.positions[node as usize]));
    }

    fn mesh_point(&self, _collider: usize, vertices: [u32; 3], weights: [f64; 3]) -> MaterialPoint {
        MaterialPoint::on_mesh(0, vertices.map(|v| self.surface_nodes[v as usize]), weights)
    }

    fn top_speed(&self, _collider: usize, _bounds: &Bounds) -> f64 {
        self.velocities.iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt()
    }

    /// The embedding in the element that contains a point.
    fn attachment_point(&self, _part: usize, place: &Vec3) -> Option<MaterialPoint> {
        let mut best: Option<(f64, NodeMap)> = None;
        for nodes in self.model.elements().iter().map(|element| element.nodes) {
            let [a, b, c, d] = nodes.map(|n| self.positions[n as usize]);
            let Some(w) = Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse().map(|inverse| inverse * (place - a))
            else {
                continue;
            };
            let weights = [1.0 - w.sum(), w.x, w.y, w.z];
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least >= INSIDE && best.as_ref().is_none_or(|(other, _)| least > *other) {
                best = Some((least, NodeMap { nodes, weights }));
            }
        }
        best.map(|(_, nodes)| MaterialPoint::soft(nodes))
    }

    fn pose(&self) -> Pose {
        Pose::from_parts(Body::centre(self).into(), crate::math::Quat::identity())
    }

    fn mass(&self) -> Option<f64> {
        Some(self.total_mass)
    }

    fn centre(&self) -> Vec3 {
        let weighted = self.model.free_nodes().iter().zip(self.model.masses());
        let moment: Vec3 = weighted.map(|(&node, m)| *m * self.positions[node as usize]).sum();
        moment / self.total_mass
    }

    fn nodes(&self) -> &[Vec3] {
        &self.positions
    }

    fn centre_velocity(&self) -> Vec3 {
        self.momentum().0 / self.total_mass
    }

    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        &[("x", "m"), ("y", "m"), ("z", "m"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s")]
    }

    fn trace(&self, row: &mut Vec<f64>) {
        row.extend(Body::centre(self).iter().chain(self.centre_velocity().iter()));
    }
}
