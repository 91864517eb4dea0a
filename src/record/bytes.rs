//! Binary encoding of numbers and texts: fixed-size little-endian numbers; counts and lengths in LEB128.

use super::error::Damage;

/// Appends a fixed number of bytes.
pub fn put_word(out: &mut Vec<u8>, word: u64) {
    out.extend(word.to_le_bytes());
}

/// Appends a number by its bits.
pub fn put_number(out: &mut Vec<u8>, x: f64) {
    put_word(out, x.to_bits());
}

/// Appends a count.
pub fn put_count(out: &mut Vec<u8>, mut count: u64) {
    while count >= 0x80 {
        out.push(count as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
}

/// Appends a text after its length.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends bytes after their number.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Reads encoded values and reports the position of errors.
pub struct ByteReader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Offset of the bytes in the file.
    start: usize,
}

impl<'b> ByteReader<'b> {
    /// Starts with bytes at an offset in a file.
    pub fn new(bytes: &'b [u8], start: usize) -> Self {
        Self { bytes, at: 0, start }
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Offset of the next byte in the file.
    pub fn offset(&self) -> usize {
        self.start + self.at
    }

    /// An error at the current position.
    pub fn damage<T>(&self, message: impl Into<String>) -> Result<T, Damage> {
        Err(Damage { offset: self.offset(), message: message.into() })
    }

    fn take(&mut self, length: usize, what: &str) -> Result<&'b [u8], Damage> {
        let rest = &self.bytes[self.at..];
        if length > rest.len() {
            return self.damage(format!("expected {what} of {length} bytes, found {}", rest.len()));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    pub fn byte(&mut self, what: &str) -> Result<u8, Damage> {
        Ok(self.take(1, what)?[0])
    }

    pub fn word(&mut self, what: &str) -> Result<u64, Damage> {
        let bytes = self.take(8, what)?;
        Ok(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }

    pub fn number(&mut self, what: &str) -> Result<f64, Damage> {
        self.word(what).map(f64::from_bits)
    }

    pub fn numbers<const N: usize>(&mut self, what: &str) -> Result<[f64; N], Damage> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = self.number(what)?;
        }
        Ok(numbers)
    }

    pub fn count(&mut self, what: &str) -> Result<u64, Damage> {
        let mut count = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            count |= bits << shift;
            if byte < 0x80 {
                return Ok(count);
            }
        }
        self.damage(format!("expected {what}, found a count of more than 64 bits"))
    }

    pub fn bytes(&mut self, what: &str) -> Result<&'b [u8], Damage> {
        let length = self.count(what)?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX), what)
    }

    pub fn text(&mut self, what: &str) -> Result<String, Damage> {
        match std::str::from_utf8(self.bytes(what)?) {
            Ok(text) => Ok(text.into()),
            Err(_) => self.damage(format!("{what} that ends here is not UTF-8")),
        }
    }
}

/// CRC-32, as in Ethernet, gzip and PNG.
pub fn checksum(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let (mut value, mut bit) = (i as u32, 0);
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[i] = value;
            i += 1;
        }
        table
    };
    let bytes = parts.iter().flat_map(|part| part.iter());
    !bytes.fold(!0, |sum: u32, byte| sum >> 8 ^ TABLE[(sum as u8 ^ byte) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_standard_crc32() {
        assert_eq!(checksum(&[b"123456789"]), 0xcbf4_3926);
        assert_eq!(checksum(&[b"1234", b"", b"56789"]), 0xcbf4_3926);
        assert_eq!(checksum(&[]), 0);
    }

    #[test]
    fn counts_and_texts_round_trip() {
        let counts = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut out = Vec::new();
        counts.iter().for_each(|count| put_count(&mut out, *count));
        put_text(&mut out, "Grüße");
        put_number(&mut out, -0.0);
        let mut scanner = ByteReader::new(&out, 100);
        assert!(counts.iter().all(|count| scanner.count("a count") == Ok(*count)));
        assert_eq!(scanner.text("a text").as_deref(), Ok("Grüße"));
        assert_eq!(scanner.number("a number").map(f64::to_bits), Ok((-0.0f64).to_bits()));
        assert!(scanner.is_done() && scanner.offset() == 100 + out.len());
    }

    #[test]
    fn invalid_values_are_reported_with_their_position() {
        let long = [0xff; 10];
        let damage = ByteReader::new(&long, 7).count("a length").expect_err("too long");
        assert_eq!((damage.offset, damage.message.contains("more than 64 bits")), (17, true));
        let damage = ByteReader::new(&[200, 1, b'a'], 7).text("a name").expect_err("too short");
        assert_eq!((damage.offset, damage.message.as_str()), (9, "expected a name of 200 bytes, found 1"));
        assert!(ByteReader::new(&[1, 0xff], 0).text("a name").is_err(), "not UTF-8");
    }
}
