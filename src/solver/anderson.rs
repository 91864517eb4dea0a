use nalgebra::{SMatrix, SVector};

/// Number of stored pairs of a point and its image.
const STORED_PAIRS: usize = 6;

/// Anderson acceleration of a fixed-point iteration `x ← G(x)`: the next point is the combination of the last images
/// with the smallest combined residual `G(x) − x`. On contact problems it speeds up the slow tail of Gauss–Seidel;
/// where the laws switch it may overshoot, so it restarts when the residual has grown.
#[derive(Clone, Debug, Default)]
pub struct Anderson {
    n: usize,
    /// Number of stored differences, and the index of the next one.
    count: usize,
    next: usize,
    /// Last image and scaled residual.
    image: Vec<f64>,
    residual: Vec<f64>,
    has_last: bool,
    /// Differences of successive images and residuals, one after another.
    images: Vec<f64>,
    residuals: Vec<f64>,
    /// The point with the smallest residual so far.
    best: Vec<f64>,
    least: f64,
}

impl Anderson {
    /// Clears the history but keeps its memory.
    pub fn start(&mut self, n: usize) {
        self.n = n;
        self.least = f64::INFINITY;
        let single = [&mut self.best, &mut self.image, &mut self.residual].map(|memory| (memory, n));
        let many = [&mut self.images, &mut self.residuals].map(|memory| (memory, n * STORED_PAIRS));
        for (memory, size) in single.into_iter().chain(many) {
            memory.clear();
            if memory.capacity() < size {
                // With room for a few more contacts.
                memory.reserve(2 * size);
            }
            memory.resize(size, 0.0);
        }
        self.forget();
    }

    fn forget(&mut self) {
        (self.count, self.next, self.has_last) = (0, 0, false);
    }

    /// Adds the image of a point, and replaces it by the next point to try. `scale` converts residuals to one unit.
    pub fn mix(&mut self, point: &[f64], image: &mut [f64], scale: impl Fn(usize) -> f64) {
        let n = self.n;
        let slot = self.next * n;
        let mut size = 0.0;
        for i in 0..n {
            let r = scale(i) * (image[i] - point[i]);
            size += r * r;
            self.images[slot + i] = image[i] - self.image[i];
            self.residuals[slot + i] = r - self.residual[i];
            (self.image[i], self.residual[i]) = (image[i], r);
        }
        if size < self.least {
            self.least = size;
            self.best.copy_from_slice(image);
        } else if size > 4.0 * self.least || !size.is_finite() {
            image.copy_from_slice(&self.best);
            self.least *= 4.0;
            self.forget();
            return;
        }
        if self.has_last {
            self.next = (self.next + 1) % STORED_PAIRS;
            self.count = (self.count + 1).min(STORED_PAIRS);
        }
        self.has_last = true;
        if self.count == 0 {
            return;
        }
        let column = |j: usize| &self.residuals[j * n..(j + 1) * n];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut normal = SMatrix::<f64, STORED_PAIRS, STORED_PAIRS>::identity();
        let mut rhs = SVector::<f64, STORED_PAIRS>::zeros();
        let largest = (0..self.count).map(|j| dot(column(j), column(j))).fold(0.0, f64::max);
        for j in 0..self.count {
            rhs[j] = dot(column(j), &self.residual);
            for k in 0..self.count {
                normal[(j, k)] = dot(column(j), column(k));
            }
            normal[(j, j)] += 1e-12 * largest + f64::MIN_POSITIVE;
        }
        let Some(mixture) = normal.cholesky().map(|factor| factor.solve(&rhs)) else {
            self.forget();
            return;
        };
        for j in 0..self.count {
            for i in 0..n {
                image[i] -= mixture[j] * self.images[j * n + i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a linear iteration in few dimensions it terminates after as many iterations as there are dimensions, up to
    /// rounding.
    #[test]
    fn a_slow_linear_iteration_is_accelerated() {
        let rates = [0.99, 0.9, -0.95];
        let target = [1.0, -2.0, 3.0];
        let mut x = [0.0; 3];
        let mut anderson = Anderson::default();
        anderson.start(3);
        for _ in 0..8 {
            let mut image = [0, 1, 2].map(|i| target[i] + rates[i] * (x[i] - target[i]));
            anderson.mix(&x, &mut image, |_| 1.0);
            x = image;
        }
        assert!((0..3).all(|i| (x[i] - target[i]).abs() < 1e-6), "{x:?}");
    }
}
