//! Converts a scene to a figure. The constant part is prepared once, in a [`Stage`]; the moving part is a [`Frame`].

mod curved;
mod fine;
mod hand;
mod marks;
mod relief;
mod seams;
mod tones;
mod tube;
mod wood;

use self::curved::{Form, creased_normals};
use self::hand::HandStage;
use self::seams::Seams;
use super::camera::Camera;
use super::figure::{Colour, Figure, Painted, to_f32};
use super::frame::{BodyFrame, Frame, HandFrame};
use super::layers::Layers;
use super::legend::Legend;
use super::palette::Paint;
use super::solids::Solids;
use crate::assets::Scene;
use crate::body::{BeamBody, Body, BodyId, Collider, ElasticBody, QuasiRigidBody, SoftBody, tessellated};
use crate::math::{Pose, Vec3};
use crate::mesh::SurfaceMesh;
use crate::tracking::{Finger, Side};

/// Default colour of objects.
const THING: Colour = [0.55, 0.60, 0.65];
/// Colour of tools.
const TOOL: Colour = [0.30, 0.32, 0.36];
/// Default pressure at the upper end of the scale, Pa.
const FULL_PRESSURE: f64 = 40e3;

/// Opacity of objects in front of the pressure display.
const SEEN_THROUGH: f32 = 0.3;

/// The constant part of a scene: models, surfaces, names and colours.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Pressure at the upper end of the scale, Pa.
    pub full_pressure: f64,
    hands: Vec<HandStage>,
    /// All bodies but hands.
    bodies: Vec<Thing>,
    /// The table that replaces the ground, if any.
    table: Option<Painted>,
    viewpoint: Option<Camera>,
}

/// A body and how it is drawn.
#[derive(Clone, Debug)]
struct Thing {
    id: BodyId,
    /// Whether it can move.
    moves: bool,
    drawing: Drawing,
    opacity: f32,
}

/// The ways to draw a body.
#[derive(Clone, Debug)]
enum Drawing {
    /// An infinite ground.
    Ground,
    /// A rigid surface in the frame of the body.
    Solid(Painted),
    /// A surface over the nodes of the body.
    Soft(SoftThing),
    /// A tube along the nodes of the body, with a radius at each.
    Tube(Vec<f64>, Colour),
    /// A fine surface over the first nodes of the body, that of a tool over the next, and a skeleton between the others.
    Elastic(FineThing, Option<FineThing>, StageSkeleton),
}

/// Anchor points from some node of a body on; the nodes behind them are contact points, from which beams lead to all anchor points.
#[derive(Clone, Copy, Debug)]
struct StageSkeleton {
    first: usize,
    anchors: usize,
}

impl StageSkeleton {
    fn draw(&self, nodes: &[Vec3], solids: &mut Solids) {
        let Some((anchors, contacts)) = nodes.get(self.first..).and_then(|own| own.split_at_checked(self.anchors))
        else {
            return;
        };
        anchors.iter().for_each(|anchor| solids.ball(anchor, 0.0012));
        for contact in contacts {
            anchors.iter().for_each(|anchor| solids.rod(contact, anchor, [0.0004; 2]));
        }
    }
}

/// The surface of a body that deforms.
#[derive(Clone, Debug)]
struct SoftThing {
    nodes: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    form: Form,
    colour: Colour,
    paint: Option<Paint>,
}

impl SoftThing {
    fn new(rest: &SurfaceMesh, nodes: Vec<u32>, colour: Colour) -> Self {
        let form = Form::of(rest);
        let paint = matches!(form, Form::Round { .. }).then(|| {
            // Seams are fixed to the material, about its centre at rest.
            let middle = rest.vertices.iter().sum::<Vec3>() / rest.vertices.len().max(1) as f64;
            let vertices: Vec<Vec3> = form.drawn(rest).vertices.iter().map(|p| p - middle).collect();
            let radius = vertices.iter().map(|p| p.norm()).fold(f64::MIN_POSITIVE, f64::max);
            Seams::Crossed.paint(&vertices, colour, radius)
        });
        Self { nodes, triangles: rest.triangles.clone(), form, colour, paint }
    }

