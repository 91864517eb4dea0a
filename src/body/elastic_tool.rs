use nalgebra::{Matrix6, Vector6};

use crate::elastic::{ContactStatus, ElasticError, ElasticObject, ElasticOptions, Region, Tool};
use crate::math::{Pose, Vec3, exp, log};
use crate::problem::Guide;
use crate::tracking::minimum_jerk;

/// Longest time between two updates of a tool, s: forces are computed at 1 kHz or more, for every step of the world.
const UPDATE: f64 = 1e-3;

/// Steps of Newton's method for the motion of a tool on a spring; without limits of the spring one is enough but for rotations.
const FOLLOW_STEPS: usize = 4;

/// A rigid tool that touches one elastic object (Luo 2007, fig. 1). It is moved along a path, or a device holds it by a spring.
#[derive(Clone, Debug)]
pub struct HeldTool {
    object: ElasticObject,
    pose: Pose,
    from: Pose,
    to: Pose,
    /// Time since the motion began and its duration, s.
    elapsed: f64,
    seconds: f64,
    /// Linear and angular velocity of the last step on a spring, m/s and rad/s.
    velocity: [Vec3; 2],
    /// Whether a device holds it.
    is_held: bool,
}

crate::saved_fields!(HeldTool: object, pose, from, to, elapsed, seconds, velocity, is_held);

