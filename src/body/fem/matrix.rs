use crate::math::Mat3;

/// Sparsity pattern of a symmetric matrix of 3 × 3 blocks: the lower triangle, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockPattern {
    /// Number of block rows.
    rows: usize,
    /// First block of each row, and one past the last.
    starts: Vec<u32>,
    /// Block columns, ascending in each row, the diagonal last.
    columns: Vec<u32>,
}

impl BlockPattern {
    /// The pattern in which all members of a group are coupled.
    pub fn from_groups(rows: usize, groups: impl Iterator<Item = [u32; 4]>) -> Self {
        let mut sets = vec![std::collections::BTreeSet::new(); rows];
        for (i, set) in sets.iter_mut().enumerate() {
            set.insert(i as u32);
        }
        for group in groups {
            for &a in group.iter().filter(|&&a| a != u32::MAX) {
                for &b in group.iter().filter(|&&b| b <= a) {
                    sets[a as usize].insert(b);
                }
            }
        }
        let mut starts = vec![0];
        let mut columns = Vec::new();
        for set in sets {
            columns.extend(set);
            starts.push(columns.len() as u32);
        }
        Self { rows, starts, columns }
    }

    /// Block rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of stored blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// The index of a block of the lower triangle.
    pub fn find(&self, row: u32, column: u32) -> Option<usize> {
        let range = self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize;
        self.columns[range.clone()].binary_search(&column).ok().map(|i| range.start + i)
    }

    /// Every block as `(row, column, index)`.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.rows).flat_map(move |row| {
            (self.starts[row] as usize..self.starts[row + 1] as usize).map(move |k| (row, self.columns[k] as usize, k))
        })
    }
}

/// A symmetric matrix of 3 × 3 blocks; the lower triangle is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMatrix {
    /// The blocks, in the order of the pattern.
    pub blocks: Vec<Mat3>,
}

impl BlockMatrix {
    /// All zero.
    pub fn zeros(pattern: &BlockPattern) -> Self {
        Self { blocks: vec![Mat3::zeros(); pattern.blocks()] }
    }

    /// Adds `self · x` to `y`.
    pub fn multiply_add(&self, pattern: &BlockPattern, x: &[f64], y: &mut [f64]) {
        for row in 0..pattern.rows {
            let (first, last) = (pattern.starts[row] as usize, pattern.starts[row + 1] as usize - 1);
            let xi = [x[3 * row], x[3 * row + 1], x[3 * row + 2]];
            let mut sum = product(&self.blocks[last], &xi);
            for k in first..last {
                let column = 3 * pattern.columns[k] as usize;
                let block = &self.blocks[k];
                let below = product(block, &[x[column], x[column + 1], x[column + 2]]);
                for i in 0..3 {
                    sum[i] += below[i];
                    // The mirrored block above the diagonal.
                    y[column + i] += block[(0, i)] * xi[0] + block[(1, i)] * xi[1] + block[(2, i)] * xi[2];
                }
            }
            for i in 0..3 {
                y[3 * row + i] += sum[i];
            }
        }
    }
}

fn product(m: &Mat3, x: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[(i, 0)] * x[0] + m[(i, 1)] * x[1] + m[(i, 2)] * x[2])
}
