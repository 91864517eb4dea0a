//! Datagrams of the haptic bridge: poses in, wrenches out. Little-endian, fixed length; `docs/haptic_bridge.md` has the layout and a client.

use crate::math::{Pose, Quat, Vec3};

/// First four bytes of every datagram.
pub const BRIDGE_MAGIC: [u8; 4] = *b"FPHB";
/// Version of the layout.
pub const BRIDGE_VERSION: u16 = 1;
/// Length of a pose, bytes.
pub const POSE_LENGTH: usize = 88;
/// Length of a wrench, bytes.
pub const WRENCH_LENGTH: usize = 80;

/// A pose from a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgePose {
    /// Counts up with every datagram.
    pub sequence: u64,
    /// Time of the sender, ns.
    pub time: u64,
    /// Where the device is, m.
    pub pose: Pose,
    /// One bit for each button.
    pub buttons: u32,
}

/// A wrench to a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgeWrench {
    /// Counts up with every datagram.
    pub sequence: u64,
    /// Time stamp of the pose that it answers, ns.
    pub time: u64,
    /// N.
    pub force: Vec3,
    /// N·m.
    pub torque: Vec3,
    /// Sequence number of the pose that it answers.
    pub answers: u64,
}

/// Why a datagram is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BridgeFault {
    /// Its length is not that of its kind.
    #[error("the datagram has {0} bytes")]
    Length(usize),
    /// It does not begin with the magic number.
    #[error("the datagram does not begin with FPHB")]
    Magic,
    /// Its version is not known.
    #[error("version {0} of the bridge is not known")]
    Version(u16),
    /// Its kind is not the expected one.
    #[error("kind {0} is not expected here")]
    Kind(u16),
    /// A number is not finite, or the quaternion has no length.
    #[error("a number of the datagram is not finite, or its quaternion is not of unit length")]
    Value,
}

