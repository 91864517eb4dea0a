use nalgebra::{Matrix3, Vector3};

use super::block_cholesky::BlockCholesky;
use super::kernels::{add_scaled, dot, eliminate};
use crate::problem::{ConvexProblem, Entry};

/// A Newton step of a [`ConvexProblem`] with the soft bodies eliminated by their compliance.
///
/// A soft body `t` is moved by the rows of contact only, and its compliance `C` is known. With the rows that act at present, `G` on soft
/// bodies and `B` on the others, their forces `f` and their stiffness `D = L Lᵀ`, the Newton step `H dx = −g` is
///
/// ```text
/// dx_t = −C (g_t + Gᵀ φ),    φ = D dy = L (I + Lᵀ W L)⁻¹ Lᵀ (B dx_b − G C g_t),    W = G C Gᵀ,
/// (A_bb + Bᵀ S B) dx_b = −g_b + Bᵀ S G C g_t,    S = L (I + Lᵀ W L)⁻¹ Lᵀ.
/// ```
///
/// Its size is the number of rows that act, not that of the degrees of freedom that contact touches, which is several times as large. With
/// `x_t = C p_t` the product `C g_t = x_t − C Gᵀ f` needs the columns `Y = C Gᵀ` alone; they stay for the whole solve.
///
/// Soft bodies that share rows are eliminated together, as a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Dual {
    units: Vec<Unit>,
    ranges: Vec<(usize, usize)>,
    /// Unit of each block, or `u32::MAX`.
    unit_of: Vec<u32>,
    groups: Vec<RowGroup>,
    /// Group of each contact, then of each attachment row, or `u32::MAX`; and of each patch.
    group_of_row: Vec<u32>,
    group_of_patch: Vec<u32>,
    /// First place of each block in a vector of all unknowns.
    starts: Vec<usize>,
    border: BlockCholesky,
    border_sizes: Vec<usize>,
    /// Component of each Jacobian entry along its row.
    values: Vec<f64>,
    /// Columns `Y` of contacts, attachment rows and patches.
    columns: Vec<f64>,
    column_of: Vec<Places>,
    patch_columns: Vec<[Places; 3]>,
    // Working memory of a step.
    rows: Vec<Row>,
    scaled: Vec<f64>,
    scaled_columns: Vec<f64>,
    front: Vec<f64>,
    schur: Vec<f64>,
    border_solution: Vec<f64>,
    shifted: Vec<f64>,
    parents: Vec<u32>,
}

/// A soft body: its unknowns and its compliance.
#[derive(Clone, Copy, Debug)]
struct Unit {
    start: usize,
    size: usize,
    /// Where its compliance begins in the problem.
    values: usize,
    group: u32,
}

#[derive(Clone, Debug, Default)]
struct RowGroup {
    /// Blocks of other bodies that its rows act on, with their first column behind the rows.
    border: Vec<(u32, usize)>,
    width: usize,
    /// Rows that act, in `Dual::rows`, and where its front begins.
    rows: [usize; 2],
    front: usize,
}

/// Where the columns of a row are: unit and place, for at most two units.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    at: [(u32, usize); 2],
    count: usize,
    known: bool,
}

/// A row that acts, scaled by `L`.
#[derive(Clone, Copy, Debug)]
struct Row {
    kind: RowKind,
    weight: f64,
    columns: Places,
}

#[derive(Clone, Copy, Debug)]
enum RowKind {
    /// A contact or an attachment row, by its segments.
    Single([u32; 2]),
    /// One of the three rows of a patch, with its place in `scaled`.
    Patch(u32, usize),
}

/// Forces and stiffness of the rows where an iteration is.
pub(super) struct RowState<'a> {
    /// Force and stiffness of contacts, then of attachment rows.
    pub single: &'a [[f64; 2]],
    pub gradient: &'a [f64],
    pub x: &'a [f64],
}

