use std::sync::Arc;

use kiss3d::color::{Color, WHITE};
use kiss3d::glamx::Vec3;
use kiss3d::light::Fog;
use kiss3d::scene::SceneNode3d;
use kiss3d::window::Window;

use super::eye::place;
use super::plain::SharedMaterial;
use crate::viewer::camera::View;
use crate::viewer::draw::{MARKS, THINGS, add_lights, add_shape, colour, texture, texture_places};
use crate::viewer::lens::Lens;
use crate::viewer::palette::Palette;
use crate::viewer::{Camera, Colour, Figure, Painted};

/// Half size of the ground, in the renderer's space.
const GROUND_HALF_SIZE: f32 = 600.0;

/// Cells of the grid to each side, and their size, m.
const GRID_CELLS: i32 = 10;
const GRID_CELL: f32 = 0.05;
const GRID: Colour = [0.78, 0.79, 0.82];
const PLUMB: Colour = [0.35, 0.45, 0.60];

/// Objects on the graphics card. Only changes since the last frame are uploaded.
pub struct Canvas {
    /// The scene to render.
    pub scene: SceneNode3d,
    meshes: Vec<DrawnMesh>,
    ground: Option<(f32, SceneNode3d)>,
    /// The material of all objects, instead of kiss3d's.
    material: Option<SharedMaterial>,
    /// Resolution scale of the 3D view.
    scale: f32,
}

/// A mesh on the graphics card.
struct DrawnMesh {
    mesh: Painted,
    palette: Option<Arc<Palette>>,
    node: SceneNode3d,
}

impl Canvas {
    /// Empty, lit for a camera.
    pub fn new(camera: &Camera, size: (u32, u32), material: Option<SharedMaterial>) -> Self {
        let mut scene = SceneNode3d::empty();
        add_lights(&mut scene, &View::new(camera, size), Vec3::Y);
        Self { scene, meshes: Vec::new(), ground: None, material, scale: 1.0 }
    }

    /// Lines are thinner at a lower resolution.
    pub fn set_scale(&mut self, scale: f32) {
        self.scale = scale;
    }

    /// A line over the scene, m.
    pub fn line(&self, ends: [[f32; 3]; 2], ink: Colour, width: f32, eye: &Lens, window: &mut Window) {
        let [a, b] = ends.map(|p| eye.before_all(place(p)));
        window.draw_line(a, b, colour(ink, 1.0), self.thin(width), false);
    }

    fn thin(&self, width: f32) -> f32 {
        (self.scale * width).max(1.0)
    }

    /// Shows a figure.
    pub fn show(&mut self, figure: Figure, eye: &Lens, distance: f32, window: &mut Window) {
        let background = colour(figure.background, 1.0);
        window.set_background_color(background);
        let distance = distance.max(View::DISTANCE);
        window.set_fog(Fog::linear(background, 1.5 * distance, 6.0 * distance));
        self.show_ground(figure.ground, background);
        for lines in &figure.lines {
            let ink = colour(lines.colour, 1.0);
            for ends in &lines.segments {
                let [a, b] = ends.map(|p| eye.nearer(place(p)));
                window.draw_line(a, b, ink, self.thin(lines.width), false);
            }
        }
        let mut count = 0;
        for mesh in figure.meshes.into_iter().filter(|mesh| !mesh.triangles.is_empty()) {
            match self.meshes.get_mut(count) {
                Some(shown) if shown.is_alike(&mesh) => shown.update(mesh, eye),
                Some(shown) => {
                    shown.node.detach();
                    *shown = DrawnMesh::new(&mut self.scene, mesh, eye, &self.material);
                }
                None => self.meshes.push(DrawnMesh::new(&mut self.scene, mesh, eye, &self.material)),
            }
            count += 1;
        }
        self.meshes.drain(count..).for_each(|mut shown| shown.node.detach());
    }

    /// A grid on the ground at some height, and a vertical line from the driven palm to the ground.
    pub fn mark_ground(
        &self,
        height: f32,
        grid: bool,
        palm: Option<crate::math::Vec3>,
        eye: &Lens,
        window: &mut Window,
    ) {
        let mut line = |a: [f32; 2], b: [f32; 2], ink: Colour, width: f32| {
            let [a, b] = [a, b].map(|[x, z]| eye.nearer(place([x, height, z])));
            window.draw_line(a, b, colour(ink, 1.0), self.thin(width), false);
        };
        let most = GRID_CELLS as f32 * GRID_CELL;
        for cell in (-GRID_CELLS..=GRID_CELLS).filter(|_| grid) {
            let at = cell as f32 * GRID_CELL;
            line([at, -most], [at, most], GRID, 1.0);
            line([-most, at], [most, at], GRID, 1.0);
        }
        if let Some(palm) = palm.map(|p| p.cast::<f32>()) {
            line([palm.x - 0.012, palm.z], [palm.x + 0.012, palm.z], PLUMB, 2.0);
            line([palm.x, palm.z - 0.012], [palm.x, palm.z + 0.012], PLUMB, 2.0);
            let [foot, top] = [[palm.x, height, palm.z], palm.into()].map(place);
            window.draw_line(foot, top, colour(PLUMB, 1.0), self.thin(1.5), false);
        }
    }

