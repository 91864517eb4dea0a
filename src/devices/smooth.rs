use super::filter::OneEuro;
use crate::assets::FilterSettings;
use crate::math::{Quat, Vec3};
use crate::protocol::{FlexReading, SENSORS};
use crate::tracking::ANGLES;

/// The filters of one hand of a device.
pub(super) struct Smoother {
    settings: Option<FilterSettings>,
    bends: [Option<OneEuro<f64>>; SENSORS],
    angles: [Option<OneEuro<f64>>; ANGLES],
    position: Option<OneEuro<Vec3>>,
    orientation: Option<OneEuro<Quat>>,
}

impl Smoother {
    /// The filters of a profile, or none.
    pub fn new(settings: Option<FilterSettings>) -> Self {
        Self { settings, bends: [None; SENSORS], angles: [None; ANGLES], position: None, orientation: None }
    }

    pub fn bends(&mut self, time: f64, bends: &FlexReading) -> FlexReading {
        let Some(settings) = self.settings else { return *bends };
        FlexReading::of(bends.iter().map(|(sensor, bend)| {
            let filter = self.bends[sensor.index()].get_or_insert_with(|| OneEuro::new(settings));
            (sensor, filter.filter(time, bend))
        }))
    }

    /// Angles of a device that measures them; those of a glove follow from its bends.
    pub fn angles(&mut self, time: f64, angles: &[Option<f64>; ANGLES]) -> [Option<f64>; ANGLES] {
        let Some(settings) = self.settings else { return *angles };
        let mut filtered = *angles;
        for (angle, filter) in filtered.iter_mut().zip(&mut self.angles) {
            let filter = filter.get_or_insert_with(|| OneEuro::new(settings));
            *angle = angle.map(|angle| filter.filter(time, angle));
        }
        filtered
    }

    pub fn position(&mut self, time: f64, position: Vec3) -> Vec3 {
        let Some(settings) = self.settings else { return position };
        self.position.get_or_insert_with(|| OneEuro::new(settings)).filter(time, position)
    }

    pub fn orientation(&mut self, time: f64, orientation: Quat) -> Quat {
        let Some(settings) = self.settings else { return orientation };
        self.orientation.get_or_insert_with(|| OneEuro::new(settings)).filter(time, orientation)
    }
}
