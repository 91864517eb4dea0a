use nalgebra::{SMatrix, SVector};

use super::section::{BeamMaterial, SectionProperties};
use super::tridiagonal::{Block, Six};
use crate::math::{Mat3, Quat, Vec3, exp, log};

/// One beam between two nodes: a corotational element (Peterlik 2011, §III.B).
///
/// Nodes have positions `x₁`, `x₂` and rotations `R₁`, `R₂`. The frame of the element is the rotation half way between those of its
/// nodes, `R = R₁ exp(ψ/2)` with `ψ = log(R₁ᵀ R₂)`. With `d = x₂ − x₁` and axes `c_x` (along the undeformed chord), `c_y`, `c_z` that
/// are constant in this frame, the six strains are
///
/// - `|d| − L`: stretch;
/// - `c_y · Rᵀ d`, `c_z · Rᵀ d`: the chord turns against the frame, which is antisymmetric bending and shear;
/// - `c_k · (ψ − ψ₀)`: twist about `c_x`, symmetric bending about `c_y` and `c_z`.
///
/// All are unchanged by a rigid motion. The energy is `½ Σ k ε²`. The stiffnesses are `EA/L`, `GJ/L`, `EI/L`, and for the two shear strains
/// `1/k = L (1/(κ G A) + L² / (12 E I))`: the antisymmetric bending of a cubic shape function and Timoshenko's shear flexibility in
/// series. For small strains the stiffness matrix is therefore the exact one of a straight beam with loads at its ends, and a single
/// element gives the exact deflection.
///
/// DEVIATION: the paper takes the frame of one of the nodes. The frame half way between them is symmetric in the nodes, and the strains,
/// forces and stiffness have a closed form without the derivatives of a frame built from the chord.
///
/// Limits: `ψ` is the shorter rotation, so a beam must turn by less than 180° between its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamElement {
    length: f64,
    /// Stiffness of the six strains.
    stiffness: SVector<f64, 6>,
    /// `c_x`, `c_y`, `c_z` in the frame of the element.
    axes: Mat3,
    rest_turn: Vec3,
}

/// Strains of an element and their gradients with respect to the twelve coordinates, each node's rotation by its spin in the world.
#[derive(Clone, Copy, Debug)]
pub struct BeamStrains {
    /// The six strains.
    pub values: SVector<f64, 6>,
    /// Gradients with respect to the first node, one strain a column.
    pub first: SMatrix<f64, 6, 6>,
    /// Gradients with respect to the second node.
    pub second: SMatrix<f64, 6, 6>,
    /// Direction of the chord in the world, and its length.
    pub chord: Vec3,
    /// Length of the chord, m.
    pub distance: f64,
}

impl BeamStrains {
    /// What a stress does at both nodes. For the elastic stress it is the gradient of the energy: the internal forces with the opposite sign.
    pub fn gradient(&self, stress: &SVector<f64, 6>) -> [Six; 2] {
        [self.first * stress, self.second * stress]
    }
}

/// Stiffness of an element: blocks of the Gauss–Newton part, and what tension adds.
#[derive(Clone, Copy, Debug)]
pub struct Tangent {
    /// Gauss–Newton block of the first node.
    pub first: Block,
    /// Gauss–Newton block between the nodes.
    pub coupling: Block,
    /// Gauss–Newton block of the second node.
    pub second: Block,
    /// `N/|d| (I − e eᵀ)` for tension `N > 0`: acts on the difference of the positions.
    pub tension: Mat3,
}

/// A node as an element sees it.
pub type NodePose<'a> = (&'a Vec3, &'a Quat);

