use super::kernels::eliminate;

/// Cholesky factorisation `A = UᵀU` of a symmetric positive definite matrix of dense blocks, most of them zero.
///
/// Blocks are eliminated in minimum-degree order. The block row of each is a front: its own columns and those of the
/// blocks it is
/// coupled with that are eliminated later, side by side. Eliminating it is a dense partial factorisation, whose Schur complement is added
/// to the fronts of those blocks. For a hand the fronts are the tissues (each coupled with one finger, the palm and what it touches),
/// then the fingers, then the palm and the objects.
#[derive(Clone, Debug, Default)]
pub struct BlockCholesky {
    sizes: Vec<usize>,
    /// The coupled pairs that it was analysed for.
    pairs: Vec<[u32; 2]>,
    /// First row of each block in a vector.
    starts: Vec<usize>,
    order: Vec<u32>,
    rank: Vec<u32>,
    fronts: Vec<Front>,
    /// Later neighbours of each block with their column in its front, in the order of elimination.
    neighbours: Vec<(u32, u32)>,
    values: Vec<f64>,
    schur: Vec<f64>,
    // Working memory of the analysis.
    adjacency: Vec<Vec<u32>>,
    sorted: Vec<[u32; 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Front {
    start: usize,
    width: usize,
    neighbours: [usize; 2],
}

/// Location of the entries of one pair of blocks: entry `(i, j)` at `start + i · stride + j`, where rows are those of
/// the block eliminated first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub start: usize,
    pub stride: usize,
    /// Whether the rows belong to the second block of the pair.
    pub swapped: bool,
}

impl BlockCholesky {
    /// Analyses the pattern of coupled blocks with some sizes. Does nothing if it is unchanged.
    pub fn analyse(&mut self, sizes: &[usize], pairs: impl Iterator<Item = [u32; 2]>) {
        self.sorted.clear();
        self.sorted.extend(pairs.filter(|[a, b]| a != b).map(|[a, b]| [a.min(b), a.max(b)]));
        self.sorted.sort_unstable();
        self.sorted.dedup();
        if self.sizes == sizes && self.pairs == self.sorted {
            return;
        }
        self.sizes.clear();
        self.sizes.extend_from_slice(sizes);
        std::mem::swap(&mut self.pairs, &mut self.sorted);
        self.starts.clear();
        let mut start = 0;
        for size in sizes {
            self.starts.push(start);
            start += size;
        }
        self.eliminate_symbolically();
    }

    fn eliminate_symbolically(&mut self) {
        let n = self.sizes.len();
        self.adjacency.resize_with(n.max(self.adjacency.len()), Vec::new);
        self.adjacency.iter_mut().for_each(Vec::clear);
        for &[a, b] in &self.pairs {
            self.adjacency[a as usize].push(b);
            self.adjacency[b as usize].push(a);
        }
        self.order.clear();
        self.rank.clear();
        self.rank.resize(n, u32::MAX);
        self.fronts.clear();
        self.fronts.resize(n, Front::default());
        self.neighbours.clear();
        let mut total = 0;
        for step in 0..n {
            let degree = |b: &u32| self.adjacency[*b as usize].iter().map(|&c| self.sizes[c as usize]).sum::<usize>();
            let left = (0..n as u32).filter(|&b| self.rank[b as usize] == u32::MAX);
            let Some(next) = left.min_by_key(degree) else { break };
            self.rank[next as usize] = step as u32;
            self.order.push(next);
            let around = std::mem::take(&mut self.adjacency[next as usize]);
            for &a in &around {
                let list = &mut self.adjacency[a as usize];
                list.retain(|&b| b != next);
                for &b in &around {
                    if b != a && !list.contains(&b) {
                        list.push(b);
                    }
                }
            }
            let first = self.neighbours.len();
            self.neighbours.extend(around.iter().map(|&b| (b, 0)));
            self.fronts[next as usize] = Front { start: 0, width: 0, neighbours: [first, self.neighbours.len()] };
            self.adjacency[next as usize] = around;
        }
        for block in 0..n {
            let front = &mut self.fronts[block];
            let around = &mut self.neighbours[front.neighbours[0]..front.neighbours[1]];
            around.sort_unstable_by_key(|(b, _)| self.rank[*b as usize]);
            let mut width = self.sizes[block];
            for (b, column) in around {
                *column = width as u32;
                width += self.sizes[*b as usize];
            }
            (front.start, front.width) = (total, width);
            total += width * self.sizes[block];
        }
        self.values.clear();
        self.values.resize(total, 0.0);
    }

    /// First row of a block in a vector.
    pub fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// Location of the entries of a pair of blocks.
    pub(super) fn place(&self, a: usize, b: usize) -> Place {
        let swapped = self.rank[a] > self.rank[b];
        let (row, column) = if swapped { (b, a) } else { (a, b) };
        let front = &self.fronts[row];
        let around = &self.neighbours[front.neighbours[0]..front.neighbours[1]];
        let column = if row == column {
            0
        } else {
            // Every requested pair is among the analysed ones.
            around.iter().find(|(c, _)| *c as usize == column).map_or(0, |(_, at)| *at as usize)
        };
        Place { start: front.start + column, stride: front.width, swapped }
    }

    /// The entries, initially zero, to be filled.
    pub(super) fn cleared(&mut self) -> &mut [f64] {
        self.values.fill(0.0);
        &mut self.values
    }

