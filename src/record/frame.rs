//! Frames: kind, length, a check of both, payload, checksum of everything before. The header check distinguishes a
//! truncated frame from one with a corrupt length.

use super::bytes::{ByteReader, checksum, put_count};
use super::error::Damage;

/// A frame of a file.
#[derive(Debug)]
pub struct FileFrame<'b> {
    /// Kind: a number from 1, specific to the type of file.
    pub kind: u8,
    /// Its offset.
    pub offset: usize,
    /// Its payload.
    pub payload: &'b [u8],
    /// Offset of the payload.
    pub payload_offset: usize,
}

impl<'b> FileFrame<'b> {
    /// Reads its payload.
    pub fn scanner(&self) -> ByteReader<'b> {
        ByteReader::new(self.payload, self.payload_offset)
    }
}

/// Appends a frame.
pub fn put_frame(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    let start = out.len();
    out.push(kind);
    put_count(out, payload.len() as u64);
    out.push(head_check(&out[start..]));
    out.extend(payload);
    let sum = checksum(&[&out[start..]]);
    out.extend(sum.to_le_bytes());
}

fn head_check(head: &[u8]) -> u8 {
    checksum(&[head]) as u8
}

/// The frame at an offset of a file with this many kinds of frames; `None` if the file ends within it.
pub fn read_frame(file: &[u8], offset: usize, kinds: u8) -> Result<Option<FileFrame<'_>>, Damage> {
    let rest = file.get(offset..).unwrap_or_default();
    // Preallocated but unwritten disk space is zero.
    if rest.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let damage = |message: String| Err(Damage { offset, message });
    let kind = rest[0];
    if !(1..=kinds).contains(&kind) {
        return damage(format!("expected a frame of kind 1 to {kinds}, found {kind}"));
    }
    // A length has at most ten bytes.
    let Some(length_bytes) = rest[1..].iter().take(10).position(|byte| *byte < 0x80).map(|place| place + 1) else {
        return if rest.len() <= 10 { Ok(None) } else { damage("the length of the frame has no end".into()) };
    };
    let (head, body) = rest.split_at(1 + length_bytes);
    let length = ByteReader::new(&head[1..], offset + 1).count("the length of a frame")?;
    let Some((check, body)) = body.split_first() else { return Ok(None) };
    if *check != head_check(head) {
        return damage("the head of the frame does not match its check".into());
    }
    let Some(payload) = usize::try_from(length).ok().and_then(|length| body.get(..length)) else { return Ok(None) };
    let Some(sum) = body.get(payload.len()..payload.len() + 4) else { return Ok(None) };
    if sum != checksum(&[head, &[*check], payload]).to_le_bytes() {
        return damage("the bytes of the frame do not match its checksum".into());
    }
    Ok(Some(FileFrame { kind, offset, payload, payload_offset: offset + head.len() + 1 }))
}

/// Offset of the next frame.
pub fn after(frame: &FileFrame<'_>) -> usize {
    frame.payload_offset + frame.payload.len() + 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_frame_is_none_and_a_flipped_bit_is_an_error() {
        for length in [0, 1, 127, 128, 5000] {
            let payload: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let mut file = vec![9; 3];
            put_frame(&mut file, 4, &payload);
            let frame = read_frame(&file, 3, 5).expect("sound").expect("whole");
            assert_eq!((frame.kind, frame.payload, after(&frame)), (4, &payload[..], file.len()));
            for end in 3..file.len() {
                assert!(read_frame(&file[..end], 3, 5).is_ok_and(|frame| frame.is_none()), "cut at {end}");
            }
            for bit in 0..8 * (file.len() - 3) {
                let mut bad = file.clone();
                bad[3 + bit / 8] ^= 1 << (bit % 8);
                assert!(read_frame(&bad, 3, 5).is_err(), "bit {bit} of {length}");
            }
        }
        assert!(read_frame(&[0; 100], 3, 5).is_ok_and(|frame| frame.is_none()), "nothing was written there");
    }
}
