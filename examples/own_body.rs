//! A new kind of body in one file: a push button on a spring, with one degree of freedom. Contact, the solver, scripts and recordings
//! use it through the traits `Body` and `Part`, like the kinds of the library.

use fingerpad::body::{
    Body, Bounds, Collider, MaterialId, MaterialPoint, Part, RigidBody, RigidShape, ShapeCollider, Step,
};
use fingerpad::math::{Mat3, Pose, StateHash, Vec3};
use fingerpad::sim::{Parameters, World};
use parry3d::shape::SharedShape;

/// A box that moves up and down. The spring force is `−k y − c v`.
#[derive(Clone, Debug)]
struct Button {
    shape: SharedShape,
    material: MaterialId,
    mass: f64,
    stiffness: f64,
    damping: f64,
    /// Height over the place where the spring is relaxed, m, and its rate.
    height: f64,
    rate: f64,
    /// `A` of the step, and the change of velocity by the free motion.
    matrix: [f64; 1],
    change: f64,
}

fingerpad::saved_fields!(Button: height, rate);

impl Part for Button {
    fn dofs(&self) -> usize {
        1
    }

    /// `A dv = b` with `A = m + h c + h² k` and `b = h (m g − k y − c v) − h² k v`.
    fn free_motion(&mut self, step: &Step) {
        let (h, v) = (step.h, self.rate);
        let force = self.mass * step.gravity.y - self.stiffness * self.height - self.damping * v;
        self.matrix[0] = self.mass + h * self.damping + h * h * self.stiffness;
        self.change = (h * force - h * h * self.stiffness * v) / self.matrix[0];
        self.rate += self.change;
    }

    fn position(&self, at: &MaterialPoint) -> Vec3 {
        at.local + self.height * Vec3::y()
    }

    fn velocity(&self, _at: &MaterialPoint) -> Vec3 {
        self.rate * Vec3::y()
    }

    fn add_row(&self, _at: &MaterialPoint, direction: &Vec3, row: &mut [f64]) {
        row[0] += direction.y;
    }

    fn apply_inverse(&self, rows: &mut [f64]) {
        rows.iter_mut().for_each(|x| *x /= self.matrix[0]);
    }

    fn is_small(&self) -> bool {
        true
    }

    fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    fn partition(&self) -> &[usize] {
        &[1]
    }

    fn free_change(&self, change: &mut [f64]) {
        change[0] = self.change;
    }

    fn change_velocity(&mut self, dv: &[f64]) {
        self.rate += dv[0];
    }

    fn change_position(&mut self, dq: &[f64]) {
        self.height += dq[0];
    }

    fn advance(&mut self, h: f64) {
        self.height += h * self.rate;
    }

    fn hash(&self, hash: &mut StateHash) {
        hash.numbers(&[self.height, self.rate]);
    }

    fn is_finite(&self) -> bool {
        self.height.is_finite() && self.rate.is_finite()
    }

    fn energy(&self) -> f64 {
        0.5 * self.mass * self.rate * self.rate + 0.5 * self.stiffness * self.height * self.height
    }
}

impl Body for Button {
    fn kind(&self) -> &'static str {
        "button"
    }

    fn boxed_clone(&self) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn part_count(&self) -> usize {
        1
    }

    fn part(&self, _index: usize) -> &dyn Part {
        self
    }

    fn part_mut(&mut self, _index: usize) -> &mut dyn Part {
        self
    }

    fn columns(&self, _at: &MaterialPoint, _place: &Vec3, column: &mut dyn FnMut(usize, usize, Vec3)) {
        column(0, 0, Vec3::y());
    }

    fn frame(&self, _collider: usize) -> Mat3 {
        Mat3::identity()
    }

    fn material(&self) -> MaterialId {
        self.material
    }

    fn set_material(&mut self, material: MaterialId) {
        self.material = material;
    }

    fn collider(&self, _index: usize) -> Collider<'_> {
        Collider::Shape(ShapeCollider { shape: &self.shape, pose: Body::pose(self), moves: true, sampled: false })
    }

    fn top_speed(&self, _collider: usize, _bounds: &Bounds) -> f64 {
        self.rate.abs()
    }

    fn attachment_point(&self, _part: usize, place: &Vec3) -> Option<MaterialPoint> {
        Some(MaterialPoint::rigid(0, place - self.height * Vec3::y()))
    }

    fn pose(&self) -> Pose {
        Pose::translation(0.0, self.height, 0.0)
    }

    fn mass(&self) -> Option<f64> {
        Some(self.mass)
    }

    fn centre_velocity(&self) -> Vec3 {
        self.rate * Vec3::y()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let half = Vec3::new(0.03, 0.01, 0.03);
    let (mass, stiffness) = (0.02, 200.0);
    let button = Button {
        shape: RigidShape::Box(half).shared()?,
        material: MaterialId::at(0),
        mass,
        stiffness,
        damping: 2.0,
        height: 0.0,
        rate: 0.0,
        matrix: [mass],
        change: 0.0,
    };
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut world = World::new(Parameters { dt, ..Parameters::default() });
        let button = world.add_named("button", button.clone());
        let cube = RigidBody::with_mass(&RigidShape::Box(Vec3::repeat(0.01)), 0.05, Pose::translation(0.0, 0.03, 0.0))?;
        world.add_named("cube", cube);
        while world.time() < 1.5 {
            world.step();
        }
        let (depth, expected) = (-world.bodies[button].height, (mass + 0.05) * 9.81 / stiffness);
        println!("dt {:>4} ms: pressed by {:.4} mm, expected {:.4} mm", 1e3 * dt, 1e3 * depth, 1e3 * expected);
        assert!((depth - expected).abs() < 1e-3 * expected, "{depth} m instead of {expected} m");
    }
    Ok(())
}
