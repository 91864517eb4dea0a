//! The last phalanx of the index finger, held by its bone, against a plate that moves on a given way.

use std::sync::Arc;

use anyhow::{Context, bail};

use crate::body::{Hand, HandOptions, Handle, RigidBody, RigidShape};
use crate::contact::Friction;
use crate::hand::{HandDescription, HandModel};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::sim::{Parameters, Status, World};
use crate::tracking::{Finger, Segment};

/// The pressed segment.
pub fn pad() -> Segment {
    Segment::phalanx(Finger::Index, 2)
}

/// Angle between the bone and the plate, rad: in the range of 20° to 40° of Pawluk and Howe (1999).
const TILT: f64 = 30.0 * std::f64::consts::PI / 180.0;

/// Half sizes of the plate, m.
const PLATE_HALF: Vec3 = Vec3::new(0.016, 0.004, 0.016);

/// Mass of the plate, kg. Its motion is prescribed; contact changes its velocity within a step by less than 1e-4 m/s.
const PLATE_MASS: f64 = 1e4;

/// Gap at the start, m.
const START: f64 = 2e-4;

/// Displacement along the plate from which a point has slipped, m. The skin's shear springs yield by a few hundredths of a millimetre before.
const SLIPPED: f64 = 1e-4;

/// Time of the loop that holds the force, s, and its guess of the pad's stiffness: N/m, and N/m per newton.
const HOLD_TIME: f64 = 0.03;
const STIFFNESS: [f64; 2] = [600.0, 3e3];

/// What a finger is tested with.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Time step, s.
    pub dt: f64,
    /// Friction.
    pub friction: Friction,
    /// Whether contacts of the skin share a friction patch.
    pub patches: bool,
}

/// Motion of the plate relative to the finger.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigMotion {
    /// Speed into the finger, m/s.
    pub press: f64,
    /// Speed towards the fingertip and to the finger's side, m/s.
    pub slide: [f64; 2],
    /// Angular velocity about the plate's normal through the centre of pressure, rad/s.
    pub spin: f64,
}

/// One of the skin's vertices on the plate.
#[derive(Clone, Copy, Debug)]
pub struct PadPoint {
    /// Place on the plate, m: towards the fingertip and to the side.
    pub place: [f64; 2],
    /// Area, m².
    pub area: f64,
    /// Pressure, Pa.
    pub pressure: f64,
}

/// What is measured in a step.
#[derive(Clone, Debug, Default)]
pub struct RigReading {
    /// Indentation, m.
    pub depth: f64,
    /// Normal force, N.
    pub force: f64,
    /// Tangential force, N.
    pub shear: f64,
    /// Torque about the plate's normal at the centre of pressure, N·m.
    pub torque: f64,
    /// Contact area, m².
    pub area: f64,
}

/// The rig.
#[derive(Clone)]
pub struct Rig {
    world: World,
    hand: Handle<Hand>,
    plate: Handle<RigidBody>,
    /// Towards the fingertip, from the plate into the finger, and to the side; in the world.
    axes: [Vec3; 3],
    pose: Pose,
    /// Height of the plate over the bone at first touch, m.
    touch: f64,
    centre: Vec3,
    /// Places of the skin's vertices on the plate when slip began to be counted.
    marks: Vec<[f64; 2]>,
}

