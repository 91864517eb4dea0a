use std::collections::BTreeSet;
use std::sync::Arc;

use super::fine::FineSkin;
use super::tones;
use crate::body::ColliderId;
use crate::hand::{HandModel, SegmentMesh, SkinPlace};
use crate::math::{Pose, Vec3};
use crate::mesh::SurfaceMesh;
use crate::tracking::Segment;
use crate::viewer::figure::{Colour, Lines, Painted, SKIN_COLOUR};
use crate::viewer::frame::{Frame, HandFrame};
use crate::viewer::layers::Layers;
use crate::viewer::palette::{Paint, Palette};
use crate::viewer::solids::Solids;

const COLLISION: Colour = [0.45, 0.62, 0.80];
const EDGE: Colour = [0.15, 0.25, 0.35];
const BONE: Colour = [0.93, 0.90, 0.80];
const JOINT: Colour = [0.20, 0.35, 0.60];
pub(super) const GHOST: Colour = [0.35, 0.60, 0.85];
/// Opacity of a skin that shows its inside.
const SKIN_OPACITY: f32 = 0.4;
const GHOSTLY: f32 = 0.3;

/// The constant part of a hand.
#[derive(Clone, Debug)]
pub(super) struct HandStage {
    pub(super) model: Arc<HandModel>,
    /// Edges of the tetrahedra of each segment.
    edges: Vec<Vec<[u32; 2]>>,
    /// Points of the collision skin below each vertex of the visual skin.
    under: Vec<Vec<(Segment, SkinPlace)>>,
    /// The drawn skin.
    fine: FineSkin,
    /// Colours of the skin: pressure across, skin tone down; and without pressure.
    pressed: Arc<Palette>,
    shaded: Arc<Palette>,
}

impl HandStage {
    pub(super) fn new(model: Arc<HandModel>) -> Self {
        let edges = model.meshes.iter().map(|mesh| edges(&mesh.tissue.tets)).collect();
        let under = under_visual(&model);
        let fine = FineSkin::new(&model);
        let look = model.description.look;
        let (pressed, shaded) = (Arc::new(tones::palette(look)), Arc::new(tones::shaded(look)));
        Self { model, edges, under, fine, pressed, shaded }
    }

    /// The skin with its pressure, and the transparent tracked hand.
    pub(super) fn add_skin(
        &self,
        hand: &HandFrame,
        layers: &Layers,
        pressures: impl Fn() -> Vec<f32>,
        meshes: &mut Vec<Painted>,
    ) {
        let triangles = &self.model.visual().mesh.triangles;
        if layers.skin {
            let coarse = SurfaceMesh { vertices: self.visual_skin(hand), triangles: triangles.clone() };
            let surface = SurfaceMesh { vertices: self.fine.posed(coarse), triangles: self.fine.triangles.clone() };
            let mut skin = Painted::new(&surface, SKIN_COLOUR);
            if layers.look_inside() {
                skin.opacity = SKIN_OPACITY;
            }
            skin.paint = Some(self.paint(layers.pressure.then(pressures)));
            meshes.push(skin);
        }
        if layers.tracked {
            let kin = self.model.skeleton.kinematics(&hand.tracked_palm, &hand.tracked_angles);
            let mut ghost = Vec::new();
            self.model.visual().posed(&kin, |_, _| Vec3::zeros(), &mut ghost);
            let surface = SurfaceMesh { vertices: ghost, triangles: triangles.clone() };
            meshes.push(Painted { opacity: GHOSTLY, ..Painted::new(&surface, GHOST) });
        }
    }