impl HeldTool {
    /// Columns of a trace.
    pub const COLUMNS: &'static [(&'static str, &'static str)] = &[
        ("tool_x", "m"),
        ("tool_y", "m"),
        ("tool_z", "m"),
        ("force_x", "N"),
        ("force_y", "N"),
        ("force_z", "N"),
        ("depth", "m"),
        ("regions", ""),
    ];

    /// A tool at rest.
    pub fn new(options: ElasticOptions, tool: Tool, object: Pose, at: Pose) -> Result<Self, ElasticError> {
        let mut held = Self {
            object: ElasticObject::new(options, tool)?.at(object),
            pose: at,
            from: at,
            to: at,
            elapsed: 0.0,
            seconds: 0.0,
            velocity: [Vec3::zeros(); 2],
            is_held: false,
        };
        held.object.update(&at, 0.0);
        Ok(held)
    }

    /// Begins a smooth motion from the current pose to another, with minimum jerk.
    pub fn move_to(&mut self, to: Pose, seconds: f64) {
        (self.from, self.to, self.elapsed, self.seconds) = (self.pose, to, 0.0, seconds.max(0.0));
    }

    /// A step of a world: moves it along its path, in updates of at most 1 ms, unless a device holds it, and deforms the object.
    pub fn advance(&mut self, h: f64) {
        if self.is_held {
            self.object.reshape();
            return;
        }
        let updates = (h / UPDATE - 1e-9).ceil().max(1.0);
        for _ in 0..updates as usize {
            self.elapsed += h / updates;
            self.pose = self.path();
            self.object.detect(&self.pose);
            self.object.resolve(h / updates);
        }
        self.object.reshape();
    }

    /// Gives it to a device: from now on it moves only by [`HeldTool::follow`].
    pub fn hold(&mut self) {
        self.is_held = true;
    }

    /// Whether a device holds it.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// One step of a haptic loop of length h: the tool moves on the spring of a device.
    ///
    /// The model is quasi-static (Luo 2007, §II.C), so the tool has no mass: at the end of the step the wrench of the spring `f(u)` balances that
    /// of the contact. The contact is linearised about the start of the step, with the wrench `F` there and its tangent stiffness `S`
    /// ([`ElasticObject::stiffness`]). With the motion `u` of the step, translation and rotation about the origin of the tool,
    ///
    /// ```text
    /// f(u) + F − S u = 0,     u ← u + (M(u)/h² + S)⁻¹ (f(u) + F − S u).
    /// ```
    ///
    /// `M/h² ≥ −∂f/∂u` is the secant of the spring ([`Guide::at`]), also where its force is limited. `S` is positive semidefinite, so every
    /// step is bounded by that of the free spring plus `|F|/(k + b/h)`, and the tool comes to rest where both wrenches balance without any
    /// linearisation. Contact is detected and its forces are computed at the new pose.
    pub fn follow(&mut self, guide: &Guide, h: f64) {
        let contact = self.object.response();
        let wrench = [contact.force, contact.torque];
        let stiffness = self.object.stiffness();
        let (place, turn) = (self.pose.translation.vector, self.pose.rotation);
        let mut motion = Vector6::zeros();
        for _ in 0..FOLLOW_STEPS {
            let velocity = [0, 3].map(|first| motion.fixed_rows::<3>(first) / h);
            let spring = guide.at(&place, &turn, [&velocity[0], &velocity[1]], h);
            let mut matrix: Matrix6<f64> = stiffness;
            let mut lacking = -stiffness * motion;
            for i in 0..6 {
                matrix[(i, i)] += spring.matrix[i / 3] / (h * h);
                lacking[i] += spring.wrench[i / 3][i % 3] + wrench[i / 3][i % 3];
            }
            // A device without a spring for rotation does not turn the tool.
            for k in (0..2).filter(|&k| spring.matrix[k] <= 0.0) {
                matrix.fixed_rows_mut::<3>(3 * k).fill(0.0);
                matrix.fixed_columns_mut::<3>(3 * k).fill(0.0);
                (3 * k..3 * k + 3).for_each(|i| (matrix[(i, i)], lacking[i]) = (1.0, 0.0));
            }
            let Some(factor) = matrix.cholesky() else { break };
            motion += factor.solve(&lacking);
        }
        if motion.iter().all(|x| x.is_finite()) {
            let [moved, turned] = [0, 3].map(|first| motion.fixed_rows::<3>(first).into_owned());
            self.velocity = [moved / h, turned / h];
            self.pose = Pose::from_parts((place + moved).into(), exp(&turned) * turn);
            self.pose.rotation.renormalize();
        } else {
            self.velocity = [Vec3::zeros(); 2];
        }
        self.object.detect(&self.pose);
        self.object.resolve(h);
    }

    /// Linear and angular velocity in the last [`HeldTool::follow`].
    pub fn velocity(&self) -> &[Vec3; 2] {
        &self.velocity
    }

    /// Takes over pose and contact of another tool of the same kind, of which it is a picture.
    pub fn take_over(&mut self, pose: &Pose, status: ContactStatus, regions: &[Region]) {
        self.pose = *pose;
        self.object.take_over(pose, status, regions);
    }

    fn path(&self) -> Pose {
        if self.elapsed >= self.seconds {
            return self.to;
        }
        let part = minimum_jerk(self.elapsed / self.seconds);
        let place = self.from.translation.vector.lerp(&self.to.translation.vector, part);
        let turn = exp(&(part * log(&(self.to.rotation * self.from.rotation.inverse()))));
        Pose::from_parts(place.into(), turn * self.from.rotation)
    }

    /// The object and the tool.
    pub fn object(&self) -> &ElasticObject {
        &self.object
    }

    /// Pose of the tool.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Pose at the end of the motion.
    pub fn target(&self) -> &Pose {
        &self.to
    }

    /// Force on the tool, N.
    pub fn force(&self) -> Vec3 {
        self.object.response().force
    }

    /// Torque on the tool about its origin, N m.
    pub fn torque(&self) -> Vec3 {
        self.object.response().torque
    }

    /// Friction on the tool, N.
    pub fn friction(&self) -> Vec3 {
        let sum: Vec3 = self.object.response().regions.iter().map(|region| region.friction).sum();
        self.object.pose().rotation * sum
    }

    /// Greatest depth of the tool below the undeformed surface, m.
    pub fn depth(&self) -> f64 {
        self.object.response().regions.iter().map(|region| region.depth).fold(0.0, f64::max)
    }

    /// Area that presses, m².
    pub fn area(&self) -> f64 {
        self.object.response().regions.iter().map(|region| region.area).sum()
    }

    /// Whether it slides in some region.
    pub fn is_sliding(&self) -> bool {
        self.object.response().regions.iter().any(|region| region.sliding)
    }

    /// Contact state.
    pub fn status(&self) -> ContactStatus {
        self.object.response().status
    }

    /// Appends the numbers of [`HeldTool::COLUMNS`].
    pub fn trace(&self, row: &mut Vec<f64>) {
        row.extend(self.pose.translation.vector.iter().chain(self.force().iter()));
        row.extend([self.depth(), self.object.response().regions.len() as f64]);
    }
}
