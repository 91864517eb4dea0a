//! Rank 2: the hand: its description, the meshes generated from it, reduced coordinates (layer 2) and the rigid
//! skeleton (layer 3).

mod description;
mod dynamics;
mod meshing;
mod model;
pub mod ranges;
mod shape;
mod skeleton;
mod visual;

pub use description::{
    Coupling, FingerDescription, HandDescription, Material, MeshOptions, NamedPose, POSES, PalmDescription,
    TissueThickness,
};
pub use dynamics::{REDUCED, Reduced, ReducedMatrix, ReducedState, RigidInertia, Target};
pub use meshing::{NodeMap, SegmentMesh};
pub use model::{HandFault, HandModel};
pub use shape::SegmentShape;
pub use skeleton::{Kinematics, Skeleton};
pub use visual::{Carrier, Influence, SkinPlace, VisualSkin, VisualVertex};
