//! Contact problems of point contacts: redundant stacks to a small natural-map residual, and FCLIB files.

use fingerpad::problem::{ContactProblem, Law};
use fingerpad::solver::{ProximalNewton, block_sweeps, natural_map_residual};
use nalgebra::{DMatrix, Vector3};
use proptest::prelude::*;

/// A stack of rigid boxes, four contacts between each and the next: twelve rows for six degrees of freedom, so `W` has half its rank.
/// The lowest stands on the ground. `pull` is what a step of gravity and a push from the side do to the free velocities.
fn stack(boxes: usize, mu: f64, masses: &[f64], pull: Vector3<f64>) -> ContactProblem {
    let (half, rows) = (Vector3::new(0.05, 0.05, 0.05), 12 * boxes);
    let mut h = DMatrix::<f64>::zeros(rows, 6 * boxes);
    for (level, corner) in (0..boxes).flat_map(|level| (0..4).map(move |corner| (level, corner))) {
        let x = if corner % 2 == 0 { half.x } else { -half.x };
        let z = if corner < 2 { half.z } else { -half.z };
        for (i, direction) in [Vector3::y(), Vector3::x(), Vector3::z()].into_iter().enumerate() {
            let row = 12 * level + 3 * corner + i;
            // The upper box by its lower corner, the lower one by its upper.
            for (body, arm, sign) in [
                (Some(level), Vector3::new(x, -half.y, z), 1.0),
                (level.checked_sub(1), Vector3::new(x, half.y, z), -1.0),
            ] {
                let Some(body) = body else { continue };
                let torque = arm.cross(&direction);
                for c in 0..3 {
                    h[(row, 6 * body + c)] += sign * direction[c];
                    h[(row, 6 * body + 3 + c)] += sign * torque[c];
                }
            }
        }
    }
    let mut inverse_mass = DMatrix::<f64>::zeros(6 * boxes, 6 * boxes);
    let mut velocity = nalgebra::DVector::<f64>::zeros(6 * boxes);
    for body in 0..boxes {
        let m = masses[body % masses.len()];
        let inertia = m / 6.0 * 0.1 * 0.1;
        for c in 0..3 {
            inverse_mass[(6 * body + c, 6 * body + c)] = 1.0 / m;
            inverse_mass[(6 * body + 3 + c, 6 * body + 3 + c)] = 1.0 / inertia;
            velocity[6 * body + c] = pull[c];
        }
    }
    let w: DMatrix<f64> = &h * inverse_mass * h.transpose();
    let free = &h * velocity;
    ContactProblem {
        delassus: w.as_slice().to_vec(),
        free: free.as_slice().to_vec(),
        laws: vec![Law::Coulomb { mu }; 4 * boxes],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn redundant_stacks_are_solved_to_a_small_residual(
        boxes in 1..9usize, mu in 0.1..1.0f64, heavy in 0.1..10.0f64, push in [-0.08..0.08f64, -0.08..0.08f64],
    ) {
        let problem = stack(boxes, mu, &[1.0, heavy], Vector3::new(push[0], -0.0981, push[1]));
        let mut forces = vec![0.0; problem.rows()];
        let solution = ProximalNewton::default().solve(&problem, &mut forces).expect("point contacts");
        prop_assert!(solution.converged && solution.residual <= 1e-9, "{:?}", solution);
        prop_assert_eq!(natural_map_residual(&problem, &forces), Some(solution.residual));
        // The laws, one by one.
        for c in 0..problem.laws.len() {
            let (f, v) = (&forces[3 * c..3 * c + 3], [0, 1, 2].map(|i| problem.velocity(3 * c + i, &forces)));
            prop_assert!(f[1].hypot(f[2]) <= mu * f[0] + 1e-9);
            prop_assert!(v[0] >= -1e-8 && (f[0] * v[0]).abs() < 1e-7, "{:?} {:?}", f, v);
        }
    }
}

#[test]
fn the_residual_of_a_box_at_rest_and_of_no_forces_at_all() {
    let problem = stack(1, 0.5, &[2.0], Vector3::new(0.0, -0.0981, 0.0));
    let each = 2.0 * 0.0981 / 4.0;
    let rest: Vec<f64> = (0..4).flat_map(|_| [each, 0.0, 0.0]).collect();
    assert!(natural_map_residual(&problem, &rest).expect("point contacts") < 1e-15);
    // Without forces the whole free velocity, which falls straight down, is left.
    assert!((natural_map_residual(&problem, &[0.0; 12]).expect("point contacts") - 1.0).abs() < 1e-12);
    let mut forces = vec![0.0; 12];
    let swept = block_sweeps(&problem, &mut forces, 1e-12, 1000).expect("point contacts");
    assert!(swept.converged, "{swept:?}");
    let other = ContactProblem { laws: vec![Law::Frictionless; 12], ..problem };
    assert_eq!(natural_map_residual(&other, &rest), None);
    assert_eq!(ProximalNewton::default().solve(&other, &mut forces), None);
}

#[cfg(feature = "fclib")]
mod files {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use fingerpad::assets::{read_fclib, write_fclib};

    use super::*;

    fn file(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fclib");
        std::fs::create_dir_all(&folder).expect("a folder");
        folder.join(name)
    }

    #[test]
    fn a_problem_round_trips_exactly() {
        let mut problem = stack(3, 0.4, &[1.0, 3.0], Vector3::new(0.02, -0.0981, 0.01));
        // Those of other programs are not always symmetric.
        problem.delassus[1] += 1e-3;
        let path = file("stack.hdf5");
        write_fclib(&path, &problem).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(read_fclib(&path).unwrap_or_else(|problems| panic!("{problems}")), problem);
        std::fs::write(file("text.hdf5"), "no HDF5").expect("a file");
        assert!(read_fclib(&file("text.hdf5")).expect_err("not HDF5").to_string().contains("not an HDF5 file"));
        let other = ContactProblem { laws: vec![Law::Frictionless; problem.rows()], ..problem };
        assert!(write_fclib(&path, &other).expect_err("other laws").to_string().contains("--method point"));
    }

    /// A global problem, as triplets and as compressed columns: a block of 2 kg on the ground.
    #[test]
    fn a_global_problem_becomes_a_local_one() {
        let local = stack(1, 0.5, &[2.0], Vector3::new(0.0, -0.0981, 0.0));
        let mut builder = hdf5_pure::FileBuilder::new();
        let mut global = builder.create_group("fclib_global");
        global.create_dataset("spacedim").with_data(&[3i32]).with_shape(&[1]);
        // H is 3 × 3 here: one contact at the centre of mass, normal up.
        let mut m = global.create_group("M");
        let mut h = global.create_group("H");
        for (matrix, nz, p, i, x) in [
            (&mut m, 3i32, vec![0i32, 1, 2], vec![0i32, 1, 2], vec![2.0, 2.0, 2.0]),
            (&mut h, -1, vec![0, 1, 2, 3], vec![1, 0, 2], vec![1.0, 1.0, 1.0]),
        ] {
            for (name, value) in [("m", 3), ("n", 3), ("nz", nz), ("nzmax", 3)] {
                matrix.create_dataset(name).with_data(&[value]).with_shape(&[1]);
            }
            matrix.create_dataset("p").with_data(&p).with_shape(&[p.len() as u64]);
            matrix.create_dataset("i").with_data(&i).with_shape(&[i.len() as u64]);
            matrix.create_dataset("x").with_data(&x).with_shape(&[x.len() as u64]);
        }
        global.add_group(m.finish());
        global.add_group(h.finish());
        let mut vectors = global.create_group("vectors");
        vectors.create_dataset("f").with_data(&[0.1, -0.1962, 0.0]).with_shape(&[3]);
        vectors.create_dataset("w").with_data(&[0.0, 0.0, 0.25]).with_shape(&[3]);
        vectors.create_dataset("mu").with_data(&[0.5]).with_shape(&[1]);
        global.add_group(vectors.finish());
        builder.add_group(global.finish());
        let path = file("global.hdf5");
        builder.write(&path).expect("a file");
        let problem = read_fclib(&path).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(problem.laws, local.laws[..1]);
        let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(near(&problem.free, &[-0.0981, 0.05, 0.25]), "{:?}", problem.free);
        assert!(near(&problem.delassus, &[0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]), "{:?}", problem.delassus);
    }

    #[test]
    fn the_program_saves_and_solves_them() {
        let path = file("saved.hdf5").to_string_lossy().into_owned();
        let run = |arguments: &[&str]| {
            let out = Command::new(env!("CARGO_BIN_EXE_fingerpad")).args(arguments).output().expect("the program runs");
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8_lossy(&out.stdout).into_owned()
        };
        run(&["problem", "save", "table", "--at", "0.1", "--method", "point", "--out", &path]);
        let solved = run(&["problem", "solve", &path, "--solver", "proximal", "--json"]);
        let solved: serde_json::Value = serde_json::from_str(&solved).expect("JSON");
        assert!(solved["solvers"][0]["natural_map"].as_f64().expect("a number") <= 1e-8, "{solved}");
    }
}
