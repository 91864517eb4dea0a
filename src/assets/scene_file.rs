//! Scene files: bodies, materials, hands and parameters. `scenes/README.md` is the reference of the format.

mod attachments;
mod beam;
mod bodies;
mod cost;
mod elastic;
mod hands;
mod haptic;
mod materials;
mod parameters;
mod place;
mod quasi_rigid;
mod ranges;
mod samples;
mod settings;
mod soft;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub use self::cost::Cost;
pub use self::haptic::Haptic;
pub(super) use self::place::read_place;
pub use self::settings::{NoSetting, Setting, setting_keys};
use super::files::{Files, TextKind};
use super::problem::Problems;
use super::table::{Document, Table, nearest};
#[cfg(doc)]
use crate::body::Bodies;
use crate::body::{Body, Handle, RigidBody, SoftBody};
use crate::hand::HandModel;
use crate::math::Vec3;
use crate::sim::{Status, TOP_SPEED, World};
use crate::tracking::{Driven, PoseSequence, SampleSource};

/// Default duration of a scene, s.
const DEFAULT_SECONDS: f64 = 2.0;

/// The world of a file, ready to step.
#[derive(Debug, Default)]
pub struct Scene {
    /// Display name.
    pub name: String,
    /// Duration, s.
    pub seconds: f64,
    /// The world in its initial state.
    pub world: World,
    /// Tracked motion of each hand.
    pub motions: Vec<Option<PoseSequence>>,
    /// Colours of bodies, by name; red, green and blue from 0 to 1.
    pub colours: BTreeMap<String, [f64; 3]>,
    /// Opacity of bodies that are transparent, by name.
    pub opacities: BTreeMap<String, f64>,
    /// Camera, if the file has one.
    pub camera: Option<Viewpoint>,
    /// Seed of random numbers, for scripts.
    pub seed: u64,
    /// Cost of its bodies, including those of the world they were added to.
    pub used: Cost,
    /// Haptic loop, if the file has one.
    pub haptic: Option<Box<Haptic>>,
}

/// Camera of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// Eye position, m.
    pub position: Vec3,
    /// Target in the centre of the picture, m.
    pub target: Vec3,
}

/// Kind of a TOML file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A hand.
    Hand,
    /// A scene.
    Scene,
    /// A device.
    Device,
}

/// Top-level keys of a device profile that neither hand nor scene has.
const OF_DEVICES: [&str; 10] =
    ["kind", "sensor", "port", "usb", "baud", "user", "latency", "filter", "place", "haptics"];

/// Top-level keys of a scene that no hand has.
const OF_SCENES: [&str; 12] = [
    "haptic",
    "body",
    "hand",
    "material",
    "pair",
    "attachment",
    "contact",
    "solver",
    "camera",
    "gravity",
    "dt",
    "seconds",
];

/// Detects from the content of a file, and of its base files, whether it is a hand, a scene or a device. Misspelt keys
/// of a scene or a device count too; the default is a hand.
pub fn file_kind(file: &Path) -> Result<FileKind, Problems> {
    Files::default().file_kind(file)
}

impl Scene {
    /// Why a step ended the run, in words; none if it did not.
    pub fn fault(&self, status: Status) -> Option<String> {
        let time = self.world.time();
        match status {
            Status::Done => None,
            Status::NotFinite => Some(format!("the state is not finite at {time:.4} s")),
            Status::TooFast(id) => {
                let (name, speed) = (self.world.bodies.name(id), self.world.top_speed(id));
                Some(format!("`{name}` moved at {speed:.3e} m/s at {time:.4} s; no body may exceed {TOP_SPEED} m/s"))
            }
        }
    }
}

/// Reads a scene file and builds its world, with some parameters set from outside.
pub fn load_scene(file: &Path, settings: &[Setting]) -> Result<Scene, Problems> {
    Files::default().load_scene(file, settings)
}

/// Builds the world of a scene from the text of its file; referenced files are relative to it.
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

    /// The same, for additions to a world with existing bodies: the total cost is checked.
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
        seconds: root.number_or("seconds", DEFAULT_SECONDS, ranges::SECONDS),
        world: World::new(parameters::read_parameters(root)),
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
    haptic::read_haptic(root, &mut scene);
    root.finish();
    scene
}

/// Eye and target must differ, and the view must not be vertical.
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

/// Names are single words and unique: attachments and settings refer to them.
fn check_names(root: &Table<'_>) {
    let hands: Vec<&str> = root.named("hand").into_iter().map(|(name, _)| name).collect();
    for kind in ["material", "body", "hand"] {
        for (name, table) in root.named(kind) {
            let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                table.complain("", "a name consists of letters, digits, `_` and `-`");
            }
            if kind != "material" && name == attachments::WORLD {
                table.complain("", "the name `world` is reserved for everything that never moves");
            }
            if kind == "body" && hands.contains(&name) {
                table.complain("", format!("a hand has the name `{name}` too; give every body its own"));
            }
        }
    }
}

impl Scene {
    /// Passes the tracked sample at the end of the coming step to each hand with a motion.
    pub fn feed(&mut self) {
        self.feed_rest(&Driven::default());
    }

    /// The same, except for parts that devices move.
    pub fn feed_rest(&mut self, device: &Driven) {
        let time = self.world.time() + self.world.parameters.dt;
        for (number, motion) in self.motions.iter().enumerate() {
            let hand = self.world.bodies.hand_mut(number);
            let sample = motion.as_ref().and_then(|motion| motion.sample(time));
            let side = hand.model().description.side;
            hand.skeleton.tracked.inlet_mut().claim_for_devices(device, side);
            if let Some(sample) = sample {
                hand.track_from(SampleSource::SceneMotion, sample);
            }
        }
    }

    /// Index of a hand.
    pub fn hand(&self, name: &str) -> Option<usize> {
        self.hand_names().position(|own| own == name)
    }

    /// Names of the hands, in the order of [`Bodies::hand_ids`].
    pub fn hand_names(&self) -> impl Iterator<Item = &str> {
        let bodies = &self.world.bodies;
        bodies.hand_ids().iter().map(|&hand| bodies.name(hand))
    }

    /// Names of the bodies of a kind.
    pub fn names_of<T: Body>(&self) -> impl Iterator<Item = &str> {
        let bodies = &self.world.bodies;
        bodies.of::<T>().map(|(body, _)| bodies.name(body))
    }

    /// The models of the hands.
    pub fn models(&self) -> impl Iterator<Item = &Arc<HandModel>> {
        self.world.bodies.hands().map(|hand| hand.model())
    }

    /// A rigid body by its name.
    pub fn rigid(&self, name: &str) -> Option<Handle<RigidBody>> {
        self.world.bodies.find_as(name)
    }

    /// A soft body by its name.
    pub fn soft(&self, name: &str) -> Option<Handle<SoftBody>> {
        self.world.bodies.find_as(name)
    }
}
