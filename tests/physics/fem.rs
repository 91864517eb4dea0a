//! The soft body model against answers that are known.

use std::sync::Arc;

use fingerpad::body::fem::Continuum;
use fingerpad::body::{MaterialPoint, Part, Refactor, RefactorPolicy, SoftBody, Step};
use fingerpad::hand::Material;
use fingerpad::math::{Mat3, Pose, Quat, Vec3};
use fingerpad::mesh::{NodeMap, TetMesh, block};

const RUBBER: Material =
    Material { young: 1e6, poisson: 0.3, density: 1000.0, damping_mass: 0.0, damping_stiffness: 0.0 };

fn step(h: f64, when: Refactor) -> Step {
    Step { h, time: 0.0, gravity: Vec3::zeros(), refactor: RefactorPolicy { when, ..Default::default() } }
}

/// A block whose inner nodes are moved about, deterministically.
fn distorted_block() -> TetMesh {
    let mut mesh = block(&Vec3::new(0.3, 0.2, 0.2), [3, 2, 2]);
    for (i, p) in mesh.nodes.iter_mut().enumerate() {
        let inside = p.x > 0.01 && p.x < 0.29 && p.y > 0.01 && p.y < 0.19 && p.z > 0.01 && p.z < 0.19;
        if inside {
            let t = i as f64;
            *p += 0.02 * Vec3::new((3.1 * t).sin(), (5.3 * t).cos(), (7.7 * t).sin());
        }
    }
    mesh.check().expect("still sound");
    mesh
}

/// The stress of a small linear displacement field, in closed form.
fn linear_stress(material: &Material, gradient: &Mat3) -> Mat3 {
    let strain = 0.5 * (gradient + gradient.transpose());
    2.0 * material.mu() * strain + material.lambda() * strain.trace() * Mat3::identity()
}

#[test]
fn patch_test() {
    // Boundary nodes follow a linear field of pure strain; inner ones must find it, and every element the same stress.
    let mesh = distorted_block();
    let gradient = 1e-3 * Mat3::new(1.0, 0.4, -0.2, 0.4, -0.7, 0.3, -0.2, 0.3, 0.5);
    let on_boundary = |p: &Vec3| {
        let at = |x: f64, size: f64| x.abs() < 1e-12 || (x - size).abs() < 1e-12;
        at(p.x, 0.3) || at(p.y, 0.2) || at(p.z, 0.2)
    };
    let held: Vec<bool> = mesh.nodes.iter().map(on_boundary).collect();
    assert!(held.iter().any(|&h| !h), "there are inner nodes");
    let body = Continuum::new(&mesh, &held, RUBBER);
    let mut state = body.at_rest();
    for (node, p) in mesh.nodes.iter().enumerate() {
        if held[node] {
            state.displacement[node] = gradient * p;
        }
    }
    let left = body.settle(&mut state, &vec![0.0; body.dofs()], 0.0, 8);
    let expected = linear_stress(&RUBBER, &gradient);
    let worst = body.stresses(&state).iter().map(|s| (s - expected).norm()).fold(0.0, f64::max) / expected.norm();
    println!("patch test: worst stress error {worst:.1e} of {:.1} Pa, residual {left:.1e} N", expected.norm());
    // A symmetric gradient turns nothing, so corotational and linear strain agree.
    assert!(worst < 1e-9, "{worst:e}");
    for (node, p) in mesh.nodes.iter().enumerate() {
        assert!((state.displacement[node] - gradient * p).norm() < 1e-9 * 0.3e-3);
    }
}

