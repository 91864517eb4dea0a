use super::elastic_tool::HeldTool;
use super::{
    Body, Bounds, Collider, ElasticSurface, MaterialId, MaterialPoint, MeshCollider, Part, RigidBody, RigidShape,
    ShapeCollider, SurfaceLoad,
};
use crate::elastic::{ElasticError, ElasticOptions, ElasticShape, PressedObject, PressedPoint, Tool};
use crate::math::{Mat3, Pose, Saved, StateFault, StateHash, StateReader, StateWriter, Vec3};
use crate::problem::CubicSpring;

/// Parameters of an elastic body beyond those of its model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticBodyOptions {
    /// Density, kg/m³.
    pub density: f64,
    /// Area of contact with the force of the model's law, m²: the pressure is that force per area.
    pub area: f64,
    /// Time constant of viscous damping of the surface, s.
    pub damping: f64,
    /// Whether it never moves.
    pub fixed: bool,
}

impl Default for ElasticBodyOptions {
    /// Rubber, and the area of a fingertip.
    fn default() -> Self {
        Self { density: 1100.0, area: 1e-4, damping: 5e-3, fixed: false }
    }
}

/// An elastic object (Luo 2007) as a body.
///
/// Its motion is that of the rigid undeformed shape, or none. For contact, every point of its surface is a spring with the Duffing law per
/// area ([`ElasticSurface`]), in series with the skin of hands. The shape that is drawn follows from the forces of the step.
///
/// A body with a tool is touched by that tool with the paper's own law, of regions with friction. The tool is moved by a script and has no mass; it
/// touches nothing else.
#[derive(Clone, Debug)]
pub struct ElasticBody {
    base: RigidBody,
    options: ElasticBodyOptions,
    surface: ElasticSurface,
    areas: Vec<f64>,
    object: PressedObject,
    tool: Option<HeldTool>,
    loads: Vec<SurfaceLoad>,
    presses: Vec<PressedPoint>,
    /// Vertices of the deformed surface, those of the tool, the anchor points and the contact points of the regions, in the world.
    nodes: Vec<Vec3>,
}

