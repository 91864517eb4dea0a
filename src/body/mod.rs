//! Rank 3: the kinds of body, the five layers of the hand put together, and the bodies of a world. Each offers what contact needs and nothing more: free motion, the motion of a material point,
//! the map of a constraint row to its degrees of freedom, `A⁻¹` on rows, and the update (formulation §1).

pub mod fem;
mod fixed;
mod free_rotation;
mod hand;
mod layers;
mod phalanx;
mod rigid;
mod set;
mod skin;
mod soft;
mod tessellation;

pub use fem::{Refactor, RefactorPolicy};
pub use fixed::Fixed;
pub use hand::HandBody;
pub use layers::{Hand, HandOptions};
pub use phalanx::Phalanx;
pub use rigid::{RigidBody, RigidShape, Samples, ShapeFault};
pub use set::{Bodies, BodyId, BodyKind, HandId};
pub use skin::{CollisionSkin, SkinVertex};
pub use soft::SoftBody;
pub use tessellation::tessellated;

use crate::hand::NodeMap;
use crate::math::{StateHash, Vec3};
use crate::problem::CoordinateTerm;
use crate::typed_id;

typed_id! {
    /// What a body's surface is made of; friction goes by pairs of them.
    MaterialId
}

/// What all bodies share in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Length of the step, s.
    pub h: f64,
    /// Time at its beginning, s.
    pub time: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3,
    /// When soft bodies refresh their linearisation.
    pub refactor: RefactorPolicy,
}

/// A point that moves with a body. A rigid body reads `local`, the hand's skeleton `part` and `local`, soft bodies `nodes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialPoint {
    /// Which rigid part of the body.
    pub part: u32,
    /// Place in the frame of that part.
    pub local: Vec3,
    /// Place among the nodes.
    pub nodes: NodeMap,
}

impl MaterialPoint {
    /// A point of a rigid part.
    pub fn rigid(part: usize, local: Vec3) -> Self {
        Self { part: part as u32, local, nodes: NodeMap { nodes: [0; 4], weights: [0.0; 4] } }
    }

    /// A point among nodes.
    pub fn soft(nodes: NodeMap) -> Self {
        Self { part: 0, local: Vec3::zeros(), nodes }
    }
}

/// Rank of [`LowRank`]: six rigid motions and the answers to them.
pub const LOW_RANK: usize = 12;

/// What couples the columns of a [`LowRank`].
pub type LowRankCore = nalgebra::SMatrix<f64, LOW_RANK, LOW_RANK>;

/// A part `W Q Wᵀ` of `A⁻¹` that changes from step to step.
#[derive(Clone, Copy, Debug)]
pub struct LowRank<'a> {
    /// A number that changes whenever it does.
    pub stamp: u64,
    /// The columns of `W`, one after another.
    pub columns: &'a [f64],
    /// `Q`, symmetric and invertible.
    pub core: &'a LowRankCore,
}

/// The one interface to everything that contact can touch.
///
/// With `q_t`, `v_t` the state at the start of a step of length `h`, implicit Euler linearised once gives
/// `A dv = b`, `A = M − h ∂f/∂v − h² ∂f/∂q`, `b = h f + h² ∂f/∂q v_t` (Talvas 2015, eq. 2; the paper prints the signs of an `f` that
/// stands on the left). [`Body::free_motion`] sets `A` up and leaves `v_free`; constraints add `A⁻¹ Hᵀ λ` to it through the rows;
/// [`Body::advance`] moves the position by `h v`.
///
/// Points, directions and velocities are those of the world. A point of the hand's skin belongs to two bodies, the skeleton
/// and the phalanx: its velocity is the sum of theirs, and so is its compliance (Duriez 2006, §6.2).
pub trait Body {
    /// Degrees of freedom.
    fn dofs(&self) -> usize;

    /// Moves the velocity to the one at the end of the step without constraints, and makes `A⁻¹` ready.
    fn free_motion(&mut self, step: &Step);

    /// Where a material point is.
    fn position(&self, at: &MaterialPoint) -> Vec3;

    /// How it moves, for the body's present velocity.
    fn velocity(&self, at: &MaterialPoint) -> Vec3;

    /// Adds the row of `direction · velocity(at)` to `row`, one entry a degree of freedom.
    fn add_row(&self, at: &MaterialPoint, direction: &Vec3, row: &mut [f64]);

    /// Replaces each row by `A⁻¹` of it; rows lie one after another.
    fn apply_inverse(&mut self, rows: &mut [f64]);

    /// Whether contact works on all its degrees of freedom, with [`Body::matrix`]; of other bodies only on those that it acts on.
    fn is_small(&self) -> bool {
        false
    }

    /// `A` of a small body after the free motion, row by row.
    fn matrix(&self) -> &[f64] {
        &[]
    }

    /// Sizes of the groups that the degrees of freedom of a small body form: not every pair of groups is coupled in [`Body::matrix`].
    fn partition(&self) -> &[usize] {
        &[]
    }

    /// Springs and limits of a small body that contact may saturate or reach, as the free motion left them.
    fn coordinate_terms(&self) -> &[CoordinateTerm] {
        &[]
    }

    /// A number that changes whenever [`Body::apply_kept_inverse`] does; `None` if it may change every step.
    fn inverse_epoch(&self) -> Option<u64> {
        None
    }

    /// [`Body::apply_inverse`] without [`Body::low_rank`].
    fn apply_kept_inverse(&mut self, rows: &mut [f64]) {
        self.apply_inverse(rows);
    }

    /// The part of `A⁻¹` that changes from step to step, if there is one.
    fn low_rank(&mut self) -> Option<LowRank<'_>> {
        None
    }

    /// Change of velocity that the free motion made, one entry a degree of freedom; to be asked before constraints add theirs.
    fn free_change(&self, change: &mut [f64]);

    /// Adds to the velocity.
    fn change_velocity(&mut self, dv: &[f64]);

    /// Adds to the position without touching the velocity.
    fn change_position(&mut self, dq: &[f64]);

    /// Moves the position by `h` times the velocity.
    fn advance(&mut self, h: f64);

    /// Mixes the state into a hash.
    fn hash(&self, hash: &mut StateHash);

    /// Whether every number of the state is finite.
    fn is_finite(&self) -> bool;

    /// Kinetic and elastic energy, J.
    fn energy(&self) -> f64;
}