impl Rig {
    /// A hand whose bones are held by stiff springs, and a plate just below the pad.
    pub fn new(mut description: HandDescription, conditions: &Conditions) -> anyhow::Result<Self> {
        let coupling = &mut description.coupling;
        (coupling.palm, coupling.palm_rotation, coupling.joints) = (1e6, 1e5, [1e4; 4]);
        (coupling.max_force, coupling.max_torque, coupling.max_joint_torque) = (1e6, 1e5, 1e5);
        let options = HandOptions { pose: "point".into(), ..Default::default() };
        let hand = Hand::new(Arc::new(HandModel::new(description)?), &options)?;
        let mut parameters = Parameters { dt: conditions.dt, gravity: Vec3::zeros(), ..Default::default() };
        parameters.contact.patches = conditions.patches;
        let mut world = World::new(parameters);
        world.materials.set("default", conditions.friction);
        let bone = hand.skeleton.kinematics().poses[pad().index()];
        let axes = [Vec3::new(0.0, TILT.sin(), -TILT.cos()), Vec3::new(0.0, TILT.cos(), TILT.sin()), Vec3::x()]
            .map(|axis| bone.rotation * axis);
        let lowest = hand.skin.positions(pad()).iter().min_by(|a, b| a.dot(&axes[1]).total_cmp(&b.dot(&axes[1])));
        let lowest = *lowest.context("the skin has vertices")?;
        let turn = Mat3::from_columns(&[-axes[2], axes[1], axes[0]]);
        let turn = Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(turn));
        let pose = Pose::from_parts((lowest - (PLATE_HALF.y + START) * axes[1]).into(), turn);
        let touch = (lowest - PLATE_HALF.y * axes[1] - bone.translation.vector).dot(&axes[1]);
        let plate = world.add(RigidBody::with_mass(&RigidShape::Box(PLATE_HALF), PLATE_MASS, pose)?);
        let hand = world.add(hand);
        Ok(Self { world, hand, plate, axes, pose, touch, centre: lowest, marks: Vec::new() })
    }

    /// The hand.
    pub fn hand(&self) -> &Hand {
        &self.world.bodies[self.hand]
    }

    /// Makes a step in which the plate moves.
    pub fn step(&mut self, motion: &RigMotion) -> anyhow::Result<()> {
        let h = self.world.parameters.dt;
        let [along, normal, side] = self.axes;
        let slide = motion.press * normal + motion.slide[0] * along + motion.slide[1] * side;
        let spin = motion.spin * normal;
        let arm = self.pose.translation.vector - self.centre;
        let plate = &mut self.world.bodies[self.plate];
        plate.set_pose(&self.pose);
        plate.set_velocity(slide + spin.cross(&arm), spin);
        let report = self.world.step();
        if report.status != Status::Done || self.world.statistics().unconverged > 0 {
            bail!("a step on the fingertip failed at {:.3} s: {:?}", self.world.time(), report.status);
        }
        let turn = Quat::from_scaled_axis(h * spin);
        self.pose.rotation = turn * self.pose.rotation;
        self.pose.translation.vector = self.centre + h * slide + turn * arm;
        self.centre += h * slide;
        Ok(())
    }

    /// Makes steps for some time.
    pub fn run(&mut self, seconds: f64, motion: &RigMotion) -> anyhow::Result<()> {
        let steps = (seconds / self.world.parameters.dt).round() as usize;
        (0..steps).try_for_each(|_| self.step(motion))
    }

    /// Makes a step in which a loop holds the normal force.
    pub fn step_at(&mut self, force: f64, motion: &RigMotion) -> anyhow::Result<RigReading> {
        let stiffness = STIFFNESS[0] + STIFFNESS[1] * force;
        let press = (force - self.reading().force) / (stiffness * HOLD_TIME);
        self.step(&RigMotion { press: press.clamp(-0.02, 0.02), ..*motion })?;
        Ok(self.reading())
    }

    /// Presses until the force has settled, and sets the centre of later rotations to the centre of pressure.
    pub fn press_to(&mut self, force: f64) -> anyhow::Result<RigReading> {
        let (mut reading, mut settled) = (self.reading(), 0.0);
        while settled < 0.1 {
            reading = self.step_at(force, &RigMotion::default())?;
            let off = (reading.force - force).abs() > 0.005 * force;
            settled = if off { 0.0 } else { settled + self.world.parameters.dt };
            if self.world.time() > 30.0 {
                bail!("the fingertip does not settle at {force} N: {:.3} N", reading.force);
            }
        }
        self.centre = self.centre_of_pressure();
        Ok(reading)
    }

    fn centre_of_pressure(&self) -> Vec3 {
        let (mut moment, mut sum) = (Vec3::zeros(), 0.0);
        for (place, force) in self.forces() {
            let share = force.dot(&self.axes[1]);
            moment += share * place;
            sum += share;
        }
        if sum > 0.0 { moment / sum } else { self.centre }
    }

    /// Places and forces on the pad.
    fn forces(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let pad = crate::body::ColliderId::new(self.hand, pad().index());
        self.world.pressure_points().filter(move |p| p.body == pad || p.other == pad).map(move |p| {
            let force = if p.body == pad { p.force } else { -p.force };
            (p.place, force)
        })
    }

    /// What is measured now.
    pub fn reading(&self) -> RigReading {
        let [along, normal, side] = self.axes;
        let bone = self.hand().skeleton.kinematics().poses[pad().index()].translation.vector;
        let depth = (self.pose.translation.vector - bone).dot(&normal) - self.touch;
        let centre = self.centre_of_pressure();
        let (mut sum, mut torque) = (Vec3::zeros(), 0.0);
        for (place, force) in self.forces() {
            sum += force;
            torque += (place - centre).cross(&force).dot(&normal);
        }
        let area = self.points().iter().map(|p| p.area).sum();
        RigReading { depth, force: sum.dot(&normal), shear: sum.dot(&along).hypot(sum.dot(&side)), torque, area }
    }

    /// The loaded points of the pad.
    pub fn points(&self) -> Vec<PadPoint> {
        let pad = crate::body::ColliderId::new(self.hand, pad().index());
        let [along, normal, side] = self.axes;
        let own = self.world.pressure_points().filter(|p| (p.body == pad || p.other == pad) && p.pressure > 0.0);
        own.map(|p| PadPoint {
            place: [along, side].map(|axis| axis.dot(&p.place)),
            area: p.force.dot(&normal).abs() / p.pressure,
            pressure: p.pressure,
        })
        .collect()
    }

    /// Places of all vertices of the pad's skin on the plate, and their heights over it, m.
    fn places(&self) -> impl Iterator<Item = ([f64; 2], f64)> + '_ {
        let inverse = self.pose.inverse();
        self.hand().skin.positions(pad()).iter().map(move |p| {
            let local = inverse.transform_point(&(*p).into());
            ([local.x, local.z], local.y - PLATE_HALF.y)
        })
    }

    /// Starts to count slip.
    pub fn mark(&mut self) {
        self.marks = self.places().map(|(place, _)| place).collect();
    }

    /// The loaded vertices since the mark: distance from the centre of pressure, m, area, m², and whether they have slipped.
    pub fn slipped(&self) -> Vec<(f64, f64, bool)> {
        let centre = self.pose.inverse().transform_point(&self.centre_of_pressure().into());
        let areas = &self.hand().model().meshes[pad().index()].skin_areas;
        let all = self.places().zip(&self.marks).zip(areas).filter(|(((_, height), _), _)| *height <= 1.1e-5);
        all.map(|(((now, _), then), area)| {
            let moved = (now[0] - then[0]).hypot(now[1] - then[1]);
            ((now[0] - centre.x).hypot(now[1] - centre.z), *area, moved > SLIPPED)
        })
        .collect()
    }

    /// Volume of the tissue over its volume at rest, less one.
    pub fn volume_change(&self) -> f64 {
        let tissue = &self.hand().tissues[pad().index()];
        let (model, moved) = (tissue.model(), &tissue.state().displacement);
        let (mut now, mut rest) = (0.0, 0.0);
        for element in model.elements() {
            let corners = element.nodes.map(|n| model.rest()[n as usize] + moved[n as usize]);
            now += element.volume * element.deformation(&corners).determinant();
            rest += element.volume;
        }
        now / rest - 1.0
    }

    /// The hand's step, s.
    pub fn dt(&self) -> f64 {
        self.world.parameters.dt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rig(dt: f64, resolution: f64) -> Rig {
        let mut hand = super::super::experiments::average(false).expect("the average hand");
        hand.mesh.resolution = resolution;
        let conditions = Conditions { dt, friction: Friction::of(0.8), patches: true };
        Rig::new(hand, &conditions).expect("a hand")
    }

    /// Strain limiting is stable at any step: the pad comes to rest at the same indentation, soft at first touch and stiff under load.
    #[test]
    fn the_pad_rests_under_a_plate_at_any_step() {
        let mut depths = Vec::new();
        for dt in [0.01, 0.005, 0.002, 0.001] {
            let mut rig = rig(dt, 1.0);
            let depth = [0.5, 1.0, 4.0].map(|force| rig.press_to(force).expect("it settles").depth);
            let secant = |a: usize, b: usize, force: f64| force / (depth[b] - depth[a]);
            assert!(secant(1, 2, 3.0) > 3.0 * 1.0 / depth[1], "{dt}: {depth:?}");
            rig.run(0.5, &RigMotion::default()).expect("it rests");
            let speed =
                rig.hand().tissues[pad().index()].state().velocity.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            // The force moves the plate within a step, before its motion is set again.
            assert!(speed < 4.0 * dt / PLATE_MASS, "{dt}: at rest {speed}");
            assert!(rig.volume_change() > -0.065, "{dt}: {}", rig.volume_change());
            depths.push(depth);
        }
        for depth in &depths {
            for (own, fine) in depth.iter().zip(&depths[3]) {
                assert!((own / fine - 1.0).abs() < 1e-3, "{depths:?}");
            }
        }
    }

    /// The pad of the usual mesh is as compliant as that of a mesh eight times finer, and loses at most 5 % of its volume.
    #[test]
    fn the_pad_is_as_compliant_as_on_a_finer_mesh() {
        let [mut coarse, mut fine] = [1.0, 8.0].map(|resolution| rig(0.01, resolution));
        for force in [1.0, 2.0, 4.0] {
            let [own, other] = [&mut coarse, &mut fine].map(|rig| rig.press_to(force).expect("it settles").depth);
            assert!((own / other - 1.0).abs() < 0.05, "{force} N: {own} {other}");
            if force < 3.0 {
                assert!(coarse.volume_change() > -0.05, "{force} N: {}", coarse.volume_change());
            }
        }
    }
}