impl BeamElement {
    /// The element between two nodes in their undeformed places. Section properties are given at the two Gauss points, whose
    /// compliances are averaged.
    pub fn new(nodes: [NodePose; 2], sections: &[SectionProperties; 2], material: &BeamMaterial) -> Self {
        let d = nodes[1].0 - nodes[0].0;
        let length = d.norm();
        let rest_turn = log(&(nodes[0].1.inverse() * nodes[1].1));
        let frame = nodes[0].1 * exp(&(0.5 * rest_turn));
        // The smallest rotation that takes the x axis of the frame to the chord keeps the axes of the section.
        let local = frame.inverse() * (d / length);
        let align = Quat::rotation_between(&Vec3::x(), &local).unwrap_or_else(Quat::identity);
        let mean = |compliance: &dyn Fn(&SectionProperties) -> f64| {
            2.0 / (compliance(&sections[0]) + compliance(&sections[1]))
        };
        let (e, g, part) = (material.young, material.shear_modulus(), material.flexural_part);
        let shear = |s: &SectionProperties, moment: f64| {
            length * (1.0 / (s.shear * g * s.area) + length * length / (12.0 * part * e * moment))
        };
        let stiffness = SVector::<f64, 6>::from([
            mean(&|s| length / (e * s.area)),
            mean(&|s| shear(s, s.about_z)),
            mean(&|s| shear(s, s.about_y)),
            mean(&|s| length / (part * g * s.torsion)),
            mean(&|s| length / (part * e * s.about_y)),
            mean(&|s| length / (part * e * s.about_z)),
        ]);
        Self { length, stiffness, axes: align.to_rotation_matrix().into_inner(), rest_turn }
    }

    /// Undeformed length, m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Stiffness of the six strains: N/m for the first three, N·m for the others.
    pub fn stiffness(&self) -> &SVector<f64, 6> {
        &self.stiffness
    }

    /// Strains and their gradients.
    ///
    /// Let `ω₁`, `ω₂` be the spins of the nodes in the frame of the element, `θ = |ψ|`, `n = ψ/θ`. Then
    /// `δψ = B (ω₂ − ω₁)` with `B = a I + (1 − a) n nᵀ`, `a = (θ/2) / sin(θ/2)`, and the frame turns by
    /// `μ = ½ (ω₁ + ω₂) − ½ tan(θ/4) n × (ω₂ − ω₁)`. From `δ(Rᵀd) = Rᵀ δd − μ × Rᵀd` follows `δ(c · Rᵀd) = Rc · δd + (c × Rᵀd) · μ`.
    pub fn strains(&self, nodes: [NodePose; 2]) -> BeamStrains {
        let d = nodes[1].0 - nodes[0].0;
        let distance = d.norm();
        let chord = if distance > 1e-9 * self.length { d / distance } else { Vec3::zeros() };
        let turn = log(&(nodes[0].1.inverse() * nodes[1].1));
        let frame = (nodes[0].1 * exp(&(0.5 * turn))).to_rotation_matrix().into_inner();
        let local = frame.tr_mul(&d);
        let (a, b, s) = turn_coefficients(&turn);
        let bend = self.axes.tr_mul(&(turn - self.rest_turn));
        let mut values = SVector::<f64, 6>::zeros();
        let (mut first, mut second) = (SMatrix::<f64, 6, 6>::zeros(), SMatrix::<f64, 6, 6>::zeros());
        values[0] = distance - self.length;
        first.fixed_view_mut::<3, 1>(0, 0).copy_from(&-chord);
        second.fixed_view_mut::<3, 1>(0, 0).copy_from(&chord);
        for k in 1..3 {
            let axis: Vec3 = self.axes.column(k).into();
            values[k] = axis.dot(&local);
            let world = frame * axis;
            let p = axis.cross(&local);
            let skewed = s * turn.cross(&p);
            first.fixed_view_mut::<3, 1>(0, k).copy_from(&-world);
            second.fixed_view_mut::<3, 1>(0, k).copy_from(&world);
            first.fixed_view_mut::<3, 1>(3, k).copy_from(&(frame * (0.5 * p - skewed)));
            second.fixed_view_mut::<3, 1>(3, k).copy_from(&(frame * (0.5 * p + skewed)));
        }
        for k in 0..3 {
            let axis: Vec3 = self.axes.column(k).into();
            values[3 + k] = bend[k];
            let gradient = frame * (a * axis + b * turn.dot(&axis) * turn);
            first.fixed_view_mut::<3, 1>(3, 3 + k).copy_from(&-gradient);
            second.fixed_view_mut::<3, 1>(3, 3 + k).copy_from(&gradient);
        }
        BeamStrains { values, first, second, chord, distance }
    }

    /// Elastic energy of strains, J.
    pub fn energy(&self, strains: &SVector<f64, 6>) -> f64 {
        0.5 * strains.component_mul(strains).dot(&self.stiffness)
    }

