//! Valid ranges of a hand description. The reader of hand files enforces them, the property tests cover them, and the
//! messages quote them.
//!
//! ```
//! use fingerpad::hand::ranges::LENGTH;
//!
//! assert!(LENGTH.contains(0.04) && !LENGTH.contains(0.5));
//! ```

use crate::math::Range;

/// Wrist crease to middle fingertip: from a toddler's hand to larger than any on record.
pub const HAND_LENGTH: Range = Range::new(0.08, 0.35, "m");
/// Factor on all lengths.
pub const SCALE: Range = Range::new(0.4, 2.0, "");
/// Length of a phalanx.
pub const LENGTH: Range = Range::new(0.008, 0.08, "m");
/// Radius of a bone.
pub const BONE_RADIUS: Range = Range::new(0.002, 0.01, "m");
/// Tissue thickness around a bone.
pub const TISSUE: Range = Range::new(0.0015, 0.012, "m");
/// Tissue thickness beyond the last bone.
pub const TIP: Range = Range::new(0.001, 0.008, "m");
/// Bulge of the pad.
pub const PAD: Range = Range::new(0.0, 0.004, "m");
/// Width of the palm's skeleton.
pub const PALM_BREADTH: Range = Range::new(0.02, 0.12, "m");
/// Distance from the wrist to the knuckle of the middle finger.
pub const PALM_LENGTH: Range = Range::new(0.02, 0.2, "m");
/// Thickness of the palm's skeleton.
pub const PALM_THICKNESS: Range = Range::new(0.004, 0.03, "m");
/// A coordinate of a joint's centre.
pub const PLACE: Range = Range::new(-0.2, 0.2, "m");
/// A component of a direction or an axis.
pub const COMPONENT: Range = Range::new(-1.0, 1.0, "");
/// A joint angle, in degrees as in files.
pub const ANGLE: Range = Range::new(-180.0, 180.0, "°");
/// Young's modulus of tissue.
pub const YOUNG: Range = Range::new(1e3, 1e7, "Pa");
/// Poisson's ratio: linear tetrahedra lock beyond.
pub const POISSON: Range = Range::new(0.0, 0.49, "");
/// Coefficient of strain limiting.
pub const STIFFENING: Range = Range::new(0.0, 20.0, "");
/// Density.
pub const DENSITY: Range = Range::new(100.0, 10_000.0, "kg/m³");
/// Mass-proportional Rayleigh damping.
pub const DAMPING_MASS: Range = Range::new(0.0, 1000.0, "1/s");
/// Stiffness-proportional Rayleigh damping.
pub const DAMPING_STIFFNESS: Range = Range::new(0.0, 1.0, "s");
/// Stiffness of the palm's coupling.
pub const PALM_STIFFNESS: Range = Range::new(1.0, 1e6, "N/m");
/// Stiffness of a rotational coupling or a limit.
pub const TURN_STIFFNESS: Range = Range::new(1e-3, 1e5, "N·m/rad");
/// Damping ratio.
pub const DAMPING_RATIO: Range = Range::new(0.0, 10.0, "");
/// Maximum speed of the palm.
pub const SPEED: Range = Range::new(0.1, 100.0, "m/s");
/// Maximum angular speed of the palm or a joint.
pub const TURN: Range = Range::new(1.0, 1000.0, "rad/s");
/// Maximum force of the coupling.
pub const FORCE: Range = Range::new(0.1, 1e5, "N");
/// Maximum torque of the coupling.
pub const TORQUE: Range = Range::new(1e-3, 1e4, "N·m");
/// Factor on the number of tetrahedra.
pub const RESOLUTION: Range = Range::new(1.0 / 3.0, 8.0, "");
/// Subdivisions of an edge in the collision skin.
pub const SKIN: Range = Range::new(1.0, 16.0, "");
/// Cell size of the visual skin.
pub const VISUAL: Range = Range::new(0.001, 0.008, "m");
