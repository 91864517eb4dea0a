use std::time::Instant;

use nalgebra::{DMatrix, DVector};

use crate::problem::{ContactProblem, Law};
use crate::solver::{
    GaussSeidel, LcpFault, ProximalNewton, ProximalSolution, SolverStatus, block_sweeps, frictionless_lcp, lemke,
    natural_map_residual, principal_pivoting, pyramid_lcp,
};

/// Numbers of sides of the friction pyramids that approximate the cone.
const PYRAMID_SIDES: [usize; 3] = [4, 8, 16];
/// Complementarity problems with more unknowns than this may take minutes.
const MOST_UNKNOWNS: usize = 1000;

/// Target natural-map residual of plain sweeps, and their maximum number.
const PLAIN_SWEEPS: (f64, usize) = (1e-9, 5000);

/// Solver by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// Block Gauss–Seidel with Newton's method or Anderson's acceleration, as in the step.
    GaussSeidel,
    /// Plain sweeps of block Gauss–Seidel.
    Sweeps,
    /// The proximal point method with Newton's method on the equations of Alart and Curnier.
    Proximal,
}

/// Result of one solver; `None` if it does not support a law of the problem.
pub fn solve_by(problem: &ContactProblem, which: Which) -> Option<SolverResult> {
    match which {
        Which::GaussSeidel => Some(gauss_seidel(problem, false)),
        Which::Sweeps => {
            by_residual("plain sweeps", problem, |f| block_sweeps(problem, f, PLAIN_SWEEPS.0, PLAIN_SWEEPS.1))
        }
        Which::Proximal => by_residual("proximal Newton", problem, |f| ProximalNewton::default().solve(problem, f)),
    }
}

fn by_residual(
    name: &str,
    problem: &ContactProblem,
    solve: impl FnOnce(&mut [f64]) -> Option<ProximalSolution>,
) -> Option<SolverResult> {
    let mut forces = vec![0.0; problem.rows()];
    let start = Instant::now();
    let solution = solve(&mut forces)?;
    let ms = 1e3 * start.elapsed().as_secs_f64();
    Some(SolverResult {
        solver: name.into(),
        is_reference: false,
        frictionless: false,
        status: if solution.converged { "converged" } else { "not converged" }.into(),
        solved: solution.converged,
        iterations: Some(solution.iterations),
        residual: None,
        natural: Some(solution.residual),
        ms,
        forces,
        force_difference: 0.0,
        velocity_difference: 0.0,
    })
}

/// Result of one solver.
pub struct SolverResult {
    /// Name.
    pub solver: String,
    /// Whether it is the reference of the comparison.
    pub is_reference: bool,
    /// Whether friction was omitted, so that only the normal rows were solved.
    pub frictionless: bool,
    /// Status as text.
    pub status: String,
    /// Whether there is a solution.
    pub solved: bool,
    /// Number of sweeps of Gauss–Seidel.
    pub iterations: Option<usize>,
    /// Residual of Gauss–Seidel.
    pub residual: Option<f64>,
    /// Natural-map residual; only for problems with point contacts alone.
    pub natural: Option<f64>,
    /// Time, ms.
    pub ms: f64,
    /// Forces along the rows of the problem.
    pub forces: Vec<f64>,
    /// Difference from the forces of Gauss–Seidel on the same rows, relative to them.
    pub force_difference: f64,
    /// Largest velocity difference, relative to the largest free velocity. It stays small where the force distribution
    /// is not unique.
    pub velocity_difference: f64,
}

/// The results, and notes on solvers that do not apply.
pub fn solve_all(problem: &ContactProblem) -> (Vec<SolverResult>, Vec<String>) {
    let mut results = vec![gauss_seidel(problem, false)];
    let mut notes = Vec::new();
    for which in [Which::Sweeps, Which::Proximal] {
        let result = solve_by(problem, which).map(|result| result.compared(&results[0].forces, problem));
        results.extend(result);
    }
    if problem.laws.iter().all(|law| matches!(law, Law::Coulomb { .. })) {
        pyramids(problem, &mut results, &mut notes);
    } else {
        notes.push("no pyramids: they approximate the cone of point contacts, and the problem has other laws".into());
    }
    let (m, q, rows) = frictionless_lcp(problem);
    if rows.is_empty() {
        notes.push("nothing to solve without friction: the problem has no contacts".into());
        return (results, notes);
    }
    if problem.laws.iter().any(|law| matches!(law, Law::Equality(_))) {
        notes.push("without friction: attachments are omitted too".into());
    }
    let smooth = without_friction(&m, &q);
    let reference = results.len();
    results.push(gauss_seidel(&smooth, true));
    for (name, pivot) in [("principal pivoting", principal_pivoting as Pivot), ("Lemke", lemke)] {
        let start = Instant::now();
        let solved = pivot(&m, &q).map(|z| z.as_slice().to_vec());
        let result = complementarity(name.into(), true, start, solved, rows.len());
        let compared = result.compared(&results[reference].forces, &smooth);
        results.push(compared);
    }
    (results, notes)
}

