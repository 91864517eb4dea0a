use nalgebra::{SMatrix, SVector};

use super::description::Coupling;
use super::model::HandModel;
use super::skeleton::{Kinematics, Skeleton};
use crate::math::{Mat3, Pose, Vec3, exp, log};
use crate::problem::{CoordinateLaw, CoordinateTerm};
use crate::tracking::{ANGLES, SEGMENTS, Segment, TrackedHand};

/// Number of reduced coordinates of a hand: three of the palm position, three of its orientation, twenty angles.
pub const REDUCED: usize = 6 + ANGLES;
/// A vector of reduced velocities or forces: palm linear (world), palm angular (world), angles.
pub type Reduced = SVector<f64, REDUCED>;
/// A matrix over reduced coordinates.
pub type ReducedMatrix = SMatrix<f64, REDUCED, REDUCED>;

/// Mass, centre and inertia of a rigid segment, in its bone frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidInertia {
    /// kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub centre: Vec3,
    /// About the centre of mass, kg·m².
    pub inertia: Mat3,
}

/// Layer 2: state of the reduced hand.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedState {
    /// Pose of the palm in the world.
    pub palm: Pose,
    /// The twenty angles, rad.
    pub angles: [f64; ANGLES],
    /// Their velocities.
    pub velocity: Reduced,
}

impl ReducedState {
    /// At rest in a pose.
    pub fn at_rest(palm: Pose, angles: [f64; ANGLES]) -> Self {
        Self { palm, angles, velocity: Reduced::zeros() }
    }

    /// Moves along a displacement in reduced coordinates.
    pub fn displace(&mut self, d: &Reduced) {
        self.palm.translation.vector += d.fixed_rows::<3>(0);
        self.palm.rotation = exp(&d.fixed_rows::<3>(3).into_owned()) * self.palm.rotation;
        self.palm.rotation.renormalize();
        for (angle, d) in self.angles.iter_mut().zip(d.iter().skip(6)) {
            *angle += d;
        }
    }
}

/// The free motion of layer 2 over one step, linearised once: `A dv = b` (Talvas 2015, eq. 2).
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedSystem {
    /// `A = M + h D + h² K`.
    pub matrix: ReducedMatrix,
    /// `b = h f − h² K v`.
    pub rhs: Reduced,
    /// Bit mask of saturated springs and active limits.
    pub acting: u64,
}

/// Target of the coupling springs: the tracked hand with limited speed.
///
/// After a jump of the tracked hand the target moves at the maximum speeds of the coupling; otherwise the full spring
/// force would accelerate a light joint too much. Within those speeds the target is the tracked hand itself, and its velocity goes to
/// the dampers, so ordinary motion is followed without lag.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Pose of the palm.
    pub palm: Pose,
    /// The twenty angles, rad.
    pub angles: [f64; ANGLES],
    /// Velocity; zero for a part that lags behind, so that it arrives without overshoot.
    pub velocity: Reduced,
}

impl Target {
    /// At rest at a pose.
    pub fn at_rest(palm: Pose, angles: [f64; ANGLES]) -> Self {
        Self { palm, angles, velocity: Reduced::zeros() }
    }

    /// Moves towards the extrapolated tracked hand at time `now`, one step `h` after the last.
    pub fn follow(&mut self, tracked: &TrackedHand, now: f64, h: f64, coupling: &Coupling) {
        let (linear, angular) = tracked.palm_velocity(now);
        let (palm, angles) = (tracked.palm_at(now), tracked.angles_at(now));
        let offset = palm.translation.vector - self.palm.translation.vector;
        let (offset, caught_up) = shortened(offset, coupling.max_speed * h);
        self.palm.translation.vector += offset;
        self.velocity.fixed_rows_mut::<3>(0).copy_from(&(caught_up * linear));
        let turn = log(&(palm.rotation * self.palm.rotation.inverse()));
        let (turn, caught_up) = shortened(turn, coupling.max_turn * h);
        self.palm.rotation = exp(&turn) * self.palm.rotation;
        self.palm.rotation.renormalize();
        self.velocity.fixed_rows_mut::<3>(3).copy_from(&(caught_up * angular));
        let rates = tracked.angle_rates(now);
        let most = coupling.max_joint_rate * h;
        for (j, angle) in self.angles.iter_mut().enumerate() {
            let offset = angles[j] - *angle;
            *angle += offset.clamp(-most, most);
            self.velocity[6 + j] = if offset.abs() > most { 0.0 } else { rates[j] };
        }
    }
}

