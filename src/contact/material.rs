use std::collections::BTreeMap;

use crate::body::MaterialId;

/// Coulomb coefficients of a pair of materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Static coefficient.
    pub rest: f64,
    /// Dynamic coefficient; at most the static one.
    pub sliding: f64,
}

impl Friction {
    /// Equal static and dynamic coefficients.
    pub fn of(mu: f64) -> Self {
        Self { rest: mu, sliding: mu }
    }
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
            Friction { rest: (a.rest * b.rest).sqrt(), sliding: (a.sliding * b.sliding).sqrt() }
        };
        self.pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or_else(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_in_either_order_and_others_averaged() {
        let mut materials = Materials::default();
        let skin = materials.set("skin", Friction::of(0.9));
        let steel = materials.set("steel", Friction { rest: 0.4, sliding: 0.1 });
        let mean = materials.pair(skin, steel);
        assert!((mean.rest - 0.6).abs() < 1e-12 && (mean.sliding - 0.3).abs() < 1e-12);
        materials.set_pair(steel, skin, Friction::of(0.2));
        assert_eq!(materials.pair(skin, steel), Friction::of(0.2));
        assert_eq!(materials.pair(steel, skin), Friction::of(0.2));
        assert_eq!(materials.set("skin", Friction::of(1.0)), skin, "a name is one material");
        assert_eq!(materials.names().collect::<Vec<_>>(), ["default", "skin", "steel"]);
    }
}