    /// Forces and moments that strains cause: tension, two shear forces, N; torque and two bending moments, N·m.
    pub fn stress(&self, strains: &SVector<f64, 6>) -> SVector<f64, 6> {
        strains.component_mul(&self.stiffness)
    }

    /// A positive semidefinite stiffness, for the tension `N`.
    ///
    /// `Σ k ∇ε ∇εᵀ`, and for `N > 0` its part of the second derivative, `N/|d| (I − e eᵀ)`, without which a taut thread would have no transverse
    /// stiffness. Compression, shear and moments have second derivatives too, which are indefinite; relative to the first part they are of the
    /// size of the strains. Forces are exact, so an equilibrium does not depend on what is left out here.
    pub fn tangent(&self, strains: &BeamStrains, tension: f64) -> Tangent {
        let scale = |m: &SMatrix<f64, 6, 6>| {
            let mut scaled = *m;
            for k in 0..6 {
                scaled.column_mut(k).scale_mut(self.stiffness[k]);
            }
            scaled
        };
        let (first, second) = (scale(&strains.first), scale(&strains.second));
        let (first_t, second_t) = (strains.first.transpose(), strains.second.transpose());
        Tangent {
            first: first * first_t,
            coupling: first * second_t,
            second: second * second_t,
            tension: (Mat3::identity() - strains.chord * strains.chord.transpose())
                * (tension.max(0.0) / strains.distance.max(1e-9 * self.length)),
        }
    }

    /// Stretch and bend without the gradients.
    pub fn strain_values(&self, nodes: [NodePose; 2]) -> SVector<f64, 6> {
        let d = nodes[1].0 - nodes[0].0;
        let turn = log(&(nodes[0].1.inverse() * nodes[1].1));
        let local = self.axes.tr_mul(&((nodes[0].1 * exp(&(0.5 * turn))).inverse() * d));
        let bend = self.axes.tr_mul(&(turn - self.rest_turn));
        SVector::<f64, 6>::from([d.norm() - self.length, local.y, local.z, bend.x, bend.y, bend.z])
    }
}

