use kiss3d::egui::{Align2, Color32, FontId, Pos2, Sense, Stroke, Ui, vec2};

/// A curve over the last steps, with its scale.
pub struct WindowPlot<'p> {
    /// What is plotted.
    pub label: &'p str,
    /// Its unit.
    pub unit: &'p str,
    /// Decimal places.
    pub digits: usize,
    /// Colour of the curve.
    pub colour: Color32,
    /// A reference value, drawn as a line.
    pub mark: Option<f64>,
}

impl WindowPlot<'_> {
    /// Draws a curve of some values, the latest at the right.
    pub fn show(&self, ui: &mut Ui, width: f32, values: &[f64]) {
        self.draw(ui, width, values, [0.0, ceiling(usual(values).max(self.mark.unwrap_or(0.0)))]);
    }

    /// The same for values of any sign with an automatic scale.
    pub fn show_any(&self, ui: &mut Ui, width: f32, values: &[f64]) {
        let ends =
            values.iter().filter(|v| v.is_finite()).fold([f64::MAX, f64::MIN], |[l, h], v| [l.min(*v), h.max(*v)]);
        let [low, high] = if ends[0] <= ends[1] { ends } else { [0.0, 1.0] };
        let margin = (0.1 * (high - low)).max(1e-6 * high.abs().max(1e-6));
        self.draw(ui, width, values, [low - margin, high + margin]);
    }

    fn draw(&self, ui: &mut Ui, width: f32, values: &[f64], [low, top]: [f64; 2]) {
        let (response, painter) = ui.allocate_painter(vec2(width, 56.0), Sense::hover());
        let area = response.rect;
        let (line, faint) = (ui.visuals().widgets.noninteractive.bg_stroke, ui.visuals().weak_text_color());
        painter.rect_filled(area, 3.0, ui.visuals().extreme_bg_color);
        let part = |value: f64| ((value - low) / (top - low)).clamp(0.0, 1.0) as f32;
        let height = |value: f64| area.bottom() - 3.0 - part(value) * (area.height() - 6.0);
        painter.line_segment([Pos2::new(area.left(), height(0.0)), Pos2::new(area.right(), height(0.0))], line);
        if let Some(mark) = self.mark {
            let ends = [area.left(), area.right()].map(|x| Pos2::new(x, height(mark)));
            painter.line_segment(ends, Stroke::new(1.0, faint));
        }
        let step = area.width() / (PLACES - 1) as f32;
        let shown = &values[values.len().saturating_sub(PLACES)..];
        let start = area.right() - step * shown.len().saturating_sub(1) as f32;
        let points = shown.iter().enumerate().map(|(i, &v)| Pos2::new(start + step * i as f32, height(v))).collect();
        painter.line(points, Stroke::new(1.5, self.colour));
        let small = FontId::proportional(11.0);
        let now = values.last().copied().unwrap_or(0.0);
        let says = format!("{} {now:.*} {}", self.label, self.digits, self.unit).trim_start().to_string();
        let colour = ui.visuals().text_color();
        painter.text(area.left_top() + vec2(5.0, 3.0), Align2::LEFT_TOP, says, small.clone(), colour);
        let scale =
            if low == 0.0 { format!("{top} {}", self.unit) } else { format!("{low:.3} … {top:.3} {}", self.unit) };
        painter.text(area.right_top() + vec2(-5.0, 3.0), Align2::RIGHT_TOP, scale, small, faint);
    }
}

/// Values side by side in a plot.
const PLACES: usize = 400;

/// A high percentile of the values, so that an outlier does not flatten the curve.
fn usual(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * 98 / 100).copied().unwrap_or(0.0)
}

/// The next of 1, 2, 5, 10, 20 … that is not below.
fn ceiling(value: f64) -> f64 {
    if !(value > 1e-6 && value.is_finite()) {
        return 1.0;
    }
    let ten = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * ten).find(|round| *round >= value).unwrap_or(10.0 * ten)
}

#[cfg(test)]
mod tests {
    #[test]
    fn scales_are_round() {
        for (value, round) in [(0.0, 1.0), (0.9, 1.0), (1.2, 2.0), (3.0, 5.0), (7.0, 10.0), (34.0, 50.0), (0.03, 0.05)]
        {
            assert!((super::ceiling(value) - round).abs() < 1e-12, "{value}");
        }
        assert_eq!(super::ceiling(f64::NAN), 1.0);
        let mut values = vec![3.0; 99];
        values.insert(40, 1000.0);
        assert_eq!((super::usual(&values), super::usual(&[])), (3.0, 0.0));
    }
}
