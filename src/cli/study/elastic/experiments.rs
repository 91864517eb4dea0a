use std::time::Instant;

use crate::elastic::{
    Compass, DuffingLaw, ElasticError, ElasticObject, ElasticOptions, ElasticShape, Inclusion, Mallet, Profile,
    SolidMaterial, Tool,
};
use crate::math::{Pose, Quat, Vec3};

/// Time step, s: that of a haptic loop.
const HAPTIC_STEP: f64 = 1e-3;
/// Distance between the vertices of a tool, m.
const TOOL_SPACING: f64 = 0.0015;
const PIN_SPACING: f64 = 0.0007;
/// Radius of the ball, half size of the cube, and height of the ellipsoid, m.
pub const BALL: f64 = 0.01;
pub const HALF_EDGE: f64 = 0.025;
const SEMI: [f64; 3] = [0.06, 0.04, 0.04];
/// Force at which head and tail are compared, N.
pub const SAME_FORCE: f64 = 5.0;

pub fn cube() -> ElasticOptions {
    ElasticOptions::new(ElasticShape::block(Vec3::repeat(2.0 * HALF_EDGE)))
}

fn ellipsoid() -> ElasticOptions {
    ElasticOptions::new(ElasticShape::Ellipsoid { semi: Vec3::from(SEMI) })
}

pub fn ball() -> Result<Tool, ElasticError> {
    Tool::ball(BALL, TOOL_SPACING)
}

/// The ball above the centre of the cube, at a depth below its top.
pub fn above_cube(depth: f64) -> Pose {
    Pose::translation(0.0, HALF_EDGE + BALL - depth, 0.0)
}

/// Pose of the tool, deformed object and caption of a picture.
#[cfg_attr(not(feature = "viewer"), allow(dead_code, reason = "read by the viewer alone"))]
pub struct Snapshot {
    pub title: String,
    pub object: ElasticObject,
    pub tool: Pose,
}

impl Snapshot {
    fn new(title: &str, object: &ElasticObject, tool: Pose) -> Self {
        Self { title: title.into(), object: object.clone(), tool }
    }
}

/// Normal force over depth (fig. 13), and the law of a single point.
pub struct Pressing {
    /// Depth in mm, force in N.
    pub ball: Vec<[f64; 2]>,
    pub point: Vec<[f64; 2]>,
    pub shot: Snapshot,
}

pub fn pressing() -> Result<Pressing, ElasticError> {
    let mut object = ElasticObject::new(cube(), ball()?)?;
    object.update(&above_cube(-1e-4), HAPTIC_STEP);
    let depths = || (0..=60).map(|i| 1e-4 * f64::from(i));
    let ball = depths().map(|d| [1e3 * d, object.update(&above_cube(d), HAPTIC_STEP).force.y]).collect();
    let point = depths().map(|d| [1e3 * d, DuffingLaw::default().force(d)]).collect();
    Ok(Pressing { ball, point, shot: Snapshot::new("13: ball on cube", &object, above_cube(0.006)) })
}

/// A step of a sliding tool: normal force and friction on it.
pub struct Slide {
    /// Position along X, mm.
    pub x: f64,
    pub normal: Vec3,
    pub friction: Vec3,
    pub sliding: bool,
}

fn slide(object: &ElasticObject, x: f64) -> Option<Slide> {
    let region = object.response().regions.first()?;
    Some(Slide {
        x: 1e3 * x,
        normal: region.normal_force * region.normal,
        friction: region.friction,
        sliding: region.sliding,
    })
}

/// Static, then dynamic friction of a ball on the cube (fig. 14).
pub fn rubbing() -> Result<(Vec<Slide>, Snapshot), ElasticError> {
    let mut object = ElasticObject::new(cube(), ball()?)?;
    let pose = |x: f64, depth: f64| Pose::translation(x, HALF_EDGE + BALL - depth, 0.0);
    for i in 0..=31 {
        object.update(&pose(-0.01, 1e-4 * f64::from(i - 1)), HAPTIC_STEP);
    }
    let mut rows = Vec::new();
    for i in 0..=200 {
        let x = -0.01 + 1e-4 * f64::from(i);
        object.update(&pose(x, 0.003), HAPTIC_STEP);
        rows.extend(slide(&object, x));
    }
    Ok((rows, Snapshot::new("14: ball slides", &object, pose(0.01, 0.003))))
}

