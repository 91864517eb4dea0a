//! With an adapter, pictures are checked; without one, the error. Both pass on any machine, but
//! `FINGERPAD_EXPECT_ADAPTER=1` requires an adapter.

use super::*;
use crate::math::Vec3;
use crate::mesh::block;

/// A small dark box off the centre, so that a flipped picture is detected.
fn off_centre() -> Figure {
    let (mut mesh, _) = block(&Vec3::new(0.04, 0.02, 0.03), [1, 1, 1]).boundary();
    mesh.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.03, 0.01, 0.0));
    let camera =
        Camera { eye: [0.05, 0.12, 0.25], target: [0.0; 3], up: [0.0, 1.0, 0.0], field_of_view: 35_f32.to_radians() };
    Figure { size: (160, 120), ..Figure::new(vec![Painted::new(&mesh, [0.2, 0.1, 0.1])], camera) }
}

fn drawn(figures: &[Figure]) -> Option<Vec<Picture>> {
    match draw_all(figures) {
        Ok(pictures) => Some(pictures),
        Err(error) => {
            assert_eq!(error, ViewerError::NoAdapter);
            assert!(std::env::var_os("FINGERPAD_EXPECT_ADAPTER").is_none(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Whether the centre of a pixel lies in the projection of a triangle.
fn is_covered(figure: &Figure, x: u32, y: u32) -> bool {
    let middle = [x as f32 + 0.5, y as f32 + 0.5];
    figure.meshes.iter().any(|mesh| {
        mesh.triangles.iter().any(|triangle| {
            let corners = triangle.map(|v| figure.camera.project(figure.size, mesh.vertices[v as usize]).unwrap());
            let side = |i: usize| {
                let (a, b) = (corners[i], corners[(i + 1) % 3]);
                (b[0] - a[0]) * (middle[1] - a[1]) - (b[1] - a[1]) * (middle[0] - a[0])
            };
            let sides = [side(0), side(1), side(2)];
            sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0)
        })
    })
}

fn pixels(figure: &Figure) -> impl Iterator<Item = (u32, u32)> {
    let (width, height) = figure.size;
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

#[test]
fn a_mesh_covers_the_pixels_of_its_projection() {
    let box_alone = off_centre();
    let wide = Figure { size: (151, 70), background: [0.1, 0.9, 0.2], ..box_alone.clone() };
    let Some(pictures) = drawn(&[box_alone.clone(), wide.clone()]) else { return };
    assert_eq!(pictures.len(), 2);
    for (figure, picture) in [box_alone, wide].iter().zip(&pictures) {
        assert_eq!(picture.size, figure.size);
        let background = figure.background.map(|c| (255.0 * c) as i32);
        let is_drawn = |x: u32, y: u32| {
            let colour = picture.pixel(x, y).unwrap();
            (0..3).any(|c| (i32::from(colour[c]) - background[c]).abs() > 8)
        };
        let covered = pixels(figure).filter(|&(x, y)| is_covered(figure, x, y)).count();
        let wrong = pixels(figure).filter(|&(x, y)| is_covered(figure, x, y) != is_drawn(x, y)).count();
        assert!(covered > 100, "only {covered} pixels are covered");
        // Pixels on the outline may be covered or not.
        assert!(wrong < covered / 8, "{wrong} pixels are not as projected, {covered} are covered");
    }
}

#[test]
fn translucent_meshes_lines_and_the_ground_are_drawn() {
    let mut figure = off_centre();
    figure.meshes[0].opacity = 0.4;
    figure.lines.push(figure.meshes[0].wireframe([1.0, 0.0, 0.0], 2.0));
    figure.meshes.push(Painted { triangles: Vec::new(), ..figure.meshes[0].clone() });
    figure.ground = Some(-0.02);
    let Some(pictures) = drawn(std::slice::from_ref(&figure)) else { return };
    let picture = &pictures[0];
    let is_red = |(x, y)| picture.pixel(x, y).is_some_and(|[r, g, _]| r > 150 && g < 90);
    let red = pixels(&figure).filter(|&pixel| is_red(pixel)).count();
    assert!(red > 50, "only {red} pixels of the lines are seen");
}

#[test]
fn an_invalid_figure_is_reported() {
    let good = off_centre();
    let mut bad = [(); 7].map(|()| good.clone());
    bad[0].size = (0, 10);
    bad[1].size = (10, 100_000);
    bad[2].meshes[0].vertices[3][1] = f32::NAN;
    bad[3].meshes[0].triangles[0][2] = 8;
    bad[4].meshes[0].normals.pop();
    bad[5].camera.eye = bad[5].camera.target;
    bad[6].camera.field_of_view = 0.0;
    let words =
        ["0 × 10", "10 × 100000", "finite", "vertex 8 of 8", "7 normals for 8 vertices", "eye", "field of view"];
    for (bad, word) in bad.into_iter().zip(words) {
        let error = draw_all(&[good.clone(), bad]).unwrap_err();
        assert!(matches!(error, ViewerError::BadFigure { index: 1, .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(draw_all(&[]), Ok(vec![]));
}

#[test]
fn a_camera_around_meshes_sees_all_of_them() {
    let meshes = off_centre().meshes;
    for direction in [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, -3.0, 0.0], [1.0, 2.0, -1.0], [0.0; 3]] {
        let camera = Camera::around(&meshes, direction);
        assert_eq!(camera.check(), Ok(()));
        for &p in &meshes[0].vertices {
            let [x, y] = camera.project((200, 200), p).unwrap();
            assert!((0.0..200.0).contains(&x) && (0.0..200.0).contains(&y), "({x}, {y}) from {direction:?}");
        }
    }
    assert_eq!(Camera::around(&[], [0.0; 3]).check(), Ok(()));
}
