//! From a scene to a figure. What does not move is prepared once, in a [`Stage`]; what moves comes as a [`Frame`].

mod curved;
mod hand;
mod marks;
mod seams;
mod tones;
mod wood;

use self::curved::{Form, creased_normals};
use self::hand::HandStage;
use self::seams::Seams;
use super::camera::Camera;
use super::figure::{Colour, Figure, Painted, to_f32};
use super::frame::Frame;
use super::layers::Layers;
use super::legend::Legend;
use super::palette::Paint;
use crate::assets::Scene;
use crate::body::{BodyKind, HandId, tessellated};
use crate::math::{Pose, Vec3};
use crate::mesh::SurfaceMesh;
use crate::tracking::Side;

/// Colour of things that have none of their own.
const THING: Colour = [0.55, 0.60, 0.65];
/// Pressure at the upper end of the scale, if nobody asks for another, Pa.
const FULL_PRESSURE: f64 = 40e3;

/// Opacity of things through which pressure is seen.
const SEEN_THROUGH: f32 = 0.3;

/// What does not move in a scene: models, surfaces, names and colours.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Pressure at the upper end of the scale, Pa.
    pub full_pressure: f64,
    hands: Vec<HandStage>,
    rigid: Vec<Thing>,
    fixed: Vec<Thing>,
    soft: Vec<SoftThing>,
    /// What stands for the ground, if that is a table.
    table: Option<Painted>,
    viewpoint: Option<Camera>,
}

/// A body that keeps its shape. Without a surface it is a ground without end.
#[derive(Clone, Debug)]
struct Thing {
    surface: Option<Painted>,
}

/// A body that does not.
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
            // Seams lie on the material, about its middle at rest.
            let middle = rest.vertices.iter().sum::<Vec3>() / rest.vertices.len().max(1) as f64;
            let vertices: Vec<Vec3> = form.drawn(rest).vertices.iter().map(|p| p - middle).collect();
            let radius = vertices.iter().map(|p| p.norm()).fold(f64::MIN_POSITIVE, f64::max);
            Seams::Crossed.paint(&vertices, colour, radius)
        });
        Self { nodes, triangles: rest.triangles.clone(), form, colour, paint }
    }
}

/// From where a scene is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Turn about the vertical, degrees: 0 from +Z, where the wrist of a hand in its own frame is, 90 from +X.
    pub azimuth: f64,
    /// Height over the horizon, degrees.
    pub elevation: f64,
    /// Greater than one goes nearer, towards the place where hands touch things.
    pub zoom: f64,
    /// Width of the picture over its height.
    pub aspect: f64,
}

impl Default for Look {
    /// Obliquely, from the thumb's side of a right hand and the front.
    fn default() -> Self {
        Self { azimuth: -125.0, elevation: 22.0, zoom: 1.0, aspect: 4.0 / 3.0 }
    }
}

