use nalgebra::{Matrix3, Vector3};

use super::block_cholesky::{BlockCholesky, Place};
use super::dual::{Dual, RowState};
use super::gauss_seidel::{Solution, SolverStatus};
use super::kernels::add_scaled;
use super::softening::Softening;
use crate::math::Vec3;
use crate::problem::{ConvexProblem, Entry, JacobianSegment};

/// Newton's method with a line search on a [`ConvexProblem`], with all its working memory.
///
/// Each iteration solves `H dx = −∇c` with the Hessian of the cost, by [`BlockCholesky`] or, where that is cheaper, with the soft bodies
/// eliminated by their compliance (`Dual`). Along `dx` the cost is convex; the full step is
/// taken unless its slope has turned, and then the zero of the slope is bracketed. It ends when a full step moves no contact by more than
/// the tolerance.
///
/// The friction patches start with the pressures of the last step. Once the iteration has nearly converged they follow
/// the pressures of this
/// step, at most `FOLLOWED` times; then they are fixed, so that the remaining problem is convex and converges.
#[derive(Clone, Debug, Default)]
pub struct ConvexNewton {
    cholesky: BlockCholesky,
    /// Whether the pattern of the Hessian was analysed in this solve.
    analysed: bool,
    dual: Dual,
    /// First unknown of each block.
    starts: Vec<usize>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    product: Vec<f64>,
    /// `A x` of soft bodies, and `A dx` of the step.
    momentum: Vec<f64>,
    /// Force and stiffness of contacts, then of attachment rows.
    single: Vec<[f64; 2]>,
    /// Gap of each contact and how the step changes it, m.
    gaps: Vec<[f64; 2]>,
    shears: Vec<[Vector3<f64>; 2]>,
    errors: Vec<[f64; 2]>,
    places: Vec<Place>,
    patch_places: Vec<Place>,
    values: Vec<f64>,
    /// Whether slipping patches of several contacts use the secant stiffness.
    secant_patches: bool,
    softening: Softening,
}

/// Parameters of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexParameters {
    /// Convergence tolerance: maximum displacement of a contact by a full step, m.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Stiffness of attachments, N/m.
    pub attachment_stiffness: f64,
}

impl Default for ConvexParameters {
    fn default() -> Self {
        Self { tolerance: 1e-10, iterations: 60, attachment_stiffness: 1e8 }
    }
}

/// Maximum number of pressure updates of friction within a solve; across steps they continue.
const FOLLOWED: usize = 1;

/// Relative change of pressure below which friction is not updated.
const SETTLED: f64 = 0.02;

/// Step size below which the pressures are accurate enough for a friction update, m.
const NEARLY: f64 = 1e-6;

/// Slope of the cost after the line search, relative to that at its start.
const FLAT: f64 = 0.5;

/// After a step shorter than this fraction, slipping patches of several contacts use the secant stiffness, every second
/// time after `SLOW_ITERATIONS` iterations.
const SHORT: f64 = 0.5;

/// See `SHORT`.
const SLOW_ITERATIONS: usize = 30;

impl ConvexNewton {
    /// Solves from the current `x`. With `follows`, the friction bounds are updated once to the pressure found.
    /// `go_on` is called before each iteration except the first: a deadline may end the solve, but every problem gets
    /// one step that lowers its cost.
    pub fn solve(
        &mut self,
        problem: &mut ConvexProblem,
        x: &mut [f64],
        parameters: &ConvexParameters,
        follows: bool,
        mut go_on: impl FnMut() -> bool,
    ) -> Solution {
        self.prepare(problem, x);
        self.secant_patches = false;
        self.softening.reset();
        let (mut residual, mut status) = (f64::INFINITY, SolverStatus::IterationLimit);
        let (mut iterations, mut refreshes) = (0, if follows { 0 } else { FOLLOWED });
        let mut changed = self.follow_pressure(problem, x, false);
        self.measure(problem, x);
        while iterations < parameters.iterations {
            if iterations > 0 && !go_on() {
                status = SolverStatus::Deadline;
                break;
            }
            self.assemble_gradient(problem, x, parameters);
            if !self.solve_for_step(problem, x, iterations <= SLOW_ITERATIONS) {
                status = SolverStatus::Stalled;
                break;
            }
            residual = self.measure_step(problem);
            if !residual.is_finite() {
                status = SolverStatus::Stalled;
                break;
            }
            iterations += 1;
            // Below the tolerance the slope of the cost is rounding error.
            let part = if residual <= parameters.tolerance { 1.0 } else { self.search(problem, x, parameters) };
            for (patch, [z, dz]) in problem.patches_mut().iter_mut().zip(&self.shears) {
                patch.follow_direction(z, dz);
            }
            self.advance(x, part);
            let full = part == 1.0;
            if self.softening.follow(problem, iterations, full, residual) {
                continue;
            }
            self.secant_patches = part < SHORT && iterations > SLOW_ITERATIONS && iterations % 2 == 0;
            if full && residual <= NEARLY && refreshes < FOLLOWED && (changed > SETTLED || refreshes == 0) {
                changed = self.follow_pressure(problem, x, true);
                refreshes += 1;
                if changed > SETTLED {
                    self.softening.restart(problem, iterations);
                    continue;
                }
            }
            if full && residual <= parameters.tolerance {
                status = SolverStatus::Converged;
                break;
            }
        }
        self.softening.end(problem);
        self.store(problem);
        Solution { status, iterations, residual }
    }

