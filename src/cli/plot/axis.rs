/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far, from zero on if all numbers are positive.
    Linear,
    /// Equal ratios are equally far.
    Log,
}

/// An axis of a plot.
pub struct Axis {
    /// What runs along it, with its unit.
    pub label: String,
    /// How.
    pub scale: Scale,
}

/// An axis that spans some numbers, from a first to a last place on the page.
pub struct Span {
    scale: Scale,
    low: f64,
    high: f64,
    /// Between the numbers at a linear axis.
    step: f64,
    places: [f64; 2],
}

impl Axis {
    /// An axis with a label.
    pub fn new(label: &str, scale: Scale) -> Self {
        Self { label: label.into(), scale }
    }

    /// Whether a number has a place on it.
    pub fn shows(&self, x: f64) -> bool {
        x.is_finite() && (self.scale == Scale::Linear || x >= f64::MIN_POSITIVE)
    }

    /// The axis over the range of some numbers, all of which it shows.
    pub fn spanning(&self, numbers: impl Iterator<Item = f64>, places: [f64; 2]) -> Span {
        let (mut low, mut high) =
            numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (x.min(low), x.max(high)));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let mut step = 0.0;
        match self.scale {
            Scale::Linear => {
                low = low.min(0.0);
                step = nice_step(if high > low { high - low } else { 1.0 });
                (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
                high = high.max(low + step);
            }
            Scale::Log => {
                // A little room, and never a range without width.
                (low, high) = (low / 1.25, high * 1.25);
            }
        }
        Span { scale: self.scale, low, high, step, places }
    }
}

impl Span {
    /// Where a number is on the page.
    pub fn place(&self, x: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (x - self.low) / (self.high - self.low),
            Scale::Log => (x / self.low).ln() / (self.high / self.low).ln(),
        };
        self.places[0] + part * (self.places[1] - self.places[0])
    }

    /// Places of the numbers that are written at the axis, and how they are written.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let numbers = match self.scale {
            Scale::Linear => {
                // Multiples of the step, so that rounding does not add up.
                let [first, last] = [self.low, self.high].map(|x| (x / self.step).round() as i64);
                (first..=last).map(|i| i as f64 * self.step).collect()
            }
            Scale::Log => self.log_ticks(),
        };
        numbers.into_iter().map(|x| (self.place(x), written(x))).collect()
    }

    /// Powers of ten; over a short range their double and fivefold too.
    fn log_ticks(&self) -> Vec<f64> {
        let digits: &[f64] = if self.high / self.low < 200.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let every = ((last - first) / 8 + 1) as usize;
        (first..=last)
            .step_by(every)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
            .filter(|x| (self.low..=self.high).contains(x))
            .collect()
    }
}

/// One, two or five times a power of ten: about five steps in a range.
fn nice_step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= 0.999 * rough).unwrap_or(10.0);
    digit * power
}

/// A number with as many digits as it takes.
fn written(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e6).contains(&x.abs()) {
        return format!("{x:.0e}");
    }
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