impl Look {
    /// From where a camera looks.
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
        let colour = |name: &String| scene.colours.get(name).map_or(THING, |c| c.map(|x| x as f32));
        let bodies = &scene.world.bodies;
        let thing = |shape, name: &String, seams: Option<(Seams, f64)>| {
            let surface = tessellated(shape).map(|mesh| {
                let mut painted = Painted::new(&mesh, colour(name));
                if mesh.vertices.len() == 3 * mesh.triangles.len() {
                    painted.normals = creased_normals(&mesh).iter().map(to_f32).collect();
                }
                painted.paint = seams.map(|(seams, radius)| seams.paint(&mesh.vertices, painted.colour, radius));
                painted
            });
            Thing { surface }
        };
        let rigid = bodies.rigid.iter().map(|body| body.shape()).zip(&scene.names.rigid);
        let fixed = bodies.fixed.iter().map(|body| body.shape()).zip(&scene.names.fixed);
        let soft = bodies.soft.iter().zip(&scene.names.soft).map(|(body, name)| {
            let (mesh, nodes) = body.surface();
            SoftThing::new(mesh, nodes.to_vec(), colour(name))
        });
        Self {
            full_pressure: FULL_PRESSURE,
            hands: scene.models.iter().map(|model| HandStage::new(model.clone())).collect(),
            rigid: rigid.map(|(shape, name)| thing(shape, name, Seams::of(shape))).collect(),
            fixed: fixed.map(|(shape, name)| thing(shape, name, None)).collect(),
            soft: soft.collect(),
            table: is_table(scene).then(|| wood::table(floor_space(scene))),
            viewpoint: scene.camera.as_ref().map(Camera::at),
        }
    }

    /// From where the scene wants to be looked at, if it says so.
    pub fn viewpoint(&self) -> Option<Camera> {
        self.viewpoint
    }

    /// Whether the ground is a table, which shows by itself how high things are.
    pub fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// Height of the ground on which things stand.
    pub fn ground(&self, frame: &Frame) -> Option<f32> {
        let is_ground = |(thing, pose): (&Thing, &Pose)| thing.surface.is_none().then_some(pose.translation.y as f32);
        self.fixed.iter().zip(&frame.fixed).rev().find_map(is_ground)
    }

    /// From the side that the scene asks for, or else from where most of it is seen: hands obliquely from the front and the thumb's side,
    /// other things from the front.
    pub fn look(&self) -> Look {
        if let Some(camera) = &self.viewpoint {
            return Look::of(camera);
        }
        let look = Look::default();
        let is_left = |hand: &HandStage| hand.model.description.side == Side::Left;
        match self.hands.as_slice() {
            [] => Look { azimuth: 25.0, ..look },
            hands if hands.iter().all(is_left) => Look { azimuth: -look.azimuth, ..look },
            _ => look,
        }
    }

    /// A camera that sees everything that moves in some frames, and what does not if it is no larger.
    pub fn camera<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>, look: &Look) -> Camera {
        let (mut points, mut touched) = (Vec::new(), Vec::new());
        let mut fixed: &[Pose] = &[];
        for frame in frames {
            points.extend(self.moving(frame, &Layers::default()).iter().flat_map(|mesh| &mesh.vertices));
            touched.extend(marks::touches_of_hands(frame).map(|touch| touch.place));
            fixed = &frame.fixed;
        }
        let size = extent(&points);
        for (surface, pose) in self.fixed.iter().map(|thing| &thing.surface).zip(fixed) {
            let there = surface.as_ref().map(|surface| placed(surface, pose).vertices);
            points.extend(there.filter(|there| extent(there) <= size).into_iter().flatten());
        }
        let camera = Camera::fitted(&points, look.direction(), look.aspect);
        let near = touched.iter().sum::<Vec3>() / touched.len().max(1) as f64;
        camera.nearer(look.zoom, (!touched.is_empty()).then_some(near))
    }

    /// A frame as a figure. A frame of another scene shows what fits.
    pub fn figure(&self, frame: &Frame, layers: &Layers, camera: Camera) -> Figure {
        let mut meshes = self.moving(frame, layers);
        let mut lines = Vec::new();
        for (stage, hand) in self.hands.iter().zip(&frame.hands) {
            stage.add_inside(hand, layers, &mut meshes, &mut lines);
        }
        for (thing, pose) in self.fixed.iter().zip(&frame.fixed) {
            meshes.extend(thing.surface.as_ref().map(|surface| placed(surface, pose)));
        }
        let mut ground = self.ground(frame);
        if let (Some(table), Some(height)) = (&self.table, &mut ground) {
            meshes.push(placed(table, &Pose::translation(0.0, f64::from(*height), 0.0)));
            *height -= wood::THICKNESS;
        }
        marks::add(self, frame, layers, &camera, &mut meshes);
        Figure { lines, ground, legend: self.legend(layers), ..Figure::new(meshes, camera) }
    }

    /// The first body that a ray meets, and where; of a hand its skeleton.
    pub fn pick(&self, frame: &Frame, eye: &Vec3, towards: &Vec3) -> Option<(BodyKind, Vec3)> {
        let mut nearest: Option<(f64, BodyKind)> = None;
        let mut look = |body: BodyKind, mesh: &Painted| {
            let found = mesh.first_hit(eye, towards).filter(|t| nearest.is_none_or(|(least, _)| *t < least));
            nearest = found.map(|t| (t, body)).or(nearest);
        };
        for (number, (stage, hand)) in self.hands.iter().zip(&frame.hands).enumerate() {
            let mut skins = Vec::new();
            stage.add_skin(hand, &Layers::default(), Vec::new, &mut skins);
            skins.iter().for_each(|skin| look(BodyKind::Skeleton(HandId::at(number)), skin));
        }
        let things = self.rigid.iter().zip(&frame.rigid).enumerate().map(|(i, it)| (BodyKind::Rigid(i), it));
        let fixed = self.fixed.iter().zip(&frame.fixed).enumerate().map(|(i, it)| (BodyKind::Fixed(i), it));
        for (body, (thing, pose)) in things.chain(fixed) {
            if let Some(surface) = &thing.surface {
                look(body, &placed(surface, pose));
            }
        }
        for (i, (thing, nodes)) in self.soft.iter().zip(&frame.soft).enumerate() {
            let vertices: Option<Vec<Vec3>> = thing.nodes.iter().map(|&n| nodes.get(n as usize).copied()).collect();
            if let Some(vertices) = vertices {
                let mesh = SurfaceMesh { vertices, triangles: thing.triangles.clone() };
                look(BodyKind::Soft(i), &Painted::new(&mesh, thing.colour));
            }
        }
        nearest.map(|(t, body)| (body, eye + t * towards))
    }

    /// What the colours of some layers mean.
    pub fn legend(&self, layers: &Layers) -> Legend {
        let full_pressure = (layers.pressure && layers.skin).then_some(self.full_pressure);
        Legend { caption: Vec::new(), full_pressure, keys: marks::keys(layers) }
    }

    /// The skins of the hands, as far as they are shown, and the bodies that move.
    fn moving(&self, frame: &Frame, layers: &Layers) -> Vec<Painted> {
        let mut meshes = Vec::new();
        for (number, (stage, hand)) in self.hands.iter().zip(&frame.hands).enumerate() {
            let pressures = || stage.pressures(number, hand, frame, self.full_pressure);
            stage.add_skin(hand, layers, pressures, &mut meshes);
        }
        // What presses on a hand hides what it presses on.
        let looks_through = layers.pressure && layers.skin;
        let is_held = |body: BodyKind| marks::touches_of_hands(frame).any(|touch| touch.a == body || touch.b == body);
        let opacity = |body: BodyKind| if looks_through && is_held(body) { SEEN_THROUGH } else { 1.0 };
        for (i, (thing, pose)) in self.rigid.iter().zip(&frame.rigid).enumerate() {
            let surface = thing.surface.as_ref().map(|surface| placed(surface, pose));
            meshes.extend(surface.map(|surface| Painted { opacity: opacity(BodyKind::Rigid(i)), ..surface }));
        }
        for (i, (thing, nodes)) in self.soft.iter().zip(&frame.soft).enumerate() {
            let vertices: Option<Vec<Vec3>> = thing.nodes.iter().map(|&n| nodes.get(n as usize).copied()).collect();
            let mesh = vertices.map(|vertices| SurfaceMesh { vertices, triangles: thing.triangles.clone() });
            let painted = mesh.map(|mesh| Painted::new(&thing.form.drawn(&mesh), thing.colour));
            let (opacity, paint) = (opacity(BodyKind::Soft(i)), &thing.paint);
            meshes.extend(painted.map(|surface| Painted { opacity, paint: paint.clone(), ..surface }));
        }
        meshes
    }
}

