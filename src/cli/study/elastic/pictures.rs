use super::experiments::Snapshot;

/// Pictures side by side, as a PNG file.
#[cfg(feature = "viewer")]
pub fn draw(shots: &[&Snapshot]) -> anyhow::Result<Vec<u8>> {
    const COLUMNS: usize = 5;
    let figures: Vec<_> = shots.iter().map(|shot| figure(shot)).collect();
    let pictures = crate::viewer::draw_all(&figures)?;
    let (width, height) = (PICTURE_SIZE.0 as usize, PICTURE_SIZE.1 as usize);
    let rows = pictures.len().div_ceil(COLUMNS);
    let mut pixels = vec![255; 3 * COLUMNS * width * rows * height];
    for (i, picture) in pictures.iter().enumerate() {
        let (left, top) = (i % COLUMNS * width, i / COLUMNS * height);
        for (y, line) in picture.pixels.chunks_exact(3 * width).enumerate() {
            let start = 3 * ((top + y) * COLUMNS * width + left);
            pixels[start..start + line.len()].copy_from_slice(line);
        }
    }
    Ok(crate::assets::png_bytes((COLUMNS * width) as u32, (rows * height) as u32, &pixels)?)
}

#[cfg(not(feature = "viewer"))]
pub fn draw(_shots: &[&Snapshot]) -> anyhow::Result<Vec<u8>> {
    anyhow::bail!("pictures need the Cargo feature `viewer`, which this build does not have")
}

#[cfg(feature = "viewer")]
const PICTURE_SIZE: (u32, u32) = (320, 304);

/// How much farther away the camera is than for a frame that the object fills, and how much lower it looks, in distances of the camera:
/// caption and legend are then beside the object.
#[cfg(feature = "viewer")]
const CAPTION_MARGIN: f32 = 1.35;
#[cfg(feature = "viewer")]
const LOWER: f32 = 0.037;

/// The deformed object with its mesh, coloured by displacement, its anchor points, and the tool.
#[cfg(feature = "viewer")]
fn figure(shot: &Snapshot) -> crate::viewer::Figure {
    use crate::mesh::{SurfaceMesh, ball};
    use crate::viewer::{Camera, Figure, Legend, Paint, Painted, Palette};

    const RUBBER: [f32; 3] = [0.36, 0.55, 0.72];
    const MOVED: [f32; 3] = [0.96, 0.83, 0.35];
    const TOOL: [f32; 3] = [0.75, 0.72, 0.66];
    const ANCHOR: [f32; 3] = [0.86, 0.35, 0.12];
    const EDGES: [f32; 3] = [0.2, 0.3, 0.42];
    let moved = shot.object.surface().vertices.iter().zip(shot.object.rest()).map(|(v, rest)| (v - rest).norm());
    let moved: Vec<f64> = moved.collect();
    let most = moved.iter().copied().fold(1e-9, f64::max);
    let colour = |part: f32| std::array::from_fn(|i| RUBBER[i] + part * (MOVED[i] - RUBBER[i]));
    let palette = std::sync::Arc::new(Palette::new((64, 2), |part, _| colour(part)));
    let places = moved.iter().map(|m| [(m / most) as f32, 0.5]).collect();
    let mut object = Painted::new(shot.object.surface(), RUBBER);
    object.paint = Some(Paint { palette, places });
    let camera = with_room_for_captions(Camera::around(std::slice::from_ref(&object), [0.25, 0.45, 1.0]));
    let edges = object.wireframe(EDGES, 0.5);
    let mut tool = shot.object.tool().mesh().clone();
    tool.vertices.iter_mut().for_each(|v| *v = (shot.tool * nalgebra::Point3::from(*v)).coords);
    let tool = Painted { opacity: 0.55, ..Painted::new(&tool, TOOL) };
    let mut marks = SurfaceMesh::default();
    let (dot, _) = ball(0.0012, 2).boundary();
    for anchor in &shot.object.anchors().points {
        let first = marks.vertices.len() as u32;
        let place = anchor + shot.object.displacement(anchor);
        marks.vertices.extend(dot.vertices.iter().map(|v| v + place));
        marks.triangles.extend(dot.triangles.iter().map(|t| t.map(|v| first + v)));
    }
    let marks = Painted { in_front: true, ..Painted::new(&marks, ANCHOR) };
    let keys = vec![
        (MOVED, format!("moved by {:.1} mm", 1e3 * most)),
        (RUBBER, "not moved".into()),
        (ANCHOR, "anchor points".into()),
    ];
    let legend = Legend { caption: vec![shot.title.clone()], keys, ..Legend::default() };
    Figure { lines: vec![edges], size: PICTURE_SIZE, legend, ..Figure::new(vec![object, tool, marks], camera) }
}

#[cfg(feature = "viewer")]
fn with_room_for_captions(close: crate::viewer::Camera) -> crate::viewer::Camera {
    let away: [f32; 3] = std::array::from_fn(|i| CAPTION_MARGIN * (close.eye[i] - close.target[i]));
    let down = LOWER * away.iter().map(|x| x * x).sum::<f32>().sqrt();
    let [x, y, z] = close.target;
    let target = [x, y - down, z];
    crate::viewer::Camera { eye: std::array::from_fn(|i| target[i] + away[i]), target, ..close }
}
