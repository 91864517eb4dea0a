use parry3d::shape::SharedShape;

use super::{Body, Bounds, Collider, MaterialId, MaterialPoint, Part, ShapeCollider, Step};
use crate::beam::{BeamChain, BeamDescription, BeamError};
use crate::math::{Mat3, Pose, Quat, StateHash, Vec3, exp, log};
use crate::mesh::NodeMap;
use crate::problem::Guide;

/// Up to this many nodes contact uses all degrees of freedom, with a matrix whose blocks are mostly empty; of longer chains those that it acts on.
const MOST_WHOLE_NODES: usize = 64;

/// A chain of beams as a body. Each beam is a capsule for contact. The beams of one chain touch each other only with [`Self::self_contact`].
///
/// A point of the surface is at a part `s` of the way along its beam and at an arm `r` from the axis, which turns with the chord and, about the chord,
/// with the nodes. Friction therefore twists a beam, but has no bending couple on the nodes: a couple at a single node would tilt it against the
/// beams by far more than the same couple spread along the beam. Attachments hold the frame of a node.
#[derive(Clone, Debug)]
pub struct BeamBody {
    chain: BeamChain,
    shapes: Vec<SharedShape>,
    /// Material of its surface.
    pub material: MaterialId,
    matrix: Vec<f64>,
    partition: Vec<usize>,
    /// Whether constraints moved it in the last step; it may start in contact.
    touched: bool,
    /// Whether its beams touch each other.
    pub self_contact: bool,
    /// Undeformed length from the first node to each node, m.
    along: Vec<f64>,
}

/// Beams of one chain that are closer along it than this many of the larger radius do not touch each other. Where a rod bends back on itself, the two
/// sides that touch are at least `π` radii apart along it.
const OWN_RADII: f64 = 4.0;

impl BeamBody {
    /// A chain at rest in its undeformed shape.
    pub fn new(description: &BeamDescription) -> Result<Self, BeamError> {
        let chain = BeamChain::new(description)?;
        let radii = chain.radii();
        let capsule = |(i, e): (usize, &crate::beam::BeamElement)| {
            SharedShape::capsule_y(0.5 * e.length(), 0.5 * (radii[i] + radii[i + 1]))
        };
        let shapes = chain.elements().iter().enumerate().map(capsule).collect();
        let nodes = chain.nodes();
        let whole = nodes <= MOST_WHOLE_NODES;
        let matrix = if whole { vec![0.0; 36 * nodes * nodes] } else { Vec::new() };
        let partition = if whole { vec![6; nodes] } else { Vec::new() };
        let mut along = vec![0.0];
        for element in chain.elements() {
            along.push(along[along.len() - 1] + element.length());
        }
        let material = MaterialId::at(0);
        Ok(Self { chain, shapes, material, matrix, partition, touched: true, self_contact: false, along })
    }

    /// The chain.
    pub fn chain(&self) -> &BeamChain {
        &self.chain
    }

    /// The chain, to be changed.
    pub fn chain_mut(&mut self) -> &mut BeamChain {
        &mut self.chain
    }

    /// The frame half way between the nodes of a beam.
    fn middle(&self, beam: usize) -> Quat {
        let q = &self.chain.orientations()[beam..beam + 2];
        q[0] * exp(&(0.5 * log(&(q[0].inverse() * q[1]))))
    }

    /// Placement of the capsule of a beam: its Y axis along the chord.
    fn capsule(&self, beam: usize) -> Pose {
        let x = &self.chain.positions()[beam..beam + 2];
        let along = self.middle(beam) * Quat::from_axis_angle(&Vec3::z_axis(), -std::f64::consts::FRAC_PI_2);
        let align = Quat::rotation_between(&(along * Vec3::y()), &(x[1] - x[0])).unwrap_or_else(Quat::identity);
        Pose::from_parts((0.5 * (x[0] + x[1])).into(), align * along)
    }

