//! Quasi-rigid bodies: condensed compliance, unique forces, and the snap clip (Duriez 2004; Duriez 2006).

use fingerpad::assets::{Scene, builtin_scene, parse_scene};
use fingerpad::body::fem::{Continuum, StaticFault};
use fingerpad::body::{Body, Fixed, QuasiRigidBody, RigidBody, RigidShape};
use fingerpad::contact::Method;
use fingerpad::hand::Material;
use fingerpad::math::{Mat3, Pose, Vec3};
use fingerpad::mesh::{TetMesh, block};
use fingerpad::problem::{ContactProblem, Guide};
use fingerpad::sim::{Parameters, Status, World};
use fingerpad::solver::{GaussSeidel, SolverParameters};
use nalgebra::{DMatrix, DVector};

const POLYETHYLENE: Material =
    Material { young: 700e6, poisson: 0.35, density: 950.0, damping_mass: 0.0, damping_stiffness: 0.0 };

/// Stiffness of linear tetrahedra, assembled densely from strains and Hooke's law.
fn stiffness(mesh: &TetMesh, material: &Material) -> DMatrix<f64> {
    let mut k = DMatrix::zeros(3 * mesh.nodes.len(), 3 * mesh.nodes.len());
    let (lambda, mu) = (material.lambda(), material.mu());
    for t in 0..mesh.tets.len() {
        let [a, b, c, d] = mesh.corners(t);
        let inverse = Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse().expect("a volume");
        let rows: Vec<Vec3> = (0..3).map(|i| inverse.row(i).transpose()).collect();
        let gradients = [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]];
        let volume = mesh.volume(t);
        for (i, g) in gradients.iter().enumerate() {
            for (j, h) in gradients.iter().enumerate() {
                // σ = λ tr ε + 2 μ ε.
                let part = lambda * g * h.transpose() + mu * (g.dot(h) * Mat3::identity() + h * g.transpose());
                let (row, column) = (3 * mesh.tets[t][i] as usize, 3 * mesh.tets[t][j] as usize);
                let mut view = k.fixed_view_mut::<3, 3>(row, column);
                view += volume * part;
            }
        }
    }
    k
}

fn masses(mesh: &TetMesh, density: f64) -> Vec<f64> {
    let mut masses = vec![0.0; mesh.nodes.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|&n| masses[n as usize] += 0.25 * density * mesh.volume(t));
    }
    masses
}

/// A skew bar, so that nothing is aligned.
fn bar() -> TetMesh {
    let mut mesh = block(&Vec3::new(0.05, 0.02, 0.03), [4, 2, 2]);
    mesh.nodes.iter_mut().for_each(|p| *p += Vec3::new(0.2 * p.y, 0.1 * p.z, 0.3 * p.x));
    mesh
}

/// The system of all nodes: held nodes removed, or the rigid motions made stiff. Those with unit kinetic energy are not needed: on loads without a
/// resultant any stiffness gives the same.
struct AllNodes {
    whole: DMatrix<f64>,
    /// Rigid motions, their momenta, and the inverse of their inertia.
    rigid: DMatrix<f64>,
    momenta: DMatrix<f64>,
    own: DMatrix<f64>,
}

impl AllNodes {
    fn new(mesh: &TetMesh, k: &DMatrix<f64>, is_held: &[bool], held: bool) -> Self {
        let n = 3 * mesh.nodes.len();
        let weights = masses(mesh, 950.0);
        let mut whole = k.clone();
        let rigid = DMatrix::from_fn(n, 6, |i, c| {
            let p = mesh.nodes[i / 3]
                - mesh.nodes.iter().zip(&weights).map(|(p, m)| *m * p).sum::<Vec3>() / weights.iter().sum::<f64>();
            if c < 3 { f64::from(i % 3 == c) } else { Vec3::ith(c - 3, 1.0).cross(&p)[i % 3] }
        });
        let mass = DVector::from_fn(n, |i, _| weights[i / 3]);
        let momenta = DMatrix::from_fn(n, 6, |i, c| mass[i] * rigid[(i, c)]);
        let own = (rigid.transpose() * &momenta).try_inverse().expect("an inertia");
        if held {
            for i in (0..n).filter(|i| is_held[i / 3]) {
                whole.row_mut(i).fill(0.0);
                whole.column_mut(i).fill(0.0);
                whole[(i, i)] = 1.0;
            }
        } else {
            whole += 1e13 * &momenta * momenta.transpose();
        }
        Self { whole, rigid, momenta, own }
    }
}

