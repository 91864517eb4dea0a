//! Bodies that start inside each other.

use std::collections::BTreeMap;

use crate::assets::Scene;
use crate::body::{Collider, ColliderId};
use crate::contact::{Contact, Proximity, signed_distance};

/// Overlaps up to this depth are not reported, m.
const ALLOWED: f64 = 1e-4;

/// A sentence for each pair of bodies that overlap, the deepest first. Contact separates them in the first steps, which can
/// throw them apart.
pub fn overlap_warnings(scene: &Scene) -> Vec<String> {
    let world = &scene.world;
    let mut near = Proximity::default();
    near.join(&world.bodies, &world.attachments);
    near.find(&world.bodies, &world.materials, &world.parameters.contact, world.parameters.dt);
    let mut deepest: BTreeMap<[String; 2], f64> = BTreeMap::new();
    for pair in &near.pairs {
        let (a, b) = (pair.a, pair.b);
        let depth = near.contacts[pair.contacts.clone()].iter().map(|c| depth(scene, b, c)).fold(0.0, f64::max);
        if depth > ALLOWED {
            let most = deepest.entry([name(scene, a), name(scene, b)]).or_default();
            *most = most.max(depth);
        }
    }
    let mut found: Vec<([String; 2], f64)> = deepest.into_iter().collect();
    found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    found.iter().map(|([a, b], depth)| format!("{a} begins {:.1} mm inside {b}", 1e3 * depth)).collect()
}

/// Depth of the first point of a contact inside the other body, m. Along the normal alone it is too large beyond an edge.
fn depth(scene: &Scene, other: ColliderId, contact: &Contact) -> f64 {
    let bodies = &scene.world.bodies;
    let along = -contact.gap_now(bodies, 0.0);
    if contact.a.point.is_rigid() {
        // A point on the common face of two shapes.
        return along;
    }
    let Some(Collider::Shape(on)) = bodies.get(other.body).map(|body| body.collider(other.index())) else {
        return along;
    };
    let place = contact.a.place(bodies) - on.pose.translation.vector;
    along.min(-signed_distance(on.shape, &on.pose.rotation.inverse_transform_vector(&place)).distance)
}

fn name(scene: &Scene, collider: ColliderId) -> String {
    let bodies = &scene.world.bodies;
    match bodies.segment(collider) {
        Some((hand, segment)) => format!("`{}` ({})", bodies.name(hand), segment.name()),
        None => format!("`{}`", bodies.name(collider.body)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::assets::{builtin_scenes, load_builtin_scene, parse_scene};

    fn warned(text: &str) -> Vec<String> {
        overlap_warnings(
            &parse_scene(Path::new("test.toml"), text, &[]).unwrap_or_else(|problems| panic!("{problems}")),
        )
    }

    #[test]
    fn the_deeper_pair_is_named_first() {
        let text = "[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n\
            [body.low]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.1, 0.1, 0.1]\nposition = [0, 0.048, 0]\n\
            [body.high]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.1, 0.1, 0.1]\nposition = [0, 0.143, 0]\n";
        let found = warned(text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("5.0 mm") && found[0].contains("`low`") && found[0].contains("`high`"), "{found:?}");
        assert!(found[1].contains("2.0 mm") && found[1].contains("`ground`"), "{found:?}");
        assert_eq!(warned(&text.replace("0.048", "0.05").replace("0.143", "0.15")), Vec::<String>::new());
    }

    #[test]
    fn a_hand_is_named_by_its_segment() {
        let ball = "kind = \"fixed\"\nshape = \"ball\"\nradius = 0.05\nposition = [0, 0.04, -0.05]\n";
        let found = warned(&format!("[hand.right]\nfile = \"fingerpad:/hands/right.toml\"\n[body.ball]\n{ball}"));
        assert!(found.iter().any(|w| w.contains("`right` (palm) begins") && w.contains("inside `ball`")), "{found:?}");
    }

    #[test]
    fn no_shipped_scene_starts_with_overlaps() {
        for name in builtin_scenes() {
            let scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(overlap_warnings(&scene), Vec::<String>::new(), "{name}");
        }
    }
}