impl ElasticBody {
    /// An undeformed body at rest.
    pub fn new(model: ElasticOptions, options: ElasticBodyOptions, pose: Pose) -> Result<Self, ElasticError> {
        let law = model.law;
        for (what, value) in [("the density", options.density), ("the area", options.area)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ElasticError::OutOfRange { what, value, expected: "a positive number" });
            }
        }
        if law.cubic < 0.0 {
            let (what, value) = ("the cubic restoring term", law.cubic);
            return Err(ElasticError::OutOfRange {
                what,
                value,
                expected: "0 or more: contact needs a law that stiffens",
            });
        }
        let limit = model.shape.depth_limit();
        let object = PressedObject::new(model)?;
        let shape = rigid_shape(&object);
        let mut base = RigidBody::new(&shape, options.density, pose).map_err(|_| {
            let (what, value) = ("the density", options.density);
            ElasticError::OutOfRange { what, value, expected: "one that gives the shape a finite mass" }
        })?;
        base.set_samples(object.surface().clone());
        let per_area = law.mass / options.area;
        let spring = CubicSpring { stiffness: per_area * law.linear, cubic: 0.75 * per_area * law.cubic, limit };
        let surface = ElasticSurface { spring, damping: options.damping };
        let areas = contact_areas(&object);
        let (loads, presses, nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut body = Self { base, options, surface, areas, object, tool: None, loads, presses, nodes };
        body.place_nodes();
        Ok(body)
    }

    /// A fixed body that a tool at a pose touches.
    pub fn with_tool(mut self, tool: Tool, at: Pose) -> Result<Self, ElasticError> {
        self.options.fixed = true;
        self.tool = Some(HeldTool::new(self.object.options().clone(), tool, self.base.pose(), at)?);
        self.place_nodes();
        Ok(self)
    }

    /// The tool, if it has one.
    pub fn tool(&self) -> Option<&HeldTool> {
        self.tool.as_ref()
    }

    /// The tool, to be moved.
    pub fn tool_mut(&mut self) -> Option<&mut HeldTool> {
        self.tool.as_mut()
    }

    /// The model of its shape without a tool.
    pub fn object(&self) -> &PressedObject {
        &self.object
    }

    /// Contact regions of the last step.
    pub fn regions(&self) -> usize {
        self.tool.as_ref().map_or_else(|| self.object.regions(), |tool| tool.object().response().regions.len())
    }

    /// Sets the velocities of a body that moves.
    pub fn set_velocity(&mut self, linear: Vec3, angular: Vec3) {
        if !self.options.fixed {
            self.base.set_velocity(linear, angular);
        }
    }

    /// The forces of the step as presses on the undeformed surface.
    fn read_loads(&mut self) {
        let pose = self.base.pose();
        let shape = &self.object.options().shape;
        self.presses.clear();
        for load in &self.loads {
            let local = pose.inverse_transform_point(&load.place.into()).coords;
            let force = pose.inverse_transform_vector(&load.force);
            let probe = shape.probe(&local);
            let normal = probe.map_or_else(|| -force.try_normalize(0.0).unwrap_or_else(Vec3::y), |probe| probe.normal);
            let pressing = -force.dot(&normal);
            if pressing <= 0.0 || load.pressure <= 0.0 {
                continue;
            }
            self.presses.push(PressedPoint {
                foot: probe.map_or(local, |probe| probe.foot),
                normal,
                force,
                depth: self.surface.spring.depth(load.pressure),
                area: pressing / load.pressure,
            });
        }
    }

    fn place_nodes(&mut self) {
        let pose = self.base.pose();
        let surface = self.tool.as_ref().map_or_else(|| self.object.surface(), |tool| tool.object().surface());
        self.nodes.clear();
        self.nodes.extend(surface.vertices.iter().map(|v| pose.translation.vector + pose.rotation * v));
        if let Some(tool) = &self.tool {
            let at = tool.pose();
            let vertices = &tool.object().tool().mesh().vertices;
            self.nodes.extend(vertices.iter().map(|v| at.translation.vector + at.rotation * v));
        }
        let first = self.nodes.len();
        match &self.tool {
            Some(tool) => tool.object().append_marks(&mut self.nodes),
            None => self.object.append_marks(&mut self.nodes),
        }
        self.nodes[first..].iter_mut().for_each(|p| *p = pose.translation.vector + pose.rotation * *p);
    }
}

/// Area of each vertex as seen along the normal. A vertex at an edge of a box has a share of several faces; contact is with one of them.
fn contact_areas(object: &PressedObject) -> Vec<f64> {
    let surface = object.surface();
    let mut areas = vec![Vec3::zeros(); surface.vertices.len()];
    for (t, corners) in surface.triangles.iter().enumerate() {
        // An area vector has twice the area, and a third of the area belongs to each corner.
        corners.iter().for_each(|&v| areas[v as usize] += surface.area_vector(t) / 6.0);
    }
    let is_box = matches!(object.options().shape, ElasticShape::Box { .. });
    areas.iter().map(|area| if is_box { area.amax() } else { area.norm() }).collect()
}

/// The undeformed shape for contact and mass.
fn rigid_shape(object: &PressedObject) -> RigidShape {
    match &object.options().shape {
        ElasticShape::Box { half } => RigidShape::Box(*half),
        ElasticShape::Ball { radius } => RigidShape::Ball(*radius),
        ElasticShape::Capsule { radius, half_length } if *half_length > 0.0 => {
            RigidShape::Capsule(*half_length, *radius)
        }
        ElasticShape::Capsule { radius, .. } => RigidShape::Ball(*radius),
        ElasticShape::Ellipsoid { .. } | ElasticShape::Revolved(_) => RigidShape::Mesh(object.surface().clone()),
    }
}

impl Saved for ElasticBody {
    fn save(&self, to: &mut StateWriter) {
        self.base.save(to);
        to.list(self.loads.iter());
        if let Some(tool) = &self.tool {
            tool.save(to);
        }
    }

    /// The shape follows from the forces of the last step.
    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.base.restore(from)?;
        from.list(&mut self.loads)?;
        match &mut self.tool {
            Some(tool) => tool.restore(from)?,
            None => {
                self.read_loads();
                self.object.press(&self.presses);
            }
        }
        self.place_nodes();
        Ok(())
    }
}