#[test]
fn condensed_compliance_is_that_of_all_nodes() {
    let mesh = bar();
    let (_, nodes) = mesh.boundary();
    assert!(nodes.len() < mesh.nodes.len(), "there are nodes inside");
    let n = 3 * mesh.nodes.len();
    let k = stiffness(&mesh, &POLYETHYLENE);
    for held in [true, false] {
        let is_held: Vec<bool> = mesh.nodes.iter().map(|p| held && p.z - 0.3 * p.x < -1e-3 + 0.006).collect();
        let count = is_held.iter().filter(|h| **h).count();
        assert!(!held || (count > 3 && count < mesh.nodes.len() / 2), "{count}");
        let found = Continuum::new(&mesh, &is_held, POLYETHYLENE).static_compliance(&nodes).expect("a compliance");
        let AllNodes { whole, rigid, momenta, own } = AllNodes::new(&mesh, &k, &is_held, held);
        let inverse = whole.cholesky().expect("a positive matrix").inverse();
        let scale = found.row(0)[0];
        let mut worst = 0.0f64;
        for (a, &node) in nodes.iter().enumerate() {
            let Some(first) = found.first(a as u32) else {
                assert!(is_held[node as usize]);
                continue;
            };
            for c in 0..3 {
                let mut load = DVector::zeros(n);
                load[3 * node as usize + c] = 1.0;
                if !held {
                    load -= &momenta * (&own * (rigid.transpose() * &load));
                }
                let mut u = &inverse * load;
                if !held {
                    u -= &rigid * (&own * (momenta.transpose() * &u));
                }
                for (b, &other) in nodes.iter().enumerate() {
                    if let Some(at) = found.first(b as u32) {
                        for d in 0..3 {
                            let expected = u[3 * other as usize + d];
                            worst = worst.max((found.row(first + c)[at + d] - expected).abs() / scale);
                        }
                    }
                }
            }
        }
        assert!(worst < 1e-9, "held {held}: {worst:.1e}");
        let c = DMatrix::from_row_slice(found.dofs(), found.dofs(), found.values());
        assert!((&c - c.transpose()).amax() == 0.0, "symmetric");
        let values = c.symmetric_eigenvalues();
        assert!(
            values.min() > -1e-12 * values.max(),
            "positive semidefinite: {:.1e} {:.1e}",
            values.min(),
            values.max()
        );
    }
}

