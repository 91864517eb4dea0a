use super::yielding::Yielding;
use crate::body::{Body, ColliderId, RefactorPolicy, Step};
use crate::contact::ToolProblem;
use crate::haptics::Wrench;
use crate::math::{Pose, Vec3};
use crate::problem::Guide;
use crate::solver::{DualBlock, DualSweeps, Swept};

/// Change of a sweep below which the forces are accepted, m.
const SWEEP_TOLERANCE: f64 = 1e-9;

/// Most sweeps of a step.
const MAX_SWEEPS: usize = 200;

/// Maximum extrapolation of the environment, in steps of the scene.
const MAX_EXTRAPOLATION: f64 = 2.0;

/// What the fast loop hands back to the scene.
#[derive(Debug)]
pub struct ToolReport {
    /// A copy of the tool.
    pub body: Box<dyn Body>,
    /// Its coupling to the device.
    pub guide: Option<Guide>,
    /// Shear displacement of each contact, m.
    pub shears: Vec<((ColliderId, ColliderId, u64), Vec3)>,
    /// Force of all constraints on the tool, N.
    pub force: Vec3,
    /// Number of the problem that it belongs to.
    pub problem: u64,
    /// What was last sent to the device.
    pub sent: Wrench,
}

impl Clone for ToolReport {
    fn clone(&self) -> Self {
        Self { body: self.body.boxed_clone(), shears: self.shears.clone(), ..*self }
    }
}

/// The tool in the fast loop.
#[derive(Debug)]
pub struct FastTool {
    body: Box<dyn Body>,
    frame: usize,
    gravity: Vec3,
    number: u64,
    guide: Option<Guide>,
    /// Length of the last step, s.
    h: f64,
    /// Forces and shear displacements of the last step, and their constraints.
    forces: Vec<f64>,
    kept: Vec<Kept>,
    before: Vec<Kept>,
    blocks: Vec<DualBlock>,
    rows: Vec<f64>,
    solved: Vec<f64>,
    w: Vec<f64>,
    free: Vec<f64>,
    dv: Vec<f64>,
    yielding: Yielding,
    sweeps: DualSweeps,
    swept: Swept,
    force: Vec3,
    /// Further forces on the degrees of freedom, N or N·m.
    load: Vec<f64>,
    /// Whether closed contacts are solved directly, whatever the number of degrees of freedom.
    direct: bool,
}

/// State of a constraint between two steps.
#[derive(Clone, Copy, Debug)]
struct Kept {
    key: (ColliderId, ColliderId, u64),
    contact: bool,
    shear: Vec3,
    /// Force on the first body, N.
    force: Vec3,
}

impl FastTool {
    /// A copy of a body that is coupled at a frame.
    pub fn new(body: &dyn Body, frame: usize, gravity: Vec3) -> Self {
        Self {
            body: body.boxed_clone(),
            frame,
            gravity,
            number: 0,
            guide: None,
            h: 0.0,
            forces: Vec::new(),
            kept: Vec::new(),
            before: Vec::new(),
            blocks: Vec::new(),
            rows: Vec::new(),
            solved: Vec::new(),
            w: Vec::new(),
            free: Vec::new(),
            dv: Vec::new(),
            yielding: Yielding::default(),
            sweeps: DualSweeps::default(),
            swept: Swept::default(),
            force: Vec3::zeros(),
            load: Vec::new(),
            direct: false,
        }
    }

    /// One step to the time `now + h` (H1–H6). The solver ends early when `go_on` returns false.
    pub fn step(&mut self, problem: &ToolProblem, guide: Option<Guide>, now: f64, h: f64, go_on: impl FnMut() -> bool) {
        if problem.number != self.number {
            self.take_over(problem);
        }
        (self.guide, self.h) = (guide, h);
        self.body.set_guide(self.frame, guide.as_ref());
        let step = Step { h, time: now, gravity: self.gravity, refactor: RefactorPolicy::default() };
        self.body.part_mut(0).free_motion(&step);
        self.push(h);
        self.yielding.relax(&mut *self.body, h);
        self.fill_rows(problem);
        self.fill_compliance(problem, h);
        self.fill_violations(problem, now, h);
        self.sweeps.sweeps_only = !self.direct && self.body.part(0).dofs() > 6;
        self.swept =
            self.sweeps.solve(&self.w, &self.free, &self.blocks, &mut self.forces, SWEEP_TOLERANCE, MAX_SWEEPS, go_on);
        self.correct(h);
        self.keep(problem);
    }

