/// Most times that are kept of a kind.
const MOST: usize = 20_000;

/// Times of one kind of work, s.
#[derive(Default)]
pub struct Measures {
    times: Vec<f64>,
    count: u64,
}

impl Measures {
    /// Takes a time in; old ones go when there are too many.
    pub fn add(&mut self, time: f64) {
        if self.times.len() >= MOST {
            self.times.drain(..MOST / 2);
        }
        self.times.push(time);
        self.count += 1;
    }

    /// How many were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last.
    pub fn last(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// The middle of those that are kept.
    pub fn median(&self) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_many() {
        let mut measures = Measures::default();
        assert_eq!((measures.median(), measures.last(), measures.count()), (0.0, 0.0, 0));
        (0..30_000).for_each(|i| measures.add(f64::from(i % 3)));
        assert_eq!((measures.median(), measures.last(), measures.count()), (1.0, 2.0, 30_000));
    }
}
