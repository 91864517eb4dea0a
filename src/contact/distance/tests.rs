use super::*;
use crate::body::RigidShape;
use crate::math::Quat;
use crate::mesh::{SurfaceMesh, blocks};
use parry3d::shape::HalfSpace;
use proptest::prelude::*;

fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
    [-limit..limit, -limit..limit, -limit..limit].prop_map(Vec3::from)
}

fn shape(of: RigidShape) -> SharedShape {
    of.shared().expect("a shape")
}

fn cuboid(x: f64, y: f64, z: f64) -> SharedShape {
    shape(RigidShape::Box(Vec3::new(x, y, z)))
}

/// Shapes of the size of things to grasp, of which all is known in closed form.
fn analytic() -> impl Strategy<Value = SharedShape> {
    let size = 0.002..0.05f64;
    prop_oneof![
        [size.clone(), size.clone(), size.clone()].prop_map(|h| cuboid(h[0], h[1], h[2])),
        size.clone().prop_map(|r| shape(RigidShape::Ball(r))),
        (size.clone(), size.clone()).prop_map(|(h, r)| shape(RigidShape::Capsule(h, r))),
        (size.clone(), size).prop_map(|(h, r)| shape(RigidShape::Cylinder(h, r))),
        vector(1.0).prop_map(|n| SharedShape::new(HalfSpace::new(to_glam(&(n + Vec3::y()).normalize())))),
    ]
}

fn convex() -> impl Strategy<Value = SharedShape> {
    let hull = prop::collection::vec(vector(0.04), 4..40);
    let hull = hull.prop_filter_map("a volume", |points| RigidShape::Hull(points).shared().ok());
    prop_oneof![4 => analytic(), 1 => hull]
}

/// The nodes of a lattice, two cells along each axis, around those cells that are wanted.
fn lattice(wanted: impl Fn([usize; 3]) -> bool) -> SurfaceMesh {
    let (mut mesh, _) = blocks(&Vec3::repeat(0.04), [2, 2, 2], wanted).boundary();
    mesh.vertices.iter_mut().for_each(|v| *v -= Vec3::repeat(0.02));
    mesh
}

/// A prism shaped like an L: the quarter x > 0, y > 0 of a cube of 40 mm is cut out.
fn notched() -> SharedShape {
    shape(RigidShape::Mesh(lattice(|[i, j, _]| i == 0 || j == 0)))
}

fn at(shape: &SharedShape, x: f64, y: f64, z: f64) -> Signed {
    signed_distance(shape, &Vec3::new(x, y, z))
}

