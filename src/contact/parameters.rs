use super::Pressure;
use crate::problem::FrictionModel;

/// How the contacts of the skin become constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Four rows per segment and touched body (Talvas 2015).
    #[default]
    Aggregate,
    /// Three rows a contact.
    Point,
}

impl Method {
    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Aggregate => "aggregate",
            Method::Point => "point",
        }
    }
}

/// What contact is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// How the contacts of the skin become constraints.
    pub method: Method,
    /// Which set an aggregate's friction is kept in.
    pub friction: FrictionModel,
    /// How an aggregate's normal force is spread.
    pub pressure: Pressure,
    /// Whether the contacts of a segment with a body share one friction patch. If not, each has a friction cone of its own: the reference
    /// that patches are compared with.
    pub patches: bool,
    /// Whether an aggregate whose normals disagree is split; without, it is the paper's.
    pub split: bool,
    /// From this angle on normals disagree, rad.
    pub split_angle: f64,
    /// Distance below which points count as close, m. What moves farther in a step is swept.
    pub alarm: f64,
    /// Distance at which surfaces touch, m: small, but directions between points this far apart are well defined.
    pub offset: f64,
    /// Thickness of the outermost layer of soft skin, m. What the facets of the skin's mesh have too much of sharpness goes into it, so that
    /// a round object presses on all of them and not on the few that stick out.
    pub layer: f64,
    /// Stiffness of a contact without a soft layer, N/m.
    pub hardness: f64,
    /// Shear displacement of soft skin per unit of the ratio of tangential to normal force, m: it slips at `μ` times this.
    pub shear_length: f64,
    /// The same for contacts without a soft layer, m.
    pub hard_shear_length: f64,
}

impl ContactParameters {
    /// Whether contact is one convex problem per step. The point method and the paper's distributions of pressure are solved on velocities
    /// and then on positions, as in the paper.
    pub fn is_convex(&self) -> bool {
        self.method == Method::Aggregate && self.pressure == Pressure::NonUniform
    }
}

impl Default for ContactParameters {
    fn default() -> Self {
        Self {
            method: Method::Aggregate,
            friction: FrictionModel::Exact,
            pressure: Pressure::NonUniform,
            patches: true,
            split: true,
            split_angle: 1.0,
            alarm: 2e-3,
            offset: 1e-5,
            layer: 1e-4,
            hardness: 1e7,
            shear_length: 5e-5,
            hard_shear_length: 1e-7,
        }
    }
}
