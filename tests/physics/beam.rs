//! Chains of beams against known answers.

use std::f64::consts::PI;

use fingerpad::beam::{
    BeamChain, BeamDescription, BeamError, BeamMaterial, Damping, End, Motion, Section, Six, along_arc, along_points,
};
use fingerpad::math::{Random, Vec3};

const YOUNG: f64 = 2e9;
const RADIUS: f64 = 1e-3;
const LENGTH: f64 = 0.4;
const DENSITY: f64 = 1200.0;
/// The lengths of step at which every claim about motion is tried, s.
const STEPS: [f64; 4] = [0.01, 0.005, 0.002, 0.001];

fn rod_material() -> BeamMaterial {
    BeamMaterial::solid(YOUNG, 0.3, DENSITY)
}

/// Bending stiffness of the rod, N·m².
fn ei() -> f64 {
    YOUNG * PI * RADIUS.powi(4) / 4.0
}

/// A straight rod along x.
fn rod(beams: usize) -> BeamDescription {
    let nodes = along_points(&[Vec3::zeros(), Vec3::new(LENGTH, 0.0, 0.0)], beams).expect("a path");
    BeamDescription::new(nodes, Section::Round { radius: RADIUS }, rod_material())
}

fn chain(description: &BeamDescription) -> BeamChain {
    BeamChain::new(description).unwrap_or_else(|e| panic!("{e}"))
}

/// A rod clamped at its first node.
fn cantilever(beams: usize) -> BeamChain {
    chain(&BeamDescription { ends: [End::Clamped, End::Free], ..rod(beams) })
}

fn force(x: f64, y: f64, z: f64) -> Six {
    Six::new(x, y, z, 0.0, 0.0, 0.0)
}

fn torque(x: f64, y: f64, z: f64) -> Six {
    Six::new(0.0, 0.0, 0.0, x, y, z)
}

fn settle(chain: &mut BeamChain) {
    let found = chain.settle(&Vec3::zeros(), 1e-9, 4000);
    assert!(found.converged, "{found:?}");
}

fn tip(chain: &BeamChain) -> Vec3 {
    *chain.positions().last().expect("nodes")
}

fn close(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() < part, "{found}, expected {expected}");
}

#[test]
fn a_cantilever_bends_as_euler_and_bernoulli_say() {
    let load = 1e-4;
    for beams in [1, 2, 10, 40] {
        for direction in [Vec3::y(), Vec3::z(), Vec3::new(0.0, 0.6, -0.8)] {
            let mut rod = cantilever(beams);
            rod.set_load(beams, force(0.0, load * direction.y, load * direction.z));
            settle(&mut rod);
            close(tip(&rod).dot(&direction), load * LENGTH.powi(3) / (3.0 * ei()), 1e-3);
            let turn = rod.orientations()[beams].scaled_axis().norm();
            close(turn, load * LENGTH * LENGTH / (2.0 * ei()), 1e-3);
        }
    }
}

#[test]
fn its_own_weight_bends_it_too() {
    let mut rod = cantilever(40);
    let weight = DENSITY * PI * RADIUS * RADIUS;
    // A hundredth of gravity: small deflections.
    assert!(rod.settle(&Vec3::new(0.0, -0.0981, 0.0), 1e-10, 100).converged);
    close(-tip(&rod).y, weight * 0.0981 * LENGTH.powi(4) / (8.0 * ei()), 1e-3);
}

