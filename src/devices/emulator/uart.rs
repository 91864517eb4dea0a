//! What a serial port reads when its speed is not that of the sender.

/// Bits of a frame: a start bit, which is low, eight of data, the lowest first, a stop bit, which is high.
const FRAME: usize = 10;

/// What a receiver at one speed makes of bytes that were sent at another, in one go on a line that idles before and after.
///
/// As a UART does: a frame begins where the line falls, each bit is what the line is in the middle of it, and a start bit that is
/// high by then was none. After a stop bit that is low the line has to rise before another frame can begin; its byte is
/// handed on all the same, as the drivers do that are not told to check.
pub fn misread(bytes: &[u8], sent_at: u32, read_at: u32) -> Vec<u8> {
    if sent_at == read_at || sent_at == 0 || read_at == 0 {
        return bytes.into();
    }
    let is_high = |bit: usize| match (bytes.get(bit / FRAME), bit % FRAME) {
        (None, _) | (_, 9) => true,
        (_, 0) => false,
        (Some(byte), place) => byte >> (place - 1) & 1 == 1,
    };
    // The sender's bit in which the middle of the receiver's bit lies, counted from where the line fell.
    let middle = |bit: u64| ((2 * bit + 1) * u64::from(sent_at) / (2 * u64::from(read_at))) as usize;
    let end = FRAME * bytes.len();
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
    fn half_the_speed_sees_every_second_bit() {
        // Low for nine bits, then high: start, three zeros, and the idle line.
        assert_eq!(misread(&[0x00], 19200, 9600), [0b1111_1000]);
        // Low for one bit, which is over before the middle of a slow start bit.
        assert!(misread(&[0xFF], 19200, 9600).is_empty());
        // 0 1010 1010 1 1…: the fall is at the start bit, and the second bit is high: no start. Likewise at the next falls.
        assert!(misread(&[0x55], 19200, 9600).is_empty());
    }

    #[test]
    fn double_the_speed_sees_every_bit_twice() {
        // Low for eighteen fast bits: a byte of zeros without a stop bit. The line rises, and nothing follows.
        assert_eq!(misread(&[0x00], 9600, 19200), [0x00]);
        // Low for two: the start bit and a zero.
        assert_eq!(misread(&[0xFF], 9600, 19200), [0xFE]);
        // 0 0 1 1 1 1 0 0 0 of 0x03 … : start, 0, 1111, 000, and a low stop bit.
        assert_eq!(misread(&[0x03], 9600, 19200)[0], 0b0001_1110);
    }

    #[test]
    fn a_slight_difference_does_no_harm() {
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
            // The last frame may reach into the idle line.
            prop_assert!(seen <= bytes.len() as f64 * f64::from(read) / f64::from(sent) * 10.0 / 9.5 + 1.0);
            prop_assert_eq!(misread(&bytes, sent, sent), bytes);
        }
    }
}