    /// Adds the velocity that the further forces cause.
    fn push(&mut self, h: f64) {
        if self.load.iter().all(|f| *f == 0.0) {
            return;
        }
        self.dv.clear();
        self.dv.extend(self.load.iter().map(|f| h * f));
        let part = self.body.part_mut(0);
        part.prepare_inverse();
        part.apply_inverse(&mut self.dv);
        part.change_velocity(&self.dv);
    }

    /// Solves closed contacts directly, whatever the number of degrees of freedom.
    pub(super) fn solve_directly(&mut self) {
        self.direct = true;
    }

    /// Gravity, m/s².
    pub(super) fn gravity(&self) -> &Vec3 {
        &self.gravity
    }

    /// Sets further forces on the degrees of freedom of the first part, N or N·m.
    pub(super) fn set_load(&mut self, load: &[f64]) {
        self.load.clear();
        self.load.extend_from_slice(load);
    }

    /// Forces of the last step, if it was of this problem.
    pub(super) fn forces_of(&self, problem: &ToolProblem) -> Option<&[f64]> {
        (self.number == problem.number && self.forces.len() == problem.rows()).then_some(&self.forces[..])
    }

    /// The tool, mutable.
    pub(super) fn body_mut(&mut self) -> &mut dyn Body {
        &mut *self.body
    }

    /// Matches the constraints of a new problem with those of the last one.
    fn take_over(&mut self, problem: &ToolProblem) {
        self.number = problem.number;
        std::mem::swap(&mut self.kept, &mut self.before);
        self.kept.clear();
        self.forces.clear();
        self.blocks.clear();
        let mut row = 0;
        for c in &problem.constraints {
            let own = &problem.forces[row..row + c.rows()];
            let scene: Vec3 = c.directions.iter().zip(own).map(|(d, f)| *f * d).sum();
            let new = Kept { key: c.key, contact: c.contact, shear: c.shear, force: scene };
            let known = self.before.iter().find(|k| k.key == c.key && k.contact == c.contact);
            // Forces of attachments are those of the scene: their rows may have turned.
            let kept = known.filter(|_| c.contact).copied().unwrap_or(new);
            self.forces.extend(c.directions[..c.rows()].iter().map(|d| d.dot(&kept.force)));
            self.kept.push(kept);
            let (contact, friction, shear_length) = (c.contact, c.friction, c.shear_length);
            self.blocks.push(DualBlock { first: row, contact, friction, shear_length });
            row += c.rows();
        }
        self.yielding.take_over(&mut *self.body, problem);
    }

    /// Rows of the constraints for the degrees of freedom of the tool, and `A⁻¹` times them.
    fn fill_rows(&mut self, problem: &ToolProblem) {
        let (dofs, body) = (self.body.part(0).dofs(), &self.body);
        self.rows.clear();
        self.rows.resize(problem.rows() * dofs, 0.0);
        let mut first = 0;
        for c in &problem.constraints {
            let rows = &mut self.rows[first * dofs..];
            body.columns(&c.point, &body.position(&c.point), &mut |part, dof, velocity| {
                if part > 0 {
                    return;
                }
                for (k, direction) in c.directions[..c.rows()].iter().enumerate() {
                    rows[k * dofs + dof] += c.sign * direction.dot(&velocity);
                }
            });
            first += c.rows();
        }
        self.solved.clear();
        self.solved.extend_from_slice(&self.rows);
        self.body.part_mut(0).prepare_inverse();
        self.body.part(0).apply_inverse(&mut self.solved);
    }

    /// `W = W_v + W_c` and the compliance of the constraints (H4).
    fn fill_compliance(&mut self, problem: &ToolProblem, h: f64) {
        let (n, dofs) = (problem.rows(), self.body.part(0).dofs());
        self.w.clear();
        self.w.extend_from_slice(&problem.compliance);
        for i in 0..n {
            // A row has few entries: a contact moves two nodes of a beam (Peterlik 2011, §IV.B).
            let row = &self.rows[i * dofs..(i + 1) * dofs];
            let first = row.iter().position(|x| *x != 0.0).unwrap_or(dofs);
            let last = row.iter().rposition(|x| *x != 0.0).map_or(first, |last| last + 1);
            for j in 0..=i {
                let other = &self.solved[j * dofs + first..j * dofs + last];
                let own = h * h * row[first..last].iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                self.w[i * n + j] += own;
                if j != i {
                    self.w[j * n + i] += own;
                }
            }
        }
        self.yielding.add_compliance(&*self.body, problem, &mut self.w);
        let mut first = 0;
        for c in &problem.constraints {
            self.w[first * n + first] += c.softness;
            first += c.rows();
        }
    }