/// `a = (θ/2)/sin(θ/2)`, `(1 − a)/θ²` and `tan(θ/4)/(2θ)`.
fn turn_coefficients(turn: &Vec3) -> (f64, f64, f64) {
    let squared = turn.norm_squared();
    if squared < 1e-4 {
        // Series to the terms below rounding.
        let a = 1.0 + squared / 24.0 + 7.0 * squared * squared / 5760.0;
        let b = -1.0 / 24.0 - 7.0 * squared / 5760.0 - 31.0 * squared * squared / 967_680.0;
        return (a, b, 0.125 + squared / 384.0 + squared * squared / 15_360.0);
    }
    let theta = squared.sqrt();
    let a = 0.5 * theta / (0.5 * theta).sin();
    (a, (1.0 - a) / squared, (0.25 * theta).tan() / (2.0 * theta))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::beam::Section;

    fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
        [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
    }

    /// A curved rest shape, so that every term is used.
    fn element() -> BeamElement {
        let material = BeamMaterial::solid(1e4, 0.3, 1000.0);
        let sections = [Section::Rectangle { width: 0.02, height: 0.05 }.properties(0.3); 2];
        let (x, q) = (Vec3::new(0.2, 0.03, -0.02), exp(&Vec3::new(0.3, -0.2, 0.4)));
        BeamElement::new([(&Vec3::zeros(), &Quat::identity()), (&x, &q)], &sections, &material)
    }

    fn energy(e: &BeamElement, nodes: &[(Vec3, Quat); 2]) -> f64 {
        e.energy(&e.strain_values([(&nodes[0].0, &nodes[0].1), (&nodes[1].0, &nodes[1].1)]))
    }

    proptest! {
        /// Central differences of the energy, in every coordinate, at large deformations.
        #[test]
        fn force_is_the_gradient_of_the_energy(x in vector(0.1), turn in vector(1.2), base in vector(1.5)) {
            let element = element();
            let nodes = [(Vec3::zeros(), exp(&base)), (Vec3::new(0.2, 0.0, 0.0) + x, exp(&turn) * exp(&base))];
            let strains = element.strains([(&nodes[0].0, &nodes[0].1), (&nodes[1].0, &nodes[1].1)]);
            let gradient = strains.gradient(&element.stress(&strains.values));
            let size = gradient[0].norm() + gradient[1].norm();
            for node in 0..2 {
                for k in 0..6 {
                    let at = |step: f64| {
                        let mut moved = nodes;
                        if k < 3 {
                            moved[node].0[k] += step;
                        } else {
                            let mut spin = Vec3::zeros();
                            spin[k - 3] = step;
                            moved[node].1 = exp(&spin) * moved[node].1;
                        }
                        energy(&element, &moved)
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                    prop_assert!((difference - gradient[node][k]).abs() < 1e-6 * size, "{node} {k}: {difference} {}", gradient[node][k]);
                }
            }
        }

        /// A rigid motion leaves the energy alone, and forces and torques of an element balance.
        #[test]
        fn forces_balance_and_energy_is_objective(x in vector(0.1), turn in vector(1.2), move_by in vector(2.0), rigid in vector(1.7)) {
            let element = element();
            let nodes = [(Vec3::zeros(), Quat::identity()), (Vec3::new(0.2, 0.0, 0.0) + x, exp(&turn))];
            let q = exp(&rigid);
            let moved = nodes.map(|(x, r)| (q * x + move_by, q * r));
            let (before, after) = (energy(&element, &nodes), energy(&element, &moved));
            prop_assert!((before - after).abs() < 1e-12 * before);
            let strains = element.strains([(&moved[0].0, &moved[0].1), (&moved[1].0, &moved[1].1)]);
            let [a, b] = strains.gradient(&element.stress(&strains.values));
            let (fa, ta): (Vec3, Vec3) = (a.fixed_rows::<3>(0).into(), a.fixed_rows::<3>(3).into());
            let (fb, tb): (Vec3, Vec3) = (b.fixed_rows::<3>(0).into(), b.fixed_rows::<3>(3).into());
            let torque = ta + tb + moved[0].0.cross(&fa) + moved[1].0.cross(&fb);
            prop_assert!((fa + fb).norm() < 1e-12 * fa.norm() && torque.norm() < 1e-11 * (ta.norm() + tb.norm() + fa.norm()));
        }
    }

    #[test]
    fn stiffness_of_a_straight_element_is_that_of_cubic_shape_functions() {
        let (e, length, radius) = (2e9, 0.1, 1e-3);
        let material = BeamMaterial { poisson: 0.25, ..BeamMaterial::solid(e, 0.25, 1000.0) };
        let section = Section::Round { radius }.properties(0.25);
        let end = Vec3::new(length, 0.0, 0.0);
        let nodes: [NodePose; 2] = [(&Vec3::zeros(), &Quat::identity()), (&end, &Quat::identity())];
        let element = BeamElement::new(nodes, &[section; 2], &material);
        let k = element.tangent(&element.strains(nodes), 0.0);
        let (ei, shear) = (e * section.about_z, section.shear * material.shear_modulus() * section.area);
        // Timoshenko's Φ; the entries are those of any textbook.
        let phi = 12.0 * ei / (shear * length * length);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs(), "{a} {b}");
        close(k.second[(1, 1)], 12.0 * ei / (length.powi(3) * (1.0 + phi)));
        close(k.second[(1, 5)], -6.0 * ei / (length.powi(2) * (1.0 + phi)));
        close(k.second[(5, 5)], (4.0 + phi) * ei / (length * (1.0 + phi)));
        close(k.coupling[(5, 5)], (2.0 - phi) * ei / (length * (1.0 + phi)));
        close(k.second[(0, 0)], e * section.area / length);
        close(k.second[(3, 3)], material.shear_modulus() * section.torsion / length);
    }

    #[test]
    fn coefficients_of_small_turns_join_those_of_large_ones() {
        let at = |theta: f64| turn_coefficients(&Vec3::new(theta, 0.0, 0.0));
        let (low, high) = (at(0.009_999_999), at(0.010_000_001));
        assert!((low.0 - high.0).abs() < 1e-10 && (low.1 - high.1).abs() < 1e-10 && (low.2 - high.2).abs() < 1e-10);
    }
}
