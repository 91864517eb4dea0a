//! Dense kernels of the block factorisation.
//!
//! Every kernel is a sequence of `y += a x` over contiguous rows, so the order of operations per entry does not depend on the vector
//! width. The AVX2 build of a kernel therefore gives the same bits as the portable one; fused multiply-add is not used.

/// Whether the processor has AVX2.
pub fn wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Runs a kernel in its AVX2 build where the processor has it.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident, $body:ident, $wide:ident, ($($arg:ident: $kind:ty),*) -> $out:ty) => {
        $(#[$doc])*
        pub fn $name($($arg: $kind),*) -> $out {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn $wide($($arg: $kind),*) -> $out {
                    $body($($arg),*)
                }
                if wide() {
                    // SAFETY: the processor has AVX2.
                    return unsafe { $wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

dispatched! {
    /// Eliminates the first `n` rows of a front of `width` columns: Cholesky of the leading block, rows of the rest scaled, and the Schur
    /// complement of the rest subtracted from `schur` (upper triangle, `width − n` columns). False if a pivot is not positive.
    eliminate, eliminate_body, eliminate_avx2, (front: &mut [f64], n: usize, width: usize, schur: &mut [f64]) -> bool
}

#[inline(always)]
fn eliminate_body(front: &mut [f64], n: usize, width: usize, schur: &mut [f64]) -> bool {
    let rest = width - n;
    for first in (0..n).step_by(PANEL) {
        let last = (first + PANEL).min(n);
        let (panel, below) = front[first * width..].split_at_mut((last - first) * width);
        for k in first..last {
            let (done, next) = panel.split_at_mut((k - first + 1) * width);
            let row = &mut done[(k - first) * width..];
            let pivot = row[k];
            if pivot.is_nan() || pivot <= 0.0 || pivot == f64::INFINITY {
                return false;
            }
            let scale = 1.0 / pivot.sqrt();
            row[k..].iter_mut().for_each(|x| *x *= scale);
            for (m, onto) in (k + 1..last).zip(next.chunks_exact_mut(width)) {
                subtract(&mut onto[m..], &row[m..], row[m]);
            }
        }
        for (m, onto) in (last..n).zip(below.chunks_exact_mut(width)) {
            subtract_panel(&mut onto[m..], panel, width, m);
        }
        for a in 0..rest {
            subtract_panel(&mut schur[a * rest + a..(a + 1) * rest], panel, width, n + a);
        }
    }
    true
}

/// Rows eliminated together, so that the rest is loaded and stored once per panel.
const PANEL: usize = 4;

/// Subtracts the contribution of an eliminated panel from a row of the front, from column `m` on.
#[inline(always)]
fn subtract_panel(onto: &mut [f64], panel: &[f64], width: usize, m: usize) {
    if panel.len() == PANEL * width {
        let rows: [&[f64]; PANEL] = std::array::from_fn(|k| &panel[k * width + m..(k + 1) * width]);
        let f = rows.map(|row| row[0]);
        if f == [0.0; PANEL] {
            return;
        }
        let columns = rows[0].iter().zip(rows[1]).zip(rows[2]).zip(rows[3]);
        for (y, (((a, b), c), d)) in onto.iter_mut().zip(columns) {
            *y -= (f[0] * a + f[1] * b) + (f[2] * c + f[3] * d);
        }
    } else {
        for row in panel.chunks_exact(width).filter(|row| row[m] != 0.0) {
            subtract(onto, &row[m..], row[m]);
        }
    }
}

#[inline(always)]
fn subtract(onto: &mut [f64], row: &[f64], factor: f64) {
    for (y, x) in onto.iter_mut().zip(row) {
        *y -= factor * x;
    }
}

dispatched! {
    /// Inverse of a symmetric positive definite matrix in place, given its upper triangle; `work` is as large. False if it is not.
    invert, invert_body, invert_avx2, (a: &mut [f64], n: usize, work: &mut [f64]) -> bool
}

/// `A = UᵀU`, then `A⁻¹ = U⁻¹ U⁻ᵀ`: the rows of `Y = U⁻ᵀ` by forward substitution, then `Σ_k Y_kᵀ Y_k`.
#[inline(always)]
fn invert_body(a: &mut [f64], n: usize, work: &mut [f64]) -> bool {
    if !eliminate_body(a, n, n, &mut []) {
        return false;
    }
    work[..n * n].fill(0.0);
    for k in 0..n {
        work[k * n + k] = 1.0;
        let scale = 1.0 / a[k * n + k];
        let (done, below) = work.split_at_mut((k + 1) * n);
        let row = &mut done[k * n..];
        row[..k + 1].iter_mut().for_each(|x| *x *= scale);
        for m in k + 1..n {
            let factor = a[k * n + m];
            if factor != 0.0 {
                subtract(&mut below[(m - k - 1) * n..(m - k - 1) * n + k + 1], &row[..k + 1], factor);
            }
        }
    }
    a[..n * n].fill(0.0);
    for row in work.chunks_exact(n).take(n) {
        for (i, &x) in row.iter().enumerate() {
            if x != 0.0 {
                subtract(&mut a[i * n..(i + 1) * n], row, -x);
            }
        }
    }
    true
}

dispatched! {
    /// Adds `factor · aᵀ b` to `out`: `a` has a row for every row of `b` and a column for every row of `out`.
    add_product, add_product_body, add_product_avx2, (a: &[f64], b: &[f64], columns: [usize; 2], factor: f64, out: &mut [f64]) -> ()
}

#[inline(always)]
fn add_product_body(a: &[f64], b: &[f64], columns: [usize; 2], factor: f64, out: &mut [f64]) {
    let [rows, columns] = columns;
    if rows == 0 || columns == 0 {
        return;
    }
    // Four rows of `a` and `b` at a time, so that `out` is loaded and stored less often.
    for (a, b) in a.chunks(4 * rows).zip(b.chunks(4 * columns)) {
        for (i, out) in out.chunks_exact_mut(columns).take(rows).enumerate() {
            if a.len() == 4 * rows {
                let f: [f64; 4] = std::array::from_fn(|k| factor * a[k * rows + i]);
                let (b0, rest) = b.split_at(columns);
                let (b1, rest) = rest.split_at(columns);
                let (b2, b3) = rest.split_at(columns);
                for (y, (((x0, x1), x2), x3)) in out.iter_mut().zip(b0.iter().zip(b1).zip(b2).zip(b3)) {
                    *y += (f[0] * x0 + f[1] * x1) + (f[2] * x2 + f[3] * x3);
                }
            } else {
                for (a, b) in a.chunks_exact(rows).zip(b.chunks_exact(columns)) {
                    subtract(out, b, -(factor * a[i]));
                }
            }
        }
    }
}

dispatched! {
    /// Adds `factor · x` to `y`.
    add_scaled, add_scaled_body, add_scaled_avx2, (y: &mut [f64], x: &[f64], factor: f64) -> ()
}

#[inline(always)]
fn add_scaled_body(y: &mut [f64], x: &[f64], factor: f64) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

dispatched! {
    /// The product of two vectors: four sums side by side, then the rest.
    dot, dot_body, dot_avx2, (a: &[f64], b: &[f64]) -> f64
}

#[inline(always)]
fn dot_body(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = a.as_chunks::<4>();
    let (others, other_rest) = b.as_chunks::<4>();
    for (x, y) in fours.iter().zip(others) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = rest.iter().zip(other_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The two builds give the same bits, and the inverse is one.
        #[test]
        fn builds_agree_to_the_bit(n in 1usize..24, numbers in prop::collection::vec(-1.0..1.0f64, 24 * 24)) {
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] = (0..n).map(|k| numbers[i * n + k] * numbers[j * n + k]).sum::<f64>() + f64::from(i == j);
                }
            }
            let (mut one, mut other, mut work) = (a.clone(), a.clone(), vec![0.0; n * n]);
            prop_assert!(invert(&mut one, n, &mut work));
            prop_assert!(invert_body(&mut other, n, &mut work));
            prop_assert_eq!(&one, &other);
            for i in 0..n {
                for j in 0..n {
                    let x: f64 = (0..n).map(|k| a[i * n + k] * one[k * n + j]).sum();
                    prop_assert!((x - f64::from(i == j)).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn sums_agree_to_the_bit(count in 0usize..40, factor in -2.0..2.0f64, numbers in prop::collection::vec(-1.0..1.0f64, 80)) {
            let (a, b) = (&numbers[..count], &numbers[40..40 + count]);
            prop_assert_eq!(dot(a, b), dot_body(a, b));
            prop_assert!((dot(a, b) - a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>()).abs() < 1e-13);
            let (mut one, mut other) = (a.to_vec(), a.to_vec());
            add_scaled(&mut one, b, factor);
            add_scaled_body(&mut other, b, factor);
            prop_assert_eq!(&one, &other);
            for i in 0..count {
                prop_assert_eq!(one[i], a[i] + factor * b[i]);
            }
        }

        #[test]
        fn products_agree_to_the_bit(inner in 1usize..10, rows in 1usize..7, numbers in prop::collection::vec(-1.0..1.0f64, 200)) {
            let columns = 9;
            let (a, b) = (&numbers[..inner * rows], &numbers[100..100 + inner * columns]);
            let (mut one, mut other) = (vec![1.0; rows * columns], vec![1.0; rows * columns]);
            add_product(a, b, [rows, columns], -0.5, &mut one);
            add_product_body(a, b, [rows, columns], -0.5, &mut other);
            prop_assert_eq!(&one, &other);
            for i in 0..rows {
                for j in 0..columns {
                    let sum: f64 = (0..inner).map(|k| a[k * rows + i] * b[k * columns + j]).sum();
                    prop_assert!((one[i * columns + j] - (1.0 - 0.5 * sum)).abs() < 1e-14);
                }
            }
        }
    }
}
