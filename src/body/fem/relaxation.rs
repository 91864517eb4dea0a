use crate::math::{StateHash, Vec3};

/// Viscoelastic relaxation: quasi-linear viscoelasticity (Fung 1993) as a generalised Maxwell model of the nodal forces.
///
/// The elastic forces `f(u)` are those of long times. Branch `i` with time constant `τ_i` and strength `γ_i` adds forces `q_i` that follow their rate and decay,
///
/// ```text
/// q̇_i = γ_i ḟ − q_i / τ_i,   F = f + Σ q_i,
/// ```
///
/// so a sudden load is `1 + Σ γ_i` times as large, and tissue at rest has the forces of the elastic body. For a rate `ḟ` that is
/// constant over a step `h` the exact solution is
///
/// ```text
/// q_i ← e_i q_i + γ_i φ_i (f' − f),   e_i = exp(−h/τ_i),   φ_i = (1 − e_i) τ_i / h,
/// ```
///
/// in which the change of `f` over the step is linearised in the matrix: the stiffness is multiplied by `1 + Σ γ_i φ_i`. In the frame of
/// the bone elements rotate little, so that forces of different times add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// `τ_i`, s.
    pub times: [f64; BRANCHES],
    /// `γ_i`.
    pub strengths: [f64; BRANCHES],
}

/// Branches of the model.
pub const BRANCHES: usize = 3;

impl Relaxation {
    /// Time constants of the fingertip by Pawluk and Howe (1999). The strengths are an estimate: a sudden load is twice that of long times.
    pub const FINGERTIP: Self = Self { times: [0.004, 0.07, 1.4], strengths: [0.5, 0.25, 0.25] };

    /// `e_i` and `γ_i φ_i` for a step.
    fn branches(&self, h: f64) -> [(f64, f64); BRANCHES] {
        std::array::from_fn(|i| {
            let x = h / self.times[i];
            ((-x).exp(), self.strengths[i] * -(-x).exp_m1() / x)
        })
    }

    /// `1 + Σ γ_i φ_i`.
    pub fn stiffness_factor(&self, h: f64) -> f64 {
        1.0 + self.branches(h).iter().map(|(_, gain)| gain).sum::<f64>()
    }
}

/// Forces of the branches.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// `q_i` of every node.
    pub(super) forces: Vec<[Vec3; BRANCHES]>,
    /// Elastic forces at the last update.
    pub(super) last: Vec<Vec3>,
}

impl Branches {
    /// No forces, for a number of nodes.
    pub fn at_rest(nodes: usize) -> Self {
        Self { forces: vec![[Vec3::zeros(); BRANCHES]; nodes], last: vec![Vec3::zeros(); nodes] }
    }

    /// Follows the elastic forces to those after a step of length `h`, and adds to them what is left of the branches at the end of the next step of the
    /// same length.
    pub fn follow(&mut self, law: &Relaxation, h: f64, elastic: &mut [Vec3]) {
        let branches = law.branches(h);
        for ((own, last), force) in self.forces.iter_mut().zip(&mut self.last).zip(elastic) {
            let change = *force - *last;
            *last = *force;
            for (q, (decay, gain)) in own.iter_mut().zip(&branches) {
                *q = *decay * *q + *gain * change;
                *force += *decay * *q;
            }
        }
    }

    /// Mixes the state into a hash.
    pub fn hash_into(&self, hash: &mut StateHash) {
        self.forces.iter().flatten().chain(&self.last).for_each(|force| hash.vector(force));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a step of the elastic force the branches decay as exponentials, whatever the time step, and the impulse of a ramp is exact.
    #[test]
    fn branches_decay_with_their_time_constants() {
        let law = Relaxation::FINGERTIP;
        let seconds = 0.2;
        let mut ends = Vec::new();
        for h in [0.01, 0.005, 0.002, 0.001] {
            let mut branches = Branches::at_rest(1);
            // The ramp takes one step; it ends at zero time.
            let steps = (seconds / h) as usize;
            for _ in 0..=steps {
                branches.follow(&law, h, &mut [Vec3::x()]);
            }
            let expected: f64 = law.branches(h).iter().map(|(decay, gain)| gain * decay.powi(steps as i32)).sum();
            let sum: f64 = branches.forces[0].iter().map(|q| q.x).sum();
            assert!((sum - expected).abs() < 1e-12, "{h}: {sum} {expected}");
            ends.push(sum);
        }
        // The slow branch is left: its strength at 0.2 s, for any step.
        let slow = 0.25 * (-seconds / 1.4f64).exp() + 0.25 * (-seconds / 0.07f64).exp();
        assert!(ends.iter().all(|end| (end - slow).abs() < 0.01 * slow), "{ends:?} {slow}");
        assert!((law.stiffness_factor(1e-6) - 2.0).abs() < 1e-3, "a sudden load");
        assert!((law.stiffness_factor(1e3) - 1.0).abs() < 1e-2, "a slow one");
    }
}
