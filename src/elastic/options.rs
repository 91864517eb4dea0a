use super::error::{ElasticError, in_range, positive};
use super::law::{DuffingLaw, FrictionLaw};
use super::shape::ElasticShape;
use crate::math::Vec3;

/// Linear elastic material of the beams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMaterial {
    /// Young's modulus E, Pa.
    pub young: f64,
    /// Poisson's ratio ν.
    pub poisson: f64,
}

impl SolidMaterial {
    /// Rubber of the paper's table I.
    pub const RUBBER: Self = Self { young: 3e6, poisson: 0.5 };
    /// PVC of the paper's table I.
    pub const PVC: Self = Self { young: 33.77e3, poisson: 0.33 };

    fn check(&self) -> Result<(), ElasticError> {
        positive("Young's modulus", self.young)?;
        in_range("Poisson's ratio", self.poisson, (0.0..=0.5).contains(&self.poisson), "0 to 0.5")
    }
}

/// A ball of another material inside the object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inclusion {
    /// Its centre in the object's frame, m.
    pub centre: Vec3,
    /// Its radius, m.
    pub radius: f64,
    /// Its material.
    pub material: SolidMaterial,
}

/// Everything that makes an elastic object, in SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticOptions {
    /// The undeformed surface.
    pub shape: ElasticShape,
    /// Triangles of the mesh that is deformed, at most.
    pub triangles: usize,
    /// Force against displacement.
    pub law: DuffingLaw,
    /// Friction.
    pub friction: FrictionLaw,
    /// Material of the object.
    pub material: SolidMaterial,
    /// Balls of other materials inside it.
    pub inclusions: Vec<Inclusion>,
    /// Contact points closer than this belong to one region, r_th, m.
    pub link: f64,
    /// Depth over which a point of the tool takes on its full share of the force, m.
    pub entry_depth: f64,
    /// Radius r_R of the neighbourhood of a contact in which deformation is local, m.
    pub neighbourhood: f64,
    /// Coefficient C_n of the logarithmic factor in the neighbourhood.
    pub local_gain: f64,
    /// Length C_r of the logarithmic factor, m.
    pub local_length: f64,
    /// Sum of the cross-sections of the beams s_c, as a part of the surface.
    pub section: f64,
    /// A point of the surface that is held, m; by default the lowest point on the axis.
    pub support: Option<Vec3>,
    /// Time in which a difference of force left by regions that merge or split decays, s.
    pub settling: f64,
}

impl ElasticOptions {
    /// Rubber with the paper's parameters, in some shape.
    pub fn new(shape: ElasticShape) -> Self {
        let size = shape.inner_radius();
        Self {
            shape,
            triangles: 3952,
            law: DuffingLaw::default(),
            friction: FrictionLaw::default(),
            material: SolidMaterial::RUBBER,
            inclusions: Vec::new(),
            link: 0.3 * size,
            entry_depth: 5e-4,
            neighbourhood: 0.35 * size,
            local_gain: 0.2,
            local_length: 0.035 * size,
            section: 0.4,
            support: None,
            settling: 0.05,
        }
    }

    pub(super) fn check(&self) -> Result<(), ElasticError> {
        self.shape.check()?;
        self.law.check()?;
        self.friction.check()?;
        self.material.check()?;
        positive("the linking distance r_th", self.link)?;
        positive("the entry depth", self.entry_depth)?;
        positive("the radius of the neighbourhood r_R", self.neighbourhood)?;
        positive("the local length C_r", self.local_length)?;
        positive("the section of the beams", self.section)?;
        positive("the settling time", self.settling)?;
        // The logarithm carries at most all of the contact's displacement.
        let local = self.local_gain * ((self.neighbourhood + self.local_length) / self.local_length).ln();
        let is_good = self.local_gain >= 0.0 && local <= 1.0;
        in_range("the local gain C_n", self.local_gain, is_good, "0 to 1/ln((r_R + C_r)/C_r)")?;
        if let Some(support) = &self.support {
            let is_finite = support.iter().all(|x| x.is_finite());
            in_range("the support", support.norm(), is_finite, "a point")?;
        }
        for (index, inclusion) in self.inclusions.iter().enumerate() {
            inclusion.material.check()?;
            positive("the radius of an inclusion", inclusion.radius)?;
            let depth = self.shape.probe(&inclusion.centre).map_or(0.0, |probe| probe.depth);
            if depth.is_nan() || depth < inclusion.radius {
                return Err(ElasticError::InclusionOutside { index });
            }
            let overlaps = |b: &Inclusion| (b.centre - inclusion.centre).norm() < b.radius + inclusion.radius;
            if let Some(b) = self.inclusions[index + 1..].iter().position(overlaps) {
                return Err(ElasticError::InclusionsOverlap { a: index, b: index + 1 + b });
            }
        }
        Ok(())
    }
}
