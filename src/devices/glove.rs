//! From raw sensor values of a glove to bends and angles, and the inverse for an emulated glove.
//!
//! `raw = flat + (fist − flat) (b + Σ c b')`, as in [`SensorMap`]: with `n = (raw − flat) / (fist − flat)` the bends
//! solve `(I + C) b = n` over the sensors with values.
//!
//! ```
//! use fingerpad::assets::SensorMap;
//! use fingerpad::devices::glove::GloveMap;
//! use fingerpad::protocol::{FlexReading, Sensor};
//! use fingerpad::tracking::{Angle, AngleKind, Finger};
//!
//! let sensor = Sensor::Curl(Finger::Index);
//! let angle = Angle { finger: Finger::Index, kind: AngleKind::MiddleFlexion };
//! let map = SensorMap { sensor, flat: 0.2, fist: 0.8, drives: vec![(angle, [0.0, 1.5])], crosstalk: Vec::new() };
//! let glove = GloveMap::new(&[map]);
//! let bends = glove.bends(&FlexReading::of([(sensor, 0.5)]));
//! let bent = glove.angles(&bends)[angle.index()].expect("a driven angle");
//! assert!((bent - 0.75).abs() < 1e-12, "half way");
//! ```

use nalgebra::{DMatrix, DVector};

use crate::assets::SensorMap;
use crate::protocol::FlexReading;
use crate::tracking::ANGLES;

/// Maps sensors to angles.
#[derive(Clone, Debug)]
pub struct GloveMap {
    sensors: Vec<SensorMap>,
    /// Whether there is any crosstalk.
    is_mixed: bool,
}

impl GloveMap {
    /// A map of these sensors.
    pub fn new(sensors: &[SensorMap]) -> Self {
        let is_mixed = sensors.iter().any(|map| !map.crosstalk.is_empty());
        Self { sensors: sensors.to_vec(), is_mixed }
    }

    /// The sensors and what they measure.
    pub fn sensors(&self) -> &[SensorMap] {
        &self.sensors
    }

    /// Bends from 0 to 1 of the mapped sensors with values.
    pub fn bends(&self, raw: &FlexReading) -> FlexReading {
        let share = |map: &SensorMap, raw: f64| (raw - map.flat) / (map.fist - map.flat);
        let spoken = self.sensors.iter().filter_map(|map| raw.get(map.sensor).map(|value| (map, share(map, value))));
        if !self.is_mixed {
            return FlexReading::of(spoken.map(|(map, bend)| (map.sensor, bend)));
        }
        let (maps, shares): (Vec<_>, Vec<_>) = spoken.unzip();
        let shares = DVector::from_vec(shares);
        let mixing = self.mixing(&maps);
        // A singular crosstalk matrix is ignored.
        let bends = mixing.lu().solve(&shares).unwrap_or(shares);
        FlexReading::of(maps.iter().zip(bends.iter()).map(|(map, bend)| (map.sensor, *bend)))
    }

    /// `I + C` of some sensors.
    fn mixing(&self, maps: &[&SensorMap]) -> DMatrix<f64> {
        DMatrix::from_fn(maps.len(), maps.len(), |row, column| {
            let shows = maps[row].crosstalk.iter().find(|(other, _)| *other == maps[column].sensor);
            if row == column { 1.0 } else { shows.map_or(0.0, |(_, part)| *part) }
        })
    }

    /// The angles of the bends, rad. If several sensors drive an angle, the more specific one, which comes later in
    /// their order, wins.
    pub fn angles(&self, bends: &FlexReading) -> [Option<f64>; ANGLES] {
        let mut angles = [None; ANGLES];
        for map in &self.sensors {
            let Some(bend) = bends.get(map.sensor) else { continue };
            for (angle, [flat, fist]) in &map.drives {
                angles[angle.index()] = Some(flat + bend * (fist - flat));
            }
        }
        angles
    }

