//! Plots as SVG: what the studies and the report of the benchmark draw.

mod axis;
mod bars;
mod look;
#[cfg(test)]
mod tests;

use std::fmt::Write;

pub use self::axis::{Axis, Scale};
pub use self::bars::{Bar, Bars};
use self::look::{LEGEND_LINE, PAGE, PlotColours, SHEET, draw_frame, draw_text};

/// Width of a plot, height of its frame, and what is left free around that: left, top, right, bottom.
const PLOT_WIDTH: f64 = 480.0;
const PLOT_HEIGHT: f64 = 280.0;
const PLOT_MARGINS: [f64; 4] = [70.0, 44.0, 20.0, 52.0];
/// Width of the mark in the legend, and of a letter beside it at most.
const KEY: f64 = 36.0;
const LETTER: f64 = 8.0;

/// Curves over common axes.
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
}

/// One curve.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points. Those that cannot be drawn, not finite or not positive on a logarithmic axis, are left out.
    pub points: Vec<[f64; 2]>,
    /// How they are drawn.
    pub style: Style,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line, with a mark at each point.
    Both,
    /// A line through many points.
    Line,
    /// A cloud of points.
    Marks,
}

impl Series {
    /// A curve through some points.
    pub fn new(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect(), style: Style::Both }
    }

    /// The same curve, drawn in some style.
    pub fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// Plots side by side, at most three in a row, as one SVG document.
pub fn svg(plots: &[Plot]) -> String {
    const COLUMNS: usize = 3;
    let row = plots.iter().map(|plot| plot.height()).fold(0.0, f64::max);
    let width = PLOT_WIDTH * plots.len().min(COLUMNS) as f64;
    let height = row * plots.len().div_ceil(COLUMNS) as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        SHEET.ink
    );
    for (i, plot) in plots.iter().enumerate() {
        // Writing to a string cannot fail, here and below.
        let (x, y) = ((i % COLUMNS) as f64 * PLOT_WIDTH, (i / COLUMNS) as f64 * row);
        let _ = writeln!(out, "<g transform=\"translate({x},{y})\">");
        plot.draw(&mut out, &SHEET);
        out += "</g>\n";
    }
    out + "</svg>\n"
}

impl Plot {
    /// The plot as an element of a page with the page's colours.
    pub fn inline(&self) -> String {
        look::inline(&self.title, PLOT_WIDTH, self.height(), |out| self.draw(out, &PAGE))
    }

    fn height(&self) -> f64 {
        let lines = self.series.len().div_ceil(self.legend_columns());
        PLOT_MARGINS[1] + PLOT_HEIGHT + PLOT_MARGINS[3] + LEGEND_LINE * (lines as f64 + 0.5)
    }

    /// How many names stand side by side in the legend.
    fn legend_columns(&self) -> usize {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        let room = PLOT_WIDTH - PLOT_MARGINS[0] - PLOT_MARGINS[2];
        ((room / (KEY + 10.0 + LETTER * longest as f64)) as usize).max(1)
    }

    fn draw(&self, out: &mut String, look: &PlotColours) {
        let points = || self.series.iter().flat_map(|s| self.drawable(s));
        let (left, right, top, bottom) =
            (PLOT_MARGINS[0], PLOT_WIDTH - PLOT_MARGINS[2], PLOT_MARGINS[1], PLOT_MARGINS[1] + PLOT_HEIGHT);
        let across = self.x.spanning(points().map(|p| p[0]), [left, right]);
        let up = self.y.spanning(points().map(|p| p[1]), [bottom, top]);
        let middle = 0.5 * (left + right);
        draw_text(out, [middle, 24.0], "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"", &self.title);
        for (at, label) in across.ticks() {
            let _ = writeln!(out, "<path d=\"M{at:.1} {bottom}V{top}\" stroke=\"{}\"/>", look.grid);
            draw_text(out, [at, bottom + 18.0], "text-anchor=\"middle\"", &label);
        }
        for (at, label) in up.ticks() {
            let _ = writeln!(out, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"{}\"/>", look.grid);
            draw_text(out, [left - 8.0, at + 4.5], "text-anchor=\"end\"", &label);
        }
        draw_frame(out, look, [left, top], [right - left, bottom - top]);
        draw_text(out, [middle, bottom + 40.0], "text-anchor=\"middle\"", &self.x.label);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1})\"", 0.5 * (top + bottom));
        draw_text(out, [18.0, 0.5 * (top + bottom)], &turned, &self.y.label);
        out.push_str("<g class=\"data\">\n");
        for (i, series) in self.series.iter().enumerate() {
            let places = self.drawable(series).map(|p| [across.place(p[0]), up.place(p[1])]).collect::<Vec<_>>();
            draw_curve(out, look, series.style, &places, &places, i);
        }
        out.push_str("</g>\n");
        let columns = self.legend_columns();
        for (i, series) in self.series.iter().enumerate() {
            let x = left + (i % columns) as f64 * (right - left) / columns as f64;
            let y = bottom + PLOT_MARGINS[3] + LEGEND_LINE * ((i / columns) as f64 + 0.5);
            draw_curve(out, look, series.style, &[[x, y], [x + KEY, y]], &[[x + 0.5 * KEY, y]], i);
            draw_text(out, [x + KEY + 10.0, y + 4.5], "", &series.name);
        }
    }

    /// The points of a curve that have a place on both axes.
    fn drawable<'s>(&'s self, series: &'s Series) -> impl Iterator<Item = [f64; 2]> + 's {
        series.points.iter().copied().filter(|p| self.x.shows(p[0]) && self.y.shows(p[1]))
    }
}

/// A line and its marks. Round and square ones, full and broken lines take turns, so that colour is not all.
fn draw_curve(
    out: &mut String,
    look: &PlotColours,
    style: Style,
    line: &[[f64; 2]],
    marks: &[[f64; 2]],
    number: usize,
) {
    let colour = look.colour(number);
    if style != Style::Marks {
        let corners: Vec<String> = line.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let dash = if number % 2 == 1 { " stroke-dasharray=\"7 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            corners.join(" ")
        );
    }
    if style == Style::Line {
        return;
    }
    // Clouds let one see how thick they are.
    let (half, through) = if style == Style::Marks { (2.8, " fill-opacity=\"0.55\"") } else { (3.5, "") };
    for [x, y] in marks {
        let _ = if number.is_multiple_of(2) {
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{half}\" fill=\"{colour}\"{through}/>")
        } else {
            let (x, y, side) = (x - half, y - half, 2.0 * half);
            writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{side}\" height=\"{side}\" fill=\"{colour}\"{through}/>"
            )
        };
    }
}
