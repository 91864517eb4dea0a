use std::fmt;

use super::PoseStep;
use crate::protocol::{Gap, Sensor};
use crate::tracking::Finger;

/// Why a step was rejected: one sentence with the sensor, the measurement and the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The step to repeat.
    pub step: PoseStep,
    /// The sensor; `None` for all.
    pub sensor: Option<Sensor>,
    /// The reason.
    pub reason: Reason,
}

/// Reason for rejecting a step. Values are fractions of the wire scale unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// No readings, or too few.
    Silent {
        /// Readings that came.
        readings: usize,
        /// Readings that are needed.
        least: usize,
    },
    /// Noisy readings.
    Noisy {
        /// Their standard deviation.
        noise: f64,
        /// The limit.
        most: f64,
    },
    /// The value drifted during the measurement.
    Moved {
        /// Drift.
        by: f64,
    },
    /// Small span between the flat hand and this step.
    SmallSpan {
        /// How far it moves.
        span: f64,
        /// The minimum.
        least: f64,
    },
    /// Small span relative to the noise.
    Buried {
        /// How far it moves.
        span: f64,
        /// The standard deviation of its readings.
        noise: f64,
    },
    /// Bent instead of straight.
    Bent {
        /// Bend as a fraction of the span from the flat hand to the fist.
        bend: f64,
    },
    /// Straight instead of bent.
    Straight {
        /// Bend as a fraction of the span from the flat hand to the fist.
        bend: f64,
    },
    /// No sensor moved between the flat hand and this step.
    SameAsFlat {
        /// The sensor that moved most, and its span.
        farthest: (Sensor, f64),
    },
    /// Follows other fingers more than its own.
    FollowsOthers {
        /// Total crosstalk from the others, as a fraction of its span.
        crosstalk: f64,
    },
}

/// Display name of a sensor: `index finger`, `knuckle of the index finger`, `gap between ring and little finger`.
pub(super) fn in_words(sensor: Sensor) -> String {
    let finger = |finger: Finger| match finger {
        Finger::Thumb => "thumb".to_string(),
        other => format!("{} finger", other.name()),
    };
    match sensor {
        Sensor::Curl(f) => finger(f),
        Sensor::Joint(f, place) => {
            format!("{} of the {}", ["first joint", "knuckle", "middle joint", "last joint"][place as usize], finger(f))
        }
        Sensor::Splay(f) => format!("splay of the {}", finger(f)),
        Sensor::Between(gap) => {
            let [one, other] = match gap {
                Gap::ThumbIndex => ["thumb", "index finger"],
                Gap::IndexMiddle => ["index", "middle finger"],
                Gap::MiddleRing => ["middle", "ring finger"],
                Gap::RingLittle => ["ring", "little finger"],
            };
            format!("gap between {one} and {other}")
        }
        Sensor::ThumbPalm => "thumb over the palm".into(),
        Sensor::Wrist => "wrist".into(),
    }
}

/// A fraction as a percentage with a suitable number of digits.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0.abs();
        if percent < 10.0 { write!(f, "{percent:.1} %") } else { write!(f, "{percent:.0} %") }
    }
}

fn small_span(f: &mut fmt::Formatter<'_>, step: PoseStep, span: Percent, least: Percent) -> fmt::Result {
    write!(f, "only {span} of the scale lies between flat hand and {step}, at least {least} are needed; ")?;
    match step {
        PoseStep::Spread => write!(f, "spread wider, and check that the sensor is in place"),
        _ => write!(f, "stretch it fully, then bend it fully, and check that the sensor is in place"),
    }
}

fn buried(f: &mut fmt::Formatter<'_>, step: PoseStep, span: Percent, noise: Percent) -> fmt::Result {
    write!(
        f,
        "{span} of the scale lies between flat hand and {step}, too little for readings that scatter by {noise}; bend it farther, and check for a loose contact"
    )
}

fn same_as_flat(f: &mut fmt::Formatter<'_>, step: PoseStep, farthest: &str, span: Percent) -> fmt::Result {
    write!(
        f,
        "the {step} looks like the flat hand: no sensor moved, the {farthest} most by {span} of the scale; take the pose before continuing, and check that the glove is on this hand"
    )
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step;
        if let Some(sensor) = self.sensor {
            write!(f, "{}: ", in_words(sensor))?;
        }
        match self.reason {
            Reason::Silent { readings: 0, .. } => {
                write!(f, "its sensor sends no values; check its plug, or remove it from the profile")
            }
            Reason::Silent { readings, least } => {
                write!(
                    f,
                    "only {readings} readings arrived, at least {least} are needed; hold the pose until it is measured"
                )
            }
            Reason::Noisy { noise, most } => {
                let (noise, most) = (Percent(noise), Percent(most));
                write!(
                    f,
                    "its readings scatter by {noise} of the scale, more than {most}; hold still; if it persists, check for a loose contact"
                )
            }
            Reason::Moved { by } => {
                write!(
                    f,
                    "it moved by {} of the scale during the measurement; hold still until the bar is full",
                    Percent(by)
                )
            }
            Reason::SmallSpan { span, least } => small_span(f, step, Percent(span), Percent(least)),
            Reason::Buried { span, noise } => buried(f, step, Percent(span), Percent(noise)),
            Reason::Bent { bend } => {
                write!(
                    f,
                    "bent to {} of the fist where it should be straight; stretch it, and keep the others as they are",
                    Percent(bend)
                )
            }
            Reason::Straight { bend } => {
                write!(
                    f,
                    "bent only to {} of the fist; bend it as in the fist, and keep the others as they are",
                    Percent(bend.max(0.0))
                )
            }
            Reason::SameAsFlat { farthest: (sensor, span) } => same_as_flat(f, step, &in_words(sensor), Percent(span)),
            Reason::FollowsOthers { crosstalk } => {
                write!(
                    f,
                    "its crosstalk from other fingers is {} of its span; its sensor is on the wrong finger, or the poses were wrong: start again",
                    Percent(crosstalk)
                )
            }
        }
    }
}