    /// Colours of the skin, with the pressure on the vertices of the visual skin if it is shown.
    fn paint(&self, pressures: Option<Vec<f32>>) -> Paint {
        let tones = self.fine.details.iter().map(|detail| detail.tone as f32);
        match pressures {
            Some(pressures) => {
                let pressures = self.fine.spread(pressures);
                Paint {
                    palette: self.pressed.clone(),
                    places: pressures.into_iter().zip(tones).map(<[f32; 2]>::from).collect(),
                }
            }
            None => {
                let shades = self.fine.details.iter().map(|detail| detail.shade as f32);
                Paint { palette: self.shaded.clone(), places: shades.zip(tones).map(<[f32; 2]>::from).collect() }
            }
        }
    }

    /// Layer 5: positions of the vertices of the visual skin.
    fn visual_skin(&self, hand: &HandFrame) -> Vec<Vec3> {
        let mut vertices = Vec::with_capacity(self.under.len());
        let given_way =
            |(mesh, nodes): (&SegmentMesh, &Vec<Vec3>)| mesh.skin_maps.iter().map(|map| map.sum(nodes)).collect();
        let by_segment: Vec<Vec<Vec3>> = self.model.meshes.iter().zip(&hand.displacements).map(given_way).collect();
        let displacement = |segment: Segment, at: &SkinPlace| at.sum(&by_segment[segment.index()]);
        self.model.visual().posed(&hand.kinematics, displacement, &mut vertices);
        vertices
    }

    /// The other layers.
    pub(super) fn add_inside(
        &self,
        hand: &HandFrame,
        layers: &Layers,
        meshes: &mut Vec<Painted>,
        lines: &mut Vec<Lines>,
    ) {
        for segment in Segment::all() {
            let (mesh, pose) = (&self.model.meshes[segment.index()], &hand.kinematics.poses[segment.index()]);
            if layers.collision {
                let vertices = collision_skin(mesh, pose, &hand.displacements[segment.index()]).collect();
                let surface = SurfaceMesh { vertices, triangles: mesh.skin.triangles.clone() };
                let painted = Painted::new(&surface, COLLISION);
                lines.push(painted.wireframe(EDGE, 1.0));
                meshes.push(painted);
            }
            if layers.tetrahedra {
                let nodes: Vec<Vec3> = (mesh.tissue.nodes.iter().zip(&hand.displacements[segment.index()]))
                    .map(|(rest, u)| pose.translation.vector + pose.rotation * (rest + u))
                    .collect();
                let ends = self.edges[segment.index()].iter().map(|edge| edge.map(|n| nodes[n as usize]));
                lines.push(Lines::new(ends, EDGE, 1.0));
            }
        }
        if layers.skeleton {
            meshes.extend(self.bones(hand).painted(BONE));
        }
        if layers.joints {
            let mut joints = Solids::default();
            for (centre, axis) in hand.kinematics.centres.iter().zip(&hand.kinematics.axes) {
                joints.ball(centre, 0.0028);
                joints.rod(&(centre - 0.009 * axis), &(centre + 0.009 * axis), [0.0009; 2]);
            }
            meshes.extend(joints.painted(JOINT));
        }
    }

    /// From joint to joint along every finger, and from the palm to the base of each.
    fn bones(&self, hand: &HandFrame) -> Solids {
        let (mut bones, poses) = (Solids::default(), &hand.kinematics.poses);
        for segment in Segment::phalanges() {
            let Some((finger, place)) = segment.finger() else { continue };
            let finger = &self.model.description.fingers[finger as usize];
            let (pose, radius) = (&poses[segment.index()], 0.6 * finger.bone_radius[place]);
            let start = pose.translation.vector;
            let end = start + pose.rotation * Vec3::new(0.0, 0.0, -finger.lengths[place]);
            bones.rod(&start, &end, [radius, 0.8 * radius]);
            bones.ball(&start, 1.15 * radius);
            if place == 0 {
                bones.rod(&poses[0].translation.vector, &start, [radius; 2]);
            } else if place == 2 {
                bones.ball(&end, 0.8 * radius);
            }
        }
        bones
    }