/// Clamps a vector to a length; also returns one if unchanged, else zero.
fn shortened(v: Vec3, most: f64) -> (Vec3, f64) {
    let length = v.norm();
    if length > most { (v * (most / length), 0.0) } else { (v, 1.0) }
}

crate::saved_fields!(ReducedState: palm, angles, velocity);
crate::saved_fields!(Target: palm, angles, velocity);

/// Mass matrix and inertial forces in one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct InertialTerms {
    /// `M`.
    pub mass: ReducedMatrix,
    /// Centripetal, Coriolis and gyroscopic forces.
    pub bias: Reduced,
}

impl HandModel {
    /// `M = Σ_b J_bᵀ M_b J_b` over the sixteen segments (formulation, layer 2).
    pub fn mass_matrix(&self, kin: &Kinematics) -> ReducedMatrix {
        let mut mass = ReducedMatrix::zeros();
        for segment in Segment::all() {
            let body = self.inertia_in_world(kin, segment);
            // Columns of the angular and linear Jacobian at the centre of mass: six of the palm, at most four angles.
            let angles = Skeleton::angles_of(segment);
            let count = 6 + angles.len();
            let mut dof = [0usize; 10];
            let mut linear = [Vec3::zeros(); 10];
            let mut angular = [Vec3::zeros(); 10];
            let arm = body.centre - kin.poses[0].translation.vector;
            for i in 0..3 {
                let e = Vec3::ith(i, 1.0);
                (dof[i], linear[i]) = (i, e);
                (dof[3 + i], linear[3 + i], angular[3 + i]) = (3 + i, e.cross(&arm), e);
            }
            for (i, j) in angles.enumerate() {
                dof[6 + i] = 6 + j;
                angular[6 + i] = kin.axes[j];
                linear[6 + i] = kin.axes[j].cross(&(body.centre - kin.centres[j]));
            }
            for i in 0..count {
                let (p, l) = (body.mass * linear[i], body.inertia * angular[i]);
                for k in 0..=i {
                    mass[(dof[i], dof[k])] += p.dot(&linear[k]) + l.dot(&angular[k]);
                }
            }
        }
        mass.fill_upper_triangle_with_lower_triangle();
        mass
    }

    /// Velocity-dependent forces `Σ_b Jᵀ (m a, I α + ω × I ω)` with the accelerations at zero reduced acceleration:
    /// centripetal, Coriolis and gyroscopic.
    pub fn bias(&self, kin: &Kinematics, v: &Reduced) -> Reduced {
        let mut bias = Reduced::zeros();
        let palm_turn: Vec3 = v.fixed_rows::<3>(3).into_owned();
        let mut add = |segment: Segment, at: &Vec3, acceleration: Vec3, turn: &Vec3, spin_up: &Vec3| {
            let body = self.inertia_in_world(kin, segment);
            let arm = body.centre - at;
            let a = acceleration + spin_up.cross(&arm) + turn.cross(&turn.cross(&arm));
            let torque = body.inertia * spin_up + turn.cross(&(body.inertia * turn));
            kin.add_point_force(segment, &body.centre, &(body.mass * a), bias.as_mut_slice());
            kin.add_torque(segment, &torque, bias.as_mut_slice());
        };
        let palm = kin.poses[0].translation.vector;
        add(Segment::PALM, &palm, Vec3::zeros(), &palm_turn, &Vec3::zeros());
        for f in 0..5 {
            let (mut at, mut a, mut w, mut alpha) = (palm, Vec3::zeros(), palm_turn, Vec3::zeros());
            for place in 0..3 {
                let segment = Segment::at(1 + 3 * f + place);
                let joint = kin.poses[segment.index()].translation.vector;
                let arm = joint - at;
                a += alpha.cross(&arm) + w.cross(&w.cross(&arm));
                at = joint;
                // The base rotates by abduction, then flexion; the other joints by one angle.
                let turning: &[usize] = if place == 0 { &[4 * f + 1, 4 * f] } else { &[4 * f + place + 1] };
                for &j in turning {
                    let spin = kin.axes[j] * v[6 + j];
                    alpha += w.cross(&spin);
                    w += spin;
                }
                add(segment, &at, a, &w, &alpha);
            }
        }
        bias
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self, kin: &Kinematics, v: &Reduced) -> f64 {
        0.5 * v.dot(&(self.mass_matrix(kin) * v))
    }

