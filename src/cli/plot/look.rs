use std::fmt::Write;

/// Height of a line of the legend.
pub const LEGEND_LINE: f64 = 20.0;

/// The colours of a drawing.
pub struct PlotColours {
    /// Of words and frames.
    pub ink: &'static str,
    /// Of the lines behind the curves.
    pub grid: &'static str,
    colours: [&'static str; 6],
}

impl PlotColours {
    /// The colour of a curve or a part, by its number.
    pub fn colour(&self, number: usize) -> &'static str {
        self.colours[number % self.colours.len()]
    }
}

/// Colours of a separate file, on white; distinguishable by colour-blind readers (Okabe and Ito).
pub const SHEET: PlotColours = PlotColours {
    ink: "#222222",
    grid: "#dddddd",
    colours: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"],
};

/// A page that names its colours in its style sheet, so that they follow light and dark.
pub const PAGE: PlotColours = PlotColours {
    ink: "currentColor",
    grid: "var(--grid)",
    colours: ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"],
};

/// A drawing as an element of a page.
pub fn inline(title: &str, width: f64, height: f64, draw: impl FnOnce(&mut String)) -> String {
    let mut out = format!(
        "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {height}\" font-size=\"14\" \
         fill=\"{}\">\n",
        escaped(title),
        PAGE.ink
    );
    draw(&mut out);
    out + "</svg>\n"
}

/// The frame around the data.
pub fn draw_frame(out: &mut String, look: &PlotColours, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"{}\"/>",
        look.ink
    );
}

/// Words at a place, with some attributes.
pub fn draw_text(out: &mut String, [x, y]: [f64; 2], attributes: &str, words: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(words));
}

/// Text escaped for an element or a quoted attribute.
pub fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
