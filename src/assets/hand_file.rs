use std::path::Path;

use super::builtin::{LEFT_HAND, RIGHT_HAND};
use super::files::Files;
use super::problem::Problems;
use super::table::{Document, Table, did_you_mean, listed, nearest};
use crate::hand::ranges;
use crate::hand::{
    Coupling, FingerDescription, HandDescription, HandModel, Look, Material, MeshOptions, NamedPose, POSES,
    PalmDescription, TissueThickness,
};
use crate::math::{Range, Vec3};
use crate::tracking::{ANGLES, Finger, Segment, Side};

/// Reads a hand file: lengths in metres, angles in degrees, everything else in SI units. A file with `base =
/// "other.toml"` contains only the differences.
pub fn load_hand(file: &Path) -> Result<HandDescription, Problems> {
    Files::default().load_hand(file)
}

impl Files {
    /// Reads a hand file and the files that it refers to, like [`load_hand`] from the disk.
    pub fn load_hand(&self, file: &Path) -> Result<HandDescription, Problems> {
        read_document(Document::load_over_bases(self, file)?, self)
    }
}

/// Reads a hand file and builds the model: meshing errors are problems of the file too.
pub fn load_hand_model(file: &Path) -> Result<HandModel, Problems> {
    HandModel::new(load_hand(file)?).map_err(|fault| Problems::with_file(file, fault.to_string()))
}

/// The description of the built-in average right hand.
pub fn builtin_hand() -> Result<HandDescription, Problems> {
    load_hand(Path::new(RIGHT_HAND))
}

/// The model of the built-in average right hand.
pub fn builtin_hand_model() -> Result<HandModel, Problems> {
    HandModel::new(builtin_hand()?).map_err(|fault| Problems::with_file(Path::new(RIGHT_HAND), fault.to_string()))
}

impl HandModel {
    /// The built-in average right hand.
    ///
    /// ```
    /// use fingerpad::hand::HandModel;
    /// use fingerpad::tracking::Side;
    ///
    /// let [left, right] = [HandModel::left()?, HandModel::right()?];
    /// assert_eq!([left.description.side, right.description.side], [Side::Left, Side::Right]);
    /// # Ok::<(), fingerpad::assets::Problems>(())
    /// ```
    pub fn right() -> Result<Self, Problems> {
        builtin_hand_model()
    }

    /// The built-in average left hand, the mirror image of the right one.
    pub fn left() -> Result<Self, Problems> {
        load_hand_model(Path::new(LEFT_HAND))
    }
}

fn read_document(document: Document, files: &Files) -> Result<HandDescription, Problems> {
    let hand = read_hand(&document.root(), files);
    let mut problems = document.into_problems();
    match hand {
        Ok(hand) if problems.0.is_empty() => Ok(hand),
        Ok(_) => Err(problems),
        Err(more) => {
            problems.0.extend(more.0);
            Err(problems)
        }
    }
}

fn read_hand(root: &Table<'_>, files: &Files) -> Result<HandDescription, Problems> {
    root.has("base");
    let name = root.text("name");
    let side = [Side::Right, Side::Left][root.choice("side", &["right", "left"])];
    let palm = read_palm(root);
    let fingers = Finger::ALL.map(|f| read_finger(root, f));
    let bone_density = root.number("bone_density", ranges::DENSITY);
    let (tissue, stiffening, relaxation) = read_material(root);
    let coupling = read_coupling(root);
    let (mesh, mesh_problems) = read_mesh(root, files);
    let poses = read_poses(root, &fingers);
    let look = read_look(root);
    let mut hand = HandDescription {
        name,
        side,
        palm,
        fingers,
        tissue,
        stiffening,
        relaxation,
        bone_density,
        coupling,
        mesh,
        poses,
        look,
    };
    if let Some(factor) = read_scale(root, &hand) {
        hand = hand.scaled(factor);
    }
    root.finish();
    if mesh_problems.0.is_empty() { Ok(hand) } else { Err(mesh_problems) }
}

