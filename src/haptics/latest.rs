//! The newest value from one thread to another, without waiting.
//!
//! The crate `triple_buffer` is used and not code of our own: a wait-free exchange of values larger than a word needs `unsafe`, the crate is small, has no
//! dependency that is not here already, and is tested on several architectures.

/// The writing end.
pub struct Writer<T: Clone + Send>(triple_buffer::Input<T>);

/// The reading end.
pub struct Reader<T: Clone + Send>(triple_buffer::Output<T>);

/// A pair of ends that both hold `first`. Each belongs to one thread. Neither ever waits; a value that was not read in time is lost.
pub fn latest<T: Clone + Send>(first: &T) -> (Writer<T>, Reader<T>) {
    let (input, output) = triple_buffer::TripleBuffer::new(first).split();
    (Writer(input), Reader(output))
}

impl<T: Clone + Send> Writer<T> {
    /// Makes a value the newest.
    pub fn write(&mut self, value: T) {
        self.0.write(value);
    }

    /// Makes a value the newest by filling an older one, so that its memory is used again.
    pub fn fill(&mut self, fill: impl FnOnce(&mut T)) {
        fill(self.0.input_buffer_mut());
        self.0.publish();
    }
}

impl<T: Clone + Send> Reader<T> {
    /// The newest value.
    pub fn read(&mut self) -> &T {
        self.0.read()
    }

    /// The newest value, if it has not been read yet, to work on in place. The writer will not see the changes.
    pub fn take_new(&mut self) -> Option<&mut T> {
        if self.0.update() { Some(self.0.output_buffer_mut()) } else { None }
    }

    /// The value that was read last, to work on in place.
    pub fn last_mut(&mut self) -> &mut T {
        self.0.output_buffer_mut()
    }

    /// The newest value, if it has not been read yet.
    pub fn read_new(&mut self) -> Option<&T> {
        if self.0.update() { Some(self.0.output_buffer()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader may change its value until a newer one comes.
    #[test]
    fn the_reader_works_on_its_value_in_place() {
        let (mut writer, mut reader) = latest(&vec![0]);
        assert_eq!(reader.take_new(), None);
        writer.fill(|value| *value = vec![1]);
        reader.take_new().expect("a new value").push(2);
        assert_eq!(reader.take_new(), None);
        assert_eq!(*reader.last_mut(), vec![1, 2]);
        writer.write(vec![3]);
        assert_eq!(reader.take_new().expect("a new value").clone(), vec![3]);
    }

    /// Values are large, so that a torn one would show; they never go back, and the last one arrives.
    #[test]
    fn values_are_whole_and_in_order_under_load() {
        // Miri takes some thousand times as long.
        const LAST: u64 = if cfg!(miri) { 300 } else { 200_000 };
        let (mut writer, mut reader) = latest(&[0u64; 32]);
        let thread = std::thread::spawn(move || (1..=LAST).for_each(|i| writer.write([i; 32])));
        let mut before = 0;
        while before < LAST {
            let value = reader.read();
            assert!(value.iter().all(|x| *x == value[0]), "a torn value");
            assert!(value[0] >= before, "an old value");
            before = value[0];
        }
        assert_eq!(reader.read_new(), None);
        thread.join().expect("the writer ends");
    }
}
