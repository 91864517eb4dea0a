//! Random bytes through the decoders of all devices.

use super::dice::Dice;
use crate::math::{Pose, Quat, Vec3};
use crate::protocol::{Decoder, Encoder, Format, Reading};
use crate::tracking::{ANGLES, HandSample};

/// More bytes than any decoder may hold back.
const BUFFERED: usize = 1024;
/// Longest piece of bytes.
const PIECE: usize = 400;
/// Bytes that start packets, and digits and separators of text formats.
const TELLING: &[u8] = b"\x80\x55\x3c\x44\x49\xbb\x08\xee\x01\x59\x40#/bundle,fs()&ABCDEFPQ0123456789.-\n";

/// A decoder, and the device whose bytes are damaged.
struct NoisyDecoder {
    format: Format,
    decoder: Box<dyn Decoder>,
    encoder: Box<dyn Encoder>,
}

/// The decoders of all formats.
pub struct Noise {
    lines: Vec<NoisyDecoder>,
    readings: Vec<Reading>,
    /// Bytes decoded so far.
    pub bytes: u64,
}

impl Noise {
    pub fn new() -> Self {
        let line =
            |format: &Format| NoisyDecoder { format: *format, decoder: format.decoder(), encoder: format.encoder() };
        let lines = Format::ALL.iter().map(line).collect();
        Self { lines, readings: Vec::new(), bytes: 0 }
    }

    /// Sends a piece of random or damaged bytes to a random decoder. Returns a sample from the decoded readings, if they have a
    /// place, a rotation or bent fingers; an error if the decoder breaks its promises.
    pub fn push(&mut self, time: f64, dice: &mut Dice) -> Result<Option<HandSample>, String> {
        let line = dice.below(self.lines.len());
        let NoisyDecoder { format, decoder, encoder } = &mut self.lines[line];
        let mut bytes = Vec::new();
        if dice.one_in(2) {
            encoder.packet(&mut bytes);
            for _ in 0..dice.below(4) {
                let at = dice.below(bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = dice.byte();
                }
            }
        } else {
            let length = dice.below(PIECE);
            bytes.extend((0..length).map(|_| if dice.one_in(2) { dice.byte() } else { *dice.pick(TELLING) }));
        }
        self.bytes += bytes.len() as u64;
        self.readings.clear();
        decoder.push(&bytes, &mut self.readings);
        if decoder.buffered() >= BUFFERED {
            return Err(format!("the decoder of {format:?} holds {} bytes", decoder.buffered()));
        }
        if let Some(reading) = self.readings.iter().find(|reading| !reading.is_sound()) {
            return Err(format!("the decoder of {format:?} returned {reading:?}"));
        }
        self.readings.iter().for_each(|reading| encoder.set(reading));
        Ok(sample(&self.readings, time))
    }
}

/// What readings say of a hand.
fn sample(readings: &[Reading], time: f64) -> Option<HandSample> {
    let (mut place, mut turn, mut angles) = (None, None, None);
    for reading in readings {
        match reading {
            Reading::Position { position, .. } => place = Some(*position),
            Reading::Orientation(rotation) => turn = Some(*rotation),
            Reading::Bone { pose, .. } | Reading::Tracked { pose, .. } => {
                (place, turn) = (Some(pose.translation.vector), Some(pose.rotation));
            }
            Reading::Flex(flex) => {
                let bend = flex.iter().next().map_or(0.0, |(_, bend)| bend);
                angles = Some([bend; ANGLES]);
            }
            _ => {}
        }
    }
    let palm = (place.is_some() || turn.is_some())
        .then(|| Pose::from_parts(place.unwrap_or(Vec3::new(0.0, 0.2, 0.0)).into(), turn.unwrap_or(Quat::identity())));
    (palm.is_some() || angles.is_some()).then_some(HandSample { time, palm, angles })
}
