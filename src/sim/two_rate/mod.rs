//! Two rates: the scene at 25 to 100 Hz, a tool and its contacts at 500 to 1,000 Hz (Duriez 2004, §4; Peterlik 2011, §IV).
//!
//! The tool is a body of the scene: rigid, quasi-rigid or a chain of beams. The fast loop moves a copy of it with the device; the scene has
//! the tool as well, as the proxy of Peterlik, and takes over the state of the copy before every step. In steps of the scene of length `H`:
//!
//! - S1 The proxy copies state, coupling and shear displacements of the fast tool ([`SceneSide::step`]). All bodies move freely.
//! - S2–S5 The step of the world: proximity, contact problem, solution, motion. The coupling to the device is in the matrix of the proxy.
//! - S6 The solved problem is condensed on the constraints of the tool and handed over ([`crate::contact::ToolProblem`]).
//!
//! In steps of the fast loop of length `h` ([`FastTool::step`]), with the newest problem of the scene, solved at the time `T`:
//!
//! - H1 The coupling takes the pose of the device.
//! - H2 Free motion of the tool with its coupling: `A_c(h)`, `v_free`.
//! - H3 The constraint violation at the end of the step. Points of the environment were at `x_T` with the velocity `v_T` and the forces
//!   `λ_T`; other forces move them by the compliance `W_v`. `v_T` is without the response to changed forces, which `W_v` has. With `x_c` the point of the
//!   tool and all displacements relative,
//!
//!   ```text
//!   δ_free = δ_T + n·(x_c + h v_free − x_c,T) + n·v_T (t + h − T) − W_v λ_T,     δ = δ_free + (W_v + W_c) λ.
//!   ```
//!
//! - H4 `W_c = h² J A_c⁻¹ Jᵀ`. The static compliance `C` of a quasi-rigid tool adds `J_u C J_uᵀ`, for the points of the constraints.
//! - H5 [`crate::solver::DualSweeps`], from the forces of the last step, with a limit of time or sweeps.
//! - H6 The forces move the tool; the device feels the opposite of the coupling.
//!
//! **Equal forces at rest.** If tool, device and environment rest, the fast loop has `λ` with `δ = 0` for points at `x_T`, that is `λ = λ_T`, and the step of the
//! scene starts in its own solution. So both loops have the same forces, whatever `W_v`; a wrong `W_v` only costs time.
//!
//! **Stability between the loops.** Let the environment be rigid, the tool have the mass `m` and the coupling `k`, and let the fast loop reach equilibrium within `H`.
//! An error `p` of the tool's position makes the scene push it back with `m p/H²` more force than at rest, and with this force the fast loop ends
//! at `−p (m/H²) / (k + 1/W_v)`. With the `W_v` of the whole environment the factor is far below one.
//!
//! **Friction** has the shear spring `λ_n/ℓ` of the scene. The shear displacement is kept by the fast loop, contact by contact, and returned to the
//! scene, so that neither loop forgets where a contact began to stick.
//!
//! DEVIATIONS: normals and contact points are those of the last step of the scene, as in both papers. Between two steps the environment responds like the
//! springs `W_v⁻¹`, so momentum is not conserved exactly when tool and object collide. The viscous part of the skin's foundation is left out.
//!
//! The same code runs in lockstep, `n` fast steps for each step of the scene ([`Lockstep`]), and in its own thread.
//!
//! The tool of an elastic object touches nothing else and is cheap enough to be computed at the fast rate alone ([`ElasticLockstep`]); the scene
//! only draws it.
//!
//! A device leads a ball by 1 cm; the scene follows the loop at 1,000 Hz:
//!
//! ```
//! use fingerpad::body::{RigidBody, RigidShape};
//! use fingerpad::haptics::HapticOptions;
//! use fingerpad::math::{Pose, Vec3};
//! use fingerpad::sim::two_rate::{Lockstep, LockstepSettings};
//! use fingerpad::sim::{Parameters, World};
//!
//! let mut world = World::new(Parameters { gravity: Vec3::zeros(), ..Parameters::default() });
//! let ball = world.add(RigidBody::new(&RigidShape::Ball(0.02), 1000.0, Pose::identity())?);
//! let settings = LockstepSettings { rate: 1000.0, options: HapticOptions::default(), hand: None };
//! let mut lockstep = Lockstep::new(&mut world, ball.id(), 0, &settings).expect("a body that a device can lead");
//! lockstep.set_aim(&Pose::translation(0.01, 0.0, 0.0));
//! for _ in 0..200 {
//!     lockstep.step(&mut world);
//! }
//! assert!((world.bodies[ball].centre().x - 0.01).abs() < 1e-4);
//! # Ok::<(), fingerpad::body::ShapeFault>(())
//! ```

mod elastic;
mod fast;
mod hand;
mod lockstep;
mod scene;
mod yielding;

pub use elastic::{AnyLockstep, ElasticLockstep, ElasticReport, ElasticSide};
pub use fast::{FastTool, ToolReport};
pub use hand::{HandLoop, SegmentFeel};
pub use lockstep::{HapticDevice, HapticReport, HapticSide, Lockstep, LockstepSettings};
pub use scene::SceneSide;

use crate::haptics::Wrench;
use crate::sim::{StepReport, World};

/// A haptic loop that runs beside the scene, such as that of a real device, in place of a [`Lockstep`].
pub trait LiveLoop: std::fmt::Debug + Send {
    /// One step of the scene with the newest state of the tool.
    fn step(&mut self, world: &mut World) -> StepReport;

    /// The figures so far.
    fn figures(&self) -> HapticReport;

    /// The wrench last sent to the device, in the scene.
    fn sent_wrench(&self) -> Wrench;
}