#[test]
fn uniaxial_bar_stretches_by_p_over_e() {
    let (length, side, pressure) = (0.3, 0.1, 1000.0);
    let mesh = block(&Vec3::new(length, side, side), [6, 2, 2]);
    // One corner is held; both ends are pulled, so it carries nothing.
    let held: Vec<bool> = mesh.nodes.iter().map(|p| p.norm() < 1e-12).collect();
    let body = Continuum::new(&mesh, &held, RUBBER);
    let mut state = body.at_rest();
    let mut load = vec![0.0; body.dofs()];
    let (surface, node_of) = mesh.boundary();
    for (t, corners) in surface.triangles.iter().enumerate() {
        let area = 0.5 * surface.area_vector(t);
        let end = corners.iter().all(|&v| surface.vertices[v as usize].x > length - 1e-9)
            || corners.iter().all(|&v| surface.vertices[v as usize].x < 1e-9);
        if end {
            for &v in corners {
                if let Some(i) = body.unknown(node_of[v as usize]) {
                    load[3 * i] += pressure * area.x / 3.0;
                }
            }
        }
    }
    let left = body.settle(&mut state, &load, 300.0, 400);
    assert!(left < 1e-10, "{left:e} N out of balance");
    let strain = pressure / RUBBER.young;
    let node = mesh.nodes.iter().position(|p| (p - Vec3::new(length, side, side)).norm() < 1e-12).expect("a corner");
    let u = state.displacement[node];
    println!("bar: strain {:.9e}, p/E {strain:.9e}; across {:.6e}", u.x / length, u.y / side);
    assert!((u.x / length / strain - 1.0).abs() < 1e-9);
    assert!((u.y / side / (-RUBBER.poisson * strain) - 1.0).abs() < 1e-9);
    assert!((u.z / side / (-RUBBER.poisson * strain) - 1.0).abs() < 1e-9);
}

#[test]
fn cantilever_converges_to_euler_bernoulli() {
    // Slender and hardly bent: δ = F L³ / (3 E I). Shear adds 0.6 % (Timoshenko), which the bound leaves room for.
    let (length, side, force) = (1.0, 0.1, 0.01);
    let material = Material { poisson: 0.0, ..RUBBER };
    let inertia = side * side * side * side / 12.0;
    let bending = force * length * length * length / (3.0 * material.young * inertia);
    let mut errors = Vec::new();
    for cells in [2usize, 4, 8] {
        let mesh = block(&Vec3::new(length, side, side), [10 * cells / 2, cells, cells]);
        let held: Vec<bool> = mesh.nodes.iter().map(|p| p.x < 1e-9).collect();
        let body = Continuum::new(&mesh, &held, material);
        let mut state = body.at_rest();
        let end: Vec<usize> = (0..mesh.nodes.len()).filter(|&n| mesh.nodes[n].x > length - 1e-9).collect();
        let mut load = vec![0.0; body.dofs()];
        for &node in &end {
            let i = body.unknown(node as u32).expect("free");
            load[3 * i + 1] = -force / end.len() as f64;
        }
        body.settle(&mut state, &load, 0.0, 4);
        let tip: f64 = end.iter().map(|&n| -state.displacement[n].y).sum::<f64>() / end.len() as f64;
        errors.push(1.0 - tip / bending);
        println!(
            "cantilever: {:5} tetrahedra, tip {tip:.4e} m of {bending:.4e}, error {:5.1} %",
            mesh.tets.len(),
            100.0 * errors[errors.len() - 1]
        );
    }
    // Linear tetrahedra are too stiff in bending and converge from below, towards second order: the error is more than halved
    // each time, and faster and faster. Extrapolated as second order, the last two meet the beam.
    let ratios = [errors[1] / errors[0], errors[2] / errors[1]];
    let extrapolated = errors[2] - (errors[1] - errors[2]) / 3.0;
    println!("cantilever: ratios {ratios:.2?}, extrapolated error {:.1} %", 100.0 * extrapolated);
    assert!(errors.iter().all(|e| *e > 0.0) && ratios[0] < 0.52 && ratios[1] < 0.35);
    assert!(extrapolated.abs() < 0.04);
}

#[test]
fn a_turned_body_has_no_inner_force() {
    let mesh = distorted_block();
    let body = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], RUBBER));
    for turn in [Vec3::new(0.3, -0.2, 0.1), Vec3::new(2.0, 1.0, -1.5), Vec3::new(0.0, 3.1, 0.0)] {
        let q = Quat::from_scaled_axis(turn);
        let mut state = body.at_rest();
        for (u, p) in state.displacement.iter_mut().zip(&mesh.nodes) {
            *u = q * p + Vec3::new(0.5, -1.0, 2.0) - p;
        }
        body.linearise(&mut state);
        let worst = body.elastic_forces(&state).iter().map(|f| f.norm()).fold(0.0, f64::max);
        // Against the force of one per cent of strain on a face.
        let scale = 0.01 * RUBBER.young * 0.2 * 0.2;
        assert!(worst / scale < 1e-9, "{worst:e} N at {turn:?}");
    }
}

