use nalgebra::{Matrix3, Vector2, Vector3};

/// Admissible set of an aggregate's friction force `(λ_t, λ_s, λ_ω)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionModel {
    /// The exact Coulomb–Contensou set: sliding and spinning share the same friction.
    #[default]
    Exact,
    /// Separate bounds on force and torque, from the gradient of the dissipation at the free velocity (Talvas 2015, eq. 18–20).
    Paper,
    /// The ellipsoid with the same half axes.
    Ellipsoid,
    /// No torsion.
    Coulomb,
}

/// One contact of an aggregate in the plane across its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchPoint {
    /// Share of the normal force; the shares sum to one.
    pub share: f64,
    /// Position relative to the centre, along `t` and `s`, m.
    pub place: [f64; 2],
}

/// Positions of the contacts of an aggregate and the distribution of its normal force.
///
/// A relative motion `u = (v_t, v_s, ω)` moves point `i` by `v_i = (v_t, v_s) + ω (−y_i, x_i)`. Friction dissipates
/// `Φ(u) = μ λ_n Σ p_i |v_i|` (Talvas 2015, eq. 17), which is the support function of the set of forces it can offer,
///
/// ```text
/// C = μ λ_n { Σ p_i (c_i, x_i c_is − y_i c_it) : |c_i| ≤ 1 }.
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactPatch {
    /// The contacts.
    pub points: Vec<PatchPoint>,
}

impl ContactPatch {
    /// A patch of points with unnormalised weights; the origin is moved to the weighted mean, which is returned too.
    pub fn new(points: impl IntoIterator<Item = (f64, [f64; 2])>) -> (Self, [f64; 2]) {
        let mut points: Vec<_> = points.into_iter().map(|(share, place)| PatchPoint { share, place }).collect();
        let total: f64 = points.iter().map(|p| p.share).sum();
        points.iter_mut().for_each(|p| p.share /= total);
        let centre = [0, 1].map(|i| points.iter().map(|p| p.share * p.place[i]).sum());
        points.iter_mut().for_each(|p| (0..2).for_each(|i| p.place[i] -= centre[i]));
        (Self { points }, centre)
    }

    /// Whether all values are finite, shares are non-negative, and they sum to one.
    pub fn is_sound(&self) -> bool {
        let sum: f64 = self.points.iter().map(|p| p.share).sum();
        let is_valid = |p: &PatchPoint| p.share >= 0.0 && p.place.iter().all(|x| x.is_finite());
        (sum - 1.0).abs() < 1e-9 && self.points.iter().all(is_valid)
    }

    /// The patch with its contacts lumped in the cells of a square grid, so that the cost of friction does not grow
    /// with the skin resolution. Shares and the centre are preserved; the extent within a cell is lost. A patch with at
    /// most as many contacts as cells is unchanged.
    pub fn condense(&self, cells_per_side: usize, into: &mut ContactPatch) {
        const MAX_SIDE: usize = 8;
        let side = cells_per_side.min(MAX_SIDE);
        into.points.clear();
        if self.points.len() <= side * side {
            into.points.extend_from_slice(&self.points);
            return;
        }
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in &self.points {
            for i in 0..2 {
                low[i] = low[i].min(p.place[i]);
                high[i] = high[i].max(p.place[i]);
            }
        }
        let mut cells = [(0.0, [0.0; 2]); MAX_SIDE * MAX_SIDE];
        for p in &self.points {
            let cell = [0, 1].map(|i| {
                let part = (p.place[i] - low[i]) / (high[i] - low[i]).max(1e-12);
                ((part * side as f64) as usize).min(side - 1)
            });
            let (share, moment) = &mut cells[cell[0] * side + cell[1]];
            *share += p.share;
            (0..2).for_each(|i| moment[i] += p.share * p.place[i]);
        }
        let full = cells[..side * side].iter().filter(|(share, _)| *share > 0.0);
        into.points.extend(full.map(|(share, moment)| PatchPoint { share: *share, place: moment.map(|m| m / share) }));
    }

    fn point_velocity(p: &PatchPoint, u: &Vector3<f64>) -> Vector2<f64> {
        Vector2::new(u.x - u.z * p.place[1], u.y + u.z * p.place[0])
    }

