use std::path::PathBuf;
use std::sync::Arc;

use super::materials::read_material;
use super::place::read_place;
use super::{Cost, Scene, ranges};
use crate::assets::builtin::RIGHT_HAND;
use crate::assets::files::Files;
use crate::assets::hand_file::read_look;
use crate::assets::problem::Problems;
use crate::assets::table::{Table, unknown};
use crate::body::{Hand, HandOptions};
use crate::hand::ranges::{ANGLE, SKIN, STIFFENING, YOUNG};
use crate::hand::{HandDescription, HandModel};
use crate::math::Pose;
use crate::tracking::{ANGLES, Finger, PoseKey, PoseSequence};

/// Reads `[hand.NAME]` and adds the hands to the world of a scene.
pub fn read_hands(root: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    for (name, table) in root.named("hand") {
        read_hand(name, &table, scene, files, problems);
        table.finish();
    }
}

fn read_hand(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    if !scene.has_room(table, Cost { hands: 1, ..Cost::default() }) {
        return;
    }
    let description = read_description(table, files, problems);
    let palm = read_place(table, &Pose::identity());
    let pose = table.text_or("pose", &HandOptions::default().pose);
    let material = read_material(table, &scene.world.materials);
    let rigid = table.flag_or("rigid", false);
    let meets_itself = table.flag_or("self_contact", false);
    let keys = table.tables("motion");
    // Poses and limits are unknown without it.
    let look = table.has("look").then(|| read_look(table));
    let Some((file, mut description)) = description else { return };
    description.look = look.unwrap_or(description.look);
    let start = PoseKey { time: 0.0, palm, angles: find_pose(table, &pose, &description).unwrap_or([0.0; ANGLES]) };
    let motion = read_motion(&keys, start, &description);
    let model = match HandModel::new(description) {
        Ok(model) => Arc::new(model),
        Err(fault) => return problems.0.extend(Problems::with_file(&file, fault.to_string()).0),
    };
    if !scene.has_room(table, Cost::of_model(&model)) {
        return;
    }
    // An unknown pose was reported by `find_pose`.
    let pose = if model.description.pose(&pose).is_some() { pose } else { HandOptions::default().pose };
    let Ok(mut hand) = Hand::new(model.clone(), &HandOptions { palm, pose, ..HandOptions::default() }) else { return };
    hand.material = material;
    hand.set_soft(!rigid);
    hand.set_meets_itself(meets_itself);
    scene.world.add_named(name, hand);
    scene.motions.push(motion);
}

/// The hand of the file, or the built-in one, with the changes of the scene.
fn read_description(table: &Table<'_>, files: &Files, problems: &mut Problems) -> Option<(PathBuf, HandDescription)> {
    let skin = table.table_if_any("skin").map(|skin| {
        let factor = skin.number("resolution", ranges::SKIN_RESOLUTION);
        skin.finish();
        factor
    });
    let tissue = table.table_if_any("tissue").map(|tissue| {
        let number = |key, range| tissue.has(key).then(|| tissue.number(key, range));
        let own = (number("young", YOUNG), number("stiffening", STIFFENING), tissue.flag_or("relaxation", false));
        tissue.finish();
        own
    });
    let file = if table.has("file") { table.path("file") } else { RIGHT_HAND.into() };
    if let Some(why) = files.why_absent(&file) {
        table.complain("file", why);
        return None;
    }
    let mut description = files.load_hand(&file).map_err(|Problems(found)| problems.0.extend(found)).ok()?;
    if let Some(factor) = skin {
        // The number of vertices grows with the square of the subdivisions of an edge.
        let parts = (description.mesh.skin as f64 * factor.sqrt()).round();
        description.mesh.skin = parts.clamp(SKIN.min, SKIN.max) as usize;
    }
    if let Some((young, stiffening, relaxation)) = tissue {
        description.tissue.young = young.unwrap_or(description.tissue.young);
        description.stiffening = stiffening.unwrap_or(description.stiffening);
        description.relaxation |= relaxation;
    }
    Some((file, description))
}

fn find_pose(table: &Table<'_>, name: &str, description: &HandDescription) -> Option<[f64; ANGLES]> {
    let found = description.pose(name).copied();
    if found.is_none() {
        let known: Vec<&str> = description.poses.iter().map(|p| p.name.as_str()).collect();
        table.complain("pose", unknown("pose", name, &known));
    }
    found
}

/// The motion through the hand's start and some keys; a key keeps values that it does not set.
fn read_motion(tables: &[Table<'_>], start: PoseKey, description: &HandDescription) -> Option<PoseSequence> {
    let mut keys = vec![start];
    let mut key = start;
    for table in tables {
        let time = table.number("at", ranges::SECONDS);
        if time <= key.time {
            let last = key.time;
            table.complain("at", format!("{time} s is not after {last} s; times must ascend, and the start is at 0"));
        }
        key.time = time;
        key.palm = read_place(table, &key.palm);
        if table.has("pose") {
            key.angles = find_pose(table, &table.text("pose"), description).unwrap_or(key.angles);
        }
        if let Some(angles) = table.table_if_any("angles") {
            read_angles(&angles, &mut key.angles, description);
        }
        table.finish();
        keys.push(key);
    }
    (keys.len() > 1).then(|| PoseSequence::new(keys))
}

fn read_angles(table: &Table<'_>, angles: &mut [f64; ANGLES], description: &HandDescription) {
    let limits = description.limits();
    for finger in Finger::ALL {
        if !table.has(finger.name()) {
            continue;
        }
        let degrees: [f64; 4] = table.numbers(finger.name(), ANGLE);
        for (i, angle) in degrees.iter().enumerate() {
            let place = 4 * finger as usize + i;
            let [low, high] = limits[place].map(f64::to_degrees);
            // Margin for the rounding of degrees.
            if *angle < low - 1e-6 || *angle > high + 1e-6 {
                let message = format!("{angle}° is outside the joint's limits, {low:.0}° to {high:.0}°");
                table.complain(finger.name(), message);
            }
            angles[place] = angle.to_radians();
        }
    }
    table.finish();
}
