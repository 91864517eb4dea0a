/// Maximum number of stored times.
const MAX_WORK_TIMES: usize = 4_000;

/// Times of one kind of work, s.
#[derive(Default)]
pub struct WorkTimes {
    times: Vec<f64>,
    count: u64,
    sum: f64,
}

impl WorkTimes {
    /// Adds a time; the oldest are dropped at the limit.
    pub fn add(&mut self, time: f64) {
        if self.times.len() >= MAX_WORK_TIMES {
            self.times.drain(..MAX_WORK_TIMES / 2);
        }
        self.times.push(time);
        self.count += 1;
        self.sum += time;
    }

    /// Number of times added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Total time.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Median of the stored times.
    pub fn median(&self) -> f64 {
        let (mut times, middle) = (self.times.clone(), self.times.len() / 2);
        if times.is_empty() { 0.0 } else { *times.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_many() {
        let mut measures = WorkTimes::default();
        assert_eq!((measures.median(), measures.sum(), measures.count()), (0.0, 0.0, 0));
        (0..30_000).for_each(|i| measures.add(f64::from(i % 3)));
        assert_eq!((measures.median(), measures.sum(), measures.count()), (1.0, 30_000.0, 30_000));
    }
}
