use kiss3d::egui::{Context, RawInput, Rect, pos2, vec2};
use kiss3d::renderer::EguiRenderer;

use super::HeadsetError;
use super::graphics::{Content, Graphics};
use super::panel::Panel;
use super::session::{GraphicsSession, images};

/// A picture of egui widgets that the runtime shows on a rectangle in the room (a quad layer).
pub struct Quad {
    swapchain: openxr::Swapchain<openxr::Vulkan>,
    targets: Vec<wgpu::Texture>,
    drawn: wgpu::Texture,
    egui: EguiRenderer,
    size: (u32, u32),
    /// Whether the runtime has an image to show.
    has_image: bool,
}

impl Quad {
    /// Needs kiss3d's context on this thread.
    pub fn new(session: &GraphicsSession, size: (u32, u32)) -> Result<Self, HeadsetError> {
        let (swapchain, targets) = images(&session.session, &session.graphics, Content::Colour, size, 1)?;
        let drawn = session.graphics.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("panel"),
            size: extent(size),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            // egui encodes colours for display itself.
            format: Content::Colour.format().remove_srgb_suffix(),
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Ok(Self { swapchain, targets, drawn, egui: EguiRenderer::new(), size, has_image: false })
    }

    /// Draws widgets into a new image.
    pub fn draw<R>(
        &mut self,
        graphics: &Graphics,
        input: RawInput,
        content: impl FnOnce(&Context) -> R,
    ) -> Result<R, HeadsetError> {
        let view = self.drawn.create_view(&wgpu::TextureViewDescriptor::default());
        self.egui.context().set_pixels_per_point(1.0);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(self.size.0 as f32, self.size.1 as f32));
        self.egui.begin_frame(RawInput { screen_rect: Some(screen), ..input });
        let result = content(self.egui.context());
        self.egui.end_frame();
        let mut encoder = graphics.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("clear the panel"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
                depth_slice: None,
            })],
            multiview_mask: None,
            depth_stencil_attachment: None,
            timestamp_writes: None,
            occlusion_query_set: None,
        }));
        graphics.queue.submit([encoder.finish()]);
        self.egui.render(&view, &view, self.size.0, self.size.1, 1.0);
        self.hand_over(graphics)?;
        Ok(result)
    }

    /// Copies the drawn widgets to an image of the runtime.
    fn hand_over(&mut self, graphics: &Graphics) -> Result<(), HeadsetError> {
        let image = self.swapchain.acquire_image().map_err(HeadsetError::of("xrAcquireSwapchainImage"))?;
        self.swapchain.wait_image(openxr::Duration::INFINITE).map_err(HeadsetError::of("xrWaitSwapchainImage"))?;
        let target = self.targets.get(image as usize);
        let target = target.ok_or_else(|| HeadsetError::Drawing("the runtime named an unknown image".into()))?;
        let mut encoder = graphics.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_texture_to_texture(self.drawn.as_image_copy(), target.as_image_copy(), extent(self.size));
        let state = wgpu::TextureUses::COLOR_TARGET;
        let handover = wgpu::TextureTransition { texture: target, selector: None, state };
        encoder.transition_resources(std::iter::empty(), std::iter::once(handover));
        graphics.queue.submit([encoder.finish()]);
        self.swapchain.release_image().map_err(HeadsetError::of("xrReleaseSwapchainImage"))?;
        self.has_image = true;
        Ok(())
    }

    /// The layer that shows the last image on a panel of the room; `None` before the first.
    pub fn layer<'a>(
        &'a self,
        space: &'a openxr::Space,
        panel: &Panel,
    ) -> Option<openxr::CompositionLayerQuad<'a, openxr::Vulkan>> {
        let (p, q) = (panel.pose.translation.vector.cast::<f32>(), panel.pose.rotation.cast::<f32>());
        let pose = openxr::Posef {
            orientation: openxr::Quaternionf { x: q.i, y: q.j, z: q.k, w: q.w },
            position: openxr::Vector3f { x: p.x, y: p.y, z: p.z },
        };
        let whole = openxr::Extent2Di { width: self.size.0 as i32, height: self.size.1 as i32 };
        let part = openxr::SwapchainSubImage::new()
            .swapchain(&self.swapchain)
            .image_array_index(0)
            .image_rect(openxr::Rect2Di { offset: openxr::Offset2Di::default(), extent: whole });
        self.has_image.then(|| {
            openxr::CompositionLayerQuad::new()
                .layer_flags(openxr::CompositionLayerFlags::BLEND_TEXTURE_SOURCE_ALPHA)
                .space(space)
                .eye_visibility(openxr::EyeVisibility::BOTH)
                .sub_image(part)
                .pose(pose)
                .size(openxr::Extent2Df { width: panel.size[0] as f32, height: panel.size[1] as f32 })
        })
    }
}

fn extent(size: (u32, u32)) -> wgpu::Extent3d {
    wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 }
}
