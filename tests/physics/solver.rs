//! The contact laws and their solvers against known answers.

use std::f64::consts::PI;

use fingerpad::problem::{ContactPatch, ContactProblem, FrictionModel, Law, ProblemFault};
use fingerpad::solver::{
    GaussSeidel, SolverParameters, SolverStatus, frictionless_lcp, lemke, principal_pivoting, pyramid_lcp,
};
use nalgebra::{DMatrix, Matrix3, Vector3};
use proptest::prelude::*;

/// Points distributed evenly over a disc, weighted by a pressure.
fn disc(points: usize, radius: f64, pressure: impl Fn(f64) -> f64) -> ContactPatch {
    let golden = PI * (3.0 - 5f64.sqrt());
    let place = |i: usize| {
        let r = radius * ((i as f64 + 0.5) / points as f64).sqrt();
        let a = golden * i as f64;
        (pressure(r / radius), [r * a.cos(), r * a.sin()])
    };
    ContactPatch::new((0..points).map(place)).0
}

#[test]
fn torsion_of_disc_hertz_and_ring() {
    let radius = 0.01;
    let uniform = disc(400, radius, |_| 1.0).torsion() / radius;
    let hertz = disc(400, radius, |r| (1.0 - r * r).sqrt()).torsion() / radius;
    let ring = ContactPatch::new((0..400).map(|i| {
        let a = 2.0 * PI * f64::from(i) / 400.0;
        (1.0, [radius * a.cos(), radius * a.sin()])
    }));
    let ring = ring.0.torsion() / radius;
    println!(
        "torsion at 400 points: disc {uniform:.5} (2/3), Hertz {hertz:.5} ({:.5}), ring {ring:.5} (1)",
        3.0 * PI / 16.0
    );
    assert!((uniform / (2.0 / 3.0) - 1.0).abs() < 0.01);
    assert!((hertz / (3.0 * PI / 16.0) - 1.0).abs() < 0.01);
    assert!((ring - 1.0).abs() < 0.01);
    // Pure sliding: the full μ N for any pressure distribution.
    assert!((disc(50, radius, |r| 1.0 - 0.5 * r).support(&Vector3::new(0.6, 0.8, 0.0)) - 1.0).abs() < 1e-12);
}

/// Complete elliptic integrals K(m) and E(m) by the arithmetic–geometric mean.
fn elliptic(m: f64) -> (f64, f64) {
    let (mut a, mut b, mut c, mut sum, mut power) = (1.0, (1.0 - m).sqrt(), m.sqrt(), 0.5 * m, 1.0);
    while c > 1e-16 {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        sum += power * c * c;
        power *= 2.0;
    }
    let k = PI / (2.0 * a);
    (k, k * (1.0 - sum))
}

/// Force and torque of a uniform disc that slides with ε = v / (R ω), in units of μ N and μ N R.
fn disc_limit(e: f64) -> (f64, f64) {
    if e <= 1.0 {
        let (k, ee) = elliptic(e * e);
        let force = 4.0 / (3.0 * PI * e) * ((e * e + 1.0) * ee + (e * e - 1.0) * k);
        (force, 4.0 / (9.0 * PI) * ((4.0 - 2.0 * e * e) * ee + (e * e - 1.0) * k))
    } else {
        let (k, ee) = elliptic(1.0 / (e * e));
        let force = 4.0 / (3.0 * PI) * ((e * e + 1.0) * ee - (e * e - 1.0) * k);
        let torque = 4.0 * e / (9.0 * PI) * ((4.0 - 2.0 * e * e) * ee + (2.0 * e * e - 5.0 + 3.0 / (e * e)) * k);
        (force, torque)
    }
}

#[test]
fn limit_curve_of_the_disc() {
    let patch = disc(400, 0.01, |_| 1.0);
    let mut worst = 0.0f64;
    for i in 1..60 {
        // Never exactly one, where K is infinite.
        let e = 0.05 * f64::from(i) + 0.001;
        let f = patch.opposing(&Vector3::new(e * 0.01, 0.0, 1.0), 0.0);
        let (force, torque) = disc_limit(e);
        worst = worst.max((-f.x - force).abs()).max((-f.z / 0.01 - torque).abs());
    }
    println!("limit curve of the disc: within {:.2} % of the elliptic integrals", 100.0 * worst);
    assert!(worst < 0.02);
}

