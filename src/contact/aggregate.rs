use crate::math::Vec3;
use crate::problem::{ContactPatch, PatchPoint};

/// One contact between a skin vertex and another body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchingPoint {
    /// Position, m.
    pub place: Vec3,
    /// Unit normal from the other body to the skin, fixed at the start of the step.
    pub normal: Vec3,
    /// Penetration depth after the free motion, m; zero if open.
    pub depth: f64,
    /// Unnormalised weight in the normal force.
    pub weight: f64,
    /// The part of the pair in the last step, if any.
    pub part: Option<u32>,
}

/// Distribution of an aggregate's normal force over its contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pressure {
    /// By the compression of the elastic foundation at every contact.
    #[default]
    NonUniform,
    /// By area and penetration depth after the free motion (Talvas 2015, eq. 11–13).
    Depth,
    /// By area alone (Talvas 2015, eq. 8).
    Uniform,
}

/// All contacts of one phalanx with one body as four rows: normal, two tangents, spin (Talvas 2015, §3.2–3.4).
///
/// With shares `p_i = w_i S_i / Σ w_k S_k` the normal force `λ_n` is in newtons. (The paper's `λ_n` is a pressure,
/// which its friction law uses as a force.)
///
/// ```text
/// n_c = normalise(Σ p_i n_i)    p_c = Σ p_i x_i    r_i = x_i − p_c    t, s ⟂ n_c
/// H_n,i = p_i n_i    H_t,i = p_i t    H_s,i = p_i s    H_ω,i = p_i (n_c × r_i) / Σ_k p_k |n_c × r_k|²
/// ```
///
/// `H_ω` measures the least-squares spin about `n_c`; its transpose distributes a torque in N·m over the points.
/// DEVIATION: eq. 16 divides by `|r_i|²`, which is singular at the centre, and eq. 15 is not its transpose; friction is
/// weighted like pressure, not by area.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggregate {
    /// Mean normal.
    pub normal: Vec3,
    /// Tangents; normal and tangents form a right-handed frame.
    pub tangents: [Vec3; 2],
    /// Centre of pressure.
    pub centre: Vec3,
    /// Directions of the four rows at each contact.
    pub rows: Vec<[Vec3; 4]>,
    /// Shares and positions in the tangent plane.
    pub patch: ContactPatch,
    /// Whether the contacts can resist spin; a single point cannot, and has no fourth row.
    pub resists_spin: bool,
}

impl Aggregate {
    /// Aggregates some contacts; `None` if there are none, or if their normals cancel (then they must be split).
    pub fn new(points: &[TouchingPoint]) -> Option<Self> {
        let mut aggregate = Self::default();
        aggregate.update(points).then_some(aggregate)
    }

    /// The same with existing memory; false if there is nothing to aggregate.
    pub fn update(&mut self, points: &[TouchingPoint]) -> bool {
        let total: f64 = points.iter().map(|p| p.weight).sum();
        if total.is_nan() || total <= 0.0 {
            return false;
        }
        let share = |p: &TouchingPoint| p.weight / total;
        let Some(normal) = points.iter().map(|p| share(p) * p.normal).sum::<Vec3>().try_normalize(1e-3) else {
            return false;
        };
        let centre: Vec3 = points.iter().map(|p| share(p) * p.place).sum();
        let [t, s] = tangents(&normal);
        let spin = |p: &TouchingPoint| normal.cross(&(p.place - centre));
        let inertia: f64 = points.iter().map(|p| share(p) * spin(p).norm_squared()).sum();
        let resists_spin = inertia > 1e-14;
        let rows = |p: &TouchingPoint| {
            let turn = if resists_spin { spin(p) / inertia } else { Vec3::zeros() };
            [p.normal, t, s, turn].map(|row| share(p) * row)
        };
        let place = |p: &TouchingPoint| [(p.place - centre).dot(&t), (p.place - centre).dot(&s)];
        self.rows.clear();
        self.rows.extend(points.iter().map(rows));
        self.patch.points.clear();
        self.patch.points.extend(points.iter().map(|p| PatchPoint { share: share(p), place: place(p) }));
        (self.normal, self.tangents, self.centre, self.resists_spin) = (normal, [t, s], centre, resists_spin);
        true
    }
}

/// Two unit tangents that form a right-handed frame with a normal; the first is derived from the world axis least
/// aligned with it.
pub fn tangents(normal: &Vec3) -> [Vec3; 2] {
    let axis = Vec3::ith(normal.iamin(), 1.0);
    let t = (axis - axis.dot(normal) * normal).normalize();
    [t, normal.cross(&t)]
}

