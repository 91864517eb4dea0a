use std::sync::Arc;

use nalgebra::{Cholesky, Const};

use super::{MaterialPoint, Part, Step};
use crate::hand::{HandModel, Kinematics, REDUCED, Reduced, ReducedMatrix, ReducedState, Target};
use crate::math::{Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3};
use crate::problem::CoordinateTerm;
use crate::tracking::{Segment, TrackedHand};

/// Layers 2 and 3: the articulated hand in reduced coordinates, coupled to the tracked one by springs.
#[derive(Clone, Debug)]
pub struct HandBody {
    model: Arc<HandModel>,
    /// Layer 1.
    pub tracked: TrackedHand,
    target: Target,
    state: ReducedState,
    kinematics: Kinematics,
    factor: Option<Cholesky<f64, Const<REDUCED>>>,
    /// The system matrix.
    matrix: Box<ReducedMatrix>,
    /// Its inverse, if contact needs it.
    inverse: Box<ReducedMatrix>,
    has_inverse: bool,
    /// Velocity at the start of the step.
    start_velocity: Reduced,
    /// Springs and limits after the free motion.
    terms: Vec<CoordinateTerm>,
}

/// Iterations to find the active springs; one or two suffice.
const ROUNDS: usize = 6;

impl HandBody {
    /// A hand at rest at the tracked pose.
    pub fn new(model: Arc<HandModel>, tracked: TrackedHand) -> Self {
        let state = ReducedState::at_rest(*tracked.palm(), *tracked.angles());
        let target = Target::at_rest(state.palm, state.angles);
        let kinematics = model.skeleton.kinematics(&state.palm, &state.angles);
        Self {
            model,
            tracked,
            target,
            state,
            kinematics,
            factor: None,
            matrix: Box::new(ReducedMatrix::identity()),
            inverse: Box::new(ReducedMatrix::zeros()),
            has_inverse: false,
            start_velocity: Reduced::zeros(),
            terms: Vec::new(),
        }
    }

    /// The constant part.
    pub fn model(&self) -> &HandModel {
        &self.model
    }

    /// Reduced coordinates and velocities.
    pub fn state(&self) -> &ReducedState {
        &self.state
    }

    /// Sets the state to a free pose.
    pub fn set_state(&mut self, state: ReducedState) {
        self.state = state;
        self.refresh();
    }

    /// Velocities at the start of the step, before the free motion.
    pub fn start_velocity(&self) -> &Reduced {
        &self.start_velocity
    }

    /// Poses of the segments and joints.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    fn refresh(&mut self) {
        self.kinematics = self.model.skeleton.kinematics(&self.state.palm, &self.state.angles);
    }

    fn segment(at: &MaterialPoint) -> Segment {
        Segment::at(at.part as usize)
    }
}

impl Saved for HandBody {
    fn save(&self, to: &mut StateWriter) {
        self.tracked.save(to);
        self.target.save(to);
        self.state.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.tracked.restore(from)?;
        self.target.restore(from)?;
        self.state.restore(from)?;
        self.refresh();
        Ok(())
    }
}

impl Part for HandBody {
    fn dofs(&self) -> usize {
        REDUCED
    }

    /// Solves with the springs and limits that are active at the end of the step: they are predicted from the current
    /// motion, and corrected until the solution agrees. Contact corrects them once more, through
    /// [`Part::coordinate_terms`].
    fn free_motion(&mut self, step: &Step) {
        self.target.follow(&self.tracked, step.time + step.h, step.h, &self.model.description.coupling);
        let inertial = self.model.inertial_terms(&self.kinematics, &self.state.velocity, step.h);
        let start = self.state.velocity;
        self.start_velocity = start;
        self.has_inverse = false;
        let mut moved = step.h * start;
        let mut guess = moved;
        let mut acting = None;
        for _ in 0..ROUNDS {
            let system = self.model.reduced_system(&inertial, &self.state, &self.target, step.h, &moved);
            if acting == Some(system.acting) {
                break;
            }
            acting = Some(system.acting);
            guess = moved;
            *self.matrix = system.matrix;
            let Some(factor) = Cholesky::new(system.matrix) else {
                break;
            };
            let mut dv = system.rhs;
            factor.solve_mut(&mut dv);
            self.factor = Some(factor);
            moved = step.h * (start + dv);
        }
        self.model.coordinate_terms(&self.state, &self.target, &guess, &moved, &mut self.terms);
        self.state.velocity = moved / step.h;
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        let pose: &Pose = &self.kinematics.poses[at.part as usize];
        pose.translation.vector + pose.rotation * at.local
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        self.kinematics.point_velocity(Self::segment(at), &self.position(at), &self.state.velocity)
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        self.kinematics.add_point_force(Self::segment(at), &self.position(at), direction, row);
    }

    fn prepare_inverse(&mut self) {
        if let Some(factor) = self.factor.as_ref().filter(|_| !self.has_inverse) {
            self.inverse.fill_with_identity();
            factor.solve_mut(&mut *self.inverse);
            self.has_inverse = true;
        }
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        // A point of a finger depends on ten coordinates only.
        for row in rows.chunks_exact_mut(REDUCED) {
            let mut x = Reduced::zeros();
            for (i, &r) in row.iter().enumerate().filter(|(_, r)| **r != 0.0) {
                x.axpy(r, &self.inverse.column(i), 1.0);
            }
            row.copy_from_slice(x.as_slice());
        }
    }

    fn is_small(&self) -> bool {
        true
    }

    fn matrix(&self) -> &[f64] {
        self.matrix.as_slice()
    }

    /// The palm and the five fingers: a finger's angles are coupled with each other and with the palm.
    fn partition(&self) -> &[usize] {
        &[6, 4, 4, 4, 4, 4]
    }

    fn coordinate_terms(&self) -> &[CoordinateTerm] {
        &self.terms
    }

    fn free_change(&self, change: &mut [f64]) {
        change.copy_from_slice((self.state.velocity - self.start_velocity).as_slice());
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        self.state.velocity += Reduced::from_column_slice(dv);
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.state.displace(&Reduced::from_column_slice(dq));
        self.refresh();
    }

    fn advance(&mut self, h: f64) {
        let moved = h * self.state.velocity;
        self.state.displace(&moved);
        self.refresh();
    }

    fn hash(&self, hash: &mut StateHash) {
        hash.pose(&self.target.palm);
        hash.numbers(&self.target.angles);
        hash.pose(&self.state.palm);
        hash.numbers(&self.state.angles);
        hash.numbers(self.state.velocity.as_slice());
    }

    fn is_finite(&self) -> bool {
        let palm = &self.state.palm;
        let numbers = palm.translation.vector.iter().chain(palm.rotation.coords.iter());
        numbers.chain(&self.state.angles).chain(self.state.velocity.iter()).all(|x| x.is_finite())
    }

    fn energy(&self) -> f64 {
        self.model.kinetic_energy(&self.kinematics, &self.state.velocity)
    }
}