/// One aggregate on its own body.
fn aggregate(patch: ContactPatch, friction: FrictionModel, mu: f64, w: [f64; 4], free: [f64; 4]) -> ContactProblem {
    let mut delassus = vec![0.0; 16];
    (0..4).for_each(|i| delassus[5 * i] = w[i]);
    ContactProblem { delassus, free: free.to_vec(), laws: vec![Law::Aggregate { mu, patch, friction }] }
}

fn solve(problem: &ContactProblem) -> Vec<f64> {
    let mut forces = vec![0.0; problem.rows()];
    let solution = GaussSeidel::default().solve(problem, &mut forces, || true);
    assert_eq!(solution.status, SolverStatus::Converged, "{solution:?}");
    forces
}

#[test]
fn a_spinning_disc_stops_in_the_time_of_the_closed_form() {
    let (radius, mass, mu, g, h, spin) = (0.05, 0.2, 0.3, 9.81, 1e-3, 20.0);
    let inertia = 0.5 * mass * radius * radius;
    let patch = disc(400, radius, |_| 1.0);
    let w = [h / mass, h / mass, h / mass, h / inertia];
    let run = |v0: f64, w0: f64| {
        let (mut v, mut omega, mut t) = (Vector3::new(v0, 0.0, 0.0), w0, 0.0);
        let (mut slid, mut spun) = (f64::NAN, f64::NAN);
        while t < 3.0 && (slid.is_nan() || spun.is_nan()) {
            let free = [-g * h, v.x, v.y, omega];
            let f = solve(&aggregate(patch.clone(), FrictionModel::Exact, mu, w, free));
            assert!((f[0] - mass * g).abs() < 1e-9);
            v += Vector3::new(f[1], f[2], 0.0) * h / mass;
            omega += f[3] * h / inertia;
            t += h;
            if slid.is_nan() && v.norm() < 1e-6 {
                slid = t;
            }
            if spun.is_nan() && omega.abs() < 1e-4 {
                spun = t;
            }
        }
        (slid, spun)
    };
    let (_, stopped) = run(0.0, spin);
    let exact = 3.0 * radius * spin / (4.0 * mu * g);
    println!("spinning disc stops after {stopped:.4} s, closed form {exact:.4} s");
    assert!((stopped / exact - 1.0).abs() < 0.01);
    let (slid, spun) = run(0.4, spin);
    println!("sliding and spinning disc: stops sliding at {slid:.4} s, spinning at {spun:.4} s");
    assert!((slid - spun).abs() <= 2.5 * h, "both at once");
    assert!(slid > exact, "spin takes friction away from sliding and the other way round");
}

#[test]
fn every_friction_model_stays_in_its_set() {
    let patch = disc(60, 0.01, |r| 1.2 - r);
    let free = [-0.1, 0.05, -0.02, 6.0];
    let w = [0.5, 0.5, 0.5, 1.2e4];
    for friction in FrictionModel::ALL {
        let f = solve(&aggregate(patch.clone(), friction, 0.4, w, free));
        assert!((f[0] - 0.2).abs() < 1e-12);
        let bound = 0.4 * f[0];
        let (slip, spin) = (f64::hypot(f[1], f[2]), f[3].abs());
        println!(
            "{friction:?}: slip {:.3} of μN, torque {:.3} of the most",
            slip / bound,
            spin / (bound * patch.torsion())
        );
        assert!(slip <= bound * (1.0 + 1e-9) && spin <= bound * patch.torsion() * (1.0 + 1e-9));
        match friction {
            FrictionModel::Coulomb => assert_eq!(f[3], 0.0),
            FrictionModel::Ellipsoid => {
                let e = (slip / bound).powi(2) + (spin / (bound * patch.torsion())).powi(2);
                assert!((e - 1.0).abs() < 1e-9);
            }
            FrictionModel::Exact => assert!(patch.excess(&(Vector3::new(f[1], f[2], f[3]) / bound)) < 1e-6),
            FrictionModel::Paper => {}
        }
    }
}