/// A rigid motion of all nodes is no deformation: the response to any load has no mean displacement or rotation, and inertial loads cause none.
#[test]
fn rigid_motions_are_removed_from_forces_and_displacements() {
    let mesh = bar();
    let all: Vec<u32> = (0..mesh.nodes.len() as u32).collect();
    let found = Continuum::new(&mesh, &vec![false; all.len()], POLYETHYLENE).static_compliance(&all).expect("one");
    let weights = masses(&mesh, 950.0);
    let total: f64 = weights.iter().sum();
    let centre = mesh.nodes.iter().zip(&weights).map(|(p, m)| *m * p).sum::<Vec3>() / total;
    let load: Vec<f64> = (0..found.dofs()).map(|i| ((7 * i) % 11) as f64 - 5.0).collect();
    let times = |f: &[f64]| -> Vec<Vec3> {
        let u: Vec<f64> = (0..found.dofs()).map(|i| found.row(i).iter().zip(f).map(|(c, f)| c * f).sum()).collect();
        u.chunks_exact(3).map(|u| Vec3::new(u[0], u[1], u[2])).collect()
    };
    let u = times(&load);
    let size = u.iter().map(|u| u.norm()).fold(0.0, f64::max);
    let mean = u.iter().zip(&weights).map(|(u, m)| *m * u).sum::<Vec3>() / total;
    let arm = mesh.nodes.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
    let turn = u.iter().zip(&weights).zip(&mesh.nodes).map(|((u, m), p)| *m * (p - centre).cross(u)).sum::<Vec3>();
    assert!(mean.norm() < 1e-9 * size && turn.norm() < 1e-9 * size * arm * total, "{mean:?} {turn:?}");
    for motion in 0..6 {
        let field = |p: &Vec3| {
            if motion < 3 { Vec3::ith(motion, 1.0) } else { Vec3::ith(motion - 3, 1.0).cross(&(p - centre)) / arm }
        };
        let inertial: Vec<f64> =
            mesh.nodes.iter().zip(&weights).flat_map(|(p, m)| (5.0 / total * *m * field(p)).data.0[0]).collect();
        let moved = times(&inertial).iter().map(|u| u.norm()).fold(0.0, f64::max);
        assert!(moved < 1e-8 * size, "motion {motion}: {moved:.1e} of {size:.1e}");
    }
}

#[test]
fn bodies_without_a_static_response_are_refused() {
    let mesh = bar();
    let all: Vec<u32> = (0..mesh.nodes.len() as u32).collect();
    let held = |is: bool| Continuum::new(&mesh, &vec![is; mesh.nodes.len()], POLYETHYLENE);
    assert_eq!(held(true).static_compliance(&all).expect_err("a fault"), StaticFault::AllHeld);
    let mut two = bar();
    let shift = two.nodes.len() as u32;
    two.nodes.extend(mesh.nodes.iter().map(|p| p + Vec3::new(1.0, 0.0, 0.0)));
    two.tets.extend(mesh.tets.iter().map(|t| t.map(|n| n + shift)));
    let loose = Continuum::new(&two, &vec![false; two.nodes.len()], POLYETHYLENE).static_compliance(&[0, 1]);
    assert_eq!(loose.expect_err("a fault"), StaticFault::Loose);
}

fn ground(world: &mut World) {
    world.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("a ground"));
}

#[test]
fn a_quasi_rigid_body_rests_on_the_ground_at_any_time_step() {
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut world = World::new(Parameters { dt, ..Parameters::default() });
        ground(&mut world);
        let mesh = block(&Vec3::new(0.06, 0.02, 0.04), [3, 1, 2]);
        let free = vec![false; mesh.nodes.len()];
        let body = QuasiRigidBody::new(&mesh, &free, POLYETHYLENE, Some(0.5), Pose::translation(0.0, 0.003, 0.0));
        let id = world.add(body.expect("a body"));
        for _ in 0..(0.4 / dt) as usize {
            assert_eq!(world.step().status, Status::Done);
        }
        let load: Vec3 = world.touches().map(|touch| touch.force()).sum();
        assert!((load.y.abs() / (0.5 * 9.81) - 1.0).abs() < 1e-3, "{load:?}");
        let body = &world.bodies[id];
        assert!(body.centre_velocity().norm() < 1e-6 && body.angular_velocity().norm() < 1e-4, "at rest at {dt} s");
        assert!(world.statistics().penetration < 1e-5, "{:.1e}", world.statistics().penetration);
        // The energy of displacements is half the work of the forces on them.
        let (energy, positions) = (body.part(1).energy(), body.nodes());
        let work: f64 = world
            .pressure_points()
            .map(|point| {
                let near = |i: &usize| (positions[*i] - point.place).norm();
                let vertex = (0..positions.len()).min_by(|a, b| near(a).total_cmp(&near(b))).expect("a vertex");
                0.5 * point.force.dot(&(body.pose().rotation * body.deformation().displacement(vertex as u32)))
            })
            .sum();
        assert!(energy > 0.0 && (energy / work - 1.0).abs() < 1e-3, "{energy:.3e} J, {work:.3e} J");
    }
}

