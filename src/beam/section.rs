use std::f64::consts::PI;

use super::error::{BeamError, in_range, positive};

/// The cross-section of a beam. Its axes are y and z of the beam's frame; x runs along the beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Section {
    /// A disc.
    Round {
        /// Its radius, m.
        radius: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Size along y, m.
        width: f64,
        /// Size along z, m.
        height: f64,
    },
}

/// Geometric properties of a section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionProperties {
    /// Area, m².
    pub area: f64,
    /// Second moment about y, `∫ z² dA`, m⁴: bending in the x–z plane.
    pub about_y: f64,
    /// Second moment about z, `∫ y² dA`, m⁴: bending in the x–y plane.
    pub about_z: f64,
    /// Torsion constant of Saint-Venant, m⁴.
    pub torsion: f64,
    /// Shear coefficient of Timoshenko's theory.
    pub shear: f64,
}

impl Section {
    /// Checks the sizes.
    pub fn check(&self) -> Result<(), BeamError> {
        match *self {
            Section::Round { radius } => positive("radius of a section", radius),
            Section::Rectangle { width, height } => {
                positive("width of a section", width)?;
                positive("height of a section", height)
            }
        }
    }

    /// Area and moments, for a material with Poisson's ratio `poisson`.
    ///
    /// Shear coefficients are those of Cowper 1966: `6(1+ν)/(7+6ν)` for a disc and `10(1+ν)/(12+11ν)` for a rectangle.
    pub fn properties(&self, poisson: f64) -> SectionProperties {
        match *self {
            Section::Round { radius: r } => {
                let moment = PI * r.powi(4) / 4.0;
                let shear = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson);
                SectionProperties { area: PI * r * r, about_y: moment, about_z: moment, torsion: 2.0 * moment, shear }
            }
            Section::Rectangle { width: b, height: c } => SectionProperties {
                area: b * c,
                about_y: b * c.powi(3) / 12.0,
                about_z: c * b.powi(3) / 12.0,
                torsion: rectangle_torsion(b.max(c), b.min(c)),
                shear: 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson),
            },
        }
    }

    /// Radius of the capsule that represents the section in contact: the disc itself, or the disc of the same area.
    pub fn contact_radius(&self) -> f64 {
        match *self {
            Section::Round { radius } => radius,
            Section::Rectangle { width, height } => (width * height / PI).sqrt(),
        }
    }

    /// The section at the part `s` of the way to another of the same kind.
    pub fn towards(&self, other: &Section, s: f64) -> Result<Section, BeamError> {
        let mix = |a: f64, b: f64| (1.0 - s) * a + s * b;
        match (*self, *other) {
            (Section::Round { radius: a }, Section::Round { radius: b }) => Ok(Section::Round { radius: mix(a, b) }),
            (Section::Rectangle { width: a, height: c }, Section::Rectangle { width: b, height: d }) => {
                Ok(Section::Rectangle { width: mix(a, b), height: mix(c, d) })
            }
            _ => Err(BeamError::MixedSections),
        }
    }
}

/// Torsion constant of a rectangle with sides `a ≥ b`: the series of Saint-Venant,
/// `a b³/3 · (1 − 192 b/(π⁵ a) Σ tanh(k π a / 2b) / k⁵)` over odd `k`. Terms fall as `k⁻⁵`.
fn rectangle_torsion(a: f64, b: f64) -> f64 {
    let sum: f64 = (0..12).map(|i| (2 * i + 1) as f64).map(|k| (k * PI * a / (2.0 * b)).tanh() / k.powi(5)).sum();
    a * b.powi(3) / 3.0 * (1.0 - 192.0 * b / (PI.powi(5) * a) * sum)
}

/// Material of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamMaterial {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Density, kg/m³.
    pub density: f64,
    /// Bending and twisting stiffness as a part of that of a solid section. One for a rod; far below one for a thread, whose fibres
    /// slide on each other.
    pub flexural_part: f64,
}

impl BeamMaterial {
    /// A solid rod.
    pub fn solid(young: f64, poisson: f64, density: f64) -> Self {
        Self { young, poisson, density, flexural_part: 1.0 }
    }

    /// A thread: stretched like a solid section, bent and twisted with `flexural_part` of its stiffness.
    pub fn thread(young: f64, density: f64, flexural_part: f64) -> Self {
        Self { young, poisson: 0.3, density, flexural_part }
    }

    /// Checks every value.
    pub fn check(&self) -> Result<(), BeamError> {
        positive("Young's modulus of a beam", self.young)?;
        positive("density of a beam", self.density)?;
        let poisson = self.poisson;
        in_range(
            "Poisson's ratio of a beam",
            poisson,
            poisson > -1.0 && poisson <= 0.5,
            "a number from above -1 to 0.5",
        )?;
        let part = self.flexural_part;
        in_range("flexural part of a beam", part, part > 0.0 && part <= 1.0, "a number above 0, at most 1")
    }

    /// Shear modulus, Pa.
    pub fn shear_modulus(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torsion_of_rectangles_is_that_of_the_tables() {
        // Timoshenko and Goodier, Theory of Elasticity, §109: k = J / (a b³).
        for (ratio, k) in [(1.0, 0.1406), (1.5, 0.196), (2.0, 0.229), (3.0, 0.263), (5.0, 0.291), (10.0, 0.312)] {
            let found = rectangle_torsion(ratio * 2e-3, 2e-3) / (ratio * 2e-3 * 8e-9);
            assert!((found - k).abs() < 6e-4, "{ratio}: {found} for {k}");
        }
    }

    #[test]
    fn a_rectangle_bends_most_easily_over_its_thin_side() {
        let strip = Section::Rectangle { width: 10e-3, height: 1e-3 }.properties(0.3);
        assert!((strip.about_y - 10e-3 * 1e-9 / 12.0).abs() < 1e-24);
        assert!((strip.about_z / strip.about_y - 100.0).abs() < 1e-9);
    }

    #[test]
    fn sections_of_two_kinds_do_not_mix() {
        let (disc, bar) = (Section::Round { radius: 1.0 }, Section::Rectangle { width: 1.0, height: 1.0 });
        assert_eq!(disc.towards(&bar, 0.5), Err(BeamError::MixedSections));
        assert_eq!(disc.towards(&Section::Round { radius: 3.0 }, 0.5), Ok(Section::Round { radius: 2.0 }));
    }
}
