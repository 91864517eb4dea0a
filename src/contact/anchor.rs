use crate::body::{Bodies, Body, BodyKind, HandId, MaterialPoint};
use crate::hand::NodeMap;
use crate::math::Vec3;
use crate::tracking::Segment;

/// A point of a surface, and with what it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// A point of a hand's skin: a weighted sum of three vertices of one segment. It moves with the skeleton and with the tissue.
    Skin {
        /// The hand.
        hand: HandId,
        /// The segment.
        segment: Segment,
        /// Vertices of its skin.
        vertices: [u32; 3],
        /// Their weights.
        weights: [f64; 3],
    },
    /// A point of a hand's skeleton.
    Bone {
        /// The hand.
        hand: HandId,
        /// The segment.
        segment: Segment,
        /// Place in the frame of its bone.
        local: Vec3,
    },
    /// A point among the nodes of a soft body.
    Soft {
        /// Number of the body.
        body: usize,
        /// Its place.
        nodes: NodeMap,
    },
    /// A point of a rigid body.
    Rigid {
        /// Number of the body.
        body: usize,
        /// Place in the body's frame.
        local: Vec3,
    },
    /// A point of the static world.
    World(Vec3),
}

impl Anchor {
    /// Where it is.
    pub fn place(&self, bodies: &Bodies) -> Vec3 {
        match self {
            Anchor::Skin { hand, segment, vertices, weights } => {
                let skin = bodies.hands[hand.index()].skin.positions(*segment);
                (0..3).map(|i| weights[i] * skin[vertices[i] as usize]).sum()
            }
            Anchor::Bone { hand, segment, local } => {
                bodies.hands[hand.index()].skeleton.position(&MaterialPoint::rigid(segment.index(), *local))
            }
            Anchor::Soft { body, nodes } => nodes.sum(bodies.soft[*body].positions()),
            Anchor::Rigid { body, local } => bodies.rigid[*body].position(&MaterialPoint::rigid(0, *local)),
            Anchor::World(place) => *place,
        }
    }

    /// How it moves; `place` is where it is.
    pub fn velocity(&self, bodies: &Bodies, place: &Vec3) -> Vec3 {
        match self {
            Anchor::Skin { hand, segment, vertices, weights } => {
                let hand = &bodies.hands[hand.index()];
                let skeleton = &hand.skeleton;
                let bone = skeleton.kinematics().point_velocity(*segment, place, &skeleton.state().velocity);
                if !hand.soft {
                    return bone;
                }
                let (maps, tissue) = (&hand.model().meshes[segment.index()].skin_maps, &hand.tissues[segment.index()]);
                let part = |i: usize| weights[i] * tissue.velocity(&MaterialPoint::soft(maps[vertices[i] as usize]));
                bone + (0..3).filter(|&i| weights[i] != 0.0).map(part).sum::<Vec3>()
            }
            Anchor::Bone { hand, segment, .. } => {
                let skeleton = &bodies.hands[hand.index()].skeleton;
                skeleton.kinematics().point_velocity(*segment, place, &skeleton.state().velocity)
            }
            Anchor::Soft { body, nodes } => nodes.sum(bodies.soft[*body].velocities()),
            Anchor::Rigid { body, local } => bodies.rigid[*body].velocity(&MaterialPoint::rigid(0, *local)),
            Anchor::World(_) => Vec3::zeros(),
        }
    }

