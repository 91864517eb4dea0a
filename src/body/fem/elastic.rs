use super::element::{Element, Lame};
use super::lanes::Lanes;
use crate::math::{Mat3, Quat, Vec3, nearest_rotation};
use crate::solver::wide;

/// Four elements. Unused entries at the end have zero volume.
#[derive(Clone, Debug)]
pub struct ElementGroup {
    /// Nodes of each corner, one for each of the four elements.
    nodes: [[u32; 4]; 4],
    /// Gradients of the shape functions of the last three corners; the four sum to zero.
    gradients: [[Lanes; 3]; 3],
    volume: Lanes,
}

/// Rotations of the four elements as unit quaternions, scalar part first.
pub type Turns = [Lanes; 4];

/// Identity.
pub const UNTURNED: Turns = [Lanes([1.0; 4]), Lanes([0.0; 4]), Lanes([0.0; 4]), Lanes([0.0; 4])];

/// Strain measures of four elements on which their stiffness depends ([`Element::stiffening`]).
#[derive(Clone, Copy, Debug)]
pub struct Strains {
    /// `tr S`.
    pub stretch: Lanes,
    /// `det F`.
    pub volume: Lanes,
    /// `φ` of strain limiting.
    pub limiting: Lanes,
}

impl Default for Strains {
    fn default() -> Self {
        Self { stretch: Lanes::all(3.0), volume: Lanes::all(1.0), limiting: Lanes::all(1.0) }
    }
}

/// Residual `|axial(S − Sᵀ)| / |tr S|` below which one more step is accurate to rounding.
const CONVERGED: f64 = 1e-8;

/// Newton steps before a rotation is computed without a guess.
const STEPS: usize = 5;

/// Groups elements by four.
pub fn grouped(elements: &[Element]) -> Vec<ElementGroup> {
    let group = |four: &[Element]| {
        let lanes = |of: &dyn Fn(&Element) -> f64| Lanes(std::array::from_fn(|lane| four.get(lane).map_or(0.0, of)));
        ElementGroup {
            nodes: std::array::from_fn(|a| std::array::from_fn(|lane| four.get(lane).map_or(0, |e| e.nodes[a]))),
            gradients: std::array::from_fn(|a| std::array::from_fn(|c| lanes(&|e| e.gradients[a + 1][c]))),
            volume: lanes(&|e| e.volume),
        }
    };
    elements.chunks(4).map(group).collect()
}

/// The rotation of one of four elements.
pub fn turn_of(turns: &Turns, lane: usize) -> Quat {
    let [w, x, y, z] = turns.map(|part| part.0[lane]);
    Quat::new_unchecked(nalgebra::Quaternion::new(w, x, y, z))
}

/// Adds the elastic forces `∂E/∂x` of all elements to their nodes for some displacements. `rotations` are the initial
/// guesses and are updated.
pub fn add_forces(
    groups: &[ElementGroup],
    lame: &Lame,
    displacement: &[Vec3],
    turns: &mut [Turns],
    strains: &mut [Strains],
    forces: &mut [Vec3],
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn add_forces_avx2(
            groups: &[ElementGroup],
            lame: &Lame,
            displacement: &[Vec3],
            turns: &mut [Turns],
            strains: &mut [Strains],
            forces: &mut [Vec3],
        ) {
            add_forces_body(groups, lame, displacement, turns, strains, forces);
        }
        if wide() {
            // SAFETY: the processor has AVX2.
            return unsafe { add_forces_avx2(groups, lame, displacement, turns, strains, forces) };
        }
    }
    add_forces_body(groups, lame, displacement, turns, strains, forces);
}

