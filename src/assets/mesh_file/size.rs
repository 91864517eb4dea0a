//! The size of meshes. One that is smaller than a hair or larger than a hall is most likely in other units.

use crate::math::Vec3;

/// Minimum and maximum of the longest side of a mesh, m.
const SIDE: (f64, f64) = (1e-4, 100.0);
/// Maximum coordinate, m.
const MAX_COORDINATE: f64 = 100.0;

/// Extents along the axes; zero without points.
pub fn extents(points: &[Vec3]) -> Vec3 {
    let Some(first) = points.first() else { return Vec3::zeros() };
    let (low, high) = points.iter().fold((*first, *first), |(low, high), p| (low.inf(p), high.sup(p)));
    high - low
}

/// The problem of the size of a mesh, if any.
pub fn size_fault(points: &[Vec3]) -> Option<String> {
    let side = extents(points).max();
    let units = "coordinates times `scale` are metres, so set `scale = 0.001` if the file is in millimetres";
    if points.is_empty() {
        None
    } else if !(SIDE.0..=SIDE.1).contains(&side) {
        Some(format!("the mesh is {side:.3e} m long, expected {} to {} m: {units}", SIDE.0, SIDE.1))
    } else {
        let far = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
        (far > MAX_COORDINATE)
            .then(|| format!("a vertex is {far:.3e} m from the origin, expected at most {MAX_COORDINATE} m: {units}"))
    }
}
