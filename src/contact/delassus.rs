use crate::body::{Body, MaterialPoint};
use crate::math::Vec3;

/// One row of a constraint: directions at material points of bodies, whose velocities along them add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintRow {
    /// Which body, which of its points, and along what.
    pub terms: Vec<(usize, MaterialPoint, Vec3)>,
}

/// The Delassus operator of some rows times the step, `h Σ_bodies H A⁻¹ Hᵀ`, row by row, and the rows' velocities as the bodies move now
/// (Duriez 2006, eq. 17 and 30; Talvas 2015, eq. 4). Every body must have had its free motion.
pub fn delassus(bodies: &mut [&mut dyn Body], rows: &[ConstraintRow], h: f64) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len();
    let mut operator = vec![0.0; n * n];
    let mut velocity = vec![0.0; n];
    for (b, body) in bodies.iter_mut().enumerate() {
        let dofs = body.dofs();
        let mut directions = vec![0.0; n * dofs];
        for (r, row) in rows.iter().enumerate() {
            for (_, at, direction) in row.terms.iter().filter(|(body, _, _)| *body == b) {
                body.add_row(at, direction, &mut directions[r * dofs..(r + 1) * dofs]);
                velocity[r] += direction.dot(&body.velocity(at));
            }
        }
        let mut responses = directions.clone();
        body.apply_inverse(&mut responses);
        for r in 0..n {
            for c in 0..n {
                let (left, right) = (&directions[r * dofs..(r + 1) * dofs], &responses[c * dofs..(c + 1) * dofs]);
                operator[r * n + c] += h * left.iter().zip(right).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }
    (operator, velocity)
}
