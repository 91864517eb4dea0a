use nalgebra::{Matrix3, Vector2, Vector3};
use std::ops::Range;

use super::contensou::{ContactPatch, FrictionModel, PatchPoint};
use super::coordinate::CoordinateTerm;
use crate::math::Vec3;

/// The contact problem of one step as the minimum of a convex cost.
///
/// The unknown `x` is the velocity change due to constraints, body by body: `v = v_free + x`. With `A` the matrix of
/// the implicit
/// step, momentum balance is `A x = h Σ Jᵀ f`, the gradient of
///
/// ```text
/// c(x) = ½ xᵀ A x + Σ_i V_i(g_i) + Σ_k U_k(z_k) + Σ_j ½ κ e_j² + Σ_l D_l(x)
/// ```
///
/// `g_i = gap_i + h n_iᵀ J_i x` is the gap of contact `i` at the end of the step and `V_i` the energy of the elastic foundation there
/// ([`NormalLaw`]); `z_k` is the shear displacement of friction patch `k` at the end of the step and `U_k` the energy of its shear springs
/// with slip on the friction set ([`FrictionPatch`]); `e_j` are the errors of attachments; `D_l` corrects the
/// linearisation of joint limits and bounded springs ([`CoordinateTerm`]). Every term is convex and has a continuous
/// gradient, so Newton's method with a line search converges from any start, and every iterate lowers the cost.
///
/// Gaps and shear displacements are functions of position, not sums of velocities: a grasp at rest is a fixed point for
/// every time step.
///
/// The pressures that bound friction and their distribution over a patch are data of the cost
/// ([`FrictionPatch::refresh`]): those of the last step, updated once to those of this step if they differ much. For
/// fixed data the problem is convex. At rest both agree.
#[derive(Clone, Debug, Default)]
pub struct ConvexProblem {
    /// Size of each block of unknowns.
    pub sizes: Vec<usize>,
    /// `A`, by blocks.
    pub quadratic: Vec<Quadratic>,
    /// Values of the blocks of `A`, row by row.
    pub quadratic_values: Vec<f64>,
    /// Soft bodies of which the compliance is known too; contact alone acts on them.
    pub compliances: Vec<Compliance>,
    /// Values of the compliances, row by row.
    pub compliance_values: Vec<f64>,
    /// Jacobians of contacts and attachments.
    pub segments: Vec<JacobianSegment>,
    /// Their columns.
    pub entries: Vec<Entry>,
    /// The contacts.
    pub contacts: Vec<ContactTerm>,
    /// Contacts of the friction patches.
    pub members: Vec<u32>,
    /// The friction patches; those past [`ConvexProblem::patch_count`] are spare memory.
    pub patches: Vec<FrictionPatch>,
    /// Friction patches in use.
    pub patch_count: usize,
    /// The attachments.
    pub equalities: Vec<EqualityTerm>,
    /// Springs and limits of the bodies, each with its block and its first unknown there.
    pub coordinates: Vec<(u32, u32, CoordinateTerm)>,
    /// Time step, s: displacement of a coordinate per unit of its unknown.
    pub step: f64,
}

/// A block of `A`: its two blocks of unknowns and the offset of its values. Only one of each pair of off-diagonal
/// blocks is listed.
#[derive(Clone, Copy, Debug)]
pub struct Quadratic {
    /// The block of its rows and that of its columns.
    pub blocks: [u32; 2],
    /// Offset of its values.
    pub start: usize,
}

/// The compliance of a soft body, the inverse of its part of `A`: the body couples with nothing else in `A`.
#[derive(Clone, Copy, Debug)]
pub struct Compliance {
    /// First and one past the last of its blocks of unknowns.
    pub blocks: [u32; 2],
    /// Its first value.
    pub start: usize,
}

/// The part of a Jacobian that belongs to one block of unknowns.
#[derive(Clone, Copy, Debug)]
pub struct JacobianSegment {
    /// The block.
    pub block: u32,
    /// First and one past the last of its entries, in ascending order of unknowns.
    pub entries: [u32; 2],
}

/// A column of a Jacobian times the step: relative displacement of the two surfaces per unit of one unknown.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Which unknown of the block.
    pub local: u32,
    /// The displacement, m per unit.
    pub column: Vec3,
}

/// The elastic foundation of a contact: force against compression.
///
/// With thickness `L`, modulus `M` and area `S` a strain `e` takes the pressure `f/S = M e / (1 − e)`, so `f = (δ/c) / (1 − δ/L)` with
/// `c = L/(M S)`. Beyond [`NormalLaw::FULL`] of the thickness the stiffness is constant, so that the force is finite
/// for any initial
/// state. An infinite thickness is a linear spring. With a `backing` the two springs are in series; the force is still
/// convex in the compression, because the compression of each is concave in the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalLaw {
    /// `c`, m/N; zero if there is only a backing.
    pub softness: f64,
    /// `L`, m.
    pub thickness: f64,
    /// The surface of an elastic object.
    pub backing: Option<CubicSpring>,
}

