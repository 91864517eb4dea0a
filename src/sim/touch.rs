use super::world::World;
use crate::body::{BodyId, ColliderId, HandId, SurfaceLoad};
use crate::contact::{ConstraintBlock, Source};
use crate::math::Vec3;
use crate::tracking::Segment;

/// One solved contact constraint of the last step, for scripts, haptics and pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The first collider; for a hand its segment.
    pub a: ColliderId,
    /// The second.
    pub b: ColliderId,
    /// Centre of pressure, m.
    pub place: Vec3,
    /// Unit normal from the second body to the first.
    pub normal: Vec3,
    /// Normal force, N.
    pub pressing: f64,
    /// Friction force on the first body, N.
    pub friction: Vec3,
    /// Friction torque on the first body about the normal, N·m.
    pub torque: f64,
    /// Slip speed at the centre, m/s.
    pub sliding: f64,
    /// Spin speed about the normal, rad/s.
    pub spinning: f64,
    /// Approximate friction utilisation, from 0 to 1. Use `sliding` and `spinning` to detect slip.
    pub used: f64,
    /// Number of contacts.
    pub contacts: usize,
}

impl Touch {
    /// Force on the first body, N.
    pub fn force(&self) -> Vec3 {
        self.pressing * self.normal + self.friction
    }
}

/// Total contact force on a segment of a hand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Sum of the normal forces, N.
    pub pressing: f64,
    /// Sum of all forces on the segment, N.
    pub force: Vec3,
    /// Sum of the magnitudes of the friction forces, N.
    pub friction: f64,
    /// Sum of the friction torques about the normals, N·m.
    pub torque: f64,
    /// Maximum friction utilisation.
    pub used: f64,
}

/// Force on one point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressurePoint {
    /// The body, as in [`Touch::a`].
    pub body: ColliderId,
    /// The body in contact with it.
    pub other: ColliderId,
    /// Position, m.
    pub place: Vec3,
    /// Force on the body, N.
    pub force: Vec3,
    /// Pressure, Pa; zero for a point without an area.
    pub pressure: f64,
}

impl PressurePoint {
    /// The force on one of the two bodies.
    pub(super) fn load_on(&self, body: BodyId) -> Option<SurfaceLoad> {
        let force = match body {
            _ if body == self.body.body => self.force,
            _ if body == self.other.body => -self.force,
            _ => return None,
        };
        Some(SurfaceLoad { place: self.place, force, pressure: self.pressure })
    }
}

