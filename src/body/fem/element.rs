use crate::math::{Mat3, Vec3, polar_from, skew};

/// A linear tetrahedron.
///
/// With rest shape gradients `g_a = ∇N_a` the deformation gradient of corner positions `x_a` is `F = Σ x_a g_aᵀ`. Its polar
/// decomposition `F = R S` gives the corotational (Biot) strain `S − I` and the energy
///
/// ```text
/// E = V (μ |F − R|² + λ/2 tr²(Rᵀ F − I)),      P = ∂E/∂F / V = 2 μ (F − R) + λ tr(Rᵀ F − I) R.
/// ```
///
/// `R` is stationary, so its change does not enter the gradient: the force `−V P g_a` is exactly that of Müller and
/// Gross
/// 2004 (their `R K (Rᵀ x − X)`), the model of Talvas 2015, §4.
///
/// For an inverted element `R` is still the nearest rotation, with a negative smallest principal stretch (Irving, Teran
/// and
/// Fedkiw 2004), so the force restores it. DEVIATION: that energy is finite at `J = det F = 0`, and a larger load would
/// leave
/// elements inverted. Below `J = J₀`, [`Element::CRUSHED`], a barrier pressure `p` is added that grows like that of the
/// skin's elastic foundation:
///
/// ```text
/// p = (λ + 2 μ) e² / (1 − e),   e = 1 − J/J₀,   P = … − p cof F,
/// ```
///
/// continued with constant slope beyond [`Element::FULL`], so that the force is finite in any state.
///
/// # Strain limiting
///
/// Tissue is soft at first touch and stiffens fast under load. With `E₀ = V μ w` the energy above, and so `w = |F − R|² + λ/(2 μ) tr²(S − I)`,
/// and a coefficient `β`, [`Lame::stiffening`],
///
/// ```text
/// E = V μ 4/(5 β) ((1 + β w/4)⁵ − 1),      P = φ P₀,   φ(w) = (1 + β w/4)⁴.
/// ```
///
/// It is the exponential energy of Fung (1993), `φ = exp(β w)`, with the power that approaches it, so that it needs no
/// transcendental function and grows more slowly where strains are extreme. Perez et al. (2013) limit the strain of
/// fingers by constraints instead; an energy needs no further unknowns. `β = 0` is the linear material. `P` is the gradient for any
/// `φ`, because `R` is stationary. `w` is convex in `S` and `φ` increases, so `E` is as convex as `E₀`. With `∂w/∂F = P₀/μ` the derivative is
///
/// ```text
/// δP = φ δP₀ + φ'/μ (P₀ : δF) P₀.
/// ```
///
/// `φ` is constant beyond [`Lame::STIFFEST`], so that forces and stiffness are bounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its nodes.
    pub nodes: [u32; 4],
    /// Gradients of the four shape functions at rest, 1/m.
    pub gradients: [Vec3; 4],
    /// Volume at rest, m³.
    pub volume: f64,
}

/// Lamé's parameters, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// λ.
    pub lambda: f64,
    /// μ.
    pub mu: f64,
    /// `β` of strain limiting; zero for a linear material.
    pub stiffening: f64,
}

/// Strain limiting at some strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimit {
    /// `∫ φ dw`.
    pub energy: f64,
    /// `φ`.
    pub factor: f64,
    /// `φ'`.
    pub slope: f64,
}

impl Lame {
    /// Maximum of `φ`.
    pub const STIFFEST: f64 = 256.0;

    /// `β w / 4` at the maximum of `φ`: its fourth root less one.
    pub const MOST: f64 = 3.0;

    /// A linear material.
    pub fn linear(lambda: f64, mu: f64) -> Self {
        Self { lambda, mu, stiffening: 0.0 }
    }

    /// Strain limiting at `w`.
    pub fn limit(&self, w: f64) -> StrainLimit {
        let b = 0.25 * self.stiffening;
        if b <= 0.0 {
            return StrainLimit { energy: w, factor: 1.0, slope: 0.0 };
        }
        let x = (b * w).min(Self::MOST);
        let square = (1.0 + x) * (1.0 + x);
        // ((1 + x)⁵ − 1) / 5 without cancellation.
        let whole = x * (1.0 + x * (2.0 + x * (2.0 + x * (1.0 + 0.2 * x))));
        let factor = square * square;
        let slope = if b * w < Self::MOST { 4.0 * b * square * (1.0 + x) } else { 0.0 };
        StrainLimit { energy: whole / b + (w - x / b) * factor, factor, slope }
    }