    fn show_ground(&mut self, height: Option<f32>, background: Color) {
        if self.ground.as_ref().map(|(height, _)| *height) == height {
            return;
        }
        if let Some((_, mut node)) = self.ground.take() {
            node.detach();
        }
        self.ground = height.map(|height| {
            let middle = place([0.0, height, 0.0]);
            let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]];
            let corners = corners.map(|[x, z]| middle + GROUND_HALF_SIZE * Vec3::new(x, 0.0, z));
            let mut node =
                add_shape(&mut self.scene, corners.into(), vec![[0, 1, 2], [0, 2, 3]], vec![Vec3::Y; 4], None);
            node.set_color(background);
            node.set_roughness(1.0);
            node.set_light_layers(THINGS);
            use_material(&mut node, &self.material);
            (height, node)
        });
    }
}

impl DrawnMesh {
    fn new(scene: &mut SceneNode3d, mesh: Painted, eye: &Lens, material: &Option<SharedMaterial>) -> Self {
        let vertices = mesh.vertices.iter().map(|&p| placed(&mesh, p, eye)).collect();
        let normals = mesh.normals.iter().map(|&n| n.into()).collect();
        let places = mesh.paint.as_ref().map(texture_places);
        let mut node = add_shape(scene, vertices, mesh.triangles.clone(), normals, places);
        use_material(&mut node, material);
        let mut shown = Self { palette: None, node, mesh };
        shown.dress();
        shown
    }

    /// Whether a mesh can reuse the buffers on the card.
    fn is_alike(&self, mesh: &Painted) -> bool {
        let own = &self.mesh;
        own.vertices.len() == mesh.vertices.len()
            && own.paint.is_some() == mesh.paint.is_some()
            && own.in_front == mesh.in_front
            && (own.opacity >= 1.0) == (mesh.opacity >= 1.0)
            && own.triangles == mesh.triangles
    }

    fn update(&mut self, mesh: Painted, eye: &Lens) {
        // Foreground marks move with the eye.
        if mesh.in_front || mesh.vertices != self.mesh.vertices {
            let refill = |own: &mut Vec<Vec3>| {
                own.clear();
                own.extend(mesh.vertices.iter().map(|&p| placed(&mesh, p, eye)));
            };
            self.node.modify_vertices(&mut { refill });
        }
        if mesh.normals != self.mesh.normals {
            self.node.modify_normals(&mut |own| {
                own.clear();
                own.extend(mesh.normals.iter().map(|&n| Vec3::from(n)));
            });
        }
        if let Some(paint) = mesh.paint.as_ref().filter(|paint| self.mesh.paint.as_ref() != Some(paint)) {
            let places = texture_places(paint);
            self.node.modify_uvs(&mut |own| own.clone_from(&places));
        }
        let dressed = |mesh: &Painted| (mesh.colour, mesh.opacity, mesh.roughness);
        let same = dressed(&mesh) == dressed(&self.mesh);
        self.mesh = mesh;
        let palette = self.mesh.paint.as_ref().map(|paint| &paint.palette);
        if !same || palette.map(Arc::as_ptr) != self.palette.as_ref().map(Arc::as_ptr) {
            self.dress();
        }
    }

    fn dress(&mut self) {
        let (mesh, node) = (&self.mesh, &mut self.node);
        let opacity = mesh.opacity.clamp(0.0, 1.0);
        self.palette = mesh.paint.as_ref().map(|paint| Arc::clone(&paint.palette));
        match &self.palette {
            Some(palette) => {
                node.set_texture(texture(palette));
                node.set_color(Color { a: opacity, ..WHITE });
            }
            None => drop(node.set_color(colour(mesh.colour, opacity))),
        }
        node.set_roughness(mesh.roughness.clamp(0.0, 1.0));
        node.set_casts_shadows(mesh.opacity >= 1.0 && !mesh.in_front);
        node.set_light_layers(if mesh.in_front { MARKS } else { THINGS });
    }
}

fn use_material(node: &mut SceneNode3d, material: &Option<SharedMaterial>) {
    if let Some(material) = material {
        node.set_material(material.clone());
    }
}

fn placed(mesh: &Painted, point: [f32; 3], eye: &Lens) -> Vec3 {
    let point = place(point);
    if mesh.in_front { eye.before_all(point) } else { point }
}
