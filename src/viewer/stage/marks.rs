use std::f64::consts::TAU;

use super::Stage;
use crate::body::ColliderId;
use crate::math::Vec3;
use crate::sim::Touch;
use crate::tracking::Segment;
use crate::viewer::camera::Camera;
use crate::viewer::figure::{Colour, Painted};
use crate::viewer::frame::Frame;
use crate::viewer::layers::Layers;
use crate::viewer::palette::usage;
use crate::viewer::solids::Solids;

/// Colour of normal forces.
pub const NORMAL_COLOUR: Colour = [0.84, 0.15, 0.16];
/// Colour of friction forces.
pub const FRICTION_COLOUR: Colour = [0.12, 0.35, 0.75];
/// Colour of contacts.
const CONTACT: Colour = [0.10, 0.10, 0.12];
/// Colour of aggregates.
const AGGREGATE: Colour = [0.95, 0.60, 0.10];
/// Colour of anchor points and beams.
const ANCHOR: Colour = [0.10, 0.45, 0.50];
/// The empty part of a gauge.
const EMPTY: Colour = [0.93, 0.94, 0.95];
/// Length of a force arrow, m/N.
pub const PER_NEWTON: f64 = 0.005;
/// Length of an aggregate's normal, m.
const NORMAL_LENGTH: f64 = 0.012;

/// Contacts of a hand.
pub(super) fn touches_of_hands(frame: &Frame) -> impl Iterator<Item = &Touch> {
    let of_hand = |side: ColliderId| frame.hands.iter().any(|hand| hand.id == side.body);
    frame.touches.iter().filter(move |touch| of_hand(touch.a) || of_hand(touch.b))
}

/// Legend of the marks of some layers.
pub(super) fn keys(layers: &Layers) -> Vec<(Colour, String)> {
    let scale = format!("{} mm = 1 N", 1e3 * PER_NEWTON);
    let keys = [
        (layers.contacts, CONTACT, "contact".into()),
        (layers.aggregates, AGGREGATE, "aggregate: centre, normal".into()),
        (layers.normal_forces, NORMAL_COLOUR, format!("normal force, {scale}")),
        (layers.friction_forces, FRICTION_COLOUR, format!("friction force, {scale}")),
        (layers.slip, usage(0.0), "friction utilisation: low".into()),
        (layers.slip, usage(1.0), "friction utilisation: full".into()),
        (layers.anchors, ANCHOR, "anchor points and beams of elastic objects".into()),
        (layers.tracked, super::hand::GHOST, "tracked hand".into()),
    ];
    keys.into_iter().filter(|(shown, _, _)| *shown).map(|(_, colour, text)| (colour, text)).collect()
}

/// Adds contacts, forces and gauges.
pub(super) fn add(stage: &Stage, frame: &Frame, layers: &Layers, camera: &Camera, meshes: &mut Vec<Painted>) {
    let mut mark = |solids: Solids, colour: Colour| {
        meshes.extend(solids.painted(colour).map(|mesh| Painted { in_front: true, ..mesh }));
    };
    let gathered = |draw: &dyn Fn(&Touch, &mut Solids)| {
        let mut solids = Solids::default();
        frame.touches.iter().for_each(|touch| draw(touch, &mut solids));
        solids
    };
    if layers.contacts {
        let mut dots = Solids::default();
        frame.pressures.iter().for_each(|point| dots.ball(&point.place, 0.0006));
        mark(dots, CONTACT);
    }
    if layers.aggregates {
        let draw = |touch: &Touch, solids: &mut Solids| {
            solids.ball(&touch.place, 0.0016);
            solids.arrow(&touch.place, &(touch.place + NORMAL_LENGTH * touch.normal), 0.0005);
        };
        mark(gathered(&draw), AGGREGATE);
    }
    if layers.normal_forces {
        let arrow = |touch: &Touch, solids: &mut Solids| {
            solids.arrow(&touch.place, &(touch.place + PER_NEWTON * touch.pressing * touch.normal), 0.0009);
        };
        mark(gathered(&arrow), NORMAL_COLOUR);
    }
    if layers.friction_forces {
        let arrow = |touch: &Touch, solids: &mut Solids| {
            solids.arrow(&touch.place, &(touch.place + PER_NEWTON * touch.friction), 0.0009);
        };
        mark(gathered(&arrow), FRICTION_COLOUR);
    }
    if layers.anchors {
        mark(stage.skeletons(frame), ANCHOR);
    }
    if layers.slip {
        for (used, centre) in used_by_segment(stage, frame) {
            let [plate, gauge] = gauge(&centre, used, camera);
            mark(plate, EMPTY);
            mark(gauge, usage(used as f32));
        }
    }
}

/// Maximum friction utilisation of each phalanx in contact, and the centre of the phalanx.
fn used_by_segment(stage: &Stage, frame: &Frame) -> Vec<(f64, Vec3)> {
    let mut gauges = Vec::new();
    for (hand, poses) in stage.hands.iter().zip(&frame.hands) {
        for segment in Segment::phalanges() {
            let own = |side| side == ColliderId::new(poses.id, segment.index());
            let touches = frame.touches.iter().filter(|touch| own(touch.a) || own(touch.b));
            let used = touches.map(|touch| touch.used).fold(f64::NEG_INFINITY, f64::max);
            if let (true, Some((finger, place))) = (used >= 0.0, segment.finger()) {
                let length = hand.model.description.fingers[finger as usize].lengths[place];
                let pose = &poses.kinematics.poses[segment.index()];
                gauges.push((used, pose.translation.vector + pose.rotation * Vec3::new(0.0, 0.0, -0.5 * length)));
            }
        }
    }
    gauges
}

/// A ring facing the eye, filled clockwise by the friction utilisation, on its plate.
fn gauge(centre: &Vec3, used: f64, camera: &Camera) -> [Solids; 2] {
    let [towards, up] = camera.towards_and_up(centre);
    let mut solids = [Solids::default(), Solids::default()];
    solids[0].ring(centre, &towards, &up, [0.0, 0.0042], [0.0, TAU]);
    // Slightly closer to the eye than its plate.
    solids[1].ring(&(centre + 1e-4 * towards), &towards, &up, [0.0020, 0.0037], [0.0, TAU * used]);
    solids
}
