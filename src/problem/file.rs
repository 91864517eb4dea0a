//! A contact problem as text, to run any solver on problems of the simulator.

use std::fmt::Write;

use super::{ContactPatch, ContactProblem, FrictionModel, Law, PatchPoint};

/// Why a contact problem cannot be solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemFault {
    /// Inconsistent sizes.
    #[error("the laws have {laws} rows, the free velocity {free}, and the Delassus operator {delassus} entries")]
    Size {
        /// Rows of the laws.
        laws: usize,
        /// Entries of the free velocity.
        free: usize,
        /// Entries of the operator.
        delassus: usize,
    },
    /// A non-finite number.
    #[error("entry {at} of the Delassus operator and free velocity is not finite")]
    NotFinite {
        /// Which.
        at: usize,
    },
    /// A row that no force can move.
    #[error("row {row} has {value} on the diagonal of the Delassus operator, which must be positive")]
    Diagonal {
        /// Which row.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A friction coefficient out of range.
    #[error("row {row} has the friction coefficient {mu}, which must be in the range 0 to 1e6")]
    Friction {
        /// First row of the block.
        row: usize,
        /// The coefficient.
        mu: f64,
    },
    /// A patch with invalid shares.
    #[error("row {row}: the shares of an aggregate must be non-negative and sum to one")]
    Patch {
        /// First row of the block.
        row: usize,
    },
    /// Invalid text.
    #[error("line {line}: expected {expected}")]
    Text {
        /// Which line, from 1.
        line: usize,
        /// What was expected.
        expected: &'static str,
    },
}

const FIRST_LINE: &str = "fingerpad contact problem 1";

impl FrictionModel {
    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            FrictionModel::Exact => "exact",
            FrictionModel::Paper => "paper",
            FrictionModel::Ellipsoid => "ellipsoid",
            FrictionModel::Coulomb => "coulomb",
        }
    }

    /// All of them.
    pub const ALL: [FrictionModel; 4] =
        [FrictionModel::Exact, FrictionModel::Paper, FrictionModel::Ellipsoid, FrictionModel::Coulomb];
}

impl ContactProblem {
    /// The problem as text. Numbers round-trip exactly.
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nlaws {}\n", self.laws.len());
        for law in &self.laws {
            // Writing to a string cannot fail.
            let _ = match law {
                Law::Equality(rows) => writeln!(text, "equality {rows}"),
                Law::Frictionless => writeln!(text, "frictionless"),
                Law::Coulomb { mu } => writeln!(text, "coulomb {mu:e}"),
                Law::Aggregate { mu, patch, friction } => {
                    let _ = write!(text, "aggregate {mu:e} {} {}", friction.name(), patch.points.len());
                    for p in &patch.points {
                        let _ = write!(text, " {:e} {:e} {:e}", p.share, p.place[0], p.place[1]);
                    }
                    writeln!(text)
                }
            };
        }
        let _ = writeln!(text, "free{}", numbers(&self.free));
        for row in self.delassus.chunks(self.rows().max(1)) {
            let _ = writeln!(text, "w{}", numbers(row));
        }
        text
    }

    /// Reads a problem back, and checks it.
    pub fn from_text(text: &str) -> Result<Self, ProblemFault> {
        let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim())).filter(|(_, l)| !l.is_empty());
        let fault = |line: usize, expected| ProblemFault::Text { line, expected };
        let mut next = |expected| lines.next().ok_or(fault(text.lines().count() + 1, expected));
        let (line, header) = next("the header `fingerpad contact problem 1`")?;
        if header != FIRST_LINE {
            return Err(fault(line, "the header `fingerpad contact problem 1`"));
        }
        let (line, count) = next("`laws N`")?;
        let count: usize = count.strip_prefix("laws ").and_then(|n| n.parse().ok()).ok_or(fault(line, "`laws N`"))?;
        let mut problem = Self::default();
        for _ in 0..count {
            let (line, words) = next("a law for each announced block")?;
            problem.laws.push(
                law(words).ok_or(fault(
                    line,
                    "`equality N`, `frictionless`, `coulomb MU` or `aggregate MU MODEL N P X Y …`",
                ))?,
            );
        }
        let (line, words) = next("`free V …`")?;
        problem.free = words.strip_prefix("free").and_then(parsed).ok_or(fault(line, "`free V …`"))?;
        for _ in 0..problem.free.len() {
            let (line, words) = next("`w W …`, one line a row")?;
            let row: Vec<f64> =
                words.strip_prefix('w').and_then(parsed).ok_or(fault(line, "`w W …`, one line a row"))?;
            if row.len() != problem.free.len() {
                return Err(fault(line, "as many numbers as `free` has"));
            }
            problem.delassus.extend(row);
        }
        problem.check()?;
        Ok(problem)
    }
}

fn numbers(values: &[f64]) -> String {
    values.iter().fold(String::new(), |mut text, x| {
        let _ = write!(text, " {x:e}");
        text
    })
}

fn parsed(words: &str) -> Option<Vec<f64>> {
    words.split_whitespace().map(|w| w.parse().ok()).collect()
}

fn law(words: &str) -> Option<Law> {
    let mut words = words.split_whitespace();
    let law = match words.next()? {
        "equality" => Law::Equality(words.next()?.parse().ok().filter(|n| (1..=1_000_000).contains(n))?),
        "frictionless" => Law::Frictionless,
        "coulomb" => Law::Coulomb { mu: words.next()?.parse().ok()? },
        "aggregate" => {
            let mu = words.next()?.parse().ok()?;
            let name = words.next()?;
            let friction = FrictionModel::ALL.into_iter().find(|m| m.name() == name)?;
            let count: usize = words.next()?.parse().ok()?;
            let values: Vec<f64> = words.by_ref().map(|w| w.parse().ok()).collect::<Option<_>>()?;
            if values.len() != count.checked_mul(3)? {
                return None;
            }
            let point = |v: &[f64]| PatchPoint { share: v[0], place: [v[1], v[2]] };
            Law::Aggregate { mu, patch: ContactPatch { points: values.chunks_exact(3).map(point).collect() }, friction }
        }
        _ => return None,
    };
    words.next().is_none().then_some(law)
}