/// The contact problem of a body that was thrown on the ground, with as many contacts as vertices below.
fn thrown(quasi_rigid: bool) -> ContactProblem {
    let mut world = World::new(Parameters { dt: 0.003, ..Parameters::default() });
    world.parameters.contact.method = Method::Point;
    ground(&mut world);
    let mesh = block(&Vec3::new(0.06, 0.02, 0.04), [4, 1, 3]);
    let pose = Pose::translation(-0.03, 1e-5, -0.02);
    let mut rigid = RigidBody::with_mass(&RigidShape::Mesh(mesh.boundary().0), 0.5, pose).expect("a body");
    rigid.set_samples(mesh.boundary().0);
    let velocity = Vec3::new(0.2, -0.1, 0.05);
    if quasi_rigid {
        let free = vec![false; mesh.nodes.len()];
        let mut body = QuasiRigidBody::new(&mesh, &free, POLYETHYLENE, Some(0.5), pose).expect("a body");
        body.set_velocity(velocity, Vec3::zeros());
        world.add(body);
    } else {
        rigid.set_velocity(velocity, Vec3::zeros());
        world.add(rigid);
    }
    assert_eq!(world.step().status, Status::Done);
    world.system().groups()[0].problem.clone()
}

/// Forces of a problem whose blocks are solved in some order, in the order of the problem.
fn solved(problem: &ContactProblem, order: &[usize]) -> Vec<f64> {
    let rows: Vec<usize> = order.iter().flat_map(|&b| (0..3).map(move |r| 3 * b + r)).collect();
    let permuted = ContactProblem {
        delassus: rows.iter().flat_map(|&r| rows.iter().map(move |&c| problem.w(r, c))).collect(),
        free: rows.iter().map(|&r| problem.free[r]).collect(),
        laws: order.iter().map(|&b| problem.laws[b].clone()).collect(),
    };
    let parameters = SolverParameters { tolerance: 1e-12, iterations: 100_000, ..SolverParameters::default() };
    let mut forces = vec![0.0; rows.len()];
    GaussSeidel { parameters }.solve(&permuted, &mut forces, || true);
    let mut out = vec![0.0; rows.len()];
    rows.iter().zip(forces).for_each(|(&r, f)| out[r] = f);
    out
}

/// Duriez 2006, fig. 13 (D4): a rigid body has many distributions of contact forces, and the order of the contacts decides which one is found. With the
/// compliance of its material there is one, and the body moves alike.
#[test]
fn the_order_of_contacts_does_not_matter_to_a_quasi_rigid_body() {
    let mut spread = Vec::new();
    for quasi_rigid in [false, true] {
        let problem = thrown(quasi_rigid);
        let count = problem.laws.len();
        assert_eq!(count, 20);
        let forward: Vec<usize> = (0..count).collect();
        let orders =
            [forward.clone(), forward.iter().rev().copied().collect(), forward.iter().map(|i| 7 * i % count).collect()];
        let forces = orders.map(|order| solved(&problem, &order));
        let sum = |f: &[f64]| -> Vec3 { f.chunks_exact(3).map(|f| Vec3::new(f[0], f[1], f[2])).sum() };
        let largest = forces[0].iter().fold(0.0f64, |m, f| m.max(f.abs()));
        let mut worst = 0.0f64;
        for other in &forces[1..] {
            let difference = forces[0].iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            worst = worst.max(difference / largest);
            // The resultant is the same, so the motion is.
            let [a, b] = [sum(&forces[0]), sum(other)];
            assert!((a - b).norm() < 1e-6 * a.norm(), "{a:?} {b:?}");
        }
        spread.push(worst);
    }
    println!("forces differ by {:.1e} (rigid), {:.1e} (quasi-rigid)", spread[0], spread[1]);
    assert!(spread[0] > 0.1, "the rigid body is indeterminate: {:.1e}", spread[0]);
    assert!(spread[1] < 1e-6, "the quasi-rigid one is not: {:.1e}", spread[1]);
}