    /// `Σ p_i |v_i|`: dissipation per unit of `μ λ_n`, the support function of the set.
    pub fn support(&self, u: &Vector3<f64>) -> f64 {
        self.points.iter().map(|p| p.share * Self::point_velocity(p, u).norm()).sum()
    }

    /// The force per unit of `μ λ_n` that opposes a motion, a boundary point of the set: `−∇ Σ p_i |v_i|`. With `smooth
    /// > 0` that of `Σ p_i √(|v_i|² + smooth²)`, inside it.
    pub fn opposing(&self, u: &Vector3<f64>, smooth: f64) -> Vector3<f64> {
        let mut force = Vector3::zeros();
        for p in &self.points {
            let v = Self::point_velocity(p, u);
            let length = (v.norm_squared() + smooth * smooth).sqrt();
            if length > 0.0 {
                let c = -p.share * v / length;
                force += Vector3::new(c.x, c.y, p.place[0] * c.y - p.place[1] * c.x);
            }
        }
        force
    }

    /// Gradient and Hessian of `Σ p_i √(|v_i|² + smooth²)`.
    pub fn smooth_derivatives(&self, u: &Vector3<f64>, smooth: f64) -> (Vector3<f64>, Matrix3<f64>) {
        let (mut gradient, mut hessian) = (Vector3::zeros(), Matrix3::zeros());
        for p in &self.points {
            let v = Self::point_velocity(p, u);
            let [x, y] = p.place;
            let inverse = 1.0 / (v.norm_squared() + smooth * smooth).sqrt();
            let c = v * inverse;
            // Rows of the map from u to v_i are (1, 0, −y) and (0, 1, x).
            gradient += p.share * Vector3::new(c.x, c.y, x * c.y - y * c.x);
            let (a, b, d) = (1.0 - c.x * c.x, -c.x * c.y, 1.0 - c.y * c.y);
            let scale = p.share * inverse;
            let (az, bz) = (b * x - a * y, d * x - b * y);
            hessian += scale * Matrix3::new(a, b, az, b, d, bz, az, bz, x * bz - y * az);
        }
        (gradient, hessian)
    }

    /// Radius of gyration of the contacts about the centre, m.
    pub fn gyration(&self) -> f64 {
        self.points.iter().map(|p| p.share * (p.place[0].powi(2) + p.place[1].powi(2))).sum::<f64>().sqrt()
    }

    /// Maximum torque per unit of `μ λ_n`: pure spin, `Σ p_i |r_i|`, m.
    pub fn torsion(&self) -> f64 {
        self.support(&Vector3::new(0.0, 0.0, 1.0))
    }

    /// Distance of a force outside the unit set: `max_u (f·u − support(u))` over motions of unit size, zero inside.
    /// Unit size is measured with the radius of gyration, so that spin and slip are weighted equally.
    pub fn excess(&self, force: &Vector3<f64>) -> f64 {
        let g = self.gyration().max(1e-12);
        let motion = |w: &Vector3<f64>| Vector3::new(w.x, w.y, w.z / g);
        let value = |w: &Vector3<f64>| force.dot(&motion(w)) - self.support(&motion(w));
        // Sample many directions, then ascend from the best: the gradient is `f − ∇ support`, along the unit sphere.
        let mut best = (f64::NEG_INFINITY, Vector3::x());
        const RINGS: usize = 24;
        for i in 0..=RINGS {
            let z = 2.0 * i as f64 / RINGS as f64 - 1.0;
            for k in 0..2 * RINGS {
                let a = std::f64::consts::PI * k as f64 / RINGS as f64;
                let r = (1.0 - z * z).max(0.0).sqrt();
                let w = Vector3::new(r * a.cos(), r * a.sin(), z);
                let at = value(&w);
                if at > best.0 {
                    best = (at, w);
                }
            }
        }
        let mut step = 0.1;
        for _ in 0..200 {
            let uphill = motion(&(force + self.opposing(&motion(&best.1), 0.0)));
            let next = (best.1 + step * uphill).normalize();
            let at = value(&next);
            if at > best.0 {
                best = (at, next);
            } else {
                step *= 0.5;
            }
        }
        best.0.max(0.0)
    }