    /// Starts a solve.
    fn prepare(&mut self, problem: &ConvexProblem, x: &[f64]) {
        self.starts.clear();
        let mut start = 0;
        for size in &problem.sizes {
            self.starts.push(start);
            start += size;
        }
        self.analysed = false;
        if problem.compliances.is_empty() {
            self.analyse(problem);
        }
        self.dual.prepare(problem);
        self.momentum.clear();
        self.momentum.resize(x.len(), 0.0);
        self.add_products(problem, true, x, |newton| &mut newton.momentum);
    }

    /// Adds `A v` of the soft bodies or of the others to a vector of the working memory.
    fn add_products(
        &mut self,
        problem: &ConvexProblem,
        soft: bool,
        v: &[f64],
        onto: impl Fn(&mut Self) -> &mut Vec<f64>,
    ) {
        let mut sum = std::mem::take(onto(self));
        for q in problem.quadratic.iter().filter(|q| self.dual.is_soft(q.blocks[0]) == soft) {
            let [a, b] = q.blocks.map(|b| b as usize);
            let (rows, columns) = (problem.sizes[a], problem.sizes[b]);
            let block = &problem.quadratic_values[q.start..q.start + rows * columns];
            multiply(block, rows, columns, [self.starts[a], self.starts[b]], v, &mut sum);
        }
        *onto(self) = sum;
    }

    /// Analyses the pattern, and finds where the entries of every contact go.
    fn analyse(&mut self, problem: &ConvexProblem) {
        if std::mem::replace(&mut self.analysed, true) {
            return;
        }
        let segments = &problem.segments;
        let jacobians =
            problem.contacts.iter().map(|c| c.segments).chain(problem.equalities.iter().map(|e| e.segments));
        let coupled = jacobians.flat_map(|[first, last]| {
            let own = &segments[first as usize..last as usize];
            own.iter().flat_map(move |a| own.iter().map(move |b| [a.block, b.block]))
        });
        let patches = problem
            .patches()
            .iter()
            .flat_map(|p| p.blocks.iter().flat_map(move |a| p.blocks.iter().map(move |b| [a.0, b.0])));
        let pairs = problem.quadratic.iter().map(|q| q.blocks).chain(coupled).chain(patches);
        self.cholesky.analyse(&problem.sizes, pairs);
        self.places.clear();
        let jacobians =
            problem.contacts.iter().map(|c| c.segments).chain(problem.equalities.iter().map(|e| e.segments));
        for [first, last] in jacobians {
            for a in first..last {
                for b in a..last {
                    let [a, b] = [a, b].map(|i| segments[i as usize].block as usize);
                    self.places.push(self.cholesky.place(a, b));
                }
            }
        }
        self.patch_places.clear();
        for patch in problem.patches() {
            for (i, &(a, _)) in patch.blocks.iter().enumerate() {
                for &(b, _) in &patch.blocks[i..] {
                    self.patch_places.push(self.cholesky.place(a as usize, b as usize));
                }
            }
        }
    }

