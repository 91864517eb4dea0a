use crate::math::Vec3;
use crate::problem::{ContactPatch, PatchPoint};

/// One contact between a skin vertex and another body, as proximity found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchingPoint {
    /// Where, m.
    pub place: Vec3,
    /// The way out: unit normal from the other body to the skin, fixed at the start of the step.
    pub normal: Vec3,
    /// How deep the free motion would go, m; zero if it would not reach.
    pub depth: f64,
    /// Area of the vertex, m².
    pub area: f64,
}

/// How an aggregate's normal force is spread over its contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pressure {
    /// By area and by how deep the free motion goes (Talvas 2015, eq. 11–13): sharp edges press where they press.
    #[default]
    NonUniform,
    /// By area alone (Talvas 2015, eq. 8).
    Uniform,
}

/// All contacts of one phalanx with one body as four rows: normal, two tangents, spin (Talvas 2015, §3.2–3.4).
///
/// With shares `p_i = w_i S_i / Σ w_k S_k` the normal force `λ_n` is in newtons. (The paper's `λ_n` is a pressure, which its friction law
/// then takes for a force.)
///
/// ```text
/// n_c = normalise(Σ p_i n_i)    p_c = Σ p_i x_i    r_i = x_i − p_c    t, s ⟂ n_c
/// H_n,i = p_i n_i    H_t,i = p_i t    H_s,i = p_i s    H_ω,i = p_i (n_c × r_i) / Σ_k p_k |n_c × r_k|²
/// ```
///
/// `H_ω` reads the least-squares spin about `n_c`; its transpose spreads a torque in N·m over the points. DEVIATION: eq. 16 divides by
/// `|r_i|²`, which is singular at the centre, and eq. 15 is not its transpose; friction is weighted like pressure, not by area.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Mean normal.
    pub normal: Vec3,
    /// Tangents; normal, tangents make a right-handed frame.
    pub tangents: [Vec3; 2],
    /// Centre of pressure.
    pub centre: Vec3,
    /// Directions of the four rows at each contact.
    pub rows: Vec<[Vec3; 4]>,
    /// Shares and places in the tangent plane.
    pub patch: ContactPatch,
    /// Whether the contacts span a patch that can resist spin; a single point cannot, and has no fourth row.
    pub resists_spin: bool,
}

impl Aggregate {
    /// Aggregates some contacts; `None` if there are none, or if their normals cancel (then they must be split).
    pub fn new(points: &[TouchingPoint], pressure: Pressure) -> Option<Self> {
        let total_depth: f64 = points.iter().map(|p| p.depth * p.area).sum();
        let by_depth = pressure == Pressure::NonUniform && total_depth > 0.0;
        let weight = |p: &TouchingPoint| p.area * if by_depth { p.depth } else { 1.0 };
        let total: f64 = points.iter().map(weight).sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let share = |p: &TouchingPoint| weight(p) / total;
        let normal = points.iter().map(|p| share(p) * p.normal).sum::<Vec3>().try_normalize(1e-3)?;
        let centre: Vec3 = points.iter().map(|p| share(p) * p.place).sum();
        // The axis least along the normal gives the first tangent.
        let axis = Vec3::ith(normal.iamin(), 1.0);
        let t = (axis - axis.dot(&normal) * normal).normalize();
        let s = normal.cross(&t);
        let spin = |p: &TouchingPoint| normal.cross(&(p.place - centre));
        let inertia: f64 = points.iter().map(|p| share(p) * spin(p).norm_squared()).sum();
        let resists_spin = inertia > 1e-14;
        let rows = |p: &TouchingPoint| {
            let turn = if resists_spin { spin(p) / inertia } else { Vec3::zeros() };
            [p.normal, t, s, turn].map(|row| share(p) * row)
        };
        let place = |p: &TouchingPoint| [(p.place - centre).dot(&t), (p.place - centre).dot(&s)];
        let patch =
            ContactPatch { points: points.iter().map(|p| PatchPoint { share: share(p), place: place(p) }).collect() };
        Some(Self { normal, tangents: [t, s], centre, rows: points.iter().map(rows).collect(), patch, resists_spin })
    }
}