/// The dent of one end of the mallet at the common force (fig. 15).
pub struct Dent {
    pub name: &'static str,
    /// Depth of the tool, mm.
    pub depth: f64,
    /// Pressing area, mm².
    pub area: f64,
    /// Displacement of the surface beside both contacts, 11 mm from the middle, mm.
    pub beside: f64,
    /// Position along X and height of the surface relative to rest, mm.
    pub profile: Vec<[f64; 2]>,
    pub shot: Snapshot,
}

pub fn dents() -> Result<[Dent; 2], ElasticError> {
    let mallet = Mallet::default();
    let tool = Tool::mallet(&mallet, TOOL_SPACING)?;
    let down = Quat::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_2);
    let half = 0.5 * mallet.head_length;
    let head = |depth: f64| Pose::from_parts(Vec3::new(0.0, HALF_EDGE + half - depth, 0.0).into(), down);
    let tail = |depth: f64| Pose::translation(0.0, HALF_EDGE + mallet.handle_length - depth, 0.0);
    Ok([dent("head", "15: head of a mallet", &tool, &head)?, dent("tail", "15: its tail", &tool, &tail)?])
}

fn dent(name: &'static str, title: &str, tool: &Tool, pose: &dyn Fn(f64) -> Pose) -> Result<Dent, ElasticError> {
    // The neighbourhood, which bounds the area, is wider than the head.
    let mut object = ElasticObject::new(ElasticOptions { neighbourhood: 0.014, ..cube() }, tool.clone())?;
    let [mut low, mut high] = [0.0, 0.01];
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        object.reset();
        object.update(&pose(-1e-4), HAPTIC_STEP);
        let force = object.update(&pose(middle), HAPTIC_STEP).force.norm();
        if force < SAME_FORCE { low = middle } else { high = middle }
    }
    Ok(Dent {
        name,
        depth: 1e3 * high,
        area: 1e6 * object.response().regions.first().map_or(0.0, |region| region.area),
        beside: 1e3 * object.displacement(&Vec3::new(0.0, HALF_EDGE, 0.011)).norm(),
        profile: line(&object),
        shot: Snapshot::new(title, &object, pose(high)),
    })
}

/// Vertices on the top of the cube.
fn top(object: &ElasticObject) -> impl Iterator<Item = usize> + '_ {
    (0..object.rest().len()).filter(|&v| object.rest()[v].y > HALF_EDGE - 1e-9)
}

/// Position along X and height of the deformed top of the cube relative to rest, in the plane of the contact, mm.
pub fn line(object: &ElasticObject) -> Vec<[f64; 2]> {
    let vertices = top(object).filter(|&v| object.rest()[v].z.abs() < 1e-9);
    let mut points: Vec<[f64; 2]> =
        vertices.map(|v| [1e3 * object.rest()[v].x, 1e3 * (object.surface().vertices[v].y - HALF_EDGE)]).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points
}

/// A mallet's tail along an ellipsoid (fig. 16).
pub fn along_ellipsoid() -> Result<(Vec<Slide>, Snapshot), ElasticError> {
    let mallet = Mallet::default();
    let mut object = ElasticObject::new(ellipsoid(), Tool::mallet(&mallet, TOOL_SPACING)?)?;
    let pose = |x: f64, depth: f64, z: f64| Pose::translation(x, SEMI[1] + mallet.handle_length - depth, z);
    for i in 0..=60 {
        object.update(&pose(-0.02, 1e-4 * f64::from(i) - 5e-4, 0.0), HAPTIC_STEP);
    }
    let (mut rows, mut shot) = (Vec::new(), None);
    for i in 0..=400 {
        let x = -0.02 + 1e-4 * f64::from(i);
        let place = pose(x, 0.0055, 0.0005 + 5e-6 * f64::from(i));
        object.update(&place, HAPTIC_STEP);
        rows.extend(slide(&object, x));
        if i == 200 {
            shot = Some(Snapshot::new("16: along an ellipsoid", &object, place));
        }
    }
    Ok((rows, shot.unwrap_or_else(|| Snapshot::new("16", &object, pose(0.02, 0.0055, 0.0)))))
}