/// Tip of the elastica with a vertical load at its end, in parts of its length: shooting on the curvature at the clamp.
fn elastica(load: f64) -> (f64, f64) {
    let shoot = |curvature: f64| {
        let n = 4000;
        let h = 1.0 / n as f64;
        let slope = |s: [f64; 4]| [s[1], -load * s[0].cos(), s[0].cos(), s[0].sin()];
        let mut s = [0.0, curvature, 0.0, 0.0];
        for _ in 0..n {
            let along = |k: [f64; 4], f: f64| [0, 1, 2, 3].map(|i| s[i] + f * k[i]);
            let k1 = slope(s);
            let k2 = slope(along(k1, h / 2.0));
            let k3 = slope(along(k2, h / 2.0));
            let k4 = slope(along(k3, h));
            s = [0, 1, 2, 3].map(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        s
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] > 0.0 { high = middle } else { low = middle }
    }
    let end = shoot(low);
    (end[2], end[3])
}

#[test]
fn large_deflections_are_those_of_the_elastica() {
    // Mattiasson 1981, table of the cantilever with a load of 10 EI/L².
    let (x, y) = elastica(10.0);
    assert!((1.0 - x - 0.55500).abs() < 1e-5 && (y - 0.81061).abs() < 1e-5, "{x} {y}");
    for load in [1.0, 2.0, 5.0, 10.0] {
        let mut rod = cantilever(20);
        rod.set_load(20, force(0.0, load * ei() / (LENGTH * LENGTH), 0.0));
        settle(&mut rod);
        let (x, y) = elastica(load);
        let found = tip(&rod) / LENGTH;
        assert!((found.x - x).abs() < 0.003 && (found.y - y).abs() < 0.003, "{load}: {found} for {x} {y}");
        close(found.y, y, 0.01);
        close(found.x, x, 0.01);
    }
}

#[test]
fn an_end_moment_bends_a_rod_to_a_full_circle() {
    for axis in [Vec3::z(), Vec3::y()] {
        let mut rod = cantilever(20);
        let moment = axis * (2.0 * PI * ei() / LENGTH);
        rod.set_load(20, torque(moment.x, moment.y, moment.z));
        settle(&mut rod);
        assert!(tip(&rod).norm() < 1e-6 * LENGTH, "{}", tip(&rod));
        let middle = rod.positions()[10];
        // Its nodes are the corners of a regular polygon with sides of the beams' length.
        let across = LENGTH / 20.0 / (PI / 20.0).sin();
        close(middle.norm(), across, 1e-6);
        close(across, LENGTH / PI, 0.005);
    }
}

#[test]
fn torsion_turns_the_end() {
    let moment = 1e-4;
    let g = YOUNG / 2.6;
    let strip = Section::Rectangle { width: 4e-3, height: 1e-3 };
    // Timoshenko and Goodier: J = 0.281 a b³ for sides of 4 to 1.
    for (section, j) in [(Section::Round { radius: RADIUS }, PI * RADIUS.powi(4) / 2.0), (strip, 0.281 * 4e-3 * 1e-9)] {
        let mut rod = chain(&BeamDescription { sections: [section; 2], ends: [End::Clamped, End::Free], ..rod(10) });
        rod.set_load(10, torque(moment, 0.0, 0.0));
        settle(&mut rod);
        let turn = rod.orientations()[0].inverse() * rod.orientations()[10];
        close(turn.scaled_axis().x, moment * LENGTH / (g * j), 2e-3);
        assert!((tip(&rod) - Vec3::new(LENGTH, 0.0, 0.0)).norm() < 1e-9);
    }
}

#[test]
fn a_column_buckles_at_eulers_load() {
    let critical = PI * PI * ei() / (4.0 * LENGTH * LENGTH);
    let grows = |part: f64, h: f64| {
        let damping = Damping { mass: 20.0, stiffness: 0.0 };
        let mut rod = chain(&BeamDescription { ends: [End::Clamped, End::Free], damping, ..rod(20) });
        rod.set_load(20, force(-part * critical, 0.0, 0.0));
        // A bend of a ten-thousandth of the length starts it.
        for i in 0..=20 {
            let s = i as f64 / 20.0;
            let (x, q) = (rod.positions()[i], rod.orientations()[i]);
            rod.set_node(i, x + Vec3::new(0.0, 1e-4 * LENGTH * (1.0 - (PI * s / 2.0).cos()), 0.0), q);
        }
        let mut after_a_second = 0.0;
        for step in 0..(60.0 / h) as usize {
            rod.step(h, &Vec3::zeros());
            if step == (1.0 / h) as usize {
                after_a_second = tip(&rod).y.abs();
            }
        }
        tip(&rod).y.abs() > after_a_second
    };
    for h in STEPS {
        assert!(!grows(0.98, h), "it buckles below the load, at steps of {h} s");
        assert!(grows(1.02, h), "it stays straight above the load, at steps of {h} s");
    }
}

/// Angular frequency of a swinging cantilever: started with the velocities of a mode, timed by the crossings of its tip.
fn frequency(beta: f64, h: f64, cycles: usize) -> f64 {
    let mut rod = chain(&BeamDescription { ends: [End::Clamped, End::Free], damping: Damping::NONE, ..rod(40) });
    let k = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
    for i in 1..=40 {
        let x = beta * i as f64 / 40.0;
        let shape = x.cosh() - x.cos() - k * (x.sinh() - x.sin());
        let slope = (x.sinh() + x.sin() - k * (x.cosh() - x.cos())) * beta / LENGTH;
        rod.set_velocity(i, Six::new(0.0, 1e-3 * shape, 0.0, 0.0, 0.0, 1e-3 * slope));
    }
    let (mut crossings, mut time, mut before) = (Vec::new(), 0.0, 0.0);
    while crossings.len() < 2 * cycles + 1 {
        rod.step(h, &Vec3::zeros());
        time += h;
        let y = tip(&rod).y;
        if time > h && y * before < 0.0 {
            crossings.push(time - h * y / (y - before));
        }
        before = y;
    }
    2.0 * PI * cycles as f64 / (crossings[2 * cycles] - crossings[0])
}

#[test]
fn a_cantilever_swings_at_its_first_two_frequencies() {
    let mass = DENSITY * PI * RADIUS * RADIUS;
    for (beta, part) in [(1.875_104, 1.0), (4.694_091, 6.0)] {
        let expected = beta * beta * (ei() / (mass * LENGTH.powi(4))).sqrt();
        close(frequency(beta, 2e-4 / part, 2), expected, 0.02);
    }
}

#[test]
fn longer_steps_swing_slower_by_what_implicit_euler_predicts() {
    let mass = DENSITY * PI * RADIUS * RADIUS;
    let omega = 1.875_104f64.powi(2) * (ei() / (mass * LENGTH.powi(4))).sqrt();
    for h in STEPS {
        close(frequency(1.875_104, h, 1), (omega * h).atan() / h, 0.02);
    }
}

#[test]
fn a_tapered_cantilever_bends_more_at_its_thin_end() {
    let (thick, thin, load) = (2e-3, 1e-3, 1e-3);
    let n = 10_000;
    let expected: f64 = (0..n)
        .map(|i| (i as f64 + 0.5) / n as f64)
        .map(|s| {
            let moment = YOUNG * PI * (thick + (thin - thick) * s).powi(4) / 4.0;
            load * (LENGTH * (1.0 - s)).powi(2) / moment * LENGTH / n as f64
        })
        .sum();
    let error = |beams: usize| {
        let sections = [Section::Round { radius: thick }, Section::Round { radius: thin }];
        let mut rod = chain(&BeamDescription { sections, ends: [End::Clamped, End::Free], ..rod(beams) });
        rod.set_load(beams, force(0.0, load, 0.0));
        settle(&mut rod);
        (tip(&rod).y / expected - 1.0).abs()
    };
    assert!(error(20) < 5e-3 && error(40) < 1e-3, "{} {}", error(20), error(40));
}

#[test]
fn a_curved_rod_has_no_stress_and_bends_as_castigliano_says() {
    let (radius, load) = (0.1, 1e-3);
    let nodes = along_arc(&Vec3::zeros(), &Vec3::z(), &Vec3::new(radius, 0.0, 0.0), PI / 2.0, 20).expect("an arc");
    let quarter = BeamDescription { nodes, ends: [End::Clamped, End::Free], ..rod(20) };
    for (direction, factor) in [(Vec3::y(), PI / 4.0), (Vec3::x(), 0.75 * PI - 2.0)] {
        let mut rod = chain(&quarter);
        assert!(rod.elastic_energy() < 1e-20);
        let before = tip(&rod);
        rod.set_load(20, force(load * direction.x, load * direction.y, 0.0));
        settle(&mut rod);
        close((tip(&rod) - before).dot(&direction), factor * load * radius.powi(3) / ei(), 0.01);
    }
}

/// A bent rod with every kind of motion in it.
fn thrown(damping: Damping) -> BeamChain {
    let nodes = along_arc(&Vec3::zeros(), &Vec3::z(), &Vec3::new(0.1, 0.0, 0.0), 2.0, 16).expect("an arc");
    let section = Section::Rectangle { width: 2e-3, height: 1e-3 };
    let mut rod = chain(&BeamDescription { damping, ..BeamDescription::new(nodes, section, rod_material()) });
    let mut random = Random::new(3, 1);
    for i in 0..rod.nodes() {
        let mut noise = || random.unit() - 0.5;
        let turn = Vec3::new(1.0, 3.0, 8.0);
        let v =
            Vec3::new(0.3, 0.1, -0.2) + turn.cross(&rod.positions()[i]) + 0.2 * Vec3::new(noise(), noise(), noise());
        rod.set_velocity(i, Six::new(v.x, v.y, v.z, turn.x, turn.y, turn.z));
    }
    rod
}

#[test]
fn a_free_chain_keeps_both_momenta_to_rounding_and_gains_no_energy() {
    for h in STEPS {
        let mut rod = thrown(Damping { mass: 0.0, stiffness: 1e-3 });
        let before = rod.momentum();
        let mut energy = rod.kinetic_energy() + rod.elastic_energy();
        for _ in 0..2000 {
            rod.step(h, &Vec3::zeros());
            let now = rod.kinetic_energy() + rod.elastic_energy();
            assert!(now < energy * (1.0 + 1e-3), "{now} after {energy} at {h}");
            energy = energy.min(now);
        }
        let after = rod.momentum();
        let (linear, angular) = ((after.linear - before.linear).norm(), (after.angular - before.angular).norm());
        assert!(linear < 1e-12 * before.linear.norm(), "linear, at {h}: {linear:e}");
        assert!(angular < 1e-11 * before.angular.norm(), "angular, at {h}: {angular:e}");
    }
}

#[test]
fn a_falling_chain_falls_as_a_point_does() {
    for h in STEPS {
        let mut rod = thrown(Damping { mass: 0.0, stiffness: 1e-3 });
        let (before, mass) = (rod.momentum().linear, rod.masses().iter().sum::<f64>());
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        let n = (0.5 / h) as usize;
        (0..n).for_each(|_| rod.step(h, &gravity));
        let expected = before + gravity * (mass * h * n as f64);
        assert!((rod.momentum().linear - expected).norm() < 1e-11 * expected.norm());
    }
}

#[test]
fn internal_forces_of_a_whole_chain_are_the_gradient_of_its_energy() {
    let mut rod = thrown(Damping::NONE);
    let mut random = Random::new(5, 1);
    let noise: Vec<f64> =
        (0..6 * rod.nodes()).map(|i| (random.unit() - 0.5) * if i % 6 < 3 { 1e-3 } else { 0.1 }).collect();
    rod.change_position(&noise);
    let mut gradient = vec![Six::zeros(); rod.nodes()];
    rod.gradient(&mut gradient);
    let size = gradient.iter().map(|g| g.norm()).fold(0.0, f64::max);
    for node in [0, 7, 16] {
        for k in 0..6 {
            let at = |step: f64| {
                let mut moved = rod.clone();
                let mut dq = vec![0.0; 6 * rod.nodes()];
                dq[6 * node + k] = step;
                moved.change_position(&dq);
                moved.elastic_energy()
            };
            let difference = (at(1e-7) - at(-1e-7)) / 2e-7;
            assert!((difference - gradient[node][k]).abs() < 1e-5 * size, "{node} {k}");
        }
    }
}

#[test]
fn dynamic_and_quasi_static_motion_end_in_one_equilibrium() {
    let load = force(0.0, 3.0 * ei() / (LENGTH * LENGTH), 0.0);
    let mut still = cantilever(12);
    still.set_load(12, load);
    settle(&mut still);
    for h in STEPS {
        for motion in [Motion::Dynamic, Motion::QuasiStatic] {
            let damping = Damping { mass: 10.0, stiffness: 0.0 };
            let mut rod = chain(&BeamDescription { ends: [End::Clamped, End::Free], motion, damping, ..rod(12) });
            rod.set_load(12, load);
            (0..(8.0 / h) as usize).for_each(|_| rod.step(h, &Vec3::zeros()));
            assert!((tip(&rod) - tip(&still)).norm() < 1e-5 * LENGTH, "{motion:?} at {h}");
        }
    }
}

#[test]
fn a_quasi_static_chain_has_no_inertia() {
    for h in STEPS {
        let damping = Damping { mass: 100.0, stiffness: 0.0 };
        let mut rod = chain(&BeamDescription { motion: Motion::QuasiStatic, damping, ..rod(5) });
        rod.set_velocity(2, force(1.0, 0.0, 0.0));
        rod.step(h, &Vec3::zeros());
        assert!(rod.velocities().iter().all(|v| v.norm() < 1e-9), "it stops at once");
        rod.step(h, &Vec3::new(0.0, -9.81, 0.0));
        // B v = M g with B = α M.
        assert!(rod.velocities().iter().all(|v| (v[1] + 0.0981).abs() < 1e-9), "it sinks with g/α");
    }
}

#[test]
fn a_held_end_moves_as_it_is_told_and_drags_the_rest() {
    for h in STEPS {
        let mut rod = cantilever(8);
        rod.set_end_velocity(0, Six::new(0.2, 0.0, 0.1, 0.0, 0.0, 0.5));
        let n = (0.2 / h).round() as usize;
        (0..n).for_each(|_| rod.step(h, &Vec3::zeros()));
        assert!((rod.positions()[0] - Vec3::new(0.04, 0.0, 0.02)).norm() < 1e-12);
        assert!((rod.orientations()[0].scaled_axis() - Vec3::new(0.0, 0.0, 0.1)).norm() < 1e-9);
        assert!(tip(&rod).x > LENGTH + 0.02);
    }
}

/// Sag of a catenary of length `length` over the span `span`, and its parameter.
fn catenary(span: f64, length: f64) -> (f64, f64) {
    let (mut low, mut high) = (span / 100.0, 100.0 * span);
    for _ in 0..200 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (span / (2.0 * a)).sinh() > length { low = a } else { high = a }
    }
    (low * ((span / (2.0 * low)).cosh() - 1.0), low)
}