/// A random positive definite Delassus operator with point contacts, as for a soft body: coupling decreases with
/// distance.
fn soft_contacts(contacts: usize, mu: f64, seed: u64) -> ContactProblem {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let n = 3 * contacts;
    let places: Vec<[f64; 2]> = (0..contacts).map(|_| [random(), random()]).collect();
    let noise = DMatrix::from_fn(n, n, |_, _| 0.1 * random());
    let mut w = &noise * noise.transpose() / n as f64;
    for a in 0..contacts {
        for b in 0..contacts {
            let d = f64::hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]);
            for i in 0..3 {
                w[(3 * a + i, 3 * b + i)] += (-4.0 * d * d).exp() * if i == 0 { 1.0 } else { 0.7 };
            }
        }
    }
    for i in 0..n {
        w[(i, i)] += 0.05;
    }
    // Pushed down everywhere, dragged sideways in one random direction.
    let drag = [random(), random()];
    let free =
        (0..n).map(|i| if i % 3 == 0 { -1.0 + 0.3 * random() } else { drag[i % 3 - 1] + 0.1 * random() }).collect();
    let delassus = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| w[(i, j)]).collect();
    ContactProblem { delassus, free, laws: vec![Law::Coulomb { mu }; contacts] }
}

#[test]
fn gauss_seidel_lemke_and_principal_pivoting_agree_without_friction() {
    for seed in 0..20 {
        let mut problem = soft_contacts(12, 0.0, seed);
        // Some contacts open.
        (0..12).step_by(3).for_each(|c| problem.free[3 * c] = 0.4);
        let forces = solve(&problem);
        let (m, q, rows) = frictionless_lcp(&problem);
        let (by_lemke, by_pivots) = (lemke(&m, &q).expect("solved"), principal_pivoting(&m, &q).expect("solved"));
        for (i, &row) in rows.iter().enumerate() {
            assert!((forces[row] - by_lemke[i]).abs() < 1e-8, "seed {seed}: {} {}", forces[row], by_lemke[i]);
            assert!((forces[row] - by_pivots[i]).abs() < 1e-8);
        }
        assert!(by_lemke.iter().any(|&z| z == 0.0) && by_lemke.iter().any(|&z| z > 0.0), "some open, some closed");
    }
}

#[test]
fn pyramids_approach_the_cone() {
    let mut gaps = Vec::new();
    for sides in [4usize, 8, 16, 32] {
        let mut sum = 0.0;
        for seed in 0..20 {
            let problem = soft_contacts(6, 0.1, seed);
            let cone = solve(&problem);
            let pyramid = pyramid_lcp(&problem, sides).expect("point contacts").expect("solved").forces;
            let norm = |f: &[f64]| f.iter().map(|x| x * x).sum::<f64>().sqrt();
            let difference: Vec<f64> = cone.iter().zip(&pyramid).map(|(a, b)| a - b).collect();
            // Friction is a tenth of the total; the gap is measured on the part that the pyramid changes.
            let tangential: Vec<f64> = cone.iter().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, f)| *f).collect();
            sum += norm(&difference) / norm(&tangential);
        }
        gaps.push(sum / 20.0);
        println!("{sides:2} sides: gap {:.2} % of the friction", 100.0 * gaps[gaps.len() - 1]);
    }
    assert!(gaps.windows(2).all(|g| g[1] < 0.75 * g[0]), "{gaps:?}");
    // A pyramid's friction points along a side's direction: off by up to π/k, π/(k√3) in the mean square.
    for (gap, sides) in gaps.iter().zip([4.0, 8.0, 16.0, 32.0]) {
        assert!(*gap < 1.1 * PI / (sides * 3f64.sqrt()));
    }
}

#[test]
fn a_warm_start_saves_sweeps_and_the_deadline_holds() {
    let problem = soft_contacts(10, 0.5, 3);
    let solver = GaussSeidel::default();
    let mut forces = vec![0.0; problem.rows()];
    let cold = solver.solve(&problem, &mut forces, || true);
    let warm = solver.solve(&problem, &mut forces, || true);
    println!("sweeps: cold {}, warm {}", cold.iterations, warm.iterations);
    assert!(cold.iterations > 3 && warm.iterations <= 2);
    let mut left = 2;
    let late = solver.solve(&problem, &mut vec![0.0; problem.rows()], || {
        left -= 1;
        left >= 0
    });
    assert_eq!((late.status, late.iterations), (SolverStatus::Deadline, 2));
    let short = GaussSeidel { parameters: SolverParameters { iterations: 1, ..Default::default() } };
    let stopped = short.solve(&problem, &mut vec![0.0; problem.rows()], || true);
    assert_eq!(stopped.status, SolverStatus::IterationLimit);
    assert!(stopped.residual > 1e-9);
}

