use super::SurfaceMesh;
use crate::math::Vec3;

/// A grid of cubic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Lowest corner.
    pub min: Vec3,
    /// Edge of a cell.
    pub cell: f64,
    /// Cells along each axis.
    pub cells: [usize; 3],
}

/// The surface where `distance` is zero, wound outward (towards positive distance).
pub fn polygonise(_grid: Grid, _distance: impl Fn(&Vec3) -> f64) -> SurfaceMesh {
    SurfaceMesh::default()
}
