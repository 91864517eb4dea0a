//! The protocols on the fingertip.

use super::rig::{Conditions, Rig, RigMotion, RigReading};
use crate::contact::{Friction, MEASURED};
use crate::hand::{HandDescription, HandModel, Material, STIFFENING};

/// Friction of the plate in the tests of tissue: glass, between the measured values.
const GLASS: f64 = 0.8;

/// Rates of the protocols: indentation and shear, m/s, torsion, rad/s.
const PRESS_SPEED: f64 = 2e-3;
const SHEARING: f64 = 4e-3;
const TWISTING: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// Where the tests end: force, N, indentation, m, way of shear, m, twist, rad.
const FORCE: f64 = 7.0;
const DEPTH: f64 = 4e-3;
const WAY: f64 = 7e-3;
const TWIST: f64 = 1.0;

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Time step, s.
    pub dt: f64,
    /// Whether fewer forces and shorter times are measured.
    pub quick: bool,
    /// Whether the tissue is that of hands by default, without strain limiting.
    pub linear: bool,
}

impl Extent {
    fn rig(&self, friction: Friction) -> anyhow::Result<Rig> {
        self.rig_of(average(self.linear)?, friction, true)
    }

    fn rig_of(&self, hand: HandDescription, friction: Friction, patches: bool) -> anyhow::Result<Rig> {
        Rig::new(hand, &Conditions { dt: self.dt, friction, patches })
    }

    fn forces(&self) -> &'static [f64] {
        if self.quick { &[1.0, 2.0] } else { &[0.5, 1.0, 2.0, 5.0] }
    }
}

/// The average hand, with calibrated tissue or with its own.
pub fn average(linear: bool) -> anyhow::Result<HandDescription> {
    let hand = HandModel::right()?.description;
    Ok(if linear { hand } else { HandDescription { tissue: Material::calibrated(), stiffening: STIFFENING, ..hand } })
}

/// Slow indentation.
pub struct Indentation {
    /// Of every step: indentation, mm, force, N, area, mm², change of volume, %.
    pub curve: Vec<[f64; 4]>,
    /// Force and tangent stiffness, N and N/mm.
    pub stiffness: Vec<[f64; 2]>,
    /// Exponent of the area against the force, from 0.25 N.
    pub area_exponent: f64,
    /// Hertz's modulus from force, indentation and area at 0.5 N and at the largest force, MPa.
    pub modulus: [f64; 2],
    /// Force at which 5 % of the volume are lost, if it is reached, N.
    pub volume_force: Option<f64>,
}

/// Presses the pad slowly.
pub fn indentation(extent: &Extent) -> anyhow::Result<Indentation> {
    let mut rig = extent.rig(Friction::of(GLASS))?;
    let mut curve: Vec<[f64; 4]> = Vec::new();
    let press = RigMotion { press: PRESS_SPEED, ..Default::default() };
    loop {
        rig.step(&press)?;
        let now = rig.reading();
        if now.force > 0.0 {
            curve.push([1e3 * now.depth, now.force, 1e6 * now.area, 100.0 * rig.volume_change()]);
        }
        if now.force > FORCE || now.depth > DEPTH {
            break;
        }
    }
    // Over a tenth of a millimetre, which several vertices of the skin share.
    let span = ((1e-4 / (PRESS_SPEED * extent.dt)) as usize).max(1);
    let slopes = curve.windows(span + 1).map(|w| (&w[0], &w[span]));
    let stiffness = slopes.map(|(a, b)| [0.5 * (a[1] + b[1]), (b[1] - a[1]) / (b[0] - a[0])]).collect();
    let loaded = || curve.iter().filter(|c| c[1] >= 0.25);
    let area_exponent = slope(loaded().map(|c| [c[1].ln(), c[2].ln()]));
    let modulus = [0.5, f64::INFINITY].map(|force| {
        let at = curve.iter().find(|c| c[1] >= force).or(curve.last()).copied().unwrap_or([1.0; 4]);
        hertz_modulus(&at)
    });
    let volume_force = curve.iter().find(|c| c[3] < -5.0).map(|c| c[1]);
    Ok(Indentation { curve, stiffness, area_exponent, modulus, volume_force })
}

/// Young's modulus, MPa, of a body in Hertz's contact with a rigid plate: `F = 4/3 E/(1 − ν²) a d`, whatever its radius, with the area `π a²` and
/// `ν = ½`.
fn hertz_modulus([depth, force, area, _]: &[f64; 4]) -> f64 {
    0.75 * 0.75 * force / (depth * (area / std::f64::consts::PI).sqrt())
}

