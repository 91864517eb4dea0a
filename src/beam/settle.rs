use super::chain::BeamChain;
use super::tridiagonal::{Six, get};
use crate::math::Vec3;

/// How a search for the equilibrium ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Steps taken.
    pub steps: usize,
    /// Largest force left on a node, N.
    pub force: f64,
    /// Largest torque left on a node, N·m.
    pub torque: f64,
    /// Whether both are below the tolerance.
    pub converged: bool,
}

/// Largest rotation of a node in one step, rad.
const LONGEST_TURN: f64 = 0.1;

/// Slowest pseudo-time, s: what resists motions without stiffness, such as the spin of a pinned beam about itself.
const SLOWEST_PSEUDO_TIME: f64 = 10.0;

impl BeamChain {
    /// Moves the chain to its equilibrium under gravity and loads, at rest: quasi-static steps (Peterlik 2011, eq. 4) with a vanishing damping,
    /// each limited in rotation. Ends when no node has a force above `force` newtons or a torque above `force` times the length of a beam.
    pub fn settle(&mut self, gravity: &Vec3, force: f64, steps: usize) -> Settled {
        let arm = self.elements().iter().map(|e| e.length()).fold(f64::INFINITY, f64::min);
        let mut found = Settled { steps: 0, force: f64::INFINITY, torque: f64::INFINITY, converged: false };
        for i in 0..self.nodes() {
            self.set_velocity(i, Six::zeros());
        }
        for step in 0..=steps {
            self.look_ahead(0.0);
            self.assemble(1.0 / (SLOWEST_PSEUDO_TIME * SLOWEST_PSEUDO_TIME), 1.0, 1.0, 0.0);
            self.assemble_force(1.0, gravity);
            (found.force, found.torque) = self.residual();
            found.steps = step;
            found.converged = found.force <= force && found.torque <= force * arm;
            if found.converged || step == steps || !self.solve_held() {
                break;
            }
            let turns = (0..self.nodes()).map(|i| get(self.solution(), i).fixed_rows::<3>(3).norm());
            let scale = (LONGEST_TURN / turns.fold(LONGEST_TURN, f64::max)).min(1.0);
            for i in 0..self.nodes() {
                let dq = get(self.solution(), i) * scale;
                self.displace(i, &dq);
            }
        }
        found
    }
}