    fn inertia_in_world(&self, kin: &Kinematics, segment: Segment) -> RigidInertia {
        let (body, pose) = (&self.inertias[segment.index()], &kin.poses[segment.index()]);
        let r = pose.rotation.to_rotation_matrix().into_inner();
        RigidInertia {
            mass: body.mass,
            centre: pose.translation.vector + r * body.centre,
            inertia: r * body.inertia * r.transpose(),
        }
    }

    /// The parts of the system that do not depend on the joint limits.
    ///
    /// DEVIATION: the bias is quadratic in the velocity and taken at the start of the step. Its change of momentum per
    /// step is limited to half of the momentum. A hand stays far below that; a diverging velocity would otherwise
    /// square itself every step.
    pub fn inertial_terms(&self, kin: &Kinematics, v: &Reduced, h: f64) -> InertialTerms {
        let mass = self.mass_matrix(kin);
        let bias = self.bias(kin, v);
        let (momentum, change) = ((mass * v).norm(), h * bias.norm());
        let most = 0.5 * momentum;
        InertialTerms { mass, bias: if change > most { bias * (most / change) } else { bias } }
    }

    /// Assembles the step: springs to the tracked hand, one-sided limits, dampers, and the inertia of the hand.
    ///
    /// Gravity is omitted: the arm of the user carries the hand. Limits are springs only beyond their ends, and the
    /// other springs saturate, so the active set depends on the unknown displacement; `moved` is its estimate. Limits
    /// have no dampers: a damper would act before the limit is reached, and implicit Euler damps a stiff spring anyway.
    pub fn reduced_system(
        &self,
        inertial: &InertialTerms,
        state: &ReducedState,
        target: &Target,
        h: f64,
        moved: &Reduced,
    ) -> ReducedSystem {
        let spring = self.spring(state, target, moved);
        let limits = self.limit_springs(state, moved);
        let stiffness = spring.stiffness + limits.stiffness;
        let damping = &self.coupling_damping;
        let mut matrix = inertial.mass;
        for i in 0..REDUCED {
            matrix[(i, i)] += h * damping[i] + h * h * stiffness[i];
        }
        let v = &state.velocity;
        let pull = self.coupling_damping.component_mul(&(target.velocity - v));
        let force = spring.force + limits.force + pull - inertial.bias;
        ReducedSystem {
            matrix,
            rhs: h * force - h * h * stiffness.component_mul(v),
            acting: spring.acting | limits.acting,
        }
    }