    /// Displacement of a contact by `x`.
    fn displacement(&self, problem: &ConvexProblem, segments: [u32; 2], x: &[f64]) -> Vec3 {
        let mut moved = Vec3::zeros();
        for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
            let start = self.starts[segment.block as usize];
            for entry in entries_of(problem, segment) {
                moved += x[start + entry.local as usize] * entry.column;
            }
        }
        moved
    }

    /// Gaps and errors at `x`.
    fn measure(&mut self, problem: &ConvexProblem, x: &[f64]) {
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        gaps.extend(
            problem.contacts.iter().map(|c| [c.gap + c.normal.dot(&self.displacement(problem, c.segments, x)), 0.0]),
        );
        self.gaps = gaps;
        let mut errors = std::mem::take(&mut self.errors);
        errors.clear();
        errors.extend(
            problem
                .equalities
                .iter()
                .map(|e| [e.error + e.direction.dot(&self.displacement(problem, e.segments, x)), 0.0]),
        );
        self.errors = errors;
    }

    /// Updates pressures from the gaps if `from_gaps`, and the friction patches. Returns the largest relative change.
    fn follow_pressure(&mut self, problem: &mut ConvexProblem, x: &[f64], from_gaps: bool) -> f64 {
        let ConvexProblem { contacts, patches, patch_count, members, segments, entries, .. } = problem;
        if from_gaps {
            for (contact, [gap, _]) in contacts.iter_mut().zip(&self.gaps) {
                contact.pressure = contact.force(*gap).0;
                contact.follow();
            }
        }
        self.dual.outdate_patches();
        let mut changed = 0.0f64;
        for patch in &mut patches[..*patch_count] {
            changed = changed.max(patch.refresh(members, contacts, segments, entries));
        }
        self.shears.clear();
        for patch in &patches[..*patch_count] {
            let mut z = patch.offset;
            if patch.pressure > 0.0 {
                for &(block, first) in &patch.blocks {
                    let (start, size) = (self.starts[block as usize], problem.sizes[block as usize]);
                    for k in 0..3 {
                        let row = &patch.rows[k * patch.width + first..k * patch.width + first + size];
                        z[k] += row.iter().zip(&x[start..start + size]).map(|(r, x)| r * x).sum::<f64>();
                    }
                }
            }
            self.shears.push([z, Vector3::zeros()]);
        }
        changed
    }

    /// Gradient of the cost, and force and stiffness of all rows.
    fn assemble_gradient(&mut self, problem: &mut ConvexProblem, x: &[f64], parameters: &ConvexParameters) {
        self.gradient.clear();
        self.gradient.extend_from_slice(&self.momentum);
        self.add_products(problem, false, x, |newton| &mut newton.gradient);
        let aggregates = self.secant_patches;
        let Self { gradient, gaps, shears, errors, starts, single, .. } = self;
        let k = parameters.attachment_stiffness;
        single.clear();
        single.extend(
            problem.contacts.iter().zip(&*gaps).map(|(contact, [gap, _])| <[f64; 2]>::from(contact.force(*gap))),
        );
        single.extend(errors.iter().map(|[error, _]| [-k * error, k]));
        let contacts = problem.contacts.iter().map(|c| (c.segments, c.normal));
        let rows = contacts.chain(problem.equalities.iter().map(|e| (e.segments, e.direction)));
        for ((segments, direction), &[force, _]) in rows.zip(&*single).filter(|(_, [force, _])| *force != 0.0) {
            for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
                let start = starts[segment.block as usize];
                for entry in entries_of(problem, segment) {
                    gradient[start + entry.local as usize] -= force * direction.dot(&entry.column);
                }
            }
        }
        for (block, first, term) in &problem.coordinates {
            let at = starts[*block as usize] + *first as usize;
            let (n, h) = (term.law.count(), problem.step);
            let (force, _) = term.correction(&coordinates_of(x, at, n, h));
            (0..n).for_each(|i| gradient[at + i] -= h * force[i]);
        }
        let ConvexProblem { patches, patch_count, sizes, .. } = problem;
        for (patch, [z, _]) in patches[..*patch_count].iter_mut().zip(&*shears) {
            if patch.pressure <= 0.0 {
                continue;
            }
            patch.state = patch.evaluate(z);
            if aggregates {
                patch.take_secant();
            }
            let w = patch.width;
            for &(block, first) in &patch.blocks {
                let (start, size) = (starts[block as usize], sizes[block as usize]);
                for k in 0..3 {
                    let row = &patch.rows[k * w + first..k * w + first + size];
                    add_scaled(&mut gradient[start..start + size], row, -patch.state.force[k]);
                }
            }
        }
    }

    /// The Newton step, and `A dx` of soft bodies, which is left in `product`.
    fn solve_for_step(&mut self, problem: &ConvexProblem, x: &[f64], eliminates: bool) -> bool {
        self.product.clear();
        self.product.resize(x.len(), 0.0);
        if eliminates && self.dual.pays(problem, &self.single) {
            self.step.resize(x.len(), 0.0);
            let Self { dual, single, gradient, step, product, .. } = self;
            if dual.solve(problem, &RowState { single, gradient, x }, step, product) {
                return true;
            }
            self.product.fill(0.0);
        }
        self.analyse(problem);
        self.assemble_hessian(problem, x);
        if !self.cholesky.factor() {
            return false;
        }
        self.step.clear();
        self.step.extend(self.gradient.iter().map(|g| -g));
        self.cholesky.solve(&mut self.step);
        let step = std::mem::take(&mut self.step);
        self.add_products(problem, true, &step, |newton| &mut newton.product);
        self.step = step;
        true
    }

    /// Hessian of the cost.
    fn assemble_hessian(&mut self, problem: &ConvexProblem, x: &[f64]) {
        let Self { cholesky, single, places, patch_places, values, starts, .. } = self;
        cholesky.cleared();
        for q in &problem.quadratic {
            let [a, b] = q.blocks.map(|b| b as usize);
            let (place, columns) = (cholesky.place(a, b), problem.sizes[b]);
            let hessian = cholesky.values_mut();
            for i in 0..problem.sizes[a] {
                for j in if a == b { i } else { 0 }..columns {
                    let (row, column) = if place.swapped { (j, i) } else { (i, j) };
                    hessian[place.start + row * place.stride + column] +=
                        problem.quadratic_values[q.start + i * columns + j];
                }
            }
        }
        let mut places = places.iter();
        let contacts = problem.contacts.iter().map(|c| (c.segments, c.normal));
        let rows = contacts.chain(problem.equalities.iter().map(|e| (e.segments, e.direction)));
        for ((segments, direction), &[_, stiffness]) in rows.zip(&*single) {
            Jacobian { problem, segments, direction }.add(cholesky, values, &mut places, stiffness);
        }
        for (block, first, term) in &problem.coordinates {
            let at = starts[*block as usize] + *first as usize;
            let (n, h) = (term.law.count(), problem.step);
            let (_, slope) = term.correction(&coordinates_of(x, at, n, h));
            let place = cholesky.place(*block as usize, *block as usize);
            let hessian = cholesky.values_mut();
            for i in 0..n {
                for j in i..n {
                    let (row, column) = (*first as usize + i, *first as usize + j);
                    hessian[place.start + row * place.stride + column] += h * h * slope[(i, j)];
                }
            }
        }
        let mut places = patch_places.iter();
        let sizes = &problem.sizes;
        for patch in problem.patches() {
            let count = patch.blocks.len() * (patch.blocks.len() + 1) / 2;
            if patch.pressure <= 0.0 {
                places.by_ref().take(count).for_each(drop);
                continue;
            }
            let w = patch.width;
            // K R, then Rᵀ (K R).
            values.clear();
            values.resize(3 * w, 0.0);
            times_rows(&patch.state.stiffness, &patch.rows, w, values);
            let hessian = cholesky.values_mut();
            for (i, &(a, first)) in patch.blocks.iter().enumerate() {
                for &(b, second) in &patch.blocks[i..] {
                    let Some(place) = places.next() else { break };
                    let ((rows, from), (columns, onto)) = if place.swapped {
                        ((sizes[b as usize], second), (sizes[a as usize], first))
                    } else {
                        ((sizes[a as usize], first), (sizes[b as usize], second))
                    };
                    for r in 0..rows {
                        let skip = if a == b { r } else { 0 };
                        let at = place.start + r * place.stride;
                        let target = &mut hessian[at + skip..at + columns];
                        for k in 0..3 {
                            let right = &values[k * w + onto + skip..k * w + onto + columns];
                            add_scaled(target, right, patch.rows[k * w + from + r]);
                        }
                    }
                }
            }
        }
    }

    /// Change of gaps, shears and errors by the step. Returns the largest displacement of a contact, m.
    fn measure_step(&mut self, problem: &ConvexProblem) -> f64 {
        let step = std::mem::take(&mut self.step);
        let mut longest = 0.0f64;
        for (i, contact) in problem.contacts.iter().enumerate() {
            let moved = self.displacement(problem, contact.segments, &step);
            self.gaps[i][1] = contact.normal.dot(&moved);
            // Contacts that stay separated do not limit the step.
            let [gap, change] = self.gaps[i];
            if gap.min(gap + change) < 0.0 {
                longest = longest.max(moved.norm());
            }
            if moved.x.is_nan() {
                longest = f64::NAN;
                break;
            }
        }
        for (i, equality) in problem.equalities.iter().enumerate() {
            let change = equality.direction.dot(&self.displacement(problem, equality.segments, &step));
            self.errors[i][1] = change;
            longest = longest.max(change.abs());
        }
        for (shear, patch) in self.shears.iter_mut().zip(problem.patches()) {
            shear[1] = Vector3::zeros();
            if patch.pressure <= 0.0 {
                continue;
            }
            for &(block, first) in &patch.blocks {
                let (start, size) = (self.starts[block as usize], problem.sizes[block as usize]);
                for k in 0..3 {
                    let row = &patch.rows[k * patch.width + first..k * patch.width + first + size];
                    shear[1][k] += row.iter().zip(&step[start..start + size]).map(|(r, x)| r * x).sum::<f64>();
                }
            }
        }
        self.step = step;
        longest
    }

    /// Step length: one, or where the slope of the cost is approximately zero.
    fn search(&mut self, problem: &ConvexProblem, x: &[f64], parameters: &ConvexParameters) -> f64 {
        let step = std::mem::take(&mut self.step);
        self.add_products(problem, false, &step, |newton| &mut newton.product);
        self.step = step;
        let linear: f64 = self.product.iter().zip(x).map(|(p, x)| p * x).sum();
        let square: f64 = self.product.iter().zip(&self.step).map(|(p, s)| p * s).sum();
        let slope = |part: f64| {
            let mut slope = linear + part * square;
            for (contact, [gap, change]) in problem.contacts.iter().zip(&self.gaps) {
                slope -= contact.force(gap + part * change).0 * change;
            }
            for [error, change] in &self.errors {
                slope += parameters.attachment_stiffness * (error + part * change) * change;
            }
            for (block, first, term) in &problem.coordinates {
                let at = self.starts[*block as usize] + *first as usize;
                let (n, h) = (term.law.count(), problem.step);
                let (now, change) = (coordinates_of(x, at, n, h), coordinates_of(&self.step, at, n, h));
                slope -= term.correction(&(now + part * change)).0.dot(&change);
            }
            for (patch, [z, dz]) in problem.patches().iter().zip(&self.shears) {
                if patch.pressure > 0.0 {
                    slope -= patch.evaluate(&(z + part * dz)).force.dot(dz);
                }
            }
            slope
        };
        let start: f64 = self.gradient.iter().zip(&self.step).map(|(g, s)| g * s).sum();
        let end = slope(1.0);
        if end <= FLAT * start.abs() {
            return 1.0;
        }
        // Compliance and stiffness of a soft body are inverse to each other only up to rounding. Close to the solution
        // that is all there is of the slope.
        let rounding = (slope(0.0) - start).abs();
        if end <= FLAT * start.abs() + 4.0 * rounding {
            return 1.0;
        }
        // The slope is negative at `low` and positive at `high`: regula falsi with the Illinois modification.
        let (mut low, mut at_low, mut high, mut at_high) = (0.0, start, 1.0, end);
        let mut part = 1.0;
        for _ in 0..20 {
            part = (low * at_high - high * at_low) / (at_high - at_low);
            if !(part > low && part < high) {
                part = 0.5 * (low + high);
            }
            let here = slope(part);
            if here.abs() <= FLAT * start.abs() {
                break;
            }
            if here > 0.0 {
                (high, at_high) = (part, here);
                at_low *= 0.5;
            } else {
                (low, at_low) = (part, here);
                at_high *= 0.5;
            }
        }
        part
    }

    fn advance(&mut self, x: &mut [f64], part: f64) {
        x.iter_mut().zip(&self.step).for_each(|(x, s)| *x += part * s);
        for &(start, size) in self.dual.ranges() {
            let range = start..start + size;
            add_scaled(&mut self.momentum[range.clone()], &self.product[range], part);
        }
        self.gaps.iter_mut().chain(&mut self.errors).for_each(|[at, change]| *at += part * *change);
        self.shears.iter_mut().for_each(|[z, dz]| *z += part * *dz);
    }

    /// Stores pressures and friction of the solution in the problem.
    fn store(&mut self, problem: &mut ConvexProblem) {
        for (contact, [gap, _]) in problem.contacts.iter_mut().zip(&self.gaps) {
            contact.pressure = contact.force(*gap).0;
            contact.follow();
        }
        let count = problem.patch_count;
        for (patch, [z, _]) in problem.patches[..count].iter_mut().zip(&self.shears) {
            patch.state = patch.evaluate(z);
        }
    }
}