    fn at(&self, nodes: &[Vec3]) -> Option<Painted> {
        let vertices: Option<Vec<Vec3>> = self.nodes.iter().map(|&n| nodes.get(n as usize).copied()).collect();
        let mesh = SurfaceMesh { vertices: vertices?, triangles: self.triangles.clone() };
        Some(Painted { paint: self.paint.clone(), ..Painted::new(&self.form.drawn(&mesh), self.colour) })
    }
}

/// A surface over some nodes of a body that is drawn as it is.
#[derive(Clone, Debug)]
struct FineThing {
    first: usize,
    rest: SurfaceMesh,
    is_edged: bool,
    colour: Colour,
}

impl FineThing {
    fn new(rest: &SurfaceMesh, first: usize, colour: Colour) -> Self {
        Self { first, is_edged: matches!(Form::of(rest), Form::Edged), rest: rest.clone(), colour }
    }

    fn at(&self, nodes: &[Vec3]) -> Option<Painted> {
        let vertices = nodes.get(self.first..self.first + self.rest.vertices.len())?.to_vec();
        let mesh = SurfaceMesh { vertices, triangles: self.rest.triangles.clone() };
        if !self.is_edged {
            return Some(Painted::new(&mesh, self.colour));
        }
        let flat = Form::Edged.drawn(&mesh);
        let normals = creased_normals(&flat).iter().map(to_f32).collect();
        Some(Painted { normals, ..Painted::new(&flat, self.colour) })
    }
}

/// Camera placement for a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraPlacement {
    /// Azimuth, degrees: 0 from +Z, where the wrist of a hand in its own frame is, 90 from +X.
    pub azimuth: f64,
    /// Elevation above the horizon, degrees.
    pub elevation: f64,
    /// Zoom; values above 1 move towards the contacts of hands.
    pub zoom: f64,
    /// Aspect ratio of the picture.
    pub aspect: f64,
}

impl Default for CameraPlacement {
    /// Oblique view from the thumb's side of a right hand and the front.
    fn default() -> Self {
        Self { azimuth: -125.0, elevation: 22.0, zoom: 1.0, aspect: 4.0 / 3.0 }
    }
}

impl CameraPlacement {
    /// The placement of a camera.
    fn of(camera: &Camera) -> Self {
        let away: [f64; 3] = std::array::from_fn(|i| f64::from(camera.eye[i] - camera.target[i]));
        let [azimuth, elevation] = [away[0].atan2(away[2]), away[1].atan2(away[0].hypot(away[2]))].map(f64::to_degrees);
        Self { azimuth, elevation, ..Self::default() }
    }

    /// Unit vector towards the eye.
    pub fn direction(&self) -> Vec3 {
        let ((sin, cos), (up, level)) = (self.azimuth.to_radians().sin_cos(), self.elevation.to_radians().sin_cos());
        Vec3::new(sin * level, up, cos * level)
    }
}

impl Stage {
    /// Prepares a scene.
    pub fn of(scene: &Scene) -> Self {
        let bodies = &scene.world.bodies;
        let things = bodies.iter().filter(|(_, body)| body.kind() != "hand").map(|(id, body)| {
            let colour = scene.colours.get(bodies.name(id)).map_or(THING, |c| c.map(|x| x as f32));
            let drawing = Drawing::of(body, colour);
            // An elastic object deforms even if it is fixed.
            let moves = body.part_count() > 0 || matches!(drawing, Drawing::Elastic(..));
            let opacity = scene.opacities.get(bodies.name(id)).map_or(1.0, |&part| part as f32);
            Thing { id, moves, drawing, opacity }
        });
        Self {
            full_pressure: FULL_PRESSURE,
            hands: scene.models().map(|model| HandStage::new(model.clone())).collect(),
            bodies: things.collect(),
            table: is_table(scene).then(|| wood::table(floor_space(scene))),
            viewpoint: scene.camera.as_ref().map(Camera::at),
        }
    }