    /// The material with both moduli scaled.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { lambda: factor * self.lambda, mu: factor * self.mu, ..*self }
    }
}

/// Barrier pressure: its energy per volume, J/m³, the pressure, Pa, and its slope `−∂p/∂J`, Pa.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BarrierPressure {
    /// Energy per volume at rest.
    pub energy: f64,
    /// The pressure.
    pub force: f64,
    /// Its slope.
    pub slope: f64,
}

/// Contribution of the strain of an element to the system matrix, Pa. The matrix need not be exact, but a step is
/// stable only if it is at least about half of the derivative of the forces in every direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stiffening {
    /// Against rotation: under tension `P` rotates with the element.
    pub twist: f64,
    /// Against change of volume.
    pub volume: f64,
    /// Against any change of `F`: a bound of `|∂²J/∂F²| p`.
    pub any: f64,
}

impl Element {
    /// `J₀`: volume ratio below which the barrier acts.
    pub const CRUSHED: f64 = 0.25;

    /// Fraction of the range from `J₀` to zero up to which the pressure stiffens.
    pub const FULL: f64 = 0.9;

    /// The element on four corners at rest.
    pub fn new(nodes: [u32; 4], corners: &[Vec3; 4]) -> Self {
        let [a, b, c, d] = corners;
        let six_volume = (b - a).dot(&(c - a).cross(&(d - a)));
        let gb = (c - a).cross(&(d - a)) / six_volume;
        let gc = (d - a).cross(&(b - a)) / six_volume;
        let gd = (b - a).cross(&(c - a)) / six_volume;
        Self { nodes, gradients: [-(gb + gc + gd), gb, gc, gd], volume: six_volume / 6.0 }
    }

    /// `F` for the four corner positions.
    pub fn deformation(&self, corners: &[Vec3; 4]) -> Mat3 {
        (0..4).map(|a| corners[a] * self.gradients[a].transpose()).sum()
    }

    /// The rotation of the element, with initial guess `start`.
    pub fn rotation(&self, corners: &[Vec3; 4], start: &Mat3) -> Mat3 {
        polar_from(&self.deformation(corners), start)
    }

    /// Elastic energy, J.
    pub fn energy(&self, material: &Lame, f: &Mat3, r: &Mat3) -> f64 {
        let pressure = Self::pressure(material, f.determinant());
        self.volume * (material.mu * material.limit(Self::strain(material, f, r)).energy + pressure.energy)
    }

    /// `w`, the measure of strain of strain limiting.
    pub fn strain(material: &Lame, f: &Mat3, r: &Mat3) -> f64 {
        let stretch = (r.transpose() * f).trace() - 3.0;
        (f - r).norm_squared() + 0.5 * material.lambda / material.mu * stretch * stretch
    }

    /// `P₀`, the stress without strain limiting.
    pub fn linear_stress(material: &Lame, f: &Mat3, r: &Mat3) -> Mat3 {
        let stretch = (r.transpose() * f).trace() - 3.0;
        2.0 * material.mu * (f - r) + material.lambda * stretch * r
    }

    /// The barrier pressure at a volume ratio `J`.
    pub fn pressure(material: &Lame, j: f64) -> BarrierPressure {
        let e = 1.0 - j / Self::CRUSHED;
        if e <= 0.0 {
            return BarrierPressure::default();
        }
        let modulus = material.lambda + 2.0 * material.mu;
        let (full, left) = (e.min(Self::FULL), 1.0 - e.min(Self::FULL));
        let (energy, force) = (-0.5 * full * full - full - left.ln(), full * full / left);
        let slope = full * (2.0 - full) / (left * left);
        let more = e - full;
        BarrierPressure {
            energy: modulus * Self::CRUSHED * (energy + force * more + 0.5 * slope * more * more),
            force: modulus * (force + slope * more),
            slope: modulus / Self::CRUSHED * slope,
        }
    }

    /// Contribution of the strain to the system matrix, for `tr S`, `det F` and `|F|`. Twisting an isotropically
    /// stretched element has the
    /// stiffness `2 μ + 3 (λ (tr S − 3) − 2 μ) / tr S`, of which up to `μ` may be omitted.
    pub fn stiffening(material: &Lame, stretch: f64, j: f64, norm: f64) -> Stiffening {
        let Lame { lambda, mu, .. } = *material;
        let twist = if stretch > 3.0 { mu + 3.0 * (lambda * (stretch - 3.0) - 2.0 * mu) / stretch } else { 0.0 };
        let pressure = Self::pressure(material, j);
        Stiffening { twist: twist.max(0.0), volume: pressure.slope, any: pressure.force * norm }
    }

