use nalgebra::{Matrix2, Vector2};

use super::ball::solve_in_disc;
use super::kernels::invert;

/// A block of rows of a small contact problem on displacements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualBlock {
    /// Its first row.
    pub first: usize,
    /// Whether it is a contact with three rows, normal and two tangents. An attachment has one row.
    pub contact: bool,
    /// Friction coefficient.
    pub friction: f64,
    /// Shear length `ℓ`, m.
    pub shear_length: f64,
}

/// How the sweeps ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Swept {
    /// Sweeps done.
    pub sweeps: usize,
    /// Displacement by the largest change of a force in the last sweep, m.
    pub change: f64,
    /// Whether the change is below the tolerance.
    pub converged: bool,
}

/// Block Gauss–Seidel for `y = W λ + y_free` on displacements, with the laws of the convex problem in their dual form:
///
/// - attachment rows: `y = 0`, all together by a direct solve, since rows of a weld are nearly dependent;
/// - normals: `0 ≤ λ_n ⟂ y_n ≥ 0`; the compliance of the contact is on the diagonal of `W`;
/// - tangents: with the spring `λ_n/ℓ`, `y_t + ℓ/λ_n λ_t` is the slip, zero while `|λ_t| < μ λ_n` and against `λ_t` where they are equal.
///
/// Contacts of a stiff tool are coupled by its rigid motion far more than each yields by itself, and sweeps converge slowly then. So after some
/// sweeps the linear system of the contacts that are closed, with those that slide kept at the bound in their direction, is solved directly, as in Duriez
/// 2004, §4.2. The next sweeps correct which contacts these are.
///
/// It ends when a sweep changes little, or when the caller has no more time (Peterlik 2011, step H5). Any number of sweeps leaves forces that are
/// not tensile and inside the friction cone.
#[derive(Clone, Debug, Default)]
pub struct DualSweeps {
    /// No direct solves: for tools that yield more at each contact than they move as a whole, such as beams.
    pub sweeps_only: bool,
    equalities: Vec<usize>,
    inverse: Vec<f64>,
    work: Vec<f64>,
    errors: Vec<f64>,
    unknowns: Vec<Unknown>,
    system: Vec<f64>,
    /// Multiplications left for direct solves.
    left: usize,
}

/// An unknown of the direct solve: a row, and the rows that follow it with some factors, for a contact that slides.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    row: usize,
    /// Whether it is the normal force of a contact.
    normal: bool,
    /// Friction along both tangents per unit of the normal force.
    slide: [f64; 2],
    /// Compliance of the shear spring, m/N.
    spring: f64,
}

/// Sweeps before the first direct solve, and between two of them.
const SWEEPS_FIRST: usize = 6;
const SWEEPS_BETWEEN: usize = 3;

/// Force of a contact that has just been closed, N: it makes no difference, and has no friction yet.
const JUST_CLOSED: f64 = 1e-12;

/// Multiplications in direct solves at most: about as many as in 200 sweeps of thirty contacts.
const MOST_WORK: usize = 2_000_000;

impl DualSweeps {
    /// Improves `forces`, up to `sweeps` times while `go_on` allows it.
    #[expect(clippy::too_many_arguments, reason = "the problem and its limits")]
    pub fn solve(
        &mut self,
        w: &[f64],
        free: &[f64],
        blocks: &[DualBlock],
        forces: &mut [f64],
        tolerance: f64,
        sweeps: usize,
        mut go_on: impl FnMut() -> bool,
    ) -> Swept {
        let n = free.len();
        self.factor_equalities(w, n, blocks);
        self.left = MOST_WORK;
        let mut swept = Swept { converged: n == 0, ..Swept::default() };
        while swept.sweeps < sweeps && !swept.converged && go_on() {
            if !self.sweeps_only
                && self.left > 0
                && swept.sweeps >= SWEEPS_FIRST
                && (swept.sweeps - SWEEPS_FIRST).is_multiple_of(SWEEPS_BETWEEN)
            {
                self.solve_closed([w, free], blocks, forces, tolerance, &mut go_on);
            }
            swept.change = self.solve_equalities(w, free, forces);
            for block in blocks.iter().filter(|b| b.contact) {
                swept.change = swept.change.max(solve_contact(w, free, block, forces));
            }
            swept.sweeps += 1;
            // Attachments alone are solved exactly.
            swept.converged = swept.change <= tolerance || self.equalities.len() == n;
        }
        swept
    }