/// Displacement of one or three coordinates by `x`.
pub(super) fn coordinates_of(x: &[f64], at: usize, count: usize, h: f64) -> Vec3 {
    Vec3::from_fn(|i, _| if i < count { h * x[at + i] } else { 0.0 })
}

/// A row of one contact or attachment: its Jacobian along a direction.
struct Jacobian<'a> {
    problem: &'a ConvexProblem,
    segments: [u32; 2],
    direction: Vec3,
}

impl Jacobian<'_> {
    /// Adds `curvature · rowᵀ row` to the Hessian.
    fn add<'p>(
        &self,
        cholesky: &mut BlockCholesky,
        values: &mut Vec<f64>,
        places: &mut impl Iterator<Item = &'p Place>,
        curvature: f64,
    ) {
        let own = &self.problem.segments[self.segments[0] as usize..self.segments[1] as usize];
        if curvature == 0.0 {
            places.take(own.len() * (own.len() + 1) / 2).for_each(drop);
            return;
        }
        values.clear();
        for segment in own {
            values.extend(entries_of(self.problem, segment).iter().map(|entry| self.direction.dot(&entry.column)));
        }
        let first = own.first().map_or(0, |s| s.entries[0]);
        let hessian = cholesky.values_mut();
        for (i, a) in own.iter().enumerate() {
            for b in &own[i..] {
                let Some(place) = places.next() else { return };
                let (rows, columns) = if place.swapped { (b, a) } else { (a, b) };
                for r in rows.entries[0]..rows.entries[1] {
                    let left = curvature * values[(r - first) as usize];
                    let at = place.start + self.problem.entries[r as usize].local as usize * place.stride;
                    let from = if a.block == b.block { r } else { columns.entries[0] };
                    for c in from..columns.entries[1] {
                        let column = self.problem.entries[c as usize].local as usize;
                        hessian[at + column] += left * values[(c - first) as usize];
                    }
                }
            }
        }
    }
}