    /// First Piola–Kirchhoff stress, Pa.
    pub fn stress(&self, material: &Lame, f: &Mat3, r: &Mat3) -> Mat3 {
        let factor = material.limit(Self::strain(material, f, r)).factor;
        let elastic = factor * Self::linear_stress(material, f, r);
        match Self::pressure(material, f.determinant()).force {
            0.0 => elastic,
            pressure => elastic - pressure * cofactor(f),
        }
    }

    /// Forces `∂E/∂x_a` on the four corners; the reference for the vectorised forces of a group of elements.
    #[cfg(test)]
    pub fn forces(&self, material: &Lame, f: &Mat3, r: &Mat3) -> [Vec3; 4] {
        let stress = self.volume * self.stress(material, f, r);
        self.gradients.map(|g| stress * g)
    }

    /// Gradients of the shape functions rotated with the element.
    pub fn turned_gradients(&self, r: &Mat3) -> [Vec3; 4] {
        self.gradients.map(|g| r * g)
    }

    /// A 3 × 3 block of the warped stiffness `R K_e Rᵀ` of Müller and Gross: exact at `S = I`, positive semidefinite always.
    ///
    /// With rotated gradients `G_a = R g_a` it is `V (λ G_a G_bᵀ + μ G_b G_aᵀ + μ (G_a·G_b) I)`. `twist` adds the
    /// stiffness against
    /// rotation `V twist/2 ((G_a·G_b) I − G_b G_aᵀ)`.
    pub fn warped_block(&self, material: &Lame, twist: f64, g: &[Vec3; 4], a: usize, b: usize) -> Mat3 {
        let lambda = self.volume * material.lambda;
        let (mu, across) = (self.volume * (material.mu - 0.5 * twist), self.volume * (material.mu + 0.5 * twist));
        let mut block = lambda * g[a] * g[b].transpose() + mu * g[b] * g[a].transpose();
        let dot = across * g[a].dot(&g[b]);
        for i in 0..3 {
            block[(i, i)] += dot;
        }
        block
    }

    /// Contribution of the barrier to a block, with `c_a = (cof F) g_a`: `V (volume c_a c_bᵀ + any (g_a·g_b) I)`.
    pub fn crushed_block(&self, stiffening: &Stiffening, c: &[Vec3; 4], a: usize, b: usize) -> Mat3 {
        let all = stiffening.any * self.gradients[a].dot(&self.gradients[b]);
        self.volume * (stiffening.volume * c[a] * c[b].transpose() + Mat3::from_diagonal_element(all))
    }

    /// Contribution of the slope of strain limiting to a block, with `s_a = P₀ g_a`: `V φ'/μ s_a s_bᵀ`.
    pub fn limiting_block(&self, weight: f64, s: &[Vec3; 4], a: usize, b: usize) -> Mat3 {
        (self.volume * weight) * s[a] * s[b].transpose()
    }

    /// The complete warped stiffness.
    pub fn warped_stiffness(&self, material: &Lame, r: &Mat3) -> [[Mat3; 4]; 4] {
        let g = self.turned_gradients(r);
        std::array::from_fn(|a| std::array::from_fn(|b| self.warped_block(material, 0.0, &g, a, b)))
    }