    /// The solution of [`ContactPatch::solve`] if the patch rotates about one of its contacts, which sticks. The cost
    /// is not differentiable there and Newton's method fails, but along the motions that keep contact `i` fixed, `u = ω
    /// (y_i, −x_i, 1)`, it is `½ a ω² − b ω + bound R_i |ω|`. Its minimum is the solution if the remaining force is
    /// admissible for that contact.
    fn spin_about_a_contact(
        &self,
        stiffness: &Matrix3<f64>,
        free: &Vector3<f64>,
        bound: f64,
    ) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let pull = stiffness * free;
        self.points.iter().enumerate().find_map(|(i, p)| {
            let turn = Vector3::new(p.place[1], -p.place[0], 1.0);
            let along = turn.dot(&pull);
            let others = self.points.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, q)| q);
            let arm = |q: &PatchPoint| Vector2::new(p.place[1] - q.place[1], q.place[0] - p.place[0]);
            let resisted: f64 = bound * others.clone().map(|q| q.share * arm(q).norm()).sum::<f64>();
            if along.abs() <= resisted {
                return None;
            }
            let spin = (along.abs() - resisted) / turn.dot(&(stiffness * turn)) * along.signum();
            let u = spin * turn;
            let needed = stiffness * (u - free);
            // Force of the sliding contacts; the sticking one carries the rest.
            let sliding: Vector2<f64> =
                others.map(|q| -bound * q.share * spin.signum() * arm(q).try_normalize(0.0).unwrap_or_default()).sum();
            let remaining = needed.xy() - sliding;
            (remaining.norm() <= bound * p.share).then_some((u, needed))
        })
    }

    /// Solves the friction of one aggregate: the motion `u` and the force `f` with `u = u₀ + W f`, where `f` opposes
    /// `u` with maximum dissipation in the set scaled by `bound = μ λ_n`.
    ///
    /// This is the minimum of the strictly convex `½ (u − u₀)ᵀ W⁻¹ (u − u₀) + bound · Σ p_i |v_i(u)|`, with three
    /// unknowns for any number of contacts. Norms are smoothed with `smooth` (m/s) for Newton's method; it is so small
    /// that a sticking contact moves by less than 0.01 µm per second. `f` is inside the set, never outside.
    pub fn solve(
        &self,
        w: &Matrix3<f64>,
        free: &Vector3<f64>,
        bound: f64,
        smooth: f64,
        start: &Vector3<f64>,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let Some(stiffness) = w.try_inverse() else {
            return (*free, Vector3::zeros());
        };
        if let Some((u, force)) = self.spin_about_a_contact(&stiffness, free, bound) {
            return (u, force);
        }
        // The cost relative to its value at rest, in a form without cancellation near rest.
        let pull = stiffness * free;
        let cost = |u: &Vector3<f64>| {
            let excess = |p: &PatchPoint| {
                let v = Self::point_velocity(p, u).norm();
                p.share * v * v / ((v * v + smooth * smooth).sqrt() + smooth)
            };
            0.5 * u.dot(&(stiffness * u)) - u.dot(&pull) + bound * self.points.iter().map(excess).sum::<f64>()
        };
        // Forces and torques scaled by the size of the patch.
        let reach = self.gyration().max(1e-9);
        let size = |f: &Vector3<f64>| Vector3::new(f.x, f.y, f.z / reach).norm();
        let enough = 1e-13 * (bound + size(&pull));
        // Sticking and free sliding bracket the solution; start at the cheapest of the guesses.
        let zero = Vector3::zeros();
        let mut u = [*start, zero, *free].into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(zero);
        let mut now = cost(&u);
        for _ in 0..200 {
            let (slope, curvature) = self.smooth_derivatives(&u, smooth);
            let gradient = stiffness * u - pull + bound * slope;
            if size(&gradient) <= enough {
                break;
            }
            let Some(factor) = (stiffness + bound * curvature).cholesky() else { break };
            let step = -factor.solve(&gradient);
            let descent = gradient.dot(&step);
            // Once differences of the cost are rounding errors, Newton's steps are accurate and need no line search.
            let polishing = -descent < 1e-13 * now.abs();
            let mut scale = 1.0;
            let (mut next, mut then) = (u + step, cost(&(u + step)));
            while !polishing && then > now + 0.1 * scale * descent && scale > 1e-12 {
                scale *= 0.5;
                next = u + scale * step;
                then = cost(&next);
            }
            (u, now) = (next, then);
        }
        (u, bound * self.opposing(&u, smooth))
    }
}
