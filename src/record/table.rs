use crate::assets::Scene;
use crate::body::{BodyKind, SoftBody};
use crate::math::{Pose, Vec3};
use crate::tracking::{Angle, SEGMENTS, Segment};

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Real numbers; what is not there is no number.
    Real,
    /// Whole numbers; what is not there is −1.
    Whole,
}

/// A column of the table of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Unit of its numbers; empty for numbers that have none.
    pub unit: &'static str,
    /// What the numbers are.
    pub kind: Kind,
}

/// The table of a run: a line for every step. SI units, angles of joints in degrees, quaternions as x, y, z, w.
///
/// It has columns for the bodies that are there when it begins. Numbers of one that is gone are missing; one that comes later has no columns.
#[derive(Clone, Debug)]
pub struct Columns {
    list: Vec<Column>,
    rigid: Vec<String>,
    soft: Vec<String>,
    hands: Vec<String>,
    row: Vec<f64>,
}

const PLACE: [(&str, &str); 7] = [("x", "m"), ("y", "m"), ("z", "m"), ("qx", ""), ("qy", ""), ("qz", ""), ("qw", "")];
const VELOCITY: [(&str, &str); 3] = [("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s")];
const SPIN: [(&str, &str); 3] = [("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")];
/// Which step it is.
const FIRST: [(&str, &str, Kind); 3] =
    [("time", "s", Kind::Real), ("step", "", Kind::Whole), ("trial", "", Kind::Whole)];
/// How its contact went.
const LAST: [(&str, &str, Kind); 8] = [
    ("contacts", "", Kind::Whole),
    ("constraints", "", Kind::Whole),
    ("groups", "", Kind::Whole),
    ("iterations", "", Kind::Whole),
    ("residual", "", Kind::Real),
    ("not_converged", "", Kind::Whole),
    ("penetration", "m", Kind::Real),
    ("step_ms", "ms", Kind::Real),
];

impl Columns {
    /// The columns for the bodies of a scene.
    pub fn of(scene: &Scene) -> Self {
        let names = &scene.names;
        let mut list: Vec<Column> = FIRST.map(|(name, unit, kind)| column(name, unit, kind)).into();
        for name in &names.rigid {
            let parts = PLACE.iter().chain(&VELOCITY).chain(&SPIN);
            list.extend(parts.map(|(part, unit)| column(format!("{name}.{part}"), unit, Kind::Real)));
        }
        for name in &names.soft {
            let parts = PLACE[..3].iter().chain(&VELOCITY);
            list.extend(parts.map(|(part, unit)| column(format!("{name}.{part}"), unit, Kind::Real)));
        }
        for name in &names.hands {
            for what in ["", "tracked."] {
                list.extend(PLACE.map(|(part, unit)| column(format!("{name}.{what}palm.{part}"), unit, Kind::Real)));
                let joint = |angle: Angle| column(format!("{name}.{what}{}", angle.name()), "°", Kind::Real);
                list.extend(Angle::all().map(joint));
            }
            for segment in Segment::all() {
                list.push(column(format!("{name}.{}.contacts", segment.name()), "", Kind::Whole));
                list.push(column(format!("{name}.{}.normal_force", segment.name()), "N", Kind::Real));
            }
        }
        list.extend(LAST.map(|(name, unit, kind)| column(name, unit, kind)));
        Self {
            row: Vec::with_capacity(list.len()),
            list,
            rigid: names.rigid.clone(),
            soft: names.soft.clone(),
            hands: names.hands.clone(),
        }
    }

    /// The columns.
    pub fn list(&self) -> &[Column] {
        &self.list
    }

    /// The line of a step, a number for every column: `step` and `trial` count from 1, and it took some `seconds`.
    pub fn row(&mut self, scene: &Scene, step: u64, trial: u64, seconds: f64) -> &[f64] {
        let world = &scene.world;
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend([without_noise(world.time()), step as f64, trial as f64]);
        for name in &self.rigid {
            match scene.rigid(name).map(|i| &world.bodies.rigid[i]) {
                Some(body) => {
                    put_pose(&mut row, &body.pose());
                    row.extend(body.linear_velocity().iter().chain(body.angular_velocity().iter()));
                }
                None => row.extend([f64::NAN; 13]),
            }
        }
        for name in &self.soft {
            match scene.soft(name).map(|i| centre(&world.bodies.soft[i])) {
                Some((place, velocity)) => row.extend(place.iter().chain(velocity.iter())),
                None => row.extend([f64::NAN; 6]),
            }
        }
        for name in &self.hands {
            put_hand(&mut row, scene, scene.hand(name));
        }
        let s = world.statistics();
        row.extend([s.contacts, s.constraints, s.groups, s.iterations].map(|count| count as f64));
        row.extend([s.residual, s.unconverged as f64, s.penetration, 1e3 * seconds]);
        debug_assert_eq!(row.len(), self.list.len());
        self.row = row;
        &self.row
    }
}

/// A time to the nanosecond: steps times their length is off by rounding, and would be written as 0.5700000000000001.
pub fn without_noise(time: f64) -> f64 {
    (time * 1e9).round() / 1e9
}

fn column(name: impl Into<String>, unit: &'static str, kind: Kind) -> Column {
    Column { name: name.into(), unit, kind }
}

fn put_pose(row: &mut Vec<f64>, pose: &Pose) {
    row.extend(pose.translation.vector.iter().chain(pose.rotation.coords.iter()));
}

fn put_hand(row: &mut Vec<f64>, scene: &Scene, hand: Option<usize>) {
    let Some(number) = hand else {
        row.extend([f64::NAN; 54]);
        return (0..SEGMENTS).for_each(|_| row.extend([-1.0, f64::NAN]));
    };
    let skeleton = &scene.world.bodies.hands[number].skeleton;
    put_pose(row, &skeleton.state().palm);
    row.extend(skeleton.state().angles.map(f64::to_degrees));
    put_pose(row, skeleton.tracked.palm());
    row.extend(skeleton.tracked.angles().map(f64::to_degrees));
    let mut felt = [[0.0; 2]; SEGMENTS];
    for touch in scene.world.touches() {
        for side in [touch.a, touch.b] {
            if let BodyKind::Tissue(hand, segment) = side
                && hand.index() == number
            {
                let [contacts, force] = &mut felt[segment.index()];
                *contacts += touch.contacts as f64;
                *force += touch.pressing;
            }
        }
    }
    row.extend(felt.as_flattened());
}

/// Place and velocity of the centre of mass.
fn centre(body: &SoftBody) -> (Vec3, Vec3) {
    let masses = body.model().masses();
    let mean = |vectors: &[Vec3]| vectors.iter().zip(masses).map(|(v, m)| *m * v).sum::<Vec3>() / body.mass();
    (mean(body.positions()), mean(body.velocities()))
}