proptest! {
    /// No tangent is anywhere above the distance, and the distance grows by no more than a metre a metre.
    #[test]
    fn convex_and_continuous(shape in convex(), p in vector(0.08), q in vector(0.08), scale in 0.0..7.0f64) {
        let q = p + 10.0_f64.powf(-scale) * (q - p);
        let (a, b) = (signed_distance(&shape, &p), signed_distance(&shape, &q));
        prop_assert!((a.normal.norm() - 1.0).abs() < 1e-12);
        prop_assert!(b.distance >= a.distance + a.normal.dot(&(q - p)) - 3.0 * ROUNDING_DISTANCE);
        prop_assert!((a.distance - b.distance).abs() <= (q - p).norm() + 3.0 * ROUNDING_DISTANCE);
    }

    #[test]
    fn the_normal_is_the_gradient(shape in convex(), p in vector(0.08)) {
        const H: f64 = 1e-7;
        let here = signed_distance(&shape, &p);
        for axis in 0..3 {
            let h = Vec3::ith(axis, H);
            let (less, more) = (signed_distance(&shape, &(p - h)), signed_distance(&shape, &(p + h)));
            // On the medial axis there is no gradient.
            prop_assume!((less.normal - more.normal).norm() < 1e-3);
            let difference = (more.distance - less.distance) / (2.0 * H);
            prop_assert!((difference - here.normal[axis]).abs() < 1e-4);
        }
    }

    #[test]
    fn the_nearest_point_is_on_the_surface(shape in convex(), p in vector(0.08)) {
        let here = signed_distance(&shape, &p);
        let foot = p - here.distance * here.normal;
        prop_assert!(signed_distance(&shape, &foot).distance.abs() < 1e-9);
        // From very near, the direction is the same as from afar.
        if here.distance > 1e-4 {
            let close = signed_distance(&shape, &(foot + 1e-5 * here.normal));
            prop_assert!((close.distance - 1e-5).abs() < 1e-9 && (close.normal - here.normal).norm() < 1e-6);
        }
    }

    #[test]
    fn parry_agrees(shape in analytic(), p in vector(0.08)) {
        let here = signed_distance(&shape, &p);
        prop_assert!((here.distance - shape.distance_to_local_point(to_glam(&p), false)).abs() < 1e-9);
    }

    /// A box as a hull and as a mesh is still a box.
    #[test]
    fn hull_and_mesh_of_a_box(p in vector(0.05)) {
        let mesh = lattice(|_| true);
        let here = signed_distance(&cuboid(0.02, 0.02, 0.02), &p);
        for other in [RigidShape::Hull(mesh.vertices.clone()), RigidShape::Mesh(mesh)] {
            let there = signed_distance(&shape(other), &p);
            prop_assert!((there.distance - here.distance).abs() < 1e-12);
            prop_assert!((there.normal - here.normal).norm() < 1e-6);
        }
    }

    /// Inside the cube and not in the notch is inside.
    #[test]
    fn a_notch_has_the_right_signs(p in vector(0.03)) {
        let here = signed_distance(&notched(), &p);
        let inside = p.amax() < 0.02 && !(p.x > 0.0 && p.y > 0.0);
        prop_assert_eq!(here.distance < 0.0, inside);
        prop_assert!((here.normal.norm() - 1.0).abs() < 1e-12);
        let foot = signed_distance(&notched(), &(p - here.distance * here.normal));
        prop_assert!(foot.distance.abs() < 1e-12);
    }
}

#[test]
fn every_point_has_a_normal() {
    let mesh = shape(RigidShape::Mesh(lattice(|_| true)));
    let hull = shape(RigidShape::Hull(lattice(|_| true).vertices));
    let ball = shape(RigidShape::Ball(0.02));
    let capsule = shape(RigidShape::Capsule(0.02, 0.005));
    let cylinder = shape(RigidShape::Cylinder(0.02, 0.02));
    for shape in [&mesh, &hull, &ball, &capsule, &cylinder, &cuboid(0.02, 0.02, 0.02)] {
        for hair in [0.0, 1e-300, 1e-17, 1e-12, 1e-10, -1e-10] {
            for place in 0..27 {
                let p = Vec3::new(f64::from(place % 3), f64::from(place / 3 % 3), f64::from(place / 9)) * 0.02;
                let here = signed_distance(shape, &(p - Vec3::repeat(0.02 + hair)));
                assert!(here.distance.is_finite() && (here.normal.norm() - 1.0).abs() < 1e-12, "{here:?}");
            }
        }
    }
    assert_eq!(at(&ball, 0.0, 0.0, 0.0).distance, -0.02);
    let on_axis = at(&capsule, 0.0, 0.01, 0.0);
    assert!((on_axis.distance + 0.005).abs() < 1e-15 && on_axis.normal.y == 0.0);
    assert_eq!(at(&cylinder, 0.0, 0.015, 0.0).normal, Vec3::y());
    assert_eq!(at(&cylinder, 0.0, -0.021, 0.0).normal, -Vec3::y());
}

/// Of shapes that no body has, parry3d's word is taken.
#[test]
fn two_boxes_as_one() {
    let part = |x: f64| (parry3d::math::Pose::translation(x, 0.0, 0.0), cuboid(0.01, 0.01, 0.01));
    let both = SharedShape::compound(vec![part(-0.03), part(0.03)]);
    let between = at(&both, 0.005, 0.0, 0.0);
    assert!((between.distance - 0.015).abs() < 1e-12 && (between.normal + Vec3::x()).norm() < 1e-12);
    let inside = at(&both, 0.021, 0.0, 0.0);
    assert!((inside.distance + 0.001).abs() < 1e-12 && (inside.normal + Vec3::x()).norm() < 1e-12);
    assert!((at(&both, 0.04, 0.0, 0.0).normal - Vec3::x()).norm() < 1e-12);
    let (t, normal) = sweep(&both, &Vec3::zeros(), &Vec3::new(0.04, 0.0, 0.0)).expect("a hit");
    assert!((t - 0.5).abs() < 1e-12 && (normal + Vec3::x()).norm() < 1e-12);
}