/// A step of the compass.
pub struct Rolling {
    /// Time, ms.
    pub time: f64,
    pub force: f64,
    /// Normal forces of the pins on the left and on the right.
    pub pins: [f64; 2],
    pub regions: usize,
}

/// One pin of a compass, both, and the other (fig. 17).
pub fn rolling() -> Result<(Vec<Rolling>, Vec<Snapshot>), ElasticError> {
    const STEPS: u32 = 600;
    let mut object = ElasticObject::new(ellipsoid(), Tool::compass(&Compass::default(), PIN_SPACING)?)?;
    let (mut rows, mut shots) = (Vec::new(), Vec::new());
    for i in 0..=STEPS {
        let s = f64::from(i) / f64::from(STEPS);
        let ramp = (10.0 * s).min(10.0 * (1.0 - s)).min(1.0);
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), 0.12 * (1.0 - 2.0 * s));
        let pose = Pose::from_parts(Vec3::new(0.0, SEMI[1] + 5e-4 - 0.006 * ramp, 0.0).into(), turn);
        let update = object.update(&pose, HAPTIC_STEP);
        let pin = |side: f64| {
            let own = update.regions.iter().filter(|r| side * r.origin.x > 0.0);
            own.fold(0.0, |sum, r| sum + r.normal_force)
        };
        let (force, pins, regions) = (update.force.norm(), [pin(-1.0), pin(1.0)], update.regions.len());
        rows.push(Rolling { time: f64::from(i), force, pins, regions });
        if [100, 310, 520].contains(&i) {
            shots.push(Snapshot::new(["17: one pin", "17: two pins", "17: one pin again"][shots.len()], &object, pose));
        }
    }
    Ok((rows, shots))
}

/// An ellipsoid with and without a softer ball in its left side (fig. 18).
pub struct Sides {
    pub name: &'static str,
    /// Displacement of the ends of the long axis, mm: left and right.
    pub ends: [f64; 2],
    /// Mean displacement of the surface beyond 20 mm, mm: left and right.
    pub means: [f64; 2],
    /// Position along X and displacement of the upper half beside the contact, in its plane, mm.
    pub profile: Vec<[f64; 2]>,
    pub shot: Snapshot,
}

pub fn sides() -> Result<[Sides; 2], ElasticError> {
    let soft = Inclusion { centre: Vec3::new(-0.03, 0.0, 0.0), radius: 0.018, material: SolidMaterial::PVC };
    Ok([
        side("rubber", "18: rubber", None)?,
        side("PVC ball in the left side", "18: PVC ball on the left", Some(soft))?,
    ])
}

fn side(name: &'static str, title: &str, inclusion: Option<Inclusion>) -> Result<Sides, ElasticError> {
    let mut options = ellipsoid();
    options.inclusions.extend(inclusion);
    let mut object = ElasticObject::new(options, ball()?)?;
    let pose = |depth: f64| Pose::translation(0.0, SEMI[1] + BALL - depth, 0.0);
    for i in 0..=51 {
        object.update(&pose(1e-4 * f64::from(i - 1)), HAPTIC_STEP);
    }
    let moved = |v: usize| 1e3 * (object.surface().vertices[v] - object.rest()[v]).norm();
    let mean = |sign: f64| {
        let own: Vec<usize> = (0..object.rest().len()).filter(|&v| sign * object.rest()[v].x > 0.02).collect();
        own.iter().map(|&v| moved(v)).sum::<f64>() / own.len() as f64
    };
    let end = |sign: f64| 1e3 * object.displacement(&Vec3::new(sign * SEMI[0], 0.0, 0.0)).norm();
    let above = |v: &usize| {
        let p = &object.rest()[*v];
        p.z.abs() < 1e-9 && p.y > -1e-9 && p.x.abs() > 0.5 * BALL
    };
    let mut profile: Vec<[f64; 2]> =
        (0..object.rest().len()).filter(above).map(|v| [1e3 * object.rest()[v].x, moved(v)]).collect();
    profile.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Ok(Sides {
        name,
        ends: [end(-1.0), end(1.0)],
        means: [mean(-1.0), mean(1.0)],
        profile,
        shot: Snapshot::new(title, &object, pose(0.005)),
    })
}

