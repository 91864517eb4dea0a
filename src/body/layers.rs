use std::sync::Arc;

use super::fem::Continuum;
use super::{Body, CollisionSkin, HandBody, MaterialId, Phalanx};
use crate::hand::{HandModel, NodeMap};
use crate::math::{Pose, Vec3};
use crate::tracking::{HandSample, Limits, Segment, TrackedHand, Verdict};

/// A hand in the world: its five layers put together.
#[derive(Debug)]
pub struct Hand {
    model: Arc<HandModel>,
    /// Layers 1 to 3.
    pub skeleton: HandBody,
    /// Layer 4, one a segment, palm first.
    pub tissues: Vec<Phalanx>,
    /// Layer 5.
    pub skin: CollisionSkin,
    /// What the skin is made of.
    pub material: MaterialId,
    /// Whether the tissue gives way; without, the fingers are rigid.
    pub soft: bool,
}

/// How a hand begins.
#[derive(Clone, Debug, PartialEq)]
pub struct HandOptions {
    /// Placement of the palm.
    pub palm: Pose,
    /// Pose by name.
    pub pose: String,
    /// What is taken for a measurement.
    pub tracking: Limits,
}

impl Default for HandOptions {
    fn default() -> Self {
        Self { palm: Pose::identity(), pose: "open".into(), tracking: Limits::default() }
    }
}

impl Hand {
    /// A hand at rest. A pose that it does not know is taken for its first one.
    pub fn new(model: Arc<HandModel>, options: &HandOptions) -> Self {
        let description = &model.description;
        let angles = description.pose(&options.pose).or(description.poses.first().map(|p| &p.angles));
        let tracked = TrackedHand::new(options.palm, angles.copied().unwrap_or_default(), options.tracking);
        let skeleton = HandBody::new(model.clone(), tracked);
        let tissue = |s: Segment| {
            let mesh = &model.meshes[s.index()];
            let continuum = Continuum::new(&mesh.tissue, &mesh.held, model.description.tissue);
            Phalanx::new(Arc::new(continuum), skeleton.kinematics().poses[s.index()])
        };
        let tissues: Vec<_> = Segment::all().map(tissue).collect();
        let mut skin = CollisionSkin::new(&model);
        skin.update(&skeleton, &tissues);
        Self { model, skeleton, tissues, skin, material: MaterialId::at(0), soft: true }
    }

    /// The constant part.
    pub fn model(&self) -> &Arc<HandModel> {
        &self.model
    }

    /// Takes a tracked sample in.
    pub fn track(&mut self, sample: HandSample) -> Verdict {
        self.skeleton.tracked.accept(sample)
    }

    /// Hands the bones' placements on to the tissue, and both on to the skin.
    pub fn follow_bones(&mut self) {
        for (tissue, pose) in self.tissues.iter_mut().zip(&self.skeleton.kinematics().poses) {
            tissue.set_frame(*pose);
        }
        self.skin.update(&self.skeleton, &self.tissues);
    }

    /// Displacement of a segment's tissue in the frame of its bone.
    pub fn tissue_displacement(&self, segment: Segment, at: &NodeMap) -> Vec3 {
        self.tissues[segment.index()].displacement(at)
    }

    /// All bodies of the hand, skeleton first; the tissues only if they give way.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut dyn Body> {
        let tissues = if self.soft { self.tissues.as_mut_slice() } else { &mut [] };
        let tissues = tissues.iter_mut().map(|t| t as &mut dyn Body);
        std::iter::once(&mut self.skeleton as &mut dyn Body).chain(tissues)
    }

    /// All bodies of the hand, skeleton first.
    pub fn bodies(&self) -> impl Iterator<Item = &dyn Body> {
        std::iter::once(&self.skeleton as &dyn Body).chain(self.tissues.iter().map(|t| t as &dyn Body))
    }

    /// How often the tissues were factored.
    pub fn refactorisations(&self) -> u64 {
        self.tissues.iter().map(|t| t.state().refactorisations()).sum()
    }
}