    /// Pressure on the vertices of the visual skin, as a fraction of the scale.
    pub(super) fn pressures(&self, hand: &HandFrame, frame: &Frame, full: f64) -> Vec<f32> {
        let on_segments: Vec<Vec<f32>> = Segment::all()
            .map(|segment| {
                let mesh = &self.model.meshes[segment.index()];
                let reach = mesh.spacing();
                let own = ColliderId::new(hand.id, segment.index());
                // The surface of a soft body presses back on the skin that touches it.
                let near = |point: &&crate::sim::PressurePoint| point.body == own || point.other == own;
                let points: Vec<_> = frame.pressures.iter().filter(near).collect();
                if points.is_empty() {
                    return Vec::new();
                }
                let pose = &hand.kinematics.poses[segment.index()];
                let skin = collision_skin(mesh, pose, &hand.displacements[segment.index()]);
                skin.map(|vertex| spread(&vertex, &points, reach) / full as f32).collect()
            })
            .collect();
        let at = |(segment, place): &(Segment, SkinPlace)| {
            let pressed = &on_segments[segment.index()];
            let part = |i: usize| place.weights[i] as f32 * pressed.get(place.vertices[i] as usize).unwrap_or(&0.0);
            (0..3).map(part).sum::<f32>()
        };
        self.under.iter().map(|places| places.iter().map(at).fold(0.0, f32::max)).collect()
    }
}

/// Pressure at a vertex of the collision skin, from the points within the reach.
fn spread(vertex: &Vec3, points: &[&crate::sim::PressurePoint], reach: f64) -> f32 {
    let (mut sum, mut shares) = (0.0, 0.0);
    for point in points {
        let share = 1.0 - (point.place - vertex).norm() / reach;
        if share > 0.0 {
            (sum, shares) = (sum + share * point.pressure, shares + share);
        }
    }
    (sum / f64::max(shares, 1.0)) as f32
}

trait Spacing {
    fn spacing(&self) -> f64;
}

impl Spacing for SegmentMesh {
    /// Approximate distance between adjacent vertices of the collision skin.
    fn spacing(&self) -> f64 {
        (self.skin_areas.iter().sum::<f64>() / self.skin_areas.len().max(1) as f64).sqrt()
    }
}

/// Positions of the vertices of a segment's collision skin.
fn collision_skin(mesh: &SegmentMesh, pose: &Pose, displacements: &[Vec3]) -> impl Iterator<Item = Vec3> {
    let (turn, to) = (pose.rotation.to_rotation_matrix(), pose.translation.vector);
    (mesh.skin.vertices.iter().zip(&mesh.skin_maps)).map(move |(rest, map)| to + turn * (rest + map.sum(displacements)))
}

/// The unique edges of some tetrahedra.
fn edges(tets: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let ends = |t: &[u32; 4], (i, j): (usize, usize)| [t[i].min(t[j]), t[i].max(t[j])];
    let all: BTreeSet<_> = tets.iter().flat_map(|t| pairs.map(|p| ends(t, p))).collect();
    all.into_iter().collect()
}

/// The closest points of the collision skin to each vertex of the visual skin, one for each segment that drives it.
fn under_visual(model: &HandModel) -> Vec<Vec<(Segment, SkinPlace)>> {
    /// Maximum distance from a segment's skin to show its pressure, m.
    const FAR: f64 = 0.004;
    let of_vertex = |vertex: &crate::hand::VisualVertex| {
        let mut places: Vec<(Segment, SkinPlace)> = Vec::new();
        for influence in vertex.influences.iter().filter(|i| i.weight > 0.0) {
            let (segment, under) = (influence.carrier.segment, influence.under);
            let on_skin = under.sum(&model.meshes[segment.index()].skin.vertices);
            let is_known = places.iter().any(|(known, _)| *known == segment);
            if !is_known && (on_skin - influence.p_bone).norm() < FAR {
                places.push((segment, under));
            }
        }
        places
    };
    model.visual().vertices.iter().map(of_vertex).collect()
}
