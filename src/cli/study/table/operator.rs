use crate::assets::png_bytes;
use crate::cli::study::soft_table::{Build, sole_problem};
use crate::problem::ContactProblem;

const LEGS: usize = 4;
/// Directions of a contact: the normal and two tangents.
const CONTACT_DIRECTIONS: usize = 3;
/// Colours of the directions: red, blue and green.
const COLOURS: [[f64; 3]; CONTACT_DIRECTIONS] = [[1.0, 0.15, 0.1], [0.2, 0.35, 1.0], [0.1, 0.9, 0.2]];
/// Pixels per entry, and between two operators.
const ENTRY_PIXELS: usize = 4;
const OPERATOR_GAP: usize = 16;
/// Decades from the brightest entry to black.
const DECADES: f64 = 2.5;

/// The Delassus operator of the table's soles, ordered by leg.
pub struct Operator {
    /// Variant of the table.
    pub build: Build,
    problem: ContactProblem,
}

/// Coupling of the legs: norm of the blocks between legs, relative to those within a leg.
pub struct LegCoupling {
    /// Adjacent legs.
    pub side_by_side: f64,
    /// Diagonally opposite legs.
    pub diagonal: f64,
    /// Normal directions only, adjacent legs.
    pub normals: f64,
    /// Tangential directions only, adjacent legs.
    pub tangents: f64,
}

impl Operator {
    /// The operator of all nodes of the soles.
    pub fn new(build: Build) -> anyhow::Result<Self> {
        Ok(Self { build, problem: sole_problem(build, usize::MAX, 0.0)? })
    }

    /// Number of contacts of all legs.
    pub fn contacts(&self) -> usize {
        self.problem.laws.len()
    }

    /// Row of a direction of a contact of a leg.
    fn row(&self, leg: usize, direction: usize, contact: usize) -> usize {
        CONTACT_DIRECTIONS * (leg * self.contacts() / LEGS + contact) + direction
    }

    /// Norm of the block between two legs over some directions.
    fn norm(&self, a: usize, b: usize, directions: &[usize]) -> f64 {
        let rows = |leg: usize| {
            let places = directions.iter().flat_map(|&d| (0..self.contacts() / LEGS).map(move |c| (d, c)));
            places.map(move |(d, c)| self.row(leg, d, c)).collect::<Vec<_>>()
        };
        let (rows, columns) = (rows(a), rows(b));
        let squares = rows.iter().flat_map(|&r| columns.iter().map(move |&c| self.problem.w(r, c).powi(2)));
        squares.sum::<f64>().sqrt()
    }

    /// Coupling of the legs.
    pub fn coupling(&self) -> LegCoupling {
        const SIDE_BY_SIDE: [(usize, usize); 4] = [(0, 1), (2, 3), (0, 2), (1, 3)];
        const DIAGONAL: [(usize, usize); 2] = [(0, 3), (1, 2)];
        let mean = |pairs: &[(usize, usize)], directions: &[usize]| {
            let part = |&(a, b): &(usize, usize)| {
                let within = self.norm(a, a, directions) * self.norm(b, b, directions);
                self.norm(a, b, directions) / within.sqrt()
            };
            pairs.iter().map(part).sum::<f64>() / pairs.len() as f64
        };
        LegCoupling {
            side_by_side: mean(&SIDE_BY_SIDE, &[0, 1, 2]),
            diagonal: mean(&DIAGONAL, &[0, 1, 2]),
            normals: mean(&SIDE_BY_SIDE, &[0]),
            tangents: mean(&SIDE_BY_SIDE, &[1, 2]),
        }
    }

    fn largest(&self) -> f64 {
        self.problem.delassus.iter().fold(0.0f64, |most, w| most.max(w.abs()))
    }

    /// Row of the operator and its direction at a position in the picture: ordered by leg, then by direction, so that
    /// each pair of directions is one area.
    fn at(&self, place: usize) -> (usize, usize) {
        let per_leg = self.contacts() / LEGS;
        let (leg, within) = (place / (CONTACT_DIRECTIONS * per_leg), place % (CONTACT_DIRECTIONS * per_leg));
        let direction = within / per_leg;
        (self.row(leg, direction, within % per_leg), direction)
    }
}

/// Operators side by side, a square of pixels per entry (Duriez 2006, fig. 9 and 11). Entries between two normals are
/// red, between tangents blue and green, mixed otherwise; brightness is the logarithm of the magnitude.
pub fn picture(operators: &[Operator]) -> anyhow::Result<Vec<u8>> {
    let side = operators.iter().map(|o| o.problem.rows()).max().unwrap_or(0) * ENTRY_PIXELS;
    let width = operators.len() * (side + OPERATOR_GAP) + OPERATOR_GAP;
    let height = side + 2 * OPERATOR_GAP;
    let largest = operators.iter().map(Operator::largest).fold(0.0, f64::max);
    let mut pixels = vec![40; 3 * width * height];
    for (i, operator) in operators.iter().enumerate() {
        let left = OPERATOR_GAP + i * (side + OPERATOR_GAP);
        for y in 0..operator.problem.rows() * ENTRY_PIXELS {
            for x in 0..operator.problem.rows() * ENTRY_PIXELS {
                let ((row, d), (column, e)) = (operator.at(y / ENTRY_PIXELS), operator.at(x / ENTRY_PIXELS));
                let brightness = brightness(operator.problem.w(row, column), largest);
                let start = 3 * ((y + OPERATOR_GAP) * width + left + x);
                for channel in 0..3 {
                    let colour = 0.5 * (COLOURS[d][channel] + COLOURS[e][channel]);
                    pixels[start + channel] = (255.0 * brightness * colour).round() as u8;
                }
            }
        }
    }
    Ok(png_bytes(width as u32, height as u32, &pixels)?)
}

/// Brightness from 0 (negligible) to 1 (the largest entry).
fn brightness(entry: f64, largest: f64) -> f64 {
    let part = entry.abs() / largest.max(f64::MIN_POSITIVE);
    if part > 0.0 { (1.0 + part.log10() / DECADES).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_place() {
        let operator = Operator::new(Build::Plain).expect("a table on the floor");
        let mut rows: Vec<usize> = (0..operator.problem.rows()).map(|place| operator.at(place).0).collect();
        assert!((0..rows.len()).all(|place| operator.at(place).0 % CONTACT_DIRECTIONS == operator.at(place).1));
        rows.sort_unstable();
        assert!(rows.iter().enumerate().all(|(i, row)| i == *row));
    }

    #[test]
    fn brightness_follows_the_logarithm() {
        assert_eq!((brightness(2.0, 2.0), brightness(0.0, 2.0), brightness(1e-9, 2.0)), (1.0, 0.0, 0.0));
        assert!((brightness(-0.2, 2.0) - (1.0 - 1.0 / DECADES)).abs() < 1e-12);
        assert_eq!(brightness(0.0, 0.0), 0.0);
    }
}