#[test]
fn invalid_problems_yield_a_status() {
    let solver = GaussSeidel::default();
    let good = soft_contacts(3, 0.5, 1);
    let spoil = |change: &dyn Fn(&mut ContactProblem)| {
        let mut problem = good.clone();
        change(&mut problem);
        let mut forces = vec![f64::NAN; problem.rows()];
        match solver.solve(&problem, &mut forces, || true).status {
            SolverStatus::Bad(fault) => {
                assert!(forces.iter().all(|&f| f == 0.0));
                fault
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(spoil(&|p| p.free[4] = f64::NAN), ProblemFault::NotFinite { .. }));
    assert!(matches!(spoil(&|p| p.delassus[7] = f64::INFINITY), ProblemFault::NotFinite { .. }));
    assert!(matches!(spoil(&|p| p.delassus[0] = 0.0), ProblemFault::Diagonal { row: 0, .. }));
    assert!(matches!(spoil(&|p| p.laws[1] = Law::Coulomb { mu: -1.0 }), ProblemFault::Friction { row: 3, .. }));
    assert!(matches!(spoil(&|p| p.laws.truncate(2)), ProblemFault::Size { .. }));
    let empty = ContactProblem::default();
    assert_eq!(solver.solve(&empty, &mut [], || true).status, SolverStatus::Converged);
}

#[test]
fn a_problem_survives_its_file() {
    let mut problem = soft_contacts(3, 0.35, 9);
    problem.laws[1] = Law::Equality(3);
    let again = ContactProblem::from_text(&problem.to_text()).expect("reads back");
    assert_eq!(again, problem, "to the bit");
    let patch = disc(7, 0.01, |_| 1.0);
    let aggregate = aggregate(patch, FrictionModel::Ellipsoid, 0.4, [0.5, 0.4, 0.3, 100.0], [-1.0, 0.1, 0.2, 3.0]);
    assert_eq!(ContactProblem::from_text(&aggregate.to_text()).expect("reads back"), aggregate);
    let fault = ContactProblem::from_text("fingerpad contact problem 1\nlaws 1\nsticky\n").expect_err("no such law");
    assert!(matches!(fault, ProblemFault::Text { line: 3, .. }), "{fault}");
}

fn motion() -> impl Strategy<Value = Vector3<f64>> {
    [-0.5..0.5, -0.5..0.5, -50.0..50.0f64].prop_map(Vector3::from)
}

proptest! {
    /// Friction of a patch: inside the set, against the motion with all the set offers, and consistent with the dynamics.
    #[test]
    fn patch_friction_dissipates_the_most(free in motion(), bound in 0.01..2.0f64, off in [-0.2..0.2, -5.0..5.0, -5.0..5.0f64], seed in 0u64..1000) {
        let patch = disc(30, 0.01, |r| 1.3 - r);
        let mut w = Matrix3::from_diagonal(&Vector3::new(0.4, 0.5, 2.0e3));
        w[(0, 1)] = off[0]; w[(1, 0)] = off[0];
        w[(0, 2)] = off[1]; w[(2, 0)] = off[1];
        w[(1, 2)] = off[2]; w[(2, 1)] = off[2];
        prop_assume!(w.cholesky().is_some());
        let (u, f) = patch.solve(&w, &free, bound, 1e-10, &Vector3::zeros());
        prop_assert!((u - free - w * f).component_div(&Vector3::new(1.0, 1.0, 100.0)).norm() < 1e-6, "{u} {}", free + w * f);
        prop_assert!(patch.excess(&(f / bound)) < 1e-6);
        // Against a thousand admissible forces.
        let mut state = seed | 1;
        for _ in 0..1000 {
            let mut random = || {
                state ^= state << 13; state ^= state >> 7; state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let mut g = Vector3::zeros();
            for p in &patch.points {
                let (a, r) = (2.0 * PI * random(), random().sqrt());
                let c = bound * p.share * r;
                let (x, y) = (c * a.cos(), c * a.sin());
                g += Vector3::new(x, y, p.place[0] * y - p.place[1] * x);
            }
            prop_assert!(f.dot(&u) <= g.dot(&u) + 1e-9, "{} {}", f.dot(&u), g.dot(&u));
        }
    }

    /// The check for lying in the set sees a force that is a hundred-thousandth too large, and passes one that is as much too small.
    #[test]
    fn excess_distinguishes_inside_from_outside(u in motion()) {
        prop_assume!(u.xy().norm() > 1e-3);
        let patch = disc(30, 0.01, |r| 1.3 - r);
        let edge = patch.opposing(&u, 0.0);
        prop_assert_eq!(patch.excess(&(edge * (1.0 - 1e-5))), 0.0);
        prop_assert!(patch.excess(&(edge * (1.0 + 1e-5))) > 1e-6);
    }

    /// Point contacts: Signorini and Coulomb hold at the solution.
    #[test]
    fn laws_hold_at_the_solution(seed in 0u64..10_000, mu in 0.0..1.0f64, contacts in 1usize..8) {
        let problem = soft_contacts(contacts, mu, seed);
        let mut forces = vec![0.0; problem.rows()];
        let solution = GaussSeidel::default().solve(&problem, &mut forces, || true);
        prop_assert_eq!(&solution.status, &SolverStatus::Converged);
        for (first, _) in problem.blocks() {
            let f = &forces[first..first + 3];
            let v: Vec<f64> = (0..3).map(|i| problem.velocity(first + i, &forces)).collect();
            prop_assert!(f[0] >= 0.0 && v[0] > -1e-7 && (f[0] * v[0]).abs() < 1e-7);
            let (slip, grip) = (f64::hypot(v[1], v[2]), f64::hypot(f[1], f[2]));
            prop_assert!(grip <= mu * f[0] * (1.0 + 1e-9) + 1e-12);
            // Opposes the slip with maximum friction.
            prop_assert!((f[1] * v[1] + f[2] * v[2] + mu * f[0] * slip).abs() < 1e-6, "{f:?} {v:?}");
        }
    }

    /// Invalid text is rejected without a panic.
    #[test]
    fn any_text_is_read_or_rejected(text in "\\PC{0,200}", cut in 0usize..400) {
        let _ = ContactProblem::from_text(&text);
        let good = soft_contacts(2, 0.5, 1).to_text();
        let cut = good.floor_char_boundary(cut.min(good.len()));
        let _ = ContactProblem::from_text(&good[..cut]);
    }
}

/// A box of 1 kg on points in a circle, pushed sideways by a fraction of its weight: `W = h H M⁻¹ Hᵀ` has rank six
/// only.
fn rigid_table(legs: usize, push: f64, mu: f64) -> ContactProblem {
    let (h, mass, half) = (0.01, 1.0, 0.1);
    let inertia = 2.0 / 3.0 * mass * half * half;
    let mut rows: Vec<[f64; 6]> = Vec::new();
    for leg in 0..legs {
        let a = 2.0 * PI * leg as f64 / legs as f64;
        let r = Vector3::new(half * a.cos(), -half, half * a.sin());
        for direction in [Vector3::y(), Vector3::z(), Vector3::x()] {
            let turn = r.cross(&direction);
            rows.push([direction.x, direction.y, direction.z, turn.x, turn.y, turn.z]);
        }
    }
    let weights = [mass, mass, mass, inertia, inertia, inertia];
    let w = |a: &[f64; 6], b: &[f64; 6]| h * (0..6).map(|i| a[i] * b[i] / weights[i]).sum::<f64>();
    let free = [9.81 * h * push, -9.81 * h, 0.0, 0.0, 0.0, 0.0];
    ContactProblem {
        delassus: rows.iter().flat_map(|a| rows.iter().map(move |b| w(a, b))).collect(),
        free: rows.iter().map(|row| (0..6).map(|i| row[i] * free[i]).sum()).collect(),
        laws: vec![Law::Coulomb { mu }; legs],
    }
}

/// Redundant legs make the operator singular; sweeps alone are slow, and Newton steps would be unbounded without
/// regularisation.
#[test]
fn a_rigid_table_on_many_legs_stands_or_slides() {
    for legs in [3, 8, 24] {
        for (push, sliding) in [(0.3, 0.0), (0.7, 0.2)] {
            let problem = rigid_table(legs, push, 0.5);
            let mut forces = vec![0.0; problem.rows()];
            let solution = GaussSeidel::default().solve(&problem, &mut forces, || true);
            println!("{legs} legs, push {push}: {:?} after {} rounds", solution.status, solution.iterations);
            assert_eq!(solution.status, SolverStatus::Converged);
            assert!(solution.iterations < 60, "{} rounds", solution.iterations);
            let weight: f64 = forces.iter().step_by(3).sum();
            assert!((weight - 9.81).abs() < 1e-6, "{weight} N");
            for leg in 0..legs {
                let [n, t, s] = [0, 1, 2].map(|i| forces[3 * leg + i]);
                assert!(n >= 0.0 && t.hypot(s) <= 0.5 * n + 1e-9);
                let speed = problem.velocity(3 * leg + 2, &forces);
                assert!((speed - 9.81 * 0.01 * sliding).abs() < 1e-7, "{speed} m/s");
            }
        }
    }
}
