//! What a serial port receives at a baud rate different from the sender's.

/// Bits of a frame: a low start bit, eight data bits, lowest first, a high stop bit.
const FRAME_BITS: usize = 10;

/// Bytes received at one baud rate for bytes sent at another, contiguously on a line that idles before and after.
///
/// Like a UART: a frame starts at a falling edge, each bit is sampled in its middle, and a start bit that is high there
/// is rejected. After a low stop bit the line has to rise before the next frame; the byte is still returned, as drivers
/// do without error checking.
pub fn misread(bytes: &[u8], sent_at: u32, read_at: u32) -> Vec<u8> {
    if sent_at == read_at || sent_at == 0 || read_at == 0 {
        return bytes.into();
    }
    let is_high = |bit: usize| match (bytes.get(bit / FRAME_BITS), bit % FRAME_BITS) {
        (None, _) | (_, 9) => true,
        (_, 0) => false,
        (Some(byte), place) => byte >> (place - 1) & 1 == 1,
    };
    // The sender's bit at the middle of the receiver's bit, counted from the falling edge.
    let middle = |bit: u64| ((2 * bit + 1) * u64::from(sent_at) / (2 * u64::from(read_at))) as usize;
    let end = FRAME_BITS * bytes.len();
    let (mut read, mut at) = (Vec::new(), 0);
    while at < end {
        if is_high(at) {
            at += 1;
        } else if is_high(at + middle(0)) {
            at += middle(0).max(1);
        } else {
            read.push((0..8).fold(0, |byte, bit| byte | u8::from(is_high(at + middle(bit + 1))) << bit));
            at += middle(9);
            while !is_high(at) {
                at += 1;
            }
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_the_baud_rate_sees_every_second_bit() {
        // Low for nine bits, then high: start, three zeros, and the idle line.
        assert_eq!(misread(&[0x00], 19200, 9600), [0b1111_1000]);
        // Low for one bit, which ends before the middle of a slow start bit.
        assert!(misread(&[0xFF], 19200, 9600).is_empty());
        // 0 1010 1010 1 1…: the falling edge is at the start bit, and the second bit is high: no start. Likewise at the
        // next edges.
        assert!(misread(&[0x55], 19200, 9600).is_empty());
    }

    #[test]
    fn double_the_baud_rate_sees_every_bit_twice() {
        // Low for eighteen fast bits: a zero byte without a stop bit. The line rises, and nothing follows.
        assert_eq!(misread(&[0x00], 9600, 19200), [0x00]);
        // Low for two: the start bit and a zero.
        assert_eq!(misread(&[0xFF], 9600, 19200), [0xFE]);
        // 0 0 1 1 1 1 0 0 0 of 0x03 … : start, 0, 1111, 000, and a low stop bit.
        assert_eq!(misread(&[0x03], 9600, 19200)[0], 0b0001_1110);
    }

    #[test]
    fn a_small_mismatch_is_harmless() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(misread(&all, 115_200, 115_200), all);
        assert_eq!(misread(&all, 115_200, 113_000), all);
        assert_eq!(misread(&all, 115_200, 117_600), all);
        assert_ne!(misread(&all, 115_200, 104_000), all, "ten percent are too much");
    }

    proptest! {
        #[test]
        fn a_line_has_no_more_bytes_than_time(bytes in prop::collection::vec(any::<u8>(), 0..40), sent in 1u32..400_000, read in 1u32..400_000) {
            let seen = misread(&bytes, sent, read).len() as f64;
            // The last frame may extend into the idle line.
            prop_assert!(seen <= bytes.len() as f64 * f64::from(read) / f64::from(sent) * 10.0 / 9.5 + 1.0);
            prop_assert_eq!(misread(&bytes, sent, sent), bytes);
        }
    }
}