#[test]
fn in_the_notch() {
    let shape = notched();
    let wall = at(&shape, 0.003, 0.01, 0.001);
    assert!((wall.distance - 0.003).abs() < 1e-12 && (wall.normal - Vec3::x()).norm() < 1e-12);
    let floor = at(&shape, 0.01, 1e-5, 0.001);
    assert!((floor.distance - 1e-5).abs() < 1e-12 && (floor.normal - Vec3::y()).norm() < 1e-9);
    // The edge where walls meet is nearest from inside alone.
    let behind = at(&shape, -0.003, -0.004, 0.001);
    assert!((behind.distance + 0.005).abs() < 1e-12);
    assert!((behind.normal - Vec3::new(0.6, 0.8, 0.0)).norm() < 1e-12);
}

fn search(shape: &SharedShape, corners: &[Vec3; 3]) -> ([f64; 3], Signed) {
    nearest_on_triangle(shape, corners, &corners.map(|p| signed_distance(shape, &p)), &[None; 3])
}

fn weighted(corners: &[Vec3; 3], weights: &[f64; 3]) -> Vec3 {
    (0..3).map(|i| weights[i] * corners[i]).sum()
}

fn longest_edge(corners: &[Vec3; 3]) -> f64 {
    (0..3).map(|i| (corners[i] - corners[(i + 1) % 3]).norm()).fold(0.0, f64::max)
}

/// The least distance at the nodes of a fine grid.
fn by_trying(shape: &SharedShape, corners: &[Vec3; 3]) -> f64 {
    const PARTS: usize = 60;
    let nodes = (0..=PARTS).flat_map(|i| (0..=PARTS - i).map(move |j| [PARTS - i - j, i, j]));
    nodes
        .map(|n| signed_distance(shape, &weighted(corners, &n.map(|c| c as f64 / PARTS as f64))).distance)
        .fold(f64::INFINITY, f64::min)
}

/// A triangle of some millimetres at the surface of a shape.
fn touching() -> impl Strategy<Value = (SharedShape, [Vec3; 3])> {
    (convex(), vector(0.06), [vector(0.004), vector(0.004), vector(0.004)]).prop_map(|(shape, p, corners)| {
        let here = signed_distance(&shape, &p);
        let foot = p - here.distance * here.normal;
        (shape, corners.map(|c| foot + c))
    })
}

