use crate::assets::Scene;
use crate::body::{BodyId, RigidBody, SoftBody};
use crate::math::Vec3;
use crate::viewer::window::Pull;

/// Frequency of an object on the spring, rad/s; the spring is critically damped.
const FREQUENCY: f64 = 16.0;
/// Maximum force, relative to the weight of the object at 9.81 m/s².
const MAX_FORCE_RATIO: f64 = 30.0;
/// A soft body is pulled by its nodes within this distance, m.
const PULL_RADIUS: f64 = 0.015;

/// The mouse spring, attached to a material point of an object.
pub struct Spring {
    body: BodyId,
    hook: Hook,
    /// The other end, m.
    target: Vec3,
}

enum Hook {
    /// A point in the frame of a rigid body.
    Local(Vec3),
    /// Nodes of a soft body.
    Nodes(Vec<usize>),
}

impl Spring {
    /// Attaches a spring at the grabbed point; `None` if there is nothing to pull.
    pub fn new(scene: &Scene, pull: &Pull) -> Option<Self> {
        let bodies = &scene.world.bodies;
        let hook = if let Some(body) = bodies.get_as::<RigidBody>(pull.body) {
            Hook::Local(body.pose().inverse_transform_point(&pull.grabbed.into()).coords)
        } else {
            let body = bodies.get_as::<SoftBody>(pull.body)?;
            let distance = |n: &usize| (body.positions()[*n] - pull.grabbed).norm();
            let free = || body.model().free_nodes().iter().map(|&n| n as usize);
            let mut nodes: Vec<usize> = free().filter(|n| distance(n) < PULL_RADIUS).collect();
            if nodes.is_empty() {
                nodes.extend(free().min_by(|a, b| distance(a).total_cmp(&distance(b))));
            }
            Hook::Nodes(nodes)
        };
        let is_soft_without_nodes = matches!(&hook, Hook::Nodes(nodes) if nodes.is_empty());
        (!is_soft_without_nodes).then_some(Self { body: pull.body, hook, target: pull.target })
    }

    /// Whether it is the spring of a pull command.
    pub fn is_of(&self, pull: &Pull) -> bool {
        self.body == pull.body
    }

    /// Moves the other end.
    pub fn aim(&mut self, target: Vec3) {
        if target.iter().all(|x| x.is_finite()) {
            self.target = target;
        }
    }

    /// Both ends: the point of the object, and the target.
    pub fn ends(&self, scene: &Scene) -> Option<[Vec3; 2]> {
        let bodies = &scene.world.bodies;
        let hooked = match &self.hook {
            Hook::Local(point) => {
                (bodies.get_as::<RigidBody>(self.body)?.pose() * nalgebra::Point3::from(*point)).coords
            }
            Hook::Nodes(nodes) => {
                let positions = bodies.get_as::<SoftBody>(self.body)?.positions();
                nodes.iter().map(|&n| positions[n]).sum::<Vec3>() / nodes.len() as f64
            }
        };
        Some([hooked, self.target])
    }

    /// Applies the impulse of the next step to the object.
    pub fn pull(&self, scene: &mut Scene) {
        let Some([hooked, target]) = self.ends(scene) else { return };
        let h = scene.world.parameters.dt;
        let bodies = &mut scene.world.bodies;
        let force = |mass: f64, velocity: &Vec3| {
            let force = mass * FREQUENCY * (FREQUENCY * (target - hooked) - 2.0 * velocity);
            let most = MAX_FORCE_RATIO * 9.81 * mass;
            if force.norm() > most { force * (most / force.norm()) } else { force }
        };
        match &self.hook {
            Hook::Local(_) => {
                let Some(body) = bodies.get_as_mut::<RigidBody>(self.body) else { return };
                let arm = hooked - body.centre();
                let (linear, angular) = (*body.linear_velocity(), body.angular_velocity());
                let impulse = h * force(body.mass(), &(linear + angular.cross(&arm)));
                let turn = body.pose().rotation;
                let Some(inverse) = body.inertia().try_inverse() else { return };
                let spin = turn * (inverse * (turn.inverse() * arm.cross(&impulse)));
                // A pull at the edge of a small object would spin it up without damping.
                let spin = 0.9 * (angular + spin);
                body.set_velocity(linear + impulse / body.mass(), spin);
            }
            Hook::Nodes(nodes) => {
                let Some(body) = bodies.get_as_mut::<SoftBody>(self.body) else { return };
                let masses: Vec<f64> = {
                    let of = |n: usize| body.model().free_nodes().iter().position(|&free| free as usize == n);
                    nodes.iter().map(|&n| of(n).map_or(0.0, |at| body.model().masses()[at])).collect()
                };
                let held: f64 = masses.iter().sum();
                if held <= 0.0 {
                    return;
                }
                let velocity = nodes.iter().map(|&n| body.velocities()[n]).sum::<Vec3>() / nodes.len() as f64;
                // Weighted by mass: all nodes get the same velocity change.
                let change = h * force(body.mass(), &velocity) / held;
                body.set_nodes(|node, _, velocity| {
                    if nodes.contains(&node) {
                        *velocity += change;
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::load_builtin_scene;

    fn pulled(name: &str, body: impl Fn(&Scene) -> (BodyId, Vec3), up: f64) -> (Vec3, Vec3) {
        let mut scene = load_builtin_scene(name, &[]).expect("a scene").expect("a sound one");
        let (body, at) = body(&scene);
        let target = at + Vec3::new(0.0, up, 0.0);
        let mut spring = Spring::new(&scene, &Pull { body, grabbed: at, target: at }).expect("something to pull");
        spring.aim(target);
        for _ in 0..150 {
            scene.feed();
            spring.pull(&mut scene);
            scene.step();
        }
        (spring.ends(&scene).expect("ends")[0], target)
    }

    #[test]
    fn a_rigid_body_is_lifted_by_the_mouse() {
        let cube = |scene: &Scene| {
            let i = scene.rigid("cube").expect("a cube");
            (i.id(), scene.world.bodies[i].centre() + Vec3::new(0.01, 0.02, 0.0))
        };
        let (end, target) = pulled("play", cube, 0.1);
        // Gravity stretches the spring by g / ω².
        let sag = Vec3::new(0.0, 9.81 / (FREQUENCY * FREQUENCY), 0.0);
        assert!((end + sag - target).norm() < 0.008, "{end} {target}");
    }

    #[test]
    fn a_soft_body_is_lifted_by_the_mouse() {
        let ball = |scene: &Scene| {
            let (id, body) = scene.world.bodies.of::<SoftBody>().next().expect("a soft body");
            let top = body.positions().iter().copied().max_by(|a, b| a.y.total_cmp(&b.y));
            (id.id(), top.expect("nodes"))
        };
        let (end, target) = pulled("soft_ball", ball, 0.05);
        assert!(end.y > target.y - 0.05 && end.iter().all(|x| x.is_finite()), "{end} {target}");
        let mut scene = load_builtin_scene("play", &[]).expect("a scene").expect("a sound one");
        let (ground, cube) =
            (scene.world.bodies.find("ground").expect("a ground"), scene.rigid("cube").expect("a cube"));
        assert!(Spring::new(&scene, &Pull { body: ground, grabbed: end, target: end }).is_none());
        scene.world.remove(cube);
        assert!(Spring::new(&scene, &Pull { body: cube.id(), grabbed: end, target: end }).is_none());
        scene.feed();
    }
}
