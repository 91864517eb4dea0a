use crate::assets::Scene;
use crate::body::BodyKind;
use crate::math::Vec3;
use crate::viewer::window::Pull;

/// Frequency of an object on the spring, rad/s; the spring is critically damped.
const FREQUENCY: f64 = 16.0;
/// Greatest force, times the weight of the object at 9.81 m/s².
const MOST: f64 = 30.0;
/// A soft body is pulled by its nodes within this distance, m.
const AROUND: f64 = 0.015;

/// The mouse's spring on an object, hooked to a point of its material.
pub struct Spring {
    body: BodyKind,
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
    /// Hooks a spring where the mouse took hold; none if there is nothing that can be pulled.
    pub fn new(scene: &Scene, pull: &Pull) -> Option<Self> {
        let bodies = &scene.world.bodies;
        let hook = match pull.body {
            BodyKind::Rigid(i) => {
                Hook::Local(bodies.rigid.get(i)?.pose().inverse_transform_point(&pull.grabbed.into()).coords)
            }
            BodyKind::Soft(i) => {
                let body = bodies.soft.get(i)?;
                let distance = |n: &usize| (body.positions()[*n] - pull.grabbed).norm();
                let free = || body.model().free_nodes().iter().map(|&n| n as usize);
                let mut nodes: Vec<usize> = free().filter(|n| distance(n) < AROUND).collect();
                if nodes.is_empty() {
                    nodes.extend(free().min_by(|a, b| distance(a).total_cmp(&distance(b))));
                }
                Hook::Nodes(nodes)
            }
            _ => return None,
        };
        let is_soft_without_nodes = matches!(&hook, Hook::Nodes(nodes) if nodes.is_empty());
        (!is_soft_without_nodes).then_some(Self { body: pull.body, hook, target: pull.target })
    }

    /// Whether it is the spring of a pull, with another end.
    pub fn is_of(&self, pull: &Pull) -> bool {
        self.body == pull.body
    }

    /// Moves the other end.
    pub fn aim(&mut self, target: Vec3) {
        if target.iter().all(|x| x.is_finite()) {
            self.target = target;
        }
    }

    /// Both ends: the point of the object, and the other.
    pub fn ends(&self, scene: &Scene) -> Option<[Vec3; 2]> {
        let bodies = &scene.world.bodies;
        let hooked = match (&self.hook, self.body) {
            (Hook::Local(point), BodyKind::Rigid(i)) => {
                (bodies.rigid.get(i)?.pose() * nalgebra::Point3::from(*point)).coords
            }
            (Hook::Nodes(nodes), BodyKind::Soft(i)) => {
                let positions = bodies.soft.get(i)?.positions();
                nodes.iter().map(|&n| positions[n]).sum::<Vec3>() / nodes.len() as f64
            }
            _ => return None,
        };
        Some([hooked, self.target])
    }

    /// Gives the object the impulse of the coming step.
    pub fn pull(&self, scene: &mut Scene) {
        let Some([hooked, target]) = self.ends(scene) else { return };
        let h = scene.world.parameters.dt;
        let bodies = &mut scene.world.bodies;
        let force = |mass: f64, velocity: &Vec3| {
            let force = mass * FREQUENCY * (FREQUENCY * (target - hooked) - 2.0 * velocity);
            let most = MOST * 9.81 * mass;
            if force.norm() > most { force * (most / force.norm()) } else { force }
        };
        match (&self.hook, self.body) {
            (Hook::Local(_), BodyKind::Rigid(i)) => {
                let body = &mut bodies.rigid[i];
                let arm = hooked - body.centre();
                let (linear, angular) = (*body.linear_velocity(), body.angular_velocity());
                let impulse = h * force(body.mass(), &(linear + angular.cross(&arm)));
                let turn = body.pose().rotation;
                let Some(inverse) = body.inertia().try_inverse() else { return };
                let spin = turn * (inverse * (turn.inverse() * arm.cross(&impulse)));
                // A light touch on the edge of a small object would make it spin without end.
                let spin = 0.9 * (angular + spin);
                body.set_velocity(linear + impulse / body.mass(), spin);
            }
            (Hook::Nodes(nodes), BodyKind::Soft(i)) => {
                let body = &mut bodies.soft[i];
                let masses: Vec<f64> = {
                    let of = |n: usize| body.model().free_nodes().iter().position(|&free| free as usize == n);
                    nodes.iter().map(|&n| of(n).map_or(0.0, |at| body.model().masses()[at])).collect()
                };
                let held: f64 = masses.iter().sum();
                if held <= 0.0 {
                    return;
                }
                let velocity = nodes.iter().map(|&n| body.velocities()[n]).sum::<Vec3>() / nodes.len() as f64;
                // By mass: the nodes change their velocity alike.
                let change = h * force(body.mass(), &velocity) / held;
                body.set_nodes(|node, _, velocity| {
                    if nodes.contains(&node) {
                        *velocity += change;
                    }
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::load_builtin_scene;

    fn pulled(name: &str, body: impl Fn(&Scene) -> (BodyKind, Vec3), up: f64) -> (Vec3, Vec3) {
        let mut scene = load_builtin_scene(name, &[]).expect("a scene").expect("a sound one");
        let (body, at) = body(&scene);
        let target = at + Vec3::new(0.0, up, 0.0);
        let mut spring = Spring::new(&scene, &Pull { body, grabbed: at, target: at }).expect("something to pull");
        spring.aim(target);
        for _ in 0..150 {
            scene.feed();
            spring.pull(&mut scene);
            scene.world.step();
        }
        (spring.ends(&scene).expect("ends")[0], target)
    }

    #[test]
    fn a_rigid_body_is_lifted_by_the_mouse() {
        let cube = |scene: &Scene| {
            let i = scene.rigid("cube").expect("a cube");
            (BodyKind::Rigid(i), scene.world.bodies.rigid[i].centre() + Vec3::new(0.01, 0.02, 0.0))
        };
        let (end, target) = pulled("play", cube, 0.1);
        // Gravity stretches the spring by g / ω².
        let sag = Vec3::new(0.0, 9.81 / (FREQUENCY * FREQUENCY), 0.0);
        assert!((end + sag - target).norm() < 0.008, "{end} {target}");
    }

    #[test]
    fn a_soft_body_is_lifted_by_the_mouse() {
        let ball = |scene: &Scene| {
            let top = scene.world.bodies.soft[0].positions().iter().copied().max_by(|a, b| a.y.total_cmp(&b.y));
            (BodyKind::Soft(0), top.expect("nodes"))
        };
        let (end, target) = pulled("soft_ball", ball, 0.05);
        assert!(end.y > target.y - 0.05 && end.iter().all(|x| x.is_finite()), "{end} {target}");
        let mut scene = load_builtin_scene("play", &[]).expect("a scene").expect("a sound one");
        assert!(Spring::new(&scene, &Pull { body: BodyKind::Fixed(0), grabbed: end, target: end }).is_none());
        assert!(Spring::new(&scene, &Pull { body: BodyKind::Rigid(99), grabbed: end, target: end }).is_none());
        scene.feed();
    }
}
