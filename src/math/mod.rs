//! Rank 0: numeric types, and states as bytes. f64 throughout; f32 appears only in the viewer and on the wire.
//!
//! ```
//! use fingerpad::math::{Vec3, exp, log};
//!
//! let turn = Vec3::new(0.1, -0.2, 0.3);
//! assert!((log(&exp(&turn)) - turn).norm() < 1e-14);
//! ```

mod hash;
mod random;
mod range;
mod rotation;
mod state;

pub use hash::StateHash;
pub use random::Random;
pub use range::{OutOfRange, Range};
pub use rotation::{exp, log, nearest_rotation, polar_from, rotation_between, skew};
pub(crate) use state::saved_variants;
pub use state::{Saved, StateFault, StateReader, StateWriter};

/// A point or a direction in metres.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3 × 3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A rotation as a unit quaternion.
pub type Quat = nalgebra::UnitQuaternion<f64>;
/// A rigid transformation: rotation, then translation.
pub type Pose = nalgebra::Isometry3<f64>;

/// Converts to the vector type of parry3d (glam).
pub fn to_glam(v: &Vec3) -> glam::DVec3 {
    (*v).into()
}

/// The inverse conversion.
pub fn from_glam(v: glam::DVec3) -> Vec3 {
    v.into()
}

/// Declares a typed index: a newtype over `u32`.
#[macro_export]
macro_rules! typed_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the element at `index`.
            pub fn at(index: usize) -> Self {
                Self(index as u32)
            }
            /// The index as `usize`.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