impl BridgePose {
    /// The datagram.
    pub fn encode(&self) -> [u8; POSE_LENGTH] {
        let mut out = [0; POSE_LENGTH];
        header(&mut out, 1, self.sequence, self.time);
        let q = self.pose.rotation.coords;
        let p = self.pose.translation.vector;
        numbers(&mut out[24..80], &[p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
        out[80..84].copy_from_slice(&self.buttons.to_le_bytes());
        out
    }

    /// From a datagram. A quaternion whose length is off by less than a part in a hundred is scaled.
    pub fn decode(bytes: &[u8]) -> Result<Self, BridgeFault> {
        let (sequence, time) = read_header(bytes, 1, POSE_LENGTH)?;
        let [x, y, z, i, j, k, w] = read_numbers(&bytes[24..80])?;
        let q = nalgebra::Quaternion::new(w, i, j, k);
        if (q.norm() - 1.0).abs() > 0.01 {
            return Err(BridgeFault::Value);
        }
        let pose = Pose::from_parts(Vec3::new(x, y, z).into(), Quat::from_quaternion(q));
        let mut buttons = [0; 4];
        buttons.copy_from_slice(&bytes[80..84]);
        Ok(Self { sequence, time, pose, buttons: u32::from_le_bytes(buttons) })
    }
}

impl BridgeWrench {
    /// The datagram.
    pub fn encode(&self) -> [u8; WRENCH_LENGTH] {
        let mut out = [0; WRENCH_LENGTH];
        header(&mut out, 2, self.sequence, self.time);
        let (f, t) = (self.force, self.torque);
        numbers(&mut out[24..72], &[f.x, f.y, f.z, t.x, t.y, t.z]);
        out[72..80].copy_from_slice(&self.answers.to_le_bytes());
        out
    }

    /// From a datagram.
    pub fn decode(bytes: &[u8]) -> Result<Self, BridgeFault> {
        let (sequence, time) = read_header(bytes, 2, WRENCH_LENGTH)?;
        let [a, b, c, d, e, f] = read_numbers(&bytes[24..72])?;
        Ok(Self {
            sequence,
            time,
            force: Vec3::new(a, b, c),
            torque: Vec3::new(d, e, f),
            answers: word(&bytes[72..80]),
        })
    }
}

fn header(out: &mut [u8], kind: u16, sequence: u64, time: u64) {
    out[..4].copy_from_slice(&BRIDGE_MAGIC);
    out[4..6].copy_from_slice(&BRIDGE_VERSION.to_le_bytes());
    out[6..8].copy_from_slice(&kind.to_le_bytes());
    out[8..16].copy_from_slice(&sequence.to_le_bytes());
    out[16..24].copy_from_slice(&time.to_le_bytes());
}

fn read_header(bytes: &[u8], kind: u16, length: usize) -> Result<(u64, u64), BridgeFault> {
    if bytes.len() < 8 {
        return Err(BridgeFault::Length(bytes.len()));
    }
    if bytes[..4] != BRIDGE_MAGIC {
        return Err(BridgeFault::Magic);
    }
    let half = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
    if half(4) != BRIDGE_VERSION {
        return Err(BridgeFault::Version(half(4)));
    }
    if half(6) != kind {
        return Err(BridgeFault::Kind(half(6)));
    }
    if bytes.len() != length {
        return Err(BridgeFault::Length(bytes.len()));
    }
    Ok((word(&bytes[8..16]), word(&bytes[16..24])))
}

fn word(bytes: &[u8]) -> u64 {
    let mut buffer = [0; 8];
    buffer.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(buffer)
}

fn numbers(out: &mut [u8], values: &[f64]) {
    for (place, value) in out.chunks_exact_mut(8).zip(values) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}

fn read_numbers<const N: usize>(bytes: &[u8]) -> Result<[f64; N], BridgeFault> {
    let mut out = [0.0; N];
    for (value, place) in out.iter_mut().zip(bytes.chunks_exact(8)) {
        *value = f64::from_bits(word(place));
    }
    if out.iter().all(|x| x.is_finite()) { Ok(out) } else { Err(BridgeFault::Value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose() -> BridgePose {
        let pose = Pose::from_parts(Vec3::new(0.1, -0.2, 0.3).into(), Quat::identity());
        BridgePose { sequence: 7, time: 1_000_000, pose, buttons: 5 }
    }

    #[test]
    fn a_pose_is_these_bytes() {
        let bytes = pose().encode();
        assert_eq!(&bytes[..24], b"FPHB\x01\x00\x01\x00\x07\0\0\0\0\0\0\0\x40\x42\x0f\0\0\0\0\0");
        assert_eq!(&bytes[24..32], &[0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f]);
        assert_eq!(&bytes[72..84], &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 5, 0, 0, 0]);
        assert_eq!(BridgePose::decode(&bytes), Ok(pose()));
    }

    #[test]
    fn a_wrench_goes_there_and_back() {
        let wrench = BridgeWrench {
            sequence: 3,
            time: 9,
            force: Vec3::new(1.0, 2.0, -3.5),
            torque: Vec3::new(0.0, 0.25, 0.0),
            answers: 7,
        };
        let bytes = wrench.encode();
        assert_eq!(&bytes[4..8], &[1, 0, 2, 0]);
        assert_eq!(&bytes[24..32], &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(BridgeWrench::decode(&bytes), Ok(wrench));
    }

    #[test]
    fn bad_datagrams_are_refused() {
        let good = pose().encode();
        assert_eq!(BridgePose::decode(&good[..20]), Err(BridgeFault::Length(20)));
        assert_eq!(BridgePose::decode(b""), Err(BridgeFault::Length(0)));
        let changed = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            BridgePose::decode(&bytes)
        };
        assert_eq!(changed(0, b'X'), Err(BridgeFault::Magic));
        assert_eq!(changed(4, 2), Err(BridgeFault::Version(2)));
        assert_eq!(changed(6, 2), Err(BridgeFault::Kind(2)));
        let mut broken = good;
        broken[24..32].copy_from_slice(&f64::NAN.to_le_bytes());
        assert_eq!(BridgePose::decode(&broken), Err(BridgeFault::Value));
        broken = good;
        broken[48..80].fill(0);
        assert_eq!(BridgePose::decode(&broken), Err(BridgeFault::Value));
    }
}