/// The colours of the skin, or the usual ones.
pub(super) fn read_look(table: &Table<'_>) -> Look {
    let names = Look::NAMES.map(|(name, _)| name);
    if table.has("look") { Look::NAMES[table.choice("look", &names)].1 } else { Look::default() }
}

/// The scale factor from `scale` or `hand_length`.
fn read_scale(root: &Table<'_>, hand: &HandDescription) -> Option<f64> {
    let (scale, length) = (root.has("scale"), root.has("hand_length"));
    if scale && length {
        root.complain("scale", "`scale` and `hand_length` exclude each other; remove one");
    }
    if length {
        let own = hand.hand_length();
        let wanted = root.number("hand_length", ranges::HAND_LENGTH);
        return (own > 0.0).then_some(wanted / own);
    }
    scale.then(|| root.number("scale", ranges::SCALE))
}

fn read_tissue(table: &Table<'_>) -> TissueThickness {
    let tissue = table.table("tissue");
    let read = |key: &str| tissue.number(key, ranges::TISSUE);
    let thickness = TissueThickness { palmar: read("palmar"), dorsal: read("dorsal"), side: read("side") };
    tissue.finish();
    thickness
}

fn read_palm(root: &Table<'_>) -> PalmDescription {
    let palm = root.table("palm");
    let description = PalmDescription {
        wrist: palm.vector("wrist", ranges::PLACE),
        breadth: palm.numbers("breadth", ranges::PALM_BREADTH),
        thickness: palm.number("thickness", ranges::PALM_THICKNESS),
        tissue: read_tissue(&palm),
    };
    palm.finish();
    description
}

fn read_finger(root: &Table<'_>, finger: Finger) -> FingerDescription {
    let table = root.table(finger.name());
    let degrees: [[f64; 2]; 4] = table.rows("limits", ranges::ANGLE);
    for [low, high] in degrees {
        if low > high {
            table.complain("limits", format!("the minimum angle {low} exceeds the maximum {high}"));
        }
    }
    let axes = if table.has("axes") {
        table.rows::<4, 3>("axes", ranges::COMPONENT).map(Vec3::from)
    } else {
        [-Vec3::x(), Vec3::y(), -Vec3::x(), -Vec3::x()]
    };
    let tissue = table.table("tissue");
    let [palmar, dorsal, side] = ["palmar", "dorsal", "side"].map(|key| tissue.numbers::<3>(key, ranges::TISSUE));
    tissue.finish();
    let description = FingerDescription {
        base: table.vector("base", ranges::PLACE),
        direction: table.vector("direction", ranges::COMPONENT),
        dorsal: table.vector("dorsal", ranges::COMPONENT),
        axes,
        limits: degrees.map(|row| row.map(f64::to_radians)),
        lengths: table.numbers("lengths", ranges::LENGTH),
        bone_radius: table.numbers("bone_radius", ranges::BONE_RADIUS),
        tissue: std::array::from_fn(|i| TissueThickness { palmar: palmar[i], dorsal: dorsal[i], side: side[i] }),
        tip: table.number("tip", ranges::TIP),
        pad: table.number_or("pad", 0.0, ranges::PAD),
    };
    table.finish();
    description
}

/// The linear material, the coefficient of strain limiting, and whether the tissue relaxes.
fn read_material(root: &Table<'_>) -> (Material, f64, bool) {
    let (default, Some(table)) = (Material::default(), root.table_if_any("tissue")) else {
        return (Material::default(), 0.0, false);
    };
    let read = |key: &str, default: f64, range: Range| table.number_or(key, default, range);
    let material = Material {
        young: read("young", default.young, ranges::YOUNG),
        poisson: read("poisson", default.poisson, ranges::POISSON),
        density: read("density", default.density, ranges::DENSITY),
        damping_mass: read("damping_mass", default.damping_mass, ranges::DAMPING_MASS),
        damping_stiffness: read("damping_stiffness", default.damping_stiffness, ranges::DAMPING_STIFFNESS),
    };
    let stiffening = read("stiffening", 0.0, ranges::STIFFENING);
    let relaxation = table.flag_or("relaxation", false);
    table.finish();
    (material, stiffening, relaxation)
}

