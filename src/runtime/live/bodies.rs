use crate::assets::Scene;
use crate::body::{Body, BodyId};
use crate::viewer::window::{BodyInfo, BodyMotion};

/// Order of the kinds in the scene tree; others follow.
const KIND_ORDER: [&str; 5] = ["hand", "rigid", "quasi_rigid", "soft", "fixed"];

/// The bodies of a scene, kind by kind.
fn listed(scene: &Scene) -> Vec<(BodyId, &dyn Body)> {
    let rank = |body: &dyn Body| KIND_ORDER.iter().position(|kind| *kind == body.kind()).unwrap_or(KIND_ORDER.len());
    let mut bodies: Vec<_> = scene.world.bodies.iter().collect();
    bodies.sort_by_key(|(_, body)| rank(*body));
    bodies
}

/// Every body of a scene.
pub fn of(scene: &Scene) -> Vec<BodyInfo> {
    let world = &scene.world;
    let material = |id| {
        let known = world.materials.names().find(|name| world.materials.find(name) == Some(id));
        known.unwrap_or_default().to_string()
    };
    let info = |(id, body): (BodyId, &dyn Body)| BodyInfo {
        name: world.bodies.name(id).into(),
        body: id,
        kind: body.kind(),
        moves: body.part_count() > 0,
        mass: body.mass(),
        material: if body.kind() == "hand" { String::new() } else { material(body.material()) },
    };
    listed(scene).into_iter().map(info).collect()
}

/// Their motion, in the same order.
pub fn motions(scene: &Scene, motions: &mut Vec<BodyMotion>) {
    motions.clear();
    motions.extend(listed(scene).into_iter().map(|(_, body)| BodyMotion {
        pose: body.pose(),
        linear: body.centre_velocity(),
        angular: body.angular_velocity(),
    }));
}
