use std::time::Instant;

use serde_json::{Value, json};

use crate::body::fem::{Continuum, Factor};
use crate::hand::Material;
use crate::math::Vec3;
use crate::mesh::block;

/// Compares dense and sparse factorisation: one refactorisation and one solve for soft blocks of increasing size.
pub fn rows(steps: u32, json: bool) -> Vec<Value> {
    let mut rows = Vec::new();
    if !json {
        println!("one factorisation / one solve of a soft block (ms)");
        println!("{:>8} {:>19} {:>19}", "unknowns", "dense", "sparse");
    }
    for cells in [[2, 1, 1], [3, 2, 1], [3, 2, 2], [4, 3, 2], [4, 3, 3], [5, 4, 3], [6, 4, 4]] {
        let mesh = block(&Vec3::new(0.06, 0.04, 0.04), cells);
        let body = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], Material::default());
        let n = body.dofs();
        let dense = body.time_factor(Factor::dense, |work| median_ms(steps.min(200), work));
        let sparse = body.time_factor(Factor::sparse, |work| median_ms(steps.min(200), work));
        if !json {
            println!("{n:>8} {:>9.4} {:>9.4} {:>9.4} {:>9.4}", dense.0, dense.1, sparse.0, sparse.1);
        }
        rows.push(json!({
            "scenario": "factor", "unknowns": n,
            "dense_ms": { "factor": dense.0, "solve": dense.1 },
            "sparse_ms": { "factor": sparse.0, "solve": sparse.1 },
        }));
    }
    if !json {
        println!();
    }
    rows
}

fn median_ms(times: u32, work: &mut dyn FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            1e3 * start.elapsed().as_secs_f64()
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
