use nalgebra::{Quaternion, SMatrix, Unit};

use super::{Pose, Quat, StateHash};

/// The part of an object that changes from step to step, as bytes.
///
/// An object has a model, which is fixed when it is made, a state, and working memory, which a step fills before it is read.
/// Only the state is saved. [`Saved::restore`] writes it into an object with the same model, and sets up working memory that the
/// next step reads. What was saved is restored to the bit.
///
/// [`saved_fields!`](crate::saved_fields) implements the trait for a struct from the list of its state fields.
pub trait Saved {
    /// Appends the state.
    fn save(&self, to: &mut StateWriter);

    /// Replaces the state by one that [`Saved::save`] wrote. After an error the object has parts of both states.
    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault>;
}

/// Why bytes are not the state of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateFault {
    /// The bytes end before the state does.
    #[error("the state ends early")]
    Truncated,
    /// There are more bytes than the state needs.
    #[error("the state is followed by {0} bytes that do not belong to it")]
    TooLong(usize),
    /// An array of another size.
    #[error("the state has an array of {saved} where there are {here}")]
    Size {
        /// Elements in the saved state.
        saved: u64,
        /// Elements in the object.
        here: u64,
    },
    /// A value that the object cannot have.
    #[error("the state has an invalid {0}")]
    Value(&'static str),
}

/// Appends states to bytes: little-endian words, numbers by their bits.
#[derive(Clone, Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
}

impl StateWriter {
    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Hash of some bytes. A change of one byte always changes it.
    pub fn hash(bytes: &[u8]) -> u64 {
        let mut hash = StateHash::default();
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash.word(u64::from_le_bytes(word));
        }
        hash.word(bytes.len() as u64);
        hash.value()
    }

    /// Appends the elements of a list after their number.
    pub fn list<'t, T: Saved + 't>(&mut self, items: impl ExactSizeIterator<Item = &'t T>) {
        items.len().save(self);
        items.for_each(|item| item.save(self));
    }

    /// Appends a text after its length.
    pub fn text(&mut self, text: &str) {
        text.len().save(self);
        self.bytes.extend(text.as_bytes());
    }
}

/// Reads what [`StateWriter`] wrote.
#[derive(Clone, Debug)]
pub struct StateReader<'b> {
    rest: &'b [u8],
}

impl<'b> StateReader<'b> {
    /// Starts at the first byte.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], StateFault> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(StateFault::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Reads one value.
    pub fn get<T: Saved + Default>(&mut self) -> Result<T, StateFault> {
        let mut value = T::default();
        value.restore(self)?;
        Ok(value)
    }

    /// Replaces a list by one of any length.
    pub fn list<T: Saved + Default>(&mut self, items: &mut Vec<T>) -> Result<(), StateFault> {
        let count: usize = self.get()?;
        // Every element has at least one byte: a wrong count does not allocate more than there are bytes.
        if count > self.rest.len() {
            return Err(StateFault::Truncated);
        }
        items.truncate(count);
        items.iter_mut().try_for_each(|item| item.restore(self))?;
        while items.len() < count {
            items.push(self.get()?);
        }
        Ok(())
    }

    /// What is left.
    pub fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Reads a text.
    pub fn text(&mut self) -> Result<String, StateFault> {
        let length: usize = self.get()?;
        let (text, rest) = self.rest.split_at_checked(length).ok_or(StateFault::Truncated)?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| StateFault::Value("text"))
    }

    /// Checks that everything was read.
    pub fn end(&self) -> Result<(), StateFault> {
        if self.rest.is_empty() { Ok(()) } else { Err(StateFault::TooLong(self.rest.len())) }
    }
}

macro_rules! saved_numbers {
    ($($number:ty),*) => {$(
        impl Saved for $number {
            fn save(&self, to: &mut StateWriter) {
                to.bytes.extend(self.to_le_bytes());
            }

            fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
                *self = <$number>::from_le_bytes(from.take()?);
                Ok(())
            }
        }
    )*};
}