    /// Where a material point is, and its velocity for each degree of freedom that moves it.
    fn point(&self, at: &MaterialPoint, mut column: impl FnMut(usize, Vec3)) -> Vec3 {
        let (part, x) = (at.part as usize, self.chain.positions());
        if at.is_rigid() {
            let arm = self.chain.orientations()[part] * at.local;
            for c in 0..3 {
                column(6 * part + c, Vec3::ith(c, 1.0));
                column(6 * part + 3 + c, Vec3::ith(c, 1.0).cross(&arm));
            }
            return x[part] + arm;
        }
        let arm = self.capsule(part).rotation * at.local;
        let chord = x[part + 1] - x[part];
        let length = chord.norm().max(1e-9 * self.chain.elements()[part].length());
        let along = chord / length;
        for (node, weight, sign) in [(part, at.nodes.weights[0], -1.0), (part + 1, at.nodes.weights[1], 1.0)] {
            for c in 0..3 {
                let unit = Vec3::ith(c, 1.0);
                column(6 * node + c, weight * unit + (sign / length) * along.cross(&unit).cross(&arm));
                column(6 * node + 3 + c, weight * along[c] * along.cross(&arm));
            }
        }
        at.nodes.weights[0] * x[part] + at.nodes.weights[1] * x[part + 1] + arm
    }

    /// How many of the degrees of freedom of a node are held.
    fn held(&self, node: usize) -> usize {
        let [first, last] = self.chain.ends();
        match node {
            0 => first.held(),
            _ if node + 1 == self.chain.nodes() => last.held(),
            _ => 0,
        }
    }

    fn fill_matrix(&mut self) {
        let (n, blocks) = (6 * self.chain.nodes(), self.chain.matrix());
        for i in 0..self.partition.len() {
            for r in 0..6 {
                for c in 0..6 {
                    self.matrix[(6 * i + r) * n + 6 * i + c] = blocks.diagonal[i][(r, c)];
                    if i + 1 < self.partition.len() {
                        let x = blocks.upper[i][(r, c)];
                        self.matrix[(6 * i + r) * n + 6 * i + 6 + c] = x;
                        self.matrix[(6 * i + 6 + c) * n + 6 * i + r] = x;
                    }
                }
            }
        }
    }
}

crate::saved_fields!(BeamBody: chain, touched, self_contact);

impl Part for BeamBody {
    fn dofs(&self) -> usize {
        6 * self.chain.nodes()
    }

    fn free_motion(&mut self, step: &Step) {
        if std::mem::take(&mut self.touched) {
            self.chain.free_motion_in_contact(step.h, &step.gravity);
        } else {
            self.chain.free_motion(step.h, &step.gravity);
        }
        self.fill_matrix();
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        self.point(at, |_, _| {})
    }

    fn velocity(&self, at: &MaterialPoint) -> Vec3 {
        let mut sum = Vec3::zeros();
        self.point(at, |dof, column| sum += self.chain.velocities()[dof / 6][dof % 6] * column);
        sum
    }

    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        self.point(at, |dof, column| row[dof] += direction.dot(&column));
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        self.chain.apply_inverse(rows);
    }

    fn is_small(&self) -> bool {
        !self.partition.is_empty()
    }

    fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    fn partition(&self) -> &[usize] {
        &self.partition
    }

    fn free_change(&self, change: &mut [f64]) {
        self.chain.free_change(change);
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        self.touched |= dv.iter().any(|x| *x != 0.0);
        self.chain.change_velocity(dv);
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.chain.change_position(dq);
    }

    fn advance(&mut self, h: f64) {
        self.chain.advance(h);
    }

    fn hash(&self, hash: &mut StateHash) {
        for i in 0..self.chain.nodes() {
            hash.vector(&self.chain.positions()[i]);
            hash.numbers(self.chain.orientations()[i].coords.as_slice());
            hash.numbers(self.chain.velocities()[i].as_slice());
        }
    }

    fn is_finite(&self) -> bool {
        self.chain.is_finite()
    }

    fn energy(&self) -> f64 {
        self.chain.kinetic_energy() + self.chain.elastic_energy()
    }
}

