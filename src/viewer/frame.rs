use crate::body::{BodyId, ColliderId, Hand};
use crate::hand::Kinematics;
use crate::math::{Pose, Vec3};
use crate::sim::{PressurePoint, Touch, World};
use crate::tracking::ANGLES;

/// The moving state, copied out of a world between two steps. It is owned and can be sent to another thread; derived
/// data such as the skins are computed by the renderer.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Time, s.
    pub time: f64,
    /// All bodies but hands, in the order of the registry.
    pub bodies: Vec<BodyFrame>,
    /// Hands in the order of the world.
    pub hands: Vec<HandFrame>,
    /// Contacts, one entry per constraint.
    pub touches: Vec<Touch>,
    /// Contact points with pressure.
    pub pressures: Vec<PressurePoint>,
}

/// A body at one instant.
#[derive(Clone, Debug)]
pub struct BodyFrame {
    /// The body.
    pub id: BodyId,
    /// Its placement.
    pub pose: Pose,
    /// Positions of the nodes of a body that deforms, m.
    pub nodes: Vec<Vec3>,
}

/// A hand at one instant.
#[derive(Clone, Debug)]
pub struct HandFrame {
    /// The hand.
    pub id: BodyId,
    /// Layers 2 and 3: poses of segments and joints.
    pub kinematics: Kinematics,
    /// Layer 4: displacement of the nodes of each segment's tissue, in the bone frame, m.
    pub displacements: Vec<Vec<Vec3>>,
    /// Layer 1: pose of the tracked palm.
    pub tracked_palm: Pose,
    /// Layer 1: the tracked angles, rad.
    pub tracked_angles: [f64; ANGLES],
}

impl Frame {
    /// The current state of a world.
    pub fn of(world: &World) -> Self {
        let mut frame = Self::default();
        frame.refresh(world);
        frame
    }

    /// Copies the current state of a world, reusing memory.
    pub fn refresh(&mut self, world: &World) {
        let bodies = &world.bodies;
        self.time = world.time();
        let mut count = 0;
        for (id, body) in bodies.iter().filter(|(_, body)| body.kind() != "hand") {
            if count == self.bodies.len() {
                self.bodies.push(BodyFrame { id, pose: body.pose(), nodes: Vec::new() });
            }
            let frame = &mut self.bodies[count];
            (frame.id, frame.pose) = (id, body.pose());
            refill(&mut frame.nodes, body.nodes().iter().copied());
            count += 1;
        }
        self.bodies.truncate(count);
        self.hands.truncate(bodies.hand_ids().len());
        for (number, &id) in bodies.hand_ids().iter().enumerate() {
            match self.hands.get_mut(number) {
                Some(frame) => frame.refresh(id.id(), &bodies[id]),
                None => self.hands.push(HandFrame::of(id.id(), &bodies[id])),
            }
        }
        refill(&mut self.touches, world.touches());
        refill(&mut self.pressures, world.pressure_points().filter(|point| point.pressure > 0.0));
        self.carry_along(world);
    }

    /// Contacts are detected at the start of the step; they are shown at the positions of the bodies at its end.
    fn carry_along(&mut self, world: &World) {
        let dt = world.parameters.dt;
        let moved = |side: ColliderId, place: &Vec3| {
            if let Some((hand, segment)) = world.bodies.segment(side) {
                let skeleton = &world.bodies[hand].skeleton;
                return dt * skeleton.kinematics().point_velocity(segment, place, &skeleton.state().velocity);
            }
            let body = world.bodies.get(side.body).filter(|body| body.nodes().is_empty());
            body.map_or_else(Vec3::zeros, |body| {
                dt * (body.centre_velocity() + body.angular_velocity().cross(&(place - body.centre())))
            })
        };
        self.touches.iter_mut().for_each(|touch| touch.place += moved(touch.a, &touch.place));
        self.pressures.iter_mut().for_each(|point| point.place += moved(point.body, &point.place));
    }
}

impl HandFrame {
    fn of(id: BodyId, hand: &Hand) -> Self {
        let tracked = &hand.skeleton.tracked;
        let mut frame = Self {
            id,
            kinematics: hand.skeleton.kinematics().clone(),
            displacements: vec![Vec::new(); hand.tissues.len()],
            tracked_palm: *tracked.palm(),
            tracked_angles: *tracked.angles(),
        };
        frame.refresh(id, hand);
        frame
    }

    fn refresh(&mut self, id: BodyId, hand: &Hand) {
        self.id = id;
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
            scene.step();
        }
        scene
    }

    #[test]
    fn a_frame_matches_the_world() {
        fn is_send<T: Send>(_: &T) {}
        let scene = played("ball", 130);
        let frame = Frame::of(&scene.world);
        is_send(&frame);
        assert_eq!(frame.time, scene.world.time());
        let ball = scene.rigid("ball").expect("a ball");
        let drawn = frame.bodies.iter().find(|body| body.id == ball.id()).expect("the ball");
        assert_eq!(drawn.pose, scene.world.bodies[ball].pose());
        assert_eq!((frame.bodies.len(), frame.hands.len()), (3, 1));
        assert_eq!(frame.touches.len(), scene.world.touches().count());
        assert!(frame.touches.len() > 5 && frame.pressures.len() > frame.touches.len());
        let tissue = scene.world.bodies.hand(0).tissues[3].state();
        assert_eq!(frame.hands[0].displacements[3], tissue.displacement);
    }

    #[test]
    fn a_refreshed_frame_equals_a_new_one() {
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
        let hand = scene.world.bodies.hand(0);
        for point in &frame.pressures {
            let (_, segment) = scene.world.bodies.segment(point.body).expect("a segment");
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
