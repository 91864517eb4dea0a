use super::Pressure;
use crate::problem::FrictionModel;

/// Method of converting skin contacts to constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Four rows per segment and touched body (Talvas 2015).
    #[default]
    Aggregate,
    /// Three rows per contact.
    Point,
}

impl Method {
    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Aggregate => "aggregate",
            Method::Point => "point",
        }
    }
}

/// Parameters of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// Method of converting skin contacts to constraints.
    pub method: Method,
    /// Friction set of aggregates.
    pub friction: FrictionModel,
    /// Pressure distribution of aggregates.
    pub pressure: Pressure,
    /// Whether the contacts of a segment with a body share one friction patch. If not, each has its own friction cone,
    /// as a reference for patches.
    pub patches: bool,
    /// Whether to split an aggregate with disagreeing normals; the paper does not.
    pub split: bool,
    /// Minimum angle between disagreeing normals, rad.
    pub split_angle: f64,
    /// Proximity distance, m. Faster motion is swept.
    pub alarm: f64,
    /// Contact offset, m: small, but directions between points at this distance are well defined.
    pub offset: f64,
    /// Thickness of the outermost layer of soft skin, m. It absorbs the facets of the skin mesh, so that a round object
    /// presses on all of them instead of a few protruding ones.
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
