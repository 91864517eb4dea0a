//! Rank 2: the hand: its description, the meshes generated from it, reduced coordinates (layer 2) and the rigid
//! skeleton (layer 3).
//!
//! ```
//! use fingerpad::hand::HandModel;
//! use fingerpad::math::Pose;
//! use fingerpad::tracking::{Finger, Segment};
//!
//! let model = HandModel::right()?;
//! let angles = model.description.pose("fist").expect("a pose of the hand");
//! let kinematics = model.skeleton.kinematics(&Pose::identity(), angles);
//! let tip = kinematics.poses[Segment::phalanx(Finger::Index, 2).index()].translation.vector;
//! assert!(tip.norm() < 0.15, "the last bone of the index finger is near the palm");
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

mod description;
mod dynamics;
mod fit;
mod meshing;
mod model;
pub mod ranges;
mod self_contact;
mod shape;
mod skeleton;
mod visual;

pub use description::{
    Coupling, FingerDescription, HandDescription, Look, Material, MeshOptions, NamedPose, POSES, PalmDescription,
    STIFFENING, TissueThickness,
};
pub use dynamics::{REDUCED, Reduced, ReducedMatrix, ReducedState, RigidInertia, Target};
pub use fit::{FitFault, Measures, fit};
pub use meshing::SegmentMesh;
pub use model::{HandFault, HandModel};
pub use self_contact::SelfContact;
pub use shape::SegmentShape;
pub use skeleton::{Kinematics, Skeleton};
pub use visual::{Carrier, Influence, SkinPlace, VisualSkin, VisualVertex};