    /// The derivative of the forces: the warped stiffness omits the change of `R` under stretch.
    ///
    /// `δR = R [w]×` with `(tr(S) I − S) w = axial(Rᵀ δF − δFᵀ R)`, so `δP = 2 μ δF + λ tr(Rᵀ δF) R + (λ tr(S − I) − 2 μ) δR`.
    /// It may be indefinite under compression, where the warped stiffness is not; the step uses the latter.
    pub fn exact_stiffness(&self, material: &Lame, f: &Mat3, r: &Mat3) -> Option<[[Mat3; 4]; 4]> {
        let s = r.transpose() * f;
        let spin = (Mat3::from_diagonal_element(s.trace()) - 0.5 * (s + s.transpose())).try_inverse()?;
        let geometric = material.lambda * (s.trace() - 3.0) - 2.0 * material.mu;
        let (pressure, cof) = (Self::pressure(material, f.determinant()), cofactor(f));
        let limit = material.limit(Self::strain(material, f, r));
        let linear = Self::linear_stress(material, f, r);
        let mut blocks = [[Mat3::zeros(); 4]; 4];
        for b in 0..4 {
            for i in 0..3 {
                let df = Vec3::ith(i, 1.0) * self.gradients[b].transpose();
                let t = r.transpose() * df;
                let axial = Vec3::new(t[(2, 1)] - t[(1, 2)], t[(0, 2)] - t[(2, 0)], t[(1, 0)] - t[(0, 1)]);
                let dr = r * skew(&(spin * axial));
                let mut dp = 2.0 * material.mu * df + material.lambda * t.trace() * r + geometric * dr;
                dp = limit.factor * dp + limit.slope / material.mu * linear.dot(&df) * linear;
                // The cofactor is quadratic in `F`.
                let dcof = 0.5 * (cofactor(&(f + df)) - cofactor(&(f - df)));
                dp += pressure.slope * cof.dot(&df) * cof - pressure.force * dcof;
                for a in 0..4 {
                    blocks[a][b].set_column(i, &(self.volume * dp * self.gradients[a]));
                }
            }
        }
        Some(blocks)
    }
}

