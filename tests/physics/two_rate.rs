//! The two-rate haptic loop in lockstep: equal forces and deformations in both loops.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fingerpad::assets::{Scene, parse_scene};
use fingerpad::body::BeamBody;
use fingerpad::haptics::{Admittance, DeviceSample, HandDynamics, HapticOptions, VirtualCoupling, Wrench};
use fingerpad::math::{Pose, Random, Vec3};
use fingerpad::runtime::{HapticLink, HapticThread};
use fingerpad::sim::Status;
use fingerpad::sim::two_rate::{Lockstep, LockstepSettings};

fn coupling(stiffness: f64, damping: f64) -> VirtualCoupling {
    VirtualCoupling {
        stiffness,
        damping,
        angular_stiffness: 10.0,
        angular_damping: 0.01,
        force_limit: 200.0,
        torque_limit: 10.0,
    }
}

fn settings(rate: f64, coupling: VirtualCoupling) -> LockstepSettings {
    LockstepSettings { rate, options: HapticOptions { coupling, ..HapticOptions::default() }, hand: None }
}

fn world(text: &str) -> Scene {
    parse_scene(Path::new("two_rate.toml"), text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn lockstep(scene: &mut Scene, tool: &str, settings: &LockstepSettings) -> Lockstep {
    let (body, part) = tool.split_once('.').unwrap_or((tool, ""));
    let id = scene.world.bodies.find(body).expect("the tool");
    let frame = scene.world.bodies.get(id).and_then(|body| body.part_named(part)).unwrap_or(0);
    Lockstep::new(&mut scene.world, id, frame, settings).expect("a tool")
}

const BALL: &str = r#"
[body.tool]
kind = "rigid"
shape = "ball"
radius = 0.008
mass = 0.05
position = [0.0, 0.0105, 0.0]
"#;

/// Presses a ball 2.5 mm into the ground, holds, slides sideways. Differences of the forces of both loops while the set of contacts stays the
/// same, the hypothesis of Duriez 2004, §4.1, and the peak.
fn press_and_slide(scene: &mut Scene, lock: &mut Lockstep, seconds: f64) -> (Vec<f64>, f64) {
    let dt = scene.world.parameters.dt;
    let start = *lock.aim();
    let (mut differences, mut peak, mut unchanged) = (Vec::new(), 0.0f64, 0);
    let mut before = Vec::new();
    for i in 0..(seconds / dt) as usize {
        let t = (i + 1) as f64 * dt;
        // Down, then aside.
        let smooth =
            |from: f64, to: f64| 0.5 - 0.5 * (std::f64::consts::PI * ((t - from) / (to - from)).clamp(0.0, 1.0)).cos();
        let (down, aside) = (0.005 * smooth(0.3, 0.8), 0.01 * smooth(1.0, 2.0));
        lock.set_aim(&Pose::from_parts(
            (start.translation.vector + Vec3::new(aside, -down, 0.0)).into(),
            start.rotation,
        ));
        assert_eq!(lock.step(&mut scene.world).status, Status::Done);
        let [fast, slow] = lock.forces();
        peak = peak.max(slow.norm());
        let keys: Vec<_> = lock.problem().constraints.iter().map(|c| c.key).collect();
        unchanged = if keys == before && slow.norm() > 0.0 { unchanged + 1 } else { 0 };
        before = keys;
        let difference = (fast - slow).norm();
        if unchanged > 2 {
            differences.push(difference);
        }
    }
    assert!(differences.len() as f64 * dt > 0.7, "the contact lasts");
    (differences, peak)
}

#[test]
fn both_loops_feel_the_same_ground() {
    for (dt, rate) in [(0.01, 500.0), (0.02, 1000.0), (0.005, 1000.0)] {
        let text =
            format!("dt = {dt}\ngravity = [0, 0, 0]\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n{BALL}");
        let mut scene = world(&text);
        let mut lock = lockstep(&mut scene, "tool", &settings(rate, coupling(800.0, 5.0)));
        let (differences, peak) = press_and_slide(&mut scene, &mut lock, 2.0);
        assert!(peak > 1.0);
        let worst = differences.iter().copied().fold(0.0, f64::max);
        assert!(worst < 0.02 * peak, "dt {dt}: {worst} of {peak}");
    }
}

#[test]
fn both_loops_feel_the_same_soft_block() {
    for (dt, rate) in [(0.01, 500.0), (0.02, 1000.0), (0.005, 1000.0)] {
        let text = format!(
            "dt = {dt}\ngravity = [0, -9.81, 0]\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n{}\n[body.block]\nkind = \"soft\"\nshape = \"block\"\nsize = [0.06, 0.03, 0.04]\ncells = [6, 3, 4]\nyoung = 30e3\nposition = [0.0, 0.01501, 0.0]\n",
            BALL.replace("0.0105", "0.0405")
        );
        let mut scene = world(&text);
        let mut lock = lockstep(&mut scene, "tool", &settings(rate, coupling(800.0, 5.0)));
        let (differences, peak) = press_and_slide(&mut scene, &mut lock, 2.0);
        assert!(peak > 0.5);
        // Friction needs some steps to agree again after a vertex of the block has come into contact or left it.
        let worst = differences.iter().copied().fold(0.0, f64::max);
        let above = differences.iter().filter(|d| **d > 0.02 * peak).count();
        assert!(worst < 0.05 * peak, "dt {dt}: {worst} of {peak}");
        assert!(10 * above < differences.len(), "dt {dt}: {above} of {} steps", differences.len());
    }
}

/// A device under admittance control, which is told where to be, presses with the same force as one under impedance control: that of the springs of hand and
/// coupling in series.
#[test]
fn admittance_control_feels_the_same_ground() {
    const DOWN: f64 = 6e-3;
    let hand = HandDynamics { stiffness: 400.0, damping: 4.0, ..HandDynamics::default() };
    // The ball is 2.5 mm above the ground, and contact begins 0.01 mm above it.
    let expected = (DOWN - 2.49e-3) / (1.0 / 800.0 + 1.0 / hand.stiffness);
    for (dt, rate) in [(0.02, 1000.0), (0.01, 500.0), (0.005, 1000.0)] {
        for admittance in [None, Some(Admittance::default())] {
            let text =
                format!("dt = {dt}\ngravity = [0, 0, 0]\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n{BALL}");
            let mut scene = world(&text);
            let options = HapticOptions { coupling: coupling(800.0, 1.0), admittance, ..HapticOptions::default() };
            let mut lock = lockstep(&mut scene, "tool", &LockstepSettings { rate, options, hand: Some(hand) });
            let mut aim = *lock.aim();
            aim.translation.y -= DOWN;
            lock.set_aim(&aim);
            for _ in 0..(4.0 / dt) as usize {
                assert_eq!(lock.step(&mut scene.world).status, Status::Done);
            }
            let felt = lock.sent_wrench().force.y;
            let pulled = hand.stiffness * (lock.device().pose().translation.y - aim.translation.y);
            println!("dt {dt}, {admittance:?}: {felt} N for {expected} N, hand {pulled} N");
            assert!((felt - expected).abs() < 0.01 * expected, "dt {dt}, {admittance:?}: {felt} N for {expected} N");
            assert!((pulled - felt).abs() < 1e-3 * felt, "dt {dt}, {admittance:?}: the hand pulls {pulled} N");
            assert!(lock.figures().least_energy > -1e-3, "{:?}", lock.figures());
            // The virtual mass takes the place of the device's damping in the limit of stability.
            let stiff = Admittance { damping: 0.01, ..Admittance::default() };
            let options = HapticOptions { admittance: admittance.map(|_| stiff), ..options };
            let settings = LockstepSettings { rate, options, hand: Some(hand) };
            let warning = lockstep(&mut world(&text), "tool", &settings).warning();
            let warns = warning.as_ref().is_some_and(|warning| warning.contains("translation"));
            assert_eq!(warns, admittance.is_some(), "{warning:?}");
        }
    }
}

/// A heavy tool on a light box that lies on the ground: without the compliance of the ground in the condensed problem the loops overshoot each other.
#[test]
fn a_heavy_tool_rests_on_a_light_box() {
    let text = format!(
        "dt = 0.01\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n{}\n[body.box]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.04, 0.02, 0.04]\nmass = 0.005\nposition = [0.0, 0.01, 0.0]\n",
        BALL.replace("0.0105", "0.0305")
    );
    let mut scene = world(&text);
    let mut lock = lockstep(&mut scene, "tool", &settings(1000.0, coupling(800.0, 5.0)));
    let start = *lock.aim();
    let mut forces = Vec::new();
    for i in 0..150 {
        let down = 0.004 * (i as f64 / 50.0).min(1.0);
        lock.set_aim(&Pose::from_parts((start.translation.vector - Vec3::new(0.0, down, 0.0)).into(), start.rotation));
        assert_eq!(lock.step(&mut scene.world).status, Status::Done);
        forces.push(lock.forces().map(|f| f.y));
    }
    // The spring is stretched by 4 mm less the gap of 2.5 mm, and the tool weighs 0.49 N.
    let expected = 800.0 * 0.0015 + 0.05 * 9.81;
    for [fast, slow] in &forces[100..] {
        assert!(
            (fast - expected).abs() < 0.02 * expected && (slow - expected).abs() < 0.02 * expected,
            "{fast} {slow}"
        );
    }
}

/// Two equal beams, one in each loop, welded to each other: the first is clamped, the device holds the end of the second without turning it. The shape is
/// antisymmetric about the middle, so both deform alike, at any position of the device at which the beams are not compressed (Peterlik 2011, fig. 3).
#[test]
fn two_beams_deform_alike() {
    let beam = |name: &str, from: f64, to: f64, ends: &str| {
        format!(
            "[body.{name}]\nkind = \"beam\"\nshape = \"points\"\npoints = [[{from}, 0, 0], [{to}, 0, 0]]\nbeams = 10\nradius = 0.002\nyoung = 1e8\nquasi_static = true\ndamping_mass = 20\nends = {ends}\n"
        )
    };
    let text = format!(
        "dt = 0.02\ngravity = [0, 0, 0]\n{}{}[[attachment]]\na = \"slow.last\"\nb = \"fast.first\"\njoint = \"weld\"\nat = [0.1025, 0, 0]\n",
        beam("slow", 0.0, 0.1, "[\"clamped\", \"free\"]"),
        beam("fast", 0.105, 0.205, "[\"free\", \"free\"]")
    );
    let mut scene = world(&text);
    let mut lock = lockstep(&mut scene, "fast.last", &settings(1000.0, coupling(5000.0, 1.0)));
    let start = *lock.aim();
    let mut random = Random::new(7, 0);
    let mut worst = 0.0f64;
    for trial in 0..100 {
        let mut draw = |most: f64| most * (2.0 * random.unit() - 1.0);
        let (y, z) = (draw(0.05), draw(0.05));
        let x = (0.205f64 * 0.205 - y * y - z * z).sqrt() + 0.001 * (1.0 + draw(1.0));
        let (from, to) = (*lock.aim(), Vec3::new(x, y, z));
        for i in 0..30 {
            let place = from.translation.vector.lerp(&to, ((i + 1) as f64 / 15.0).min(1.0));
            lock.set_aim(&Pose::from_parts(place.into(), start.rotation));
            let status = lock.step(&mut scene.world).status;
            assert_eq!(status, Status::Done);
        }
        let slow = scene.world.bodies.find_as::<BeamBody>("slow").expect("a beam");
        let slow = scene.world.bodies[slow].chain().positions();
        let fast = lock.tool().body().nodes();
        let deflection = y.hypot(z).max(0.01);
        for i in 0..=10 {
            let error = (slow[i] - (fast[10] - fast[10 - i])).norm() / deflection;
            assert!(error < 0.01, "trial {trial}, node {i}: {error} at {to:?}");
            worst = worst.max(error);
        }
        let [a, b] = lock.forces();
        assert!((a - b).norm() < 0.01 * a.norm().max(0.1), "{a:?} {b:?}");
    }
    // The device holds the end with a spring, so it turns a little.
    assert!(worst < 2e-3, "{worst}");
}

/// A device that presses on the ground, and in turn goes away, jumps, sends invalid numbers, and freezes. It records the wrenches it receives.
struct Faulty {
    now: f64,
    /// Where it jumps to, m.
    side: f64,
    /// What it sent before it froze.
    last: DeviceSample,
    commanded: Arc<Mutex<Vec<(f64, Wrench)>>>,
}

/// Number of faults.
const FAULTS: usize = 4;

/// The fault at a time: each lasts 0.15 s and starts 0.35 s after the last one ended.
fn fault_at(now: f64) -> Option<usize> {
    let (turn, rest) = ((now / 0.5) as usize, now % 0.5);
    (rest >= 0.35 && turn < FAULTS).then_some(turn)
}

impl HapticLink for Faulty {
    fn receive(&mut self, now: f64) -> Option<DeviceSample> {
        self.now = now;
        let sample = |y: f64| DeviceSample { time: now, pose: Pose::translation(0.0, y, 0.0) };
        match fault_at(now) {
            None => self.last = sample(0.007),
            Some(0) => return None,
            Some(1) => {
                self.side = -self.side;
                return Some(sample(self.side));
            }
            Some(2) => return Some(sample(f64::NAN)),
            // The same sample again and again.
            Some(_) => {}
        }
        Some(self.last)
    }

    fn send(&mut self, wrench: &Wrench) {
        self.commanded.lock().expect("a list").push((self.now, *wrench));
    }
}

/// The loop in a thread, with the scene at 25 Hz and every core busy: safe forces at every fault of the device, and a clean stop. Returns the
/// time of each force after the faults.
fn under_load(seconds: f64) -> Vec<f64> {
    let text = format!("dt = 0.04\ngravity = [0, 0, 0]\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n{BALL}");
    let mut scene = world(&text);
    let tool = scene.world.bodies.find("tool").expect("the tool");
    let options = HapticOptions { coupling: coupling(800.0, 5.0), ..HapticOptions::default() };
    let commanded = Arc::new(Mutex::new(Vec::new()));
    let last = DeviceSample { time: 0.0, pose: Pose::translation(0.0, 0.007, 0.0) };
    let link = Faulty { now: 0.0, side: 3.0, last, commanded: Arc::clone(&commanded) };
    let quit = Arc::new(AtomicBool::new(false));
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get());
    let busy: Vec<_> = (0..cores)
        .map(|_| {
            let quit = Arc::clone(&quit);
            std::thread::spawn(move || {
                while !quit.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let mut haptics = HapticThread::start(&mut scene.world, tool, 0, options, link).expect("a thread").expect("a tool");
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        assert_eq!(haptics.step(&mut scene.world).status, Status::Done);
        assert!(haptics.report().body.is_finite());
        std::thread::sleep(Duration::from_millis(40));
    }
    let figures = haptics.stop().expect("figures");
    quit.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().expect("a thread"));
    let commanded = commanded.lock().expect("a list");
    assert!(
        commanded.len() > 200 && figures.cost.count as usize + 1 == commanded.len(),
        "{} {figures:?}",
        commanded.len()
    );
    assert_eq!(commanded.last().map(|(_, wrench)| *wrench), Some(Wrench::default()), "no force after the stop");
    assert!(commanded.iter().all(|(_, wrench)| wrench.is_finite() && wrench.force.norm() < 100.0));
    // The ball is pressed 1 mm into the ground.
    let pressed = commanded.iter().filter(|(now, _)| fault_at(*now).is_none() && *now > 0.25).map(|(_, w)| w.force.y);
    assert!(pressed.fold(0.0, f64::max) > 0.3, "the ground is felt");
    // Zero from 10 ms after the start of each fault to its end.
    let faults = 0.5 * FAULTS as f64;
    for (now, wrench) in commanded.iter().filter(|(now, _)| *now < faults && *now % 0.5 > 0.361) {
        assert_eq!(wrench.force.norm(), 0.0, "at {now} s, fault {:?}", fault_at(*now));
    }
    assert!(figures.faults >= FAULTS as u64, "{figures:?}");
    println!("{figures:?}");
    commanded.iter().map(|(now, _)| *now).filter(|now| *now > faults).collect()
}

#[test]
fn a_haptic_thread_is_safe_under_load() {
    under_load(2.5);
}

/// Ten minutes with `FINGERPAD_LONG=1`: forces come at their rate all the time.
#[test]
fn a_haptic_thread_keeps_its_rate_for_ten_minutes() {
    if std::env::var_os("FINGERPAD_LONG").is_none() {
        return;
    }
    let times = under_load(600.0);
    let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f64::total_cmp);
    let at = |part: f64| gaps[((gaps.len() - 1) as f64 * part) as usize];
    println!("{} forces; gaps: median {}, p99.9 {}, longest {} s", times.len(), at(0.5), at(0.999), at(1.0));
    assert!(at(1.0) < 3e-3, "a force was missing for {} s", at(1.0));
}
