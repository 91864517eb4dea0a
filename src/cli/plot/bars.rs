use std::fmt::Write;

use super::axis::Axis;
use super::look::{LEGEND_LINE, PAGE, draw_frame, draw_text, inline};

/// Width of the drawing, and what is left free around the frame: left, top, right, bottom.
const BARS_WIDTH: f64 = 560.0;
const BAR_MARGINS: [f64; 4] = [118.0, 40.0, 20.0, 48.0];
/// Height of a bar, and of its row.
const BAR: f64 = 15.0;
const PITCH: f64 = 24.0;
/// Names side by side in the legend.
const LEGEND_COLUMNS: usize = 5;

/// Bars to the right, each of several parts.
pub struct Bars {
    /// What they show.
    pub title: String,
    /// The axis.
    pub axis: Axis,
    /// Names of the parts.
    pub parts: Vec<String>,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// One bar.
pub struct Bar {
    /// Its label.
    pub name: String,
    /// How long its parts are, none negative.
    pub parts: Vec<f64>,
    /// What is written at its end.
    pub end: String,
}

impl Bars {
    /// The bars as an element of a page with the page's colours.
    pub fn inline(&self) -> String {
        let lines = self.parts.len().div_ceil(LEGEND_COLUMNS) as f64;
        let height = BAR_MARGINS[1] + self.frame_height() + BAR_MARGINS[3] + LEGEND_LINE * (lines + 0.5);
        inline(&self.title, BARS_WIDTH, height, |out| self.draw(out))
    }

    fn frame_height(&self) -> f64 {
        PITCH * self.bars.len().max(1) as f64 + 0.5 * (PITCH - BAR)
    }

    fn draw(&self, out: &mut String) {
        let (left, right, top) = (BAR_MARGINS[0], BARS_WIDTH - BAR_MARGINS[2], BAR_MARGINS[1]);
        let bottom = top + self.frame_height();
        // Room for what is written at the end of the longest.
        let sums = self.bars.iter().map(|bar| 1.15 * bar.parts.iter().sum::<f64>());
        let across = self.axis.spanning(sums.chain([0.0]), [left, right]);
        let middle = 0.5 * (left + right);
        draw_text(out, [middle, 24.0], "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"", &self.title);
        for (at, label) in across.ticks() {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(out, "<path d=\"M{at:.1} {bottom}V{top}\" stroke=\"{}\"/>", PAGE.grid);
            draw_text(out, [at, bottom + 18.0], "text-anchor=\"middle\"", &label);
        }
        draw_text(out, [middle, bottom + 38.0], "text-anchor=\"middle\"", &self.axis.label);
        out.push_str("<g class=\"data\">\n");
        for (i, bar) in self.bars.iter().enumerate() {
            let y = top + PITCH * i as f64 + 0.5 * (PITCH - BAR) + 2.0;
            let mut end = 0.0;
            for (number, part) in bar.parts.iter().enumerate() {
                let start = across.place(end);
                end += part;
                let (width, colour) = (across.place(end) - start, PAGE.colour(number));
                let _ = writeln!(
                    out,
                    "<rect x=\"{start:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{BAR}\" fill=\"{colour}\"/>"
                );
            }
            draw_text(out, [left - 8.0, y + 12.0], "text-anchor=\"end\"", &bar.name);
            draw_text(out, [across.place(end) + 6.0, y + 12.0], "font-size=\"12\"", &bar.end);
        }
        out.push_str("</g>\n");
        draw_frame(out, &PAGE, [left, top], [right - left, bottom - top]);
        for (i, name) in self.parts.iter().enumerate() {
            let x = 20.0 + (i % LEGEND_COLUMNS) as f64 * (BARS_WIDTH - 20.0) / LEGEND_COLUMNS as f64;
            let y = bottom + BAR_MARGINS[3] + LEGEND_LINE * ((i / LEGEND_COLUMNS) as f64 + 0.5);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{}\"/>",
                y - 6.0,
                PAGE.colour(i)
            );
            draw_text(out, [x + 18.0, y + 4.5], "", name);
        }
    }
}
