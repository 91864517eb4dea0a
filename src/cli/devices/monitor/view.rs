use super::meter::Meter;
use crate::assets::DeviceProfile;
use crate::devices::{SourceSample, SourceState, SourceStatistics};
use crate::math::Quat;

/// Everything there is to show.
pub struct MonitorView<'a> {
    pub profile: &'a DeviceProfile,
    /// s since the start.
    pub now: f64,
    pub state: SourceState,
    pub states: [SourceState; 2],
    pub statistics: SourceStatistics,
    pub meter: &'a Meter,
    /// The newest sample of the left and the right hand.
    pub newest: &'a [Option<SourceSample>; 2],
    pub buttons: &'a [String],
}

impl MonitorView<'_> {
    /// The age of the newest sample, s.
    pub fn age(&self) -> Option<f64> {
        self.meter.last().map(|last| (self.now - last).max(0.0))
    }

    /// Rate, jitter and age in words.
    pub fn pace(&self) -> String {
        let pace = self
            .meter
            .pace(self.now)
            .map_or("no rate".into(), |pace| format!("{:.1} Hz   jitter {:.1} ms", pace.rate, 1e3 * pace.jitter));
        let age = match self.age() {
            None => "no sample yet".into(),
            Some(age) if age < 1.0 => format!("age {:.0} ms", 1e3 * age),
            Some(age) => format!("age {age:.1} s"),
        };
        format!("{pace}   {age}")
    }

    /// Counts of packets and of errors.
    pub fn errors(&self) -> String {
        let decode = &self.statistics.decode;
        let (bad, skipped, lost) = (decode.bad_checksums, decode.skipped_bytes, decode.resynchronisations);
        format!("packets {}   bad checksums {bad}   skipped bytes {skipped}   resynchronised {lost}", decode.packets)
    }
}

/// An orientation as degrees about x, y and z, to a tenth, without negative zeros.
pub fn degrees_about_axes(turn: Quat) -> [f64; 3] {
    let (roll, pitch, yaw) = turn.euler_angles();
    [roll, pitch, yaw].map(|angle| (10.0 * angle.to_degrees()).round() / 10.0 + 0.0)
}
