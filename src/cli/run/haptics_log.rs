use std::path::Path;

use crate::body::HandId;
use crate::cli::feeling;
use crate::cli::gear::Gear;
use crate::cli::player::Player;
use crate::devices::Touch;
use crate::record::{Column, CsvWriter, Kind, without_noise};
use crate::tracking::{Finger, Side};

/// A table of what the hands feel and what their devices are told, with a line for every step.
///
/// `HAND_PART_force`, N, and `HAND_PART_pressure`, Pa, of each hand of the scene; `DEVICE_SIDE_PART` from 0 to 1 of each device and each
/// hand that it is for. Of a device that vibrates as a whole the six parts are the same.
pub struct HapticsLog {
    table: CsvWriter,
    hands: Vec<String>,
    /// Places of the devices among those that are worn, with the hands they are for.
    devices: Vec<(usize, Side)>,
    row: Vec<f64>,
}

fn parts() -> impl Iterator<Item = &'static str> {
    Finger::ALL.into_iter().map(Finger::name).chain(["palm"])
}

/// What a device is called in the name of a column.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

impl HapticsLog {
    /// Begins the table of what is played.
    pub fn create(file: &Path, player: &Player) -> anyhow::Result<Self> {
        let column = |name: String, unit| Column { name, unit, kind: Kind::Real };
        let mut columns = vec![column("time".into(), "s")];
        let hands = player.scene().names.hands.clone();
        for hand in &hands {
            columns.extend(parts().map(|part| column(format!("{hand}_{part}_force"), "N")));
            columns.extend(parts().map(|part| column(format!("{hand}_{part}_pressure"), "Pa")));
        }
        let mut devices = Vec::new();
        for (place, name, only) in player.worn().into_iter().flat_map(Gear::felt_by) {
            for side in [Side::Left, Side::Right].into_iter().filter(|side| only.is_none_or(|own| own == *side)) {
                let (name, side_name) = (plain(name), side.name());
                columns.extend(parts().map(|part| column(format!("{name}_{side_name}_{part}"), "")));
                devices.push((place, side));
            }
        }
        Ok(Self { table: CsvWriter::create(file, &columns)?, hands, devices, row: Vec::new() })
    }

    /// Adds the line of the last step.
    pub fn add(&mut self, player: &Player) -> anyhow::Result<()> {
        let scene = player.scene();
        self.row.clear();
        self.row.push(without_noise(scene.world.time()));
        for name in &self.hands {
            // A hand that is gone feels nothing that could be told.
            let Some(hand) = scene.hand(name) else {
                self.row.extend([f64::NAN; 12]);
                continue;
            };
            let side = scene.world.bodies.hands[hand].model().description.side;
            let Touch { fingers, palm, pressure, .. } = feeling::touch(&scene.world, HandId::at(hand), side);
            self.row.extend(fingers.into_iter().chain([palm]).chain(pressure));
        }
        for (place, side) in &self.devices {
            let told = player.worn().map(|gear| gear.told(*place, *side).all());
            self.row.extend(told.unwrap_or([f64::NAN; 6]));
        }
        Ok(self.table.add(&self.row)?)
    }

    /// Makes sure that everything is in the file.
    pub fn finish(self) -> anyhow::Result<()> {
        Ok(self.table.finish()?)
    }
}