type Pivot = fn(&DMatrix<f64>, &DVector<f64>) -> Result<DVector<f64>, LcpFault>;

fn pyramids(problem: &ContactProblem, results: &mut Vec<SolverResult>, notes: &mut Vec<String>) {
    for sides in PYRAMID_SIDES {
        let unknowns = (sides + 2) * problem.laws.len();
        if unknowns > MOST_UNKNOWNS {
            notes.push(format!("no pyramids of {sides} sides: {unknowns} unknowns, more than {MOST_UNKNOWNS}"));
            continue;
        }
        let start = Instant::now();
        let Some(solved) = pyramid_lcp(problem, sides) else { continue };
        let solved = solved.map(|solution| solution.forces);
        let result = complementarity(format!("pyramid, {sides} sides"), false, start, solved, problem.rows());
        let compared = result.compared(&results[0].forces, problem);
        results.push(compared);
    }
}

fn gauss_seidel(problem: &ContactProblem, frictionless: bool) -> SolverResult {
    let mut forces = vec![0.0; problem.rows()];
    let start = Instant::now();
    let solution = GaussSeidel::default().solve(problem, &mut forces, || true);
    let ms = 1e3 * start.elapsed().as_secs_f64();
    let status = match &solution.status {
        SolverStatus::Converged => "converged".into(),
        SolverStatus::IterationLimit | SolverStatus::Stalled => "not converged".into(),
        SolverStatus::Deadline => "out of time".into(),
        SolverStatus::Bad(fault) => fault.to_string(),
    };
    SolverResult {
        solver: "Gauss–Seidel".into(),
        is_reference: true,
        frictionless,
        status,
        solved: solution.status == SolverStatus::Converged,
        iterations: Some(solution.iterations),
        residual: Some(solution.residual),
        natural: natural_map_residual(problem, &forces),
        ms,
        forces,
        force_difference: 0.0,
        velocity_difference: 0.0,
    }
}

fn complementarity(
    solver: String,
    frictionless: bool,
    start: Instant,
    solved: Result<Vec<f64>, LcpFault>,
    rows: usize,
) -> SolverResult {
    let ms = 1e3 * start.elapsed().as_secs_f64();
    let (status, forces) = match &solved {
        Ok(forces) => ("solved".into(), forces.clone()),
        Err(fault) => (fault.to_string(), vec![0.0; rows]),
    };
    SolverResult {
        solver,
        is_reference: false,
        frictionless,
        status,
        solved: solved.is_ok(),
        iterations: None,
        residual: None,
        natural: None,
        ms,
        forces,
        force_difference: 0.0,
        velocity_difference: 0.0,
    }
}

impl SolverResult {
    /// Adds the differences from the forces of another solver on the same problem.
    fn compared(mut self, reference: &[f64], problem: &ContactProblem) -> Self {
        let norm = |forces: &mut dyn Iterator<Item = f64>| forces.map(|f| f * f).sum::<f64>().sqrt();
        let apart = norm(&mut self.forces.iter().zip(reference).map(|(a, b)| a - b));
        let size = norm(&mut reference.iter().copied());
        self.force_difference = if apart == 0.0 { 0.0 } else { apart / size.max(f64::MIN_POSITIVE) };
        let free = problem.free.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let change = |row: usize| (problem.velocity(row, &self.forces) - problem.velocity(row, reference)).abs();
        let most = (0..problem.rows()).map(change).fold(0.0, f64::max);
        if self.solved && !self.frictionless {
            self.natural = natural_map_residual(problem, &self.forces);
        }
        self.velocity_difference = if most == 0.0 { 0.0 } else { most / free.max(f64::MIN_POSITIVE) };
        self
    }
}

/// The normal rows of a problem as a contact problem of their own.
fn without_friction(m: &DMatrix<f64>, q: &DVector<f64>) -> ContactProblem {
    // Symmetric, so the order of rows and columns does not matter.
    ContactProblem {
        delassus: m.as_slice().to_vec(),
        free: q.as_slice().to_vec(),
        laws: vec![Law::Frictionless; q.len()],
    }
}
