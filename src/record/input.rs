use nalgebra::{Quaternion, Unit};

use super::bytes::{ByteReader, put_count, put_number, put_text};
use super::error::Damage;
use crate::math::{Pose, Vec3};
use crate::tracking::{ANGLES, HandSample};

/// An eye of the user in a headset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Its pose in the world; it looks along −z, with y up.
    pub pose: Pose,
    /// Angles to the left, right, upper and lower edge of its picture, rad.
    pub fov: [f64; 4],
}

/// An external input before a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A sample of a device for a hand.
    Sample {
        /// Index of the hand in the scene.
        hand: usize,
        /// The sample.
        sample: Box<HandSample>,
    },
    /// A button of a device.
    Button {
        /// Its name.
        name: String,
        /// Whether it was pressed or released.
        pressed: bool,
    },
    /// The solver hit its deadline after this many sweeps.
    CutShort {
        /// Total sweeps of all groups.
        sweeps: u64,
    },
    /// Left and right eye in a headset. They do not change the run.
    Eyes(Box<[Eye; 2]>),
}

const SAMPLE: u8 = 1;
const BUTTON: u8 = 2;
const CUT_SHORT: u8 = 3;
const EYES: u8 = 4;
/// Bits for the parts of a sample.
const PALM_BIT: u8 = 1;
const JOINTS_BIT: u8 = 2;

impl Input {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Sample { hand, sample } => {
                out.push(SAMPLE);
                put_count(out, *hand as u64);
                let palm_part = if sample.palm.is_some() { PALM_BIT } else { 0 };
                out.push(palm_part | if sample.angles.is_some() { JOINTS_BIT } else { 0 });
                put_number(out, sample.time);
                let palm = sample.palm.iter().flat_map(|palm| {
                    palm.translation.vector.iter().chain(palm.rotation.coords.iter()).copied().collect::<Vec<f64>>()
                });
                palm.chain(sample.angles.into_iter().flatten()).for_each(|x| put_number(out, x));
            }
            Self::Button { name, pressed } => {
                out.push(BUTTON);
                out.push((*pressed).into());
                put_text(out, name);
            }
            Self::CutShort { sweeps } => {
                out.push(CUT_SHORT);
                put_count(out, *sweeps);
            }
            Self::Eyes(eyes) => {
                out.push(EYES);
                for eye in eyes.iter() {
                    let (p, q) = (eye.pose.translation.vector, eye.pose.rotation.coords);
                    p.iter().chain(q.iter()).chain(&eye.fov).for_each(|x| put_number(out, *x));
                }
            }
        }
    }

    pub(super) fn read(scanner: &mut ByteReader<'_>) -> Result<Self, Damage> {
        match scanner.byte("an input")? {
            SAMPLE => {
                let hand = scanner.count("the number of a hand")?;
                let Ok(hand) = usize::try_from(hand) else {
                    return scanner.damage(format!("there is no hand of number {hand}"));
                };
                let parts = scanner.byte("the parts of a sample")?;
                if parts & !(PALM_BIT | JOINTS_BIT) != 0 {
                    return scanner
                        .damage(format!("expected the parts of a sample from 0 to 3 before this, found {parts}"));
                }
                let time = scanner.number("the time of a sample")?;
                let palm = if parts & PALM_BIT != 0 { Some(read_pose(scanner)?) } else { None };
                let angles = if parts & JOINTS_BIT != 0 {
                    Some(scanner.numbers::<ANGLES>("the angles of a sample")?)
                } else {
                    None
                };
                Ok(Self::Sample { hand, sample: Box::new(HandSample { time, palm, angles }) })
            }
            BUTTON => {
                let pressed = scanner.byte("whether a button is pressed")? != 0;
                Ok(Self::Button { name: scanner.text("the name of a button")?, pressed })
            }
            CUT_SHORT => Ok(Self::CutShort { sweeps: scanner.count("the number of sweeps")? }),
            EYES => Ok(Self::Eyes(Box::new([read_eye(scanner)?, read_eye(scanner)?]))),
            other => scanner.damage(format!("expected an input of kind 1 to 4 before this, found {other}")),
        }
    }
}

fn read_eye(scanner: &mut ByteReader<'_>) -> Result<Eye, Damage> {
    let pose = read_pose(scanner)?;
    Ok(Eye { pose, fov: scanner.numbers::<4>("the field of view of an eye")? })
}

/// A pose with the exact bits that were written: an invalid sample must be rejected again.
fn read_pose(scanner: &mut ByteReader<'_>) -> Result<Pose, Damage> {
    let [x, y, z, i, j, k, w] = scanner.numbers::<7>("a pose")?;
    Ok(Pose::from_parts(Vec3::new(x, y, z).into(), Unit::new_unchecked(Quaternion::new(w, i, j, k))))
}
