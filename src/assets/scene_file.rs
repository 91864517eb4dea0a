//! Scenes from files: bodies, materials, hands and what they are run with. `scenes/README.md` is the reference of the
//! format.

mod attachments;
mod bodies;
mod cost;
mod hands;
mod materials;
mod parameters;
mod place;
mod ranges;
mod samples;
mod settings;
mod soft;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub use self::cost::Cost;
pub(super) use self::place::read_place;
pub use self::settings::{NoSetting, Setting, setting_keys};
use super::files::{Files, TextKind};
use super::problem::Problems;
use super::table::{Document, Table, nearest};
use crate::hand::HandModel;
use crate::math::Vec3;
use crate::mesh::TetMesh;
use crate::sim::World;
use crate::tracking::{Driven, PoseSequence};

/// Length of a scene that names none, s.
const SECONDS: f64 = 2.0;

/// A world as a file describes it, ready to be stepped.
#[derive(Debug, Default)]
pub struct Scene {
    /// Shown to people.
    pub name: String,
    /// How long it is meant to run, s.
    pub seconds: f64,
    /// The world at its start.
    pub world: World,
    /// Names of its bodies.
    pub names: Names,
    /// The motion that each hand is told.
    pub motions: Vec<Option<PoseSequence>>,
    /// The constant part of each hand.
    pub models: Vec<Arc<HandModel>>,
    /// The elements of each soft body.
    pub soft_meshes: Vec<TetMesh>,
    /// Colours of bodies, by name; red, green and blue from 0 to 1.
    pub colours: BTreeMap<String, [f64; 3]>,
    /// From where it is looked at, if the file says so.
    pub camera: Option<Viewpoint>,
    /// Threads to work with.
    pub threads: usize,
    /// Seed of random numbers, for scripts.
    pub seed: u64,
    /// What its bodies cost when it was read, with those that they were added to.
    pub used: Cost,
}

/// From where a scene is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// Where the eye is, m.
    pub position: Vec3,
    /// What is in the middle of the picture, m.
    pub target: Vec3,
}

/// What a TOML file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A hand.
    Hand,
    /// A scene.
    Scene,
    /// A device.
    Device,
}

/// Keys at the top of a device's profile that neither hand nor scene has.
const OF_DEVICES: [&str; 10] =
    ["kind", "sensor", "port", "usb", "baud", "user", "latency", "filter", "place", "haptics"];

/// Keys at the top of a scene that no hand has.
const OF_SCENES: [&str; 11] =
    ["body", "hand", "material", "pair", "attachment", "contact", "solver", "camera", "gravity", "dt", "seconds"];

/// Tells by its content, and that of the files that it is based on, whether a file describes a hand, a scene or a device. A misspelt key of
/// a scene or a device is a sign too; a file that gives none is taken for a hand.
pub fn file_kind(file: &Path) -> Result<FileKind, Problems> {
    Files::default().file_kind(file)
}

/// Names of the bodies of a scene, each kind in the order of its bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Hands.
    pub hands: Vec<String>,
    /// Rigid bodies.
    pub rigid: Vec<String>,
    /// Soft bodies.
    pub soft: Vec<String>,
    /// The static world.
    pub fixed: Vec<String>,
}

/// Reads a scene file and builds its world, with some parameters set from outside.
pub fn load_scene(file: &Path, settings: &[Setting]) -> Result<Scene, Problems> {
    Files::default().load_scene(file, settings)
}

/// Builds the world of a scene from the text of its file; files that it names are looked for beside it.
pub fn parse_scene(file: &Path, text: &str, settings: &[Setting]) -> Result<Scene, Problems> {
    Files::default().parse_scene(file, text, settings)
}

impl Files {
    /// Tells what a file describes, as [`file_kind`] does.
    pub fn file_kind(&self, file: &Path) -> Result<FileKind, Problems> {
        let document = Document::load_over_bases(self, file)?;
        let root = document.root();
        if OF_DEVICES.iter().any(|key| root.has(key)) {
            return Ok(FileKind::Device);
        }
        if root.has("palm") {
            return Ok(FileKind::Hand);
        }
        let like = |known: &[&str]| root.keys().any(|key| nearest(key, known).is_some());
        let is_scene = OF_SCENES.iter().any(|key| root.has(key)) || like(&OF_SCENES);
        Ok(match is_scene {
            true => FileKind::Scene,
            false if like(&OF_DEVICES) => FileKind::Device,
            false => FileKind::Hand,
        })
    }

