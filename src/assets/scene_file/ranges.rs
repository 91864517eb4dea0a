//! Valid ranges of the numbers of a scene. `scenes/README.md` lists them, checked by a test.

use crate::hand::ranges::Range;

const fn range(min: f64, max: f64, unit: &'static str) -> Range {
    Range { min, max, unit }
}

/// Duration of a simulation.
pub const SECONDS: Range = range(1e-3, 3600.0, "s");
/// Time step.
pub const DT: Range = range(1e-5, 0.1, "s");
/// A component of gravity.
pub const GRAVITY: Range = range(-100.0, 100.0, "m/s²");
/// Rotation of an element before a soft body is refactored.
pub const DRIFT: Range = range(1e-4, 1.0, "");
/// Seed of random numbers.
pub const SEED: Range = range(0.0, 1e15, "");
/// Angle between disagreeing normals.
pub const SPLIT_ANGLE: Range = range(1.0, 180.0, "°");
/// Proximity distance.
pub const ALARM: Range = range(1e-5, 0.1, "m");
/// Contact offset of surfaces.
pub const OFFSET: Range = range(1e-7, 0.01, "m");
/// Thickness of the outermost layer of skin.
pub const LAYER: Range = range(0.0, 0.005, "m");
/// Solver tolerance.
pub const TOLERANCE: Range = range(1e-15, 0.1, "");
/// Maximum number of solver sweeps.
pub const ITERATIONS: Range = range(1.0, 1e6, "");
/// Solver time limit per step.
pub const DEADLINE: Range = range(0.01, 1000.0, "ms");
/// Coefficient of friction.
pub const FRICTION: Range = range(0.0, 10.0, "");
/// A coordinate in the world.
pub const PLACE: Range = range(-100.0, 100.0, "m");
/// A size of a body.
pub const SIZE: Range = range(1e-4, 100.0, "m");
/// Metres in a unit of a mesh file.
pub const SCALE: Range = range(1e-6, 1e6, "");
/// Mass of a body.
pub const MASS: Range = range(1e-6, 1e5, "kg");
/// Density of a rigid body.
pub const DENSITY: Range = range(1.0, 30_000.0, "kg/m³");
/// A component of a velocity.
pub const VELOCITY: Range = range(-100.0, 100.0, "m/s");
/// A component of an angular velocity.
pub const SPIN: Range = range(-36_000.0, 36_000.0, "°/s");
/// An angle of a rotation.
pub const ROTATION: Range = range(-360.0, 360.0, "°");
/// A component of an axis or a quaternion.
pub const COMPONENT: Range = range(-1.0, 1.0, "");
/// Approximate number of surface samples of a rigid body.
pub const SAMPLES: Range = range(8.0, 20_000.0, "");
/// A colour component.
pub const COLOUR: Range = range(0.0, 1.0, "");
/// Young's modulus of a soft body.
pub const YOUNG: Range = range(1e3, 1e9, "Pa");
/// Cells of a soft block along an edge.
pub const CELLS: Range = range(1.0, 64.0, "");
/// Layers of elements of a soft ball.
pub const LAYERS: Range = range(1.0, 12.0, "");
/// Factor on the number of vertices of a hand's collision skin.
pub const SKIN_RESOLUTION: Range = range(0.1, 64.0, "");
/// A component of an axis of any length.
pub const AXIS: Range = range(-100.0, 100.0, "");
/// Beams of a chain.
pub const BEAMS: Range = range(1.0, 2000.0, "");
/// A size of the section of a beam.
pub const SECTION: Range = range(1e-5, 1.0, "m");
/// Angle of an arc of beams.
pub const ARC_ANGLE: Range = range(-3600.0, 3600.0, "°");
/// Young's modulus of a beam.
pub const BEAM_YOUNG: Range = range(1e3, 1e12, "Pa");
/// Bending stiffness of a beam as a part of that of a solid section.
pub const FLEXURAL: Range = range(1e-9, 1.0, "");