impl Dual {
    /// Prepares for a problem.
    pub fn prepare(&mut self, problem: &ConvexProblem) {
        self.starts.clear();
        let mut start = 0;
        for size in &problem.sizes {
            self.starts.push(start);
            start += size;
        }
        self.list_units(problem);
        self.values.clear();
        self.values.resize(problem.entries.len(), 0.0);
        for (segments, direction) in singles(problem) {
            for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
                for e in segment.entries[0]..segment.entries[1] {
                    self.values[e as usize] = direction.dot(&problem.entries[e as usize].column);
                }
            }
        }
        self.group_rows(problem);
        self.columns.clear();
        self.column_of.clear();
        self.column_of.resize(self.group_of_row.len(), Places::default());
        self.patch_columns.clear();
        self.patch_columns.resize(problem.patch_count, [Places::default(); 3]);
        self.analyse_border(problem);
    }

    /// Whether a block belongs to a soft body.
    pub fn is_soft(&self, block: u32) -> bool {
        self.unit_of[block as usize] != u32::MAX
    }

    /// First unknown and number of unknowns of each soft body.
    pub fn ranges(&self) -> &[(usize, usize)] {
        &self.ranges
    }

    /// The rows of the patches have changed.
    pub fn outdate_patches(&mut self) {
        self.patch_columns.iter_mut().for_each(|places| *places = [Places::default(); 3]);
    }

    fn list_units(&mut self, problem: &ConvexProblem) {
        self.units.clear();
        self.ranges.clear();
        self.unit_of.clear();
        self.unit_of.resize(problem.sizes.len(), u32::MAX);
        for (u, compliance) in problem.compliances.iter().enumerate() {
            let [first, last] = compliance.blocks.map(|b| b as usize);
            self.unit_of[first..last].fill(u as u32);
            let size = problem.sizes[first..last].iter().sum();
            self.ranges.push((self.starts[first], size));
            self.units.push(Unit { start: self.starts[first], size, values: compliance.start, group: u32::MAX });
        }
    }

    /// Joins the soft bodies that share rows, and lists what else their rows act on.
    fn group_rows(&mut self, problem: &ConvexProblem) {
        let Self { units, unit_of, groups, group_of_row, group_of_patch, parents, .. } = self;
        parents.clear();
        parents.extend(0..units.len() as u32);
        let root = |parents: &mut [u32], mut u: u32| {
            while parents[u as usize] != u {
                parents[u as usize] = parents[parents[u as usize] as usize];
                u = parents[u as usize];
            }
            u
        };
        let blocks = |segments: [u32; 2]| {
            problem.segments[segments[0] as usize..segments[1] as usize].iter().map(|segment| segment.block)
        };
        let mut join = |blocks: &mut dyn Iterator<Item = u32>| {
            let mut first = None;
            for unit in blocks.map(|b| unit_of[b as usize]).filter(|u| *u != u32::MAX) {
                let unit = root(parents, unit);
                let other = *first.get_or_insert(unit);
                let other = root(parents, other);
                parents[unit.max(other) as usize] = unit.min(other);
            }
        };
        singles(problem).for_each(|(segments, _)| join(&mut blocks(segments)));
        problem.patches().iter().for_each(|patch| join(&mut patch.blocks.iter().map(|(b, _)| *b)));
        let mut count = 0;
        for u in 0..units.len() {
            let root = root(parents, u as u32) as usize;
            if root == u {
                if groups.len() == count {
                    groups.push(RowGroup::default());
                }
                (groups[count].width, units[u].group) = (0, count as u32);
                groups[count].border.clear();
                count += 1;
            }
            units[u].group = units[root].group;
        }
        groups.truncate(count);
        let mut group_of = |blocks: &mut dyn Iterator<Item = u32>, again: &mut dyn Iterator<Item = u32>| {
            let unit = blocks.map(|b| unit_of[b as usize]).find(|u| *u != u32::MAX);
            let Some(group) = unit.map(|u| units[u as usize].group) else { return u32::MAX };
            let own = &mut groups[group as usize];
            for b in again.filter(|b| unit_of[*b as usize] == u32::MAX) {
                if own.border.iter().all(|(known, _)| *known != b) {
                    own.border.push((b, own.width));
                    own.width += problem.sizes[b as usize];
                }
            }
            group
        };
        group_of_row.clear();
        group_of_row.extend(singles(problem).map(|(s, _)| group_of(&mut blocks(s), &mut blocks(s))));
        group_of_patch.clear();
        let of_patch = |p: &crate::problem::FrictionPatch| {
            group_of(&mut p.blocks.iter().map(|(b, _)| *b), &mut p.blocks.iter().map(|(b, _)| *b))
        };
        group_of_patch.extend(problem.patches().iter().map(of_patch));
    }

    fn analyse_border(&mut self, problem: &ConvexProblem) {
        let Self { unit_of, groups, border, border_sizes, .. } = self;
        let soft = |b: u32| unit_of[b as usize] != u32::MAX;
        border_sizes.clear();
        border_sizes.extend(problem.sizes.iter().zip(&*unit_of).map(|(s, u)| if *u == u32::MAX { *s } else { 0 }));
        let rows = singles(problem).flat_map(|([first, last], _)| {
            let own = &problem.segments[first as usize..last as usize];
            own.iter().flat_map(move |a| own.iter().map(move |b| [a.block, b.block]))
        });
        let patches = problem
            .patches()
            .iter()
            .flat_map(|p| p.blocks.iter().flat_map(move |a| p.blocks.iter().map(move |b| [a.0, b.0])));
        let shared =
            groups.iter().flat_map(|g| g.border.iter().flat_map(move |a| g.border.iter().map(move |b| [a.0, b.0])));
        let pairs = problem.quadratic.iter().map(|q| q.blocks).chain(rows).chain(patches).chain(shared);
        border.analyse(border_sizes, pairs.filter(|[a, b]| !soft(*a) && !soft(*b)));
    }

    /// Whether it is cheaper than eliminating the touched degrees of freedom: by the cubes of the sizes.
    pub fn pays(&self, problem: &ConvexProblem, single: &[[f64; 2]]) -> bool {
        let mut counts = [0f64; 64];
        if self.units.is_empty() || self.groups.len() > counts.len() {
            return false;
        }
        for (state, &group) in single.iter().zip(&self.group_of_row) {
            if group != u32::MAX && state[1] != 0.0 {
                counts[group as usize] += 1.0;
            }
        }
        for (patch, &group) in problem.patches().iter().zip(&self.group_of_patch) {
            if group != u32::MAX && patch.pressure > 0.0 {
                counts[group as usize] += 3.0;
            }
        }
        let cube = |n: f64| n * n * n;
        let rows: f64 = counts[..self.groups.len()].iter().map(|&n| cube(n)).sum();
        rows <= self.units.iter().map(|u| cube(u.size as f64)).sum()
    }

    /// Solves for the step, and for the change `dp` of the forces behind `x` of soft bodies, `A dx`. False if a matrix is not positive definite.
    pub fn solve(&mut self, problem: &ConvexProblem, state: &RowState<'_>, step: &mut [f64], dp: &mut [f64]) -> bool {
        self.list_rows(problem, state);
        self.start_border(problem, state);
        // C g of the soft bodies, left in the step.
        step.copy_from_slice(state.x);
        self.subtract_responses(problem, state, step);
        if !self.eliminate_groups(problem, step) {
            return false;
        }
        if !self.border.factor() {
            return false;
        }
        let mut border_solution = std::mem::take(&mut self.border_solution);
        self.border.solve(&mut border_solution);
        self.border_solution = border_solution;
        for (b, &size) in self.border_sizes.iter().enumerate().filter(|(_, s)| **s > 0) {
            let (at, from) = (self.starts[b], self.border.start(b));
            step[at..at + size].copy_from_slice(&self.border_solution[from..from + size]);
        }
        for unit in &self.units {
            let range = unit.start..unit.start + unit.size;
            step[range.clone()].iter_mut().for_each(|x| *x = -*x);
            dp[range.clone()].iter_mut().zip(&state.gradient[range]).for_each(|(d, g)| *d = -g);
        }
        for g in 0..self.groups.len() {
            self.substitute_back(problem, g, step, dp);
        }
        true
    }

    /// Lists the rows that act, group by group, with their columns.
    fn list_rows(&mut self, problem: &ConvexProblem, state: &RowState<'_>) {
        self.rows.clear();
        self.scaled.clear();
        self.scaled_columns.clear();
        let mut front = 0;
        for g in 0..self.groups.len() {
            let first = self.rows.len();
            for (r, (segments, _)) in singles(problem).enumerate() {
                if self.group_of_row[r] != g as u32 || state.single[r][1] == 0.0 {
                    continue;
                }
                let columns = self.columns_of_row(problem, r, segments);
                let weight = state.single[r][1].sqrt();
                self.rows.push(Row { kind: RowKind::Single(segments), weight, columns });
            }
            for p in 0..problem.patch_count {
                if self.group_of_patch[p] == g as u32 && problem.patches[p].pressure > 0.0 {
                    self.list_patch(problem, p);
                }
            }
            let (rows, group) = (self.rows.len() - first, &mut self.groups[g]);
            (group.rows, group.front) = ([first, self.rows.len()], front);
            front += rows * (rows + group.width + 1);
        }
        self.front.clear();
        self.front.resize(front, 0.0);
    }

    /// `Y` of a contact or an attachment row.
    fn columns_of_row(&mut self, problem: &ConvexProblem, r: usize, segments: [u32; 2]) -> Places {
        if self.column_of[r].known {
            return self.column_of[r];
        }
        let mut places = Places { known: true, ..Default::default() };
        for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
            let u = self.unit_of[segment.block as usize];
            if u == u32::MAX {
                continue;
            }
            let unit = self.units[u as usize];
            let at = self.place_for(&mut places, u, unit.size);
            let offset = self.starts[segment.block as usize] - unit.start;
            for e in segment.entries[0]..segment.entries[1] {
                let row = unit.values + (offset + problem.entries[e as usize].local as usize) * unit.size;
                let from = &problem.compliance_values[row..row + unit.size];
                add_scaled(&mut self.columns[at..at + unit.size], from, self.values[e as usize]);
            }
        }
        self.column_of[r] = places;
        places
    }

    /// Location of a unit's part of a column; created if missing.
    fn place_for(&mut self, places: &mut Places, unit: u32, size: usize) -> usize {
        if let Some((_, at)) = places.at[..places.count].iter().find(|(u, _)| *u == unit) {
            return *at;
        }
        let at = self.columns.len();
        self.columns.resize(at + size, 0.0);
        // A row acts on two bodies.
        if places.count < 2 {
            places.at[places.count] = (unit, at);
            places.count += 1;
        }
        at
    }

    /// `Y` of the three rows of a patch.
    fn columns_of_patch(&mut self, problem: &ConvexProblem, p: usize) -> [Places; 3] {
        if self.patch_columns[p][0].known {
            return self.patch_columns[p];
        }
        let patch = &problem.patches[p];
        let mut all = [Places { known: true, ..Default::default() }; 3];
        for (k, places) in all.iter_mut().enumerate() {
            for &(block, first) in &patch.blocks {
                let u = self.unit_of[block as usize];
                if u == u32::MAX {
                    continue;
                }
                let unit = self.units[u as usize];
                let at = self.place_for(places, u, unit.size);
                let offset = self.starts[block as usize] - unit.start;
                let row = &patch.rows[k * patch.width + first..k * patch.width + first + problem.sizes[block as usize]];
                for (i, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    let from = unit.values + (offset + i) * unit.size;
                    let from = &problem.compliance_values[from..from + unit.size];
                    add_scaled(&mut self.columns[at..at + unit.size], from, value);
                }
            }
        }
        self.patch_columns[p] = all;
        all
    }

    /// The rows of a patch scaled by the factor of its stiffness, and their columns.
    fn list_patch(&mut self, problem: &ConvexProblem, p: usize) {
        let columns = self.columns_of_patch(problem, p);
        let patch = &problem.patches[p];
        let lower = semidefinite_factor(&patch.state.stiffness);
        for k in 0..3 {
            if (0..3).all(|m| lower[(m, k)] == 0.0) {
                continue;
            }
            let at = self.scaled.len();
            self.scaled.resize(at + patch.width, 0.0);
            let mut places = Places { known: true, count: columns[0].count, ..Default::default() };
            for i in 0..places.count {
                let (unit, _) = columns[0].at[i];
                let size = self.units[unit as usize].size;
                places.at[i] = (unit, self.scaled_columns.len());
                self.scaled_columns.resize(self.scaled_columns.len() + size, 0.0);
            }
            for m in (0..3).filter(|&m| lower[(m, k)] != 0.0) {
                let row = &patch.rows[m * patch.width..(m + 1) * patch.width];
                add_scaled(&mut self.scaled[at..], row, lower[(m, k)]);
                for i in 0..places.count {
                    let (to, from) = (places.at[i].1, columns[m].at[i].1);
                    let size = self.units[places.at[i].0 as usize].size;
                    let onto = &mut self.scaled_columns[to..to + size];
                    add_scaled(onto, &self.columns[from..from + size], lower[(m, k)]);
                }
            }
            self.rows.push(Row { kind: RowKind::Patch(p as u32, at), weight: 1.0, columns: places });
        }
    }

    /// `A` of the other bodies with their limits and with the rows that act on no soft body; the right-hand side.
    fn start_border(&mut self, problem: &ConvexProblem, state: &RowState<'_>) {
        let Self { border, border_sizes, unit_of, starts, values, border_solution, shifted, .. } = self;
        border.cleared();
        for q in &problem.quadratic {
            let [a, b] = q.blocks.map(|b| b as usize);
            if unit_of[a] != u32::MAX {
                continue;
            }
            let (place, columns) = (border.place(a, b), problem.sizes[b]);
            let hessian = border.values_mut();
            for i in 0..problem.sizes[a] {
                for j in if a == b { i } else { 0 }..columns {
                    let (row, column) = if place.swapped { (j, i) } else { (i, j) };
                    hessian[place.start + row * place.stride + column] +=
                        problem.quadratic_values[q.start + i * columns + j];
                }
            }
        }
        for (block, first, term) in &problem.coordinates {
            let at = starts[*block as usize] + *first as usize;
            let (n, h) = (term.law.count(), problem.step);
            let (_, slope) = term.correction(&super::convex::coordinates_of(state.x, at, n, h));
            let place = border.place(*block as usize, *block as usize);
            let hessian = border.values_mut();
            for i in 0..n {
                for j in i..n {
                    let (row, column) = (*first as usize + i, *first as usize + j);
                    hessian[place.start + row * place.stride + column] += h * h * slope[(i, j)];
                }
            }
        }
        for (r, (segments, _)) in singles(problem).enumerate() {
            let stiffness = state.single[r][1];
            if self.group_of_row[r] != u32::MAX || stiffness == 0.0 {
                continue;
            }
            let own = &problem.segments[segments[0] as usize..segments[1] as usize];
            for (i, a) in own.iter().enumerate() {
                for b in &own[i..] {
                    let place = border.place(a.block as usize, b.block as usize);
                    let (rows, columns) = if place.swapped { (b, a) } else { (a, b) };
                    let hessian = border.values_mut();
                    for e in rows.entries[0]..rows.entries[1] {
                        let left = stiffness * values[e as usize];
                        let at = place.start + problem.entries[e as usize].local as usize * place.stride;
                        let from = if a.block == b.block { e } else { columns.entries[0] };
                        for c in from..columns.entries[1] {
                            hessian[at + problem.entries[c as usize].local as usize] += left * values[c as usize];
                        }
                    }
                }
            }
        }
        for (patch, &group) in problem.patches().iter().zip(&self.group_of_patch) {
            if group != u32::MAX || patch.pressure <= 0.0 {
                continue;
            }
            let w = patch.width;
            shifted.clear();
            shifted.resize(3 * w, 0.0);
            super::convex::times_rows(&patch.state.stiffness, &patch.rows, w, shifted);
            for (i, &(a, first)) in patch.blocks.iter().enumerate() {
                for &(b, second) in &patch.blocks[i..] {
                    let place = border.place(a as usize, b as usize);
                    let (rows, columns) =
                        if place.swapped { ((b, second), (a, first)) } else { ((a, first), (b, second)) };
                    let hessian = border.values_mut();
                    for r in 0..problem.sizes[rows.0 as usize] {
                        let skip = if a == b { r } else { 0 };
                        for c in skip..problem.sizes[columns.0 as usize] {
                            hessian[place.start + r * place.stride + c] += (0..3)
                                .map(|k| patch.rows[k * w + rows.1 + r] * shifted[k * w + columns.1 + c])
                                .sum::<f64>();
                        }
                    }
                }
            }
        }
        border_solution.clear();
        for (b, &size) in border_sizes.iter().enumerate() {
            border_solution.extend(state.gradient[starts[b]..starts[b] + size].iter().map(|g| -g));
        }
    }

    /// Subtracts `Y f` from the unknowns of soft bodies.
    fn subtract_responses(&mut self, problem: &ConvexProblem, state: &RowState<'_>, onto: &mut [f64]) {
        let Self { units, columns, column_of, patch_columns, .. } = self;
        let mut subtract = |places: &Places, force: f64| {
            for &(u, at) in &places.at[..places.count] {
                let unit = &units[u as usize];
                add_scaled(&mut onto[unit.start..unit.start + unit.size], &columns[at..at + unit.size], -force);
            }
        };
        for (r, state) in state.single.iter().enumerate() {
            if self.group_of_row[r] != u32::MAX && state[1] != 0.0 {
                subtract(&column_of[r], state[0]);
            }
        }
        for (p, patch) in problem.patches().iter().enumerate() {
            if self.group_of_patch[p] != u32::MAX && patch.pressure > 0.0 {
                (0..3).for_each(|k| subtract(&patch_columns[p][k], patch.state.force[k]));
            }
        }
    }

    /// A scaled row times a vector over the unknowns of one unit.
    fn product(&self, problem: &ConvexProblem, row: &Row, u: u32, with: &[f64]) -> f64 {
        let unit = &self.units[u as usize];
        match row.kind {
            RowKind::Single(segments) => {
                let own = &problem.segments[segments[0] as usize..segments[1] as usize];
                let mut sum = 0.0;
                for segment in own.iter().filter(|s| self.unit_of[s.block as usize] == u) {
                    let offset = self.starts[segment.block as usize] - unit.start;
                    for e in segment.entries[0]..segment.entries[1] {
                        sum += self.values[e as usize] * with[offset + problem.entries[e as usize].local as usize];
                    }
                }
                row.weight * sum
            }
            RowKind::Patch(p, at) => {
                let patch = &problem.patches[p as usize];
                let own = patch.blocks.iter().filter(|(b, _)| self.unit_of[*b as usize] == u);
                own.map(|&(b, first)| {
                    let (size, offset) = (problem.sizes[b as usize], self.starts[b as usize] - unit.start);
                    dot(&self.scaled[at + first..at + first + size], &with[offset..offset + size])
                })
                .sum()
            }
        }
    }

    /// Eliminates the rows of every group, and adds what that leaves to the system of the other bodies. `responses` holds `C g`.
    fn eliminate_groups(&mut self, problem: &ConvexProblem, responses: &[f64]) -> bool {
        for g in 0..self.groups.len() {
            let [first, last] = self.groups[g].rows;
            let (n, border) = (last - first, self.groups[g].width);
            let width = n + border + 1;
            let mut front = std::mem::take(&mut self.front);
            let own = &mut front[self.groups[g].front..][..n * width];
            for i in 0..n {
                let row = &self.rows[first + i];
                own[i * width + i] += 1.0;
                for &(u, at) in &row.columns.at[..row.columns.count] {
                    let unit = &self.units[u as usize];
                    let source =
                        if matches!(row.kind, RowKind::Single(_)) { &self.columns } else { &self.scaled_columns };
                    let column = &source[at..at + unit.size];
                    for (j, other) in self.rows[first + i..last].iter().enumerate() {
                        if other.columns.at[..other.columns.count].iter().any(|(v, _)| *v == u) {
                            own[i * width + i + j] += row.weight * self.product(problem, other, u, column);
                        }
                    }
                    let response = &responses[unit.start..unit.start + unit.size];
                    own[i * width + width - 1] += self.product(problem, row, u, response);
                }
                self.fill_border(problem, g, row, &mut own[i * width + n..(i + 1) * width - 1]);
            }
            self.schur.clear();
            self.schur.resize((border + 1) * (border + 1), 0.0);
            let positive = eliminate(own, n, width, &mut self.schur);
            self.front = front;
            if !positive {
                return false;
            }
            self.add_to_border(problem, g);
        }
        true
    }

    /// The part of a scaled row that acts on other bodies.
    fn fill_border(&self, problem: &ConvexProblem, g: usize, row: &Row, onto: &mut [f64]) {
        let column = |b: u32| self.groups[g].border.iter().find(|(known, _)| *known == b).map(|(_, at)| *at);
        match row.kind {
            RowKind::Single(segments) => {
                for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
                    let Some(at) = column(segment.block) else { continue };
                    for e in segment.entries[0]..segment.entries[1] {
                        let Entry { local, .. } = problem.entries[e as usize];
                        onto[at + local as usize] += row.weight * self.values[e as usize];
                    }
                }
            }
            RowKind::Patch(p, from) => {
                for &(b, first) in &problem.patches[p as usize].blocks {
                    let Some(at) = column(b) else { continue };
                    let size = problem.sizes[b as usize];
                    onto[at..at + size].copy_from_slice(&self.scaled[from + first..from + first + size]);
                }
            }
        }
    }

    /// Subtracts the Schur complement of a group, which is negative, from the system of the other bodies.
    fn add_to_border(&mut self, problem: &ConvexProblem, g: usize) {
        let Self { groups, schur, border, border_solution, .. } = self;
        let group = &groups[g];
        let width = group.width + 1;
        for &(a, at) in &group.border {
            for i in 0..problem.sizes[a as usize] {
                border_solution[border.start(a as usize) + i] -= schur[(at + i) * width + width - 1];
            }
            for &(b, column) in group.border.iter().filter(|(_, column)| *column >= at) {
                let place = border.place(a as usize, b as usize);
                let hessian = border.values_mut();
                for i in 0..problem.sizes[a as usize] {
                    for j in if a == b { i } else { 0 }..problem.sizes[b as usize] {
                        let (row, col) = if place.swapped { (j, i) } else { (i, j) };
                        hessian[place.start + row * place.stride + col] -= schur[(at + i) * width + column + j];
                    }
                }
            }
        }
    }

    /// Forces of the rows of a group from the motion of the other bodies, and what they do to the soft ones.
    fn substitute_back(&mut self, problem: &ConvexProblem, g: usize, step: &mut [f64], dp: &mut [f64]) {
        let group = &self.groups[g];
        let [first, last] = group.rows;
        let n = last - first;
        let width = n + group.width + 1;
        let front = &self.front[group.front..][..n * width];
        self.shifted.clear();
        self.shifted.resize(group.width, 0.0);
        for &(b, at) in &group.border {
            let (size, from) = (problem.sizes[b as usize], self.starts[b as usize]);
            self.shifted[at..at + size].copy_from_slice(&step[from..from + size]);
        }
        let mut t = std::mem::take(&mut self.schur);
        t.clear();
        t.resize(n, 0.0);
        for i in (0..n).rev() {
            let row = &front[i * width..(i + 1) * width];
            let known = dot(&row[n..width - 1], &self.shifted) - row[width - 1];
            t[i] = (known - dot(&row[i + 1..n], &t[i + 1..n])) / row[i];
        }
        for (row, &t) in self.rows[first..last].iter().zip(&t) {
            let source = if matches!(row.kind, RowKind::Single(_)) { &self.columns } else { &self.scaled_columns };
            for &(u, at) in &row.columns.at[..row.columns.count] {
                let unit = &self.units[u as usize];
                let onto = &mut step[unit.start..unit.start + unit.size];
                add_scaled(onto, &source[at..at + unit.size], -(row.weight * t));
            }
            match row.kind {
                RowKind::Single(segments) => {
                    let own = &problem.segments[segments[0] as usize..segments[1] as usize];
                    for segment in own.iter().filter(|s| self.unit_of[s.block as usize] != u32::MAX) {
                        let start = self.starts[segment.block as usize];
                        for e in segment.entries[0]..segment.entries[1] {
                            let at = start + problem.entries[e as usize].local as usize;
                            dp[at] -= row.weight * t * self.values[e as usize];
                        }
                    }
                }
                RowKind::Patch(p, from) => {
                    let blocks = problem.patches[p as usize].blocks.iter();
                    for &(b, first) in blocks.filter(|(b, _)| self.unit_of[*b as usize] != u32::MAX) {
                        let (size, at) = (problem.sizes[b as usize], self.starts[b as usize]);
                        add_scaled(&mut dp[at..at + size], &self.scaled[from + first..from + first + size], -t);
                    }
                }
            }
        }
        self.schur = t;
    }
}

/// Segments and directions of contacts, then of attachment rows.
fn singles(problem: &ConvexProblem) -> impl Iterator<Item = ([u32; 2], Vector3<f64>)> + Clone + '_ {
    let contacts = problem.contacts.iter().map(|c| (c.segments, c.normal));
    contacts.chain(problem.equalities.iter().map(|e| (e.segments, e.direction)))
}

/// `L` with `L Lᵀ` the positive part of a symmetric matrix: pivots that are rounding are left out.
fn semidefinite_factor(matrix: &Matrix3<f64>) -> Matrix3<f64> {
    let mut lower = Matrix3::zeros();
    for k in 0..3 {
        let pivot = matrix[(k, k)] - (0..k).map(|m| lower[(k, m)] * lower[(k, m)]).sum::<f64>();
        if pivot.is_nan() || pivot <= 1e-14 * matrix[(k, k)].abs() {
            continue;
        }
        let root = pivot.sqrt();
        lower[(k, k)] = root;
        for i in k + 1..3 {
            let rest = matrix[(i, k)] - (0..k).map(|m| lower[(i, m)] * lower[(k, m)]).sum::<f64>();
            lower[(i, k)] = rest / root;
        }
    }
    lower
}
