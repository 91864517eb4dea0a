use crate::hand::HandModel;
use crate::math::{Pose, Vec3};
use crate::tracking::{ANGLES, SEGMENTS, Segment};

/// Balls that cover the hand, for fast collision tests of many poses: one for each cell of the skin of a segment.
#[derive(Clone, Debug)]
pub struct Cover {
    /// Segment, centre in the frame of its bone, radius, m.
    balls: Vec<(Segment, Vec3, f64)>,
}

/// Size of a cell along a finger and in the palm, m.
const CELL: f64 = 0.016;

impl Cover {
    /// The cover of a hand.
    pub fn new(model: &HandModel) -> Self {
        let mut balls = Vec::new();
        for segment in Segment::all() {
            let skin = &model.meshes[segment.index()].skin.vertices;
            let palm = segment.finger().is_none();
            let mut cells = std::collections::BTreeMap::<(i32, i32), Vec<Vec3>>::new();
            for p in skin {
                let cell = |x: f64| (x / CELL).round() as i32;
                cells.entry((if palm { cell(p.x) } else { 0 }, cell(p.z))).or_default().push(*p);
            }
            for points in cells.into_values().filter(|points| points.len() > 2) {
                let centre = points.iter().sum::<Vec3>() / points.len() as f64;
                let radius = points.iter().map(|p| (p - centre).norm()).sum::<f64>() / points.len() as f64;
                balls.push((segment, centre, radius));
            }
        }
        Self { balls }
    }

    /// Segments, centres and radii for angles, in the palm frame.
    pub fn placed(&self, model: &HandModel, angles: &[f64; ANGLES]) -> Vec<(Segment, Vec3, f64)> {
        let frames = model.skeleton.kinematics(&Pose::identity(), angles).poses;
        self.in_frames(&frames).collect()
    }

    /// The same for the poses of all segments.
    pub fn in_frames<'a>(&'a self, frames: &'a [Pose; SEGMENTS]) -> impl Iterator<Item = (Segment, Vec3, f64)> + 'a {
        self.balls.iter().map(|(segment, centre, radius)| {
            let frame = &frames[segment.index()];
            (*segment, frame.translation.vector + frame.rotation * centre, *radius)
        })
    }
}