proptest! {
    #[test]
    fn no_grid_finds_better((shape, corners) in touching()) {
        let size = longest_edge(&corners);
        prop_assume!(size > 0.001);
        let (weights, here) = search(&shape, &corners);
        prop_assert!(here.distance <= by_trying(&shape, &corners) + 0.02 * size);
        prop_assert!(weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let again = signed_distance(&shape, &weighted(&corners, &weights));
        prop_assert!((again.distance - here.distance).abs() < 1e-12);
    }

    /// Around a concave mesh it may be a local minimum, but no corner is better.
    #[test]
    fn no_corner_is_better(p in vector(0.03), corners in [vector(0.004), vector(0.004), vector(0.004)]) {
        let (shape, corners) = (notched(), corners.map(|c| p + c));
        let (_, here) = search(&shape, &corners);
        prop_assert!(corners.iter().all(|c| here.distance <= signed_distance(&shape, c).distance));
    }

    #[test]
    fn sweeping_stops_at_the_surface(shape in convex(), from in vector(0.08), to in vector(0.08)) {
        let inside = |t: f64| signed_distance(&shape, &(from + t * (to - from))).distance < -1e-9;
        match sweep(&shape, &from, &to) {
            Some((t, normal)) => {
                prop_assert!((0.0..=1.0).contains(&t) && normal.dot(&(to - from)) < 0.0);
                let hit = signed_distance(&shape, &(from + t * (to - from)));
                prop_assert!(hit.distance.abs() < 1e-9 && (normal.norm() - 1.0).abs() < 1e-12);
                prop_assert!(!(0..100).any(|i| inside(0.01 * f64::from(i) * t)));
            }
            None if signed_distance(&shape, &from).distance <= ROUNDING_DISTANCE => (),
            None => prop_assert!(!(0..=100).any(|i| inside(0.01 * f64::from(i)))),
        }
    }

    /// A box as a mesh and as a shape detect a moving point equally early.
    #[test]
    fn sweeping_to_a_mesh(from in vector(0.05), to in vector(0.05)) {
        let as_box = sweep(&cuboid(0.02, 0.02, 0.02), &from, &to);
        let as_mesh = sweep(&shape(RigidShape::Mesh(lattice(|_| true))), &from, &to);
        prop_assert_eq!(as_box.is_some(), as_mesh.is_some());
        if let (Some((s, n)), Some((t, m))) = (as_box, as_mesh) {
            prop_assert!((s - t).abs() < 1e-9 && (n - m).norm() < 1e-9);
        }
    }
}

/// Finds a place known beforehand, to 2 % of the triangle.
fn finds(shape: &SharedShape, corners: &[Vec3; 3], place: Vec3, distance: f64) {
    let (weights, here) = search(shape, corners);
    let (found, size) = (weighted(corners, &weights), longest_edge(corners));
    assert!((found - place).norm() < 0.02 * size, "{found} for {place}");
    assert!((here.distance - distance).abs() < 0.02 * size, "{} for {distance}", here.distance);
}

/// A level triangle of 4 mm under the origin of a shape, at a height.
fn level(height: f64) -> [Vec3; 3] {
    [Vec3::new(-0.0021, height, -0.0013), Vec3::new(0.0019, height, -0.0009), Vec3::new(0.0002, height, 0.0024)]
}

/// What stands on its tip, turned so that its `tip` is at the origin and `up` goes up: the triangle goes to the
/// frame of the shape.
fn seen_from(tip: Vec3, up: Vec3, corners: [Vec3; 3]) -> [Vec3; 3] {
    let turn = Quat::rotation_between(&Vec3::y(), &up).expect("not upside down");
    corners.map(|c| tip + turn * c)
}

#[test]
fn a_corner_of_a_box_inside_a_triangle() {
    let half = Vec3::new(0.02, 0.03, 0.01);
    for up in [Vec3::new(1.0, 1.0, 1.0), Vec3::new(1.0, 0.6, 0.8), Vec3::new(0.5, 1.3, 0.9)] {
        // In front of the corner; pressed onto it; run through by it.
        for height in [1e-3, 1e-5, 0.0] {
            let corners = seen_from(half, up, level(height));
            finds(&cuboid(half.x, half.y, half.z), &corners, half + height * up.normalize(), height);
        }
        let corners = seen_from(half, up, level(-0.0005));
        let (_, here) = search(&cuboid(half.x, half.y, half.z), &corners);
        assert!(here.distance <= by_trying(&cuboid(half.x, half.y, half.z), &corners) + 2e-5);
        assert!(here.distance < -2e-4);
    }
}

#[test]
fn an_edge_of_a_box_across_a_triangle() {
    let half = Vec3::new(0.02, 0.02, 0.02);
    for up in [Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 0.05), Vec3::new(0.7, 1.0, -0.02)] {
        for height in [1e-3, 0.0, -3e-4] {
            let corners = seen_from(Vec3::new(0.02, 0.02, 0.004), up, level(height));
            let (weights, here) = search(&cuboid(half.x, half.y, half.z), &corners);
            assert!(here.distance <= by_trying(&cuboid(half.x, half.y, half.z), &corners) + 2e-5);
            let p = weighted(&corners, &weights);
            assert!((p - half).x.abs().max((p - half).y.abs()) < 0.02 * 0.004 + 1.5 * height.abs(), "{p}");
        }
    }
}

#[test]
fn a_thin_rod_across_a_triangle() {
    let rod = shape(RigidShape::Cylinder(0.08, 0.0035));
    for lean in [0.0, 0.03] {
        let corners = seen_from(Vec3::new(0.0035, 0.01, 0.0), Vec3::new(1.0, lean, 0.0), level(-2e-4));
        let (weights, here) = search(&rod, &corners);
        assert!(here.distance <= by_trying(&rod, &corners) + 2e-5);
        assert!(weighted(&corners, &weights).z.abs() < 0.02 * 0.004);
    }
}

