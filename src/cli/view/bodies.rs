use crate::assets::Scene;
use crate::body::{BodyKind, HandId};
use crate::math::{Pose, Vec3};
use crate::tracking::Segment;
use crate::viewer::window::{BodyInfo, Motion};

/// Every body of a scene.
pub fn of(scene: &Scene) -> Vec<BodyInfo> {
    let (world, names) = (&scene.world, &scene.names);
    let material = |id| {
        let known = world.materials.names().find(|name| world.materials.find(name) == Some(id));
        known.unwrap_or_default().to_string()
    };
    let info = |name: &String, body: BodyKind, mass: Option<f64>, material: String| BodyInfo {
        name: name.clone(),
        body,
        mass,
        material,
    };
    let hands = names.hands.iter().enumerate();
    let mut bodies: Vec<BodyInfo> =
        hands.map(|(i, name)| info(name, BodyKind::Skeleton(HandId::at(i)), None, String::new())).collect();
    for (i, (name, body)) in names.rigid.iter().zip(&world.bodies.rigid).enumerate() {
        bodies.push(info(name, BodyKind::Rigid(i), Some(body.mass()), material(body.material)));
    }
    for (i, (name, body)) in names.soft.iter().zip(&world.bodies.soft).enumerate() {
        bodies.push(info(name, BodyKind::Soft(i), Some(body.mass()), material(body.material)));
    }
    for (i, (name, body)) in names.fixed.iter().zip(&world.bodies.fixed).enumerate() {
        bodies.push(info(name, BodyKind::Fixed(i), None, material(body.material)));
    }
    bodies
}

/// How they move, in the same order.
pub fn motions(scene: &Scene, motions: &mut Vec<Motion>) {
    let bodies = &scene.world.bodies;
    motions.clear();
    motions.extend(bodies.hands.iter().map(|hand| {
        let (state, kinematics) = (hand.skeleton.state(), hand.skeleton.kinematics());
        let at = state.palm.translation.vector;
        let linear = kinematics.point_velocity(Segment::PALM, &at, &state.velocity);
        // From the velocities of two other points of the palm.
        let beside = |axis: Vec3| kinematics.point_velocity(Segment::PALM, &(at + axis), &state.velocity) - linear;
        let (x, y) = (beside(Vec3::x()), beside(Vec3::y()));
        Motion { pose: state.palm, linear, angular: Vec3::new(y.z, -x.z, x.y) }
    }));
    motions.extend(bodies.rigid.iter().map(|body| Motion {
        pose: body.pose(),
        linear: *body.linear_velocity(),
        angular: body.angular_velocity(),
    }));
    motions.extend(bodies.soft.iter().map(|body| {
        let count = body.positions().len().max(1) as f64;
        let centre = body.positions().iter().sum::<Vec3>() / count;
        let (linear, _) = body.momentum();
        let pose = Pose::from_parts(centre.into(), Default::default());
        Motion { pose, linear: linear / body.mass(), angular: Vec3::zeros() }
    }));
    motions.extend(bodies.fixed.iter().map(|body| Motion {
        pose: *body.pose(),
        linear: Vec3::zeros(),
        angular: Vec3::zeros(),
    }));
}
