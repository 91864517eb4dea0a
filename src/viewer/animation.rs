use std::collections::BTreeMap;

use super::ViewerError;
use super::picture::Picture;

/// The bytes of an animated PNG of pictures of equal size, each shown for a number of seconds, in a loop.
///
/// It has one palette of 255 colours, and stores for each picture only the difference from the previous one.
pub fn animated_png(pictures: &[Picture], seconds: f64) -> Result<Vec<u8>, ViewerError> {
    let first =
        pictures.first().ok_or_else(|| ViewerError::Failed("an animation needs at least one picture".into()))?;
    let pixels = 3 * first.size.0 as usize * first.size.1 as usize;
    if pictures.iter().any(|picture| picture.size != first.size || picture.pixels.len() != pixels) {
        return Err(ViewerError::Failed("the pictures of an animation differ in size".into()));
    }
    encoded(first.size, pictures, seconds)
        .map_err(|error| ViewerError::Failed(format!("the animation could not be written as PNG: {error}")))
}

/// Palette index of unchanged pixels.
const UNCHANGED: u8 = 255;
/// Bits per channel that distinguish colours.
const BITS: u32 = 6;

fn encoded((width, height): (u32, u32), pictures: &[Picture], seconds: f64) -> Result<Vec<u8>, png::EncodingError> {
    let palette = ReducedColours::of(pictures);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.bytes());
    encoder.set_trns([[255; UNCHANGED as usize].as_slice(), &[0]].concat());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_animated(pictures.len() as u32, 0)?;
    encoder.set_frame_delay((1e3 * seconds).round().clamp(1.0, 65535.0) as u16, 1000)?;
    encoder.set_blend_op(png::BlendOp::Over)?;
    let mut writer = encoder.write_header()?;
    let mut shown: Vec<u8> = Vec::new();
    for picture in pictures {
        let next: Vec<u8> = picture.pixels.chunks_exact(3).map(|c| palette.place([c[0], c[1], c[2]])).collect();
        if shown.is_empty() {
            writer.write_image_data(&next)?;
        } else {
            let (columns, rows) = changed(&shown, &next, width as usize);
            writer.reset_frame_position()?;
            writer.set_frame_dimension((columns.end - columns.start) as u32, (rows.end - rows.start) as u32)?;
            writer.set_frame_position(columns.start as u32, rows.start as u32)?;
            let cells = rows.flat_map(|y| columns.clone().map(move |x| y * width as usize + x));
            let part = cells.map(|i| if next[i] == shown[i] { UNCHANGED } else { next[i] });
            writer.write_image_data(&part.collect::<Vec<u8>>())?;
        }
        shown = next;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Bounding box of the changed pixels; one pixel if nothing changed.
fn changed(before: &[u8], after: &[u8], width: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let places = || before.iter().zip(after).enumerate().filter(|(_, (a, b))| a != b).map(|(i, _)| i);
    let bounds = |values: &mut dyn Iterator<Item = usize>| {
        values.fold(None, |range: Option<[usize; 2]>, v| Some(range.map_or([v, v], |[a, b]| [a.min(v), b.max(v)])))
    };
    let range = |ends: Option<[usize; 2]>| ends.map_or(0..1, |[first, last]| first..last + 1);
    (range(bounds(&mut places().map(|i| i % width))), range(bounds(&mut places().map(|i| i / width))))
}

/// At most 255 colours for all pictures.
struct ReducedColours {
    colours: Vec<[u8; 3]>,
    places: BTreeMap<u32, u8>,
}

impl ReducedColours {
    /// Median cut: splits the box around all colours at the median of its longest side, then the box with the most
    /// pixels, and so on.
    fn of(pictures: &[Picture]) -> Self {
        let mut counts: BTreeMap<u32, (u64, [u64; 3])> = BTreeMap::new();
        for c in pictures.iter().flat_map(|picture| picture.pixels.chunks_exact(3)) {
            let (count, sums) = counts.entry(cell([c[0], c[1], c[2]])).or_default();
            *count += 1;
            (0..3).for_each(|i| sums[i] += u64::from(c[i]));
        }
        let mut boxes =
            vec![counts.iter().map(|(&cell, &(count, sums))| Shade { cell, count, sums }).collect::<Vec<_>>()];
        while boxes.len() < UNCHANGED as usize {
            let Some((widest, channel)) = (boxes.iter().enumerate())
                .filter(|(_, shades)| shades.len() > 1)
                .map(|(i, shades)| (i, spread(shades)))
                .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
                .map(|(i, (channel, _))| (i, channel))
            else {
                break;
            };
            let mut lower = boxes.swap_remove(widest);
            lower.sort_by(|a, b| a.mean(channel).total_cmp(&b.mean(channel)));
            let half = lower.iter().map(|s| s.count).sum::<u64>() / 2;
            let mut seen = 0;
            let at = lower.iter().position(|s| {
                seen += s.count;
                seen > half
            });
            let upper = lower.split_off(at.unwrap_or(1).clamp(1, lower.len() - 1));
            boxes.extend([lower, upper]);
        }
        let mut reduced = Self { colours: Vec::new(), places: BTreeMap::new() };
        for (i, shades) in boxes.iter().enumerate() {
            let count = shades.iter().map(|s| s.count).sum::<u64>().max(1);
            let mean = |c: usize| ((shades.iter().map(|s| s.sums[c]).sum::<u64>() + count / 2) / count) as u8;
            reduced.colours.push([mean(0), mean(1), mean(2)]);
            reduced.places.extend(shades.iter().map(|s| (s.cell, i as u8)));
        }
        reduced
    }

    fn place(&self, colour: [u8; 3]) -> u8 {
        self.places.get(&cell(colour)).copied().unwrap_or(0)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.colours.concat();
        bytes.resize(3 * (UNCHANGED as usize + 1), 0);
        bytes
    }
}

/// Pixels with the same quantised colour.
struct Shade {
    cell: u32,
    count: u64,
    sums: [u64; 3],
}

impl Shade {
    fn mean(&self, channel: usize) -> f64 {
        self.sums[channel] as f64 / self.count as f64
    }
}

/// The channel with the largest range, the range, and the number of pixels.
fn spread(shades: &[Shade]) -> (usize, f64) {
    let range = |channel: usize| {
        let means = shades.iter().map(|s| s.mean(channel));
        let [low, high] = means.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], m| [l.min(m), h.max(m)]);
        high - low
    };
    let ranges = [range(0), range(1), range(2)];
    let channel =
        if ranges[1] >= ranges[0] && ranges[1] >= ranges[2] { 1 } else { 2 * usize::from(ranges[2] > ranges[0]) };
    // Large boxes first, but distant colours with few pixels count too.
    let count = shades.iter().map(|s| s.count).sum::<u64>() as f64;
    (channel, ranges[channel] * count.sqrt())
}

