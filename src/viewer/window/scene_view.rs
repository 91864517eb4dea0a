use std::time::Instant;

use kiss3d::egui::TextureId;
use kiss3d::post_processing::Tonemap;
use kiss3d::window::{OffscreenSurface, Window};

use super::canvas::Canvas;
use super::eye::lens;
use super::plain::{Plain, SharedMaterial};
use crate::viewer::camera::View;
use crate::viewer::{Camera, Colour, Figure};

/// The 3D view, rendered to a texture of the size that the panels leave.
pub struct SceneView {
    surface: OffscreenSurface,
    canvas: Canvas,
    material: Option<SharedMaterial>,
    /// The egui texture and its size.
    texture: Option<(TextureId, (u32, u32))>,
}

/// Overlay lines: ends, colour, width in pixels.
pub type OverlayLines = ([[f32; 3]; 2], Colour, f32);

/// Ground markers: height, whether a grid is needed, and the driven palm.
pub type Ground = (f32, bool, Option<crate::math::Vec3>);

impl SceneView {
    /// An empty view for the adapter of an open window. Software rendering has no shadows and vertex lighting.
    pub async fn new(camera: &Camera, size: (u32, u32), in_software: bool) -> Self {
        let mut surface = OffscreenSurface::new(size.0, size.1).await;
        light(surface.window_mut(), in_software);
        let material = in_software.then(Plain::shared);
        let canvas = Canvas::new(camera, size, material.clone());
        Self { surface, canvas, material, texture: None }
    }

    /// Clears the graphics card objects, and lights the next scene for its camera.
    pub fn clear(&mut self, camera: &Camera, size: (u32, u32)) {
        self.canvas = Canvas::new(camera, size, self.material.clone());
    }

    /// Draws a figure at a resolution scale. Returns the preparation time, s.
    pub async fn draw(
        &mut self,
        figure: Option<Figure>,
        scale: f32,
        ground: Option<Ground>,
        overlay: &[OverlayLines],
    ) -> f64 {
        let Some(figure) = figure else { return 0.0 };
        let clock = Instant::now();
        let size = figure.size;
        let fine = |pixels: u32| ((pixels as f32 * scale).round() as u32).max(1);
        let pixels = (fine(size.0), fine(size.1));
        self.surface.resize(pixels.0, pixels.1);
        self.canvas.set_scale(scale);
        let (mut eye, distance) = lens(&figure.camera, size);
        let window = self.surface.window_mut();
        if let Some((height, grid, palm)) = ground {
            self.canvas.mark_ground(height, grid, palm, &eye, window);
        }
        for (ends, ink, width) in overlay {
            self.canvas.line(*ends, *ink, *width, &eye, window);
        }
        self.canvas.show(figure, &eye, distance, window);
        let seconds = clock.elapsed().as_secs_f64();
        self.surface.render_3d(&mut self.canvas.scene, &mut eye).await;
        seconds
    }

    /// The picture for the panels of a window.
    pub fn texture(&mut self, window: &mut Window) -> Option<TextureId> {
        let size = (self.surface.width(), self.surface.height());
        if let Some((id, _)) = self.texture.filter(|(_, known)| *known == size) {
            return Some(id);
        }
        if let Some((old, _)) = self.texture.take() {
            window.unregister_egui_texture(old);
        }
        let id = window.register_egui_texture(&self.surface.output_view(), wgpu::FilterMode::Linear);
        self.texture = Some((id, size));
        Some(id)
    }

    /// Time of each pass of the last frame on the graphics card, s.
    pub fn passes(&self) -> Vec<(&'static str, f64)> {
        passes(self.surface.window())
    }
}

/// Time of each pass of a window's last frame on the graphics card, s.
pub fn passes(window: &Window) -> Vec<(&'static str, f64)> {
    let steps = window.render_timings().and_then(|timings| timings.gpu_steps.clone()).unwrap_or_default();
    steps.into_iter().map(|(name, time)| (name, time.as_secs_f64())).collect()
}

/// Render settings like those of pictures, without expensive effects.
pub fn light(window: &mut Window, in_software: bool) {
    window.set_tonemap(Tonemap::None);
    window.set_ambient(0.42);
    window.set_bloom_enabled(false);
    window.set_transmission_enabled(false);
    window.set_ssao_enabled(false);
    window.set_shadows_enabled(!in_software);
    window.set_shadow_resolution(if in_software { 16 } else { 2048 });
    window.set_shadow_atlas_layers(4);
    window.set_shadow_softness(1.5);
    window.set_shadow_distance(3.0 * View::DISTANCE);
    window.set_first_cascade_far_bound(1.4 * View::DISTANCE);
}