/// Whether the ground is made of wood.
fn is_table(scene: &Scene) -> bool {
    let world = &scene.world;
    let wood = world.materials.find("wood");
    world.bodies.fixed.iter().any(|body| tessellated(body.shape()).is_none() && Some(body.material) == wood)
}

/// The least and the greatest x and z of what moves, at the start.
fn floor_space(scene: &Scene) -> [[f32; 2]; 2] {
    let bodies = &scene.world.bodies;
    let hands = bodies.hands.iter().map(|hand| hand.skeleton.state().palm.translation.vector);
    let soft = bodies.soft.iter().flat_map(|body| body.positions().iter().copied());
    let places = bodies.rigid.iter().map(|body| *body.centre()).chain(hands).chain(soft);
    let ends = places.map(|p| [p.x as f32, p.z as f32]).fold([[f32::MAX; 2], [f32::MIN; 2]], |[low, high], p| {
        [std::array::from_fn(|i| low[i].min(p[i])), std::array::from_fn(|i| high[i].max(p[i]))]
    });
    if ends[0][0] <= ends[1][0] { ends } else { [[0.0; 2]; 2] }
}

/// The diagonal of the box around some points.
fn extent(points: &[[f32; 3]]) -> f32 {
    let side = |i: usize| {
        let ends = points.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], p| [l.min(p[i]), h.max(p[i])]);
        (ends[1] - ends[0]).max(0.0)
    };
    side(0).hypot(side(1)).hypot(side(2))
}

/// A surface where a pose puts it.
fn placed(surface: &Painted, pose: &Pose) -> Painted {
    let turn = pose.rotation.to_rotation_matrix().cast::<f32>();
    let to = pose.translation.vector.cast::<f32>();
    let mut surface = surface.clone();
    surface.vertices.iter_mut().for_each(|p| *p = (turn * nalgebra::Vector3::from(*p) + to).into());
    surface.normals.iter_mut().for_each(|n| *n = (turn * nalgebra::Vector3::from(*n)).into());
    surface
}
