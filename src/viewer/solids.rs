use super::figure::{Colour, Painted, to_f32};
use crate::math::Vec3;

/// Small solid markers of one colour in one mesh: balls, rods, arrows, rings.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    vertices: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

/// Corners around a rod.
const ROD_CORNERS: usize = 16;
/// Rings of a ball.
const RINGS: usize = 8;
/// Length and width of an arrow's head, in radii of its shaft.
const ARROW_HEAD: [f64; 2] = [6.0, 2.6];
/// Maximum fraction of an arrow that is head.
const MOST_HEAD: f64 = 0.6;

impl Solids {
    /// A ball.
    pub fn ball(&mut self, centre: &Vec3, radius: f64) {
        let profile = (0..=RINGS).map(|i| {
            let (sin, cos) = (std::f64::consts::PI * i as f64 / RINGS as f64).sin_cos();
            ([-radius * cos, radius * sin], [-cos, sin])
        });
        self.turned(centre, &Vec3::y(), profile);
    }

    /// A rod with flat ends whose radius changes linearly.
    pub fn rod(&mut self, from: &Vec3, to: &Vec3, radii: [f64; 2]) {
        let length = (to - from).norm();
        if length > 0.0 {
            let slope = (radii[0] - radii[1]) / length;
            let side = f64::hypot(1.0, slope);
            let out = [slope / side, 1.0 / side];
            let axis = (to - from) / length;
            self.turned(from, &axis, [([0.0, 0.0], [-1.0, 0.0]), ([0.0, radii[0]], [-1.0, 0.0])].into_iter());
            self.turned(from, &axis, [([0.0, radii[0]], out), ([length, radii[1]], out)].into_iter());
            self.turned(from, &axis, [([length, radii[1]], [1.0, 0.0]), ([length, 0.0], [1.0, 0.0])].into_iter());
        }
    }

    /// An arrow with a head; a short one is only a head.
    pub fn arrow(&mut self, from: &Vec3, to: &Vec3, radius: f64) {
        let along = to - from;
        let length = along.norm();
        if length > 0.0 {
            let head = (ARROW_HEAD[0] * radius).min(MOST_HEAD * length);
            let neck = to - head / length * along;
            let breadth = ARROW_HEAD[1] * radius * (head / (ARROW_HEAD[0] * radius)).max(0.5);
            self.rod(from, &neck, [radius; 2]);
            self.rod(&neck, to, [breadth, 0.0]);
        }
    }

    /// A flat ring, or the part of it between two angles counted clockwise from `up`, facing `towards`.
    pub fn ring(&mut self, centre: &Vec3, towards: &Vec3, up: &Vec3, radii: [f64; 2], angles: [f64; 2]) {
        let right = up.cross(towards);
        let count = ((angles[1] - angles[0]).abs() / 0.13).ceil().max(1.0) as usize;
        let first = self.vertices.len() as u32;
        for i in 0..=count {
            let (sin, cos) = (angles[0] + (angles[1] - angles[0]) * i as f64 / count as f64).sin_cos();
            for radius in radii {
                self.vertices.push(to_f32(&(centre + radius * (sin * right + cos * up))));
                self.normals.push(to_f32(towards));
            }
        }
        self.strips(first, 2, count);
    }

    /// Surface of revolution of a profile: distances along and from an axis, with normals in the same terms.
    fn turned(&mut self, from: &Vec3, axis: &Vec3, profile: impl Iterator<Item = ([f64; 2], [f64; 2])> + Clone) {
        let first = self.vertices.len() as u32;
        let side = axis.cross(&if axis.x.abs() < 0.7 { Vec3::x() } else { Vec3::z() }).normalize();
        let other = axis.cross(&side);
        let rows = profile.clone().count() as u32;
        for i in 0..=ROD_CORNERS {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / ROD_CORNERS as f64).sin_cos();
            let out = cos * side + sin * other;
            for (place, normal) in profile.clone() {
                self.vertices.push(to_f32(&(from + place[0] * axis + place[1] * out)));
                self.normals.push(to_f32(&(normal[0] * axis + normal[1] * out)));
            }
        }
        self.strips(first, rows, ROD_CORNERS);
    }

    /// Connects columns of vertices by strips of triangles.
    fn strips(&mut self, first: u32, rows: u32, columns: usize) {
        for column in 0..columns as u32 {
            for row in 0..rows - 1 {
                let a = first + column * rows + row;
                self.triangles.extend([[a, a + 1, a + rows], [a + 1, a + rows + 1, a + rows]]);
            }
        }
    }

    /// The mesh in one colour; `None` if empty.
    pub fn painted(self, colour: Colour) -> Option<Painted> {
        let Self { vertices, normals, triangles } = self;
        let plain =
            Painted { colour, opacity: 1.0, roughness: 0.6, paint: None, in_front: false, ..Painted::default() };
        (!triangles.is_empty()).then_some(Painted { vertices, normals, triangles, ..plain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(solids: &Solids, direction: [f32; 3]) -> [f32; 2] {
        let heights = solids.vertices.iter().map(|p| (0..3).map(|i| p[i] * direction[i]).sum::<f32>());
        heights.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], h| [low.min(h), high.max(h)])
    }

    /// Total area with triangle normals along the vertex normals minus the rest.
    fn outward(solids: &Solids) -> f64 {
        let vertex = |v: u32| Vec3::from(solids.vertices[v as usize].map(f64::from));
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(vertex);
            let normal: Vec3 = t.iter().map(|&v| Vec3::from(solids.normals[v as usize].map(f64::from))).sum();
            0.5 * (b - a).cross(&(c - a)).dot(&normal.normalize())
        };
        solids.triangles.iter().map(area).sum()
    }

    #[test]
    fn solids_have_the_expected_size_and_surface() {
        let mut ball = Solids::default();
        ball.ball(&Vec3::new(1.0, 2.0, 3.0), 0.5);
        assert_eq!(extent(&ball, [0.0, 1.0, 0.0]), [1.5, 2.5]);
        assert!((outward(&ball).abs() / std::f64::consts::PI - 0.95).abs() < 0.05, "{}", outward(&ball));
        let mut arrow = Solids::default();
        arrow.arrow(&Vec3::zeros(), &Vec3::new(0.0, 0.0, 1.0), 0.01);
        let [low, high] = extent(&arrow, [0.0, 0.0, 1.0]);
        assert!(low == 0.0 && (high - 1.0).abs() < 1e-6);
        assert!((extent(&arrow, [1.0, 0.0, 0.0])[1] - 0.026).abs() < 1e-3);
        let mut half = Solids::default();
        half.ring(&Vec3::zeros(), &Vec3::z(), &Vec3::y(), [1.0, 2.0], [0.0, std::f64::consts::PI]);
        // Clockwise from the top, seen from where it looks: the right half.
        let [left, right] = extent(&half, [1.0, 0.0, 0.0]);
        assert!(left.abs() < 1e-6 && (right - 2.0).abs() < 1e-2, "{left} {right}");
        assert!(Solids::default().painted([0.0; 3]).is_none());
    }

    #[test]
    fn degenerate_solids_are_omitted() {
        let mut solids = Solids::default();
        solids.arrow(&Vec3::x(), &Vec3::x(), 0.1);
        solids.rod(&Vec3::x(), &Vec3::x(), [0.1; 2]);
        assert!(solids.vertices.is_empty());
    }
}
