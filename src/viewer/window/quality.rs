/// How finely the 3D view is drawn, so that a frame takes no longer than a person accepts.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Whether to adapt to the time of frames; else every pixel is drawn.
    pub adapts: bool,
    step: usize,
    times: Vec<f64>,
}

/// Pixels drawn for a pixel of the screen, along each side.
const SCALES: [f32; 6] = [1.0, 0.8, 0.65, 0.5, 0.4, 0.32];
/// A frame that takes longer is drawn with fewer pixels, s; one that takes less with more.
const SLOW: f64 = 0.095;
const FAST: f64 = 0.06;
/// Frames looked at before a change.
const FRAMES: usize = 8;

impl Quality {
    /// Begins with fewer pixels where drawing is done in software.
    pub fn new(in_software: bool) -> Self {
        Self { adapts: true, step: if in_software { 2 } else { 0 }, times: Vec::new() }
    }

    /// Pixels drawn for a pixel of the screen, along each side.
    pub fn scale(&self) -> f32 {
        if self.adapts { SCALES[self.step] } else { 1.0 }
    }

    /// Takes in the time of a frame, s.
    pub fn took(&mut self, seconds: f64) {
        self.times.push(seconds);
        if self.times.len() < FRAMES {
            return;
        }
        self.times.sort_by(f64::total_cmp);
        let median = self.times[FRAMES / 2];
        self.times.clear();
        if median > SLOW {
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
    fn it_settles_where_frames_are_fast_enough() {
        // Part of a frame does not depend on the resolution.
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
