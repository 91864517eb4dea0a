//! Many runs in parallel without a window: one world for each seed, one row for each run in a Parquet file.
//!
//! `cargo run --release --example headless_batch -- 32 results.parquet`

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use fingerpad::assets::{Setting, load_builtin_scene};
use fingerpad::body::RigidBody;
use fingerpad::math::{Random, Vec3};
use fingerpad::record::{Column, ColumnKind, ParquetWriter};

/// Pushes the boxes of the shipped stack at random; how it ends: seed, time, kinetic energy, greatest height.
fn run(seed: u64) -> [f64; 4] {
    let scene = load_builtin_scene("stack", &[Setting::new("seconds", 0.5)]).expect("a shipped scene");
    let mut scene = scene.expect("shipped scenes are valid");
    let mut random = Random::new(seed, 0);
    for (_, body) in scene.world.bodies.of_mut::<RigidBody>() {
        let push = Vec3::from_fn(|_, _| 0.4 * (random.unit() - 0.5));
        body.set_velocity(push, Vec3::zeros());
    }
    while scene.world.time() < scene.seconds {
        scene.world.step();
    }
    let bodies = || scene.world.bodies.of::<RigidBody>().map(|(_, body)| body);
    let energy: f64 = bodies().map(|body| 0.5 * body.mass() * body.linear_velocity().norm_squared()).sum();
    let height = bodies().map(|body| body.centre().y).fold(0.0, f64::max);
    [seed as f64, scene.world.time(), energy, height]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(8), |text| text.parse())?;
    let file = arguments.next().map_or_else(|| std::env::temp_dir().join("fingerpad-batch.parquet"), PathBuf::from);

    // Each thread takes the next seed until none is left. Worlds share nothing.
    let next = AtomicU64::new(0);
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds);
        std::iter::from_fn(take).map(run).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let mut rows: Vec<[f64; 4]> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));

    let column = |name: &str, unit, kind| Column { name: name.into(), unit, kind };
    let columns = [
        column("seed", "", ColumnKind::Whole),
        column("time", "s", ColumnKind::Real),
        column("kinetic_energy", "J", ColumnKind::Real),
        column("height", "m", ColumnKind::Real),
    ];
    let mut table = ParquetWriter::create(&file, &columns)?;
    rows.iter().try_for_each(|row| table.add(row))?;
    table.finish()?;
    println!("{} runs on {threads} threads, written to {}", rows.len(), file.display());
    Ok(())
}