saved_numbers!(u8, u32, u64, f64);

impl Saved for usize {
    fn save(&self, to: &mut StateWriter) {
        (*self as u64).save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        *self = usize::try_from(from.get::<u64>()?).map_err(|_| StateFault::Value("count"))?;
        Ok(())
    }
}

impl Saved for bool {
    fn save(&self, to: &mut StateWriter) {
        u8::from(*self).save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        *self = match from.get::<u8>()? {
            0 => false,
            1 => true,
            _ => return Err(StateFault::Value("flag")),
        };
        Ok(())
    }
}

impl<T: Saved + Default> Saved for Option<T> {
    fn save(&self, to: &mut StateWriter) {
        self.is_some().save(to);
        if let Some(value) = self {
            value.save(to);
        }
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        *self = if from.get()? { Some(from.get()?) } else { None };
        Ok(())
    }
}

impl<T: Saved, const N: usize> Saved for [T; N] {
    fn save(&self, to: &mut StateWriter) {
        self.iter().for_each(|item| item.save(to));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.iter_mut().try_for_each(|item| item.restore(from))
    }
}

/// An array whose size is part of the model. For lists of any length there are [`StateWriter::list`] and [`StateReader::list`].
impl<T: Saved> Saved for Vec<T> {
    fn save(&self, to: &mut StateWriter) {
        to.list(self.iter());
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        let (saved, here) = (from.get()?, self.len() as u64);
        if saved != here {
            return Err(StateFault::Size { saved, here });
        }
        self.iter_mut().try_for_each(|item| item.restore(from))
    }
}

impl<T: Saved> Saved for Box<T> {
    fn save(&self, to: &mut StateWriter) {
        (**self).save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        (**self).restore(from)
    }
}

macro_rules! saved_tuples {
    ($(($($part:ident $place:tt),*))*) => {$(
        impl<$($part: Saved),*> Saved for ($($part,)*) {
            fn save(&self, to: &mut StateWriter) {
                $(self.$place.save(to);)*
            }

            fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
                $(self.$place.restore(from)?;)*
                Ok(())
            }
        }
    )*};
}

saved_tuples! { (A 0, B 1) (A 0, B 1, C 2) }

impl<const R: usize, const C: usize> Saved for SMatrix<f64, R, C> {
    fn save(&self, to: &mut StateWriter) {
        self.as_slice().iter().for_each(|x| x.save(to));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.as_mut_slice().iter_mut().try_for_each(|x| x.restore(from))
    }
}

impl Saved for Quat {
    fn save(&self, to: &mut StateWriter) {
        self.coords.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        // Normalising it would change its last bit.
        *self = Unit::new_unchecked(Quaternion { coords: from.get()? });
        Ok(())
    }
}

impl Saved for Pose {
    fn save(&self, to: &mut StateWriter) {
        self.translation.vector.save(to);
        self.rotation.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.translation.vector.restore(from)?;
        self.rotation.restore(from)
    }
}

