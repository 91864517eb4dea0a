use crate::assets::Scene;
use crate::math::Pose;
use crate::tracking::{Angle, SEGMENTS, Segment};

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Real numbers; NaN if missing.
    Real,
    /// Integers; −1 if missing.
    Whole,
}

/// A column of the table of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Unit; empty if dimensionless.
    pub unit: &'static str,
    /// What the numbers are.
    pub kind: ColumnKind,
}

/// The table of a run: one row per step. SI units, joint angles in degrees, quaternions as x, y, z, w.
///
/// It has columns for the bodies at its start. Values of a removed body are missing; bodies added later have no
/// columns.
#[derive(Clone, Debug)]
pub struct Columns {
    list: Vec<Column>,
    /// Bodies and how many columns each has.
    bodies: Vec<(String, usize)>,
    hands: Vec<String>,
    row: Vec<f64>,
}

const POSITION_COLUMNS: [(&str, &str); 7] =
    [("x", "m"), ("y", "m"), ("z", "m"), ("qx", ""), ("qy", ""), ("qz", ""), ("qw", "")];
/// Step index.
const STEP_COLUMN: [(&str, &str, ColumnKind); 3] =
    [("time", "s", ColumnKind::Real), ("step", "", ColumnKind::Whole), ("trial", "", ColumnKind::Whole)];
/// Contact statistics.
const CONTACT_COLUMNS: [(&str, &str, ColumnKind); 8] = [
    ("contacts", "", ColumnKind::Whole),
    ("constraints", "", ColumnKind::Whole),
    ("groups", "", ColumnKind::Whole),
    ("iterations", "", ColumnKind::Whole),
    ("residual", "", ColumnKind::Real),
    ("not_converged", "", ColumnKind::Whole),
    ("penetration", "m", ColumnKind::Real),
    ("step_ms", "ms", ColumnKind::Real),
];

impl Columns {
    /// The columns for the bodies of a scene.
    pub fn of(scene: &Scene) -> Self {
        let mut list: Vec<Column> = STEP_COLUMN.map(|(name, unit, kind)| column(name, unit, kind)).into();
        let mut bodies = Vec::new();
        for (id, body) in scene.world.bodies.iter() {
            let (name, parts) = (scene.world.bodies.name(id), body.trace_columns());
            if !parts.is_empty() {
                list.extend(parts.iter().map(|(part, unit)| column(format!("{name}.{part}"), unit, ColumnKind::Real)));
                bodies.push((name.to_string(), parts.len()));
            }
        }
        for name in scene.hand_names() {
            for what in ["", "tracked."] {
                list.extend(
                    POSITION_COLUMNS
                        .map(|(part, unit)| column(format!("{name}.{what}palm.{part}"), unit, ColumnKind::Real)),
                );
                let joint = |angle: Angle| column(format!("{name}.{what}{}", angle.name()), "°", ColumnKind::Real);
                list.extend(Angle::all().map(joint));
            }
            for segment in Segment::all() {
                list.push(column(format!("{name}.{}.contacts", segment.name()), "", ColumnKind::Whole));
                list.push(column(format!("{name}.{}.normal_force", segment.name()), "N", ColumnKind::Real));
            }
        }
        list.extend(CONTACT_COLUMNS.map(|(name, unit, kind)| column(name, unit, kind)));
        Self {
            row: Vec::with_capacity(list.len()),
            list,
            bodies,
            hands: scene.hand_names().map(String::from).collect(),
        }
    }

    /// The columns.
    pub fn list(&self) -> &[Column] {
        &self.list
    }

    /// The row of a step, a number per column: `step` and `trial` count from 1, and it took some `seconds`.
    pub fn row(&mut self, scene: &Scene, step: u64, trial: u64, seconds: f64) -> &[f64] {
        let world = &scene.world;
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend([without_noise(world.time()), step as f64, trial as f64]);
        for (name, columns) in &self.bodies {
            let body = world.bodies.find(name).and_then(|id| world.bodies.get(id));
            match body.filter(|body| body.trace_columns().len() == *columns) {
                Some(body) => body.trace(&mut row),
                None => row.extend(std::iter::repeat_n(f64::NAN, *columns)),
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

/// A time rounded to nanoseconds, to avoid values such as 0.5700000000000001.
pub fn without_noise(time: f64) -> f64 {
    (time * 1e9).round() / 1e9
}

fn column(name: impl Into<String>, unit: &'static str, kind: ColumnKind) -> Column {
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
    let bodies = &scene.world.bodies;
    let (own, skeleton) = (bodies.hand_ids()[number].id(), &bodies.hand(number).skeleton);
    put_pose(row, &skeleton.state().palm);
    row.extend(skeleton.state().angles.map(f64::to_degrees));
    put_pose(row, skeleton.tracked.palm());
    row.extend(skeleton.tracked.angles().map(f64::to_degrees));
    let mut felt = [[0.0; 2]; SEGMENTS];
    for touch in scene.world.touches() {
        for side in [touch.a, touch.b] {
            if side.body == own {
                let [contacts, force] = &mut felt[side.index()];
                *contacts += touch.contacts as f64;
                *force += touch.pressing;
            }
        }
    }
    row.extend(felt.as_flattened());
}
