use std::cell::RefCell;
use std::rc::Rc;

use kiss3d::color::{Color, WHITE};
use kiss3d::glamx::{Vec2, Vec3};
use kiss3d::light::{Fog, Light};
use kiss3d::post_processing::Tonemap;
use kiss3d::resource::{GpuMesh3d, Texture};
use kiss3d::scene::SceneNode3d;
use kiss3d::text::Font;
use kiss3d::window::OffscreenSurface;

use super::ViewerError;
use super::adapter::Adapter;
use super::camera::View;
use super::eye_view::EyeView;
use super::figure::{Colour, Figure, Painted};
use super::legend::{LEGEND_INK, Note, fill};
use super::palette::{Paint, Palette};
use super::picture::Picture;

/// Supersampling factor along each side. Multisampling would be cheaper, but renders black on OpenGL.
const FINER: u32 = 2;

/// Draws a figure off screen. In software, 1280 × 960 pixels take a few seconds.
pub fn draw(figure: &Figure) -> Result<Picture, ViewerError> {
    let mut pictures = draw_all(std::slice::from_ref(figure))?;
    pictures.pop().ok_or_else(|| ViewerError::Failed("nothing was drawn".into()))
}

/// Draws several figures on one surface, which saves the setup for each.
///
/// Runs on its own thread: kiss3d keeps its state per thread, so an open window of the caller is not affected, and a
/// panic in a driver becomes an error here.
pub fn draw_all(figures: &[Figure]) -> Result<Vec<Picture>, ViewerError> {
    for (index, figure) in figures.iter().enumerate() {
        figure.check().map_err(|problem| ViewerError::BadFigure { index, problem })?;
    }
    if figures.is_empty() {
        return Ok(Vec::new());
    }
    std::thread::scope(|scope| {
        // Shader compilers need a large stack.
        let thread = std::thread::Builder::new().name("viewer".into()).stack_size(16 << 20);
        let drawing = thread.spawn_scoped(scope, || kiss3d::pollster::block_on(draw_here(figures)));
        let drawing = drawing.map_err(|error| ViewerError::Failed(error.to_string()))?;
        drawing.join().unwrap_or_else(|_| Err(ViewerError::Failed("the renderer panicked".into())))
    })
}

async fn draw_here(figures: &[Figure]) -> Result<Vec<Picture>, ViewerError> {
    let adapter = Adapter::open().await?;
    let mut surface = OffscreenSurface::new(1, 1).await;
    // No tone curve: the lights are balanced so that colours are reproduced.
    surface.set_tonemap(Tonemap::None);
    surface.set_ambient(0.42);
    surface.set_shadow_resolution(2048);
    surface.set_shadow_atlas_layers(4);
    surface.set_shadow_softness(1.5);
    surface.set_shadow_distance(3.0 * View::DISTANCE);
    surface.set_first_cascade_far_bound(1.4 * View::DISTANCE);

    let mut pictures = Vec::with_capacity(figures.len());
    for figure in figures {
        render(&mut surface, figure).await;
        // Checked before reading pixels: kiss3d would wait for a frame that never arrives.
        adapter.check()?;
        let mut pixels = Vec::new();
        surface.snap(&mut pixels);
        adapter.check()?;
        let mut picture = Picture::averaged(&pixels, figure.size, FINER);
        figure.legend.laid_out(figure.size).1.iter().for_each(|patch| fill(&mut picture, patch));
        pictures.push(picture);
    }
    Ok(pictures)
}

async fn render(surface: &mut OffscreenSurface, figure: &Figure) {
    let mut view = match &figure.eye {
        Some(eye) => View::of_eye(eye),
        None => View::new(&figure.camera, figure.size),
    };
    let mut scene = SceneNode3d::empty();
    for mesh in &figure.meshes {
        add_mesh(&mut scene, mesh, &view);
    }
    if let Some(height) = figure.ground {
        add_ground(&mut scene, height, figure, &view);
    }
    match &figure.eye {
        Some(_) => add_lights(&mut scene, &View::new(&EyeView::LIGHTING, figure.size), Vec3::Y),
        None => add_lights(&mut scene, &view, figure.camera.up.into()),
    }

    let background = colour(figure.background, 1.0);
    surface.resize(figure.size.0 * FINER, figure.size.1 * FINER);
    surface.set_background_color(background);
    surface.window_mut().set_fog(Fog::linear(background, 1.5 * view.distance, 6.0 * view.distance));
    for lines in &figure.lines {
        let (colour, width) = (colour(lines.colour, 1.0), lines.width * FINER as f32);
        for ends in &lines.segments {
            let [a, b] = ends.map(|p| view.lens.nearer(view.place(p)));
            surface.window_mut().draw_line(a, b, colour, width, false);
        }
    }
    for note in figure.legend.laid_out(figure.size).0 {
        write(surface, &note);
    }
    surface.render_3d(&mut scene, &mut view.lens).await;
}

/// Dark text with a light outline, readable on any background.
fn write(surface: &mut OffscreenSurface, note: &Note) {
    let (font, finer) = (Font::default(), FINER as f32);
    let [x, y] = note.at.map(|c| c * finer);
    let mut text = |dx: f32, dy: f32, [r, g, b]: Colour, opacity: f32| {
        let at = Vec2::new(x + dx, y + dy);
        surface.window_mut().draw_text(&note.text, at, note.height * finer, &font, Color::new(r, g, b, opacity));
    };
    for (dx, dy) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
        text(finer * dx as f32, finer * dy as f32, [0.95; 3], 0.5);
    }
    text(0.0, 0.0, LEGEND_INK, 1.0);
}

