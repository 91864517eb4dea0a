//! A line of JSON for every frame that the window draws.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Map, Value, json};

use crate::viewer::Layers;
use crate::viewer::window::{Drawn, Report};

/// The file and what has gone wrong with it.
pub struct Log {
    file: BufWriter<File>,
    start: Instant,
    broken: bool,
}

impl Log {
    /// Begins a file.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        Ok(Self { file: BufWriter::new(file), start: Instant::now(), broken: false })
    }

    /// Adds the line of a frame, and makes sure that it is in the file.
    pub fn add(&mut self, report: &Report, drawn: &Drawn) {
        if !self.broken {
            let line = line(report, drawn, self.start.elapsed().as_secs_f64());
            self.broken = writeln!(self.file, "{line}").and_then(|()| self.file.flush()).is_err();
        }
    }
}

fn line(report: &Report, drawn: &Drawn, wall: f64) -> Value {
    let list = |v: &crate::math::Vec3| vec![v.x, v.y, v.z];
    let mut bodies = Map::new();
    for (info, motion) in report.bodies.iter().zip(&report.motions) {
        if info.moves {
            let (position, velocity) = (list(&motion.pose.translation.vector), list(&motion.linear));
            bodies.insert(info.name.clone(), json!({ "position": position, "velocity": velocity }));
        }
    }
    let parameters: Map<String, Value> = report.parameters.iter().map(|p| (p.key.clone(), p.value.into())).collect();
    let layers: Vec<&str> = drawn.layers.map_or(Vec::new(), |mut layers| {
        Layers::SWITCHES.iter().filter(|(_, switch)| *switch(&mut layers)).map(|(name, _)| *name).collect()
    });
    let parts: Map<String, Value> =
        drawn.parts.iter().map(|(name, time)| ((*name).into(), (1e3 * time).into())).collect();
    let controls: Map<String, Value> = drawn.controls.iter().map(|(key, at)| (key.clone(), json!(at))).collect();
    json!({
        "controls": controls, "frame": drawn.frame, "wall": wall, "frames_per_second": 1.0 / drawn.period.max(1e-6), "scale": drawn.scale,
        "in_software": drawn.in_software, "parts_ms": parts, "memory_mb": memory_mb(), "view": drawn.view,
        "camera": drawn.camera.map(|c| json!({ "eye": c.eye, "target": c.target, "field_of_view": c.field_of_view })), "layers": layers,
        "selected": drawn.selected, "name": &*report.name, "time": report.frame.time, "steps": report.steps,
        "seconds": report.seconds, "realtime_factor": report.reached, "paused": report.paused, "over": report.over,
        "laws": report.laws, "parameters": parameters, "taken": report.taken, "bodies": bodies,
        "pulled": report.pull.is_some(), "messages": &*report.messages, "error": report.error,
        "card": report.card.as_ref().map(|card| &card.reason),
        "plots": report.traces.iter().map(|t| json!({ "name": t.name, "values": t.values.len(), "last": t.values.last() })).collect::<Vec<_>>(),
        "devices": report.devices.iter().map(|d| json!({ "name": d.name, "state": d.state })).collect::<Vec<_>>(),
    })
}

/// Resident memory, in megabytes, on systems that report it.
pub fn memory_mb() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
