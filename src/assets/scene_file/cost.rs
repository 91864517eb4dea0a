use super::Scene;
use crate::assets::limits;
use crate::assets::table::Table;
use crate::body::RigidShape;
use crate::hand::HandModel;
use crate::mesh::TetMesh;

/// What bodies cost, in memory and time. A world has no room for more than the limits.
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
    /// Of a rigid or fixed body with about so many samples.
    pub(super) fn of_shape(shape: &RigidShape, samples: Option<usize>) -> Self {
        let own = match shape {
            RigidShape::Mesh(mesh) => mesh.vertices.len(),
            RigidShape::Hull(points) => points.len(),
            _ => 0,
        };
        Self { bodies: 1, points: own + samples.unwrap_or(0), ..Self::default() }
    }

    /// Of a soft body.
    pub(super) fn of_mesh(mesh: &TetMesh) -> Self {
        Self { bodies: 1, freedoms: 3 * mesh.nodes.len(), ..Self::default() }
    }

    /// Of what a hand is made of.
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

    /// Which limit it exceeds, if it does.
    fn excess(self) -> Option<String> {
        let limits = [
            (self.bodies, limits::BODIES, "bodies"),
            (self.hands, limits::HANDS, "hands"),
            (self.freedoms, limits::FREEDOMS, "coordinates of nodes of soft bodies and hands"),
            (self.points, limits::POINTS, "points on surfaces"),
        ];
        let (found, most, what) = limits.into_iter().find(|(found, most, _)| found > most)?;
        Some(format!("this makes {found} {what} in the world; there may be {most}"))
    }
}

impl Scene {
    /// What its bodies cost.
    pub fn cost(&self) -> Cost {
        let bodies = &self.world.bodies;
        let shapes = bodies.rigid.iter().map(|body| body.shape()).chain(bodies.fixed.iter().map(|body| body.shape()));
        let vertices = shapes.map(|shape| {
            let mesh = shape.as_trimesh().map_or(0, |mesh| mesh.vertices().len());
            mesh + shape.as_convex_polyhedron().map_or(0, |hull| hull.points().len())
        });
        let samples = bodies.rigid.iter().filter_map(|body| body.samples()).map(|samples| samples.mesh.vertices.len());
        let own = Cost {
            bodies: bodies.rigid.len() + bodies.soft.len() + bodies.fixed.len(),
            hands: bodies.hands.len(),
            freedoms: self.soft_meshes.iter().map(|mesh| 3 * mesh.nodes.len()).sum(),
            points: vertices.chain(samples).sum(),
        };
        self.models.iter().map(|model| Cost::of_model(model)).fold(own, Cost::plus)
    }

    /// Whether there is room for what a table describes, which is taken then; if not, it is a problem of the table.
    pub(super) fn has_room(&mut self, table: &Table<'_>, more: Cost) -> bool {
        let together = self.used.plus(more);
        match together.excess() {
            Some(message) => table.complain("", message),
            None => self.used = together,
        }
        self.used == together
    }
}