fn entries_of<'p>(problem: &'p ConvexProblem, segment: &JacobianSegment) -> &'p [Entry] {
    &problem.entries[segment.entries[0] as usize..segment.entries[1] as usize]
}

/// Adds a block of `A` times `x`, and its transpose if it is off-diagonal.
fn multiply(block: &[f64], rows: usize, columns: usize, starts: [usize; 2], x: &[f64], onto: &mut [f64]) {
    for i in 0..rows {
        let row = &block[i * columns..(i + 1) * columns];
        onto[starts[0] + i] += row.iter().zip(&x[starts[1]..]).map(|(a, x)| a * x).sum::<f64>();
        if starts[0] != starts[1] {
            let y = x[starts[0] + i];
            onto[starts[1]..starts[1] + columns].iter_mut().zip(row).for_each(|(o, a)| *o += a * y);
        }
    }
}

pub(super) fn times_rows(k: &Matrix3<f64>, rows: &[f64], width: usize, out: &mut [f64]) {
    for i in 0..3 {
        for j in 0..3 {
            let factor = k[(i, j)];
            if factor != 0.0 {
                let (row, out) = (&rows[j * width..(j + 1) * width], &mut out[i * width..(i + 1) * width]);
                out.iter_mut().zip(row).for_each(|(o, r)| *o += factor * r);
            }
        }
    }
}