/// A thread of half a millimetre between two pins at the same height.
fn hanging(span: f64, angle: f64, motion: Motion) -> (BeamChain, f64) {
    let radius = span / (2.0 * (angle / 2.0).sin());
    let centre = Vec3::new(span / 2.0, radius * (angle / 2.0).cos(), 0.0);
    let nodes = along_arc(&centre, &Vec3::z(), &Vec3::zeros(), angle, 40).expect("an arc");
    let length: f64 = nodes.windows(2).map(|p| (p[1] - p[0]).norm()).sum();
    let section = Section::Round { radius: 0.25e-3 };
    let material = BeamMaterial::thread(1e9, 1100.0, 1e-4);
    let damping = Damping { mass: 5.0, stiffness: 1e-3 };
    let description =
        BeamDescription { ends: [End::Pinned; 2], damping, motion, ..BeamDescription::new(nodes, section, material) };
    (chain(&description), length)
}

#[test]
fn a_hanging_thread_is_a_catenary() {
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    for angle in [1.0, 2.5] {
        for h in STEPS {
            for motion in [Motion::Dynamic, Motion::QuasiStatic] {
                let (mut thread, length) = hanging(0.3, angle, motion);
                (0..(6.0 / h) as usize).for_each(|_| thread.step(h, &gravity));
                let (sag, a) = catenary(0.3, length);
                let lowest = -thread.positions().iter().map(|p| p.y).fold(0.0, f64::min);
                assert!((lowest / sag - 1.0).abs() < 0.01, "{motion:?} {angle} {h}: {lowest} for {sag}");
                for p in thread.positions() {
                    let y = a * ((p.x - 0.15) / a).cosh() - a * (0.15 / a).cosh();
                    assert!((p.y - y).abs() < 0.01 * sag, "{motion:?} {angle} {h}: {} for {y}", p.y);
                }
                // The tension at the lowest point is that of the weight of `a` metres of thread.
                let weight = thread.masses().iter().sum::<f64>() * 9.81 / length;
                close(thread.stress(20)[0], weight * a, 0.01);
            }
        }
    }
}

