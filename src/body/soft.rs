use std::sync::Arc;

use super::fem::{Continuum, ContinuumState};
use super::{Body, MaterialId, MaterialPoint, Step};
use crate::math::{Mat3, Pose, StateHash, Vec3, polar_from};
use crate::mesh::{SurfaceMesh, TetMesh};

/// A soft body of its own: nodes in the world, solved in a frame that turns along with it.
///
/// In that frame element rotations stay small, so a factor serves for many steps however the body tumbles.
///
/// Implicit Euler with a linearised force does not keep angular momentum: neither `K v` nor `A⁻¹ f` is free of torque once the
/// body is strained. A free body's six rigid motions `Φ` are therefore split off. With the projection `P = I − Φ (Φᵀ M Φ)⁻¹ Φᵀ M`,
///
/// ```text
/// A⁻¹  becomes  P A⁻¹ Pᵀ + Φ (Φᵀ M Φ)⁻¹ Φᵀ / (1 + h α)
/// ```
///
/// on forces from outside: deformation answers what is left of a load when its resultant is taken away, and the rigid motion
/// answers the resultant, exactly. The operator is still symmetric and positive definite. Nodes held in the world switch it off.
#[derive(Debug)]
pub struct SoftBody {
    model: Arc<Continuum>,
    state: ContinuumState,
    free: bool,
    /// Turning frame: world from body, and the centre of mass it turns about.
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
    /// What its surface is made of.
    pub material: MaterialId,
    /// The boundary at rest, the node behind each of its vertices, and their areas.
    surface: SurfaceMesh,
    surface_nodes: Vec<u32>,
    surface_areas: Vec<f64>,
}

/// Rigid motions of the unknowns about the centre of mass, in the turning frame.
#[derive(Debug, Default)]
struct RigidModes {
    masses: Vec<f64>,
    arms: Vec<Vec3>,
    total: f64,
    inverse_inertia: Mat3,
    /// `A⁻¹ M Φ`, motion after motion, once it is asked for in a step.
    responses: Vec<f64>,
}

impl RigidModes {
    fn update(&mut self, arms: impl Iterator<Item = Vec3>) {
        self.arms.clear();
        self.arms.extend(arms);
        let mut inertia = Mat3::zeros();
        for (m, y) in self.masses.iter().zip(&self.arms) {
            inertia += *m * (Mat3::from_diagonal_element(y.norm_squared()) - y * y.transpose());
        }
        self.inverse_inertia = inertia.try_inverse().unwrap_or_else(Mat3::zeros);
    }

    /// Acceleration per unit: linear and angular, of a load on the unknowns.
    fn response(&self, load: &[f64]) -> (Vec3, Vec3) {
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        for (f, y) in load.chunks_exact(3).zip(&self.arms) {
            let f = Vec3::new(f[0], f[1], f[2]);
            force += f;
            torque += y.cross(&f);
        }
        (force / self.total, self.inverse_inertia * torque)
    }

    /// Has the loads that would cause the six motions answered.
    fn respond(&mut self, state: &mut ContinuumState) {
        let n = 3 * self.masses.len();
        let mut responses = std::mem::take(&mut self.responses);
        responses.resize(6 * n, 0.0);
        for (k, load) in responses.chunks_exact_mut(n).enumerate() {
            let axis = |first: usize| Vec3::from_fn(|i, _| if first + i == k { 1.0 } else { 0.0 });
            self.add((axis(0), axis(3)), 1.0, true, load);
        }
        state.apply_inverse(&mut responses);
        self.responses = responses;
    }

    /// Adds `scale` times the answer to the load that would cause a motion.
    fn add_responses(&self, (linear, angular): (Vec3, Vec3), scale: f64, onto: &mut [f64]) {
        let parts = linear.iter().chain(&angular);
        for (part, response) in parts.zip(self.responses.chunks_exact(onto.len())) {
            onto.iter_mut().zip(response).for_each(|(x, r)| *x += scale * part * r);
        }
    }

    /// Momentum of velocities, as the rigid motion that has it.
    fn motion(&self, velocities: &[f64]) -> (Vec3, Vec3) {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for ((v, y), m) in velocities.chunks_exact(3).zip(&self.arms).zip(&self.masses) {
            let p = *m * Vec3::new(v[0], v[1], v[2]);
            linear += p;
            angular += y.cross(&p);
        }
        (linear / self.total, self.inverse_inertia * angular)
    }