    /// The camera that the scene specifies, if any.
    pub fn viewpoint(&self) -> Option<Camera> {
        self.viewpoint
    }

    /// Whether the ground is a table, which makes heights visible by itself.
    pub fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// Height of the ground.
    pub fn ground(&self, frame: &Frame) -> Option<f32> {
        let is_ground = |(thing, body): (&Thing, &BodyFrame)| {
            matches!(thing.drawing, Drawing::Ground).then_some(body.pose.translation.y as f32)
        };
        self.things(frame).filter_map(is_ground).last()
    }

    /// The camera of the scene, or a default: hands obliquely from the front and the thumb's side, other objects from
    /// the front.
    pub fn look(&self) -> CameraPlacement {
        if let Some(camera) = &self.viewpoint {
            return CameraPlacement::of(camera);
        }
        let look = CameraPlacement::default();
        let is_left = |hand: &HandStage| hand.model.description.side == Side::Left;
        match self.hands.as_slice() {
            [] => CameraPlacement { azimuth: 25.0, ..look },
            hands if hands.iter().all(is_left) => CameraPlacement { azimuth: -look.azimuth, ..look },
            _ => look,
        }
    }

    /// A camera that frames all moving bodies in some frames, and static ones if they are not larger.
    pub fn camera<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>, look: &CameraPlacement) -> Camera {
        let (mut points, mut touched) = (Vec::new(), Vec::new());
        let mut last = None;
        for frame in frames {
            points.extend(self.moving(frame, &Layers::default()).iter().flat_map(|mesh| &mesh.vertices));
            touched.extend(marks::touches_of_hands(frame).map(|touch| touch.place));
            last = Some(frame);
        }
        let size = extent(&points);
        for (thing, body) in last.into_iter().flat_map(|frame| self.things(frame)).filter(|(thing, _)| !thing.moves) {
            let there = thing.drawing.at(body).map(|surface| surface.vertices);
            points.extend(there.filter(|there| extent(there) <= size).into_iter().flatten());
        }
        let camera = Camera::fitted(&points, look.direction(), look.aspect);
        let near = touched.iter().sum::<Vec3>() / touched.len().max(1) as f64;
        camera.nearer(look.zoom, (!touched.is_empty()).then_some(near))
    }

    /// A frame as a figure. For a frame of another scene, matching bodies are drawn.
    pub fn figure(&self, frame: &Frame, layers: &Layers, camera: Camera) -> Figure {
        let mut meshes = self.moving(frame, layers);
        let mut lines = Vec::new();
        for (stage, hand) in self.hands.iter().zip(&frame.hands) {
            stage.add_inside(hand, layers, &mut meshes, &mut lines);
        }
        let fixed = self.things(frame).filter(|(thing, _)| !thing.moves);
        meshes.extend(
            fixed.filter_map(|(thing, body)| Some(Painted { opacity: thing.opacity, ..thing.drawing.at(body)? })),
        );
        let mut ground = self.ground(frame);
        if let (Some(table), Some(height)) = (&self.table, &mut ground) {
            meshes.push(placed(table, &Pose::translation(0.0, f64::from(*height), 0.0)));
            *height -= wood::THICKNESS;
        }
        marks::add(self, frame, layers, &camera, &mut meshes);
        Figure { lines, ground, legend: self.legend(layers), ..Figure::new(meshes, camera) }
    }

    /// Which side a hand is, by its index.
    pub fn side(&self, hand: usize) -> Option<Side> {
        self.hands.get(hand).map(|hand| hand.model.description.side)
    }

    /// The end of a finger of a hand, by the index of the hand.
    pub fn fingertip(&self, hand: usize, frame: &HandFrame, finger: Finger) -> Option<Vec3> {
        let bones = &self.hands.get(hand)?.model.description.fingers[finger as usize];
        let last = frame.kinematics.poses.get(3 + 3 * finger as usize)?;
        Some((last * nalgebra::Point3::new(0.0, 0.0, -(bones.lengths[2] + bones.tip))).coords)
    }

    /// The first body that a ray meets, and where.
    pub fn pick(&self, frame: &Frame, eye: &Vec3, towards: &Vec3) -> Option<(BodyId, Vec3)> {
        let mut nearest: Option<(f64, BodyId)> = None;
        let mut look = |body: BodyId, mesh: &Painted| {
            let found = mesh.first_hit(eye, towards).filter(|t| nearest.is_none_or(|(least, _)| *t < least));
            nearest = found.map(|t| (t, body)).or(nearest);
        };
        for (stage, hand) in self.hands.iter().zip(&frame.hands) {
            let mut skins = Vec::new();
            stage.add_skin(hand, &Layers::default(), Vec::new, &mut skins);
            skins.iter().for_each(|skin| look(hand.id, skin));
        }
        for (thing, body) in self.things(frame) {
            if let Some(surface) = thing.drawing.at(body) {
                look(thing.id, &surface);
            }
        }
        nearest.map(|(t, body)| (body, eye + t * towards))
    }

    /// Anchor points and beams of elastic objects.
    fn skeletons(&self, frame: &Frame) -> Solids {
        let mut solids = Solids::default();
        for (thing, body) in self.things(frame) {
            if let Drawing::Elastic(_, _, skeleton) = &thing.drawing {
                skeleton.draw(&body.nodes, &mut solids);
            }
        }
        solids
    }

    /// The bodies of a frame that are on the stage.
    fn things<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (&'a Thing, &'a BodyFrame)> {
        self.bodies.iter().zip(&frame.bodies)
    }

    /// Legend of some layers.
    pub fn legend(&self, layers: &Layers) -> Legend {
        let full_pressure = (layers.pressure && layers.skin).then_some(self.full_pressure);
        Legend { caption: Vec::new(), full_pressure, keys: marks::keys(layers) }
    }

    /// The visible skins of the hands, and the moving bodies.
    fn moving(&self, frame: &Frame, layers: &Layers) -> Vec<Painted> {
        let mut meshes = Vec::new();
        for (stage, hand) in self.hands.iter().zip(&frame.hands) {
            let pressures = || stage.pressures(hand, frame, self.full_pressure);
            stage.add_skin(hand, layers, pressures, &mut meshes);
        }
        // A body in contact with a hand hides the contact.
        let looks_through = layers.pressure && layers.skin;
        let is_held =
            |body: BodyId| marks::touches_of_hands(frame).any(|touch| touch.a.body == body || touch.b.body == body);
        for (thing, body) in self.things(frame).filter(|(thing, _)| thing.moves) {
            let through = if looks_through && is_held(thing.id) { SEEN_THROUGH } else { 1.0 };
            let opacity = thing.opacity.min(through);
            meshes.extend(thing.drawing.at(body).map(|surface| Painted { opacity, ..surface }));
        }
        meshes.extend(self.things(frame).filter_map(|(thing, body)| thing.drawing.tool_at(body)));
        meshes
    }
}

