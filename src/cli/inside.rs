use std::collections::BTreeMap;

use crate::assets::Scene;
use crate::body::BodyKind;
use crate::contact::{Anchor, Contact, Proximity, signed_distance};

/// Bodies may begin this deep inside each other without a warning, m.
const ALLOWED: f64 = 1e-4;

/// A sentence for each pair of bodies of which one begins inside the other, the deepest first. Contact pushes them apart in the first steps,
/// which can throw them.
pub fn warnings(scene: &Scene) -> Vec<String> {
    let world = &scene.world;
    let mut near = Proximity::default();
    near.find(&world.bodies, &world.materials, &world.parameters.contact, world.parameters.dt);
    let mut deepest: BTreeMap<[String; 2], f64> = BTreeMap::new();
    for pair in &near.pairs {
        let (a, b) = (world.bodies.kind(pair.a), world.bodies.kind(pair.b));
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

/// How deep the first point of a contact is inside the other body. The direction of the contact alone says too much beyond an edge.
fn depth(scene: &Scene, other: BodyKind, contact: &Contact) -> f64 {
    let bodies = &scene.world.bodies;
    let along = -contact.gap_now(bodies, 0.0);
    if !matches!(contact.a, Anchor::Skin { .. } | Anchor::Soft { .. }) {
        // A point of the faces that two shapes share.
        return along;
    }
    let (shape, pose) = match other {
        BodyKind::Rigid(i) => (bodies.rigid[i].shape(), bodies.rigid[i].pose()),
        BodyKind::Fixed(i) => (bodies.fixed[i].shape(), *bodies.fixed[i].pose()),
        _ => return along,
    };
    let place = contact.a.place(bodies) - pose.translation.vector;
    along.min(-signed_distance(shape, &pose.rotation.inverse_transform_vector(&place)).distance)
}

fn name(scene: &Scene, body: BodyKind) -> String {
    let names = &scene.names;
    match body {
        BodyKind::Skeleton(hand) => format!("`{}`", names.hands[hand.index()]),
        BodyKind::Tissue(hand, segment) => format!("`{}` ({})", names.hands[hand.index()], segment.name()),
        BodyKind::Rigid(i) => format!("`{}`", names.rigid[i]),
        BodyKind::Soft(i) => format!("`{}`", names.soft[i]),
        BodyKind::Fixed(i) => format!("`{}`", names.fixed[i]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::assets::{builtin_scenes, load_builtin_scene, parse_scene};

    fn warned(text: &str) -> Vec<String> {
        warnings(&parse_scene(Path::new("test.toml"), text, &[]).unwrap_or_else(|problems| panic!("{problems}")))
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
    fn no_shipped_scene_begins_inside_another() {
        for name in builtin_scenes() {
            let scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(warnings(&scene), Vec::<String>::new(), "{name}");
        }
    }
}