/// The clip and the pipe of a shipped scene, without the device, with other numbers.
fn clip_scene(name: &str, dt: f64, replaced: &[(&str, &str)]) -> Scene {
    let text = builtin_scene(name).expect("a scene");
    let mut text = text.split("[haptic]").next().expect("bodies").replace("dt = 0.003", &format!("dt = {dt}"));
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    parse_scene(std::path::Path::new("clip.toml"), &text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Height of the clip above the pipe, and the force that pushes it down, over time.
struct Snap {
    heights: Vec<f64>,
    forces: Vec<f64>,
}

/// Stiffness of the coupling: so high that the clip follows, also where the force falls with the way.
const STIFFNESS: f64 = 1e4;

/// Moves the clip by a distance at an even speed, through a spring and a damper.
fn moved(scene: &mut Scene, way: f64, seconds: f64) -> Snap {
    let id = scene.world.bodies.find("clip").expect("the clip");
    let start = scene.world.bodies.get(id).expect("the clip").pose();
    let dt = scene.world.parameters.dt;
    let mut snap = Snap { heights: Vec::new(), forces: Vec::new() };
    for i in 0..((seconds + 0.3) / dt) as usize {
        let at = |t: f64| start.translation.vector + Vec3::new(0.0, way * (t / seconds).min(1.0), 0.0);
        let (now, next) = (at(i as f64 * dt), at((i + 1) as f64 * dt));
        let guide = Guide {
            pose: Pose::from_parts(now.into(), start.rotation),
            velocity: [(next - now) / dt, Vec3::zeros()],
            stiffness: [STIFFNESS, 5.0],
            damping: [2.0, 0.01],
            limits: [100.0, 2.0],
        };
        scene.world.bodies.get_mut(id).expect("the clip").set_guide(0, Some(&guide));
        assert_eq!(scene.world.step().status, Status::Done);
        let place = scene.world.bodies.get(id).expect("the clip").pose().translation.vector;
        snap.heights.push(place.y - 0.1);
        snap.forces.push(STIFFNESS * (place.y - next.y) * -way.signum());
    }
    snap
}

impl Snap {
    /// Largest and smallest force, and the heights there.
    fn peak(&self) -> [f64; 4] {
        let of = |sign: f64| {
            let better = |a: &usize, b: &usize| (sign * self.forces[*a]).total_cmp(&(sign * self.forces[*b]));
            let i = (0..self.forces.len()).max_by(better).expect("a step");
            [self.forces[i], self.heights[i]]
        };
        let ([most, at], [least, there]) = (of(1.0), of(-1.0));
        [most, at, least, there]
    }
}

/// Duriez 2006, §7.2 (D5): pushing, unstable equilibrium, clipping, with 15 g at 3 ms, and the same at other time steps.
#[test]
fn a_clip_snaps_on_a_rigid_pipe_in_three_phases_at_any_time_step() {
    let mut peaks = Vec::new();
    for dt in [0.01, 0.005, 0.003, 0.002, 0.001] {
        let mut scene = clip_scene("snap_in", dt, &[]);
        let snap = moved(&mut scene, -0.025, 1.0);
        let [most, at, least, there] = snap.peak();
        let (rest, last) = (*snap.heights.last().expect("a step"), *snap.forces.last().expect("a step"));
        println!(
            "dt {dt}: peak {most:.2} N at {:.2} mm, pull {least:.2} N, rest at {:.3} mm, {last:.3} N",
            1e3 * at,
            1e3 * rest
        );
        // The tips of the clip meet the pipe at a height of 22.6 mm, and are at its widest place at 11.5 mm.
        assert!(at > 0.0115 && at < 0.0226, "the greatest force is on the way to the widest place");
        assert!(there < 0.0115 && least < -0.1 * most, "behind it the clip goes on by itself");
        let pushing = snap.heights.iter().zip(&snap.forces).filter(|(h, _)| (at..0.0222).contains(*h));
        let mut before = f64::NEG_INFINITY;
        for (_, &force) in pushing {
            assert!(force > before - 0.02 * most, "the force of the first phase grows: {force:.2} after {before:.2}");
            before = force;
        }
        assert!(
            rest.abs() < 5e-4 && last.abs() < 0.1 * most,
            "it is in place, held by little friction: {rest:.1e} m, {last:.3} N"
        );
        peaks.push(most);
    }
    let last = peaks[peaks.len() - 1];
    assert!(peaks.iter().all(|peak| (peak / last - 1.0).abs() < 0.03), "{peaks:?}");
}

/// The second phase, without friction, which would hold the clip there: let go on this side of the widest place, the clip is thrown back; on the other, it snaps in.
#[test]
fn the_middle_of_a_snap_is_an_unstable_equilibrium() {
    for (way, snaps) in [(-0.0105, false), (-0.0155, true)] {
        let mut scene = clip_scene("snap_in", 0.003, &[("friction = 0.2", "friction = 0.0")]);
        let snap = moved(&mut scene, way, 0.6);
        let height = *snap.heights.last().expect("a step");
        // It is held on either side of the widest place, apart from what the coupling yields.
        assert!((height - 0.025 - way).abs() < 2.5e-3, "{height:.4}");
        let id = scene.world.bodies.find("clip").expect("the clip");
        scene.world.bodies.get_mut(id).expect("the clip").set_guide(0, None);
        for _ in 0..10 {
            assert_eq!(scene.world.step().status, Status::Done);
        }
        let now = scene.world.bodies.get(id).expect("the clip").pose().translation.vector.y - 0.1;
        println!("let go at {:.2} mm, then at {:.2} mm", 1e3 * height, 1e3 * now);
        assert!(if snaps { now < height - 0.002 } else { now > height + 0.002 }, "{height:.4} to {now:.4}");
    }
}

#[test]
fn the_force_of_a_snap_grows_with_friction_and_stiffness() {
    let peak = |name: &str, way: f64, mu: f64, young: f64| {
        let (mu, young) = (format!("friction = {mu}"), format!("young = {young:e}"));
        let mut scene = clip_scene(name, 0.005, &[("friction = 0.2", &mu), ("young = 700e6", &young)]);
        moved(&mut scene, way, 0.6).peak()[0]
    };
    for (name, way) in [("snap_in", -0.025), ("snap_out", 0.035)] {
        let peaks = [0.0, 0.2, 0.4].map(|mu| peak(name, way, mu, 700e6));
        println!("{name}: {peaks:.2?} N for three coefficients of friction");
        assert!(peaks[0] > 1.0 && peaks[1] > 1.1 * peaks[0] && peaks[2] > 1.1 * peaks[1], "{peaks:?}");
        // Geometry and friction give the ratio of the forces; stiffness scales them, apart from the weight.
        let [soft, stiff] = [350e6, 1400e6].map(|young| peak(name, way, 0.2, young));
        println!("{name}: {soft:.2} N, {:.2} N, {stiff:.2} N for three moduli", peaks[1]);
        let weight = 0.015 * 9.81 * way.signum();
        for (force, ratio) in [(soft, 0.5), (stiff, 2.0)] {
            let expected = ratio * (peaks[1] - weight) + weight;
            assert!((force / expected - 1.0).abs() < 0.03, "{force:.3} N, expected {expected:.3} N");
        }
    }
}
