use std::collections::BTreeMap;

use crate::body::MaterialId;
use crate::math::{Saved, StateWriter};

/// Coulomb coefficients of a pair of materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Static coefficient.
    pub rest: f64,
    /// Dynamic coefficient; at most the static one.
    pub sliding: f64,
    /// Exponent `x` of the dependence on load. Both coefficients hold at a normal force of 1 N, and at a force `N` they are multiplied by
    /// [`Friction::load_factor`], `(N / 1 N)^−x`. Zero is Coulomb's law. The friction of fingertips falls with the load (Seo 2009: `x = 0.21`)
    /// because the area of real contact grows less than in proportion to it.
    pub load_exponent: f64,
}

impl Friction {
    /// Normal forces between which the dependence on load holds, N. It is constant beyond: the power is infinite at zero.
    pub const LOADS: [f64; 2] = [0.1, 50.0];

    /// Equal static and dynamic coefficients.
    pub fn of(mu: f64) -> Self {
        Self { rest: mu, sliding: mu, load_exponent: 0.0 }
    }

    /// The same coefficients at 1 N, with an exponent of the dependence on load.
    pub fn with_load(self, load_exponent: f64) -> Self {
        Self { load_exponent, ..self }
    }

    /// Factor on the coefficients at a normal force, N.
    pub fn load_factor(&self, force: f64) -> f64 {
        if self.load_exponent == 0.0 {
            return 1.0;
        }
        force.clamp(Self::LOADS[0], Self::LOADS[1]).powf(-self.load_exponent)
    }
}

/// Friction of a fingertip on some surface as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredFriction {
    /// Name in scene files.
    pub name: &'static str,
    /// The friction.
    pub friction: Friction,
    /// Where it was measured.
    pub source: &'static str,
}

/// Measured friction of fingertips.
///
/// Seo et al. (2009) give means over 1 to 20 N and a fall by 46 % from 1 to 20 N, which is `x = 0.21`. The mean is taken for the value at the geometric
/// mean of the loads, 4.47 N: that at 1 N is `4.47^0.21 = 1.370` times as large. The others found no dependence on load in their range, or
/// did not test it.
pub const MEASURED: [MeasuredFriction; 10] = [
    measured("aluminium", 0.82, 0.21, SEO),
    measured("rubber", 1.23, 0.21, SEO),
    measured("sandpaper", 0.96, 0.0, "Savescu et al. 2008, 4 N"),
    measured("suede", 0.39, 0.0, BUCHHOLZ),
    measured("suede_moist", 0.66, 0.0, BUCHHOLZ_MOIST),
    measured("paper", 0.27, 0.0, BUCHHOLZ),
    measured("paper_moist", 0.42, 0.0, BUCHHOLZ_MOIST),
    measured("vinyl", 0.53, 0.0, BUCHHOLZ),
    measured("aluminium_held", 0.38, 0.0, BUCHHOLZ),
    measured("sandpaper_held", 0.61, 0.0, BUCHHOLZ),
];

const SEO: &str = "Seo et al. 2009, 1 to 20 N";
const BUCHHOLZ: &str = "Buchholz et al. 1988, dry skin";
const BUCHHOLZ_MOIST: &str = "Buchholz et al. 1988, moist skin";

const fn measured(name: &'static str, mu: f64, load_exponent: f64, source: &'static str) -> MeasuredFriction {
    MeasuredFriction { name, friction: Friction { rest: mu, sliding: mu, load_exponent }, source }
}

/// Materials of surfaces. Pairs that are not listed use the geometric mean of the two coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct Materials {
    entries: Vec<(String, Friction)>,
    pairs: BTreeMap<(MaterialId, MaterialId), Friction>,
}

impl Default for Materials {
    fn default() -> Self {
        Self { entries: vec![("default".into(), Friction::of(0.5))], pairs: BTreeMap::new() }
    }
}

impl Materials {
    /// Appends all materials.
    pub(crate) fn save_model(&self, to: &mut StateWriter) {
        let save = |to: &mut StateWriter, of: &Friction| [of.rest, of.sliding, of.load_exponent].save(to);
        self.entries.len().save(to);
        for (name, friction) in &self.entries {
            to.text(name);
            save(to, friction);
        }
        for ((a, b), friction) in &self.pairs {
            [a.0, b.0].save(to);
            save(to, friction);
        }
    }

    /// Adds a material, or changes the existing one.
    pub fn set(&mut self, name: &str, friction: Friction) -> MaterialId {
        let id = self.find(name).unwrap_or(MaterialId::at(self.entries.len()));
        if id.index() == self.entries.len() {
            self.entries.push((name.into(), friction));
        } else {
            self.entries[id.index()].1 = friction;
        }
        id
    }

    /// Sets the friction of a pair, in either order.
    pub fn set_pair(&mut self, a: MaterialId, b: MaterialId, friction: Friction) {
        self.pairs.insert((a.min(b), a.max(b)), friction);
    }

    /// The material of a name.
    pub fn find(&self, name: &str) -> Option<MaterialId> {
        self.entries.iter().position(|(n, _)| n == name).map(MaterialId::at)
    }

    /// Names of all materials; the first is the one that bodies have by default.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// The friction of a pair.
    pub fn pair(&self, a: MaterialId, b: MaterialId) -> Friction {
        let own = |id: MaterialId| self.entries.get(id.index()).map_or(Friction::of(0.0), |(_, friction)| *friction);
        let mean = || {
            let (a, b) = (own(a), own(b));
            Friction {
                rest: (a.rest * b.rest).sqrt(),
                sliding: (a.sliding * b.sliding).sqrt(),
                load_exponent: 0.5 * (a.load_exponent + b.load_exponent),
            }
        };
        self.pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or_else(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coefficient falls by 46 % from 1 to 20 N (Seo 2009), and is finite at zero.
    #[test]
    fn friction_falls_with_the_load() {
        let skin = Friction::of(0.82).with_load(0.21);
        assert!((1.0 - skin.load_factor(20.0) / skin.load_factor(1.0) - 0.46).abs() < 0.01);
        assert!((skin.rest * skin.load_factor(4.47) - 0.6).abs() < 0.005, "aluminium, in the mean");
        assert_eq!(skin.load_factor(0.0), skin.load_factor(0.1));
        assert_eq!(Friction::of(0.5).load_factor(20.0), 1.0);
        let mut materials = Materials::default();
        let (a, b) = (materials.set("a", skin), materials.set("b", Friction::of(0.82)));
        assert!((materials.pair(a, b).load_exponent - 0.105).abs() < 1e-12);
    }

    #[test]
    fn pairs_are_found_in_either_order_and_others_averaged() {
        let mut materials = Materials::default();
        let skin = materials.set("skin", Friction::of(0.9));
        let steel = materials.set("steel", Friction { sliding: 0.1, ..Friction::of(0.4) });
        let mean = materials.pair(skin, steel);
        assert!((mean.rest - 0.6).abs() < 1e-12 && (mean.sliding - 0.3).abs() < 1e-12);
        materials.set_pair(steel, skin, Friction::of(0.2));
        assert_eq!(materials.pair(skin, steel), Friction::of(0.2));
        assert_eq!(materials.pair(steel, skin), Friction::of(0.2));
        assert_eq!(materials.set("skin", Friction::of(1.0)), skin, "a name is one material");
        assert_eq!(materials.names().collect::<Vec<_>>(), ["default", "skin", "steel"]);
    }
}