impl Body for BeamBody {
    fn kind(&self) -> &'static str {
        "beam"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        1
    }

    fn part(&self, _index: usize) -> &dyn Part {
        self
    }

    fn part_mut(&mut self, _index: usize) -> &mut dyn Part {
        self
    }

    fn columns(&self, at: &MaterialPoint, _place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        self.point(at, |dof, velocity| {
            if dof % 6 >= self.held(dof / 6) {
                column(0, dof, velocity);
            }
        });
    }

    fn frame(&self, collider: usize) -> Mat3 {
        self.capsule(collider).rotation.to_rotation_matrix().into_inner()
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider_count(&self) -> usize {
        self.shapes.len()
    }

    fn collider(&self, index: usize) -> Collider<'_> {
        let pose = self.capsule(index);
        Collider::Shape(ShapeCollider { shape: &self.shapes[index], pose, moves: true, sampled: false })
    }

    fn colliders_at(&self, part: usize) -> std::ops::Range<usize> {
        part.saturating_sub(1)..(part + 1).min(self.shapes.len())
    }

    fn touches_itself(&self, [a, b]: [usize; 2]) -> bool {
        let (first, second) = (a.min(b), a.max(b));
        let radius = self.chain.radii().iter().copied().fold(0.0, f64::max);
        self.self_contact && second > first + 1 && self.along[second] - self.along[first + 1] > OWN_RADII * radius
    }

    fn shape_point(&self, collider: usize, local: Vec3) -> MaterialPoint {
        let length = self.chain.elements()[collider].length();
        let part = (0.5 + local.y / length).clamp(0.0, 1.0);
        let rest = Vec3::new(local.x, local.y - (part - 0.5) * length, local.z);
        let nodes = [collider as u32, collider as u32 + 1, 0, 0];
        let weights = [1.0 - part, part, 0.0, 0.0];
        MaterialPoint { part: collider as u32, local: rest, nodes: NodeMap { nodes, weights } }
    }

    fn top_speed(&self, collider: usize, _bounds: &Bounds) -> f64 {
        let radius = self.chain.radii()[collider].max(self.chain.radii()[collider + 1]);
        let speed = |node: usize| {
            let v = &self.chain.velocities()[node];
            v.fixed_rows::<3>(0).norm() + radius * v.fixed_rows::<3>(3).norm()
        };
        speed(collider).max(speed(collider + 1))
    }

    fn attachment_point(&self, part: usize, place: &Vec3) -> Option<MaterialPoint> {
        let position = self.chain.positions().get(part)?;
        Some(MaterialPoint::rigid(part, self.chain.orientations()[part].inverse() * (place - position)))
    }

    fn part_named(&self, name: &str) -> Option<usize> {
        match name {
            "first" => Some(0),
            "last" => Some(self.chain.nodes() - 1),
            other => other.parse().ok().filter(|node| *node < self.chain.nodes()),
        }
    }

    fn pose(&self) -> Pose {
        Pose::translation(self.centre().x, self.centre().y, self.centre().z)
    }

    fn mass(&self) -> Option<f64> {
        Some(self.chain.masses().iter().sum())
    }

    fn centre(&self) -> Vec3 {
        let sum: Vec3 = self.chain.positions().iter().zip(self.chain.masses()).map(|(x, m)| *m * x).sum();
        sum / self.chain.masses().iter().sum::<f64>()
    }

    fn centre_velocity(&self) -> Vec3 {
        self.chain.momentum().linear / self.chain.masses().iter().sum::<f64>()
    }

    fn nodes(&self) -> &[Vec3] {
        self.chain.positions()
    }

    fn set_guide(&mut self, frame: usize, guide: Option<&Guide>) -> bool {
        let known = frame < self.chain.nodes();
        self.chain.set_guide(guide.filter(|_| known).map(|guide| (frame, *guide)));
        known
    }

    fn guided_frame(&self, frame: usize) -> Option<(Pose, [Vec3; 2])> {
        let (place, v) = (self.chain.positions().get(frame)?, self.chain.velocities()[frame]);
        let pose = Pose::from_parts((*place).into(), self.chain.orientations()[frame]);
        Some((pose, [v.fixed_rows::<3>(0).into(), v.fixed_rows::<3>(3).into()]))
    }

    fn copy_state(&mut self, from: &dyn Body) -> bool {
        let Some(from) = (from as &dyn std::any::Any).downcast_ref::<Self>() else { return false };
        self.touched = from.touched;
        self.chain.copy_state(&from.chain)
    }

    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        &[("x", "m"), ("y", "m"), ("z", "m"), ("first_tension", "N"), ("last_tension", "N")]
    }

    fn trace(&self, row: &mut Vec<f64>) {
        row.extend(self.centre().iter());
        row.extend([0, self.shapes.len() - 1].map(|beam| self.chain.stress(beam)[0]));
    }
}