    /// Adds `scale` times a rigid motion, or the load that would cause it if `weighted`.
    fn add(&self, (linear, angular): (Vec3, Vec3), scale: f64, weighted: bool, onto: &mut [f64]) {
        for ((v, y), m) in onto.chunks_exact_mut(3).zip(&self.arms).zip(&self.masses) {
            let factor = if weighted { scale * m } else { scale };
            let motion = linear + angular.cross(y);
            for c in 0..3 {
                v[c] += factor * motion[c];
            }
        }
    }
}

impl SoftBody {
    /// A body at rest at a placement of its mesh's frame. Held nodes stay where they are in the world.
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
        let rigid =
            RigidModes { arms: Vec::with_capacity(masses.len()), masses, total: total_mass, ..Default::default() };
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

    /// The turning frame: world from body.
    pub fn frame(&self) -> &Mat3 {
        &self.frame
    }

    /// State in the turning frame.
    pub fn state(&self) -> &ContinuumState {
        &self.state
    }

    /// The boundary at rest and the node behind each of its vertices.
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

    /// Finds the frame that fits the nodes best, and expresses displacement and velocity in it.
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
            // Scaled so that the polar decomposition's thresholds mean something.
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

    /// Adds a change in the turning frame to a field over the nodes in the world.
    fn add_to_world(model: &Continuum, frame: &Mat3, change: &[f64], field: &mut [Vec3]) {
        for (&node, d) in model.free_nodes().iter().zip(change.chunks_exact(3)) {
            field[node as usize] += frame * Vec3::new(d[0], d[1], d[2]);
        }
    }

    fn drag(&self) -> f64 {
        1.0 + self.h * self.model.material().damping_mass
    }
}

impl Body for SoftBody {
    fn dofs(&self) -> usize {
        self.model.dofs()
    }

    fn free_motion(&mut self, step: &Step) {
        self.h = step.h;
        self.start_velocities.copy_from_slice(&self.velocities);
        self.fit_frame();
        self.model.prepare(&mut self.state, step.h, &step.refactor);
        self.rigid.responses.clear();
        let gravity = self.frame.transpose() * step.gravity;
        let masses = self.model.masses();
        let mut dv = std::mem::take(&mut self.dv);
        self.model.free_change(&mut self.state, step.h, |i| masses[i] * gravity, &mut dv);
        if self.free {
            // Elastic and viscous forces have no resultant; gravity and drag move the body as a whole.
            let spurious = self.rigid.motion(&dv);
            self.rigid.add(spurious, -1.0, false, &mut dv);
            let (linear, angular) = self.rigid.motion(&self.state.velocity);
            let (slowing, drag) = (step.h * self.model.material().damping_mass, self.drag());
            let change = ((step.h * gravity - slowing * linear) / drag, -slowing / drag * angular);
            self.rigid.add(change, 1.0, false, &mut dv);
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
        for (&node, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights) {
            if let Some(i) = self.model.unknown(node) {
                for c in 0..3 {
                    row[3 * i + c] += weight * direction[c];
                }
            }
        }
    }

    fn apply_inverse(&mut self, rows: &mut [f64]) {
        let drag = self.drag();
        if self.free && self.rigid.responses.is_empty() {
            self.rigid.respond(&mut self.state);
        }
        for row in rows.chunks_exact_mut(self.model.dofs()) {
            turn(&self.frame.transpose(), row);
            if self.free {
                // A⁻¹ Pᵀ r = A⁻¹ r − (A⁻¹ M Φ) whole: the row itself stays sparse.
                let whole = self.rigid.response(row);
                self.state.apply_inverse_to_few(row);
                self.rigid.add_responses(whole, -1.0, row);
                let spurious = self.rigid.motion(row);
                self.rigid.add(spurious, -1.0, false, row);
                self.rigid.add(whole, 1.0 / drag, false, row);
            } else {
                self.state.apply_inverse_to_few(row);
            }
            turn(&self.frame, row);
        }
    }

    fn free_change(&self, change: &mut [f64]) {
        for (&node, change) in self.model.free_nodes().iter().zip(change.chunks_exact_mut(3)) {
            let node = node as usize;
            change.copy_from_slice((self.velocities[node] - self.start_velocities[node]).as_slice());
        }
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        Self::add_to_world(&self.model, &Mat3::identity(), dv, &mut self.velocities);
    }

    fn change_position(&mut self, dq: &[f64]) {
        Self::add_to_world(&self.model, &Mat3::identity(), dq, &mut self.positions);
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
        // The frame does not matter to the elastic energy, so the one of the last step will do with present positions.
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

fn turn(by: &Mat3, row: &mut [f64]) {
    for x in row.chunks_exact_mut(3) {
        let turned = by * Vec3::new(x[0], x[1], x[2]);
        x.copy_from_slice(turned.as_slice());
    }
}