impl NormalLaw {
    /// Fraction of the thickness up to which the law stiffens.
    pub const FULL: f64 = 0.95;

    /// Force and stiffness at a compression, N and N/m; zero if the surfaces are separated.
    pub fn force(&self, depth: f64) -> (f64, f64) {
        if depth <= 0.0 {
            return (0.0, 0.0);
        }
        match self.backing {
            None => self.foundation(depth),
            Some(backing) if self.softness == 0.0 => backing.force(depth),
            Some(backing) => self.in_series(&backing, depth),
        }
    }

    /// Compliance of the initial state, m/N.
    pub fn initial_softness(&self) -> f64 {
        self.softness + self.backing.map_or(0.0, |backing| 1.0 / backing.stiffness)
    }

    /// Compression up to which the law stiffens, m; infinite for a linear spring.
    pub fn limit(&self) -> f64 {
        let foundation = if self.softness > 0.0 { Self::FULL * self.thickness } else { 0.0 };
        foundation + self.backing.map_or(0.0, |backing| backing.limit)
    }

    fn foundation(&self, depth: f64) -> (f64, f64) {
        let full = Self::FULL * self.thickness;
        let (inner, k) = (depth.min(full), 1.0 / self.softness);
        let left = 1.0 - inner / self.thickness;
        let stiffness = k / (left * left);
        (k * inner / left + stiffness * (depth - inner), stiffness)
    }

    /// Divides the compression so that both springs have the same force: Newton's method, kept within a bracket.
    fn in_series(&self, backing: &CubicSpring, depth: f64) -> (f64, f64) {
        const STEPS: usize = 80;
        const ROUNDING: f64 = 1e-15;
        let (mut low, mut high) = (0.0, depth);
        let mut own = depth * self.softness / self.initial_softness();
        let mut at = (self.foundation(own), backing.force(depth - own));
        for _ in 0..STEPS {
            let ((f, k), (g, l)) = at;
            if f > g {
                high = own;
            } else {
                low = own;
            }
            let next = own - (f - g) / (k + l);
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - own).abs() <= ROUNDING * depth {
                break;
            }
            own = next;
            at = (self.foundation(own), backing.force(depth - own));
        }
        let ((f, k), (g, l)) = at;
        ((l * f + k * g) / (k + l), k * l / (k + l))
    }
}

/// A spring that stiffens: `f = k δ + c δ³`, the static Duffing equation (Luo 2007, eq. 1). Beyond `limit` the stiffness is
/// constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicSpring {
    /// `k`, N/m.
    pub stiffness: f64,
    /// `c`, N/m³; not negative, so that the force is convex.
    pub cubic: f64,
    /// Compression up to which it stiffens, m.
    pub limit: f64,
}

impl CubicSpring {
    /// Force and stiffness at a compression, N and N/m.
    pub fn force(&self, depth: f64) -> (f64, f64) {
        if depth <= 0.0 {
            return (0.0, 0.0);
        }
        let d = depth.min(self.limit);
        let stiffness = self.stiffness + 3.0 * self.cubic * d * d;
        (d * (self.stiffness + self.cubic * d * d) + stiffness * (depth - d), stiffness)
    }

    /// Compression under a force, m: the inverse of [`CubicSpring::force`].
    pub fn depth(&self, force: f64) -> f64 {
        if force <= 0.0 {
            return 0.0;
        }
        let (most, stiffness) = self.force(self.limit);
        if force >= most {
            return self.limit + (force - most) / stiffness;
        }
        // The real root of the depressed cubic, in a form without cancellation.
        let scale = (self.stiffness / (3.0 * self.cubic)).sqrt();
        let d = 2.0 * scale * ((1.5 * force / (self.stiffness * scale)).asinh() / 3.0).sinh();
        if d.is_finite() { d } else { force / self.stiffness }
    }

    /// Compliance under a force, m/N.
    pub fn compliance(&self, force: f64) -> f64 {
        1.0 / self.force(self.depth(force).max(f64::MIN_POSITIVE)).1
    }

    /// The same material on some times the area.
    pub fn scaled(&self, area: f64) -> Self {
        Self { stiffness: area * self.stiffness, cubic: area * self.cubic, ..*self }
    }

    /// Two springs in series as one of the same form. It is exact for equal springs, for linear ones, and at large
    /// compressions.
    pub fn in_series(&self, other: &Self) -> Self {
        let stiffness = self.stiffness * other.stiffness / (self.stiffness + other.stiffness);
        let part = self.cubic.cbrt() * other.cubic.cbrt();
        let sum = self.cubic.cbrt() + other.cubic.cbrt();
        let cubic = if sum > 0.0 { (part / sum).powi(3) } else { 0.0 };
        Self { stiffness, cubic, limit: self.limit + other.limit }
    }
}

