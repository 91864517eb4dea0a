/// Adaptive resolution of the 3D view with a target frame time.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Whether to adapt; otherwise full resolution.
    pub adapts: bool,
    step: usize,
    times: Vec<f64>,
}

/// Resolution scale along each side.
const SCALES: [f32; 6] = [1.0, 0.8, 0.65, 0.5, 0.4, 0.32];
/// Frame times above this lower the resolution, s; below they raise it.
const SLOW_FRAME: f64 = 0.095;
const FAST: f64 = 0.06;
/// Frames evaluated before a change.
const FRAMES: usize = 8;

impl Quality {
    /// Starts at a lower resolution with software rendering.
    pub fn new(in_software: bool) -> Self {
        Self { adapts: true, step: if in_software { 2 } else { 0 }, times: Vec::new() }
    }

    /// Resolution scale along each side.
    pub fn scale(&self) -> f32 {
        if self.adapts { SCALES[self.step] } else { 1.0 }
    }

    /// Adds the time of a frame, s.
    pub fn took(&mut self, seconds: f64) {
        self.times.push(seconds);
        if self.times.len() < FRAMES {
            return;
        }
        self.times.sort_by(f64::total_cmp);
        let median = self.times[FRAMES / 2];
        self.times.clear();
        if median > SLOW_FRAME {
            self.step = (self.step + 1).min(SCALES.len() - 1);
        } else if median < FAST {
            self.step = self.step.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(cost: impl Fn(f32) -> f64) -> f32 {
        let mut quality = Quality::new(true);
        (0..400).for_each(|_| quality.took(cost(quality.scale())));
        quality.scale()
    }

    #[test]
    fn quality_converges_to_the_frame_time() {
        // Part of the frame time does not depend on the resolution.
        assert_eq!(settled(|scale| 0.005 + 0.02 * f64::from(scale * scale)), 1.0);
        let scale = settled(|scale| 0.03 + 0.2 * f64::from(scale * scale));
        assert!(0.03 + 0.2 * scale * scale <= 0.0951 && scale > 0.39, "{scale}");
        assert_eq!(settled(|_| 3.0), SCALES[SCALES.len() - 1]);
    }

    #[test]
    fn single_slow_frames_change_nothing() {
        let mut quality = Quality::new(false);
        (0..400).for_each(|i| quality.took(if i % 8 == 0 { 1.0 } else { 0.08 }));
        assert_eq!(quality.scale(), 1.0);
        quality.adapts = false;
        (0..400).for_each(|_| quality.took(1.0));
        assert_eq!(quality.scale(), 1.0);
    }
}