/// Implements [`Saved`](crate::math::Saved) for a struct from the list of its state fields. Fields after `lists` are vectors whose length is part of
/// the state; the length of all other vectors is part of the model.
///
/// ```
/// use fingerpad::math::{Saved, StateReader, StateWriter};
///
/// #[derive(Default)]
/// struct Lamp {
///     power: f64, // the model
///     is_on: bool,
///     switched: Vec<f64>,
/// }
/// fingerpad::saved_fields!(Lamp: is_on; lists: switched);
///
/// let mut to = StateWriter::default();
/// Lamp { power: 5.0, is_on: true, switched: vec![0.5] }.save(&mut to);
/// let mut other = Lamp { power: 7.0, ..Lamp::default() };
/// other.restore(&mut StateReader::new(&to.into_bytes()))?;
/// assert!(other.is_on && other.switched == [0.5] && other.power == 7.0);
/// # Ok::<(), fingerpad::math::StateFault>(())
/// ```
#[macro_export]
macro_rules! saved_fields {
    ($kind:ty: $($field:ident),* $(; lists: $($list:ident),*)?) => {
        impl $crate::math::Saved for $kind {
            #[allow(unused_variables, reason = "a body that never changes has no fields")]
            fn save(&self, to: &mut $crate::math::StateWriter) {
                $($crate::math::Saved::save(&self.$field, to);)*
                $($(to.list(self.$list.iter());)*)?
            }

            #[allow(unused_variables, reason = "a body that never changes has no fields")]
            fn restore(&mut self, from: &mut $crate::math::StateReader<'_>) -> Result<(), $crate::math::StateFault> {
                $($crate::math::Saved::restore(&mut self.$field, from)?;)*
                $($(from.list(&mut self.$list)?;)*)?
                Ok(())
            }
        }
    };
}

/// Implements [`Saved`](crate::math::Saved) for an enum without fields from the list of its variants.
macro_rules! saved_variants {
    ($kind:ty: $($variant:ident),*) => {
        impl $crate::math::Saved for $kind {
            fn save(&self, to: &mut $crate::math::StateWriter) {
                (*self as u8).save(to);
            }

            fn restore(&mut self, from: &mut $crate::math::StateReader<'_>) -> Result<(), $crate::math::StateFault> {
                let tag: u8 = from.get()?;
                let found = [$(<$kind>::$variant),*].into_iter().find(|variant| *variant as u8 == tag);
                *self = found.ok_or($crate::math::StateFault::Value("kind of state"))?;
                Ok(())
            }
        }
    };
}
pub(crate) use saved_variants;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Vec3;
    use super::*;

    fn bytes(value: &impl Saved) -> Vec<u8> {
        let mut to = StateWriter::default();
        value.save(&mut to);
        to.into_bytes()
    }

    type Everything = (Option<Vec3>, (bool, Pose, [u32; 2]), (usize, f64));

    proptest! {
        #[test]
        fn values_come_back_to_the_bit(
            v in any::<[u64; 3]>(), q in any::<[u64; 4]>(), some in any::<bool>(), words in any::<[u32; 2]>(),
        ) {
            let v = Vec3::from(v.map(f64::from_bits));
            let turn = Unit::new_unchecked(Quaternion::from(q.map(f64::from_bits)));
            let pose = Pose::from_parts(v.into(), turn);
            let value: Everything = (some.then_some(v), (some, pose, words), (words[0] as usize, v.x));
            let saved = bytes(&value);
            let mut from = StateReader::new(&saved);
            let back: Everything = from.get().expect("a state");
            prop_assert_eq!(from.end(), Ok(()));
            prop_assert_eq!(bytes(&back), saved);
        }

        #[test]
        fn no_bytes_make_it_panic(noise in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = StateReader::new(&noise).get::<Everything>();
            let _ = StateReader::new(&noise).list(&mut vec![Vec3::zeros(); 2]);
            let _ = StateReader::new(&noise).text();
            let _ = vec![0.0; 3].restore(&mut StateReader::new(&noise));
        }
    }

    #[test]
    fn arrays_of_the_model_keep_their_size_and_lists_do_not() {
        let saved = bytes(&vec![1.0, 2.0]);
        let refused = vec![0.0; 3].restore(&mut StateReader::new(&saved));
        assert_eq!(refused, Err(StateFault::Size { saved: 2, here: 3 }));
        let mut list = vec![0.0; 3];
        StateReader::new(&saved).list(&mut list).expect("a list");
        assert_eq!(list, [1.0, 2.0]);
        assert_eq!(StateReader::new(&saved[..15]).list(&mut list), Err(StateFault::Truncated));
        assert_eq!(StateReader::new(&[2]).get::<bool>(), Err(StateFault::Value("flag")));
    }
}
