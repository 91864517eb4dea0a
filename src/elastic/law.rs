use super::error::{ElasticError, in_range, positive};

/// Force against displacement of a contact (Luo 2007, eq. 1): `F = m (ω₀² D + ¾ β₀²ε D³)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuffingLaw {
    /// Mass of the rigid tool m, kg.
    pub mass: f64,
    /// Linear restoring term ω₀², 1/s².
    pub linear: f64,
    /// Cubic restoring term β₀²ε, 1/(m² s²). Negative for a soft spring; the force is then constant beyond its peak.
    pub cubic: f64,
}

impl Default for DuffingLaw {
    /// Table I of the paper.
    fn default() -> Self {
        Self::from_millimetres(1.0, 0.2, 0.4)
    }
}

impl DuffingLaw {
    /// The law with the parameters as the paper prints them: ω₀ and β₀²ε for displacements in mm and forces in N.
    // DEVIATION: table I gives ω₀ and β₀²ε without units; the figures have mm and N, so ω₀² is in N/(kg mm) and β₀²ε in
    // N/(kg mm³). They are converted to SI here and nowhere else.
    pub fn from_millimetres(mass: f64, omega_0: f64, beta_0_squared_epsilon: f64) -> Self {
        Self { mass, linear: 1e3 * omega_0 * omega_0, cubic: 1e9 * beta_0_squared_epsilon }
    }

    /// Force magnitude at a displacement D ≥ 0, N.
    pub fn force(&self, displacement: f64) -> f64 {
        self.mass * self.acceleration(displacement)
    }

    /// Force per mass at a displacement D ≥ 0, m/s².
    pub fn acceleration(&self, displacement: f64) -> f64 {
        let d = displacement.min(self.peak());
        self.linear * d + 0.75 * self.cubic * d * d * d
    }

    /// Tangent stiffness at a displacement D ≥ 0, N/m: the derivative of [`DuffingLaw::force`].
    pub fn slope(&self, displacement: f64) -> f64 {
        if displacement >= self.peak() {
            return 0.0;
        }
        self.mass * (self.linear + 2.25 * self.cubic * displacement * displacement)
    }

    /// The displacement with a force of some magnitude, m: the inverse of [`DuffingLaw::force`].
    pub fn displacement(&self, force: f64) -> f64 {
        const STEPS: usize = 60;
        let a = force / self.mass;
        if a.is_nan() || a <= 0.0 {
            return 0.0;
        }
        if a >= self.acceleration(self.peak()) {
            return self.peak();
        }
        // For a hard spring both terms alone give upper bounds and the curve is convex: Newton's method descends to the
        // root. For a soft spring the linear term gives a lower bound and the curve is concave: it ascends.
        let mut d = a / self.linear;
        if self.cubic > 0.0 {
            d = d.min((a / (0.75 * self.cubic)).cbrt());
        }
        for _ in 0..STEPS {
            let slope = self.linear + 2.25 * self.cubic * d * d;
            let step = (self.acceleration(d) - a) / slope;
            d -= step;
            if step.abs() <= 1e-16 * d {
                break;
            }
        }
        d
    }

    /// The displacement at which a soft spring has its greatest force; infinite for a hard one.
    fn peak(&self) -> f64 {
        if self.cubic < 0.0 { (self.linear / (-2.25 * self.cubic)).sqrt() } else { f64::INFINITY }
    }

    pub(super) fn check(&self) -> Result<(), ElasticError> {
        positive("the mass of the tool", self.mass)?;
        positive("the linear restoring term", self.linear)?;
        in_range("the cubic restoring term", self.cubic, true, "a number")
    }
}

/// Friction of a contact (Luo 2007, §IV.B): at most `K |F_n|^β` while stuck, `μ_D |F_n|` while sliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionLaw {
    /// Coefficient K of static friction, N^(1−β).
    pub coefficient: f64,
    /// Exponent β of static friction, 2/3 to 1.
    pub exponent: f64,
    /// Coefficient of dynamic friction μ_D.
    pub dynamic: f64,
    /// Distance over which friction falls from static to dynamic once the tool slides, m.
    pub breakaway: f64,
}

impl Default for FrictionLaw {
    /// K and β of the paper's table I. The paper does not print μ_D.
    fn default() -> Self {
        Self { coefficient: 10.0, exponent: 0.75, dynamic: 0.3, breakaway: 1e-3 }
    }
}

impl FrictionLaw {
    /// Greatest static friction `K |F_n|^β`, N.
    // DEVIATION: the power has an infinite slope at zero, so that a contact that hardly presses any more would hold the tool.
    // Below 0.01 N the bound is linear.
    pub fn static_bound(&self, normal: f64) -> f64 {
        const LIGHT: f64 = 0.01;
        self.coefficient * normal.max(LIGHT).powf(self.exponent) * (normal / LIGHT).clamp(0.0, 1.0)
    }

    /// Friction of a sliding contact, N. Never above the static bound.
    // DEVIATION: where μ_D |F_n| exceeds K |F_n|^β the paper lowers |F_n|. The normal force would then depend on
    // whether the tool slides and jump when that changes, so the bound is lowered instead.
    pub fn dynamic_bound(&self, normal: f64) -> f64 {
        (self.dynamic * normal).min(self.static_bound(normal))
    }

    pub(super) fn check(&self) -> Result<(), ElasticError> {
        let within = |x: f64, low: f64, high: f64| x >= low && x <= high;
        in_range("the coefficient of static friction", self.coefficient, self.coefficient >= 0.0, "0 or more")?;
        in_range("the exponent of friction", self.exponent, within(self.exponent, 0.6, 1.0), "2/3 to 1")?;
        in_range("the coefficient of dynamic friction", self.dynamic, self.dynamic >= 0.0, "0 or more")?;
        positive("the breakaway distance", self.breakaway)
    }
}
