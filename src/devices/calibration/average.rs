//! Robust average of a sensor: the mean of the readings near the median. The mean resolves more than the median for
//! coarse sensors, for example with 255 values.

/// Outlier limit in multiples of the spread.
const OUTLIER_LIMIT: f64 = 5.0;
/// Factor from the median absolute deviation to the standard deviation of a normal distribution.
const DEVIATION_FACTOR: f64 = 1.4826;
/// Readings closer to the median than this are never outliers, as a fraction of the scale: a few values of a coarse
/// scale.
const MIN_OUTLIER_DISTANCE: f64 = 0.01;

/// The average of one sensor over one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Average {
    /// The mean.
    pub value: f64,
    /// The standard deviation of one reading.
    pub noise: f64,
    /// Number of readings used.
    pub count: usize,
    /// Number of outliers.
    pub left_out: usize,
    /// Largest distance of a reading from the mean.
    pub stray: f64,
    /// Mean of the second half minus that of the first.
    pub drift: f64,
}

impl Average {
    /// The average of the readings of one sensor in their order; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Average> {
        let middle = median(values.to_vec())?;
        let spread = DEVIATION_FACTOR * median(values.iter().map(|v| (v - middle).abs()).collect())?;
        let reach = (OUTLIER_LIMIT * spread).max(MIN_OUTLIER_DISTANCE);
        let near: Vec<f64> = values.iter().copied().filter(|v| (v - middle).abs() <= reach).collect();
        let value = mean(&near)?;
        let noise = mean(&near.iter().map(|v| (v - value).powi(2)).collect::<Vec<_>>())?.sqrt();
        let stray = values.iter().map(|v| (v - value).abs()).fold(0.0, f64::max);
        let (early, late) = near.split_at(near.len() / 2);
        let drift = mean(late).zip(mean(early)).map_or(0.0, |(late, early)| late - early);
        Some(Average { value, noise, count: near.len(), left_out: values.len() - near.len(), stray, drift })
    }

    /// The standard deviation of the mean.
    pub fn standard_error(&self) -> f64 {
        self.noise / (self.count.max(1) as f64).sqrt()
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_count_and_coarse_values_do() {
        let mut values = vec![0.3; 90];
        values.extend([0.9; 10]);
        let average = Average::of(&values).expect("readings");
        assert_eq!((average.count, average.left_out), (90, 10));
        assert!((average.value - 0.3).abs() < 1e-12 && average.noise < 1e-12 && (average.stray - 0.6).abs() < 1e-12);
        // Three of ten readings have the next value of a scale of 255.
        let values: Vec<f64> = (0..100).map(|i| (100.0 + f64::from(u8::from(i % 10 < 3))) / 255.0).collect();
        let average = Average::of(&values).expect("readings");
        assert!((255.0 * average.value - 100.3).abs() < 1e-9);
        assert_eq!(Average::of(&[]), None);
    }

    #[test]
    fn a_ramp_drifts() {
        let values: Vec<f64> = (0..100).map(|i| 0.2 + 0.001 * f64::from(i)).collect();
        let average = Average::of(&values).expect("readings");
        assert!((average.drift - 0.05).abs() < 1e-9, "{average:?}");
    }
}
