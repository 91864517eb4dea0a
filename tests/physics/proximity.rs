//! Distances that are kept from step to step make the search for contacts faster, and change nothing.

use crate::common::shipped_scene;

/// Two copies of a scene take the same steps, one of them without what it knew of distances before each.
#[test]
fn kept_distances_do_not_change_what_is_found() {
    for (name, steps) in [("ball", 130), ("dumbbell", 90), ("soft_ball", 90), ("edge_cube", 130), ("stack", 60)] {
        let [mut kept, mut forgot] = [shipped_scene(name), shipped_scene(name)];
        let mut contacts = 0;
        for step in 0..steps {
            kept.feed();
            forgot.feed();
            forgot.world.forget_distances();
            let hashes = [kept.world.step().hash, forgot.world.step().hash];
            assert_eq!(hashes[0], hashes[1], "{name}: step {step}");
            let found = [&kept, &forgot].map(|scene| scene.world.proximity().contacts.clone());
            assert!(found[0] == found[1], "{name}: contacts of step {step}");
            contacts += found[0].len();
        }
        assert!(contacts > 100, "{name}: {contacts} contacts were compared");
    }
}
