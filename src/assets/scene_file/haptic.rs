use super::{Scene, attachments, ranges};
use crate::assets::table::Table;
use crate::body::ElasticBody;
use crate::haptics::{Admittance, DeviceFrame, HandDynamics, HapticOptions, VirtualCoupling, Wrench};
use crate::math::{Pose, Quat, Vec3};
use crate::sim::StepReport;
use crate::sim::two_rate::{AnyLockstep, HapticReport, LiveLoop, LockstepSettings};

const HAPTIC_DEVICES: [&str; 2] = ["emulated", "positioned"];
const CONTROLS: [&str; 2] = ["impedance", "admittance"];

/// A haptic loop of a scene and the motion of its device.
#[derive(Debug)]
pub struct Haptic {
    /// The loop.
    pub lockstep: AnyLockstep,
    /// Axes and scale of a real device.
    pub frame: DeviceFrame,
    /// The loop of a real device, which takes the place of `lockstep`.
    live: Option<Box<dyn LiveLoop>>,
    /// Pose of the device at the start.
    start: Pose,
    /// Times and displacements of the aim from the start, s and m.
    motion: Vec<(f64, Vec3)>,
}

impl Haptic {
    /// Runs a loop of a real device in place of the one in lockstep, or ends it.
    pub fn set_live(&mut self, live: Option<Box<dyn LiveLoop>>) {
        self.live = live;
    }

    /// A sentence where the coupling is too stiff for the loop.
    pub fn warning(&self) -> Option<String> {
        if self.is_live() { self.lockstep.warning_live() } else { self.lockstep.warning() }
    }

    /// Whether a real device is coupled.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// The figures so far.
    pub fn figures(&self) -> HapticReport {
        self.live.as_ref().map_or_else(|| self.lockstep.figures(), |live| live.figures())
    }

    /// The wrench last sent to the device.
    pub fn sent_wrench(&self) -> Wrench {
        self.live.as_ref().map_or_else(|| *self.lockstep.sent_wrench(), |live| live.sent_wrench())
    }

    /// Displacement of the aim at a time, m.
    fn displacement(&self, time: f64) -> Vec3 {
        let next = self.motion.iter().position(|(at, _)| *at > time);
        match next {
            Some(0) | None => self.motion.last().filter(|_| next.is_none()).map_or(Vec3::zeros(), |(_, d)| *d),
            Some(i) => {
                let ((t0, from), (t1, to)) = (&self.motion[i - 1], &self.motion[i]);
                let s = (time - t0) / (t1 - t0);
                // Smooth, with rest at both ends.
                from.lerp(to, s * s * (3.0 - 2.0 * s))
            }
        }
    }

    /// Moves the aim from where it is to a displacement from the start, smoothly in some time, s.
    pub fn move_to(&mut self, displacement: Vec3, now: f64, seconds: f64) {
        let from = self.lockstep.aim().translation.vector - self.start.translation.vector;
        self.motion.clear();
        self.motion.extend([(now, from), (now + seconds.max(1e-9), displacement)]);
    }
}

impl Scene {
    /// One step of the world and, if the scene has one, of its haptic loop.
    pub fn step(&mut self) -> StepReport {
        let Some(haptic) = &mut self.haptic else { return self.world.step() };
        if let Some(live) = &mut haptic.live {
            return live.step(&mut self.world);
        }
        let end = self.world.time() + self.world.parameters.dt;
        let mut aim = haptic.start;
        aim.translation.vector += haptic.displacement(end);
        haptic.lockstep.set_aim(&aim);
        haptic.lockstep.step(&mut self.world)
    }
}

