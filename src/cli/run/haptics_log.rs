use std::path::Path;

use crate::devices::HandForces;
use crate::record::{Column, ColumnKind, CsvWriter, without_noise};
use crate::runtime::{DeviceSet, Session, haptic_feedback};
use crate::tracking::{Finger, Side};

/// A table of the forces on the hands and the levels sent to their devices, with a row for every step.
///
/// `HAND_PART_force`, N, and `HAND_PART_pressure`, Pa, for each hand of the scene; `DEVICE_SIDE_PART` from 0 to 1 for
/// each device and each of its hands. The six parts are equal for a device that vibrates as a whole.
pub struct HapticsLog {
    table: CsvWriter,
    hands: Vec<String>,
    /// Indices of the devices, with the hands they are for.
    devices: Vec<(usize, Side)>,
    row: Vec<f64>,
}

fn parts() -> impl Iterator<Item = &'static str> {
    Finger::ALL.into_iter().map(Finger::name).chain(["palm"])
}

/// Column prefix of a device.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

impl HapticsLog {
    /// Creates the table of a session.
    pub fn create(file: &Path, session: &Session) -> anyhow::Result<Self> {
        let column = |name: String, unit| Column { name, unit, kind: ColumnKind::Real };
        let mut columns = vec![column("time".into(), "s")];
        let hands = session.scene().hand_names().map(String::from).collect::<Vec<_>>();
        for hand in &hands {
            columns.extend(parts().map(|part| column(format!("{hand}_{part}_force"), "N")));
            columns.extend(parts().map(|part| column(format!("{hand}_{part}_pressure"), "Pa")));
        }
        let mut devices = Vec::new();
        for (place, name, only) in session.devices().into_iter().flat_map(DeviceSet::haptic_devices) {
            for side in [Side::Left, Side::Right].into_iter().filter(|side| only.is_none_or(|own| own == *side)) {
                let (name, side_name) = (plain(name), side.name());
                columns.extend(parts().map(|part| column(format!("{name}_{side_name}_{part}"), "")));
                devices.push((place, side));
            }
        }
        Ok(Self { table: CsvWriter::create(file, &columns)?, hands, devices, row: Vec::new() })
    }

    /// Adds the row of the last step.
    pub fn add(&mut self, session: &Session) -> anyhow::Result<()> {
        let scene = session.scene();
        self.row.clear();
        self.row.push(without_noise(scene.world.time()));
        for name in &self.hands {
            // The hand was removed.
            let Some(hand) = scene.hand(name) else {
                self.row.extend([f64::NAN; 12]);
                continue;
            };
            let side = scene.world.bodies.hand(hand).model().description.side;
            let HandForces { fingers, palm, pressure, .. } =
                haptic_feedback::of_hand(&scene.world, scene.world.bodies.hand_ids()[hand], side);
            self.row.extend(fingers.into_iter().chain([palm]).chain(pressure));
        }
        for (place, side) in &self.devices {
            let levels = session.devices().map(|devices| devices.sent_levels(*place, *side).all());
            self.row.extend(levels.unwrap_or([f64::NAN; 6]));
        }
        Ok(self.table.add(&self.row)?)
    }

    /// Writes everything to the file.
    pub fn finish(self) -> anyhow::Result<()> {
        Ok(self.table.finish()?)
    }
}