#[test]
fn a_taut_thread_sounds_its_note() {
    // Transverse stiffness is that of the tension alone: f = 1/(2 L) sqrt(T/μ).
    let nodes = along_points(&[Vec3::zeros(), Vec3::new(0.3, 0.0, 0.0)], 40).expect("a path");
    let material = BeamMaterial::thread(1e9, 1100.0, 1e-6);
    let description = BeamDescription::new(nodes, Section::Round { radius: 0.25e-3 }, material);
    let mut thread = chain(&BeamDescription { ends: [End::Pinned; 2], damping: Damping::NONE, ..description });
    let strain = 0.005;
    for i in 0..=40 {
        let (x, q) = (thread.positions()[i], thread.orientations()[i]);
        thread.set_node(i, x * (1.0 + strain), q);
    }
    let (length, mass) = (0.3 * (1.0 + strain), thread.masses().iter().sum::<f64>());
    let tension = 1e9 * PI * (0.25e-3f64).powi(2) * strain;
    let expected = 0.5 / length * (tension / (mass / length)).sqrt();
    for i in 1..40 {
        thread.set_velocity(i, force(0.0, 0.01 * (PI * i as f64 / 40.0).sin(), 0.0));
    }
    let (h, mut time, mut before, mut crossings) = (2e-5, 0.0, 0.0, Vec::new());
    while crossings.len() < 3 {
        thread.step(h, &Vec3::zeros());
        time += h;
        let y = thread.positions()[20].y;
        if time > h && y * before < 0.0 {
            crossings.push(time - h * y / (y - before));
        }
        before = y;
        assert!(time < 0.1);
    }
    close(1.0 / (crossings[2] - crossings[0]), expected, 0.02);
}