fn tumbling(material: Material) -> SoftBody {
    let mesh = block(&Vec3::new(0.12, 0.08, 0.05), [4, 3, 2]);
    let body = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material));
    let mut soft = SoftBody::new(body, Pose::translation(0.3, 1.0, -0.2));
    soft.set_nodes(|_, x, v| {
        let y = *x - Vec3::new(0.36, 1.04, -0.175);
        *x += 0.05 * Vec3::new(y.x, -0.5 * y.y, 0.3 * y.x);
        *v = Vec3::new(0.1, 0.2, -0.3) + Vec3::new(2.0, -3.0, 4.0).cross(&y);
    });
    soft
}

/// Rows with few entries are answered from columns that are kept, others as a whole: both must say the same, in this step and the next.
#[test]
fn the_inverse_of_a_row_does_not_depend_on_other_rows() {
    let mesh = block(&Vec3::new(0.12, 0.08, 0.05), [6, 4, 3]);
    let body = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], RUBBER));
    let mut soft = SoftBody::new(body, Pose::translation(0.3, 1.0, -0.2));
    let step = Step { h: 0.01, time: 0.0, gravity: Vec3::new(0.0, -9.81, 0.0), refactor: RefactorPolicy::default() };
    for _ in 0..2 {
        soft.free_motion(&step);
        let n = soft.dofs();
        assert!(n > 200, "a sparse factor");
        let row = |node: u32| {
            let mut row = vec![0.0; n];
            let at = MaterialPoint::soft(NodeMap { nodes: [node; 4], weights: [1.0, 0.0, 0.0, 0.0] });
            soft.add_row(&at, &Vec3::new(0.3, -0.5, 0.8), &mut row);
            row
        };
        let mut rows: Vec<Vec<f64>> = (0..40).map(|i| row(3 * i)).collect();
        let mut all: Vec<f64> = (0..n).map(|i| rows.iter().map(|row| row[i]).sum()).collect();
        let directions = rows.clone();
        soft.prepare_inverse();
        rows.iter_mut().for_each(|row| soft.apply_inverse(row));
        soft.apply_inverse(&mut all);
        let largest = all.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for i in 0..n {
            let sum: f64 = rows.iter().map(|row| row[i]).sum();
            assert!((sum - all[i]).abs() < 1e-10 * largest, "{sum} {}", all[i]);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let [ab, ba] = [dot(&directions[3], &rows[30]), dot(&directions[30], &rows[3])];
        assert!((ab - ba).abs() < 1e-10 * dot(&directions[3], &rows[3]), "symmetric: {ab} {ba}");
        soft.advance(step.h);
    }
}

#[test]
fn free_motion_gains_no_energy() {
    for (name, damping) in [("undamped", 0.0), ("damped", 0.002)] {
        for when in [Refactor::Always, Refactor::Drift] {
            let material = Material { young: 5e4, damping_stiffness: damping, ..RUBBER };
            let mut soft = tumbling(material);
            let start = soft.energy();
            let mut most = start;
            for _ in 0..10_000 {
                soft.free_motion(&step(0.01, when));
                soft.advance(0.01);
                most = most.max(soft.energy());
            }
            let end = soft.energy();
            println!("{name} {when:?}: energy {start:.6e} J, most {most:.6e}, after 10,000 steps {end:.6e}");
            assert!(most <= start * (1.0 + 1e-9), "{name} {when:?}: {most} from {start}");
            assert!(end.is_finite() && end > 0.0);
        }
    }
}

#[test]
fn momentum_is_kept_to_rounding() {
    let mut soft = tumbling(Material { young: 5e4, damping_stiffness: 0.001, ..RUBBER });
    let (p0, l0) = soft.momentum();
    for _ in 0..2_000 {
        soft.free_motion(&step(0.01, Refactor::Drift));
        soft.advance(0.01);
    }
    let (p, l) = soft.momentum();
    println!(
        "soft: linear momentum off by {:.1e}, angular by {:.1e}",
        (p - p0).norm() / p0.norm(),
        (l - l0).norm() / l0.norm()
    );
    assert!((p - p0).norm() < 1e-11 * p0.norm());
    assert!((l - l0).norm() < 1e-11 * l0.norm());
}

