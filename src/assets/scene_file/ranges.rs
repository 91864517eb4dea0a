//! Valid ranges of the numbers of a scene. `scenes/README.md` lists them, checked by a test.

use crate::math::Range;

/// Duration of a simulation.
pub const SECONDS: Range = Range::new(1e-3, 3600.0, "s");
/// Time step.
pub const DT: Range = Range::new(1e-5, 0.1, "s");
/// A component of gravity.
pub const GRAVITY: Range = Range::new(-100.0, 100.0, "m/s²");
/// Rotation of an element before a soft body is refactored.
pub const DRIFT: Range = Range::new(1e-4, 1.0, "");
/// Seed of random numbers.
pub const SEED: Range = Range::new(0.0, 1e15, "");
/// Angle between disagreeing normals.
pub const SPLIT_ANGLE: Range = Range::new(1.0, 180.0, "°");
/// Proximity distance.
pub const ALARM: Range = Range::new(1e-5, 0.1, "m");
/// Contact offset of surfaces.
pub const OFFSET: Range = Range::new(1e-7, 0.01, "m");
/// Thickness of the outermost layer of skin.
pub const LAYER: Range = Range::new(0.0, 0.005, "m");
/// Solver tolerance.
pub const TOLERANCE: Range = Range::new(1e-15, 0.1, "");
/// Maximum number of solver sweeps.
pub const ITERATIONS: Range = Range::new(1.0, 1e6, "");
/// Solver time limit per step.
pub const DEADLINE: Range = Range::new(0.01, 1000.0, "ms");
/// Coefficient of friction.
pub const FRICTION: Range = Range::new(0.0, 10.0, "");
/// Exponent of the dependence of friction on load.
pub const LOAD_EXPONENT: Range = Range::new(0.0, 1.0, "");
/// A coordinate in the world.
pub const PLACE: Range = Range::new(-100.0, 100.0, "m");
/// A size of a body.
pub const SIZE: Range = Range::new(1e-4, 100.0, "m");
/// Metres in a unit of a mesh file.
pub const SCALE: Range = Range::new(1e-6, 1e6, "");
/// Mass of a body.
pub const MASS: Range = Range::new(1e-6, 1e5, "kg");
/// Density of a rigid body.
pub const DENSITY: Range = Range::new(1.0, 30_000.0, "kg/m³");
/// A component of a velocity.
pub const VELOCITY: Range = Range::new(-100.0, 100.0, "m/s");
/// A component of an angular velocity.
pub const SPIN: Range = Range::new(-36_000.0, 36_000.0, "°/s");
/// An angle of a rotation.
pub const ROTATION: Range = Range::new(-360.0, 360.0, "°");
/// A component of an axis or a quaternion.
pub const COMPONENT: Range = Range::new(-1.0, 1.0, "");
/// A coordinate of a hinge: limits and rest angle.
pub const JOINT_ANGLE: Range = Range::new(-180.0, 180.0, "°");
/// Stiffness, damping or strength of a drive.
pub const DRIVE: Range = Range::new(0.0, 1e6, "");
/// How much of the light a body stops.
pub const OPACITY: Range = Range::new(0.05, 1.0, "");
/// Approximate number of surface samples of a rigid body.
pub const SAMPLES: Range = Range::new(8.0, 20_000.0, "");
/// A colour component.
pub const COLOUR: Range = Range::new(0.0, 1.0, "");
/// Young's modulus of a soft body.
pub const YOUNG: Range = Range::new(1e3, 1e9, "Pa");
/// Cells of a soft block along an edge.
pub const CELLS: Range = Range::new(1.0, 64.0, "");
/// Angle of the opening of a clip.
pub const OPENING: Range = Range::new(1.0, 315.0, "°");
/// Layers of elements of a soft ball.
pub const LAYERS: Range = Range::new(1.0, 12.0, "");
/// Factor on the number of vertices of a hand's collision skin.
pub const SKIN_RESOLUTION: Range = Range::new(0.1, 64.0, "");
/// A component of an axis of any length.
pub const AXIS: Range = Range::new(-100.0, 100.0, "");
/// Beams of a chain.
pub const BEAMS: Range = Range::new(1.0, 2000.0, "");
/// A size of the section of a beam.
pub const SECTION: Range = Range::new(1e-5, 1.0, "m");
/// Angle of an arc of beams.
pub const ARC_ANGLE: Range = Range::new(-3600.0, 3600.0, "°");
/// Young's modulus of a beam.
pub const BEAM_YOUNG: Range = Range::new(1e3, 1e12, "Pa");
/// Bending stiffness of a beam as a part of that of a solid section.
pub const FLEXURAL: Range = Range::new(1e-9, 1.0, "");
/// Rate of a haptic loop.
pub const HAPTIC_RATE: Range = Range::new(10.0, 1e4, "Hz");
/// Distance of a tool for a distance of its device.
pub const DEVICE_SCALE: Range = Range::new(1e-3, 1e3, "");
/// Stiffness, damping and limits of a coupling.
pub const COUPLING: Range = Range::new(0.0, 1e6, "");
/// Mass of an emulated hand.
pub const HAND_MASS: Range = Range::new(1e-3, 100.0, "kg");
/// Delay of an emulated device, in steps.
pub const DELAY: Range = Range::new(0.0, 100.0, "");
/// Contact area that the law of an elastic object holds for.
pub const CONTACT_AREA: Range = Range::new(1e-7, 1.0, "m²");
/// Time constant of viscous damping of an elastic surface.
pub const SURFACE_DAMPING: Range = Range::new(0.0, 1.0, "s");
/// Triangles of the surface of an elastic object.
pub const TRIANGLES: Range = Range::new(200.0, 20_000.0, "");
/// A distance on the surface of an elastic object.
pub const REACH: Range = Range::new(0.0, 100.0, "m");
/// Initial stiffness of an elastic object.
pub const STIFFNESS: Range = Range::new(1e-3, 1e7, "N/m");
/// Cubic term of the force of an elastic object.
pub const HARDENING: Range = Range::new(0.0, 1e15, "N/m³");
/// Coefficient of static friction on an elastic object.
pub const STATIC_FRICTION: Range = Range::new(0.0, 1e3, "");
/// Exponent of static friction on an elastic object.
pub const FRICTION_EXPONENT: Range = Range::new(0.6, 1.0, "");
/// Poisson's ratio of an elastic object.
pub const ELASTIC_POISSON: Range = Range::new(0.0, 0.5, "");
/// Distance between the points of a tool.
pub const SPACING: Range = Range::new(1e-4, 0.1, "m");
