use std::sync::Arc;

use parry3d::shape::{SharedShape, TypedShape};

use crate::math::Vec3;
use crate::viewer::figure::Colour;
use crate::viewer::palette::{Paint, Palette, mix};

/// Colour of a seam, and its opacity.
const CREAM: Colour = [0.97, 0.95, 0.90];
const PART: f32 = 0.55;
/// Half width of a seam, in radii: on balls, and on shapes with an axis.
const NARROW: f32 = 0.06;
const BROAD: f32 = 0.16;

/// Marks on round objects that make their rotation visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seams {
    /// Two circles that cross at the poles.
    Crossed,
    /// A line over each end and along both sides.
    Along,
}

impl Seams {
    /// The seams of a shape, and its radius, if it is round.
    pub(super) fn of(shape: &SharedShape) -> Option<(Self, f64)> {
        match shape.as_typed_shape() {
            TypedShape::Ball(ball) => Some((Self::Crossed, ball.radius)),
            TypedShape::Capsule(capsule) => Some((Self::Along, capsule.radius)),
            TypedShape::Cylinder(cylinder) => Some((Self::Along, cylinder.radius)),
            _ => None,
        }
    }

    /// The paint of the vertices of a surface in its own frame, with the axis along Y. Colours depend on the position
    /// across the axis, so that seams have sharp edges on any mesh.
    pub(super) fn paint(self, vertices: &[Vec3], colour: Colour, radius: f64) -> Paint {
        let palette = Palette::new((128, 128), |u, v| {
            let [x, z] = [u, v].map(|part| (2.0 * part - 1.0).abs());
            let is_seam = match self {
                Self::Crossed => x.min(z) < NARROW,
                Self::Along => x < BROAD,
            };
            if is_seam { mix(colour, CREAM, PART) } else { colour }
        });
        let part = |c: f64| (0.5 + 0.5 * c / radius) as f32;
        let places = vertices.iter().map(|p| [part(p.x), part(p.z)]).collect();
        Paint { palette: Arc::new(palette), places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{RigidShape, tessellated};

    /// Fraction of a shape's vertices with the colour of a seam.
    fn marked(shape: &RigidShape) -> Option<f64> {
        let shape = shape.shared().expect("a shape");
        let (seams, radius) = Seams::of(&shape)?;
        let (surface, colour) = (tessellated(&shape).expect("a surface"), [0.5, 0.2, 0.2]);
        let Paint { palette, places } = seams.paint(&surface.vertices, colour, radius);
        let light = |place: &&[f32; 2]| {
            let [column, row] = place.map(|part| (127.0 * part).round() as usize);
            palette.colours[128 * row + column] != colour
        };
        assert!(places.iter().flatten().all(|part| (-1e-3..=1.001).contains(part)));
        Some(places.iter().filter(light).count() as f64 / places.len() as f64)
    }

    #[test]
    fn round_shapes_have_narrow_seams_and_a_block_has_none() {
        for shape in [RigidShape::Ball(0.03), RigidShape::Capsule(0.02, 0.01), RigidShape::Cylinder(0.085, 0.004)] {
            let part = marked(&shape).expect("seams");
            assert!((0.02..0.35).contains(&part), "{shape:?}: {part}");
        }
        assert_eq!(marked(&RigidShape::Box(Vec3::new(0.1, 0.1, 0.1))), None);
    }
}