    /// The entries, for accumulation.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors the matrix. False if it is not positive definite.
    pub fn factor(&mut self) -> bool {
        for step in 0..self.order.len() {
            let block = self.order[step] as usize;
            let (n, front) = (self.sizes[block], self.fronts[block]);
            let rest = front.width - n;
            self.schur.clear();
            self.schur.resize(rest * rest, 0.0);
            let values = &mut self.values[front.start..front.start + n * front.width];
            if !eliminate(values, n, front.width, &mut self.schur) {
                return false;
            }
            let [first, last] = front.neighbours;
            for i in first..last {
                let (a, at) = self.neighbours[i];
                let at = at as usize - n;
                for j in i..last {
                    let (b, column) = self.neighbours[j];
                    let column = column as usize - n;
                    let place = self.place(a as usize, b as usize);
                    let size = self.sizes[b as usize];
                    for row in 0..self.sizes[a as usize] {
                        let from = (at + row) * rest + column;
                        let onto = place.start + row * place.stride;
                        let skip = if i == j { row } else { 0 };
                        for (y, x) in
                            self.values[onto + skip..onto + size].iter_mut().zip(&self.schur[from + skip..from + size])
                        {
                            *y += x;
                        }
                    }
                }
            }
        }
        true
    }

    /// Solves in place with the factor.
    pub fn solve(&self, x: &mut [f64]) {
        for &block in &self.order {
            let (n, front, start) =
                (self.sizes[block as usize], self.fronts[block as usize], self.starts[block as usize]);
            for k in 0..n {
                let row = &self.values[front.start + k * front.width..front.start + (k + 1) * front.width];
                let y = x[start + k] / row[k];
                x[start + k] = y;
                for m in k + 1..n {
                    x[start + m] -= row[m] * y;
                }
                for &(b, column) in &self.neighbours[front.neighbours[0]..front.neighbours[1]] {
                    let (size, at) = (self.sizes[b as usize], self.starts[b as usize]);
                    for (x, u) in x[at..at + size].iter_mut().zip(&row[column as usize..]) {
                        *x -= u * y;
                    }
                }
            }
        }
        for &block in self.order.iter().rev() {
            let (n, front, start) =
                (self.sizes[block as usize], self.fronts[block as usize], self.starts[block as usize]);
            for k in (0..n).rev() {
                let row = &self.values[front.start + k * front.width..front.start + (k + 1) * front.width];
                let mut y = x[start + k];
                for m in k + 1..n {
                    y -= row[m] * x[start + m];
                }
                for &(b, column) in &self.neighbours[front.neighbours[0]..front.neighbours[1]] {
                    let (size, at) = (self.sizes[b as usize], self.starts[b as usize]);
                    for (x, u) in x[at..at + size].iter().zip(&row[column as usize..]) {
                        y -= u * x;
                    }
                }
                x[start + k] = y / row[k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A random sparse positive definite block matrix is solved like a dense one, for any coupling pattern.
        #[test]
        fn solves_what_was_filled_in(
            sizes in prop::collection::vec(1usize..7, 1..9),
            links in prop::collection::vec((0usize..9, 0usize..9), 0..14),
            numbers in prop::collection::vec(-1.0..1.0f64, 60),
        ) {
            let blocks = sizes.len();
            let links: Vec<[u32; 2]> =
                links.iter().map(|&(a, b)| [(a % blocks) as u32, (b % blocks) as u32]).collect();
            let mut starts = vec![0];
            sizes.iter().for_each(|s| starts.push(starts[starts.len() - 1] + s));
            let n = starts[blocks];
            let mut dense = vec![0.0; n * n];
            let mut cholesky = BlockCholesky::default();
            for _ in 0..2 {
                cholesky.analyse(&sizes, links.iter().copied());
            }
            let (places, mut number) = (numbers.len(), 0);
            let mut next = || { number += 1; numbers[number % places] };
            // Sums of outer products over coupled pairs are positive semidefinite.
            for &[a, b] in &links {
                let mut row = vec![0.0; n];
                for block in [a as usize, b as usize] {
                    (starts[block]..starts[block + 1]).for_each(|i| row[i] = next());
                }
                for i in 0..n {
                    (0..n).for_each(|j| dense[i * n + j] += row[i] * row[j]);
                }
            }
            (0..n).for_each(|i| dense[i * n + i] += 1.0);
            let pairs = links.iter().copied().chain((0..blocks as u32).map(|b| [b, b]));
            let pairs: std::collections::BTreeSet<[u32; 2]> = pairs.map(|[a, b]| [a.min(b), a.max(b)]).collect();
            cholesky.cleared();
            for [a, b] in pairs {
                let (a, b) = (a as usize, b as usize);
                let place = cholesky.place(a, b);
                for i in 0..sizes[a] {
                    for j in 0..sizes[b] {
                        let (row, column) = if place.swapped { (j, i) } else { (i, j) };
                        if a != b || column >= row {
                            cholesky.values[place.start + row * place.stride + column] = dense[(starts[a] + i) * n + starts[b] + j];
                        }
                    }
                }
            }
            prop_assert!(cholesky.factor());
            let known: Vec<f64> = (0..n).map(|_| next()).collect();
            let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| dense[i * n + j] * known[j]).sum()).collect();
            cholesky.solve(&mut x);
            for i in 0..n {
                prop_assert!((x[i] - known[i]).abs() < 1e-8, "{} for {}", x[i], known[i]);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_rejected() {
        let mut cholesky = BlockCholesky::default();
        cholesky.analyse(&[1, 1], [[0, 1]].into_iter());
        let (a, b, c) = (cholesky.place(0, 0).start, cholesky.place(1, 1).start, cholesky.place(0, 1).start);
        let values = cholesky.cleared();
        (values[a], values[b], values[c]) = (1.0, 1.0, 2.0);
        assert!(!cholesky.factor());
    }
}