impl World {
    /// Contacts of the last step with nonzero force.
    pub fn touches(&self) -> impl Iterator<Item = Touch> + '_ {
        let convex = self.parameters.contact.is_convex();
        let rows = (!convex).then(|| self.row_touches()).into_iter().flatten();
        let patches = convex.then(|| self.system().islands.solved_patches(self.parameters.dt)).into_iter().flatten();
        let patches = patches.map(|patch| {
            let [pressing, t, s, torque] = patch.force;
            let pair = &self.proximity().pairs[patch.pair];
            Touch {
                a: pair.a,
                b: pair.b,
                place: patch.centre,
                normal: patch.frame[0],
                pressing,
                friction: t * patch.frame[1] + s * patch.frame[2],
                torque,
                sliding: patch.slip[0],
                spinning: patch.slip[1],
                used: friction_used(patch.mu * pressing, patch.torsion, f64::hypot(t, s), torque),
                contacts: patch.contacts,
            }
        });
        patches.chain(rows)
    }

    /// The same for the methods that are solved on rows.
    fn row_touches(&self) -> impl Iterator<Item = Touch> + '_ {
        self.system().groups().iter().flat_map(move |group| {
            group.blocks.iter().zip(&group.starts).filter_map(move |(&index, &first)| {
                let block = &self.system().blocks[index];
                let speed = |row: usize| group.problem.velocity(first + row, &group.forces);
                let spin = if block.rows.len() == 4 { speed(3) } else { 0.0 };
                (block.force[0] > 0.0).then(|| self.touch(block, f64::hypot(speed(1), speed(2)), spin.abs())).flatten()
            })
        })
    }

    fn touch(&self, block: &ConstraintBlock, sliding: f64, spinning: f64) -> Option<Touch> {
        let [pressing, t, s, torque] = block.force;
        let (pair, place, torsion, contacts) = match block.source {
            Source::Point { pair, contact } => (pair, self.proximity().contacts[contact].places[0], 0.0, 1),
            Source::Aggregate { pair, aggregate, .. } => {
                let a = &self.system().aggregates()[aggregate];
                (pair, a.centre, a.patch.torsion(), a.patch.points.len())
            }
            Source::Attachment(_) => return None,
        };
        let pair = &self.proximity().pairs[pair];
        let used = friction_used(block.mu * pressing, torsion, f64::hypot(t, s), torque);
        Some(Touch {
            a: pair.a,
            b: pair.b,
            place,
            normal: block.frame[0],
            pressing,
            friction: t * block.frame[1] + s * block.frame[2],
            torque,
            sliding,
            spinning,
            used,
            contacts,
        })
    }

    /// Total contact force on a segment of a hand.
    pub fn load(&self, hand: HandId, segment: Segment) -> Load {
        let own = ColliderId::new(hand, segment.index());
        let mut load = Load::default();
        for touch in self.touches() {
            let side = if touch.a == own {
                1.0
            } else if touch.b == own {
                -1.0
            } else {
                continue;
            };
            load.pressing += touch.pressing;
            load.force += side * touch.force();
            load.friction += touch.friction.norm();
            load.torque += touch.torque;
            load.used = load.used.max(touch.used);
        }
        load
    }

    /// Forces on the points of aggregates and contacts: the pressure map.
    pub fn pressure_points(&self) -> impl Iterator<Item = PressurePoint> + '_ {
        let point = |pair: usize, contact: usize, force: Vec3, normal: f64| {
            let (pair, contact) = (&self.proximity().pairs[pair], &self.proximity().contacts[contact]);
            let pressure = if contact.area > 0.0 { normal / contact.area } else { 0.0 };
            PressurePoint { body: pair.a, other: pair.b, place: contact.places[0], force, pressure }
        };
        let solved = self.system().islands.solved_points(self.proximity());
        let solved = solved.map(move |p| point(p.pair, p.contact, p.force, p.pressure));
        let rows = self.system().blocks.iter().flat_map(move |block| {
            let [n, t, s, spin] = block.force;
            let single = match block.source {
                Source::Point { pair, contact } => {
                    let force = n * block.frame[0] + t * block.frame[1] + s * block.frame[2];
                    Some(point(pair, contact, force, n))
                }
                _ => None,
            };
            let (pair, aggregate) = match block.source {
                Source::Aggregate { pair, aggregate, .. } => (pair, Some(aggregate)),
                _ => (0, None),
            };
            let members = aggregate.into_iter().flat_map(move |aggregate| {
                let rows = &self.system().aggregates()[aggregate].rows;
                self.system().members(aggregate).iter().zip(rows).map(move |(&contact, rows)| {
                    let force = n * rows[0] + t * rows[1] + s * rows[2] + spin * rows[3];
                    point(pair, contact as usize, force, n * rows[0].norm())
                })
            });
            single.into_iter().chain(members)
        });
        let convex = self.parameters.contact.is_convex();
        solved.filter(move |_| convex).chain(rows.filter(move |_| !convex))
    }
}

/// Friction utilisation with the ellipsoid with the half axes of the friction set. It equals the set for pure sliding
/// and pure spin, and approximates it in between.
fn friction_used(most: f64, torsion: f64, slide: f64, torque: f64) -> f64 {
    let part = |force: f64, most: f64| if most > 0.0 { (force / most).abs() } else { 0.0 };
    f64::hypot(part(slide, most), part(torque, most * torsion)).min(1.0)
}
