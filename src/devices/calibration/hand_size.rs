use super::average::Average;
use crate::devices::DeviceError;

/// Minimum number of measurements.
const MIN_MEASUREMENTS: usize = 15;
/// Maximum scatter of the lengths, m.
const MOST_SCATTER: f64 = 0.01;

/// Length of a hand from repeated measurements, m, or the reason for rejection, one sentence without a full stop.
pub fn hand_length(lengths: &[f64]) -> Result<f64, DeviceError> {
    let average = Average::of(lengths).filter(|_| lengths.len() >= MIN_MEASUREMENTS);
    let average = average.ok_or_else(|| {
        let count = lengths.len();
        DeviceError::HandLength(format!(
            "its length was measured {count} times only, at least {MIN_MEASUREMENTS} are needed; keep it in sight"
        ))
    })?;
    if average.noise > MOST_SCATTER || 5 * average.left_out > lengths.len() {
        let scatter = 1e3 * average.noise.max(average.stray);
        let message = format!("its length scatters by {scatter:.0} mm; hold it flat, still and in full sight");
        return Err(DeviceError::HandLength(message));
    }
    Ok(average.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_a_robust_average() {
        let mut lengths: Vec<f64> = (0..60).map(|i| 0.18 + 0.001 * f64::from(i % 3 - 1)).collect();
        lengths.extend([0.4; 5]);
        assert!((hand_length(&lengths).expect("a length") - 0.18).abs() < 1e-4);
        assert!(hand_length(&lengths[..10]).is_err_and(|why| why.to_string().contains("10 times only")));
        let wild: Vec<f64> = (0..60).map(|i| 0.15 + 0.05 * f64::from(i % 2)).collect();
        assert!(
            hand_length(&wild).is_err_and(|why| why.to_string().contains("scatters by 25 mm")),
            "{:?}",
            hand_length(&wild)
        );
    }
}
