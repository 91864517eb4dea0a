//! Rank 0: exchange between threads that must not wait for each other.
//!
//! ```
//! use fingerpad::sync::Latest;
//!
//! let slot: Latest<Vec<f64>> = Latest::default();
//! slot.put(Box::new(vec![1.0]));
//! slot.put(Box::new(vec![2.0]));
//! assert_eq!(slot.take().as_deref(), Some(&vec![2.0]), "the newest value replaces one that was not taken");
//! assert!(slot.take().is_none());
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A slot for one value between two threads. The writer never waits for the reader, and the newest value wins. Values can be
/// given back, so that a steady exchange allocates nothing.
#[derive(Debug)]
pub struct Latest<T> {
    full: Mutex<Option<Box<T>>>,
    spare: Mutex<Option<Box<T>>>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { full: Mutex::new(None), spare: Mutex::new(None) }
    }
}

impl<T> Latest<T> {
    /// Puts the newest value in; an older one that was not taken is kept for [`Latest::blank`].
    pub fn put(&self, newest: Box<T>) {
        // The locks are held while a pointer is moved.
        let old = lock(&self.full).replace(newest);
        if old.is_some() {
            *lock(&self.spare) = old;
        }
    }

    /// Whether the last value was taken.
    pub fn is_wanted(&self) -> bool {
        lock(&self.full).is_none()
    }

    /// Takes the newest value, if it was not taken yet.
    pub fn take(&self) -> Option<Box<T>> {
        lock(&self.full).take()
    }

    /// Gives a value back, to be filled again.
    pub fn give_back(&self, used: Box<T>) {
        *lock(&self.spare) = Some(used);
    }
}

impl<T: Default> Latest<T> {
    /// A value to fill: one that was given back or not taken, or a new one.
    pub fn blank(&self) -> Box<T> {
        lock(&self.spare).take().unwrap_or_default()
    }
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_wins_and_buffers_are_reused() {
        let latest: Latest<Vec<u8>> = Latest::default();
        assert!(latest.take().is_none() && latest.is_wanted());
        let mut first = latest.blank();
        first.extend([1, 2, 3]);
        let place = first.as_ptr();
        latest.put(first);
        latest.put(Box::new(vec![4]));
        assert!(!latest.is_wanted());
        let again = latest.blank();
        assert_eq!((again.as_ptr(), again.len()), (place, 3), "a value that was not taken is reused");
        assert_eq!(latest.take().as_deref(), Some(&vec![4]));
        assert!(latest.take().is_none());
        latest.give_back(again);
        let third = latest.blank();
        assert_eq!(third.as_ptr(), place);
    }
}