    /// Springs and limits as nonlinear corrections in the contact problem: `guess` is the displacement that selected
    /// the active springs of the free motion, `moved` its result.
    pub fn coordinate_terms(
        &self,
        state: &ReducedState,
        target: &Target,
        guess: &Reduced,
        moved: &Reduced,
        terms: &mut Vec<CoordinateTerm>,
    ) {
        let (spring, limits) = (self.spring(state, target, guess), self.limit_springs(state, guess));
        let stiffness = spring.stiffness + limits.stiffness;
        let force = spring.force + limits.force - stiffness.component_mul(moved);
        let c = &self.description.coupling;
        terms.clear();
        let offset = state.palm.translation.vector - target.palm.translation.vector;
        let turn = log(&(state.palm.rotation * target.palm.rotation.inverse()));
        for (dof, offset, k, most) in [(0, offset, c.palm, c.max_force), (3, turn, c.palm_rotation, c.max_torque)] {
            terms.push(CoordinateTerm {
                dof,
                end: offset + moved.fixed_rows::<3>(dof),
                law: CoordinateLaw::Spring { stiffness: k, most },
                linear_force: force.fixed_rows::<3>(dof).into_owned(),
                linear_stiffness: stiffness[dof],
            });
        }
        for j in 0..ANGLES {
            terms.push(CoordinateTerm {
                dof: 6 + j,
                end: Vec3::new(state.angles[j] + moved[6 + j], 0.0, 0.0),
                law: CoordinateLaw::Joint {
                    target: target.angles[j],
                    stiffness: c.joints[j % 4],
                    most: c.max_joint_torque,
                    limits: self.limits[j],
                    limit_stiffness: c.limit,
                },
                linear_force: Vec3::new(force[6 + j], 0.0, 0.0),
                linear_stiffness: stiffness[6 + j],
            });
        }
    }

    fn spring(&self, state: &ReducedState, target: &Target, moved: &Reduced) -> Springs {
        let mut springs = Springs::default();
        let c = &self.description.coupling;
        let offset = target.palm.translation.vector - state.palm.translation.vector;
        springs.pull(0, c.palm, offset, moved, c.max_force);
        let turn = log(&(target.palm.rotation * state.palm.rotation.inverse()));
        springs.pull(3, c.palm_rotation, turn, moved, c.max_torque);
        for j in 0..ANGLES {
            let (k, offset) = (c.joints[j % 4], target.angles[j] - state.angles[j]);
            let at_end = k * (offset - moved[6 + j]);
            if at_end.abs() > c.max_joint_torque {
                springs.force[6 + j] = c.max_joint_torque.copysign(at_end);
                springs.acting |= 1 << (2 + j);
            } else {
                springs.force[6 + j] = k * offset;
                springs.stiffness[6 + j] = k;
            }
        }
        springs
    }

    fn limit_springs(&self, state: &ReducedState, moved: &Reduced) -> Springs {
        let mut springs = Springs::default();
        let k = self.description.coupling.limit;
        for (j, [low, high]) in self.limits.iter().enumerate() {
            let at_end = state.angles[j] + moved[6 + j];
            let (end, bit) = if at_end < *low {
                (low, 22 + j)
            } else if at_end > *high {
                (high, 42 + j)
            } else {
                continue;
            };
            springs.force[6 + j] = -k * (state.angles[j] - end);
            springs.stiffness[6 + j] = k;
            springs.acting |= 1 << bit;
        }
        springs
    }
}

/// Springs in the current state: force, and stiffness for the change over the step.
struct Springs {
    force: Reduced,
    stiffness: Reduced,
    acting: u64,
}

impl Default for Springs {
    fn default() -> Self {
        Self { force: Reduced::zeros(), stiffness: Reduced::zeros(), acting: 0 }
    }
}

impl Springs {
    /// A spring over three coordinates whose force at the end of the step is at most `most`. Beyond, the force is
    /// constant and has no stiffness; the damper still acts in full.
    fn pull(&mut self, first: usize, k: f64, offset: Vec3, moved: &Reduced, most: f64) {
        let at_end = k * (offset - moved.fixed_rows::<3>(first));
        let length = at_end.norm();
        let saturated = length > most;
        let force = if saturated { at_end * (most / length) } else { k * offset };
        for i in 0..3 {
            self.force[first + i] = force[i];
            self.stiffness[first + i] = if saturated { 0.0 } else { k };
        }
        self.acting |= u64::from(saturated) << (first / 3);
    }
}

/// Total mass of the segments, kg.
pub(super) fn total_mass(inertias: &[RigidInertia; SEGMENTS]) -> f64 {
    inertias.iter().map(|b| b.mass).sum()
}