    /// Violations at the end of the step without constraint forces (H3). Tangents continue from the shear displacement of the last step.
    fn fill_violations(&mut self, problem: &ToolProblem, now: f64, h: f64) {
        let n = problem.rows();
        let age = (now + h - problem.time).clamp(-MAX_EXTRAPOLATION * problem.step, MAX_EXTRAPOLATION * problem.step);
        self.free.clear();
        for (c, kept) in problem.constraints.iter().zip(&self.kept) {
            let first = self.free.len();
            let pushed = |row: usize, forces: &[f64]| {
                let w = &problem.compliance[row * n..(row + 1) * n];
                w.iter().zip(forces).map(|(w, f)| w * f).sum::<f64>()
            };
            let place = self.body.position(&c.point);
            let velocity = self.body.velocity(&c.point, &place);
            let apart = c.sign * (place - c.place + h * velocity) + age * c.environment;
            let base = c.gap - c.softness * problem.forces[first] - pushed(first, &problem.forces);
            self.free.push(base + c.directions[0].dot(&apart));
            if c.contact {
                let moved = kept.shear + h * (c.sign * velocity + c.environment);
                for (k, direction) in c.directions.iter().enumerate().skip(1) {
                    self.free.push(direction.dot(&moved) - pushed(first + k, &self.forces));
                }
            }
        }
    }

    /// Moves the tool by the forces (H6).
    fn correct(&mut self, h: f64) {
        let dofs = self.body.part(0).dofs();
        self.dv.clear();
        self.dv.resize(dofs, 0.0);
        for (row, force) in self.solved.chunks_exact(dofs.max(1)).zip(&self.forces) {
            self.dv.iter_mut().zip(row).for_each(|(dv, r)| *dv += h * force * r);
        }
        let part = self.body.part_mut(0);
        part.change_velocity(&self.dv);
        part.advance(h);
        self.yielding.load(&mut *self.body, &self.forces, h);
        self.body.update();
    }

    fn keep(&mut self, problem: &ToolProblem) {
        let mut first = 0;
        for (c, kept) in problem.constraints.iter().zip(&mut self.kept) {
            let own = &self.forces[first..first + c.rows()];
            kept.force = c.directions.iter().zip(own).map(|(d, f)| *f * d).sum();
            // The spring has the stiffness λ_n/ℓ; what it does not hold has slipped.
            let spring = if c.contact && own[0] > 0.0 { c.shear_length / own[0] } else { 0.0 };
            kept.shear = -spring * c.directions.iter().zip(own).skip(1).map(|(d, f)| *f * d).sum::<Vec3>();
            first += c.rows();
        }
        self.force = problem.force_on_tool(&self.forces);
    }

    /// Pose and velocities of the frame that is coupled.
    pub fn frame(&self) -> (Pose, [Vec3; 2]) {
        self.body.guided_frame(self.frame).unwrap_or((self.body.pose(), [Vec3::zeros(); 2]))
    }

    /// Number of the frame that is coupled.
    pub fn frame_number(&self) -> usize {
        self.frame
    }

    /// The tool.
    pub fn body(&self) -> &dyn Body {
        &*self.body
    }

    /// Force of all constraints on the tool in the last step, N.
    pub fn force(&self) -> &Vec3 {
        &self.force
    }

    /// How the solver ended.
    pub fn swept(&self) -> &Swept {
        &self.swept
    }

    /// Whether the state is finite.
    pub fn is_finite(&self) -> bool {
        self.body.is_finite() && self.force.iter().all(|x| x.is_finite())
    }

    /// A report of the present state.
    pub fn report(&self) -> ToolReport {
        let mut report = ToolReport {
            body: self.body.boxed_clone(),
            guide: None,
            shears: Vec::new(),
            force: Vec3::zeros(),
            problem: 0,
            sent: Wrench::default(),
        };
        self.fill_report(&mut report);
        report
    }

    /// Fills a report, in the memory of an older one.
    pub fn fill_report(&self, report: &mut ToolReport) {
        report.body.copy_state(&*self.body);
        self.yielding.complete(&mut *report.body);
        (report.force, report.problem) = (self.force, self.number);
        // The sample of the device is as old as the step.
        report.guide = self.guide.map(|guide| guide.after(self.h));
        report.shears.clear();
        report.shears.extend(self.kept.iter().filter(|k| k.contact).map(|k| (k.key, k.shear)));
    }

    /// Puts the tool where another copy is, at rest in the loop: its forces are forgotten.
    pub fn reset(&mut self, body: &dyn Body) {
        self.body.copy_state(body);
        self.yielding.clear();
        self.kept.clear();
        self.number = 0;
    }
}