/// Splits contacts whose normals disagree, as those of a phalanx over an edge or in a groove: the deepest left is the seed of a group, and
/// all within `angle` of it belong to it. Groups of indices, deepest first.
pub fn split_by_normal(points: &[TouchingPoint], angle: f64) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..points.len()).collect();
    left.sort_by(|&a, &b| points[b].depth.total_cmp(&points[a].depth).then(a.cmp(&b)));
    let mut groups = Vec::new();
    while let Some(&seed) = left.first() {
        let near = |i: &usize| points[*i].normal.dot(&points[seed].normal) >= angle.cos();
        let (group, rest): (Vec<usize>, Vec<usize>) = left.into_iter().partition(near);
        groups.push(group);
        left = rest;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
        [-limit..limit, -limit..limit, -limit..limit].prop_map(Vec3::from)
    }

    /// Contacts on a bumpy patch that looks about the same way everywhere.
    fn contacts() -> impl Strategy<Value = Vec<TouchingPoint>> {
        let point = (vector(0.01), vector(0.3), 1e-5..1e-3f64, 1e-6..1e-5f64).prop_map(|(place, lean, depth, area)| {
            TouchingPoint { place, normal: (Vec3::new(0.3, 1.0, -0.2) + lean).normalize(), depth, area }
        });
        prop::collection::vec(point, 3..20)
    }

    proptest! {
        /// A motion of the patch as a whole is read off exactly, and forces and torques come out as asked.
        #[test]
        fn rows_read_motion_and_spread_forces(points in contacts(), slide in vector(1.0), spin in -5.0..5.0f64, uniform in any::<bool>()) {
            let pressure = if uniform { Pressure::Uniform } else { Pressure::NonUniform };
            let a = Aggregate::new(&points, pressure).expect("contacts");
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

        /// Every contact is in one group, and groups look one way.
        #[test]
        fn splitting_loses_nothing(points in contacts(), angle in 0.05..1.0f64) {
            let groups = split_by_normal(&points, angle);
            let mut all: Vec<usize> = groups.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..points.len()).collect::<Vec<_>>());
            for group in &groups {
                let seed = &points[group[0]].normal;
                prop_assert!(group.iter().all(|&i| points[i].normal.dot(seed) >= angle.cos() - 1e-12));
                prop_assert!(group.iter().all(|&i| points[i].depth <= points[group[0]].depth));
            }
        }
    }

    fn at(x: f64, depth: f64, normal: Vec3) -> TouchingPoint {
        TouchingPoint { place: Vec3::new(x, 0.0, 0.0), normal, depth, area: 1e-6 }
    }

    #[test]
    fn pressure_follows_the_depth() {
        let points = [at(-0.002, 0.0, Vec3::y()), at(0.0, 3e-4, Vec3::y()), at(0.002, 1e-4, Vec3::y())];
        let a = Aggregate::new(&points, Pressure::NonUniform).expect("contacts");
        let shares: Vec<f64> = a.patch.points.iter().map(|p| p.share).collect();
        assert!((shares[0], (shares[1] - 0.75).abs() < 1e-12, (shares[2] - 0.25).abs() < 1e-12) == (0.0, true, true));
        assert!((a.centre.x - 0.0005).abs() < 1e-12);
        let u = Aggregate::new(&points, Pressure::Uniform).expect("contacts");
        assert!(u.patch.points.iter().all(|p| (p.share - 1.0 / 3.0).abs() < 1e-12));
    }

    #[test]
    fn what_cannot_be_aggregated() {
        assert!(Aggregate::new(&[], Pressure::NonUniform).is_none());
        let opposed = [at(-0.01, 1e-4, Vec3::x()), at(0.01, 1e-4, -Vec3::x())];
        assert!(Aggregate::new(&opposed, Pressure::NonUniform).is_none(), "normals cancel");
        assert_eq!(split_by_normal(&opposed, 0.5), vec![vec![0], vec![1]]);
        let single = Aggregate::new(&[at(0.0, 1e-4, Vec3::y())], Pressure::NonUniform).expect("a contact");
        assert!(!single.resists_spin);
        // Not one of them reaches yet: spread by area.
        let waiting = [at(-0.01, 0.0, Vec3::y()), at(0.01, 0.0, Vec3::y())];
        let a = Aggregate::new(&waiting, Pressure::NonUniform).expect("contacts");
        assert!(a.patch.points.iter().all(|p| p.share == 0.5));
    }
}
