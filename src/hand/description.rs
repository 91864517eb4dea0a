use crate::math::Vec3;
use crate::tracking::{ANGLES, Finger, Segment, Side};

/// Complete description of a hand in SI units, written for a right hand; `side` mirrors it when the model is built.
///
/// The palm frame has its origin at the middle of the middle metacarpal, −Z towards the fingers, +Y out of the back of
/// the hand and +X to the right, like OpenXR's palm joint.
#[derive(Clone, Debug, PartialEq)]
pub struct HandDescription {
    /// Display name.
    pub name: String,
    /// Left or right.
    pub side: Side,
    /// The palm.
    pub palm: PalmDescription,
    /// Thumb to little finger.
    pub fingers: [FingerDescription; 5],
    /// Soft tissue.
    pub tissue: Material,
    /// Coefficient of strain limiting; zero for linear tissue.
    pub stiffening: f64,
    /// Whether the tissue relaxes under a constant strain.
    pub relaxation: bool,
    /// Density of bone, kg/m³.
    pub bone_density: f64,
    /// Springs between the tracked and the simulated hand.
    pub coupling: Coupling,
    /// Mesh resolution.
    pub mesh: MeshOptions,
    /// Poses by name, in the order of the file.
    pub poses: Vec<NamedPose>,
    /// How it is drawn.
    pub look: Look,
}

/// The palm: a flat rounded body from the wrist to the knuckles.
#[derive(Clone, Debug, PartialEq)]
pub struct PalmDescription {
    /// The wrist's centre in the palm's frame, m.
    pub wrist: Vec3,
    /// Width of the skeleton at the wrist and at the knuckles, m.
    pub breadth: [f64; 2],
    /// Thickness of the skeleton, m.
    pub thickness: f64,
    /// Tissue thickness over it, m.
    pub tissue: TissueThickness,
}

/// Thickness of the tissue around a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TissueThickness {
    /// On the side of the palm, m.
    pub palmar: f64,
    /// On the back, m.
    pub dorsal: f64,
    /// On either side, m.
    pub side: f64,
}

/// A finger of three phalanges and four angles.
#[derive(Clone, Debug, PartialEq)]
pub struct FingerDescription {
    /// Centre of its base joint in the palm's frame, m.
    pub base: Vec3,
    /// Direction of the finger with all angles zero, in the palm frame.
    pub direction: Vec3,
    /// Direction of its back (the nail) with all angles zero.
    pub dorsal: Vec3,
    /// Rotation axis of each angle, in the finger frame (−Z to the tip, +Y the back).
    pub axes: [Vec3; 4],
    /// Minimum and maximum of each angle, rad.
    pub limits: [[f64; 2]; 4],
    /// Length of each phalanx from joint to joint, m; for the last the length of its bone.
    pub lengths: [f64; 3],
    /// Radius of each bone at its proximal end, m.
    pub bone_radius: [f64; 3],
    /// Tissue around each phalanx at its proximal end.
    pub tissue: [TissueThickness; 3],
    /// Tissue beyond the last bone, m.
    pub tip: f64,
    /// Bulge of the pad of the last phalanx, m.
    pub pad: f64,
}

/// A linear elastic material with Rayleigh damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Density, kg/m³.
    pub density: f64,
    /// Mass-proportional Rayleigh damping, 1/s.
    pub damping_mass: f64,
    /// Stiffness-proportional Rayleigh damping, s.
    pub damping_stiffness: f64,
}

impl Material {
    /// Tissue calibrated with strain limiting of [`STIFFENING`], see `docs/fingertip.md`.
    pub fn calibrated() -> Self {
        Self { young: 25e3, ..Self::default() }
    }

    /// Lamé's first parameter λ, Pa.
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// The shear modulus μ, Pa.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }
}

/// Springs and dampers from layer 1 to layer 2 (Talvas 2015, §4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// Stiffness of the palm's position, N/m.
    pub palm: f64,
    /// Stiffness of the palm's orientation, N·m/rad.
    pub palm_rotation: f64,
    /// Stiffness of the joints: base flexion, base abduction, middle, tip, N·m/rad.
    pub joints: [f64; 4],
    /// Damping ratio, for the inertia of the coordinate in the open hand.
    pub damping_ratio: f64,
    /// Maximum speed at which a tracked palm is followed, m/s.
    pub max_speed: f64,
    /// Maximum angular speed at which a tracked palm is followed, rad/s.
    pub max_turn: f64,
    /// Maximum rate at which a tracked joint is followed, rad/s.
    pub max_joint_rate: f64,
    /// Maximum force of the palm spring, N.
    pub max_force: f64,
    /// Maximum torque of the palm orientation spring, N·m.
    pub max_torque: f64,
    /// Maximum torque of a joint spring, N·m.
    pub max_joint_torque: f64,
    /// Stiffness of the joint limits, N·m/rad.
    pub limit: f64,
}

