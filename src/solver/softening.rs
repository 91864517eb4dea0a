use crate::problem::{ConvexProblem, NormalLaw};

/// Continuation in the compliance of hard contacts, for problems in which Newton's method alone is slow.
///
/// The spring of a hard contact is several orders of magnitude stiffer than the bodies behind it, `c ≪ w = n J A⁻¹ Jᵀ n h²`. In a pile of
/// bodies the Newton step changes the state of many contacts, and the line search stops at the kink of one after another. With the
/// compliance `σ w` instead, the kinks are as smooth as the rest of the cost and a few iterations suffice. `σ` decreases from one to
/// zero; each level starts at the solution of the last one, where most contacts have their final state. The springs are linear, so with
/// the right states the first step of a level solves it.
///
/// The shear springs of friction are softened likewise. The last level is the problem itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Softening {
    /// `σ`; zero if the problem is unchanged.
    pub level: f64,
    /// Iterations done when this level began.
    since: usize,
    used: bool,
    /// Hard contacts with their compliance and `w`, m/N.
    contacts: Vec<(u32, f64, f64)>,
    /// Patches of hard contacts with their shear length, m, and mean `w`, m/N.
    patches: Vec<(u32, f64, f64)>,
}

/// Iterations of Newton's method before the continuation begins.
const PLAIN_ITERATIONS: usize = 6;

/// Number of hard contacts from which on it is worth it, if most contacts are hard.
const MANY: usize = 8;

/// Factor from level to level, and the last one above zero.
const FACTOR: f64 = 0.03;
const LAST_LEVEL: f64 = 1e-5;

/// First level, and first level after the friction bounds have changed.
const FIRST_LEVEL: f64 = 0.1;
const RESTART_LEVEL: f64 = 0.03;

/// A level ends after this many iterations, or when a full step is shorter than this, m.
const LEVEL_ITERATIONS: usize = 6;
const SHORT_STEP: f64 = 1e-5;

impl Softening {
    /// Prepares for a new problem.
    pub fn reset(&mut self) {
        (self.level, self.since, self.used) = (0.0, 0, false);
    }

    /// Call after each iteration. Returns whether the problem has changed or is not the original one.
    pub fn follow(&mut self, problem: &mut ConvexProblem, iterations: usize, full: bool, residual: f64) -> bool {
        if self.level == 0.0 {
            if !self.used && iterations >= PLAIN_ITERATIONS && residual > SHORT_STEP {
                self.start(problem, iterations);
            }
            return self.level > 0.0;
        }
        if iterations - self.since >= LEVEL_ITERATIONS || (full && residual <= SHORT_STEP) {
            let next = FACTOR * self.level;
            self.set(problem, if next >= LAST_LEVEL { next } else { 0.0 }, iterations);
        }
        true
    }

    /// Repeats the last levels after the friction bounds have changed, if the continuation was needed before.
    pub fn restart(&mut self, problem: &mut ConvexProblem, iterations: usize) {
        if self.used && self.is_worth_it(problem) {
            self.list(problem);
            self.set(problem, RESTART_LEVEL, iterations);
        }
    }

    /// Restores the original problem.
    pub fn end(&mut self, problem: &mut ConvexProblem) {
        if self.level > 0.0 {
            self.set(problem, 0.0, 0);
        }
    }

    fn start(&mut self, problem: &mut ConvexProblem, iterations: usize) {
        self.used = true;
        self.list(problem);
        if self.is_worth_it(problem) {
            self.set(problem, FIRST_LEVEL, iterations);
        }
    }

    fn is_worth_it(&self, problem: &ConvexProblem) -> bool {
        self.contacts.len() >= MANY && 2 * self.contacts.len() > problem.contacts.len()
    }

    fn set(&mut self, problem: &mut ConvexProblem, level: f64, iterations: usize) {
        (self.level, self.since) = (level, iterations);
        for &(i, softness, w) in &self.contacts {
            problem.contacts[i as usize].law.softness = softness.max(level * w);
        }
        for &(p, length, w) in &self.patches {
            let patch = &mut problem.patches[p as usize];
            patch.length = length.max(level * w * patch.pressure);
        }
    }

    /// Lists the hard contacts and estimates `w` by the diagonal of `A`.
    fn list(&mut self, problem: &ConvexProblem) {
        self.contacts.clear();
        self.patches.clear();
        let is_hard = |law: &NormalLaw| law.thickness.is_infinite() && law.backing.is_none();
        for (i, contact) in problem.contacts.iter().enumerate().filter(|(_, c)| is_hard(&c.law)) {
            let mut w = 0.0;
            for segment in &problem.segments[contact.segments[0] as usize..contact.segments[1] as usize] {
                let Some(own) = problem.quadratic.iter().find(|q| q.blocks == [segment.block; 2]) else { continue };
                let n = problem.sizes[segment.block as usize];
                for entry in &problem.entries[segment.entries[0] as usize..segment.entries[1] as usize] {
                    let diagonal = problem.quadratic_values[own.start + entry.local as usize * (n + 1)];
                    w += contact.normal.dot(&entry.column).powi(2) / diagonal;
                }
            }
            self.contacts.push((i as u32, contact.law.softness, w));
        }
        for (p, patch) in problem.patches().iter().enumerate() {
            let members = &problem.members[patch.members.clone()];
            let own = |m: &u32| self.contacts.binary_search_by_key(m, |(i, ..)| *i).ok().map(|k| self.contacts[k].2);
            let sum: Option<f64> = members.iter().map(own).sum();
            if let Some(sum) = sum {
                self.patches.push((p as u32, patch.length, sum / members.len().max(1) as f64));
            }
        }
    }
}
