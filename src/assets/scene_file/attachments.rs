use super::{Scene, ranges};
use crate::assets::table::{Table, unknown};
use crate::body::HandId;
use crate::contact::{Attachment, AttachmentFault, Joint, Part};
use crate::hand::NodeMap;
use crate::math::Vec3;
use crate::tracking::Segment;

/// What stands for the frame of the world in an attachment.
pub const WORLD: &str = "world";
const JOINTS: [&str; 3] = ["point", "weld", "hinge"];
/// A point counts as part of a soft body if its barycentric weights are at least this: rounding, and a hair's breadth.
const INSIDE: f64 = -0.01;

/// Reads `[[attachment]]`.
pub fn read_attachments(root: &Table<'_>, scene: &mut Scene) {
    let named = ["body", "hand"].into_iter().flat_map(|kind| root.named(kind));
    let declared: Vec<&str> = named.map(|(name, _)| name).collect();
    for table in root.tables("attachment") {
        let at = table.vector("at", ranges::PLACE);
        let parts = ["a", "b"].map(|key| {
            let name = table.text(key);
            let part = find_part(&table, &name, &at, scene);
            if part.is_none() {
                explain(&table, key, &name, &declared, scene);
            }
            part
        });
        let joint = read_joint(&table);
        if let [Some(a), Some(b)] = parts {
            match Attachment::new(&scene.world.bodies, [a, b], &at, joint) {
                Ok(attachment) => scene.world.attachments.push(attachment),
                Err(fault) => table.complain(
                    match fault {
                        AttachmentFault::SoftJoint => "joint",
                        AttachmentFault::Axis => "axis",
                        AttachmentFault::Itself => "b",
                    },
                    fault.to_string(),
                ),
            }
        }
        table.finish();
    }
}

fn read_joint(table: &Table<'_>) -> Joint {
    match JOINTS[table.choice("joint", &JOINTS)] {
        "point" => Joint::Point,
        "weld" => Joint::Weld,
        _ => Joint::Hinge(table.vector("axis", ranges::AXIS)),
    }
}

fn find_part(table: &Table<'_>, name: &str, at: &Vec3, scene: &Scene) -> Option<Part> {
    if name == WORLD || scene.fixed(name).is_some() {
        return Some(Part::World);
    }
    if let Some(i) = scene.rigid(name) {
        return Some(Part::Rigid(i));
    }
    if let Some(i) = scene.soft(name) {
        let point = soft_point(scene, i, at);
        if point.is_none() {
            table.complain("at", format!("the point lies outside of the soft body `{name}`"));
        }
        return point.map(|nodes| Part::Soft(i, nodes));
    }
    let (hand, segment) = find_segment(scene, name)?;
    Some(Part::Bone(HandId::at(hand), segment))
}

/// Says that an end names nothing. What the scene declares but could not be made has been complained about already, and a
/// soft body was found, if not the point in it.
fn explain(table: &Table<'_>, key: &str, name: &str, declared: &[&str], scene: &Scene) {
    let body = name.split('.').next().unwrap_or_default();
    let broken = declared.contains(&body) && scene.hand(body).is_none();
    if !broken {
        let known = end_names(scene, name);
        table.complain(key, unknown("body", name, &known.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

/// `HAND.SEGMENT`.
fn find_segment(scene: &Scene, name: &str) -> Option<(usize, Segment)> {
    let (hand, segment) = name.split_once('.')?;
    Some((scene.hand(hand)?, Segment::all().find(|s| s.name() == segment)?))
}

/// The names that an end may have; a hand's segments only where one of them seems to be meant.
fn end_names(scene: &Scene, wrong: &str) -> Vec<String> {
    let names = &scene.names;
    let bodies = names.rigid.iter().chain(&names.soft).chain(&names.fixed).cloned();
    let meant = names.hands.iter().filter(|hand| wrong.starts_with(hand.as_str()));
    let segments = meant.flat_map(|hand| Segment::all().map(move |s| format!("{hand}.{}", s.name())));
    bodies.chain([WORLD.into()]).chain(segments).collect()
}

/// The place of a point among the nodes of a soft body.
fn soft_point(scene: &Scene, i: usize, at: &Vec3) -> Option<NodeMap> {
    let positions = scene.world.bodies.soft[i].positions();
    let mut best: Option<(f64, NodeMap)> = None;
    for &nodes in &scene.soft_meshes[i].tets {
        let [a, b, c, d] = nodes.map(|n| positions[n as usize]);
        let edges = nalgebra::Matrix3::from_columns(&[b - a, c - a, d - a]);
        let Some(w) = edges.try_inverse().map(|inverse| inverse * (at - a)) else { continue };
        let weights = [1.0 - w.sum(), w.x, w.y, w.z];
        let least = weights.into_iter().fold(f64::INFINITY, f64::min);
        if least >= INSIDE && best.as_ref().is_none_or(|(other, _)| least > *other) {
            best = Some((least, NodeMap { nodes, weights }));
        }
    }
    best.map(|(_, nodes)| nodes)
}
