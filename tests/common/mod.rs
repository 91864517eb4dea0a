//! A hand that pinches an object between thumb and index, for several tests.
#![allow(dead_code)]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use fingerpad::assets::{Scene, builtin_hand_model, load_scene};
use fingerpad::body::{Bodies, Body, Fixed, Hand, HandBody, HandOptions, Handle, RigidBody, RigidShape, SoftBody};
use fingerpad::contact::{Friction, Method};
use fingerpad::hand::HandModel;
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::sim::{Parameters, Status, World};
use fingerpad::tracking::{ANGLES, HandSample, Limits, TrackedHand, minimum_jerk};

/// The built-in hand.
pub fn model() -> Arc<HandModel> {
    static MODEL: OnceLock<Arc<HandModel>> = OnceLock::new();
    MODEL.get_or_init(|| Arc::new(builtin_hand_model().expect("the hand it carries"))).clone()
}

/// A scene of the `scenes` folder.
pub fn shipped_scene(name: &str) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenes/{name}.toml"));
    load_scene(&file, &[]).unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

/// Bodies of a kind by their order, for tests.
pub trait Ordered {
    fn nth<T: Body>(&self, n: usize) -> Handle<T>;
    fn rigid(&self, n: usize) -> &RigidBody;
    fn rigid_mut(&mut self, n: usize) -> &mut RigidBody;
    fn soft(&self, n: usize) -> &SoftBody;
    fn fixed(&self, n: usize) -> &Fixed;
}

impl Ordered for Bodies {
    fn nth<T: Body>(&self, n: usize) -> Handle<T> {
        self.of::<T>().nth(n).expect("as many bodies").0
    }

    fn rigid(&self, n: usize) -> &RigidBody {
        &self[self.nth(n)]
    }

    fn rigid_mut(&mut self, n: usize) -> &mut RigidBody {
        let handle = self.nth(n);
        &mut self[handle]
    }

    fn soft(&self, n: usize) -> &SoftBody {
        &self[self.nth(n)]
    }

    fn fixed(&self, n: usize) -> &Fixed {
        &self[self.nth(n)]
    }
}

/// A pinch of thumb and index with the other fingers stretched; the object is 24 mm thick between the pads.
pub struct Pinch {
    pub world: World,
    pub model: Arc<HandModel>,
    /// Pose of everything in the world.
    pub frame: Pose,
    /// Direction of gravity, across the line between the pads.
    pub down: Vec3,
}

/// Positions of the pads of thumb and index when they are 24 mm apart, in the palm frame.
pub const PADS: [Vec3; 2] = [Vec3::new(-37.5e-3, -72.85e-3, -33.0e-3), Vec3::new(-25.4e-3, -65.1e-3, -52.4e-3)];
/// Fraction of the pinch pose at which the pads do not touch yet.
pub const OPEN: f64 = 0.77;

impl Pinch {
    /// The object's Y axis is perpendicular to the line between the pads and to gravity, its X axis along the line.
    pub fn new(shape: &RigidShape, mass: f64, mu: f64, method: Method, frame: Pose) -> Self {
        let model = model();
        let axis = (PADS[1] - PADS[0]).normalize();
        let down = (axis.dot(&Vec3::y()) * axis - Vec3::y()).normalize();
        let mut world = World::new(Parameters::default());
        world.parameters.contact.method = method;
        world.parameters.gravity = Vec3::zeros();
        world.materials.set("default", Friction::of(mu));
        let options = HandOptions { palm: frame, ..HandOptions::default() };
        let mut hand = Hand::new(model.clone(), &options).expect("a known pose");
        let tracked = TrackedHand::new(frame, angles(&model, OPEN), Limits::default());
        hand.skeleton = HandBody::new(model.clone(), tracked);
        hand.follow_bones();
        world.add(hand);
        let turn = Quat::from_basis_unchecked(&[axis, axis.cross(&down), axis.cross(&axis.cross(&down))]);
        let pose = frame * Pose::from_parts((0.5 * (PADS[0] + PADS[1])).into(), turn);
        world.bodies.add(RigidBody::with_mass(shape, mass, pose).expect("an object"));
        Self { world, model, frame, down: frame.rotation * down }
    }

    /// One step with the fingers closed by a fraction.
    pub fn step(&mut self, closed: f64) {
        let time = self.world.time() + self.world.parameters.dt;
        let sample = HandSample::full(time, self.frame, angles(&self.model, closed));
        self.world.bodies.hand_mut(0).track(sample);
        assert_eq!(self.world.step().status, Status::Done);
    }

    /// Closes in 0.5 s without gravity, which is then switched on with 0.5 s to settle.
    pub fn grasp(&mut self, closed: f64) {
        let h = self.world.parameters.dt;
        while self.world.time() < 0.6 {
            self.step(OPEN + (closed - OPEN) * minimum_jerk((self.world.time() + h) / 0.5));
        }
        self.world.parameters.gravity = 9.81 * self.down;
        while self.world.time() < 1.6 {
            self.step(closed);
        }
    }

    pub fn object(&self) -> &RigidBody {
        self.world.bodies.rigid(0)
    }
}

/// Angles of a hand that has closed thumb and index by a fraction of the pinch pose.
pub fn angles(model: &HandModel, closed: f64) -> [f64; ANGLES] {
    let pose = |name: &str| *model.description.pose(name).expect("a pose every hand has");
    let (open, pinch) = (pose("open"), pose("pinch"));
    std::array::from_fn(|j| if j < 8 { open[j] + closed * (pinch[j] - open[j]) } else { open[j] })
}

/// A capsule that fits between the pads.
pub fn capsule() -> RigidShape {
    RigidShape::Capsule(0.015, 0.012)
}
