use crate::body::{Bodies, Body, BodyId, ElasticSurface, MaterialPoint, PartId};
use crate::math::Vec3;
use crate::problem::CubicSpring;

/// A material point of a body, or a point fixed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The body, or [`BodyId::WORLD`].
    pub body: BodyId,
    /// The point of the body. For the world, its local coordinates are its position.
    pub point: MaterialPoint,
}

impl Anchor {
    /// A point of a body.
    pub fn new(body: impl Into<BodyId>, point: MaterialPoint) -> Self {
        Self { body: body.into(), point }
    }

    /// A point fixed in the world.
    pub fn world(place: Vec3) -> Self {
        Self { body: BodyId::WORLD, point: MaterialPoint::rigid(0, place) }
    }

    /// The elastic surface of its body, per area.
    pub(super) fn elastic_surface(&self, bodies: &Bodies) -> Option<ElasticSurface> {
        self.owner(bodies)?.elastic_surface()
    }

    fn owner<'b>(&self, bodies: &'b Bodies) -> Option<&'b dyn Body> {
        (self.body != BodyId::WORLD).then(|| bodies.expect(self.body))
    }

    /// Position in the world.
    pub fn place(&self, bodies: &Bodies) -> Vec3 {
        self.owner(bodies).map_or(self.point.local, |body| body.position(&self.point))
    }

    /// Velocity; `place` is the position.
    pub fn velocity(&self, bodies: &Bodies, place: &Vec3) -> Vec3 {
        self.owner(bodies).map_or_else(Vec3::zeros, |body| body.velocity(&self.point, place))
    }

    /// Columns of its Jacobian: velocity per unit of each degree of freedom that moves it; `place` is the position.
    pub fn columns(&self, bodies: &Bodies, place: &Vec3, mut column: impl FnMut(PartId, usize, Vec3)) {
        let Some(body) = self.owner(bodies) else { return };
        body.columns(&self.point, place, &mut |part, dof, v| {
            column(PartId { body: self.body, part: part as u32 }, dof, v);
        });
    }

    /// Adds the entries of the row `direction · velocity` that belong to one part; `place` is the position.
    pub fn add_row(&self, bodies: &Bodies, part: PartId, place: &Vec3, direction: &Vec3, row: &mut [f64]) {
        if self.body == part.body {
            self.columns(bodies, place, |own, dof, v| {
                if own == part {
                    row[dof] += direction.dot(&v);
                }
            });
        }
    }

    /// The parts that move it.
    pub fn parts(&self, bodies: &Bodies) -> [Option<PartId>; 2] {
        let parts = self.owner(bodies).map_or([None; 2], |body| body.parts_at(&self.point));
        parts.map(|part| part.map(|part| PartId { body: self.body, part: part as u32 }))
    }
}

/// The outermost layer of soft skin at a contact: an elastic foundation between skin and body.
///
/// With thickness `L`, modulus `M` and area `S` a strain `e` needs the pressure `f/S = M e / (1 − e)`: linear at first,
/// and unbounded at full compression. So `δ(f) = c f / (1 + c f / L)` with `c = L / (M S)`. A step linearises it about
/// the force of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layer {
    /// `c` of the layers on both sides, m/N; zero without a layer.
    pub softness: f64,
    /// `L` of both sides, m.
    pub thickness: f64,
    /// Time constant of its viscous damping, s: that of the tissue.
    pub damping: f64,
    /// Force of the last step, N.
    pub pressed: f64,
    /// The surface of an elastic object under it.
    pub backing: Option<CubicSpring>,
}

impl Layer {
    /// Whether there is a layer or an elastic object.
    pub fn is_soft(&self) -> bool {
        self.softness > 0.0 || self.backing.is_some()
    }

    /// Compression under a force, m.
    pub fn depth(&self, force: f64) -> f64 {
        let backing = self.backing.map_or(0.0, |spring| spring.depth(force));
        self.softness * force / (1.0 + self.strained(force)) + backing
    }