    /// Solves for the forces of the closed contacts and the attachments at once. On the way there contacts whose force vanishes are opened, one after the
    /// other, and at its end the one that overlaps most is closed (Lawson and Hanson's method for least squares). Then friction is corrected, contact by
    /// contact. Leaves the forces if the system is singular.
    fn solve_closed(
        &mut self,
        [w, free]: [&[f64]; 2],
        blocks: &[DualBlock],
        forces: &mut [f64],
        tolerance: f64,
        mut go_on: impl FnMut() -> bool,
    ) {
        loop {
            loop {
                if self.left == 0 || !go_on() {
                    return;
                }
                // A contact that opens shortens the way.
                if self.step_closed(w, free, blocks, forces) >= 1.0 {
                    break;
                }
            }
            let mut change = 0.0f64;
            for block in blocks.iter().filter(|b| b.contact) {
                change = change.max(solve_friction(w, free, block, forces));
            }
            let gap = |b: &DualBlock| displacement(w, free, forces, b.first, free.len());
            let open = blocks.iter().filter(|b| b.contact && forces[b.first] <= 0.0).map(|b| (gap(b), b.first));
            match open.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(gap, _)| *gap < -tolerance) {
                Some((_, row)) => forces[row] = JUST_CLOSED,
                None if change <= tolerance => break,
                None => {}
            }
        }
    }

    /// Moves the forces towards the solution of the linear system until a contact opens. Returns the part of the way.
    fn step_closed(&mut self, w: &[f64], free: &[f64], blocks: &[DualBlock], forces: &mut [f64]) -> f64 {
        self.unknowns.clear();
        for block in blocks {
            let i = block.first;
            let unknown = Unknown { row: i, normal: false, slide: [0.0; 2], spring: 0.0 };
            if !block.contact {
                self.unknowns.push(unknown);
            } else if forces[i] > 0.0 {
                let (normal, own) = (forces[i], Vector2::new(forces[i + 1], forces[i + 2]));
                let slides = own.norm() >= (1.0 - 1e-9) * block.friction * normal;
                let slide = if slides { [own.x / normal, own.y / normal] } else { [0.0; 2] };
                self.unknowns.push(Unknown { normal: true, slide, ..unknown });
                if !slides && normal > JUST_CLOSED {
                    let spring = block.shear_length / normal;
                    self.unknowns.extend([1, 2].map(|r| Unknown { row: i + r, spring, ..unknown }));
                }
            }
        }
        let (n, m) = (free.len(), self.unknowns.len());
        if m * m * m > self.left {
            self.left = 0;
            return 1.0;
        }
        self.system.clear();
        for (k, equation) in self.unknowns.iter().enumerate() {
            let row = &w[equation.row * n..(equation.row + 1) * n];
            let entry = |u: &Unknown| match u.slide {
                [0.0, 0.0] => row[u.row],
                [t, s] => row[u.row] + t * row[u.row + 1] + s * row[u.row + 2],
            };
            self.system.extend(self.unknowns.iter().map(entry));
            self.system[k * (m + 1) + k] += equation.spring;
            self.system.push(-free[equation.row]);
        }
        self.left -= m * m * m;
        if !eliminate(&mut self.system, m) {
            return 1.0;
        }
        let (mut part, mut opens) = (1.0, None);
        for (k, u) in self.unknowns.iter().enumerate().filter(|(_, u)| u.normal) {
            let (from, to) = (forces[u.row], self.system[k * (m + 1) + m]);
            if to < 0.0 && from / (from - to) < part {
                (part, opens) = (from / (from - to), Some(u.row));
            }
        }
        for (k, u) in self.unknowns.iter().enumerate() {
            forces[u.row] += part * (self.system[k * (m + 1) + m] - forces[u.row]);
            if u.slide != [0.0; 2] {
                let normal = forces[u.row];
                (forces[u.row + 1], forces[u.row + 2]) = (normal * u.slide[0], normal * u.slide[1]);
            }
        }
        if let Some(row) = opens {
            forces[row..row + 3].fill(0.0);
        }
        part
    }

    fn factor_equalities(&mut self, w: &[f64], n: usize, blocks: &[DualBlock]) {
        self.equalities.clear();
        self.equalities.extend(blocks.iter().filter(|b| !b.contact).map(|b| b.first));
        let e = self.equalities.len();
        self.inverse.clear();
        for &i in &self.equalities {
            self.inverse.extend(self.equalities.iter().map(|&j| w[i * n + j]));
        }
        self.work.clear();
        self.work.resize(e * e, 0.0);
        if e > 0 {
            invert(&mut self.inverse, e, &mut self.work);
        }
    }

    fn solve_equalities(&mut self, w: &[f64], free: &[f64], forces: &mut [f64]) -> f64 {
        let (n, e) = (free.len(), self.equalities.len());
        self.errors.clear();
        self.errors.extend(self.equalities.iter().map(|&i| displacement(w, free, forces, i, n)));
        let mut change = 0.0f64;
        for (k, &i) in self.equalities.iter().enumerate() {
            let row = &self.inverse[k * e..(k + 1) * e];
            let step = row.iter().zip(&self.errors).map(|(a, b)| a * b).sum::<f64>();
            forces[i] -= step;
            change = change.max((w[i * n + i] * step).abs());
        }
        change
    }
}