/// A contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactTerm {
    /// Its Jacobian.
    pub segments: [u32; 2],
    /// Unit normal from the second surface to the first.
    pub normal: Vec3,
    /// Position, m.
    pub place: Vec3,
    /// Gap at the end of the step for `x = 0`, m.
    pub gap: f64,
    /// Shear displacement at the end of the step for `x = 0`, m.
    pub shear: Vec3,
    /// Shear displacement and compression at the start of the step, m.
    pub start_shear: Vec3,
    /// See `start_shear`.
    pub start_depth: f64,
    /// Time constant of its viscous damping divided by the step: the force of a rate is that of the displacement times
    /// this.
    pub viscosity: f64,
    /// Elastic foundation.
    pub law: NormalLaw,
    /// Normal force at the solution, N.
    pub pressure: f64,
    /// Normal force that bounds its friction, N; it follows `pressure`.
    pub bound: f64,
    /// Last known friction on the first surface, N.
    pub friction: Vec3,
}

impl ContactTerm {
    /// Normal force and stiffness at a gap, N and N/m: elastic foundation and its viscous damping with the initial
    /// stiffness. The force is never tensile.
    pub fn force(&self, gap: f64) -> (f64, f64) {
        let (force, stiffness) = self.law.force(-gap);
        if self.viscosity == 0.0 || gap >= 0.0 {
            return (force, stiffness);
        }
        let damping = self.viscosity / self.law.initial_softness();
        let total = force + damping * (-gap - self.start_depth);
        if total <= 0.0 { (0.0, 0.0) } else { (total, stiffness + damping) }
    }

    /// Updates the friction bound towards the pressure, by half of the difference: where pressure decreases as friction
    /// increases, a full update can alternate between two states. A new contact takes the full pressure.
    pub fn follow(&mut self) {
        self.bound = if self.bound > 0.0 { 0.5 * (self.bound + self.pressure) } else { self.pressure };
    }
}

/// A row of an attachment.
#[derive(Clone, Copy, Debug)]
pub struct EqualityTerm {
    /// The Jacobian of the two points.
    pub segments: [u32; 2],
    /// Direction of the row.
    pub direction: Vec3,
    /// Error at the end of the step for `x = 0`, m.
    pub error: f64,
}

/// Contacts of one pair of bodies that share their friction: an aggregate (Talvas 2015, §3.2–3.4), or a single contact.
///
/// With pressures `P_i`, `N = Σ P_i`, shares `p_i = P_i / N`, the aggregate's frame `n_c, t, s` at the centre of pressure and
/// `r_i = x_i − p_c`, three rows map the motions of its contacts to the patch motion:
///
/// ```text
/// H_t,i = p_i T_i t    H_s,i = p_i T_i s    H_ω,i = p_i T_i (n_c × r_i) / ρ²    T_i = 1 − n_i n_iᵀ    ρ² = Σ p_i |n_c × r_i|²
/// ```
///
/// `T_i` keeps the friction of each contact in its own tangent plane. The shear displacement of the patch is `z = Σ H_i d_i`, where `d_i` is
/// the displacement of contact `i` since it began to stick. The skin resists with the stiffness `N/ℓ` (the tangential
/// stiffness of fingertips is
/// proportional to the normal force, Pataky 2005), `K = N/ℓ diag(1, 1, ρ²)`, and slips on the Coulomb–Contensou set `C` of
/// [`ContactPatch`]:
///
/// ```text
/// U(z) = min_s ½ (z − s)ᵀ K (z − s) + μ N Σ p_i |s_i|,    f = −K (z − s) ∈ μ N C.
/// ```
///
/// The springs are damped like the tissue, with the time constant `β`: over a step `h` this is a spring of stiffness
/// `(1 + β/h) K` whose origin is at `β/h / (1 + β/h)` of the displacement at the start of the step.
///
/// The slip `s` is subtracted from the `d_i` after the step. BEYOND the paper, whose friction acts on velocities and
/// has no memory.
#[derive(Clone, Debug, Default)]
pub struct FrictionPatch {
    /// Its contacts, in [`ConvexProblem::members`].
    pub members: Range<usize>,
    /// Friction coefficient.
    pub mu: f64,
    /// `ℓ`, m.
    pub length: f64,
    /// The friction set.
    pub model: FrictionModel,
    /// Shear displacement at the end of the step, force on the first surface and slip, along `t`, `s` and about `n_c`, at the solution.
    pub state: FrictionState,
    /// Mean normal and two tangents.
    pub frame: [Vec3; 3],
    /// Centre of pressure.
    pub centre: Vec3,
    /// `N`.
    pub pressure: f64,
    /// Whether it resists spin.
    pub spins: bool,
    /// Shares and positions.
    pub patch: ContactPatch,
    /// Blocks of unknowns that move it, with the offset of their first value in a row of `rows`.
    pub blocks: Vec<(u32, usize)>,
    /// Entries of one row.
    pub width: usize,
    /// The three rows.
    pub rows: Vec<f64>,
    /// `z` for `x = 0`.
    pub offset: Vector3<f64>,
    /// Direction of slip of a single contact, in the unit disc; see `evaluate_point`.
    direction: Vector2<f64>,
    viscosity: f64,
    gyration: f64,
    torsion: f64,
    condensed: ContactPatch,
}