fn read_coupling(root: &Table<'_>) -> Coupling {
    let (default, Some(table)) = (Coupling::default(), root.table_if_any("coupling")) else {
        return Coupling::default();
    };
    let read = |key: &str, default: f64, range: Range| table.number_or(key, default, range);
    let coupling = Coupling {
        palm: read("palm", default.palm, ranges::PALM_STIFFNESS),
        palm_rotation: read("palm_rotation", default.palm_rotation, ranges::TURN_STIFFNESS),
        joints: table.numbers_or("joints", default.joints, ranges::TURN_STIFFNESS),
        damping_ratio: read("damping_ratio", default.damping_ratio, ranges::DAMPING_RATIO),
        max_speed: read("max_speed", default.max_speed, ranges::SPEED),
        max_turn: read("max_turn", default.max_turn, ranges::TURN),
        max_joint_rate: read("max_joint_rate", default.max_joint_rate, ranges::TURN),
        max_force: read("max_force", default.max_force, ranges::FORCE),
        max_torque: read("max_torque", default.max_torque, ranges::TORQUE),
        max_joint_torque: read("max_joint_torque", default.max_joint_torque, ranges::TORQUE),
        limit: read("limit", default.limit, ranges::TURN_STIFFNESS),
    };
    table.finish();
    coupling
}

fn read_mesh(root: &Table<'_>, files: &Files) -> (MeshOptions, Problems) {
    let mut problems = Problems::default();
    let (mut options, Some(table)) = (MeshOptions::default(), root.table_if_any("mesh")) else {
        return (MeshOptions::default(), problems);
    };
    options.resolution = table.number_or("resolution", options.resolution, ranges::RESOLUTION);
    let skin = table.number_or("skin", options.skin as f64, ranges::SKIN);
    if skin.fract() != 0.0 {
        table.complain("skin", format!("{skin} is not a whole number"));
    }
    options.skin = skin as usize;
    options.visual = table.number_or("visual", options.visual, ranges::VISUAL);
    if let Some(replaced) = table.table_if_any("replace") {
        for segment in Segment::all() {
            let name = segment.name();
            if !replaced.has(&name) {
                continue;
            }
            let path = replaced.path(&name);
            match files.load_tet_mesh(&path, 1.0) {
                Ok(mesh) => options.replaced.push((segment, mesh)),
                Err(Problems(mut found)) => {
                    if let Some(why) = files.why_absent(&path) {
                        replaced.complain(&name, why);
                        found.clear();
                    }
                    problems.0.extend(found);
                }
            }
        }
        replaced.finish();
    }
    table.finish();
    (options, problems)
}

fn read_poses(root: &Table<'_>, fingers: &[FingerDescription; 5]) -> Vec<NamedPose> {
    let table = root.table("poses");
    let own: Vec<&str> = table.keys().collect();
    for pose in POSES {
        if !table.has(pose) {
            let near = nearest(pose, &own).filter(|near| !POSES.contains(near));
            let hint = near.map_or(String::new(), did_you_mean);
            table.complain("", format!("the pose `{pose}` is missing; a hand has {}{hint}", listed(&POSES)));
        }
    }
    let read = |name: &str| {
        let pose = table.table(name);
        let mut angles = [0.0; ANGLES];
        for finger in Finger::ALL {
            let degrees: [f64; 4] = pose.numbers(finger.name(), ranges::ANGLE);
            for (i, angle) in degrees.iter().enumerate() {
                let [low, high] = fingers[finger as usize].limits[i];
                // Margin for the rounding of degrees.
                if angle.to_radians() < low - 1e-9 || angle.to_radians() > high + 1e-9 {
                    let (low, high) = (low.to_degrees().round(), high.to_degrees().round());
                    pose.complain(finger.name(), format!("{angle}° is outside the joint's limits, {low}° to {high}°"));
                }
                angles[4 * finger as usize + i] = angle.to_radians().clamp(low, high.max(low));
            }
        }
        pose.finish();
        NamedPose { name: name.into(), angles }
    };
    let poses = own.iter().map(|name| read(name)).collect();
    table.finish();
    poses
}