/// Gauss–Jordan elimination with pivots of an `m × (m + 1)` system, row by row; the solution is in the last column. False if it is singular.
fn eliminate(a: &mut [f64], m: usize) -> bool {
    let width = m + 1;
    for k in 0..m {
        let size = |row: &usize| a[row * width + k].abs();
        let Some(pivot) = (k..m).max_by(|x, y| size(x).total_cmp(&size(y))) else { return false };
        // A zero, an infinity or no number.
        if !a[pivot * width + k].is_normal() {
            return false;
        }
        if pivot != k {
            (k..width).for_each(|c| a.swap(k * width + c, pivot * width + c));
        }
        let (above, rest) = a.split_at_mut(k * width);
        let (own, below) = rest.split_at_mut(width);
        let scale = 1.0 / own[k];
        own[k..].iter_mut().for_each(|x| *x *= scale);
        for row in above.chunks_exact_mut(width).chain(below.chunks_exact_mut(width)) {
            let factor = row[k];
            if factor != 0.0 {
                row[k..].iter_mut().zip(&own[k..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    a.iter().all(|x| x.is_finite())
}

fn displacement(w: &[f64], free: &[f64], forces: &[f64], row: usize, n: usize) -> f64 {
    free[row] + w[row * n..(row + 1) * n].iter().zip(forces).map(|(w, f)| w * f).sum::<f64>()
}

/// Normal force, then friction for it. Returns the displacement by the change.
fn solve_contact(w: &[f64], free: &[f64], block: &DualBlock, forces: &mut [f64]) -> f64 {
    let (n, i) = (free.len(), block.first);
    let own = w[i * n + i];
    let before = forces[i];
    let gap = displacement(w, free, forces, i, n);
    forces[i] = (before - gap / own.max(f64::MIN_POSITIVE)).max(0.0);
    (own * (forces[i] - before)).abs().max(solve_friction(w, free, block, forces))
}

/// Friction for the normal force. Returns the displacement by the change.
fn solve_friction(w: &[f64], free: &[f64], block: &DualBlock, forces: &mut [f64]) -> f64 {
    let (n, i) = (free.len(), block.first);
    let at = |r: usize, c: usize| w[(i + r) * n + i + c];
    let (normal, own) = (forces[i], Vector2::new(forces[i + 1], forces[i + 2]));
    let mut friction = Vector2::zeros();
    if normal > 0.0 && block.friction > 0.0 {
        let spring = block.shear_length / normal;
        let w2 = Matrix2::new(at(1, 1) + spring, at(1, 2), at(2, 1), at(2, 2) + spring);
        let now = Vector2::new(displacement(w, free, forces, i + 1, n), displacement(w, free, forces, i + 2, n));
        let outside = now + spring * own - w2 * own;
        friction = solve_in_disc(&w2, &outside, block.friction * normal);
    }
    (forces[i + 1], forces[i + 2]) = (friction.x, friction.y);
    (at(1, 1) * (friction.x - own.x)).abs().max((at(2, 2) * (friction.y - own.y)).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: DualBlock = DualBlock { first: 0, contact: true, friction: 0.5, shear_length: 1e-6 };

    /// A mass on a spring against a wall: open, sticking and sliding, with the known forces.
    #[test]
    fn one_contact() {
        let w = [2e-4, 0.0, 0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, 1e-4];
        let mut sweeps = DualSweeps::default();
        let mut solve = |free: [f64; 3]| {
            let mut forces = [0.0; 3];
            let swept = sweeps.solve(&w, &free, &[POINT], &mut forces, 1e-12, 50, || true);
            assert!(swept.converged);
            forces
        };
        assert_eq!(solve([1e-5, 3e-5, 0.0]), [0.0; 3]);
        let [n, t, s] = solve([-2e-4, 2e-5, 0.0]);
        // The shear spring has the stiffness 1 N / 1 µm.
        assert!((n - 1.0).abs() < 1e-12 && (t + 2e-5 / 1.01e-4).abs() < 1e-9 && s == 0.0, "{n} {t} {s}");
        let [n, t, _] = solve([-2e-4, 1e-3, 0.0]);
        assert!((n - 1.0).abs() < 1e-12 && (t + 0.5).abs() < 1e-9, "{t}");
    }

    /// Many contacts on a light rigid body that yield little by themselves: sweeps alone would need thousands.
    #[test]
    fn stiff_contacts_of_a_rigid_body_are_solved_in_few_sweeps() {
        let contacts = 10;
        let n = 3 * contacts;
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for j in (0..n).filter(|j| i % 3 == j % 3) {
                // The rigid motion, with a lever for the normals, and what each contact yields.
                let lever = |row: usize| if row.is_multiple_of(3) { (row / 3) as f64 - 4.0 } else { 1.0 };
                w[i * n + j] = 1e-4 * (1.0 + 0.1 * lever(i) * lever(j)) + if i == j { 1e-7 } else { 0.0 };
            }
        }
        let free: Vec<f64> = (0..n).map(|i| [-1e-3 - 1e-6 * ((7 * i) % 5) as f64, 2e-4, 1e-4][i % 3]).collect();
        let blocks: Vec<DualBlock> =
            (0..contacts).map(|i| DualBlock { first: 3 * i, friction: 0.3, ..POINT }).collect();
        let mut forces = vec![0.0; n];
        let swept = DualSweeps::default().solve(&w, &free, &blocks, &mut forces, 1e-10, 200, || true);
        assert!(swept.converged && swept.sweeps < 60, "{swept:?}");
        for block in &blocks {
            let i = block.first;
            let gap = displacement(&w, &free, &forces, i, n);
            assert!(forces[i] >= 0.0 && gap > -1e-8 && (forces[i] * gap).abs() < 1e-8, "{} {gap:.1e}", forces[i]);
            assert!(forces[i + 1].hypot(forces[i + 2]) <= 0.3 * forces[i] * (1.0 + 1e-9));
        }
        let sum: f64 = (0..contacts).map(|i| forces[3 * i]).sum();
        assert!((sum - 10.0).abs() < 1.0, "{sum}");
    }

    #[test]
    fn attachments_are_solved_exactly_and_time_limits_hold() {
        // Two nearly dependent rows.
        let w = [1.0, 0.999, 0.999, 1.0];
        let row = |first| DualBlock { first, contact: false, friction: 0.0, shear_length: 0.0 };
        let mut forces = [0.0; 2];
        let blocks = [row(0), row(1)];
        let swept = DualSweeps::default().solve(&w, &[1.0, -1.0], &blocks, &mut forces, 1e-12, 50, || true);
        assert!(swept.sweeps == 1 && (forces[0] + 1000.0).abs() < 1e-6 && (forces[1] - 1000.0).abs() < 1e-6);
        let swept = DualSweeps::default().solve(&w, &[1.0, -1.0], &blocks, &mut forces, 1e-12, 50, || false);
        assert!(swept.sweeps == 0 && !swept.converged);
    }
}