#[test]
fn an_impulse_gives_its_momentum_and_the_inverse_is_symmetric() {
    let mut soft = tumbling(Material { young: 5e4, ..RUBBER });
    soft.free_motion(&step(0.01, Refactor::Always));
    let points = [
        MaterialPoint::soft(NodeMap { nodes: [0, 1, 2, 3], weights: [0.1, 0.2, 0.3, 0.4] }),
        MaterialPoint::soft(NodeMap { nodes: [20, 21, 30, 31], weights: [0.4, 0.3, 0.2, 0.1] }),
    ];
    let directions = [Vec3::new(1.0, 2.0, -0.5), Vec3::new(0.0, -1.0, 1.0)];
    let n = soft.dofs();
    let mut rows = vec![0.0; 2 * n];
    for k in 0..2 {
        soft.add_row(&points[k], &directions[k], &mut rows[k * n..(k + 1) * n]);
    }
    let h = rows.clone();
    soft.prepare_inverse();
    soft.apply_inverse(&mut rows);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (w01, w10) = (dot(&h[..n], &rows[n..]), dot(&h[n..], &rows[..n]));
    assert!(
        (w01 - w10).abs() < 1e-12 * w01.abs().max(dot(&h[..n], &rows[..n])),
        "Delassus blocks are symmetric: {w01} {w10}"
    );
    assert!(dot(&h[..n], &rows[..n]) > 0.0);
    let (p0, l0) = soft.momentum();
    soft.change_velocity(&rows[..n]);
    let (p, l) = soft.momentum();
    assert!((p - p0 - directions[0]).norm() < 1e-10, "{:?}", p - p0);
    assert!((l - l0 - soft.position(&points[0]).cross(&directions[0])).norm() < 1e-10);
}

#[test]
fn a_soft_body_falls_freely() {
    let mut soft = tumbling(Material { young: 5e4, ..RUBBER });
    let (p0, _) = soft.momentum();
    let mut s = step(0.01, Refactor::Drift);
    s.gravity = Vec3::new(0.0, -9.81, 0.0);
    for _ in 0..100 {
        soft.free_motion(&s);
        soft.advance(s.h);
    }
    let (p, _) = soft.momentum();
    assert!((p - p0 - soft.mass() * s.gravity).norm() < 1e-11 * p.norm());
}

#[test]
fn dense_and_sparse_factors_agree() {
    use fingerpad::body::fem::{BlockMatrix, BlockPattern, Factor};
    let mesh = block(&Vec3::repeat(0.1), [2, 2, 2]);
    let body = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], RUBBER);
    let pattern = BlockPattern::from_groups(mesh.nodes.len(), mesh.tets.iter().copied());
    let mut k = BlockMatrix::zeros(&pattern);
    let lame = fingerpad::body::fem::Lame::linear(RUBBER.lambda(), RUBBER.mu());
    for element in body.elements() {
        let blocks = element.warped_stiffness(&lame, &Mat3::identity());
        for a in 0..4 {
            for b in 0..4 {
                if element.nodes[b] <= element.nodes[a] {
                    let place = pattern.find(element.nodes[a], element.nodes[b]).expect("in the pattern");
                    k.blocks[place] += blocks[a][b];
                }
            }
        }
    }
    let n = 3 * mesh.nodes.len();
    let rhs: Vec<f64> = (0..2 * n).map(|i| (1.3 * i as f64).sin()).collect();
    let solve = |mut factor: Factor| {
        factor.factor(&pattern, &k, 1e-4, body.masses(), 1.0).expect("positive definite");
        let mut x = rhs.clone();
        factor.solve(&mut x);
        x
    };
    let (dense, sparse) = (solve(Factor::dense(&pattern)), solve(Factor::sparse(&pattern)));
    let scale = dense.iter().map(|x| x.abs()).fold(0.0, f64::max);
    assert!(dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() < 1e-10 * scale));
    // And they solve the system: K x by the block product.
    let mut back = vec![0.0; n];
    k.multiply_add(&pattern, &dense[..n], &mut back);
    for i in 0..n {
        let ax = 1e-4 * back[i] + body.masses()[i / 3] * dense[i];
        assert!((ax - rhs[i]).abs() < 1e-9);
    }
}
