use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use crate::assets::Scene;
use crate::sim::World;
use crate::tracking::Angle;

/// A table with a line for every step: SI units, angles of joints in degrees, quaternions as x, y, z, w.
pub struct Trace {
    file: BufWriter<File>,
}

impl Trace {
    /// Begins the table of a scene.
    pub fn create(file: &Path, scene: &Scene) -> anyhow::Result<Self> {
        let opened = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        let mut trace = Self { file: BufWriter::new(opened) };
        let mut columns = vec!["time".to_string()];
        const PLACE: [&str; 7] = ["x", "y", "z", "qx", "qy", "qz", "qw"];
        for name in &scene.names.rigid {
            let velocities = ["vx", "vy", "vz", "wx", "wy", "wz"];
            columns.extend(PLACE.iter().chain(&velocities).map(|c| format!("{name}.{c}")));
        }
        for name in &scene.names.hands {
            columns.extend(PLACE.map(|c| format!("{name}.palm.{c}")));
            columns.extend(Angle::all().map(|angle| format!("{name}.{}", angle.name())));
        }
        columns.extend(["contacts", "constraints", "iterations", "residual", "step_ms"].map(String::from));
        writeln!(trace.file, "{}", columns.join(","))?;
        Ok(trace)
    }

    /// Adds the line of a step that took some seconds.
    pub fn add(&mut self, world: &World, seconds: f64) -> anyhow::Result<()> {
        let file = &mut self.file;
        write!(file, "{}", world.time())?;
        for body in &world.bodies.rigid {
            let pose = body.pose();
            let place = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            let (linear, angular) = (body.linear_velocity(), body.angular_velocity());
            for x in place.chain(linear.iter()).chain(angular.iter()) {
                write!(file, ",{x}")?;
            }
        }
        for hand in &world.bodies.hands {
            let state = hand.skeleton.state();
            for x in state.palm.translation.vector.iter().chain(state.palm.rotation.coords.iter()) {
                write!(file, ",{x}")?;
            }
            for angle in state.angles {
                write!(file, ",{}", angle.to_degrees())?;
            }
        }
        let s = world.statistics();
        let ms = 1e3 * seconds;
        writeln!(file, ",{},{},{},{},{ms}", s.contacts, s.constraints, s.iterations, s.residual)?;
        Ok(())
    }

    /// Makes sure that everything is in the file.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        self.file.flush()?;
        Ok(())
    }
}
