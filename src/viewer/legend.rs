use super::figure::Colour;
use super::palette::scale;
use super::picture::Picture;

/// Text overlay of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// Lines in the upper left corner.
    pub caption: Vec<String>,
    /// Pressure at the upper end of the scale, Pa; `None` for no scale.
    pub full_pressure: Option<f64>,
    /// Legend of the colours, in the lower left corner.
    pub keys: Vec<(Colour, String)>,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note {
    pub text: String,
    /// Upper left corner, in pixels from that of the picture.
    pub at: [f32; 2],
    /// Height of a line in pixels.
    pub height: f32,
}

/// A rectangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rectangle {
    /// Left, upper, right and lower edge in pixels.
    pub edges: [f32; 4],
    pub fill: Fill,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fill {
    Plain(Colour),
    /// The scale, from its lower end at the bottom.
    Scale,
}

/// Ink of text and ticks.
pub(super) const LEGEND_INK: Colour = [0.13, 0.14, 0.17];
/// Labelled steps of the scale.
const LEGEND_STEPS: usize = 4;

impl Legend {
    /// All texts and rectangles for a picture of some size.
    pub(super) fn laid_out(&self, size: (u32, u32)) -> (Vec<Note>, Vec<Rectangle>) {
        let (width, height) = (size.0 as f32, size.1 as f32);
        let line = (height / 32.0).clamp(11.0, 30.0);
        let margin = 0.7 * line;
        let (mut notes, mut patches) = (Vec::new(), Vec::new());
        let mut note = |text: &str, x: f32, y: f32| notes.push(Note { text: text.into(), at: [x, y], height: line });
        for (i, text) in self.caption.iter().enumerate() {
            note(text, margin, margin + 1.15 * line * i as f32);
        }
        for (i, (colour, text)) in self.keys.iter().rev().enumerate() {
            let y = height - margin - 1.25 * line * (i + 1) as f32;
            let side = 0.7 * line;
            let edges = [margin, y + 0.2 * line, margin + side, y + 0.2 * line + side];
            patches.push(Rectangle { edges, fill: Fill::Plain(*colour) });
            note(text, margin + 1.1 * line, y);
        }
        if let Some(full) = self.full_pressure {
            let left = width - margin - 3.4 * line;
            let (top, bottom) = (margin + 1.6 * line, margin + 1.6 * line + (0.42 * height).max(4.0 * line));
            note("kPa", left, margin);
            patches.push(Rectangle {
                edges: [left - 1.0, top - 1.0, left + line + 1.0, bottom + 1.0],
                fill: Fill::Plain(LEGEND_INK),
            });
            patches.push(Rectangle { edges: [left, top, left + line, bottom], fill: Fill::Scale });
            for step in 0..=LEGEND_STEPS {
                let part = step as f32 / LEGEND_STEPS as f32;
                let y = bottom + part * (top - bottom);
                let tick = [left + line, y - 0.6, left + 1.35 * line, y + 0.6];
                patches.push(Rectangle { edges: tick, fill: Fill::Plain(LEGEND_INK) });
                note(&number(1e-3 * full * f64::from(part)), left + 1.6 * line, y - 0.5 * line);
            }
        }
        (notes, patches)
    }
}

/// A number with the minimum number of digits.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// The smallest of 1, 1.2, 1.6, 2, 3, 4, 6, 8 times a power of ten that is at least a pressure: its quarters are round
/// numbers.
pub fn full_scale(pressure: f64) -> f64 {
    if !(pressure > 0.0 && pressure.is_finite()) {
        return 1e3;
    }
    let ten = 10f64.powf(pressure.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0];
    ten * steps.into_iter().find(|step| step * ten >= pressure * (1.0 - 1e-9)).unwrap_or(10.0)
}

/// Fills a rectangle with antialiased edges.
pub(super) fn fill(picture: &mut Picture, patch: &Rectangle) {
    let (width, height) = picture.size;
    let [left, top, right, bottom] = patch.edges;
    let covered = |i: u32, from: f32, to: f32| (to.min(i as f32 + 1.0) - from.max(i as f32)).clamp(0.0, 1.0);
    for y in top.max(0.0) as u32..(bottom.ceil().max(0.0) as u32).min(height) {
        let colour = match patch.fill {
            Fill::Plain(colour) => colour,
            Fill::Scale => scale((bottom - (y as f32 + 0.5)) / (bottom - top)),
        };
        for x in left.max(0.0) as u32..(right.ceil().max(0.0) as u32).min(width) {
            let share = covered(x, left, right) * covered(y, top, bottom);
            let at = 3 * (y * width + x) as usize;
            for (byte, c) in picture.pixels[at..at + 3].iter_mut().zip(colour) {
                *byte = (f32::from(*byte) + share * (255.0 * c - f32::from(*byte)) + 0.5) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_ends_at_a_sufficient_round_number() {
        for (pressure, full) in [(31e3, 40e3), (40e3, 40e3), (41e3, 60e3), (1.01e5, 1.2e5), (0.0, 1e3), (9.0, 10.0)] {
            assert!((full_scale(pressure) - full).abs() < 1e-6 * full, "{pressure}: {}", full_scale(pressure));
        }
        assert_eq!([0.0, 7.5, 40.0, 0.25].map(number), ["0", "7.5", "40", "0.25"]);
    }

    #[test]
    fn a_legend_stays_within_its_picture() {
        let keys = vec![([1.0, 0.0, 0.0], "force".to_string())];
        let legend = Legend { caption: vec!["one".into(), "two".into()], full_pressure: Some(2e4), keys };
        for size in [(320, 240), (1280, 960), (200, 600)] {
            let (notes, patches) = legend.laid_out(size);
            assert_eq!(notes.len(), 2 + 1 + 1 + LEGEND_STEPS + 1);
            for note in notes {
                assert!(note.at[0] > 0.0 && note.at[0] < size.0 as f32 && note.at[1] > 0.0, "{note:?}");
                assert!(note.at[1] + note.height < size.1 as f32, "{note:?}");
            }
            for Rectangle { edges: [left, top, right, bottom], .. } in patches {
                assert!(left > 0.0 && top > 0.0 && right < size.0 as f32 && bottom < size.1 as f32);
            }
        }
    }

    #[test]
    fn a_patch_covers_its_pixels_with_antialiasing() {
        let mut picture = Picture { size: (4, 2), pixels: vec![0; 24] };
        fill(&mut picture, &Rectangle { edges: [1.0, 0.0, 2.5, 9.0], fill: Fill::Plain([1.0; 3]) });
        let row = [0, 1, 2, 3].map(|x| picture.pixel(x, 1).expect("a pixel")[0]);
        assert_eq!(row, [0, 255, 128, 0]);
    }
}
