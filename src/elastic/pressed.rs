use super::error::ElasticError;
use super::options::ElasticOptions;
use super::skin::Skin;
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// A point of an elastic surface that something presses, in the object's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressedPoint {
    /// The point on the undeformed surface, m.
    pub foot: Vec3,
    /// Outward unit normal there.
    pub normal: Vec3,
    /// Force on the object, N.
    pub force: Vec3,
    /// Compression of the surface, m.
    pub depth: f64,
    /// Area, m².
    pub area: f64,
}

/// The sum of the presses of one region.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    origin: Vec3,
    force: Vec3,
    /// Sum of the magnitudes of the forces, N: the weights of origin and depth.
    weight: f64,
    depth: f64,
    area: f64,
}

/// An elastic object whose shape follows from prescribed forces and compressions.
///
/// Forces that are closer than `link` make a region. A region displaces the surface as in [`super::ElasticObject`], by the mean compression of its
/// points instead of that of eq. 1, and vertices near a point are moved by at least its compression.
// DEVIATION: Luo 2007, §VI.B, holds the contact points of earlier regions. Here each region holds those of all others, so that the shape
// does not depend on the order of contacts that other bodies make.
#[derive(Clone, Debug)]
pub struct PressedObject {
    skin: Skin,
    /// Mean area of a vertex, m², and the radius of its disc, m.
    vertex_area: f64,
    labels: Vec<u32>,
    open: Vec<u32>,
    sums: Vec<Sum>,
}

const NO_POINT: u32 = u32::MAX;

impl PressedObject {
    /// An undeformed object.
    pub fn new(options: ElasticOptions) -> Result<Self, ElasticError> {
        let skin = Skin::new(options)?;
        let vertex_area = skin.surface.area() / skin.rest.len() as f64;
        Ok(Self { skin, vertex_area, labels: Vec::new(), open: Vec::new(), sums: Vec::new() })
    }

    /// Deforms the surface by some presses. A steady call allocates nothing.
    pub fn press(&mut self, presses: &[PressedPoint]) {
        self.cluster(presses);
        let regions = self.sums.len();
        for (i, sum) in self.sums.iter().enumerate() {
            let points = (sum.area / self.vertex_area).max(1.0);
            self.skin.spread_by(i, &sum.origin, &sum.force, sum.depth, points);
        }
        for i in 0..regions {
            let others = self.sums.iter().enumerate().filter(|(j, _)| *j != i);
            others.for_each(|(_, sum)| self.skin.fields[i].hold_at(&sum.origin));
        }
        self.skin.displace(regions);
        self.dent(presses);
        self.skin.update_normals();
    }

    /// Sums up the presses of each region.
    fn cluster(&mut self, presses: &[PressedPoint]) {
        let link = self.skin.options.link;
        self.sums.clear();
        self.labels.clear();
        self.labels.resize(presses.len(), NO_POINT);
        for first in 0..presses.len() {
            if self.labels[first] != NO_POINT {
                continue;
            }
            let region = self.sums.len() as u32;
            self.labels[first] = region;
            self.open.push(first as u32);
            let mut sum = Sum::default();
            while let Some(at) = self.open.pop() {
                let press = &presses[at as usize];
                let weight = press.force.norm();
                sum.origin += weight * press.foot;
                sum.depth += weight * press.depth;
                (sum.force, sum.weight, sum.area) =
                    (sum.force + press.force, sum.weight + weight, sum.area + press.area);
                for (other, label) in presses.iter().zip(&mut self.labels).enumerate().filter_map(|(i, (p, label))| {
                    (*label == NO_POINT && (p.foot - press.foot).norm_squared() < link * link).then_some((i, label))
                }) {
                    *label = region;
                    self.open.push(other as u32);
                }
            }
            if sum.weight > 0.0 {
                self.sums.push(Sum { origin: sum.origin / sum.weight, depth: sum.depth / sum.weight, ..sum });
            }
        }
    }

    /// Moves the vertices near the presses by at least their compressions.
    fn dent(&mut self, presses: &[PressedPoint]) {
        const REACH: f64 = 1.5;
        let Skin { surface, rest, .. } = &mut self.skin;
        for press in presses {
            let reach = REACH * press.area.max(self.vertex_area).sqrt();
            for (vertex, rest) in surface.vertices.iter_mut().zip(rest.iter()) {
                let near = 1.0 - (rest - press.foot).norm_squared() / (reach * reach);
                let lacking = near * press.depth - press.normal.dot(&(*rest - *vertex));
                if near > 0.0 && lacking > 0.0 {
                    *vertex -= lacking * press.normal;
                }
            }
        }
    }

    /// Number of regions of the last presses.
    pub fn regions(&self) -> usize {
        self.sums.len()
    }

    /// The options it was built from.
    pub fn options(&self) -> &ElasticOptions {
        &self.skin.options
    }

    /// The deformed surface in the object's frame.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.skin.surface
    }

    /// Number of anchor points.
    pub fn anchors(&self) -> usize {
        self.skin.anchors.points.len()
    }

    /// Appends the ends of the beams, for pictures: the anchor points, displaced, and then the contact point of each region, m.
    pub fn append_marks(&self, marks: &mut Vec<Vec3>) {
        self.skin.append_marks(self.sums.len(), marks);
    }

    /// Vertices of the undeformed surface.
    pub fn rest(&self) -> &[Vec3] {
        &self.skin.rest
    }
}