impl Drawing {
    /// How a body is drawn, from its kind and its first collider.
    fn of(body: &dyn Body, colour: Colour) -> Self {
        if let Some(soft) = (body as &dyn std::any::Any).downcast_ref::<SoftBody>() {
            let (mesh, nodes) = soft.surface();
            return Drawing::Soft(SoftThing::new(mesh, nodes.to_vec(), colour));
        }
        if let Some(body) = (body as &dyn std::any::Any).downcast_ref::<QuasiRigidBody>() {
            let mesh = body.surface();
            return Drawing::Soft(SoftThing::new(mesh, (0..mesh.vertices.len() as u32).collect(), colour));
        }
        if let Some(beam) = (body as &dyn std::any::Any).downcast_ref::<BeamBody>() {
            return Drawing::Tube(beam.chain().radii().to_vec(), colour);
        }
        if let Some(elastic) = (body as &dyn std::any::Any).downcast_ref::<ElasticBody>() {
            let surface = elastic.object().surface();
            let first = surface.vertices.len();
            let tool = elastic.tool().map(|tool| FineThing::new(tool.object().tool().mesh(), first, TOOL));
            let marks = first + tool.as_ref().map_or(0, |tool| tool.rest.vertices.len());
            let skeleton = StageSkeleton { first: marks, anchors: elastic.object().anchors() };
            return Drawing::Elastic(FineThing::new(surface, 0, colour), tool, skeleton);
        }
        let Collider::Shape(collider) = body.collider(0) else { return Drawing::Ground };
        let Some(mesh) = tessellated(collider.shape) else { return Drawing::Ground };
        let mut painted = Painted::new(&mesh, colour);
        if mesh.vertices.len() == 3 * mesh.triangles.len() {
            painted.normals = creased_normals(&mesh).iter().map(to_f32).collect();
        }
        let seams = Seams::of(collider.shape).filter(|_| collider.moves);
        painted.paint = seams.map(|(seams, radius)| seams.paint(&mesh.vertices, painted.colour, radius));
        Drawing::Solid(painted)
    }

