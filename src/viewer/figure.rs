use std::collections::BTreeSet;

use super::camera::Camera;
use super::eye_view::EyeView;
use super::legend::Legend;
use super::palette::Paint;
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// Red, green and blue (sRGB), 0 to 1.
pub type Colour = [f32; 3];

/// Skin of medium tone.
pub const SKIN_COLOUR: Colour = [0.88, 0.67, 0.57];
/// The off-white of the background and the ground.
pub const PAPER_COLOUR: Colour = [0.86, 0.87, 0.89];

/// Maximum width and height: beyond, drivers run out of memory.
const MAX_PICTURE_SIZE: u32 = 4096;

/// The content of a picture. Lengths are in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Surfaces.
    pub meshes: Vec<Painted>,
    /// Lines, such as bones and the edges of tetrahedra.
    pub lines: Vec<Lines>,
    /// Height of a horizontal ground that receives shadows; `None` if the meshes float.
    pub ground: Option<f32>,
    /// Camera.
    pub camera: Camera,
    /// Draw what this eye sees, instead of the camera.
    pub eye: Option<EyeView>,
    /// Width and height of the picture in pixels.
    pub size: (u32, u32),
    /// Background colour; the ground has it too, and fades into it.
    pub background: Colour,
    /// Text overlay.
    pub legend: Legend,
}

/// A surface and its material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Painted {
    /// Vertex positions.
    pub vertices: Vec<[f32; 3]>,
    /// Outward unit normals, one per vertex.
    pub normals: Vec<[f32; 3]>,
    /// Three vertex indices per triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour of the material.
    pub colour: Colour,
    /// Opacity from 0 to 1.
    pub opacity: f32,
    /// Roughness from 0 (mirror) to 1 (chalk). Skin is about 0.55.
    pub roughness: f32,
    /// Colours per vertex, instead of the single colour.
    pub paint: Option<Paint>,
    /// Whether it is drawn in front of everything else, without a shadow.
    pub in_front: bool,
}

/// Separate line segments of one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The ends of each segment.
    pub segments: Vec<[[f32; 3]; 2]>,
    /// Their colour, unlit.
    pub colour: Colour,
    /// Width in pixels.
    pub width: f32,
}

impl Figure {
    /// Meshes on a plain background without a ground, 1280 × 960.
    pub fn new(meshes: Vec<Painted>, camera: Camera) -> Self {
        let (lines, ground, legend) = (Vec::new(), None, Legend::default());
        Self { meshes, lines, ground, camera, eye: None, size: (1280, 960), background: PAPER_COLOUR, legend }
    }

    /// Reports the first error that prevents drawing.
    pub(super) fn check(&self) -> Result<(), String> {
        let (width, height) = self.size;
        if ![width, height].iter().all(|side| (1..=MAX_PICTURE_SIZE).contains(side)) {
            return Err(format!("its size is {width} × {height} pixels, each must be within 1 to {MAX_PICTURE_SIZE}"));
        }
        self.camera.check()?;
        if self.eye.is_some_and(|eye| !eye.is_sound()) {
            return Err("the eye needs a finite pose and a field of view within 90° to each side".into());
        }
        for (m, mesh) in self.meshes.iter().enumerate() {
            mesh.check().map_err(|problem| format!("mesh {m}: {problem}"))?;
        }
        let is_good = |lines: &Lines| lines.width.is_finite() && lines.segments.iter().flatten().all(is_finite);
        if !self.lines.iter().all(is_good) || self.ground.is_some_and(|height| !height.is_finite()) {
            return Err("a line or the ground is not finite".into());
        }
        Ok(())
    }
}

impl Painted {
    /// A mesh in an opaque, skin-like material, with smooth normals.
    pub fn new(mesh: &SurfaceMesh, colour: Colour) -> Self {
        Self {
            vertices: mesh.vertices.iter().map(to_f32).collect(),
            normals: mesh.vertex_normals().iter().map(to_f32).collect(),
            triangles: mesh.triangles.clone(),
            colour,
            opacity: 1.0,
            roughness: 0.55,
            ..Self::default()
        }
    }

    /// How far along a ray its first triangle is (Möller and Trumbore 1997).
    pub(super) fn first_hit(&self, eye: &Vec3, towards: &Vec3) -> Option<f64> {
        let vertex = |v: u32| self.vertices.get(v as usize).map(|p| Vec3::from(p.map(f64::from)));
        let mut least = None;
        for &[a, b, c] in &self.triangles {
            let (Some(a), Some(b), Some(c)) = (vertex(a), vertex(b), vertex(c)) else { continue };
            let (ab, ac) = (b - a, c - a);
            let across = towards.cross(&ac);
            let volume = ab.dot(&across);
            if volume.abs() < 1e-18 {
                continue;
            }
            let from = eye - a;
            let u = from.dot(&across) / volume;
            let q = from.cross(&ab);
            let v = towards.dot(&q) / volume;
            let t = ac.dot(&q) / volume;
            if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 && least.is_none_or(|least| t < least) {
                least = Some(t);
            }
        }
        least
    }

    /// Every edge once, as an overlay on the surface.
    pub fn wireframe(&self, colour: Colour, width: f32) -> Lines {
        let edges: BTreeSet<(u32, u32)> = (self.triangles.iter())
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        let vertex = |v: u32| self.vertices.get(v as usize).copied();
        let segments = edges.into_iter().filter_map(|(a, b)| Some([vertex(a)?, vertex(b)?])).collect();
        Lines { segments, colour, width }
    }

    fn check(&self) -> Result<(), String> {
        let count = self.vertices.len();
        if self.normals.len() != count {
            return Err(format!("{} normals for {count} vertices", self.normals.len()));
        }
        if !self.vertices.iter().chain(&self.normals).all(is_finite) {
            return Err("a vertex or a normal is not finite".into());
        }
        if !self.colour.iter().chain([&self.opacity, &self.roughness]).all(|x| x.is_finite()) {
            return Err("its colour, opacity or roughness is not finite".into());
        }
        if let Some(paint) = &self.paint {
            let (columns, rows) = paint.palette.size;
            if paint.places.len() != count || !paint.places.iter().flatten().all(|x| x.is_finite()) {
                return Err("its paint needs finite coordinates for each vertex".into());
            }
            if columns == 0 || rows == 0 || paint.palette.colours.len() != (columns * rows) as usize {
                return Err(format!("its palette does not have {columns} × {rows} colours"));
            }
        }
        match self.triangles.iter().flatten().find(|&&v| v as usize >= count) {
            Some(outside) => Err(format!("a triangle refers to vertex {outside} of {count}")),
            None => Ok(()),
        }
    }
}

impl Lines {
    /// Segments between points of the simulation.
    pub fn new(segments: impl IntoIterator<Item = [Vec3; 2]>, colour: Colour, width: f32) -> Self {
        let segments = segments.into_iter().map(|ends| ends.map(|p| to_f32(&p))).collect();
        Self { segments, colour, width }
    }
}

/// Conversion to the viewer's precision.
pub(super) fn to_f32(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

fn is_finite(v: &[f32; 3]) -> bool {
    v.iter().all(|x| x.is_finite())
}
