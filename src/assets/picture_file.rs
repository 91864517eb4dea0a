/// The bytes of a PNG file: rows from the top, three bytes (sRGB) per pixel. Fails if the sizes do not match.
pub fn png_bytes(width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_round_trips() {
        let pixels: Vec<u8> = (0..3 * 5 * 2).map(|i| 7 * i as u8).collect();
        let bytes = png_bytes(5, 2, &pixels).expect("a picture");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
        let mut read = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut read).expect("a frame");
        assert_eq!((info.width, info.height, &read[..pixels.len()]), (5, 2, &pixels[..]));
        assert!(png_bytes(5, 2, &pixels[1..]).is_err() && png_bytes(0, 0, &[]).is_err());
    }
}