#[inline(always)]
fn add_forces_body(
    groups: &[ElementGroup],
    lame: &Lame,
    displacement: &[Vec3],
    turns: &mut [Turns],
    strains: &mut [Strains],
    forces: &mut [Vec3],
) {
    let (two_mu, lambda) = (Lanes::all(2.0 * lame.mu), Lanes::all(lame.lambda));
    for ((group, turn), strain) in groups.iter().zip(turns).zip(strains) {
        let f = group.deformation(displacement);
        let (r, stretch) = rotations(&f, turn);
        // First Piola–Kirchhoff stress times the volume.
        let spherical = lambda * (stretch - Lanes::all(3.0));
        let limiting = limiting(lame, &f, &r, &stretch);
        let weight = group.volume * limiting;
        let mut stress: [[Lanes; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| weight * (two_mu * (f[i][j] - r[i][j]) + spherical * r[i][j]))
        });
        let volume = determinant(&f);
        if volume.any(Lanes::all(Element::CRUSHED), |j, limit| j < limit) {
            add_pressure(&f, &volume, &group.volume, lame, &mut stress);
        }
        *strain = Strains { stretch, volume, limiting };
        group.scatter(&stress, forces);
    }
}

impl ElementGroup {
    /// `F = I + Σ (u_a − u_0) g_aᵀ`.
    #[inline(always)]
    fn deformation(&self, displacement: &[Vec3]) -> [[Lanes; 3]; 3] {
        let at = |a: usize| self.nodes[a].map(|node| &displacement[node as usize]);
        let first = at(0);
        let mut f = [[Lanes::all(0.0); 3]; 3];
        for a in 0..3 {
            let own = at(a + 1);
            for i in 0..3 {
                let d = Lanes(std::array::from_fn(|lane| own[lane][i] - first[lane][i]));
                for j in 0..3 {
                    f[i][j] = f[i][j] + d * self.gradients[a][j];
                }
            }
        }
        for i in 0..3 {
            f[i][i] = f[i][i] + Lanes::all(1.0);
        }
        f
    }

    /// Adds `P g_a` to the nodes.
    #[inline(always)]
    fn scatter(&self, stress: &[[Lanes; 3]; 3], forces: &mut [Vec3]) {
        let mut sum = [Lanes::all(0.0); 3];
        for a in 0..3 {
            let g = &self.gradients[a];
            for i in 0..3 {
                let force = stress[i][0] * g[0] + stress[i][1] * g[1] + stress[i][2] * g[2];
                sum[i] = sum[i] + force;
                for lane in 0..4 {
                    forces[self.nodes[a + 1][lane] as usize][i] += force.0[lane];
                }
            }
        }
        for i in 0..3 {
            for lane in 0..4 {
                forces[self.nodes[0][lane] as usize][i] -= sum[i].0[lane];
            }
        }
    }
}

/// `φ` of strain limiting, for `F`, `R` and `tr S`.
#[inline(always)]
fn limiting(lame: &Lame, f: &[[Lanes; 3]; 3], r: &[[Lanes; 3]; 3], stretch: &Lanes) -> Lanes {
    if lame.stiffening <= 0.0 {
        return Lanes::all(1.0);
    }
    let volumetric = *stretch - Lanes::all(3.0);
    let mut w = Lanes::all(0.5 * lame.lambda / lame.mu) * volumetric * volumetric;
    for i in 0..3 {
        for j in 0..3 {
            let d = f[i][j] - r[i][j];
            w = w + d * d;
        }
    }
    let x = (Lanes::all(0.25 * lame.stiffening) * w).at_most(Lame::MOST) + Lanes::all(1.0);
    (x * x) * (x * x)
}

/// Adds the stress of the volume barrier for compressed elements, which are rare.
#[cold]
#[inline(never)]
fn add_pressure(f: &[[Lanes; 3]; 3], volume: &Lanes, weight: &Lanes, lame: &Lame, stress: &mut [[Lanes; 3]; 3]) {
    for lane in (0..4).filter(|&lane| volume.0[lane] < Element::CRUSHED) {
        let own = Mat3::from_fn(|i, j| f[i][j].0[lane]);
        let added = -weight.0[lane] * Element::pressure(lame, volume.0[lane]).force * super::element::cofactor(&own);
        for i in 0..3 {
            for j in 0..3 {
                stress[i][j].0[lane] += added[(i, j)];
            }
        }
    }
}

#[inline(always)]
fn determinant(f: &[[Lanes; 3]; 3]) -> Lanes {
    f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) - f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0])
        + f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0])
}