    /// Columns of its Jacobian: velocity per unit of each degree of freedom that moves it; `place` is where it is.
    pub fn columns(&self, bodies: &Bodies, place: &Vec3, mut column: impl FnMut(BodyKind, usize, Vec3)) {
        match self {
            Anchor::Skin { hand, segment, vertices, weights } => {
                let body = &bodies.hands[hand.index()];
                let kinematics = body.skeleton.kinematics();
                kinematics.point_columns(*segment, place, |dof, v| column(BodyKind::Skeleton(*hand), dof, v));
                if !body.soft {
                    return;
                }
                let maps = &body.model().meshes[segment.index()].skin_maps;
                let tissue = &body.tissues[segment.index()];
                let turn = tissue.frame().rotation.to_rotation_matrix();
                let kind = BodyKind::Tissue(*hand, *segment);
                for i in (0..3).filter(|&i| weights[i] != 0.0) {
                    let map = &maps[vertices[i] as usize];
                    for (&node, &weight) in map.nodes.iter().zip(&map.weights).filter(|(_, w)| **w != 0.0) {
                        let Some(unknown) = tissue.model().unknown(node) else { continue };
                        for c in 0..3 {
                            column(kind, 3 * unknown + c, weights[i] * weight * turn.matrix().column(c));
                        }
                    }
                }
            }
            Anchor::Bone { hand, segment, .. } => {
                let kinematics = bodies.hands[hand.index()].skeleton.kinematics();
                kinematics.point_columns(*segment, place, |dof, v| column(BodyKind::Skeleton(*hand), dof, v));
            }
            Anchor::Soft { body, nodes } => {
                let soft = &bodies.soft[*body];
                for (&node, &weight) in nodes.nodes.iter().zip(&nodes.weights).filter(|(_, w)| **w != 0.0) {
                    let Some(unknown) = soft.model().unknown(node) else { continue };
                    (0..3)
                        .for_each(|c| column(BodyKind::Soft(*body), 3 * unknown + c, weight * soft.frame().column(c)));
                }
            }
            Anchor::Rigid { body, .. } => {
                let arm = place - bodies.rigid[*body].centre();
                for i in 0..3 {
                    column(BodyKind::Rigid(*body), i, Vec3::ith(i, 1.0));
                    column(BodyKind::Rigid(*body), 3 + i, Vec3::ith(i, 1.0).cross(&arm));
                }
            }
            Anchor::World(_) => {}
        }
    }

    /// Adds the part of the row `direction · velocity` that falls to one body; `place` is where the point is.
    pub fn add_row(&self, bodies: &Bodies, body: BodyKind, place: &Vec3, direction: &Vec3, row: &mut [f64]) {
        match (self, body) {
            (Anchor::Skin { hand, segment, .. } | Anchor::Bone { hand, segment, .. }, BodyKind::Skeleton(h))
                if *hand == h =>
            {
                bodies.hands[h.index()].skeleton.kinematics().add_point_force(*segment, place, direction, row);
            }
            (Anchor::Skin { hand, segment, vertices, weights }, BodyKind::Tissue(h, s))
                if *hand == h && *segment == s =>
            {
                let hand = &bodies.hands[h.index()];
                let maps = &hand.model().meshes[s.index()].skin_maps;
                for i in (0..3).filter(|&i| weights[i] != 0.0) {
                    let at = MaterialPoint::soft(maps[vertices[i] as usize]);
                    hand.tissues[s.index()].add_row(&at, &(weights[i] * direction), row);
                }
            }
            (Anchor::Soft { body, nodes }, BodyKind::Soft(b)) if *body == b => {
                bodies.soft[b].add_row(&MaterialPoint::soft(*nodes), direction, row);
            }
            (Anchor::Rigid { body, local }, BodyKind::Rigid(b)) if *body == b => {
                bodies.rigid[b].add_row(&MaterialPoint::rigid(0, *local), direction, row);
            }
            _ => {}
        }
    }

    /// The bodies it moves with; the static world is none.
    pub fn bodies(&self, bodies: &Bodies) -> [Option<BodyKind>; 2] {
        match self {
            Anchor::Skin { hand, segment, .. } => {
                let tissue = bodies.hands[hand.index()].soft.then_some(BodyKind::Tissue(*hand, *segment));
                [Some(BodyKind::Skeleton(*hand)), tissue]
            }
            Anchor::Bone { hand, .. } => [Some(BodyKind::Skeleton(*hand)), None],
            Anchor::Soft { body, .. } => [Some(BodyKind::Soft(*body)), None],
            Anchor::Rigid { body, .. } => [Some(BodyKind::Rigid(*body)), None],
            Anchor::World(_) => [None, None],
        }
    }
}

