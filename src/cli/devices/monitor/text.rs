use serde_json::{Map, Value, json};

use super::view::{MonitorView, degrees_about_axes};
use crate::devices::SourceSample;
use crate::protocol::FlexReading;
use crate::tracking::Angle;

impl MonitorView<'_> {
    /// All data on one line.
    pub fn as_line(&self) -> String {
        let state = &self.state;
        let mut line = format!("{:7.1} s   {state}   {}   {}", self.now, self.pace(), self.errors());
        for sample in self.newest.iter().flatten() {
            for (sensor, raw) in sample.flex.iter() {
                let bend = sample.bends.get(sensor).map_or("–".into(), |bend| format!("{bend:.2}"));
                line += &format!("   {} {raw:.3} {bend}", sensor.name());
            }
            if let Some(p) = sample.position {
                line += &format!("   at {:.3} {:.3} {:.3}", p.x, p.y, p.z);
            }
            if let Some(turn) = sample.orientation {
                let [x, y, z] = degrees_about_axes(turn);
                line += &format!("   turned {x:.1} {y:.1} {z:.1}°");
            }
        }
        if let Some(hint) = &self.statistics.hint {
            line += &format!("   {hint}");
        }
        line
    }

    /// All data as one JSON object.
    pub fn as_json(&self) -> Value {
        let (pace, decode) = (self.meter.pace(self.now), &self.statistics.decode);
        let hands: Map<String, Value> =
            self.newest.iter().flatten().map(|s| (s.side.name().into(), self.hand_json(s))).collect();
        json!({
            "time": self.now, "device": self.profile.name, "port": self.statistics.port, "state": self.state.to_string(),
            "rate_hz": pace.map(|p| p.rate), "jitter_ms": pace.map(|p| 1e3 * p.jitter), "age_ms": self.age().map(|a| 1e3 * a),
            "samples": self.meter.samples, "opened": self.statistics.opened, "packets": decode.packets,
            "bad_checksums": decode.bad_checksums, "skipped_bytes": decode.skipped_bytes,
            "resynchronisations": decode.resynchronisations, "hint": self.statistics.hint,
            "buttons": self.buttons, "hands": hands,
        })
    }

    fn hand_json(&self, sample: &SourceSample) -> Value {
        let values = |reading: &FlexReading| -> Map<String, Value> {
            reading.iter().map(|(sensor, value)| (sensor.name(), json!(value))).collect()
        };
        let angles: Map<String, Value> = Angle::all()
            .filter_map(|angle| Some((angle.name(), json!(sample.angles[angle.index()]?.to_degrees()))))
            .collect();
        json!({
            "state": self.states[sample.side as usize].to_string(), "time": sample.time,
            "raw": values(&sample.flex), "bends": values(&sample.bends), "angles_deg": angles,
            "position": sample.position.map(|p| [p.x, p.y, p.z]),
            "quaternion": sample.orientation.map(|q| [q.w, q.i, q.j, q.k]),
            "hand_length": sample.hand_length,
        })
    }
}