fn cell([r, g, b]: [u8; 3]) -> u32 {
    [r, g, b].into_iter().fold(0, |cell, c| (cell << BITS) | u32::from(c >> (8 - BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a viewer shows, picture by picture.
    fn played(bytes: &[u8]) -> Vec<Vec<[u8; 3]>> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().expect("a header");
        let control = *reader.info().animation_control().expect("an animation");
        let width = reader.info().width as usize;
        let mut canvas = vec![[0; 3]; width * reader.info().height as usize];
        let mut shown = Vec::new();
        for _ in 0..control.num_frames {
            let mut part = vec![0; reader.output_buffer_size().expect("a size")];
            let info = reader.next_frame(&mut part).expect("a frame");
            let frame = *reader.info().frame_control().expect("a frame");
            for y in 0..info.height as usize {
                for x in 0..info.width as usize {
                    let at = y * info.line_size + 4 * x;
                    if part[at + 3] > 0 {
                        let place = (y + frame.y_offset as usize) * width + x + frame.x_offset as usize;
                        canvas[place] = [part[at], part[at + 1], part[at + 2]];
                    }
                }
            }
            shown.push(canvas.clone());
        }
        shown
    }

    fn pictures() -> Vec<Picture> {
        let square = |at: usize| {
            let pixel = |i: usize| {
                let (x, y) = (i % 20, i / 20);
                let inside = (at..at + 4).contains(&x) && (3..7).contains(&y);
                if inside { [200, 30, 10] } else { [8 * x as u8, 8 * y as u8, 240] }
            };
            Picture { size: (20, 10), pixels: (0..200).flat_map(pixel).collect() }
        };
        [2, 5, 5, 11].map(square).into()
    }

    #[test]
    fn an_animation_round_trips_its_pictures() {
        let pictures = pictures();
        let shown = played(&animated_png(&pictures, 0.1).expect("an animation"));
        assert_eq!(shown.len(), 4);
        for (canvas, picture) in shown.iter().zip(&pictures) {
            for (seen, wanted) in canvas.iter().zip(picture.pixels.chunks_exact(3)) {
                let off = (0..3).map(|c| seen[c].abs_diff(wanted[c])).max();
                assert!(off <= Some(4), "{seen:?} is not {wanted:?}");
            }
        }
    }

    #[test]
    fn mismatched_pictures_are_an_error() {
        let mut pictures = pictures();
        assert!(animated_png(&[], 0.1).is_err());
        pictures[1].size = (10, 20);
        assert!(animated_png(&pictures, 0.1).is_err());
    }
}
