use super::average::Average;

/// A length of which fewer are measured is not believed.
const LEAST: usize = 15;
/// The most that lengths may scatter, m.
const MOST_SCATTER: f64 = 0.01;

/// The length of a hand by what was measured of it one after another, m, or why not, in one sentence without a full stop.
pub fn hand_length(lengths: &[f64]) -> Result<f64, String> {
    let average = Average::of(lengths).filter(|_| lengths.len() >= LEAST);
    let average = average.ok_or_else(|| {
        format!("its length was measured {} times only, at least {LEAST} are needed; keep it in sight", lengths.len())
    })?;
    if average.noise > MOST_SCATTER || 5 * average.left_out > lengths.len() {
        let scatter = 1e3 * average.noise.max(average.stray);
        return Err(format!("its length scatters by {scatter:.0} mm; hold it flat, still and in full sight"));
    }
    Ok(average.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_the_average_of_what_is_likely() {
        let mut lengths: Vec<f64> = (0..60).map(|i| 0.18 + 0.001 * f64::from(i % 3 - 1)).collect();
        lengths.extend([0.4; 5]);
        assert!((hand_length(&lengths).expect("a length") - 0.18).abs() < 1e-4);
        assert!(hand_length(&lengths[..10]).is_err_and(|why| why.contains("10 times only")));
        let wild: Vec<f64> = (0..60).map(|i| 0.15 + 0.05 * f64::from(i % 2)).collect();
        assert!(hand_length(&wild).is_err_and(|why| why.contains("scatters by 25 mm")), "{:?}", hand_length(&wild));
    }
}