pub(super) fn add_mesh(scene: &mut SceneNode3d, mesh: &Painted, view: &View) {
    if mesh.triangles.is_empty() {
        return;
    }
    let place = |&p: &[f32; 3]| if mesh.in_front { view.lens.before_all(view.place(p)) } else { view.place(p) };
    let vertices = mesh.vertices.iter().map(place).collect();
    let normals = mesh.normals.iter().map(|&n| n.into()).collect();
    let places = mesh.paint.as_ref().map(texture_places);
    let mut node = add_shape(scene, vertices, mesh.triangles.clone(), normals, places);
    let opacity = mesh.opacity.clamp(0.0, 1.0);
    match &mesh.paint {
        Some(paint) => {
            node.set_texture(texture(&paint.palette));
            node.set_color(Color { a: opacity, ..WHITE });
        }
        None => drop(node.set_color(colour(mesh.colour, opacity))),
    }
    node.set_roughness(mesh.roughness.clamp(0.0, 1.0));
    // Translucent surfaces would cast striped shadows.
    node.set_casts_shadows(mesh.opacity >= 1.0 && !mesh.in_front);
    node.set_light_layers(if mesh.in_front { MARKS } else { THINGS });
}

/// Lights of objects cast shadows, lights of marks do not.
pub(super) const THINGS: u32 = 1;
pub(super) const MARKS: u32 = 2;

/// From the centre of the first colour to that of the last.
pub(super) fn texture_places(paint: &Paint) -> Vec<Vec2> {
    let (columns, rows) = (paint.palette.size.0 as f32, paint.palette.size.1 as f32);
    let middle = |part: f32, count: f32| (0.5 + part.clamp(0.0, 1.0) * (count - 1.0)) / count;
    paint.places.iter().map(|&[u, v]| Vec2::new(middle(u, columns), middle(v, rows))).collect()
}

pub(super) fn texture(palette: &Palette) -> std::sync::Arc<Texture> {
    let byte = |c: f32| (255.0 * c.clamp(0.0, 1.0) + 0.5) as u8;
    let bytes: Vec<u8> = palette.colours.iter().flat_map(|&[r, g, b]| [byte(r), byte(g), byte(b), 255]).collect();
    let (clamped, smooth) = (wgpu::AddressMode::ClampToEdge, wgpu::FilterMode::Linear);
    let (columns, rows) = palette.size;
    Texture::new(columns, rows, &bytes, wgpu::TextureFormat::Rgba8UnormSrgb, clamped, smooth, false, 1)
}

/// A square that extends into the fog.
fn add_ground(scene: &mut SceneNode3d, height: f32, figure: &Figure, view: &View) {
    let [x, _, z] = figure.camera.target;
    let middle = view.place([x, height, z]);
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]];
    let corners = corners.map(|[x, z]| middle + 8.0 * view.distance * Vec3::new(x, 0.0, z));
    let mut node = add_shape(scene, corners.into(), vec![[0, 1, 2], [0, 2, 3]], vec![Vec3::Y; 4], None);
    node.set_color(colour(figure.background, 1.0));
    node.set_roughness(1.0);
    node.set_light_layers(THINGS);
}

pub(super) fn add_shape(
    scene: &mut SceneNode3d,
    at: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vec3>,
    places: Option<Vec<Vec2>>,
) -> SceneNode3d {
    let shape = GpuMesh3d::new(at, triangles, Some(normals), places, false);
    let mut node = scene.add_mesh(Rc::new(RefCell::new(shape)), Vec3::ONE);
    node.set_metallic(0.0);
    node.enable_backface_culling(false);
    node
}

/// A key light over the left shoulder, which casts the shadows; a cooler fill light from the right; and a weak one from
/// below, like light reflected by a table.
pub(super) fn add_lights(scene: &mut SceneNode3d, view: &View, vertical: Vec3) {
    let back = view.lens.eye / View::DISTANCE;
    let right = view.up.cross(back);
    let up = vertical.normalize_or(view.up);
    let lights = [
        (up - 0.8 * right + 0.75 * back, [1.0, 0.97, 0.94], 2.1, true),
        (0.3 * up + right + 0.4 * back, [0.9, 0.95, 1.0], 0.7, false),
        (0.3 * back - view.up, [1.0, 0.95, 0.92], 0.3, false),
    ];
    for (from, [r, g, b], intensity, casts_shadows) in lights {
        let light = Light::directional(-from.normalize_or(Vec3::Y)).with_color(Color::new(r, g, b, 1.0));
        let light = light.with_intensity(intensity);
        scene.add_light(light.clone().with_casts_shadows(casts_shadows).with_layers(THINGS));
        scene.add_light(light.with_casts_shadows(false).with_layers(MARKS));
    }
}

/// kiss3d computes with linear light and displays it with a gamma of 2.2.
pub(super) fn colour(seen: Colour, opacity: f32) -> Color {
    let [r, g, b] = seen.map(|c| c.clamp(0.0, 1.0).powf(2.2));
    Color::new(r, g, b, opacity)
}
