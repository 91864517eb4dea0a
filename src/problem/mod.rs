//! Rank 1: the contact problem. Rows, the Delassus operator and the laws of contact; no bodies.
//!
//! With forces `λ` along the rows, the row velocities are `v = W λ + v_free`, where `W` is the Delassus operator times
//! the step (Talvas 2015, eq. 4; Duriez 2006, eq. 17). Each block of rows has a law that relates its `λ` to its `v`.
//!
//! A point of 1 kg that falls on a plane with friction: three rows, `W = h/m`.
//!
//! ```
//! use fingerpad::problem::{ContactProblem, Law};
//! use fingerpad::solver::GaussSeidel;
//!
//! let (h, mass) = (0.01, 1.0);
//! let mut problem = ContactProblem { delassus: vec![0.0; 9], free: vec![-0.1, 0.02, 0.0], laws: vec![Law::Coulomb { mu: 0.5 }] };
//! (0..3).for_each(|i| problem.delassus[4 * i] = h / mass);
//! let mut forces = vec![0.0; 3];
//! GaussSeidel::default().solve(&problem, &mut forces, || true);
//! assert!((forces[0] - 10.0).abs() < 1e-9, "the normal force stops it");
//! assert!((forces[1] + 2.0).abs() < 1e-9, "and friction, as 2 N are less than μ times 10 N");
//! ```

mod contensou;
mod convex;
mod coordinate;
mod file;
mod guide;

pub use contensou::{ContactPatch, FrictionModel, PatchPoint};
pub use convex::{
    Compliance, ContactTerm, ConvexProblem, CubicSpring, Entry, EqualityTerm, FrictionPatch, FrictionState,
    JacobianSegment, NormalLaw, Quadratic,
};
pub use coordinate::{CoordinateLaw, CoordinateTerm};
pub use file::ProblemFault;
pub use guide::{Guide, GuideTerm};

/// The law of a block of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `v = 0` for any force: an attachment with this many rows.
    Equality(usize),
    /// One row: `0 ≤ λ ⟂ v ≥ 0` (Signorini on velocities; Talvas 2015, eq. 9).
    Frictionless,
    /// Three rows, normal and two tangents: Signorini, and Coulomb with the exact cone `|λ_T| ≤ μ λ_n`.
    Coulomb {
        /// Friction coefficient.
        mu: f64,
    },
    /// Four rows, normal, two tangents and the spin about the normal: an aggregate of contacts with Coulomb–Contensou friction.
    Aggregate {
        /// Friction coefficient.
        mu: f64,
        /// Positions of its contacts and the distribution of the normal force.
        patch: ContactPatch,
        /// Friction set.
        friction: FrictionModel,
    },
}

impl Law {
    /// Number of rows of the block.
    pub fn rows(&self) -> usize {
        match self {
            Law::Equality(rows) => *rows,
            Law::Frictionless => 1,
            Law::Coulomb { .. } => 3,
            Law::Aggregate { .. } => 4,
        }
    }
}

/// A contact problem: `v = W λ + v_free` and a law for each block of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactProblem {
    /// `W`, row by row; symmetric and positive semidefinite.
    pub delassus: Vec<f64>,
    /// Velocities along the rows without constraint forces.
    pub free: Vec<f64>,
    /// The laws, in the order of their rows.
    pub laws: Vec<Law>,
}

impl ContactProblem {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.free.len()
    }

    /// An entry of `W`.
    pub fn w(&self, row: usize, column: usize) -> f64 {
        self.delassus[row * self.rows() + column]
    }

    /// First row of each block, with its law.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &Law)> {
        let mut next = 0;
        self.laws.iter().map(move |law| {
            let first = next;
            next += law.rows();
            (first, law)
        })
    }

    /// Velocity along a row for some forces.
    pub fn velocity(&self, row: usize, forces: &[f64]) -> f64 {
        let n = self.rows();
        let w = &self.delassus[row * n..(row + 1) * n];
        self.free[row] + w.iter().zip(forces).map(|(w, f)| w * f).sum::<f64>()
    }

    /// Whether sizes are consistent, numbers are finite, the diagonal is positive and coefficients are valid.
    pub fn check(&self) -> Result<(), ProblemFault> {
        let n = self.rows();
        let rows: usize = self.laws.iter().map(Law::rows).sum();
        if rows != n || self.delassus.len() != n * n {
            return Err(ProblemFault::Size { laws: rows, free: n, delassus: self.delassus.len() });
        }
        if let Some(at) = self.delassus.iter().chain(&self.free).position(|x| !x.is_finite()) {
            return Err(ProblemFault::NotFinite { at });
        }
        for (first, law) in self.blocks() {
            for row in first..first + law.rows() {
                if self.w(row, row) <= 0.0 {
                    return Err(ProblemFault::Diagonal { row, value: self.w(row, row) });
                }
            }
            if let Law::Coulomb { mu } | Law::Aggregate { mu, .. } = law
                && !(0.0..=1e6).contains(mu)
            {
                return Err(ProblemFault::Friction { row: first, mu: *mu });
            }
            if let Law::Aggregate { patch, .. } = law
                && !patch.is_sound()
            {
                return Err(ProblemFault::Patch { row: first });
            }
        }
        Ok(())
    }
}
