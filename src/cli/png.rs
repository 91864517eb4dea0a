//! Small pictures as PNG files: what a study draws does not need the viewer. The pixels are stored as they are, not
//! compressed.

/// Most bytes that a stored block of a deflate stream can hold.
const BLOCK: usize = 0xffff;

/// The bytes of a PNG file: rows from the top, three bytes (sRGB) a pixel. Pixels that are missing are black.
pub fn encode(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let row = 3 * width as usize;
    let mut lines = Vec::with_capacity((row + 1) * height as usize);
    for y in 0..height as usize {
        // Every line names its filter: none.
        lines.push(0);
        lines.extend((y * row..(y + 1) * row).map(|i| pixels.get(i).copied().unwrap_or(0)));
    }
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits a channel, red green blue, and the only compression, filtering and order of lines that there are.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", zlib(&lines)), (b"IEND", Vec::new())] {
        file.extend((data.len() as u32).to_be_bytes());
        let start = file.len();
        file.extend(name);
        file.extend(data);
        file.extend(crc32(&file[start..]).to_be_bytes());
    }
    file
}

/// A zlib stream of stored blocks.
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(BLOCK).max(1);
    for i in 0..blocks {
        let block = &data[i * BLOCK..data.len().min((i + 1) * BLOCK)];
        let length = block.len() as u16;
        stream.push(u8::from(i + 1 == blocks));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

fn adler32(data: &[u8]) -> u32 {
    const PRIME: u32 = 65_521;
    let (a, b) = data.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % PRIME;
        (a, (b + a) % PRIME)
    });
    (b << 16) | a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger than one stored block.
    fn sample() -> (u32, u32, Vec<u8>) {
        let (width, height) = (173, 211);
        (width, height, (0..3 * width * height).map(|i| (i.wrapping_mul(i) / 7) as u8).collect())
    }

    #[test]
    fn checksums_are_the_published_ones() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn a_file_takes_apart_as_it_was_put_together() {
        let (width, height, pixels) = sample();
        let file = encode(width, height, &pixels);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let (mut rest, mut chunks) = (&file[8..], Vec::new());
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
            let (chunk, after) = rest[4..].split_at(4 + length);
            assert_eq!(after[..4], crc32(chunk).to_be_bytes());
            chunks.push(chunk);
            rest = &after[4..];
        }
        let names: Vec<&[u8]> = chunks.iter().map(|c| &c[..4]).collect();
        assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
        assert_eq!(chunks[0][4..], [0, 0, 0, 173, 0, 0, 0, 211, 8, 2, 0, 0, 0]);
        let stream = &chunks[1][4..];
        assert_eq!(u16::from_be_bytes([stream[0], stream[1]]) % 31, 0);
        let (mut rest, mut lines, mut last) = (&stream[2..], Vec::new(), false);
        while !last {
            last = rest[0] == 1;
            let length = u16::from_le_bytes([rest[1], rest[2]]);
            assert_eq!(!length, u16::from_le_bytes([rest[3], rest[4]]));
            let (block, after) = rest[5..].split_at(length as usize);
            lines.extend_from_slice(block);
            rest = after;
        }
        assert_eq!(rest, adler32(&lines).to_be_bytes());
        let unfiltered: Vec<u8> = lines.chunks_exact(1 + 3 * width as usize).flat_map(|l| l[1..].to_vec()).collect();
        assert!(unfiltered == pixels);
    }

    #[cfg(feature = "viewer")]
    #[test]
    fn another_decoder_reads_the_same_pixels() {
        let (width, height, pixels) = sample();
        let file = encode(width, height, &pixels);
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a header");
        let mut read = vec![0; pixels.len()];
        let info = reader.next_frame(&mut read).expect("pixels");
        assert!((info.width, info.height) == (width, height) && read == pixels);
    }
}