/// Displacement, force and slip of a friction patch.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrictionState {
    /// Shear displacement, m, m, rad.
    pub displacement: Vector3<f64>,
    /// Force, N, N, N·m.
    pub force: Vector3<f64>,
    /// Slip, m, m, rad.
    pub slip: Vector3<f64>,
    /// `−∂force/∂displacement`.
    pub stiffness: Matrix3<f64>,
}

/// Cells per side of the friction grid; used if a patch has more contacts than cells.
const FRICTION_CELLS: usize = 6;

/// Smoothing length of slip relative to `ℓ`: a sticking contact slips by less than this per step.
const SMOOTH: f64 = 1e-9;

impl FrictionPatch {
    /// Updates pressures, shares, frame and rows from the current pressures of its contacts. Returns the relative
    /// change of the pressures.
    pub fn refresh(
        &mut self,
        members: &[u32],
        contacts: &[ContactTerm],
        segments: &[JacobianSegment],
        entries: &[Entry],
    ) -> f64 {
        let own = || members[self.members.clone()].iter().map(|&i| &contacts[i as usize]);
        let total: f64 = own().map(|c| c.bound).sum();
        let before = self.pressure;
        let share = |c: &ContactTerm| c.bound / total;
        let normal = own().map(|c| c.bound * c.normal).sum::<Vec3>();
        let Some(normal) = normal.try_normalize(1e-3 * total).filter(|_| total > 0.0) else {
            self.pressure = 0.0;
            return f64::from(before > 0.0);
        };
        let centre: Vec3 = own().map(|c| share(c) * c.place).sum();
        let axis = Vec3::ith(normal.iamin(), 1.0);
        let t = (axis - axis.dot(&normal) * normal).normalize();
        let s = normal.cross(&t);
        let gyration: f64 = own().map(|c| share(c) * normal.cross(&(c.place - centre)).norm_squared()).sum();
        let changed: f64 = {
            let known = self.patch.points.len() == self.members.len() && before > 0.0;
            let old = |k: usize| if known { self.patch.points[k].share * before } else { 0.0 };
            own().enumerate().map(|(k, c)| (c.bound - old(k)).abs()).sum::<f64>() / total
        };
        let place = |c: &ContactTerm| [(c.place - centre).dot(&t), (c.place - centre).dot(&s)];
        self.patch.points.clear();
        self.patch.points.extend(own().map(|c| PatchPoint { share: share(c), place: place(c) }));
        if before <= 0.0 {
            // The slip of the last step is a good start; that of a new contact is not known.
            let friction = own().fold(Vec3::zeros(), |sum, c| sum + c.friction);
            let direction =
                Vector2::new(-friction.dot(&t), -friction.dot(&s)) / (self.mu * total).max(f64::MIN_POSITIVE);
            self.direction = direction.cap_magnitude(1.0);
        }
        self.spins = self.members.len() > 1 && gyration > 1e-12 && self.model != FrictionModel::Coulomb;
        self.patch.condense(FRICTION_CELLS, &mut self.condensed);
        (self.frame, self.centre, self.pressure, self.gyration) = ([normal, t, s], centre, total, gyration);
        self.torsion = if self.spins { self.condensed.torsion() } else { 0.0 };
        self.viscosity = own().next().map_or(0.0, |c| c.viscosity);
        self.rows.clear();
        self.rows.resize(3 * self.width, 0.0);
        self.offset = Vector3::zeros();
        for &i in &members[self.members.clone()] {
            let c = &contacts[i as usize];
            let p = c.bound / total;
            if p == 0.0 {
                continue;
            }
            let spin = if self.spins { normal.cross(&(c.place - centre)) / gyration } else { Vec3::zeros() };
            let directions = [t, s, spin].map(|d| p * (d - d.dot(&c.normal) * c.normal));
            for k in 0..3 {
                self.offset[k] +=
                    directions[k].dot(&(c.shear - self.viscosity / (1.0 + self.viscosity) * c.start_shear));
            }
            for segment in &segments[c.segments[0] as usize..c.segments[1] as usize] {
                let Some(&(_, first)) = self.blocks.iter().find(|(b, _)| *b == segment.block) else { continue };
                for entry in &entries[segment.entries[0] as usize..segment.entries[1] as usize] {
                    for (k, d) in directions.iter().enumerate() {
                        self.rows[k * self.width + first + entry.local as usize] += d.dot(&entry.column);
                    }
                }
            }
        }
        changed
    }

