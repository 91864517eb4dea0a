use std::fmt;

use super::Step;
use crate::protocol::{Gap, Sensor};
use crate::tracking::Finger;

/// Why a step cannot be used: one sentence that names the sensor, says what was measured, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The step that is to be repeated.
    pub step: Step,
    /// The sensor that it is about; `None` if all of them.
    pub sensor: Option<Sensor>,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a sensor in a step. Everything is in parts of the wire's scale unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// It said nothing, or too little.
    Silent {
        /// Readings that came.
        readings: usize,
        /// Readings that are needed.
        least: usize,
    },
    /// Its readings scatter.
    Noisy {
        /// Their standard deviation.
        noise: f64,
        /// The most that is taken.
        most: f64,
    },
    /// It went from one value to another while it was measured.
    Moved {
        /// How far.
        by: f64,
    },
    /// Between the flat hand and this step it hardly moves.
    SmallSpan {
        /// How far it moves.
        span: f64,
        /// The least that is taken.
        least: f64,
    },
    /// It moves, but hardly more than its readings scatter.
    Buried {
        /// How far it moves.
        span: f64,
        /// The standard deviation of its readings.
        noise: f64,
    },
    /// It is bent where it should be straight.
    Bent {
        /// How far, in parts of the way from the flat hand to the fist.
        bend: f64,
    },
    /// It is straight where it should be bent.
    Straight {
        /// How far it is bent, in parts of the way from the flat hand to the fist.
        bend: f64,
    },
    /// No sensor moved between the flat hand and this step.
    SameAsFlat {
        /// The one that moved farthest, and how far.
        farthest: (Sensor, f64),
    },
    /// It follows other fingers more than its own.
    FollowsOthers {
        /// The sum of what it takes from the others, in parts of its own span.
        crosstalk: f64,
    },
}

/// A sensor in words for people: `index finger`, `knuckle of the index finger`, `gap between ring and little finger`.
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

/// Parts of one as a percentage with a sensible number of digits.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0.abs();
        if percent < 10.0 { write!(f, "{percent:.1} %") } else { write!(f, "{percent:.0} %") }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step;
        if let Some(sensor) = self.sensor {
            write!(f, "{}: ", in_words(sensor))?;
        }
        match self.reason {
            Reason::Silent { readings: 0, .. } => {
                write!(f, "its sensor says nothing; look at its plug, or take it out of the profile")
            }
            Reason::Silent { readings, least } => {
                write!(
                    f,
                    "only {readings} readings came, at least {least} are needed; hold the pose until it is measured"
                )
            }
            Reason::Noisy { noise, most } => {
                let (noise, most) = (Percent(noise), Percent(most));
                write!(
                    f,
                    "its readings scatter by {noise} of the scale, more than {most}; hold still, and if it stays look for a loose contact"
                )
            }
            Reason::Moved { by } => {
                write!(
                    f,
                    "it moved by {} of the scale while it was measured; hold the pose still until the bar is full",
                    Percent(by)
                )
            }
            Reason::SmallSpan { span, least } => {
                let (span, least) = (Percent(span), Percent(least));
                write!(f, "only {span} of the scale lies between flat hand and {step}, at least {least} are needed; ")?;
                match step {
                    Step::Spread => write!(f, "spread wider, and see that the sensor sits in its place"),
                    _ => write!(f, "stretch it fully, then bend it fully, and see that the sensor sits in its place"),
                }
            }
            Reason::Buried { span, noise } => {
                let (span, noise) = (Percent(span), Percent(noise));
                write!(
                    f,
                    "{span} of the scale lies between flat hand and {step}, too little for readings that scatter by {noise}; bend it farther, and look for a loose contact"
                )
            }
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
            Reason::SameAsFlat { farthest: (sensor, span) } => {
                let (name, span) = (in_words(sensor), Percent(span));
                write!(
                    f,
                    "the {step} looks like the flat hand: no sensor moved, the {name} most by {span} of the scale; take the pose, then go on, and see that the glove is on this hand"
                )
            }
            Reason::FollowsOthers { crosstalk } => {
                write!(
                    f,
                    "it follows the other fingers by {} of what it follows its own; its sensor sits on the wrong finger, or the poses were not those that were asked for: start again",
                    Percent(crosstalk)
                )
            }
        }
    }
}