#[test]
fn a_rim_of_a_cylinder_inside_a_triangle() {
    let can = shape(RigidShape::Cylinder(0.05, 0.033));
    for height in [1e-3, 0.0] {
        let rim = Vec3::new(0.033, 0.05, 0.0);
        let up = Vec3::new(1.0, 1.0, 0.0).normalize();
        finds(&can, &seen_from(rim, up, level(height)), rim + height * up, height);
    }
}

#[test]
fn a_flat_face_needs_no_search() {
    let table = cuboid(0.5, 0.02, 0.5);
    let corners = [Vec3::new(0.0, 0.021, 0.0), Vec3::new(0.003, 0.0215, 0.0), Vec3::new(0.0, 0.022, 0.003)];
    let (weights, here) = search(&table, &corners);
    assert_eq!(weights, [1.0, 0.0, 0.0]);
    assert_eq!(here, signed_distance(&table, &corners[0]));
}

#[test]
fn a_thin_plate_is_not_tunnelled() {
    let plate = cuboid(0.05, 0.0025, 0.05);
    let mesh = |half: Vec3| {
        let (mut mesh, _) = blocks(&(2.0 * half), [7, 1, 7], |_| true).boundary();
        mesh.vertices.iter_mut().for_each(|v| *v -= half);
        shape(RigidShape::Mesh(mesh))
    };
    for plate in [plate, mesh(Vec3::new(0.05, 0.0025, 0.05))] {
        let from = Vec3::new(0.01, 0.01, 0.01);
        let (t, normal) = sweep(&plate, &from, &(from - Vec3::new(0.0, 0.02, 0.0))).expect("a hit");
        assert!((t - 0.375).abs() < 1e-12 && (normal - Vec3::y()).norm() < 1e-12);
        assert_eq!(sweep(&plate, &from, &(from - Vec3::new(0.0, 0.007, 0.0))), None, "it ends short of the plate");
        assert_eq!(sweep(&plate, &from, &from), None, "it stands still");
        assert_eq!(sweep(&plate, &Vec3::zeros(), &from), None, "it starts inside");
        let on = Vec3::new(0.01, 0.0025, 0.01);
        assert_eq!(sweep(&plate, &on, &Vec3::zeros()), None, "it starts on the surface");
        // Along the diagonals of the cells of the mesh, where two triangles meet.
        for i in 0..1000 {
            let x = -0.05 + 0.1 * f64::from(i) / 999.0;
            let hit = sweep(&plate, &Vec3::new(x, 0.01, x), &Vec3::new(x, -0.01, x));
            assert!(hit.is_some_and(|(t, _)| (t - 0.375).abs() < 1e-9), "at {x}");
        }
    }
}

/// Rays that meet the edges of a mesh exactly are where parry3d's own casts fall through.
#[test]
fn no_ray_passes_between_two_triangles() {
    let turn = Quat::from_euler_angles(0.3, 0.5, 0.7);
    let mut mesh = lattice(|_| true);
    mesh.vertices.iter_mut().for_each(|v| *v = turn * *v);
    mesh.triangles.iter_mut().enumerate().for_each(|(i, t)| t.rotate_left(i * i % 3));
    let cube = shape(RigidShape::Mesh(mesh.clone()));
    for triangle in 0..mesh.triangles.len() {
        let (corners, out) = (mesh.corners(triangle), 0.01 * mesh.area_vector(triangle).normalize());
        for i in 0..300 {
            let t = 0.005 + 0.0033 * f64::from(i);
            let p = corners[i as usize % 3].lerp(&corners[(i as usize + 1) % 3], t);
            // The rim of a face may be met from either side, or missed.
            if (turn.inverse() * p).iter().filter(|x| x.abs() > 0.0199).count() == 1 {
                let hit = sweep(&cube, &(p + out), &(p - out));
                assert!(hit.is_some_and(|(t, _)| (t - 0.5).abs() < 1e-9), "at {p}");
            }
        }
    }
}