    /// Builds the world of a scene file, as [`load_scene`] does.
    pub fn load_scene(&self, file: &Path, settings: &[Setting]) -> Result<Scene, Problems> {
        self.parse_scene(file, &self.read_text(file, TextKind::Description)?, settings)
    }

    /// Builds the world of a scene from the text of its file, as [`parse_scene`] does.
    pub fn parse_scene(&self, file: &Path, text: &str, settings: &[Setting]) -> Result<Scene, Problems> {
        self.parse_part(file, text, settings, Cost::default())
    }

    /// The same, of what is added to a world whose bodies cost something already: what is too much together is a problem.
    pub fn parse_part(&self, file: &Path, text: &str, settings: &[Setting], used: Cost) -> Result<Scene, Problems> {
        let mut document = Document::parse(file, text)?;
        settings::apply(&mut document, settings);
        let mut others = Problems::default();
        let stem = file.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy());
        let scene = read_scene(&document.root(), &stem, used, self, &mut others);
        let mut problems = document.into_problems();
        problems.0.extend(others.0);
        problems.into_result().map(|()| scene)
    }
}

fn read_scene(root: &Table<'_>, name: &str, used: Cost, files: &Files, problems: &mut Problems) -> Scene {
    let mut scene = Scene {
        name: root.text_or("name", name),
        seconds: root.number_or("seconds", SECONDS, ranges::SECONDS),
        world: World::new(parameters::read_parameters(root)),
        threads: root.count_or("threads", 1, ranges::THREADS),
        seed: root.count_or("seed", 0, ranges::SEED) as u64,
        used,
        camera: root.table_if_any("camera").and_then(|table| read_camera(&table)),
        ..Scene::default()
    };
    check_names(root);
    scene.world.materials = materials::read_materials(root);
    bodies::read_bodies(root, &mut scene, files, problems);
    hands::read_hands(root, &mut scene, files, problems);
    attachments::read_attachments(root, &mut scene);
    root.finish();
    scene
}

/// An eye looks at something else than itself, and not straight up or down, where nothing says what is above.
fn read_camera(table: &Table<'_>) -> Option<Viewpoint> {
    let view =
        Viewpoint { position: table.vector("position", ranges::PLACE), target: table.vector("target", ranges::PLACE) };
    table.finish();
    let away = view.position - view.target;
    let is_sound = away.x.hypot(away.z) > 1e-3 * away.y.abs().max(1e-3);
    let is_known = ["position", "target"].iter().all(|key| table.has(key) && !table.is_wrong(key));
    if !is_sound && is_known {
        table.complain("target", "the camera must look at another place than its own, and not straight up or down");
    }
    is_sound.then_some(view)
}

/// Names are one word each, and no two bodies share one: attachments and settings go by them.
fn check_names(root: &Table<'_>) {
    let hands: Vec<&str> = root.named("hand").into_iter().map(|(name, _)| name).collect();
    for kind in ["material", "body", "hand"] {
        for (name, table) in root.named(kind) {
            let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                table.complain("", "a name consists of letters, digits, `_` and `-`");
            }
            if kind != "material" && name == attachments::WORLD {
                table.complain("", "the name `world` is taken; it stands for what never moves");
            }
            if kind == "body" && hands.contains(&name) {
                table.complain("", format!("a hand has the name `{name}` too; give every body its own"));
            }
        }
    }
}

impl Scene {
    /// Hands the tracked sample of the end of the coming step to each hand that has a motion.
    pub fn feed(&mut self) {
        self.feed_rest(&Driven::default());
    }

    /// The same, but for what devices move.
    pub fn feed_rest(&mut self, device: &Driven) {
        let time = self.world.time() + self.world.parameters.dt;
        for (hand, motion) in self.world.bodies.hands.iter_mut().zip(&self.motions) {
            let sample = motion.as_ref().and_then(|motion| motion.sample(time));
            let side = hand.model().description.side;
            if let Some(sample) = sample.and_then(|sample| device.rest_of(side, sample)) {
                hand.track(sample);
            }
        }
    }

    /// Number of a hand among the hands.
    pub fn hand(&self, name: &str) -> Option<usize> {
        self.names.hands.iter().position(|own| own == name)
    }

    /// Number of a rigid body among the rigid bodies.
    pub fn rigid(&self, name: &str) -> Option<usize> {
        self.names.rigid.iter().position(|own| own == name)
    }

    /// Number of a soft body among the soft bodies.
    pub fn soft(&self, name: &str) -> Option<usize> {
        self.names.soft.iter().position(|own| own == name)
    }

    /// Number of a part of the static world among those.
    pub fn fixed(&self, name: &str) -> Option<usize> {
        self.names.fixed.iter().position(|own| own == name)
    }
}