/// Round shapes with their anchor points (§V.A), each pressed from above.
pub fn shapes() -> Result<Vec<Snapshot>, ElasticError> {
    const DEPTH: f64 = 0.004;
    // Half an ellipse below, half a longer one above: the curvature jumps at the widest circle.
    let egg = |i: u32| {
        let (sin, cos) = (std::f64::consts::PI * (f64::from(i) / 40.0 - 0.5)).sin_cos();
        [if i == 0 || i == 40 { 0.0 } else { 0.025 * cos }, if i < 20 { 0.025 } else { 0.045 } * sin]
    };
    let revolved = |points: &[[f64; 2]]| Profile::new(points).map(ElasticShape::Revolved);
    let cylinder = [[0.0, -0.025], [0.025, -0.025], [0.025, 0.025], [0.0, 0.025]];
    let cone = [[0.0, -0.025], [0.03, -0.025], [0.015, 0.025], [0.0, 0.025]];
    [
        ("ball", ElasticShape::Ball { radius: 0.03 }, 0.03),
        ("capsule", ElasticShape::Capsule { radius: 0.02, half_length: 0.02 }, 0.04),
        ("cylinder", revolved(&cylinder)?, 0.025),
        ("truncated cone", revolved(&cone)?, 0.025),
        ("egg", revolved(&(0..=40).map(egg).collect::<Vec<_>>())?, 0.045),
    ]
    .into_iter()
    .map(|(name, shape, top)| {
        let mut object = ElasticObject::new(ElasticOptions::new(shape), ball()?)?;
        let pose = |depth: f64| Pose::translation(0.0, top + BALL - depth, 0.0);
        object.update(&pose(-1e-4), HAPTIC_STEP);
        object.update(&pose(DEPTH), HAPTIC_STEP);
        Ok(Snapshot::new(&format!("anchors: {name}"), &object, pose(DEPTH)))
    })
    .collect()
}

/// Times of the stages of a step with one region (L7).
pub struct ElasticTimes {
    pub triangles: usize,
    pub tool_triangles: usize,
    pub contacts: usize,
    /// Detection, force, shape with normals, and all of them.
    pub stages: [Quantiles; 4],
}

/// Quantiles of a time, µs.
#[derive(Clone, Copy)]
pub struct Quantiles {
    pub median: f64,
    pub p99: f64,
    pub max: f64,
}

impl Quantiles {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
        Self { median: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

pub fn times() -> Result<Vec<ElasticTimes>, ElasticError> {
    [1000, 2000, 3952].into_iter().map(time).collect()
}

fn time(triangles: usize) -> Result<ElasticTimes, ElasticError> {
    const STEPS: u32 = 1000;
    let options = ElasticOptions { triangles, ..ellipsoid() };
    let mut object = ElasticObject::new(options, ball()?)?;
    let mut stages: [Vec<f64>; 4] = Default::default();
    for i in 0..STEPS {
        // Down, then sideways, so that contacts keep changing.
        let t = f64::from(i);
        let pose = Pose::translation(4e-6 * t, SEMI[1] + BALL + 1e-4 - 1e-4 * t.min(50.0), 0.0);
        let start = Instant::now();
        object.detect(&pose);
        let detected = Instant::now();
        object.resolve(HAPTIC_STEP);
        let resolved = Instant::now();
        object.reshape();
        let reshaped = Instant::now();
        if i > STEPS / 10 {
            let spans = [detected - start, resolved - detected, reshaped - resolved, reshaped - start];
            stages.iter_mut().zip(spans).for_each(|(times, span)| times.push(1e6 * span.as_secs_f64()));
        }
    }
    Ok(ElasticTimes {
        triangles: object.surface().triangles.len(),
        tool_triangles: object.tool().mesh().triangles.len(),
        contacts: object.response().regions.first().map_or(0, |region| region.contacts),
        stages: stages.map(Quantiles::of),
    })
}