    /// Force, slip and stiffness at a shear displacement: return mapping on the friction set.
    pub fn evaluate(&self, z: &Vector3<f64>) -> FrictionState {
        if self.pressure <= 0.0 {
            return FrictionState { displacement: *z, slip: *z, ..Default::default() };
        }
        let k = self.pressure / self.length * (1.0 + self.viscosity);
        let bound = self.mu * self.pressure;
        if !self.spins {
            return self.evaluate_point(z, k, bound);
        }
        let springs = Vector3::new(k, k, k * self.gyration);
        let trial = springs.component_mul(z);
        // Inside the hull of pure sliding and pure spin, a subset of the friction set: no slip.
        if trial.xy().norm() + trial.z.abs() / self.torsion <= bound {
            let stiffness = Matrix3::from_diagonal(&springs);
            return FrictionState { displacement: *z, force: -trial, slip: Vector3::zeros(), stiffness };
        }
        let (slip, curvature) = if self.model == FrictionModel::Exact {
            let smooth = SMOOTH * self.length;
            let compliance = Matrix3::from_diagonal(&springs.map(|k| 1.0 / k));
            let (u, _) = self.condensed.solve(&compliance, z, bound, smooth, &Vector3::zeros());
            let (_, curvature) = self.condensed.smooth_derivatives(&u, 1e2 * smooth);
            (u, bound * curvature)
        } else {
            slip_on_ellipsoid(&springs, z, bound, self.torsion)
        };
        let force = -springs.component_mul(&(z - slip));
        let mut stiffness = Matrix3::from_diagonal(&springs);
        let inner = (stiffness + curvature).try_inverse().unwrap_or_else(Matrix3::zeros);
        stiffness -= stiffness * inner * stiffness;
        FrictionState { displacement: *z, force, slip, stiffness }
    }

    /// Friction without torque: a spring of stiffness `k` up to the force `bound`.
    ///
    /// With `θ = max(|z|, bound/k)` the force is `−bound z/θ`. While it slips it does not depend on `|z|`, so the step of Newton's method
    /// overshoots the sticking state, and with many contacts the line search stops at the kink of one after another. Written with the
    /// direction `w` as an unknown of its own, `w θ = z`, and linearised in both (Chan, Golub, Mulet 1999, for total
    /// variation), the stiffness is
    ///
    /// ```text
    /// bound/θ (1 − ½ (w zᵀ + z wᵀ)/|z|)
    /// ```
    ///
    /// It is that of Newton's method at the solution, where `w = z/|z|`, and the secant stiffness where `w = 0`. It is positive
    /// semidefinite for `|w| ≤ 1`.
    fn evaluate_point(&self, z: &Vector3<f64>, k: f64, bound: f64) -> FrictionState {
        let (slide, own) = (z.xy(), Vector3::new(0.0, 0.0, z.z));
        let length = slide.norm();
        let mut stiffness = Matrix3::zeros();
        if k * length <= bound {
            (0..2).for_each(|i| stiffness[(i, i)] = k);
            return FrictionState {
                displacement: *z,
                force: Vector3::new(-k * z.x, -k * z.y, 0.0),
                slip: own,
                stiffness,
            };
        }
        let along = slide / length;
        for i in 0..2 {
            for j in 0..2 {
                let mixed = 0.5 * (self.direction[i] * along[j] + along[i] * self.direction[j]);
                stiffness[(i, j)] = bound / length * (f64::from(i == j) - mixed);
            }
        }
        let slip = slide - bound / k * along;
        FrictionState {
            displacement: *z,
            force: Vector3::new(-bound * along.x, -bound * along.y, 0.0),
            slip: Vector3::new(slip.x, slip.y, z.z),
            stiffness,
        }
    }

    /// Updates the direction of slip of a single contact by its linearised equation for a step `dz`, limited to the
    /// unit disc. See `evaluate_point`.
    pub fn follow_direction(&mut self, z: &Vector3<f64>, dz: &Vector3<f64>) {
        if self.spins || self.pressure <= 0.0 {
            return;
        }
        let k = self.pressure / self.length * (1.0 + self.viscosity);
        let (slide, change, stuck) = (z.xy(), dz.xy(), self.mu * self.pressure / k);
        let length = slide.norm();
        let mut w = (slide + change) / length.max(stuck);
        if length > stuck {
            w -= slide.dot(&change) / (length * length) * self.direction;
        }
        self.direction = w.cap_magnitude(1.0);
    }

