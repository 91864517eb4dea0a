use std::sync::Arc;

use super::fem::{Continuum, ContinuumState};
use super::{MaterialPoint, Part, Step};
use crate::math::{Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3};
use crate::mesh::NodeMap;

/// Layer 4: the soft tissue of one segment, solved in the frame of its bone.
///
/// The global corotational split (Duriez 2006, §6.2; Talvas 2015, §4) assigns the bone's frame to the skeleton and only
/// the
/// deformation to this body: `v_i = J_i q̇_r + R_bone Σ_k β_ik u̇_k`. Nodes of the bone are eliminated, the limit of the paper's
/// stiff springs. The acceleration of the frame does not act on the tissue, as in the papers; gravity does.
#[derive(Clone, Debug)]
pub struct Phalanx {
    model: Arc<Continuum>,
    state: ContinuumState,
    frame: Pose,
    dv: Vec<f64>,
    /// Whether it deforms.
    deforms: bool,
    /// Gravity in the frame of the bone, m/s², while the tissue is at rest under it and nothing touches it.
    resting: Option<Vec3>,
}

/// Speed below which tissue that nothing touches comes to rest, m/s. It would move by a few nanometres more.
const STILL: f64 = 1e-7;

/// Relative change of gravity in the frame of the bone that ends the rest. The tissue sags by some 10 µm, so by 1 nm more.
const TURNED: f64 = 1e-4;

impl Phalanx {
    /// Tissue at rest around a bone.
    pub fn new(model: Arc<Continuum>, frame: Pose) -> Self {
        let state = model.at_rest();
        let dv = vec![0.0; model.dofs()];
        Self { model, state, frame, dv, deforms: true, resting: None }
    }

    /// Sets whether it deforms. If not, it moves rigidly with its bone.
    pub fn set_deforms(&mut self, deforms: bool) {
        self.deforms = deforms;
    }

    /// Sets the pose of the bone.
    pub fn set_frame(&mut self, frame: Pose) {
        self.frame = frame;
    }

    /// Pose of the bone.
    pub fn frame(&self) -> &Pose {
        &self.frame
    }

    /// The tissue.
    pub fn model(&self) -> &Continuum {
        &self.model
    }

    /// Its state.
    pub fn state(&self) -> &ContinuumState {
        &self.state
    }

    /// Displacement of a point in the tissue, in the frame of the bone.
    pub fn displacement(&self, at: &NodeMap) -> Vec3 {
        at.sum(&self.state.displacement)
    }
}

impl Saved for Phalanx {
    fn save(&self, to: &mut StateWriter) {
        self.frame.save(to);
        (self.deforms, self.resting).save(to);
        self.model.save(&self.state, to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.frame.restore(from)?;
        (self.deforms, self.resting) = from.get()?;
        self.model.restore(&mut self.state, from)
    }
}

impl Part for Phalanx {
    fn dofs(&self) -> usize {
        self.model.dofs()
    }

    fn free_motion(&mut self, step: &Step) {
        if !self.deforms {
            return;
        }
        let gravity = self.frame.rotation.inverse() * step.gravity;
        let turned = |rest: Vec3| (rest - gravity).norm() > TURNED * step.gravity.norm();
        if self.resting.is_some_and(|rest| !turned(rest)) && self.model.is_current(&self.state, step.h, &step.refactor)
        {
            self.dv.fill(0.0);
            return;
        }
        self.resting = None;
        self.model.prepare(&mut self.state, step.h, &step.refactor);
        let masses = self.model.masses();
        self.model.free_change(&mut self.state, step.h, |i| masses[i] * gravity, &mut self.dv);
        for (v, dv) in self.state.velocity.iter_mut().zip(&self.dv) {
            *v += dv;
        }
        // False for a velocity that is not a number, which must stay visible.
        if self.state.velocity.iter().all(|v| v.abs() < STILL) {
            self.state.velocity.fill(0.0);
            self.dv.fill(0.0);
            self.resting = Some(gravity);
        }
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        let p_bone = at.nodes.sum(self.model.rest()) + self.displacement(&at.nodes);
        self.frame.translation.vector + self.frame.rotation * p_bone
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        let mut v = Vec3::zeros();
        for (&node, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights) {
            if let Some(i) = self.model.unknown(node) {
                let u = &self.state.velocity[3 * i..3 * i + 3];
                v += weight * Vec3::new(u[0], u[1], u[2]);
            }
        }
        self.frame.rotation * v
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        let d_bone = self.frame.rotation.inverse() * direction;
        for (&node, &weight) in at.nodes.nodes.iter().zip(&at.nodes.weights) {
            if let Some(i) = self.model.unknown(node) {
                for c in 0..3 {
                    row[3 * i + c] += weight * d_bone[c];
                }
            }
        }
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        self.state.apply_inverse(rows);
    }

