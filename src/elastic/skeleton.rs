use std::f64::consts::PI;

use super::options::{Inclusion, SolidMaterial};
use crate::math::{Mat3, Vec3};

/// A beam from an anchor point, where it is clamped, to the contact (Luo 2007, §V.B).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beam {
    /// From the contact to the anchor point. A unit vector outside the neighbourhood of the contact; shorter inside, where
    /// the beam has no direction.
    pub axis: Vec3,
    /// Length l, m.
    pub length: f64,
    /// Cross-section s, m².
    pub section: f64,
    /// Modulus of the homogeneous beam that is as stiff in compression, Pa.
    pub axial_young: f64,
    /// Modulus of the homogeneous beam that is as stiff in bending, Pa.
    pub bending_young: f64,
}

/// Force, stress and strain at the anchor end of a beam.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeamLoad {
    /// Force on the beam, N.
    pub force: Vec3,
    /// Force per cross-section, Pa.
    pub traction: Vec3,
    /// Stress σ_x along the beam, Pa, positive in compression.
    pub axial_stress: f64,
    /// Shear stress τ at the centre of the section, Pa.
    pub shear_stress: f64,
    /// Displacement of the anchor per length over which its strain acts: the strain ε_x along the beam and the shear γ
    /// across it.
    pub strain: Vec3,
}

impl Beam {
    /// The beam between a contact and an anchor point (Luo 2007, §V.B and V.D). Its cross-section is a disc.
    pub fn new(
        contact: &Vec3,
        anchor: &Vec3,
        section: f64,
        neighbourhood: f64,
        material: &SolidMaterial,
        inclusions: &[Inclusion],
    ) -> Self {
        let span = anchor - contact;
        let length = span.norm().max(neighbourhood);
        // DEVIATION: inside the neighbourhood the paper takes the length r_R, so that the shortest beam carries most of the
        // force. An anchor point cannot support a contact that is on it: its beam thins out.
        let section = section * (span.norm_squared() / (length * length));
        // Compliances beyond those of the homogeneous beam, as lengths l and l³ of its material.
        let (mut axial, mut bending) = (0.0, 0.0);
        for inclusion in inclusions {
            let Some([a, b]) = crossing(anchor, contact, inclusion) else { continue };
            let softer = material.young / inclusion.material.young - 1.0;
            // Lengths l_a and l_b from the anchor point.
            let (a, b) = (a * length, b * length);
            axial += softer * (b - a);
            // DEVIATION: by the moment-area theorem the deflection of the loaded end is ∫ M (l − x) / (E I) dx with
            // M = F (l − x). The paper prints M x in eq. 10, and in eq. 11 a k that agrees with the theorem only for a
            // segment over the whole beam.
            bending += softer * ((length - a).powi(3) - (length - b).powi(3)) / 3.0;
        }
        Self {
            axis: span / length,
            length,
            section,
            axial_young: material.young * length / (length + axial),
            bending_young: material.young * length.powi(3) / (length.powi(3) + 3.0 * bending),
        }
    }

    /// Stiffness of the contact end (Luo 2007, eq. 2, 3, 11 and 12).
    // DEVIATION: the text of eq. 3 subtracts the shortening δx = l − l²/√(l² + y'²) due to bending from Δx, the equation
    // does not. δx is of second order in the displacement; it is left out, so that the split of the force is linear.
    pub fn stiffness(&self) -> Mat3 {
        let along = self.axis * self.axis.transpose();
        let [axial, bending] = self.stresses();
        self.section * (axial * along + bending * (Mat3::identity() - along))
    }

    /// Stress of a displacement along the beam and mean stress of one across it, Pa/m.
    fn stresses(&self) -> [f64; 2] {
        let gyration = self.section / (4.0 * PI);
        [self.axial_young / self.length, 3.0 * self.bending_young * gyration / self.length.powi(3)]
    }

    /// Second moment of the cross-section I_z, m⁴.
    pub fn second_moment(&self) -> f64 {
        self.section * self.section / (4.0 * PI)
    }

    /// What a displacement of the contact end does at the anchor end (Luo 2007, §V.C, eq. 7 to 9).
    pub fn load(&self, displacement: &Vec3, poisson: f64) -> BeamLoad {
        let compression = self.axis.dot(displacement);
        let across = displacement - compression * self.axis;
        let [axial, bending] = self.stresses();
        let traction = axial * compression * self.axis + bending * across;
        let axial_stress = axial * compression;
        // Saint-Venant's solution for a disc: shear at its centre is (3 + 2ν) / (2 + 2ν) of the mean.
        let shear_stress = bending * across.norm() * (3.0 + 2.0 * poisson) / (2.0 + 2.0 * poisson);
        let [strain, _, _, shear, _, _] =
            strains(&[axial_stress, 0.0, 0.0, shear_stress, 0.0, 0.0], [self.axial_young, self.bending_young], poisson);
        // A beam as thick as it is long is not slender; its end does not shear more than its axis turns.
        let shear = shear.min(across.norm() / self.length);
        let direction = across.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
        BeamLoad {
            force: self.section * traction,
            traction,
            axial_stress,
            shear_stress,
            strain: strain * self.axis + shear * direction,
        }
    }
}

/// Strains ε_x, ε_y, ε_z, γ_xy, γ_yz, γ_zx of stresses σ_x, σ_y, σ_z, τ_xy, τ_yz, τ_zx (Luo 2007, eq. 8 and 9), with the
/// moduli in compression and in bending.
fn strains(stresses: &[f64; 6], [axial, bending]: [f64; 2], poisson: f64) -> [f64; 6] {
    let mut strains = [0.0; 6];
    for i in 0..3 {
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        strains[i] = (stresses[i] - poisson * (stresses[j] + stresses[k])) / axial;
        strains[3 + i] = 2.0 * (1.0 + poisson) * stresses[3 + i] / bending;
    }
    strains
}

/// Splits a force over beams with a common end (Luo 2007, eq. 4 to 6): writes what each carries and returns the displacement
/// of the common end.
// DEVIATION: eq. 4 to 6 have more equations than unknowns if the displacement is taken along the force. The common end has
// one displacement, the same for all beams; it is solved from eq. 6.
pub fn split(force: &Vec3, beams: &[Beam], poisson: f64, loads: &mut [BeamLoad]) -> Vec3 {
    let total: Mat3 = beams.iter().map(Beam::stiffness).sum();
    let displacement = total.cholesky().map_or_else(Vec3::zeros, |factor| {
        let rough = factor.solve(force);
        // One step of refinement: sections and lengths may differ by orders of magnitude.
        rough + factor.solve(&(force - total * rough))
    });
    for (beam, load) in beams.iter().zip(loads) {
        *load = beam.load(&displacement, poisson);
    }
    displacement
}

/// Where a line enters and leaves a ball, as parts of the way from `from` to `to`.
fn crossing(from: &Vec3, to: &Vec3, ball: &Inclusion) -> Option<[f64; 2]> {
    let (way, start) = (to - from, from - ball.centre);
    let (a, b) = (way.norm_squared(), way.dot(&start));
    let root = b * b - a * (start.norm_squared() - ball.radius * ball.radius);
    if !(a > 0.0 && root > 0.0) {
        return None;
    }
    let (root, clamp) = (root.sqrt(), |t: f64| t.clamp(0.0, 1.0));
    let ends = [clamp((-b - root) / a), clamp((-b + root) / a)];
    (ends[1] > ends[0]).then_some(ends)
}