/// The colliders are the undeformed shape and the vertices of the undeformed surface.
impl Body for ElasticBody {
    fn kind(&self) -> &'static str {
        "elastic"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        usize::from(!self.options.fixed)
    }

    fn part(&self, _index: usize) -> &dyn Part {
        &self.base
    }

    fn part_mut(&mut self, _index: usize) -> &mut dyn Part {
        &mut self.base
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        Part::position(&self.base, at)
    }

    fn velocity(&self, at: &MaterialPoint, _place: &Vec3) -> Vec3 {
        if self.options.fixed { Vec3::zeros() } else { Part::velocity(&self.base, at) }
    }

    fn parts_at(&self, _at: &MaterialPoint) -> [Option<usize>; 2] {
        [(!self.options.fixed).then_some(0), None]
    }

    fn columns(&self, at: &MaterialPoint, place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        if !self.options.fixed {
            self.base.columns(at, place, column);
        }
    }

    fn frame(&self, collider: usize) -> Mat3 {
        self.base.frame(collider)
    }

    fn material(&self) -> MaterialId {
        self.base.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.base.material = material;
    }

    fn collider_count(&self) -> usize {
        2
    }

    fn collider(&self, index: usize) -> Collider<'_> {
        match self.base.collider(index) {
            Collider::Shape(shape) => Collider::Shape(ShapeCollider { moves: !self.options.fixed, ..shape }),
            Collider::Mesh(mesh) => Collider::Mesh(MeshCollider { areas: &self.areas, ..mesh }),
        }
    }

    fn vertex_positions(&self, collider: usize, positions: &mut Vec<Vec3>) {
        self.base.vertex_positions(collider, positions);
    }

    fn mesh_point(&self, collider: usize, vertices: [u32; 3], weights: [f64; 3]) -> MaterialPoint {
        self.base.mesh_point(collider, vertices, weights)
    }

    fn elastic_surface(&self) -> Option<ElasticSurface> {
        Some(self.surface)
    }

    fn surface_loads(&mut self) -> Option<&mut Vec<SurfaceLoad>> {
        self.tool.is_none().then_some(&mut self.loads)
    }

    fn settle(&mut self, h: f64) {
        match &mut self.tool {
            Some(tool) => tool.advance(h),
            None => {
                let was_pressed = !self.presses.is_empty();
                self.read_loads();
                if was_pressed || !self.presses.is_empty() {
                    self.object.press(&self.presses);
                }
            }
        }
        self.place_nodes();
    }

    fn top_speed(&self, collider: usize, bounds: &Bounds) -> f64 {
        if self.options.fixed { 0.0 } else { self.base.top_speed(collider, bounds) }
    }

    fn attachment_point(&self, part: usize, place: &Vec3) -> Option<MaterialPoint> {
        self.base.attachment_point(part, place)
    }

    fn pose(&self) -> Pose {
        self.base.pose()
    }

    fn mass(&self) -> Option<f64> {
        (!self.options.fixed).then(|| self.base.mass())
    }

    fn centre(&self) -> Vec3 {
        *self.base.centre()
    }

    fn centre_velocity(&self) -> Vec3 {
        *self.base.linear_velocity()
    }

    fn nodes(&self) -> &[Vec3] {
        &self.nodes
    }

    fn angular_velocity(&self) -> Vec3 {
        self.base.angular_velocity()
    }

    fn trace_columns(&self) -> &'static [(&'static str, &'static str)] {
        match self.tool {
            None => self.base.trace_columns(),
            Some(_) => HeldTool::COLUMNS,
        }
    }

    fn trace(&self, row: &mut Vec<f64>) {
        match &self.tool {
            None => self.base.trace(row),
            Some(tool) => tool.trace(row),
        }
    }

    fn hash(&self, hash: &mut StateHash) {
        Part::hash(&self.base, hash);
        if let Some(tool) = &self.tool {
            hash.pose(tool.pose());
            hash.vector(&tool.force());
        }
    }

    fn is_finite(&self) -> bool {
        Part::is_finite(&self.base) && self.nodes.iter().all(|p| p.iter().all(|x| x.is_finite()))
    }

    fn energy(&self) -> f64 {
        if self.options.fixed { 0.0 } else { Part::energy(&self.base) }
    }
}