/// Rotations nearest to `F` and `tr S`, by the Newton steps of [`polar_from`](crate::math::polar_from) on quaternions: a step `w` is the
/// rotation `(1, w/2)` normalised (Cayley), which agrees with `exp` to second order.
#[inline(always)]
fn rotations(f: &[[Lanes; 3]; 3], turn: &mut Turns) -> ([[Lanes; 3]; 3], Lanes) {
    let half = Lanes::all(0.5);
    for _ in 0..STEPS {
        let r = matrix(turn);
        let s: [[Lanes; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| r[0][i] * f[0][j] + r[1][i] * f[1][j] + r[2][i] * f[2][j]));
        let trace = s[0][0] + s[1][1] + s[2][2];
        let [x, y, z] = [s[2][1] - s[1][2], s[0][2] - s[2][0], s[1][0] - s[0][1]];
        let [a, b, c] = [trace - s[0][0], trace - s[1][1], trace - s[2][2]];
        let [d, e, g] = [-(half * (s[0][1] + s[1][0])), -(half * (s[0][2] + s[2][0])), -(half * (s[1][2] + s[2][1]))];
        // H = [[a, d, e], [d, b, g], [e, g, c]]; its minors.
        let minor = a * b - d * d;
        let (m00, m01, m02) = (b * c - g * g, e * g - d * c, d * g - e * b);
        let det = a * m00 + d * m01 + e * m02;
        let scale = trace + trace;
        let square = scale * scale;
        let unsafe_hessian = a.any(scale, |a, s| a.is_nan() || a <= 1e-3 * s)
            | minor.any(square, |m, s| m <= 1e-4 * s)
            | det.any(square * scale, |d, s| d <= 1e-5 * s || s <= 0.0);
        if unsafe_hessian {
            break;
        }
        let (m11, m12, m22) = (a * c - e * e, d * e - a * g, minor);
        let scale = half * det.inverse();
        let t = [
            scale * (m00 * x + m01 * y + m02 * z),
            scale * (m01 * x + m11 * y + m12 * z),
            scale * (m02 * x + m12 * y + m22 * z),
        ];
        *turn = turned(turn, &t);
        let residual = x * x + y * y + z * z;
        if !residual.any(trace * trace, |r, s| r > CONVERGED * CONVERGED * s) {
            // The trace is stationary.
            return (matrix(turn), trace);
        }
    }
    rotations_without_guess(f, turn)
}

/// Rotations of the four elements individually.
#[cold]
#[inline(never)]
fn rotations_without_guess(f: &[[Lanes; 3]; 3], turn: &mut Turns) -> ([[Lanes; 3]; 3], Lanes) {
    let mut stretch = Lanes::all(0.0);
    for lane in 0..4 {
        let own = Mat3::from_fn(|i, j| f[i][j].0[lane]);
        let q = nearest_rotation(&own);
        stretch.0[lane] = (q.to_rotation_matrix().inverse() * own).trace();
        // Choose the sign closer to the last one, so that the distance between the two is small.
        let before = turn_of(turn, lane);
        let sign = if before.coords.dot(&q.coords) < 0.0 { -1.0 } else { 1.0 };
        for (part, value) in turn.iter_mut().zip([q.w, q.i, q.j, q.k]) {
            part.0[lane] = sign * value;
        }
    }
    (matrix(turn), stretch)
}

/// The rotation matrix of unit quaternions.
#[inline(always)]
fn matrix([w, x, y, z]: &Turns) -> [[Lanes; 3]; 3] {
    let (w, x, y, z) = (*w, *x, *y, *z);
    let two = |a: Lanes| a + a;
    let one = Lanes::all(1.0);
    [
        [one - two(y * y + z * z), two(x * y - w * z), two(x * z + w * y)],
        [two(x * y + w * z), one - two(x * x + z * z), two(y * z - w * x)],
        [two(x * z - w * y), two(y * z + w * x), one - two(x * x + y * y)],
    ]
}

/// `q (1, t)`, normalised.
#[inline(always)]
fn turned([w, x, y, z]: &Turns, t: &[Lanes; 3]) -> Turns {
    let (w, x, y, z) = (*w, *x, *y, *z);
    let [a, b, c] = *t;
    let q =
        [w - x * a - y * b - z * c, x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a];
    let scale = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt().inverse();
    q.map(|part| part * scale)
}