/// Slope of the line of least squares.
fn slope(points: impl Iterator<Item = [f64; 2]>) -> f64 {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for [a, b] in points {
        n += 1.0;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    (n * xy - x * y) / (n * xx - x * x)
}

/// Pressure at one force.
pub struct PressureProfile {
    /// N.
    pub force: f64,
    /// Distance from the centre over that of the rim, and pressure, kPa.
    pub points: Vec<[f64; 2]>,
    /// `m` of `p = p₀ (1 − ρ²)^m`, from the second moments of pressure and area: ½ for Hertz, 1 for a paraboloid. Negative: higher at the rim.
    pub exponent: f64,
}

/// Pressure at several forces.
pub fn profiles(extent: &Extent) -> anyhow::Result<Vec<PressureProfile>> {
    let mut rig = extent.rig(Friction::of(GLASS))?;
    let profile = |&force: &f64| {
        rig.press_to(force)?;
        let points = rig.points();
        let moment = |weight: &dyn Fn(&super::rig::PadPoint) -> f64| -> [[f64; 2]; 2] {
            let sum: f64 = points.iter().map(weight).sum();
            let mean = [0, 1].map(|k| points.iter().map(|p| weight(p) * p.place[k]).sum::<f64>() / sum);
            let spread =
                [0, 1].map(|k| points.iter().map(|p| weight(p) * (p.place[k] - mean[k]).powi(2)).sum::<f64>() / sum);
            [mean, spread]
        };
        let ([_, area], [centre, loaded]) = (moment(&|p| p.area), moment(&|p| p.area * p.pressure));
        let ratio = 0.5 * (loaded[0] / area[0] + loaded[1] / area[1]);
        // The area of an ellipse has the moment a²/4 along an axis.
        let radius = |p: &super::rig::PadPoint| {
            [0, 1].map(|k| (p.place[k] - centre[k]).powi(2) / (4.0 * area[k])).iter().sum::<f64>().sqrt()
        };
        let points = points.iter().map(|p| [radius(p), 1e-3 * p.pressure]).collect();
        Ok(PressureProfile { force, points, exponent: 2.0 / ratio - 2.0 })
    };
    extent.forces().iter().map(profile).collect()
}

/// Force after a step of the indentation.
pub struct Relaxed {
    /// Whether the tissue has relaxation.
    pub with: bool,
    /// Time after the end of the step, s, and force over that at the end.
    pub curve: Vec<[f64; 2]>,
    /// Force at the end, N.
    pub peak: f64,
}

/// Presses fast by 1.5 mm and waits.
pub fn relaxation(extent: &Extent) -> anyhow::Result<Vec<Relaxed>> {
    let wait = if extent.quick { 2.0 } else { 6.0 };
    let of = |with: bool| {
        let hand = HandDescription { relaxation: with, ..average(extent.linear)? };
        let mut rig = extent.rig_of(hand, Friction::of(GLASS), true)?;
        rig.run(0.02, &RigMotion { press: 0.085, ..Default::default() })?;
        let peak = rig.reading().force;
        let mut curve = Vec::new();
        for step in 1..=(wait / rig.dt()) as usize {
            rig.step(&RigMotion::default())?;
            curve.push([step as f64 * rig.dt(), rig.reading().force / peak]);
        }
        Ok(Relaxed { with, curve, peak })
    };
    [false, true].into_iter().map(of).collect()
}

/// Shear at a constant normal force.
pub struct Sheared {
    /// N.
    pub normal: f64,
    /// Way, mm, tangential force, N, area, mm².
    pub curve: Vec<[f64; 3]>,
    /// Tangential stiffness up to half of the force at full slip, N/mm.
    pub stiffness: f64,
    /// Area at full slip over that before.
    pub shrunk: f64,
}

/// Shears the pad towards the tip at several forces.
pub fn shear(extent: &Extent) -> anyhow::Result<Vec<Sheared>> {
    let of = |&normal: &f64| {
        let mut rig = extent.rig(Friction::of(GLASS))?;
        let before = rig.press_to(normal)?;
        let motion = RigMotion { slide: [SHEARING, 0.0], ..Default::default() };
        let curve = (1..=(WAY / SHEARING / rig.dt()) as usize).map(|step| {
            let now = rig.step_at(normal, &motion)?;
            Ok([1e3 * SHEARING * rig.dt() * step as f64, now.shear, 1e6 * now.area])
        });
        let curve = curve.collect::<anyhow::Result<Vec<_>>>()?;
        let last = &curve[curve.len() * 4 / 5..];
        let [full, area] = [1, 2].map(|k| last.iter().map(|c| c[k]).sum::<f64>() / last.len() as f64);
        let half = curve.iter().find(|c| c[1] >= 0.5 * full).copied().unwrap_or([1.0; 3]);
        Ok(Sheared { normal, stiffness: half[1] / half[0], shrunk: area / (1e6 * before.area), curve })
    };
    extent.forces().iter().map(of).collect()
}

/// Torsion at a constant normal force.
pub struct Twisted {
    /// N.
    pub normal: f64,
    /// Whether contacts share a friction patch.
    pub patches: bool,
    /// Twist, °, torque, N·mm, part of the area that has slipped.
    pub curve: Vec<[f64; 3]>,
    /// Torque at full slip, N·mm.
    pub torque: f64,
    /// Twist at which the torque is 95 % of that at full slip, °.
    pub full_slip: Option<f64>,
    /// When half of the area has slipped: mean distance from the centre of what has slipped over that of what sticks.
    pub rim: Option<f64>,
}

/// Twists the pad at several forces, and at one with a friction cone at every contact.
pub fn torsion(extent: &Extent) -> anyhow::Result<Vec<Twisted>> {
    let cases = extent.forces().iter().map(|&force| (force, true)).chain([(2.0, false)]);
    cases.map(|(force, patches)| twist(extent, force, patches, TWISTING)).collect()
}

fn twist(extent: &Extent, normal: f64, patches: bool, rate: f64) -> anyhow::Result<Twisted> {
    let mut rig = extent.rig_of(average(extent.linear)?, Friction::of(GLASS), patches)?;
    rig.press_to(normal)?;
    rig.mark();
    let motion = RigMotion { spin: rate, ..Default::default() };
    let (mut curve, mut rim): (Vec<[f64; 3]>, _) = (Vec::new(), None);
    for step in 1..=(TWIST / rate / rig.dt()) as usize {
        let torque = rig.step_at(normal, &motion)?.torque.abs();
        let points = rig.slipped();
        let sum =
            |slips: bool, of: fn(&(f64, f64, bool)) -> f64| points.iter().filter(|p| p.2 == slips).map(of).sum::<f64>();
        let [gone, left] = [true, false].map(|slips| sum(slips, |p| p.1));
        let part = gone / (gone + left);
        let angle = (rate * rig.dt() * step as f64).to_degrees();
        if rim.is_none() && part >= 0.5 && left > 0.0 {
            rim = Some(sum(true, |p| p.0 * p.1) / gone * left / sum(false, |p| p.0 * p.1));
        }
        curve.push([angle, 1e3 * torque, part]);
    }
    let last = &curve[curve.len() * 4 / 5..];
    let torque = last.iter().map(|c| c[1]).sum::<f64>() / last.len() as f64;
    let full_slip = curve.iter().find(|c| c[1] >= 0.95 * torque).map(|c| c[0]);
    Ok(Twisted { normal, patches, curve, torque, full_slip, rim })
}

/// Twist at full slip for slow and fast torsion, °.
pub fn rates(extent: &Extent) -> anyhow::Result<[Option<f64>; 2]> {
    let slow = if extent.quick { 20.0 } else { 5.0 };
    let [a, b] = [slow, 100.0].map(|rate: f64| twist(extent, 2.0, true, rate.to_radians()));
    Ok([a?.full_slip, b?.full_slip])
}

/// Tangential force, N, and torque, N·mm, in steady slip at 2 N, for several ratios of sliding and spinning.
pub fn limit_curve(extent: &Extent) -> anyhow::Result<Vec<[f64; 2]>> {
    let mut rig = extent.rig(Friction::of(GLASS))?;
    rig.press_to(2.0)?;
    let cases = if extent.quick { 4 } else { 8 };
    let of = |i: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * i as f64 / cases as f64;
        let mut rig = rig.clone();
        // The arm of the torque is about 2 mm.
        let motion =
            RigMotion { slide: [SHEARING * angle.cos(), 0.0], spin: SHEARING / 2e-3 * angle.sin(), press: 0.0 };
        let mut sum = RigReading::default();
        let (steps, counted) = ((2.0 / rig.dt()) as usize, (0.2 / rig.dt()) as usize);
        for step in 0..steps {
            let now = rig.step_at(2.0, &motion)?;
            if step + counted >= steps {
                sum.shear += now.shear / counted as f64;
                sum.torque += now.torque.abs() / counted as f64;
            }
        }
        Ok([sum.shear, 1e3 * sum.torque])
    };
    (0..=cases).map(of).collect()
}

/// Coefficient in steady slip against the normal force, N, on measured aluminium.
pub fn load(extent: &Extent) -> anyhow::Result<Vec<[f64; 2]>> {
    let forces: &[f64] = if extent.quick { &[1.0, 5.0] } else { &[1.0, 2.0, 5.0, 10.0, 20.0] };
    let of = |&normal: &f64| {
        let mut rig = extent.rig(MEASURED[0].friction)?;
        rig.press_to(normal)?;
        let motion = RigMotion { slide: [SHEARING, 0.0], ..Default::default() };
        let mut last = RigReading::default();
        for _ in 0..(WAY / SHEARING / rig.dt()) as usize {
            last = rig.step_at(normal, &motion)?;
        }
        Ok([normal, last.shear / last.force])
    };
    forces.iter().map(of).collect()
}

/// Exponent of a power of positive numbers.
pub fn power(points: &[[f64; 2]]) -> f64 {
    slope(points.iter().map(|p| p.map(f64::ln)))
}