/// Mesh resolution of a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshOptions {
    /// Factor on the number of tetrahedra; 1 gives about 1,500 for the fifteen phalanges.
    pub resolution: f64,
    /// Subdivisions of each edge of the outer surface for the collision skin.
    pub skin: usize,
    /// Cell size for polygonising the visual skin, m.
    pub visual: f64,
    /// Meshes that replace the generated ones, in the bone frame.
    pub replaced: Vec<(Segment, crate::mesh::TetMesh)>,
}

/// Colours of the skin. They change nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Light skin.
    #[default]
    Light,
    /// Tan skin.
    Tan,
    /// Brown skin.
    Brown,
    /// Dark skin.
    Dark,
    /// A machine: grey, with dark joints.
    Robot,
}

impl Look {
    /// Names in files.
    pub const NAMES: [(&str, Look); 5] = [
        ("light", Look::Light),
        ("tan", Look::Tan),
        ("brown", Look::Brown),
        ("dark", Look::Dark),
        ("robot", Look::Robot),
    ];
}

/// A named pose.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPose {
    /// Its name.
    pub name: String,
    /// The twenty angles, rad.
    pub angles: [f64; ANGLES],
}

/// Poses that every hand file must have.
pub const POSES: [&str; 6] = ["open", "fist", "pinch", "point", "tripod", "rest"];

/// Coefficient of strain limiting calibrated with [`Material::calibrated`] in `docs/fingertip.md`; hands are linear by default.
pub const STIFFENING: f64 = 6.0;

/// Defaults of the optional parts of a hand file.
impl Default for Coupling {
    fn default() -> Self {
        Self {
            palm: 1000.0,
            palm_rotation: 20.0,
            joints: [3.0, 3.0, 2.0, 1.0],
            damping_ratio: 1.0,
            max_speed: 5.0,
            max_turn: 25.0,
            max_joint_rate: 40.0,
            max_force: 100.0,
            max_torque: 10.0,
            max_joint_torque: 3.0,
            limit: 200.0,
        }
    }
}

impl Default for Material {
    fn default() -> Self {
        Self { young: 50e3, poisson: 0.42, density: 1060.0, damping_mass: 0.0, damping_stiffness: 0.005 }
    }
}

impl Default for MeshOptions {
    fn default() -> Self {
        Self { resolution: 1.0, skin: 2, visual: 0.0025, replaced: Vec::new() }
    }
}

impl HandDescription {
    /// Length from the wrist crease to the tip of the middle finger, m.
    pub fn hand_length(&self) -> f64 {
        let middle = &self.fingers[Finger::Middle as usize];
        (middle.base - self.palm.wrist).norm() + middle.lengths.iter().sum::<f64>() + middle.tip
    }

    /// Centre of the row of knuckles along X, m.
    pub fn knuckles(&self) -> f64 {
        0.5 * (self.fingers[Finger::Index as usize].base.x + self.fingers[Finger::Little as usize].base.x)
    }

    /// Distance from the wrist to the knuckle of the middle finger along the palm, m.
    pub fn palm_length(&self) -> f64 {
        self.palm.wrist.z - self.fingers[Finger::Middle as usize].base.z
    }

    /// The same hand with all lengths scaled.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut hand = self.clone();
        let tissue = |t: &mut TissueThickness| {
            t.palmar *= factor;
            t.dorsal *= factor;
            t.side *= factor;
        };
        hand.palm.wrist *= factor;
        hand.palm.breadth = hand.palm.breadth.map(|b| b * factor);
        hand.palm.thickness *= factor;
        tissue(&mut hand.palm.tissue);
        for finger in &mut hand.fingers {
            finger.base *= factor;
            finger.lengths = finger.lengths.map(|l| l * factor);
            finger.bone_radius = finger.bone_radius.map(|r| r * factor);
            finger.tissue.iter_mut().for_each(tissue);
            finger.tip *= factor;
            finger.pad *= factor;
        }
        hand
    }

    /// A pose by name.
    pub fn pose(&self, name: &str) -> Option<&[f64; ANGLES]> {
        self.poses.iter().find(|p| p.name == name).map(|p| &p.angles)
    }

    /// Minimum and maximum of each of the twenty angles.
    pub fn limits(&self) -> [[f64; 2]; ANGLES] {
        std::array::from_fn(|i| self.fingers[i / 4].limits[i % 4])
    }
}
