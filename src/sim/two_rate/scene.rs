use super::fast::ToolReport;
use crate::body::{BodyId, ColliderId};
use crate::contact::ToolProblem;
use crate::math::Vec3;
use crate::sim::{StepReport, World};

/// The slow loop's side of the two rates.
#[derive(Clone, Debug)]
pub struct SceneSide {
    tool: BodyId,
    frame: usize,
    steps: u64,
    free: FreeVelocities,
}

/// Velocities of the environment without its response to the change of forces in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeVelocities {
    /// Forces of the last step, by constraint.
    before: Vec<(ConstraintKey, bool, Vec3)>,
    change: Vec<f64>,
}

type ConstraintKey = (ColliderId, ColliderId, u64);

impl SceneSide {
    /// For a body of a world and one of its frames; `None` if it cannot be a tool.
    pub fn new(world: &mut World, tool: BodyId, frame: usize) -> Option<Self> {
        let body = world.bodies.get_mut(tool)?;
        let known = body.part_count() == 1 || body.deformation().is_some();
        let fits = known && body.guided_frame(frame).is_some() && body.set_guide(frame, None);
        (fits && world.parameters.contact.is_convex()).then(|| {
            world.set_tool(Some(tool));
            Self { tool, frame, steps: 0, free: FreeVelocities::default() }
        })
    }

    /// The tool.
    pub fn tool(&self) -> BodyId {
        self.tool
    }

    /// One step of the scene: copies the state of the fast tool (S1), steps the world (S2–S5) and fills the problem for the fast loop (S6).
    pub fn step(&mut self, world: &mut World, report: &ToolReport, problem: &mut ToolProblem) -> StepReport {
        if let Some(body) = world.bodies.get_mut(self.tool) {
            body.copy_state(&*report.body);
            body.set_guide(self.frame, report.guide.as_ref());
            body.update();
        }
        for (key, shear) in &report.shears {
            world.set_shear(*key, shear);
        }
        let done = world.step();
        self.steps += 1;
        world.hand_over(problem);
        problem.number = self.steps;
        self.free.remove_responses(problem);
        done
    }
}

impl FreeVelocities {
    /// Leaves the velocity of the environment that it would have under unchanged forces: `v − W (λ_T − λ_{T−H}) / H`. The fast loop adds the response to
    /// forces itself; with the whole velocity it would count twice.
    pub fn remove_responses(&mut self, problem: &mut ToolProblem) {
        self.change.clear();
        let mut row = 0;
        for c in &problem.constraints {
            let known = self.before.iter().find(|(key, contact, _)| *key == c.key && *contact == c.contact);
            let before = known.map_or_else(Vec3::zeros, |(_, _, force)| *force);
            let forces = &problem.forces[row..row + c.rows()];
            self.change.extend(forces.iter().zip(&c.directions).map(|(force, d)| force - d.dot(&before)));
            row += c.rows();
        }
        self.before.clear();
        let (n, mut row) = (problem.forces.len(), 0);
        for c in &mut problem.constraints {
            let count = c.rows();
            let forces = &problem.forces[row..row + count];
            self.before.push((c.key, c.contact, c.directions.iter().zip(forces).map(|(d, f)| *f * d).sum()));
            for k in 0..count {
                let w = &problem.compliance[(row + k) * n..(row + k + 1) * n];
                let moved: f64 = w.iter().zip(&self.change).map(|(w, f)| w * f).sum();
                c.environment -= moved / problem.step * c.directions[k];
            }
            row += count;
        }
    }
}