    /// Tangent compliance, m/N.
    pub fn compliance(&self, force: f64) -> f64 {
        let backing = self.backing.map_or(0.0, |spring| spring.compliance(force));
        self.softness / (1.0 + self.strained(force)).powi(2) + backing
    }

    fn strained(&self, force: f64) -> f64 {
        if self.thickness > 0.0 { self.softness * force / self.thickness } else { 0.0 }
    }
}

/// Two close points of two surfaces. The normal is fixed at the start of the step (formulation §1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The point of the first surface; of the skin, if there is one.
    pub a: Anchor,
    /// The point of the second surface.
    pub b: Anchor,
    /// Positions, m.
    pub places: [Vec3; 2],
    /// Unit normal from the second surface to the first.
    pub normal: Vec3,
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// Relative velocity of the first surface after the free motion, m/s.
    pub free_velocity: Vec3,
    /// Gap after the free motion, m.
    pub free_gap: f64,
    /// Area of the contact, m².
    pub area: f64,
    /// The elastic foundation along the normal.
    pub layer: Layer,
    /// Tangential compliance of the layer, m/N.
    pub shear_compliance: f64,
    /// Feature ids, to match it in the next step.
    pub feature: u64,
}

impl Contact {
    /// Reduces its area by a fraction; the compliance of the layer increases accordingly.
    pub(super) fn give_area(&mut self, area: f64) {
        let left = self.area - area;
        if left > 0.0 {
            let softer = self.area / left;
            self.layer.softness *= softer;
            self.layer.backing = self.layer.backing.map(|spring| spring.scaled(1.0 / softer));
            self.shear_compliance *= softer;
            self.area = left;
        }
    }

    /// The current gap along the fixed normal; surfaces touch at `offset`.
    pub fn gap_now(&self, bodies: &Bodies, offset: f64) -> f64 {
        self.normal.dot(&(self.a.place(bodies) - self.b.place(bodies))) - offset
    }

    /// Columns of its Jacobian: relative velocity per unit of each degree of freedom that moves it.
    pub fn columns(&self, bodies: &Bodies, mut column: impl FnMut(PartId, usize, Vec3)) {
        self.a.columns(bodies, &self.a.place(bodies), &mut column);
        self.b.columns(bodies, &self.b.place(bodies), |part, dof, v| column(part, dof, -v));
    }

    /// Adds the entries of the row `direction · relative velocity` that belong to one part.
    pub fn add_row(&self, bodies: &Bodies, part: PartId, direction: &Vec3, row: &mut [f64]) {
        self.a.add_row(bodies, part, &self.places[0], direction, row);
        self.b.add_row(bodies, part, &self.places[1], &-direction, row);
    }

    /// The parts that it acts on.
    pub fn parts(&self, bodies: &Bodies) -> [Option<PartId>; 4] {
        let (own, other) = (self.a.parts(bodies), self.b.parts(bodies));
        // Where a body touches itself, a part may be on both sides.
        let [c, d] = other.map(|part| part.filter(|part| !own.contains(&Some(*part))));
        [own[0], own[1], c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_never_fully_compressed() {
        let layer = Layer { softness: 1e-3, thickness: 1e-4, damping: 0.0, pressed: 0.0, backing: None };
        assert!((layer.depth(1e-6) - 1e-9).abs() < 1e-13, "linear at first");
        assert!(layer.depth(1e6) < 1e-4 && layer.depth(1e6) > 0.99e-4);
        for force in [0.0, 0.01, 0.3, 5.0] {
            let difference = (layer.depth(force + 1e-6) - layer.depth(force - 1e-6)) / 2e-6;
            assert!((layer.compliance(force) - difference).abs() < 1e-6 * difference);
        }
        assert_eq!(Layer::default().depth(3.0), 0.0);
    }
}