    /// The readings for a hand with these angles, rad: each bend is the least-squares fit to the angles that it drives.
    pub fn raw(&self, angles: &[f64; ANGLES]) -> FlexReading {
        let bends: Vec<f64> = self.sensors.iter().map(|map| best_bend(map, angles)).collect();
        let bend_of = |sensor| self.sensors.iter().position(|map| map.sensor == sensor).map_or(0.0, |i| bends[i]);
        let value = |(map, bend): (&SensorMap, &f64)| {
            let mixed: f64 = map.crosstalk.iter().map(|(other, part)| part * bend_of(*other)).sum();
            (map.sensor, map.flat + (map.fist - map.flat) * (bend + mixed))
        };
        FlexReading::of(self.sensors.iter().zip(&bends).map(value))
    }
}

fn best_bend(map: &SensorMap, angles: &[f64; ANGLES]) -> f64 {
    let (mut along, mut squares) = (0.0, 0.0);
    for (angle, [flat, fist]) in &map.drives {
        along += (angles[angle.index()] - flat) * (fist - flat);
        squares += (fist - flat) * (fist - flat);
    }
    if squares > 0.0 { (along / squares).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::{builtin_device_file, load_device};
    use crate::protocol::Sensor;
    use crate::tracking::{Angle, AngleKind, Finger};

    fn glove(name: &str) -> GloveMap {
        let file = builtin_device_file(name).expect("a shipped profile");
        GloveMap::new(&load_device(&file).unwrap_or_else(|p| panic!("{p}")).sensors)
    }

    #[test]
    fn one_value_a_finger_moves_all_its_joints() {
        let glove = glove("5dt-5");
        let raw = FlexReading::of([(Sensor::Curl(Finger::Index), 0.5), (Sensor::Curl(Finger::Ring), 0.95)]);
        let bends = glove.bends(&raw);
        assert!((bends.get(Sensor::Curl(Finger::Index)).expect("a bend") - 0.5).abs() < 1e-12);
        assert_eq!(bends.get(Sensor::Curl(Finger::Ring)), Some(1.0), "beyond the fist is the fist");
        let angles = glove.angles(&bends);
        let degrees = |finger, kind| angles[Angle { finger, kind }.index()].map(f64::to_degrees);
        let near = |a: Option<f64>, b: f64| (a.expect("an angle") - b).abs() < 1e-9;
        assert!(near(degrees(Finger::Index, AngleKind::BaseFlexion), 42.5));
        assert!(near(degrees(Finger::Index, AngleKind::MiddleFlexion), 50.0));
        assert!(near(degrees(Finger::Index, AngleKind::TipFlexion), 36.0));
        assert_eq!(degrees(Finger::Middle, AngleKind::BaseFlexion), None, "nothing was said of it");
    }

    #[test]
    fn a_joint_sensor_overrides_the_finger_sensor() {
        let glove = glove("opengloves");
        let knuckle = Sensor::named("index_knuckle").expect("a sensor");
        let bends = glove.bends(&FlexReading::of([(Sensor::Curl(Finger::Index), 1.0), (knuckle, 0.0)]));
        let angles = glove.angles(&bends);
        let of = |kind| angles[Angle { finger: Finger::Index, kind }.index()].expect("an angle").to_degrees();
        assert!((of(AngleKind::BaseFlexion), of(AngleKind::MiddleFlexion)) == (0.0, 100.0), "{angles:?}");
    }

    /// The readings of an emulated glove decode to the same hand, with crosstalk and with swapped ends.
    #[test]
    fn round_trip() {
        let mut sensors = glove("5dt-5").sensors().to_vec();
        sensors[1].crosstalk = vec![(Sensor::Curl(Finger::Thumb), 0.15), (Sensor::Curl(Finger::Middle), -0.1)];
        sensors[2].crosstalk = vec![(Sensor::Curl(Finger::Index), 0.12)];
        (sensors[3].flat, sensors[3].fist) = (0.7, 0.4);
        let glove = GloveMap::new(&sensors);
        for pose in [0.0, 0.3, 0.77] {
            let mut angles = [0.0; ANGLES];
            for (i, map) in sensors.iter().enumerate() {
                let bend = (pose + 0.05 * i as f64).min(0.8);
                map.drives.iter().for_each(|(a, [flat, fist])| angles[a.index()] = flat + bend * (fist - flat));
            }
            let read = glove.angles(&glove.bends(&glove.raw(&angles)));
            for (i, (read, told)) in read.iter().zip(&angles).enumerate() {
                assert!((read.expect("all are driven") - told).abs() < 1e-9, "angle {i} at {pose}");
            }
        }
    }
}