    fn inverse_epoch(&self) -> Option<u64> {
        Some(self.state.refactorisations())
    }

    fn free_change(&self, change: &mut [f64]) {
        change.copy_from_slice(&self.dv);
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        if dv.iter().any(|dv| *dv != 0.0) {
            self.resting = None;
        }
        for (v, dv) in self.state.velocity.iter_mut().zip(dv) {
            *v += dv;
        }
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.model.displace(&mut self.state, dq, 1.0);
    }

    fn advance(&mut self, h: f64) {
        if self.deforms {
            self.state.advance(&self.model, h);
        }
    }

    fn hash(&self, hash: &mut StateHash) {
        for &node in self.model.free_nodes() {
            hash.vector(&self.state.displacement[node as usize]);
        }
        hash.numbers(&self.state.velocity);
        self.state.hash_relaxation(hash);
    }

    fn is_finite(&self) -> bool {
        let still = self.state.displacement.iter().all(|u| u.iter().all(|x| x.is_finite()));
        still && self.state.velocity.iter().all(|x| x.is_finite())
    }

    fn energy(&self) -> f64 {
        self.model.elastic_energy(&self.state, &self.state.displacement) + self.model.kinetic_energy(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, Hand, HandOptions, RefactorPolicy};
    use crate::hand::HandModel;

    fn step(tissue: &mut Phalanx, h: f64, gravity: Vec3) {
        tissue.free_motion(&Step { h, time: 0.0, gravity, refactor: RefactorPolicy::default() });
        tissue.advance(h);
    }

    /// Tissue rests where it would come to rest, and a touch or another direction of gravity ends the rest.
    #[test]
    fn untouched_tissue_rests_in_equilibrium_until_it_is_touched_or_turned() {
        let model = Arc::new(HandModel::right().expect("the built-in hand"));
        let hand = Hand::new(model, &HandOptions::default()).expect("a shipped pose");
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        for h in [0.01, 0.005, 0.002, 0.001] {
            let mut tissue = hand.tissues[hand.part_count() - 2].clone();
            (0..(2.0 / h) as usize).for_each(|_| step(&mut tissue, h, gravity));
            assert!(tissue.resting.is_some(), "dt {h}");
            let place = tissue.state.displacement.clone();
            assert!(place.iter().any(|u| u.norm() > 1e-9), "it sags");
            // The same without rest goes nowhere else.
            for _ in 0..(0.5 / h) as usize {
                tissue.resting = None;
                step(&mut tissue, h, gravity);
            }
            let moved = place.iter().zip(&tissue.state.displacement).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(moved < 1e-8, "dt {h}: {moved} m");
            step(&mut tissue, h, gravity);
            assert!(tissue.resting.is_some());
            let mut touched = tissue.clone();
            touched.change_velocity(&vec![1e-3; touched.dofs()]);
            assert!(touched.resting.is_none());
            step(&mut tissue, h, -gravity);
            assert!(tissue.state.velocity.iter().any(|v| v.abs() > STILL), "dt {h}: gravity turned");
        }
    }
}