/// The outermost layer of soft skin at a contact, pressed between skin and body.
///
/// With thickness `L`, modulus `M` and area `S` a strain `e` takes the pressure `f/S = M e / (1 − e)`: linear at first, and it cannot be
/// pressed to nothing. So `δ(f) = c f / (1 + c f / L)` with `c = L / (M S)`. A step takes it for linear about the force of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layer {
    /// `c` of the layers on both sides together, m/N; zero where there is none.
    pub softness: f64,
    /// `L`, of both together, m.
    pub thickness: f64,
    /// Time constant of its viscous damping, s: that of the tissue.
    pub damping: f64,
    /// Force of the last step, N.
    pub pressed: f64,
}

impl Layer {
    /// How far it gives way under a force, m.
    pub fn depth(&self, force: f64) -> f64 {
        self.softness * force / (1.0 + self.strained(force))
    }

    /// How much further per newton, m/N.
    pub fn compliance(&self, force: f64) -> f64 {
        self.softness / (1.0 + self.strained(force)).powi(2)
    }

    fn strained(&self, force: f64) -> f64 {
        if self.thickness > 0.0 { self.softness * force / self.thickness } else { 0.0 }
    }
}

/// Two surfaces close to each other at one place. Its direction is fixed at the start of the step (formulation §1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The point of the one surface; of the skin, where there is one.
    pub a: Anchor,
    /// The point of the other.
    pub b: Anchor,
    /// Where they are, m.
    pub places: [Vec3; 2],
    /// Unit normal from the other surface to the one.
    pub normal: Vec3,
    /// Gap between them at the start of the step, m.
    pub gap: f64,
    /// Velocity of the one surface against the other after the free motion, m/s.
    pub free_velocity: Vec3,
    /// Gap after the free motion, m.
    pub free_gap: f64,
    /// Area that it stands for, m².
    pub area: f64,
    /// How the outermost layer of the skin gives way along the normal.
    pub layer: Layer,
    /// How far it gives way across it per newton, m/N.
    pub shear_compliance: f64,
    /// Which features meet, to know it again in the next step.
    pub feature: u64,
}

impl Contact {
    /// Takes part of its area away; the layer there is softer by as much.
    pub(super) fn give_area(&mut self, area: f64) {
        let left = self.area - area;
        if left > 0.0 {
            let softer = self.area / left;
            self.layer.softness *= softer;
            self.shear_compliance *= softer;
            self.area = left;
        }
    }

    /// The gap as the bodies stand now, along the fixed direction; surfaces touch at `offset`.
    pub fn gap_now(&self, bodies: &Bodies, offset: f64) -> f64 {
        self.normal.dot(&(self.a.place(bodies) - self.b.place(bodies))) - offset
    }

    /// Columns of its Jacobian: relative velocity per unit of each degree of freedom that moves it.
    pub fn columns(&self, bodies: &Bodies, mut column: impl FnMut(BodyKind, usize, Vec3)) {
        self.a.columns(bodies, &self.a.place(bodies), &mut column);
        self.b.columns(bodies, &self.b.place(bodies), |kind, dof, v| column(kind, dof, -v));
    }

    /// Adds the part of the row `direction · velocity` that falls to one body.
    pub fn add_row(&self, bodies: &Bodies, body: BodyKind, direction: &Vec3, row: &mut [f64]) {
        self.a.add_row(bodies, body, &self.places[0], direction, row);
        self.b.add_row(bodies, body, &self.places[1], &-direction, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_never_pressed_to_nothing() {
        let layer = Layer { softness: 1e-3, thickness: 1e-4, damping: 0.0, pressed: 0.0 };
        assert!((layer.depth(1e-6) - 1e-9).abs() < 1e-13, "linear at first");
        assert!(layer.depth(1e6) < 1e-4 && layer.depth(1e6) > 0.99e-4);
        for force in [0.0, 0.01, 0.3, 5.0] {
            let difference = (layer.depth(force + 1e-6) - layer.depth(force - 1e-6)) / 2e-6;
            assert!((layer.compliance(force) - difference).abs() < 1e-6 * difference);
        }
        assert_eq!(Layer::default().depth(3.0), 0.0);
    }
}
