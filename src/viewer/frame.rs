use crate::body::{BodyKind, Hand};
use crate::hand::Kinematics;
use crate::math::{Pose, Vec3};
use crate::sim::{PressurePoint, Touch, World};
use crate::tracking::{ANGLES, Segment};

/// What moves, copied out of a world between two steps. It is owned and can go to another thread; everything that can be computed
/// from it, the skins above all, is left to those who draw.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Time, s.
    pub time: f64,
    /// Placements of the rigid bodies.
    pub rigid: Vec<Pose>,
    /// Placements of the static world.
    pub fixed: Vec<Pose>,
    /// Nodes of the soft bodies, m.
    pub soft: Vec<Vec<Vec3>>,
    /// Hands in the world's order.
    pub hands: Vec<HandFrame>,
    /// What touches, one entry a constraint.
    pub touches: Vec<Touch>,
    /// Single points that are pressed.
    pub pressures: Vec<PressurePoint>,
}

/// A hand at one instant.
#[derive(Clone, Debug)]
pub struct HandFrame {
    /// Layers 2 and 3: where segments and joints are.
    pub kinematics: Kinematics,
    /// Layer 4: displacement of the nodes of each segment's tissue, in the frame of its bone, m.
    pub displacements: Vec<Vec<Vec3>>,
    /// Layer 1: placement of the tracked palm.
    pub tracked_palm: Pose,
    /// Layer 1: the tracked angles, rad.
    pub tracked_angles: [f64; ANGLES],
}

impl Frame {
    /// The world as it is now.
    pub fn of(world: &World) -> Self {
        let mut frame = Self::default();
        frame.refresh(world);
        frame
    }

    /// Takes the world as it is now over, into the memory that is already there.
    pub fn refresh(&mut self, world: &World) {
        let bodies = &world.bodies;
        self.time = world.time();
        refill(&mut self.rigid, bodies.rigid.iter().map(|body| body.pose()));
        refill(&mut self.fixed, bodies.fixed.iter().map(|body| *body.pose()));
        self.soft.resize_with(bodies.soft.len(), Vec::new);
        for (nodes, body) in self.soft.iter_mut().zip(&bodies.soft) {
            refill(nodes, body.positions().iter().copied());
        }
        self.hands.truncate(bodies.hands.len());
        for (frame, hand) in self.hands.iter_mut().zip(&bodies.hands) {
            frame.refresh(hand);
        }
        let known = self.hands.len();
        self.hands.extend(bodies.hands[known..].iter().map(HandFrame::of));
        refill(&mut self.touches, world.touches());
        refill(&mut self.pressures, world.pressure_points().filter(|point| point.pressure > 0.0));
        self.carry_along(world);
    }

    /// Contacts are found where bodies were at the start of the step; they are shown where these are at its end.
    fn carry_along(&mut self, world: &World) {
        let moved = |body: BodyKind, place: &Vec3| {
            let (hand, segment) = match body {
                BodyKind::Skeleton(hand) => (hand, Segment::PALM),
                BodyKind::Tissue(hand, segment) => (hand, segment),
                BodyKind::Rigid(i) => {
                    let body = &world.bodies.rigid[i];
                    let turning = body.angular_velocity().cross(&(place - body.centre()));
                    return world.parameters.dt * (body.linear_velocity() + turning);
                }
                BodyKind::Soft(_) | BodyKind::Fixed(_) => return Vec3::zeros(),
            };
            let skeleton = &world.bodies.hands[hand.index()].skeleton;
            world.parameters.dt * skeleton.kinematics().point_velocity(segment, place, &skeleton.state().velocity)
        };
        self.touches.iter_mut().for_each(|touch| touch.place += moved(touch.a, &touch.place));
        self.pressures.iter_mut().for_each(|point| point.place += moved(point.body, &point.place));
    }
}

impl HandFrame {
    fn of(hand: &Hand) -> Self {
        let tracked = &hand.skeleton.tracked;
        let mut frame = Self {
            kinematics: hand.skeleton.kinematics().clone(),
            displacements: vec![Vec::new(); hand.tissues.len()],
            tracked_palm: *tracked.palm(),
            tracked_angles: *tracked.angles(),
        };
        frame.refresh(hand);
        frame
    }

    fn refresh(&mut self, hand: &Hand) {
        let tracked = &hand.skeleton.tracked;
        self.kinematics.clone_from(hand.skeleton.kinematics());
        (self.tracked_palm, self.tracked_angles) = (*tracked.palm(), *tracked.angles());
        self.displacements.resize_with(hand.tissues.len(), Vec::new);
        for (nodes, tissue) in self.displacements.iter_mut().zip(&hand.tissues) {
            refill(nodes, tissue.state().displacement.iter().copied());
        }
    }
}

fn refill<T>(list: &mut Vec<T>, with: impl Iterator<Item = T>) {
    list.clear();
    list.extend(with);
}

#[cfg(test)]
mod tests {
    use parry3d::query::PointQuery;
    use parry3d::shape::TriMesh;

    use super::*;
    use crate::assets::{Scene, load_builtin_scene};
    use crate::math::to_glam;

    fn played(name: &str, steps: usize) -> Scene {
        let mut scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|p| panic!("{p}"));
        for _ in 0..steps {
            scene.feed();
            scene.world.step();
        }
        scene
    }

    #[test]
    fn a_frame_holds_what_the_world_holds() {
        fn is_send<T: Send>(_: &T) {}
        let scene = played("ball", 130);
        let frame = Frame::of(&scene.world);
        is_send(&frame);
        assert_eq!(frame.time, scene.world.time());
        assert_eq!(frame.rigid[0], scene.world.bodies.rigid[0].pose());
        assert_eq!((frame.fixed.len(), frame.soft.len(), frame.hands.len()), (2, 0, 1));
        assert_eq!(frame.touches.len(), scene.world.touches().count());
        assert!(frame.touches.len() > 5 && frame.pressures.len() > frame.touches.len());
        let tissue = scene.world.bodies.hands[0].tissues[3].state();
        assert_eq!(frame.hands[0].displacements[3], tissue.displacement);
    }

    #[test]
    fn a_refreshed_frame_is_a_new_one_even_of_another_world() {
        let mut frame = Frame::of(&played("dumbbell", 2).world);
        for name in ["soft_ball", "ball", "stack", "dumbbell"] {
            let scene = played(name, 3);
            frame.refresh(&scene.world);
            assert_eq!(format!("{frame:?}"), format!("{:?}", Frame::of(&scene.world)), "{name}");
        }
    }

    #[test]
    fn contacts_are_shown_where_the_lifted_hand_is() {
        // In the middle of the lift, at 0.19 m/s.
        let scene = played("ball", 170);
        let frame = Frame::of(&scene.world);
        let hand = &scene.world.bodies.hands[0];
        for point in &frame.pressures {
            let BodyKind::Tissue(_, segment) = point.body else { panic!("{point:?}") };
            let vertices = hand.skin.positions(segment).iter().map(to_glam).collect();
            let skin = TriMesh::new(vertices, hand.model().meshes[segment.index()].skin.triangles.clone());
            let near = skin.expect("a skin").distance_to_local_point(to_glam(&point.place), false);
            assert!(near < 3e-4, "{near}");
        }
        let late = |places: &mut dyn Iterator<Item = f64>| places.sum::<f64>() / frame.touches.len() as f64;
        let now = late(&mut frame.touches.iter().map(|t| t.place.y));
        let before = late(&mut scene.world.touches().map(|t| t.place.y));
        assert!((now - before - 1.9e-3).abs() < 3e-4, "{}", now - before);
    }
}
