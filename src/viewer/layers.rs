/// The visible layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Tracked hand, transparent.
    pub tracked: bool,
    /// Joints and their axes.
    pub joints: bool,
    /// Bones.
    pub skeleton: bool,
    /// Edges of the tetrahedra.
    pub tetrahedra: bool,
    /// The collision skin.
    pub collision: bool,
    /// The skin.
    pub skin: bool,
    /// Contact points.
    pub contacts: bool,
    /// Normal forces on the hands.
    pub normal_forces: bool,
    /// Friction forces on the hands.
    pub friction_forces: bool,
    /// Centre and normal of aggregates.
    pub aggregates: bool,
    /// Pressure, as a colour on the skin.
    pub pressure: bool,
    /// Friction utilisation of each phalanx.
    pub slip: bool,
    /// Anchor points and beams of elastic objects.
    pub anchors: bool,
}

/// A switch among the layers.
type Switch = fn(&mut Layers) -> &mut bool;

impl Layers {
    /// All layers off.
    pub const NONE: Self = Self {
        tracked: false,
        joints: false,
        skeleton: false,
        tetrahedra: false,
        collision: false,
        skin: false,
        contacts: false,
        normal_forces: false,
        friction_forces: false,
        aggregates: false,
        pressure: false,
        slip: false,
        anchors: false,
    };

    /// Every layer with its name, in display order.
    pub const SWITCHES: [(&str, Switch); 13] = [
        ("skin", |l| &mut l.skin),
        ("pressure", |l| &mut l.pressure),
        ("contacts", |l| &mut l.contacts),
        ("aggregates", |l| &mut l.aggregates),
        ("normal-forces", |l| &mut l.normal_forces),
        ("friction-forces", |l| &mut l.friction_forces),
        ("slip", |l| &mut l.slip),
        ("tracked", |l| &mut l.tracked),
        ("joints", |l| &mut l.joints),
        ("skeleton", |l| &mut l.skeleton),
        ("tetrahedra", |l| &mut l.tetrahedra),
        ("collision", |l| &mut l.collision),
        ("anchors", |l| &mut l.anchors),
    ];

    /// Whether something inside the hand is shown, so that its skin must be transparent.
    pub fn look_inside(&self) -> bool {
        self.joints || self.skeleton || self.tetrahedra || self.collision
    }
}

impl Default for Layers {
    /// The skin alone.
    fn default() -> Self {
        Self { skin: true, ..Self::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_has_its_own_switch() {
        let mut all = Layers::NONE;
        for (name, switch) in Layers::SWITCHES {
            let layer = switch(&mut all);
            assert!(!*layer, "{name} is another's");
            *layer = true;
        }
        // All fields are listed.
        assert!(!format!("{all:?}").contains("false"), "{all:?}");
    }
}