#[test]
fn pulling_a_thread_taut_stays_finite_at_every_step() {
    for h in STEPS {
        let (mut thread, _) = hanging(0.3, 2.0, Motion::Dynamic);
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        (0..(1.0 / h) as usize).for_each(|_| thread.step(h, &gravity));
        // One metre a second until it is straight, then it stops.
        thread.set_end_velocity(1, force(1.0, 0.0, 0.0));
        (0..(0.05 / h) as usize).for_each(|_| thread.step(h, &gravity));
        thread.set_end_velocity(1, Six::zeros());
        (0..(1.0 / h) as usize).for_each(|_| thread.step(h, &gravity));
        assert!(thread.is_finite());
        assert!(thread.velocities().iter().all(|v| v.fixed_rows::<3>(0).norm() < 0.05), "it comes to rest at {h}");
    }
}

#[test]
fn bad_beams_are_refused() {
    let bad = |change: &dyn Fn(&mut BeamDescription)| {
        let mut description = rod(4);
        change(&mut description);
        BeamChain::new(&description).expect_err("refused")
    };
    assert_eq!(bad(&|d| d.nodes[2] = d.nodes[1]), BeamError::ZeroLength(1));
    assert_eq!(bad(&|d| d.nodes.truncate(1)), BeamError::ShortPath(1));
    assert!(matches!(bad(&|d| d.nodes[2].y = f64::NAN), BeamError::ZeroLength(_)));
    assert!(matches!(bad(&|d| d.material.young = 0.0), BeamError::OutOfRange { .. }));
    assert!(matches!(bad(&|d| d.material.density = f64::INFINITY), BeamError::OutOfRange { .. }));
    assert!(matches!(bad(&|d| d.sections[1] = Section::Round { radius: -1.0 }), BeamError::OutOfRange { .. }));
    assert!(matches!(bad(&|d| d.damping.stiffness = -1.0), BeamError::OutOfRange { .. }));
    let still = |d: &mut BeamDescription| (d.motion, d.damping) = (Motion::QuasiStatic, Damping::NONE);
    assert!(matches!(bad(&still), BeamError::OutOfRange { .. }));
}

#[test]
fn the_inverse_is_that_of_the_step() {
    let mut rod = cantilever(3);
    let h = 0.01;
    rod.free_motion(h, &Vec3::zeros());
    let mut row = vec![0.0; 24];
    row[19] = 1.0;
    rod.apply_inverse(&mut row);
    // The static deflection of an end load, with the inertia of the end small beside it.
    let stiff = 3.0 * ei() / LENGTH.powi(3) * h * h;
    assert!(row[19] > 0.0 && row[19] < 1.0 / stiff && row[19] < 1.0 / rod.masses()[3]);
    assert!(row[..6].iter().all(|x| *x == 0.0), "a clamped node does not move");
}
