use std::sync::Arc;

use super::figure::Colour;

/// A texture of colours that a surface samples by two coordinates per vertex, each from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    /// Columns and rows.
    pub size: (u32, u32),
    /// Row by row.
    pub colours: Vec<Colour>,
}

/// A surface coloured from a palette.
#[derive(Clone, Debug, PartialEq)]
pub struct Paint {
    /// The colours.
    pub palette: Arc<Palette>,
    /// Coordinates of each vertex: across and down.
    pub places: Vec<[f32; 2]>,
}

impl Palette {
    /// The colours of a function of two coordinates.
    pub fn new(size: (u32, u32), colour: impl Fn(f32, f32) -> Colour) -> Self {
        let part = |i: u32, count: u32| i as f32 / (count.max(2) - 1) as f32;
        let cells = (0..size.1).flat_map(|row| (0..size.0).map(move |column| (column, row)));
        Self { size, colours: cells.map(|(column, row)| colour(part(column, size.0), part(row, size.1))).collect() }
    }
}

/// A colour scale from dark blue over green to yellow with evenly increasing lightness, readable with any colour vision
/// and in grey: a curve through eleven colours of viridis.
pub fn scale(part: f32) -> Colour {
    const COLOURS: [u32; 11] =
        [0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725];
    let at = part.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f32;
    let first = (at as usize).min(COLOURS.len() - 2);
    let [a, b] = [COLOURS[first], COLOURS[first + 1]].map(colour);
    mix(a, b, at - first as f32)
}

/// Utilisation scale: from blue-green over sand to orange, distinguishable with any colour vision.
pub fn usage(part: f32) -> Colour {
    let [low, middle, high] = [0x1b9e92, 0xe3c567, 0xd95f02].map(colour);
    let part = part.clamp(0.0, 1.0);
    if part < 0.5 { mix(low, middle, 2.0 * part) } else { mix(middle, high, 2.0 * part - 1.0) }
}

/// Interpolates between two colours.
pub fn mix(a: Colour, b: Colour, part: f32) -> Colour {
    std::array::from_fn(|i| a[i] + part * (b[i] - a[i]))
}

fn colour(hex: u32) -> Colour {
    [16, 8, 0].map(|shift| ((hex >> shift) & 0xff) as f32 / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness([r, g, b]: Colour) -> f32 {
        let [r, g, b] = [r, g, b].map(|c| c.powf(2.2));
        (0.2126 * r + 0.7152 * g + 0.0722 * b).cbrt()
    }

    #[test]
    fn the_scale_increases_in_lightness() {
        let steps: Vec<f32> = (0..=100).map(|i| lightness(scale(i as f32 / 100.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[1] > pair[0]), "{steps:?}");
        assert_eq!((scale(-1.0), scale(2.0)), (colour(0x440154), colour(0xfde725)));
        // Evenly: no tenth has more than three times the share of another.
        let tenths: Vec<f32> = steps.iter().step_by(10).copied().collect();
        let [low, high] = tenths.windows(2).map(|p| p[1] - p[0]).fold([1.0f32, 0.0], |[l, h], d| [l.min(d), h.max(d)]);
        assert!(high < 3.0 * low, "{low} {high}");
    }

    #[test]
    fn a_palette_has_the_expected_corners() {
        let palette = Palette::new((3, 2), |u, v| [u, v, 0.0]);
        assert_eq!(palette.colours[2], [1.0, 0.0, 0.0]);
        assert_eq!(palette.colours[3], [0.0, 1.0, 0.0]);
        assert_eq!(palette.colours.len(), 6);
    }
}