    /// The tool of a body.
    fn tool_at(&self, body: &BodyFrame) -> Option<Painted> {
        match self {
            Drawing::Elastic(_, tool, _) => tool.as_ref()?.at(&body.nodes),
            _ => None,
        }
    }

    /// The surface where a body is.
    fn at(&self, body: &BodyFrame) -> Option<Painted> {
        match self {
            Drawing::Ground => None,
            Drawing::Elastic(surface, _, _) => surface.at(&body.nodes),
            Drawing::Solid(surface) => Some(placed(surface, &body.pose)),
            Drawing::Soft(thing) => thing.at(&body.nodes),
            Drawing::Tube(radii, colour) => Some(Painted::new(&tube::tube(&body.nodes, radii), *colour)),
        }
    }
}

/// Whether the ground is a wooden table.
fn is_table(scene: &Scene) -> bool {
    let world = &scene.world;
    let wood = world.materials.find("wood");
    let mut fixed = world.bodies.iter().filter(|(_, body)| body.part_count() == 0);
    fixed.any(|(_, body)| matches!(Drawing::of(body, THING), Drawing::Ground) && Some(body.material()) == wood)
}

/// Range of x and z of the moving bodies at the start.
fn floor_space(scene: &Scene) -> [[f32; 2]; 2] {
    let bodies = &scene.world.bodies;
    let moving = bodies.iter().filter(|(_, body)| body.part_count() > 0);
    let places = moving.flat_map(|(_, body)| body.nodes().iter().copied().chain([body.centre()]));
    let ends = places.map(|p| [p.x as f32, p.z as f32]).fold([[f32::MAX; 2], [f32::MIN; 2]], |[low, high], p| {
        [std::array::from_fn(|i| low[i].min(p[i])), std::array::from_fn(|i| high[i].max(p[i]))]
    });
    if ends[0][0] <= ends[1][0] { ends } else { [[0.0; 2]; 2] }
}

/// Diagonal of the bounding box of some points.
fn extent(points: &[[f32; 3]]) -> f32 {
    let side = |i: usize| {
        let ends = points.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], p| [l.min(p[i]), h.max(p[i])]);
        (ends[1] - ends[0]).max(0.0)
    };
    side(0).hypot(side(1)).hypot(side(2))
}

/// A surface in a pose.
fn placed(surface: &Painted, pose: &Pose) -> Painted {
    let turn = pose.rotation.to_rotation_matrix().cast::<f32>();
    let to = pose.translation.vector.cast::<f32>();
    let mut surface = surface.clone();
    surface.vertices.iter_mut().for_each(|p| *p = (turn * nalgebra::Vector3::from(*p) + to).into());
    surface.normals.iter_mut().for_each(|n| *n = (turn * nalgebra::Vector3::from(*n)).into());
    surface
}
