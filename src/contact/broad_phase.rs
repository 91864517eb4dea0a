use super::surface::Shape;
use crate::body::Bounds;
use crate::math::Vec3;

/// Finds pairs of shapes whose boxes may meet: the boxes are sorted along the axis on which they lie farthest apart, and only those whose
/// intervals overlap are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct BroadPhase {
    /// Shapes by the lower end of their interval, as they were sorted in the last step.
    order: Vec<u32>,
    open: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    boxes: Vec<Bounds>,
}

impl BroadPhase {
    /// Lists the pairs whose boxes come within `reach` of each other when every shape moves for `h`.
    pub fn update(&mut self, shapes: &[Shape], reach: f64, h: f64) {
        self.boxes.clear();
        self.boxes.extend(shapes.iter().map(|shape| shape.bounds.widened(0.5 * reach + h * shape.top_speed)));
        if self.order.len() != shapes.len() {
            self.order = (0..shapes.len() as u32).collect();
        }
        let axis = self.longest_axis();
        let (boxes, order) = (&self.boxes, &mut self.order);
        // Nearly sorted from the last step; equal ends in the order of the shapes.
        order.sort_unstable_by(|&a, &b| {
            boxes[a as usize].low[axis].total_cmp(&boxes[b as usize].low[axis]).then(a.cmp(&b))
        });
        self.pairs.clear();
        self.open.clear();
        for &i in &*order {
            let own = &boxes[i as usize];
            self.open.retain(|&j| boxes[j as usize].high[axis] >= own.low[axis]);
            for &j in self.open.iter().filter(|&&j| boxes[j as usize].meets(own, 0.0)) {
                self.pairs.push([i.min(j), i.max(j)]);
            }
            self.open.push(i);
        }
        self.pairs.sort_unstable();
    }

    /// The pairs, the lower number first, in ascending order.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The axis along which the centres of the finite boxes vary most.
    fn longest_axis(&self) -> usize {
        let centres = || {
            let finite = self.boxes.iter().filter(|b| b.low.iter().chain(b.high.iter()).all(|x| x.abs() < 1e6));
            finite.map(|b| 0.5 * (b.low + b.high))
        };
        let count = centres().count().max(1) as f64;
        let mean = centres().sum::<Vec3>() / count;
        let variance = centres().map(|c| (c - mean).component_mul(&(c - mean))).sum::<Vec3>();
        variance.imax()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::body::{Bodies, RigidBody, RigidShape};
    use crate::contact::surface::list_colliders;
    use crate::math::Pose;

    proptest! {
        /// The pairs are those that comparing every box with every other finds, step after step.
        #[test]
        fn no_pair_is_missed(
            places in prop::collection::vec([-0.1..0.1f64, -0.02..0.02f64, -0.1..0.1f64], 2..30),
            moves in prop::collection::vec([-0.05..0.05f64, -0.05..0.05f64, -0.05..0.05f64], 30),
        ) {
            let (mut broad, reach) = (BroadPhase::default(), 0.004);
            for step in 0..3 {
                let mut bodies = Bodies::default();
                for (p, m) in places.iter().zip(&moves) {
                    let at = Vec3::from(*p) + f64::from(step) * Vec3::from(*m);
                    let shape = RigidShape::Box(Vec3::new(0.01, 0.02, 0.005));
                    let body = RigidBody::new(&shape, 1000.0, Pose::translation(at.x, at.y, at.z));
                    bodies.add(body.expect("a box"));
                }
                let (mut surfaces, mut shapes) = (Vec::new(), Vec::new());
                list_colliders(&bodies, &mut surfaces, &mut shapes);
                broad.update(&shapes, reach, 0.01);
                for i in 0..shapes.len() {
                    for j in i + 1..shapes.len() {
                        let meet = shapes[i].bounds.meets(&shapes[j].bounds, reach);
                        prop_assert!(!meet || broad.pairs().contains(&[i as u32, j as u32]), "{i} and {j}");
                    }
                }
            }
        }
    }
}