    /// Replaces the stiffness of a slipping patch of several contacts by a secant stiffness: the springs `K` times `|f| / |K z|` in the
    /// norm of `K⁻¹`.
    pub fn take_secant(&mut self) {
        if self.pressure <= 0.0 || !self.spins || self.state.slip.norm() == 0.0 {
            return;
        }
        let k = self.pressure / self.length * (1.0 + self.viscosity);
        let springs = Vector3::new(k, k, k * self.gyration);
        let norm = |force: &Vector3<f64>| (0..3).map(|i| force[i] * force[i] / springs[i]).sum::<f64>().sqrt();
        let trial = norm(&springs.component_mul(&self.state.displacement));
        if trial > 0.0 {
            let part = (norm(&self.state.force) / trial).min(1.0);
            self.state.stiffness = Matrix3::from_diagonal(&(part * springs));
        }
    }

    /// `ρ²`, m².
    pub fn gyration(&self) -> f64 {
        self.gyration
    }

    /// Slip of one contact of the patch for a slip of the patch, m.
    pub fn slip_at(&self, slip: &Vector3<f64>, place: &Vec3) -> Vec3 {
        let [n, t, s] = &self.frame;
        let spin = if self.spins { slip.z * n.cross(&(place - self.centre)) } else { Vec3::zeros() };
        slip.x * t + slip.y * s + spin
    }
}

/// Slip and curvature of the dissipation for the ellipsoid with half axes `bound`, `bound` and `bound · torsion`: the minimum of
/// `½ (z − u)ᵀ K (z − u) + bound √(u_t² + u_s² + torsion² ω²)`, by the secular equation for the root.
fn slip_on_ellipsoid(k: &Vector3<f64>, z: &Vector3<f64>, bound: f64, torsion: f64) -> (Vector3<f64>, Matrix3<f64>) {
    let e = Vector3::new(1.0, 1.0, torsion * torsion);
    let at =
        |s: f64| Vector3::from_fn(|i, _| if e[i] > 0.0 { k[i] * z[i] * s / (k[i] * s + bound * e[i]) } else { 0.0 });
    let length = |u: &Vector3<f64>| (0..3).map(|i| e[i] * u[i] * u[i]).sum::<f64>().sqrt();
    // `|u(s)| / s` decreases with `s`; the solution is where it is one.
    let (mut low, mut high) = (0.0, length(z));
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if length(&at(middle)) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (s, u) = (high, at(high));
    let s = s.max(1e-300);
    let scaled = e.component_mul(&u);
    (u, bound / s * (Matrix3::from_diagonal(&e) - scaled * scaled.transpose() / (s * s)))
}

impl ConvexProblem {
    /// Clears the problem but keeps its memory.
    pub fn clear(&mut self) {
        self.sizes.clear();
        self.quadratic.clear();
        self.quadratic_values.clear();
        self.compliances.clear();
        self.compliance_values.clear();
        self.segments.clear();
        self.entries.clear();
        self.contacts.clear();
        self.members.clear();
        self.patch_count = 0;
        self.equalities.clear();
        self.coordinates.clear();
    }

    /// The friction patches.
    pub fn patches(&self) -> &[FrictionPatch] {
        &self.patches[..self.patch_count]
    }

    /// The friction patches.
    pub fn patches_mut(&mut self) -> &mut [FrictionPatch] {
        &mut self.patches[..self.patch_count]
    }