/// `cof F = J F⁻ᵀ`, the derivative of `J = det F`.
pub fn cofactor(f: &Mat3) -> Mat3 {
    let [a, b, c]: [Vec3; 3] = std::array::from_fn(|i| f.column(i).into_owned());
    Mat3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    const RUBBER: Lame = Lame { lambda: 3.0, mu: 1.0, stiffening: 0.0 };
    const FLESH: Lame = Lame { stiffening: 4.0, ..RUBBER };

    fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
        [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
    }

    fn rest() -> [Vec3; 4] {
        [Vec3::new(0.1, 0.0, -0.1), Vec3::new(1.0, 0.2, 0.0), Vec3::new(-0.1, 0.9, 0.1), Vec3::new(0.2, 0.1, 1.1)]
    }

    fn force_at(element: &Element, material: &Lame, corners: &[Vec3; 4]) -> [Vec3; 4] {
        let f = element.deformation(corners);
        element.forces(material, &f, &element.rotation(corners, &Mat3::identity()))
    }

    /// The factor is the derivative of the energy over the strain, before and beyond its maximum.
    #[test]
    fn strain_limiting_is_the_derivative_of_its_energy() {
        for w in [0.0, 1e-6, 0.01, 0.3, 1.5, 2.9, 3.1, 20.0] {
            let (limit, e) = (FLESH.limit(w), 1e-6);
            let [plus, minus] = [FLESH.limit(w + e), FLESH.limit((w - e).max(0.0))];
            let way = w + e - (w - e).max(0.0);
            assert!(((plus.energy - minus.energy) / way - limit.factor).abs() < 1e-4 * limit.factor, "{w}");
            assert!(((plus.factor - minus.factor) / way - limit.slope).abs() < 1e-4 * (1.0 + limit.slope), "{w}");
            assert_eq!(RUBBER.limit(w), StrainLimit { energy: w, factor: 1.0, slope: 0.0 });
        }
        assert_eq!(FLESH.limit(100.0).factor, Lame::STIFFEST);
    }

    proptest! {
        /// Forces are the gradient of the energy, at any deformation.
        #[test]
        fn forces_are_the_gradient_of_the_energy(turn in vector(1.0), moves in [vector(0.2), vector(0.2), vector(0.2), vector(0.2)], flesh: bool) {
            let material = if flesh { FLESH } else { RUBBER };
            let element = Element::new([0, 1, 2, 3], &rest());
            let q = exp(&turn);
            let corners: [Vec3; 4] = std::array::from_fn(|a| q * (rest()[a] + moves[a]));
            let energy = |corners: &[Vec3; 4]| {
                let f = element.deformation(corners);
                element.energy(&material, &f, &element.rotation(corners, &q.to_rotation_matrix().into_inner()))
            };
            let forces = {
                let f = element.deformation(&corners);
                element.forces(&material, &f, &element.rotation(&corners, &q.to_rotation_matrix().into_inner()))
            };
            let e = 1e-6;
            for a in 0..4 {
                for i in 0..3 {
                    let (mut plus, mut minus) = (corners, corners);
                    plus[a][i] += e;
                    minus[a][i] -= e;
                    let slope = (energy(&plus) - energy(&minus)) / (2.0 * e);
                    prop_assert!((slope - forces[a][i]).abs() < 1e-8, "{} {}", slope, forces[a][i]);
                }
            }
            prop_assert!(forces.iter().sum::<Vec3>().norm() < 1e-14, "no net force");
            let torque: Vec3 = (0..4).map(|a| corners[a].cross(&forces[a])).sum();
            prop_assert!(torque.norm() < 1e-12, "no net torque");
        }

        /// Also for compressed and inverted elements.
        #[test]
        fn forces_of_crushed_elements_are_the_gradient(height in -0.5..0.3f64, moves in [vector(0.2), vector(0.2), vector(0.2), vector(0.2)]) {
            let element = Element::new([0, 1, 2, 3], &rest());
            let corners: [Vec3; 4] = std::array::from_fn(|a| {
                let p = rest()[a] + moves[a];
                Vec3::new(p.x, p.y, height * p.z)
            });
            let f = element.deformation(&corners);
            let stretches = f.singular_values();
            // The rotation is discontinuous where the two smallest stretches are equal and opposite.
            prop_assume!(stretches.min() < 0.8 * (stretches.sum() - stretches.min() - stretches.max()));
            let r = element.rotation(&corners, &Mat3::identity());
            let forces = element.forces(&RUBBER, &f, &r);
            let energy = |corners: &[Vec3; 4]| element.energy(&RUBBER, &element.deformation(corners), &element.rotation(corners, &r));
            let e = 1e-6;
            for a in 0..4 {
                for i in 0..3 {
                    let (mut plus, mut minus) = (corners, corners);
                    plus[a][i] += e;
                    minus[a][i] -= e;
                    let slope = (energy(&plus) - energy(&minus)) / (2.0 * e);
                    let scale = forces[a].norm().max(1.0);
                    prop_assert!((slope - forces[a][i]).abs() < 1e-5 * scale, "{} {}", slope, forces[a][i]);
                }
            }
        }

        /// The exact stiffness is the derivative of the forces at any deformation, and symmetric.
        #[test]
        fn exact_stiffness_is_the_derivative(moves in [vector(0.2), vector(0.2), vector(0.2), vector(0.2)], flesh: bool) {
            let material = if flesh { FLESH } else { RUBBER };
            let element = Element::new([0, 1, 2, 3], &rest());
            let corners: [Vec3; 4] = std::array::from_fn(|a| rest()[a] + moves[a]);
            let f = element.deformation(&corners);
            let r = element.rotation(&corners, &Mat3::identity());
            let k = element.exact_stiffness(&material, &f, &r).expect("not crushed");
            let e = 1e-6;
            for b in 0..4 {
                for i in 0..3 {
                    let (mut plus, mut minus) = (corners, corners);
                    plus[b][i] += e;
                    minus[b][i] -= e;
                    let (plus, minus) = (force_at(&element, &material, &plus), force_at(&element, &material, &minus));
                    for a in 0..4 {
                        let slope = (plus[a] - minus[a]) / (2.0 * e);
                        prop_assert!((slope - k[a][b].column(i)).norm() < 1e-7);
                        prop_assert!((k[a][b] - k[b][a].transpose()).norm() < 1e-12);
                    }
                }
            }
        }

        /// For a pure rotation the stiffness of the step is the derivative too.
        #[test]
        fn warped_stiffness_is_exact_without_stretch(turn in vector(1.5)) {
            let element = Element::new([0, 1, 2, 3], &rest());
            let r = exp(&turn).to_rotation_matrix().into_inner();
            let exact = element.exact_stiffness(&RUBBER, &r, &r).expect("not crushed");
            let warped = element.warped_stiffness(&RUBBER, &r);
            for a in 0..4 {
                for b in 0..4 {
                    prop_assert!((exact[a][b] - warped[a][b]).norm() < 1e-12);
                }
            }
        }

        /// A rigid motion causes no force.
        #[test]
        fn rigid_motion_is_free(turn in vector(1.8), shift in vector(3.0)) {
            let element = Element::new([0, 1, 2, 3], &rest());
            let corners = rest().map(|p| exp(&turn) * p + shift);
            let start = Mat3::identity();
            let f = element.deformation(&corners);
            let forces = element.forces(&RUBBER, &f, &element.rotation(&corners, &start));
            prop_assert!(forces.iter().all(|f| f.norm() < 1e-12));
        }
    }
}
