use super::error::{BeamError, in_range};
use super::section::{BeamMaterial, Section};
use crate::math::Vec3;

/// How an end of a chain is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Not held.
    #[default]
    Free,
    /// Its position is held, its rotation is not.
    Pinned,
    /// Position and rotation are held.
    Clamped,
}

impl End {
    /// How many coordinates of the node are held: the position, then the rotation.
    pub fn held(self) -> usize {
        match self {
            End::Free => 0,
            End::Pinned => 3,
            End::Clamped => 6,
        }
    }
}

/// What resists the motion of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// Mass: implicit Euler.
    #[default]
    Dynamic,
    /// Damping only, `B = α M` (Peterlik 2011, eq. 2 and 4).
    QuasiStatic,
}

/// Rayleigh damping: `α M + β K`. It does not resist rigid rotation through `β`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping {
    /// `α`, 1/s.
    pub mass: f64,
    /// `β`, s.
    pub stiffness: f64,
}

impl Damping {
    /// No damping.
    pub const NONE: Damping = Damping { mass: 0.0, stiffness: 0.0 };
}

impl Default for Damping {
    fn default() -> Self {
        Self { mass: 0.5, stiffness: 1e-3 }
    }
}

/// Everything a chain is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamDescription {
    /// Nodes in their undeformed places, m. The chain has no stress there, also where it is curved.
    pub nodes: Vec<Vec3>,
    /// The direction that the y axis of the section is nearest to at the first node.
    pub up: Vec3,
    /// Sections at the first and the last node, linear in between.
    pub sections: [Section; 2],
    /// The material.
    pub material: BeamMaterial,
    /// How the first and the last node are held.
    pub ends: [End; 2],
    /// Dynamic or quasi-static.
    pub motion: Motion,
    /// Damping.
    pub damping: Damping,
}

impl BeamDescription {
    /// A dynamic chain with free ends and an even section.
    pub fn new(nodes: Vec<Vec3>, section: Section, material: BeamMaterial) -> Self {
        let (ends, motion, damping) = ([End::Free; 2], Motion::Dynamic, Damping::default());
        Self { nodes, up: Vec3::y(), sections: [section; 2], material, ends, motion, damping }
    }

    /// How many coordinates of a node are held.
    pub fn held(&self, node: usize) -> usize {
        match node {
            0 => self.ends[0].held(),
            _ if node + 1 == self.nodes.len() => self.ends[1].held(),
            _ => 0,
        }
    }

    /// Checks what the chain does not check itself.
    pub(super) fn check(&self) -> Result<(), BeamError> {
        self.material.check()?;
        self.sections[0].check()?;
        self.sections[1].check()?;
        self.sections[0].towards(&self.sections[1], 0.5)?;
        let Damping { mass, stiffness } = self.damping;
        in_range("mass damping of a beam", mass, mass >= 0.0, "zero or a positive number")?;
        in_range("stiffness damping of a beam", stiffness, stiffness >= 0.0, "zero or a positive number")?;
        if self.motion == Motion::QuasiStatic {
            // Without it nothing resists a rigid motion.
            in_range("mass damping of a quasi-static beam", mass, mass > 0.0, "a positive number")?;
        }
        in_range("direction `up` of a beam", self.up.norm(), self.up.norm() > 0.0, "a direction")
    }
}