    /// Adds a friction patch of the contacts that were pushed to `members` since `first`.
    pub fn push_patch(&mut self, first: usize, mu: f64, length: f64, model: FrictionModel) {
        if self.patch_count == self.patches.len() {
            self.patches.push(FrictionPatch::default());
        }
        let patch = &mut self.patches[self.patch_count];
        self.patch_count += 1;
        (patch.members, patch.mu, patch.length, patch.model) = (first..self.members.len(), mu, length, model);
        patch.pressure = 0.0;
        patch.state = FrictionState::default();
        patch.direction = Vector2::zeros();
        patch.blocks.clear();
        patch.width = 0;
        for &i in &self.members[patch.members.clone()] {
            let c = &self.contacts[i as usize];
            for segment in &self.segments[c.segments[0] as usize..c.segments[1] as usize] {
                if patch.blocks.iter().all(|(b, _)| *b != segment.block) {
                    patch.blocks.push((segment.block, patch.width));
                    patch.width += self.sizes[segment.block as usize];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_foundation_stiffens_and_its_stiffness_is_its_slope() {
        let law = NormalLaw { softness: 1e-3, thickness: 1e-4, backing: None };
        assert_eq!(law.force(-1e-5), (0.0, 0.0));
        assert!((law.force(1e-9).0 - 1e-6).abs() < 1e-10, "linear at first");
        for depth in [1e-6, 3e-5, 8e-5, 9.4e-5, 2e-4, 5e-3] {
            let (step, (_, k)) = (1e-10, law.force(depth));
            let difference = (law.force(depth + step).0 - law.force(depth - step).0) / (2.0 * step);
            assert!((k - difference).abs() < 1e-4 * k, "{k} {difference} at {depth}");
        }
        let hard = NormalLaw { softness: 1e-7, thickness: f64::INFINITY, backing: None };
        assert!((hard.force(1e-6).0 - 10.0).abs() < 1e-9 && (hard.force(1e-6).1 - 1e7).abs() < 1e-3);
    }

    const SPRING: CubicSpring = CubicSpring { stiffness: 40.0, cubic: 3e8, limit: 0.02 };

    #[test]
    fn a_cubic_spring_has_the_force_of_the_duffing_equation_and_its_stiffness_is_its_slope() {
        for depth in [1e-5, 3e-4, 2e-3, 1.9e-2, 3e-2] {
            let (step, (f, k)) = (1e-4 * depth, SPRING.force(depth));
            let d = depth.min(SPRING.limit);
            let expected = 40.0 * d + 3e8 * d * d * d + k * (depth - d);
            assert!((f - expected).abs() <= 1e-12 * f, "{f} {expected}");
            let difference = (SPRING.force(depth + step).0 - SPRING.force(depth - step).0) / (2.0 * step);
            assert!((k - difference).abs() < 1e-6 * k, "{k} {difference} at {depth}");
            assert!((SPRING.depth(f) - depth).abs() < 1e-12 * depth, "{} {depth}", SPRING.depth(f));
            assert!((SPRING.compliance(f) * k - 1.0).abs() < 1e-10);
        }
        assert_eq!((SPRING.force(-1.0), SPRING.force(0.0), SPRING.depth(-1.0)), ((0.0, 0.0), (0.0, 0.0), 0.0));
        let linear = CubicSpring { cubic: 0.0, ..SPRING };
        assert!((linear.depth(0.4) - 0.01).abs() < 1e-15);
    }

    #[test]
    fn a_layer_on_an_elastic_object_shares_one_force_with_it() {
        let law = NormalLaw { softness: 1e-3, thickness: 1e-4, backing: Some(SPRING) };
        let skin = NormalLaw { backing: None, ..law };
        let mut last = (0.0, 0.0);
        for depth in [1e-7, 1e-5, 9e-5, 3e-4, 2e-3, 1e-2, 4e-2] {
            let (f, k) = law.force(depth);
            // The two compressions that this force needs add up to the whole.
            let (mut low, mut high) = (0.0, depth);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if skin.force(middle).0 > f { high = middle } else { low = middle }
            }
            assert!((low + SPRING.depth(f) - depth).abs() < 1e-9 * depth, "{} {depth}", low + SPRING.depth(f));
            let step = 1e-5 * depth;
            let difference = (law.force(depth + step).0 - law.force(depth - step).0) / (2.0 * step);
            assert!((k - difference).abs() < 1e-4 * k, "{k} {difference} at {depth}");
            assert!(f > last.0 && k >= last.1, "convex");
            last = (f, k);
        }
        let both = SPRING.in_series(&SPRING);
        assert!((both.force(4e-3).0 / SPRING.force(2e-3).0 - 1.0).abs() < 1e-12, "equal springs share equally");
    }

    fn patch(model: FrictionModel, points: &[(f64, [f64; 2])]) -> FrictionPatch {
        let contact = |(pressure, [x, y]): &(f64, [f64; 2])| ContactTerm {
            segments: [0, 0],
            // The frame's normal is y; its tangents z and x.
            normal: Vec3::y(),
            place: Vec3::new(*y, 0.0, *x),
            gap: 0.0,
            shear: Vec3::zeros(),
            start_shear: Vec3::zeros(),
            start_depth: 0.0,
            viscosity: 0.0,
            law: NormalLaw { softness: 1e-3, thickness: 1e-4, backing: None },
            pressure: *pressure,
            bound: *pressure,
            friction: Vec3::zeros(),
        };
        let contacts: Vec<_> = points.iter().map(contact).collect();
        let members: Vec<u32> = (0..points.len() as u32).collect();
        let mut patch = FrictionPatch { members: 0..points.len(), mu: 0.8, length: 5e-5, model, ..Default::default() };
        patch.refresh(&members, &contacts, &[], &[]);
        patch
    }

    fn points() -> impl Strategy<Value = Vec<(f64, [f64; 2])>> {
        prop::collection::vec((0.05..1.0f64, [-4e-3..4e-3f64, -4e-3..4e-3f64]), 3..10)
    }

    proptest! {
        /// Forces stay in the friction set; inside it nothing slips; the stiffness is the derivative of the force.
        #[test]
        fn return_mapping(points in points(), z in [-2e-4..2e-4f64, -2e-4..2e-4f64, -4e-2..4e-2f64], ellipsoid in any::<bool>()) {
            let patch = patch(if ellipsoid { FrictionModel::Ellipsoid } else { FrictionModel::Exact }, &points);
            prop_assume!(patch.spins);
            let z = Vector3::from(z);
            let state = patch.evaluate(&z);
            let bound = patch.mu * patch.pressure;
            if ellipsoid {
                let used = f64::hypot(state.force.xy().norm() / bound, state.force.z / (bound * patch.torsion));
                prop_assert!(used < 1.0 + 1e-9, "{used}");
            } else {
                prop_assert!(patch.patch.excess(&(state.force / bound)) < 1e-5);
            }
            // Slip dissipates: force against slip.
            prop_assert!(state.force.dot(&state.slip) <= 1e-12);
            let small = patch.evaluate(&(z * 1e-3));
            prop_assert!(small.slip.norm() == 0.0);
            // Away from kinks, where a contact of the patch just sticks.
            let slowest = patch.patch.points.iter().map(|p| {
                f64::hypot(state.slip.x - state.slip.z * p.place[1], state.slip.y + state.slip.z * p.place[0])
            }).fold(f64::INFINITY, f64::min);
            prop_assume!(slowest > 2e-6);
            for j in 0..3 {
                let step = if j == 2 { 1e-7 } else { 1e-9 };
                let mut d = Vector3::zeros();
                d[j] = step;
                let difference = (patch.evaluate(&(z - d)).force - patch.evaluate(&(z + d)).force) / (2.0 * step);
                for i in 0..3 {
                    let scale = (state.stiffness[(i, i)] * state.stiffness[(j, j)]).abs().sqrt().max(1e-3 * patch.pressure / patch.length * if i == 2 { patch.gyration.sqrt() } else { 1.0 } * if j == 2 { patch.gyration.sqrt() } else { 1.0 });
                    prop_assert!((state.stiffness[(i, j)] - difference[i]).abs() < 2e-2 * scale, "{i} {j}: {} {}", state.stiffness[(i, j)], difference[i]);
                }
            }
        }

        /// A single contact: the force stays in the disc; the stiffness is positive semidefinite for any direction in
        /// the unit disc, and the derivative of the force for the direction of slip.
        #[test]
        fn return_mapping_of_a_point(pressure in 0.05..1.0f64, z in [-2e-4..2e-4f64, -2e-4..2e-4f64], w in [-1.0..1.0f64, -1.0..1.0f64]) {
            let mut patch = patch(FrictionModel::Exact, &[(pressure, [0.0, 0.0])]);
            let (z, stuck) = (Vector3::new(z[0], z[1], 0.0), patch.mu * patch.length);
            prop_assume!((z.norm() - stuck).abs() > 1e-7);
            patch.direction = Vector2::from(w).cap_magnitude(1.0);
            let state = patch.evaluate(&z);
            prop_assert!(state.force.norm() <= patch.mu * pressure * (1.0 + 1e-12));
            prop_assert!((state.slip.norm() - (z.norm() - stuck).max(0.0)).abs() < 1e-12);
            let scale = pressure / patch.length;
            let smallest = state.stiffness.fixed_view::<2, 2>(0, 0).into_owned().symmetric_eigenvalues().min();
            prop_assert!(smallest > -1e-9 * scale, "{smallest}");
            patch.direction = z.xy().normalize();
            let state = patch.evaluate(&z);
            for j in 0..2 {
                let mut d = Vector3::zeros();
                d[j] = 1e-10;
                let difference = (patch.evaluate(&(z - d)).force - patch.evaluate(&(z + d)).force) / 2e-10;
                for i in 0..2 {
                    prop_assert!((state.stiffness[(i, j)] - difference[i]).abs() < 1e-4 * scale);
                }
            }
        }

        /// The linearised equation `w |z| = z` holds to second order, so that small steps keep the direction of slip.
        #[test]
        fn direction_follows_slip(z in [1e-4..2e-4f64, -2e-4..2e-4f64], step in [-1e-6..1e-6f64, -1e-6..1e-6f64]) {
            let mut patch = patch(FrictionModel::Exact, &[(0.5, [0.0, 0.0])]);
            let (z, dz) = (Vector3::new(z[0], z[1], 0.0), Vector3::new(step[0], step[1], 0.0));
            patch.direction = z.xy().normalize();
            patch.follow_direction(&z, &dz);
            let error = patch.direction - (z + dz).xy().normalize();
            prop_assert!(error.norm() < 2.0 * (dz.norm() / z.norm()).powi(2) + 1e-12, "{error}");
        }
    }
}
