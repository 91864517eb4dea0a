//! Line plots as SVG: what the studies draw.

mod axis;
#[cfg(test)]
mod tests;

use std::fmt::Write;

pub use self::axis::{Axis, Scale};

/// Colours that people who see few colours can tell apart (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
/// Width of a plot, height of its frame, and what is left free around that: left, top, right, bottom.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 280.0;
const MARGIN: [f64; 4] = [70.0, 44.0, 20.0, 52.0];
/// Height of a line of the legend.
const LINE: f64 = 20.0;

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
}

impl Series {
    /// A curve through some points.
    pub fn new(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect() }
    }
}

/// Plots side by side, as one SVG document.
pub fn svg(plots: &[Plot]) -> String {
    let lines = plots.iter().map(|plot| plot.series.len()).max().unwrap_or(0);
    let (width, height) =
        (WIDTH * plots.len() as f64, MARGIN[1] + HEIGHT + MARGIN[3] + LINE * lines as f64 + 0.5 * LINE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (i, plot) in plots.iter().enumerate() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "<g transform=\"translate({},0)\">", i as f64 * WIDTH);
        plot.draw(&mut out);
        out += "</g>\n";
    }
    out + "</svg>\n"
}

impl Plot {
    fn draw(&self, out: &mut String) {
        let points = || self.series.iter().flat_map(|s| self.drawable(s));
        let across = self.x.spanning(points().map(|p| p[0]), [MARGIN[0], WIDTH - MARGIN[2]]);
        let up = self.y.spanning(points().map(|p| p[1]), [MARGIN[1] + HEIGHT, MARGIN[1]]);
        let middle = 0.5 * (MARGIN[0] + WIDTH - MARGIN[2]);
        let text = |out: &mut String, x: f64, y: f64, more: &str, words: &str| {
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {more}>{}</text>", escaped(words));
        };
        text(out, middle, 24.0, "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"", &self.title);
        let (left, right, top, bottom) = (MARGIN[0], WIDTH - MARGIN[2], MARGIN[1], MARGIN[1] + HEIGHT);
        for (at, label) in across.ticks() {
            let _ = writeln!(out, "<path d=\"M{at:.1} {bottom}V{top}\" stroke=\"#dddddd\"/>");
            text(out, at, bottom + 18.0, "text-anchor=\"middle\"", &label);
        }
        for (at, label) in up.ticks() {
            let _ = writeln!(out, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#dddddd\"/>");
            text(out, left - 8.0, at + 4.5, "text-anchor=\"end\"", &label);
        }
        let _ = writeln!(
            out,
            "<path d=\"M{left} {top}V{bottom}H{right}V{top}Z\" fill=\"none\" stroke=\"#222222\" stroke-width=\"1\"/>"
        );
        text(out, middle, bottom + 40.0, "text-anchor=\"middle\"", &self.x.label);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1})\"", 0.5 * (top + bottom));
        text(out, 18.0, 0.5 * (top + bottom), &turned, &self.y.label);
        for (i, series) in self.series.iter().enumerate() {
            let places = self.drawable(series).map(|p| [across.place(p[0]), up.place(p[1])]).collect::<Vec<_>>();
            let colour = COLOURS[i % COLOURS.len()];
            draw_curve(out, &places, &places, colour, i);
            let y = bottom + MARGIN[3] + LINE * (i as f64 + 0.5);
            draw_curve(out, &[[left, y], [left + 36.0, y]], &[[left + 18.0, y]], colour, i);
            text(out, left + 46.0, y + 4.5, "", &series.name);
        }
    }

    /// The points of a curve that have a place on both axes.
    fn drawable<'s>(&'s self, series: &'s Series) -> impl Iterator<Item = [f64; 2]> + 's {
        series.points.iter().copied().filter(|p| self.x.shows(p[0]) && self.y.shows(p[1]))
    }
}

/// A line and its marks. Round and square ones, full and broken lines take turns, so that colour is not all.
fn draw_curve(out: &mut String, line: &[[f64; 2]], marks: &[[f64; 2]], colour: &str, number: usize) {
    let corners: Vec<String> = line.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    let dash = if number % 2 == 1 { " stroke-dasharray=\"7 4\"" } else { "" };
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
        corners.join(" ")
    );
    for [x, y] in marks {
        let _ = if number.is_multiple_of(2) {
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>")
        } else {
            let (x, y) = (x - 3.5, y - 3.5);
            writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"7\" height=\"7\" fill=\"{colour}\"/>")
        };
    }
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