/// Splits contacts with disagreeing normals, such as those of a phalanx over an edge or in a groove. Contacts that
/// belonged to one part in the last step stay together while their normals are within `angle` of its mean; other
/// contacts join the part with the most similar normal. If no part fits, the deepest contact starts a new part. Two
/// parts merge when their means are within half the angle. So parts are stable from step to step.
///
/// Writes the part of each contact to `parts`, and returns one more than the largest part number; existing parts keep
/// the numbers of the last step, and some numbers may be unused.
pub fn split_by_normal(points: &[TouchingPoint], angle: f64, parts: &mut Vec<u32>) -> usize {
    const NONE: u32 = u32::MAX;
    // More than the number of sides of a phalanx; further contacts start over.
    const MAX_PARTS: usize = 8;
    let mut means = [Vec3::zeros(); MAX_PARTS];
    for point in points {
        if let Some(part) = point.part.filter(|&part| (part as usize) < MAX_PARTS) {
            means[part as usize] += point.weight * point.normal;
        }
    }
    let mut means = means.map(|mean| mean.try_normalize(f64::MIN_POSITIVE));
    for a in 0..MAX_PARTS {
        for b in a + 1..MAX_PARTS {
            if let (Some(one), Some(other)) = (means[a], means[b])
                && one.dot(&other) >= (0.5 * angle).cos()
            {
                means[b] = None;
            }
        }
    }
    let alike = |point: &TouchingPoint, mean: &Option<Vec3>| mean.map_or(-1.0, |mean| mean.dot(&point.normal));
    let most_alike = |point: &TouchingPoint| {
        let better =
            |best: usize, i: usize| if alike(point, &means[i]) > alike(point, &means[best]) { i } else { best };
        (0..MAX_PARTS).reduce(better).unwrap_or(0)
    };
    parts.clear();
    parts.extend(points.iter().map(|point| {
        let before = point.part.map(|part| part as usize).filter(|&part| part < MAX_PARTS && means[part].is_some());
        let fits = |part: &usize| alike(point, &means[*part]) >= angle.cos();
        before.filter(fits).or_else(|| Some(most_alike(point)).filter(fits)).map_or(NONE, |part| part as u32)
    }));
    loop {
        let left = (0..points.len()).filter(|&i| parts[i] == NONE);
        // The first of the deepest, independent of the order of the rest.
        let Some(seed) = left.reduce(|best, i| if points[i].depth > points[best].depth { i } else { best }) else {
            break;
        };
        // A free number.
        let part = (0..).find(|part| !parts.contains(part)).unwrap_or(NONE);
        for i in 0..points.len() {
            if i == seed || (parts[i] == NONE && points[i].normal.dot(&points[seed].normal) >= angle.cos()) {
                parts[i] = part;
            }
        }
    }
    parts.iter().max().map_or(0, |&part| part as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
        [-limit..limit, -limit..limit, -limit..limit].prop_map(Vec3::from)
    }

    /// Contacts on a bumpy patch with similar normals.
    fn contacts() -> impl Strategy<Value = Vec<TouchingPoint>> {
        let point =
            (vector(0.01), vector(0.3), 1e-5..1e-3f64, 1e-3..1.0f64).prop_map(|(place, lean, depth, weight)| {
                TouchingPoint {
                    place,
                    normal: (Vec3::new(0.3, 1.0, -0.2) + lean).normalize(),
                    depth,
                    weight,
                    part: None,
                }
            });
        prop::collection::vec(point, 3..20)
    }

    proptest! {
        /// A rigid motion of the patch is measured exactly, and forces and torques are applied exactly.
        #[test]
        fn rows_measure_motion_and_distribute_forces(points in contacts(), slide in vector(1.0), spin in -5.0..5.0f64) {
            let a = Aggregate::new(&points).expect("contacts");
            prop_assume!(a.resists_spin);
            let [t, s] = a.tangents;
            prop_assert!((t.cross(&s) - a.normal).norm() < 1e-12);
            let slide = slide - slide.dot(&a.normal) * a.normal;
            let velocity = |p: &TouchingPoint| slide + spin * a.normal.cross(&(p.place - a.centre));
            let read = |row: usize| points.iter().zip(&a.rows).map(|(p, r)| r[row].dot(&velocity(p))).sum::<f64>();
            prop_assert!((read(1) - slide.dot(&t)).abs() < 1e-12);
            prop_assert!((read(2) - slide.dot(&s)).abs() < 1e-12);
            prop_assert!((read(3) - spin).abs() < 1e-9);
            let force = |row: usize| a.rows.iter().map(|r| r[row]).sum::<Vec3>();
            let torque = |row: usize| points.iter().zip(&a.rows).map(|(p, r)| (p.place - a.centre).cross(&r[row])).sum::<Vec3>();
            prop_assert!((force(1) - t).norm() < 1e-12 && (force(2) - s).norm() < 1e-12, "one newton is one newton");
            prop_assert!(force(3).norm() < 1e-9, "spin friction pushes nowhere");
            prop_assert!((torque(3).dot(&a.normal) - 1.0).abs() < 1e-9, "one newton metre is one");
            prop_assert!(torque(1).dot(&a.normal).abs() < 1e-12, "sliding friction acts at the centre");
            prop_assert!(force(0).norm() <= 1.0 + 1e-12 && (force(0).normalize() - a.normal).norm() < 1e-9);
            prop_assert!(a.patch.is_sound());
        }

        /// Every contact is in one group, and the normals of a group agree.
        #[test]
        fn splitting_keeps_all_contacts(points in contacts(), angle in 0.05..1.0f64) {
            let mut groups = Vec::new();
            let count = split_by_normal(&points, angle, &mut groups);
            prop_assert!(groups.len() == points.len() && groups.iter().all(|g| (*g as usize) < count));
            for g in 0..count {
                let members: Vec<_> = (0..points.len()).filter(|&i| groups[i] as usize == g).map(|i| &points[i]).collect();
                let seed = members.iter().max_by(|a, b| a.depth.total_cmp(&b.depth)).expect("no group is empty");
                prop_assert!(members.iter().all(|p| p.normal.dot(&seed.normal) >= angle.cos() - 1e-12));
            }
        }
    }

    /// Over a slightly rotating edge parts are stable; a contact that moves around it changes its part, and parts with
    /// similar normals merge.
    #[test]
    fn parts_are_stable() {
        let lean = |degrees: f64| Vec3::new(degrees.to_radians().sin(), degrees.to_radians().cos(), 0.0);
        let split = |normals: &[(f64, Option<u32>)]| {
            let point = |&(degrees, part): &(f64, Option<u32>)| TouchingPoint { part, ..at(0.0, 1.0, lean(degrees)) };
            let mut parts = Vec::new();
            split_by_normal(&normals.iter().map(point).collect::<Vec<_>>(), 1.0, &mut parts);
            parts
        };
        assert_eq!(split(&[(0.0, None), (10.0, None), (90.0, None)]), [0, 0, 1]);
        assert_eq!(split(&[(5.0, Some(1)), (15.0, Some(1)), (95.0, Some(0))]), [1, 1, 0], "numbers are kept");
        // Closer to the other part, but still within the angle of its own.
        assert_eq!(split(&[(0.0, Some(0)), (0.0, Some(0)), (50.0, Some(0)), (90.0, Some(1))]), [0, 0, 0, 1]);
        assert_eq!(split(&[(0.0, Some(0)), (0.0, Some(0)), (85.0, Some(0)), (90.0, Some(1))]), [0, 0, 1, 1]);
        assert_eq!(split(&[(0.0, Some(0)), (20.0, Some(1)), (30.0, None)]), [0, 0, 0]);
    }

    fn at(x: f64, weight: f64, normal: Vec3) -> TouchingPoint {
        TouchingPoint { place: Vec3::new(x, 0.0, 0.0), normal, depth: weight, weight, part: None }
    }

    #[test]
    fn shares_follow_the_weights() {
        let points = [at(-0.002, 0.0, Vec3::y()), at(0.0, 3e-4, Vec3::y()), at(0.002, 1e-4, Vec3::y())];
        let a = Aggregate::new(&points).expect("contacts");
        let shares: Vec<f64> = a.patch.points.iter().map(|p| p.share).collect();
        assert!((shares[0], (shares[1] - 0.75).abs() < 1e-12, (shares[2] - 0.25).abs() < 1e-12) == (0.0, true, true));
        assert!((a.centre.x - 0.0005).abs() < 1e-12);
    }

    #[test]
    fn contacts_that_cannot_be_aggregated() {
        assert!(Aggregate::new(&[]).is_none());
        assert!(Aggregate::new(&[at(0.0, 0.0, Vec3::y())]).is_none(), "nothing presses");
        let opposed = [at(-0.01, 1e-4, Vec3::x()), at(0.01, 1e-4, -Vec3::x())];
        assert!(Aggregate::new(&opposed).is_none(), "normals cancel");
        let mut groups = Vec::new();
        assert_eq!((split_by_normal(&opposed, 0.5, &mut groups), &groups), (2, &vec![0, 1]));
        let single = Aggregate::new(&[at(0.0, 1e-4, Vec3::y())]).expect("a contact");
        assert!(!single.resists_spin);
    }
}
