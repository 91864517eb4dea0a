use crate::devices::DeviceError;
use crate::math::Random;

/// Faults of the connection of an emulated device. Times start with its first data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Probability that a bit of a byte is flipped.
    pub noise: f64,
    /// Probability that a byte is lost.
    pub drop: f64,
    /// Bursts of random bytes.
    pub garbage: Option<Garbage>,
    /// When the device stops measuring and sending.
    pub stalls: Vec<Outage>,
    /// When the device is unplugged.
    pub unplugs: Vec<Outage>,
    /// Random seed; equal seeds give equal faults.
    pub seed: u64,
}

/// Bursts of random bytes between packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Garbage {
    /// Interval, s.
    pub every: f64,
    /// Bytes per burst.
    pub bytes: usize,
}

/// A time during which a device is not available.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Start, s.
    pub at: f64,
    /// Whether it repeats with the start time as its period.
    pub repeats: bool,
    /// Duration, s.
    pub seconds: f64,
}

impl Outage {
    fn holds(&self, time: f64) -> bool {
        let since = if self.repeats && time >= self.at { time % self.at } else { time - self.at };
        (0.0..self.seconds).contains(&since)
    }
}

impl Faults {
    /// Parses faults such as `noise=0.01`, `drop=0.001`, `garbage=2:40` (40 bytes every 2 s), `stall=3:0.5` (at 3 s for
    /// 0.5 s), `unplug=every:10:2` (every 10 s for 2 s) and `seed=7`.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, DeviceError> {
        let mut faults = Self::default();
        texts.into_iter().try_for_each(|text| faults.add(text)).map_err(DeviceError::Fault)?;
        Ok(faults)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let Some((kind, value)) = text.split_once('=') else {
            return Err(format!("`{text}` is not a fault: expected KIND=VALUE, as in noise=0.01"));
        };
        let wrong = |expected: &str| Err(format!("invalid fault `{text}`: expected {expected}"));
        match kind {
            "noise" | "drop" => {
                let probability = value.parse().ok().filter(|p| (0.0..=1.0).contains(p));
                let slot = if kind == "noise" { &mut self.noise } else { &mut self.drop };
                match probability {
                    Some(probability) => *slot = probability,
                    None => return wrong(&format!("a probability from 0 to 1, as in {kind}=0.01")),
                }
            }
            "garbage" => {
                let parts = value.split_once(':').and_then(|(every, bytes)| Some((time(every)?, bytes.parse().ok()?)));
                match parts.filter(|(every, bytes)| *every > 0.0 && (1..=100_000).contains(bytes)) {
                    Some((every, bytes)) => self.garbage = Some(Garbage { every, bytes }),
                    None => return wrong("seconds and bytes, as in garbage=2:40 for 40 bytes every 2 seconds"),
                }
            }
            "stall" | "unplug" => {
                let Some(outage) = outage(value) else {
                    return wrong(&format!(
                        "a start and a duration in seconds, as in {kind}=3:0.5, or {kind}=every:3:0.5 to repeat"
                    ));
                };
                if kind == "stall" { &mut self.stalls } else { &mut self.unplugs }.push(outage);
            }
            "seed" => match value.parse() {
                Ok(seed) => self.seed = seed,
                Err(_) => return wrong("a whole number, as in seed=7"),
            },
            _ => {
                return Err(format!(
                    "there is no fault `{kind}`: expected noise, drop, garbage, stall, unplug or seed"
                ));
            }
        }
        Ok(())
    }

    /// Whether the device is silent at a time.
    pub(super) fn is_stalled(&self, time: f64) -> bool {
        self.stalls.iter().any(|stall| stall.holds(time))
    }

    /// Whether it is unplugged at a time.
    pub(super) fn is_unplugged(&self, time: f64) -> bool {
        self.unplugs.iter().any(|unplug| unplug.holds(time))
    }

    /// Applies the faults to some bytes.
    pub(super) fn spoil(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        if self.drop > 0.0 {
            bytes.retain(|_| random.unit() >= self.drop);
        }
        if self.noise > 0.0 {
            for byte in bytes {
                if random.unit() < self.noise {
                    *byte ^= 1 << (random.unit() * 8.0) as u8;
                }
            }
        }
    }
}

fn time(text: &str) -> Option<f64> {
    text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds))
}

fn outage(value: &str) -> Option<Outage> {
    let (repeats, rest) = value.strip_prefix("every:").map_or((false, value), |rest| (true, rest));
    let (at, seconds) = rest.split_once(':')?;
    let outage = Outage { at: time(at)?, repeats, seconds: time(seconds)? };
    (!repeats || outage.at > outage.seconds).then_some(outage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed() {
        let texts =
            ["noise=0.01", "drop=0.5", "garbage=2:40", "stall=3:0.5", "unplug=every:10:2", "unplug=0:1", "seed=7"];
        let faults = Faults::parse(texts).expect("faults");
        assert_eq!((faults.noise, faults.drop, faults.seed), (0.01, 0.5, 7));
        assert_eq!(faults.garbage, Some(Garbage { every: 2.0, bytes: 40 }));
        let held: Vec<_> =
            [0.0, 0.9, 1.0, 2.0, 9.9, 10.0, 11.9, 12.0, 20.5, 22.5].map(|t| faults.is_unplugged(t)).into();
        assert_eq!(held, [true, true, false, false, false, true, true, false, true, false]);
        assert_eq!([2.9, 3.0, 3.4, 3.5, 6.2].map(|t| faults.is_stalled(t)), [false, true, true, false, false]);
    }

    #[test]
    fn invalid_faults_list_the_valid_ones() {
        for (text, expected) in [
            ("noise", "KIND=VALUE"),
            ("noise=2", "a probability from 0 to 1, as in noise=0.01"),
            ("drop=NaN", "drop=0.01"),
            ("garbage=2", "garbage=2:40"),
            ("garbage=0:5", "garbage=2:40"),
            ("garbage=1:0", "garbage=2:40"),
            ("stall=1", "stall=3:0.5"),
            ("unplug=every:1:2", "unplug=every:3:0.5"),
            ("unplug=-1:2", "unplug=3:0.5"),
            ("seed=x", "seed=7"),
            ("smoke=1", "expected noise, drop, garbage, stall, unplug or seed"),
        ] {
            let error = Faults::parse([text]).expect_err(text);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn faults_are_reproducible_at_their_rates() {
        let faults = Faults { noise: 0.1, drop: 0.2, ..Faults::default() };
        let spoilt = |seed| {
            let mut bytes = vec![0; 10_000];
            faults.spoil(&mut bytes, &mut Random::new(seed, 0));
            bytes
        };
        let bytes = spoilt(1);
        assert!((7800..8200).contains(&bytes.len()), "{}", bytes.len());
        let flipped = bytes.iter().filter(|byte| byte.count_ones() == 1).count();
        assert!((700..900).contains(&flipped) && bytes.iter().all(|byte| byte.count_ones() <= 1), "{flipped}");
        assert!(bytes == spoilt(1) && bytes != spoilt(2));
        let mut sound = vec![1, 2, 3];
        Faults::default().spoil(&mut sound, &mut Random::new(1, 0));
        assert_eq!(sound, [1, 2, 3]);
    }
}
