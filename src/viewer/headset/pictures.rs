use std::sync::Arc;

use kiss3d::window::OffscreenSurface;

use super::EyeView;
use crate::viewer::window::canvas::Canvas;
use crate::viewer::window::eye::RENDER_SCALE;
use crate::viewer::window::plain::{Plain, SharedMaterial};
use crate::viewer::window::scene_view::light;
use crate::viewer::{Figure, Frame, Layers, Picture, Stage};

/// Draws the eyes one after the other, with one scene on the graphics card.
pub struct Pictures {
    surface: OffscreenSurface,
    canvas: Option<(u64, Canvas)>,
    material: Option<SharedMaterial>,
    size: (u32, u32),
}

impl Pictures {
    /// Needs kiss3d's context on this thread.
    pub async fn new(size: (u32, u32), in_software: bool) -> Self {
        let mut surface = OffscreenSurface::new(size.0, size.1).await;
        light(surface.window_mut(), in_software);
        Self { surface, canvas: None, material: in_software.then(Plain::shared), size }
    }

    /// The figure of a frame. Marks are oriented towards the given eye.
    pub fn figure(
        &mut self,
        stage: &Arc<Stage>,
        generation: u64,
        frame: &Frame,
        layers: &Layers,
        eye: &EyeView,
    ) -> Figure {
        if self.canvas.as_ref().is_none_or(|(known, _)| *known != generation) {
            self.canvas = Some((generation, Canvas::new(&EyeView::LIGHTING, self.size, self.material.clone())));
        }
        let figure = stage.figure(frame, layers, eye.camera());
        Figure { size: self.size, ..figure }
    }

    /// Updates the objects on the graphics card for an eye. The second eye reuses them unless they depend on the eye.
    pub fn load(&mut self, figure: &Figure, view: &EyeView, is_first: bool) {
        let Some((_, canvas)) = &mut self.canvas else { return };
        let depends = !figure.lines.is_empty() || figure.meshes.iter().any(|mesh| mesh.in_front);
        if is_first || depends {
            canvas.show(figure.clone(), &view.lens(), RENDER_SCALE * EyeView::FOG, self.surface.window_mut());
        }
    }

    /// Draws an eye.
    pub async fn draw(&mut self, view: &EyeView) {
        if let Some((_, canvas)) = &mut self.canvas {
            self.surface.render_3d(&mut canvas.scene, &mut view.lens()).await;
        }
    }

    /// The drawn eye.
    pub fn view(&mut self) -> wgpu::TextureView {
        self.surface.output_view()
    }

    /// The depths of the drawn eye.
    pub fn depths(&self) -> &wgpu::TextureView {
        self.surface.window().canvas().depth_view()
    }

    /// Copies the drawn eye to a layer of an image.
    pub fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, image: &wgpu::Texture, layer: u32) {
        let view = self.surface.output_view();
        let extent = wgpu::Extent3d { width: self.size.0, height: self.size.1, depth_or_array_layers: 1 };
        let mut target = image.as_image_copy();
        target.origin.z = layer;
        encoder.copy_texture_to_texture(view.texture().as_image_copy(), target, extent);
    }
}

/// Bytes of a pixel of the images.
const PIXEL: u32 = 4;

/// Copies a layer of an image to a buffer that the processor can read.
pub fn copy_to_buffer(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    image: &wgpu::Texture,
    layer: u32,
    size: (u32, u32),
) -> wgpu::Buffer {
    let row = row_bytes(size);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row) * u64::from(size.1),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut source = image.as_image_copy();
    source.origin.z = layer;
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let target = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    let extent = wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 };
    encoder.copy_texture_to_buffer(source, target, extent);
    buffer
}

/// The picture in a buffer, once the copy was submitted. `None` if the device was lost.
pub fn read(device: &wgpu::Device, buffer: &wgpu::Buffer, size: (u32, u32)) -> Option<Picture> {
    let pixels = pixels(device, buffer, size)?;
    Some(Picture { size, pixels: pixels.into_iter().flat_map(|[r, g, b, _]| [r, g, b]).collect() })
}

/// Distances along the viewing axis, m, from depths in a buffer, row by row.
pub fn read_distances(device: &wgpu::Device, buffer: &wgpu::Buffer, size: (u32, u32)) -> Option<Vec<f64>> {
    let pixels = pixels(device, buffer, size)?;
    Some(pixels.into_iter().map(|bytes| EyeView::distance_of_depth(f64::from(f32::from_le_bytes(bytes)))).collect())
}

fn pixels(device: &wgpu::Device, buffer: &wgpu::Buffer, size: (u32, u32)) -> Option<Vec<[u8; PIXEL as usize]>> {
    buffer.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely()).ok()?;
    let mapped = buffer.get_mapped_range(..).ok()?;
    let rows = mapped.chunks_exact(row_bytes(size) as usize);
    let pixels = rows.flat_map(|row| row[..(PIXEL * size.0) as usize].chunks_exact(PIXEL as usize));
    Some(pixels.map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect())
}

/// Rows are padded.
fn row_bytes(size: (u32, u32)) -> u32 {
    (PIXEL * size.0).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}
