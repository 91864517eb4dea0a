use super::{Scene, ranges};
use crate::assets::table::{Table, unknown};
use crate::body::{BodyId, DriveLaw};
use crate::contact::{Attachment, AttachmentEnd, AttachmentFault, Joint};
use crate::tracking::Segment;

/// Name of the world frame in an attachment.
pub const WORLD: &str = "world";
const JOINT_NAMES: [&str; 4] = ["point", "weld", "hinge", "slider"];

/// Reads `[[attachment]]`.
pub fn read_attachments(root: &Table<'_>, scene: &mut Scene) {
    let named = ["body", "hand"].into_iter().flat_map(|kind| root.named(kind));
    let declared: Vec<&str> = named.map(|(name, _)| name).collect();
    for table in root.tables("attachment") {
        let at = table.vector("at", ranges::PLACE);
        let ends = ["a", "b"].map(|key| {
            let name = table.text(key);
            let end = find_end(&name, scene);
            if end.is_none() {
                explain(&table, key, &name, &declared, scene);
            }
            end
        });
        let joint = read_joint(&table);
        let law = read_drive(&table, joint);
        if let [Some(a), Some(b)] = ends {
            let bodies = &scene.world.bodies;
            let made = Attachment::new(bodies, [a, b], &at, joint);
            match made.and_then(|attachment| match law {
                Some(law) => attachment.driven(bodies, law),
                None => Ok(attachment),
            }) {
                Ok(attachment) => scene.world.attachments.push(attachment),
                Err(fault) => table.complain(
                    match fault {
                        AttachmentFault::SoftJoint => "joint",
                        AttachmentFault::Axis => "axis",
                        AttachmentFault::Drive => "joint",
                        AttachmentFault::Law => "limits",
                        AttachmentFault::Itself => "b",
                        AttachmentFault::Outside => "at",
                    },
                    fault.to_string(),
                ),
            }
        }
        table.finish();
    }
}

impl Scene {
    /// The end of an attachment by its name in a scene file: a body, `BODY.NAME`, `HAND.SEGMENT` or `world`. The error names those there are.
    pub fn attachment_end(&self, name: &str) -> Result<AttachmentEnd, String> {
        let known = || end_names(self, name);
        find_end(name, self)
            .ok_or_else(|| unknown("body", name, &known().iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

fn read_joint(table: &Table<'_>) -> Joint {
    match JOINT_NAMES[table.choice("joint", &JOINT_NAMES)] {
        "point" => Joint::Point,
        "weld" => Joint::Weld,
        "hinge" => Joint::Hinge(table.vector("axis", ranges::AXIS)),
        _ => Joint::Slider(table.vector("axis", ranges::AXIS)),
    }
}

/// Spring, damper, motor and limits of a hinge or a slider, if it has any.
fn read_drive(table: &Table<'_>, joint: Joint) -> Option<DriveLaw> {
    const KEYS: [&str; 6] = ["limits", "stiffness", "rest", "damping", "motor", "strength"];
    if !KEYS.iter().any(|key| table.has(key)) {
        return None;
    }
    // Angles are in degrees, their stiffness and damping per radian.
    let (unit, range, speed) = match joint {
        Joint::Hinge(_) => (1f64.to_radians(), ranges::JOINT_ANGLE, ranges::SPIN),
        _ => (1.0, ranges::PLACE, ranges::VELOCITY),
    };
    let mut law = DriveLaw::default();
    if table.has("limits") {
        law.limits = table.numbers("limits", range).map(|x: f64| x * unit);
    }
    law.spring = [table.number_or("stiffness", 0.0, ranges::DRIVE), unit * table.number_or("rest", 0.0, range)];
    law.damping = table.number_or("damping", 0.0, ranges::DRIVE);
    if table.has("motor") || table.has("strength") {
        law.motor = [unit * table.number_or("motor", 0.0, speed), table.number("strength", ranges::DRIVE)];
    }
    Some(law)
}

pub(super) fn find_end(name: &str, scene: &Scene) -> Option<AttachmentEnd> {
    if name == WORLD {
        return Some(AttachmentEnd::WORLD);
    }
    if let Some((hand, segment)) = find_segment(scene, name) {
        return Some(AttachmentEnd { body: hand, part: segment.index() });
    }
    let bodies = &scene.world.bodies;
    if let Some((body, part)) = name.split_once('.') {
        let body = bodies.find(body)?;
        return Some(AttachmentEnd { body, part: bodies.get(body)?.part_named(part)? });
    }
    let body = bodies.find(name).filter(|_| scene.hand(name).is_none())?;
    Some(AttachmentEnd::new(body))
}

/// Reports an unknown end. Bodies that are declared but invalid have been reported already, and for a soft body the
/// point is wrong.
fn explain(table: &Table<'_>, key: &str, name: &str, declared: &[&str], scene: &Scene) {
    let body = name.split('.').next().unwrap_or_default();
    let broken = declared.contains(&body) && scene.hand(body).is_none();
    if !broken {
        let known = end_names(scene, name);
        table.complain(key, unknown("body", name, &known.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

/// `HAND.SEGMENT`.
fn find_segment(scene: &Scene, name: &str) -> Option<(BodyId, Segment)> {
    let (hand, segment) = name.split_once('.')?;
    let hand = scene.world.bodies.hand_ids()[scene.hand(hand)?];
    Some((hand.id(), Segment::all().find(|s| s.name() == segment)?))
}

/// The valid names of an end; a hand's segments only if the name resembles one of them.
fn end_names(scene: &Scene, wrong: &str) -> Vec<String> {
    let bodies = &scene.world.bodies;
    let named = bodies.iter().filter(|(_, body)| body.kind() != "hand").map(|(id, _)| bodies.name(id).to_string());
    let meant = scene.hand_names().filter(|hand| wrong.starts_with(hand));
    let segments = meant.flat_map(|hand| Segment::all().map(move |s| format!("{hand}.{}", s.name())));
    named.chain([WORLD.into()]).chain(segments).collect()
}
