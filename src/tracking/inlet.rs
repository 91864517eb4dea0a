use super::{Driven, HandSample, Side};

/// Where a sample of a tracked hand comes from, in ascending priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SampleSource {
    /// The motion in a scene file.
    SceneMotion,
    /// A script that moves the hand.
    Script,
    /// Mouse and keyboard, for a hand that the user has taken over.
    Pointer,
    /// A glove, a tracker, a recording of one, or a caller of `Hand::track`.
    Device,
}

impl SampleSource {
    /// All sources, in ascending priority.
    pub const ALL: [Self; 4] = [Self::SceneMotion, Self::Script, Self::Pointer, Self::Device];
}

/// Decides which source moves which part of one hand.
///
/// A hand has two parts, the palm and the joints. Each part follows the highest-ranked [`SampleSource`] that has claimed it.
/// A sample is reduced to the parts that no higher source has claimed; the order in which samples arrive does not matter. A
/// source that offers samples without a claim ranks the same, but does not keep lower sources out.
///
/// ```
/// use fingerpad::tracking::{HandSample, Inlet, SampleSource};
///
/// let mut inlet = Inlet::default();
/// // A glove moves the joints, so the mouse moves the palm only.
/// inlet.claim(SampleSource::Device, false, true);
/// let sample = HandSample::full(0.1, Default::default(), [0.2; 20]);
/// let mouse = inlet.admit(SampleSource::Pointer, sample).unwrap();
/// assert!(mouse.palm.is_some() && mouse.angles.is_none());
/// assert_eq!(inlet.admit(SampleSource::Device, sample), Some(sample));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inlet {
    /// For each source, in the order of [`SampleSource::ALL`], whether it has claimed the palm and the joints.
    claims: [[bool; 2]; SampleSource::ALL.len()],
}

crate::saved_fields!(Inlet: claims);

impl Inlet {
    /// Sets the parts that a source claims: the palm, the joints. Replaces its earlier claim.
    pub fn claim(&mut self, source: SampleSource, palm: bool, joints: bool) {
        self.claims[source as usize] = [palm, joints];
    }

    /// Sets the claim of the devices of one side.
    pub fn claim_for_devices(&mut self, driven: &Driven, side: Side) {
        self.claim(SampleSource::Device, driven.palm[side as usize], driven.fingers[side as usize]);
    }

    /// Withdraws the claim of a source.
    pub fn release(&mut self, source: SampleSource) {
        self.claim(source, false, false);
    }

    /// The sample without the parts that a higher source has claimed; `None` if nothing is left of it.
    pub fn admit(&self, source: SampleSource, sample: HandSample) -> Option<HandSample> {
        let is_free = |part: usize| !self.claims[source as usize + 1..].iter().any(|claim| claim[part]);
        let (palm, angles) = (sample.palm.filter(|_| is_free(0)), sample.angles.filter(|_| is_free(1)));
        let is_empty = sample.palm.is_none() && sample.angles.is_none();
        // An empty sample is admitted, so that it is counted as a fault of its source.
        (is_empty || palm.is_some() || angles.is_some()).then_some(HandSample { palm, angles, ..sample })
    }
}

#[cfg(test)]
mod tests {
    use super::SampleSource::{Device, Pointer, SceneMotion, Script};
    use super::*;

    fn parts(inlet: &Inlet, source: SampleSource) -> [bool; 2] {
        let sample = HandSample::full(1.0, Default::default(), [0.1; 20]);
        inlet.admit(source, sample).map_or([false; 2], |left| [left.palm.is_some(), left.angles.is_some()])
    }

    #[test]
    fn each_part_follows_the_highest_source_that_claims_it() {
        let mut inlet = Inlet::default();
        assert!(SampleSource::ALL.iter().all(|source| parts(&inlet, *source) == [true; 2]), "nothing is claimed");
        inlet.claim(Script, true, true);
        assert_eq!([SceneMotion, Script, Pointer].map(|s| parts(&inlet, s)), [[false; 2], [true; 2], [true; 2]]);
        inlet.claim(Device, false, true);
        inlet.claim(Pointer, true, true);
        assert_eq!(parts(&inlet, SceneMotion), [false, false]);
        assert_eq!(parts(&inlet, Script), [false, false]);
        assert_eq!(parts(&inlet, Pointer), [true, false]);
        assert_eq!(parts(&inlet, Device), [true, true]);
        inlet.release(Pointer);
        assert_eq!(parts(&inlet, Script), [true, false]);
        inlet.release(Script);
        inlet.release(Device);
        assert_eq!(parts(&inlet, SceneMotion), [true, true]);
    }

    #[test]
    fn an_empty_sample_reaches_the_hand_that_counts_it() {
        let mut inlet = Inlet::default();
        inlet.claim(Device, true, true);
        let empty = HandSample { time: 1.0, palm: None, angles: None };
        assert_eq!(inlet.admit(SceneMotion, empty), Some(empty));
    }
}