/// Reads `[haptic]`.
pub fn read_haptic(root: &Table<'_>, scene: &mut Scene) {
    let Some(table) = root.table_if_any("haptic") else { return };
    let name = table.text("tool");
    let settings = LockstepSettings {
        rate: table.number_or("rate", 1000.0, ranges::HAPTIC_RATE),
        options: read_options(&table),
        hand: read_hand(&table),
    };
    if settings.options.admittance.is_some() && settings.hand.is_none() {
        table.complain("control", "a device under admittance control is moved by a hand; it cannot be `positioned`");
    }
    let [x, y, z] = table.numbers_or("rotation", [0.0; 3], ranges::ROTATION).map(f64::to_radians);
    let frame = DeviceFrame {
        rotation: Quat::from_euler_angles(x, y, z),
        scale: table.number_or("scale", 1.0, ranges::DEVICE_SCALE),
    };
    let mut motion = vec![(0.0, Vec3::zeros())];
    for key in table.tables("motion") {
        let (at, last) = (key.number("at", ranges::SECONDS), motion.last().map_or(0.0, |(at, _)| *at));
        if at <= last {
            key.complain("at", format!("{at} s is not after {last} s; times must ascend, and the start is at 0"));
        }
        motion.push((at, key.vector("move", ranges::PLACE)));
        key.finish();
    }
    table.finish();
    if table.is_wrong("tool") || name.is_empty() {
        return;
    }
    let Some(end) = attachments::find_end(&name, scene).filter(|end| end.body != crate::body::BodyId::WORLD) else {
        table.complain(
            "tool",
            format!("there is no rigid or elastic body or beam `{name}`; a beam is held at `NAME.first`, `NAME.last` or a node"),
        );
        return;
    };
    match AnyLockstep::new(&mut scene.world, end.body, end.part, &settings) {
        Some(lockstep) => {
            let start = *lockstep.aim();
            scene.haptic = Some(Box::new(Haptic { lockstep, frame, live: None, start, motion }));
        }
        None if scene.world.bodies.get_as::<ElasticBody>(end.body).is_some() => {
            table.complain("tool", format!("the elastic body `{name}` has no tool; add a table `[body.{name}.tool]`"));
        }
        None if scene.world.parameters.contact.is_convex() => {
            table.complain(
                "tool",
                format!("`{name}` is no rigid, quasi-rigid or elastic body and no beam; only these can be tools"),
            );
        }
        None => table.complain("", "a haptic loop needs the contact method `aggregate` with pressure `exact`"),
    }
}

fn read_options(table: &Table<'_>) -> HapticOptions {
    let default = HapticOptions::default();
    let c = default.coupling;
    let coupling = VirtualCoupling {
        stiffness: table.number_or("stiffness", c.stiffness, ranges::COUPLING),
        damping: table.number_or("damping", c.damping, ranges::COUPLING),
        angular_stiffness: table.number_or("angular_stiffness", c.angular_stiffness, ranges::COUPLING),
        angular_damping: table.number_or("angular_damping", c.angular_damping, ranges::COUPLING),
        force_limit: table.number_or("force_limit", c.force_limit, ranges::COUPLING),
        torque_limit: table.number_or("torque_limit", c.torque_limit, ranges::COUPLING),
    };
    let passivity = table.flag_or("passivity", true).then_some(default.passivity).flatten();
    HapticOptions { coupling, passivity, admittance: read_admittance(table), ..default }
}

/// The virtual mass of a device under admittance control.
fn read_admittance(table: &Table<'_>) -> Option<Admittance> {
    let is_admitted = table.has("control") && CONTROLS[table.choice("control", &CONTROLS)] == "admittance";
    let default = Admittance::default();
    let control = Admittance {
        mass: table.number_or("virtual_mass", default.mass, ranges::HAND_MASS),
        damping: table.number_or("virtual_damping", default.damping, ranges::COUPLING),
        ..default
    };
    is_admitted.then_some(control)
}

/// The emulated hand; `None` for a device that follows its aim exactly.
fn read_hand(table: &Table<'_>) -> Option<HandDynamics> {
    let emulated = !table.has("device") || HAPTIC_DEVICES[table.choice("device", &HAPTIC_DEVICES)] == "emulated";
    let default = HandDynamics::default();
    let hand = HandDynamics {
        mass: table.number_or("hand_mass", default.mass, ranges::HAND_MASS),
        damping: table.number_or("hand_damping", default.damping, ranges::COUPLING),
        stiffness: table.number_or("hand_stiffness", default.stiffness, ranges::COUPLING),
        delay: table.count_or("delay", default.delay, ranges::DELAY),
        ..default
    };
    emulated.then_some(hand)
}
