use super::Scene;
use crate::assets::limits;
use crate::assets::table::Table;
use crate::body::{BeamBody, Collider, QuasiRigidBody, RigidShape, SoftBody};
use crate::hand::HandModel;
use crate::mesh::TetMesh;

/// Cost of bodies in memory and time, with limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of bodies, without hands.
    pub bodies: usize,
    /// Number of hands.
    pub hands: usize,
    /// Coordinates of the nodes of soft bodies and hands.
    pub freedoms: usize,
    /// Points on surfaces: samples, vertices of meshes and hulls.
    pub points: usize,
}

impl Cost {
    /// Cost of a rigid or fixed body with about this many samples.
    pub(super) fn of_shape(shape: &RigidShape, samples: Option<usize>) -> Self {
        let own = match shape {
            RigidShape::Mesh(mesh) => mesh.vertices.len(),
            RigidShape::Hull(points) => points.len(),
            _ => 0,
        };
        Self { bodies: 1, points: own + samples.unwrap_or(0), ..Self::default() }
    }

    /// Cost of a soft body.
    pub(super) fn of_mesh(mesh: &TetMesh) -> Self {
        Self { bodies: 1, freedoms: 3 * mesh.nodes.len(), ..Self::default() }
    }

    /// Cost of a quasi-rigid body: its matrix grows with the square of the vertices of the surface.
    pub(super) fn of_surface_compliance(vertices: usize) -> Self {
        Self { bodies: 1, freedoms: 3 * vertices * vertices.div_ceil(100), ..Self::default() }
    }

    /// Cost of an elastic object: its surface, which is also a collider.
    pub(super) fn of_surface(triangles: usize) -> Self {
        // A closed surface has half as many vertices as triangles.
        Self { bodies: 1, points: triangles, ..Self::default() }
    }

    /// Cost of a chain of beams.
    pub(super) fn of_beam(nodes: usize) -> Self {
        Self { bodies: 1, freedoms: 6 * nodes, ..Self::default() }
    }

    /// Cost of a hand.
    pub(super) fn of_model(model: &HandModel) -> Self {
        let nodes: usize = model.meshes.iter().map(|mesh| mesh.tissue.nodes.len()).sum();
        let points = model.meshes.iter().map(|mesh| mesh.skin.vertices.len()).sum();
        Self { freedoms: 3 * nodes, points, ..Self::default() }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            bodies: self.bodies + other.bodies,
            hands: self.hands + other.hands,
            freedoms: self.freedoms + other.freedoms,
            points: self.points + other.points,
        }
    }

    /// The exceeded limit, if any.
    fn excess(self) -> Option<String> {
        let limits = [
            (self.bodies, limits::BODIES, "bodies"),
            (self.hands, limits::HANDS, "hands"),
            (self.freedoms, limits::FREEDOMS, "coordinates of nodes of soft bodies and hands"),
            (self.points, limits::POINTS, "points on surfaces"),
        ];
        let (found, most, what) = limits.into_iter().find(|(found, most, _)| found > most)?;
        Some(format!("this makes {found} {what} in the world; at most {most} are allowed"))
    }
}

impl Scene {
    /// The cost of its bodies.
    pub fn cost(&self) -> Cost {
        let bodies = &self.world.bodies;
        let hands = bodies.hand_ids().len();
        let mut own = Cost { bodies: bodies.count() - hands, hands, ..Cost::default() };
        for (_, body) in bodies.iter().filter(|(_, body)| body.kind() != "hand") {
            for collider in (0..body.collider_count()).map(|index| body.collider(index)) {
                own.points += match collider {
                    Collider::Mesh(mesh) if mesh.deformable => 0,
                    Collider::Mesh(mesh) => mesh.rest.vertices.len(),
                    Collider::Shape(shape) => {
                        let mesh = shape.shape.as_trimesh().map_or(0, |mesh| mesh.vertices().len());
                        mesh + shape.shape.as_convex_polyhedron().map_or(0, |hull| hull.points().len())
                    }
                };
            }
        }
        own.freedoms = bodies.of::<SoftBody>().map(|(_, body)| 3 * body.positions().len()).sum::<usize>()
            + bodies
                .of::<QuasiRigidBody>()
                .map(|(_, body)| Cost::of_surface_compliance(body.surface().vertices.len()).freedoms)
                .sum::<usize>()
            + bodies.of::<BeamBody>().map(|(_, body)| 6 * body.chain().nodes()).sum::<usize>();
        self.models().map(|model| Cost::of_model(model)).fold(own, Cost::plus)
    }

    /// Reserves room for a table's bodies; if there is not enough, reports a problem.
    pub(super) fn has_room(&mut self, table: &Table<'_>, more: Cost) -> bool {
        let together = self.used.plus(more);
        match together.excess() {
            Some(message) => table.complain("", message),
            None => self.used = together,
        }
        self.used == together
    }
}
