//! The depth of both eyes (XR_KHR_composition_layer_depth): with it the runtime moves a picture to a newer pose of the head more
//! exactly. kiss3d's depth image cannot be copied, so a pass draws it into the image of the runtime.

use openxr::sys;

use super::fullscreen::{Copied, CopyPass};
use super::graphics::{Content, Graphics};
use super::session::{GraphicsSession, images, offers};
use super::{EyeView, HeadsetError};

/// Depth images of the runtime, with a layer for each eye.
pub struct DepthImages {
    swapchain: openxr::Swapchain<openxr::Vulkan>,
    targets: Vec<(wgpu::Texture, [wgpu::TextureView; 2])>,
    pass: CopyPass,
    /// The image that is drawn to.
    now: Option<usize>,
    size: (u32, u32),
}

impl DepthImages {
    /// `None` if the runtime takes no depth.
    pub fn new(session: &GraphicsSession) -> Result<Option<Self>, HeadsetError> {
        let has_extension = session.instance.exts().khr_composition_layer_depth.is_some();
        if !has_extension || !offers(&session.session, Content::Depth)? {
            return Ok(None);
        }
        let (swapchain, textures) = images(&session.session, &session.graphics, Content::Depth, session.size, 2)?;
        let view = |texture: &wgpu::Texture, layer: u32| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer: layer,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        let views = |texture: wgpu::Texture| {
            let eyes = [view(&texture, 0), view(&texture, 1)];
            (texture, eyes)
        };
        let targets = textures.into_iter().map(views).collect();
        let pass = CopyPass::new(&session.graphics.device, Copied::Depth);
        Ok(Some(Self { swapchain, targets, pass, now: None, size: session.size }))
    }

    /// Gets an image of the runtime for this frame.
    pub fn acquire(&mut self) -> Result<(), HeadsetError> {
        let image = self.swapchain.acquire_image().map_err(HeadsetError::of("xrAcquireSwapchainImage"))?;
        self.swapchain.wait_image(openxr::Duration::INFINITE).map_err(HeadsetError::of("xrWaitSwapchainImage"))?;
        self.now = Some(image as usize);
        Ok(())
    }

    /// Draws the depths of an eye into its layer.
    pub fn draw(
        &self,
        graphics: &Graphics,
        encoder: &mut wgpu::CommandEncoder,
        depths: &wgpu::TextureView,
        eye: usize,
    ) {
        let Some((_, views)) = self.now.and_then(|now| self.targets.get(now)) else { return };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("depth for the runtime"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &views[eye],
                // Every pixel is written. The runtime expects the image as a depth attachment, which it is after this pass.
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        self.pass.draw(&graphics.device, &mut pass, depths);
    }

    /// The image that is drawn to.
    pub fn target(&self) -> Option<&wgpu::Texture> {
        self.now.and_then(|now| self.targets.get(now)).map(|(texture, _)| texture)
    }

    /// Gives the image back.
    pub fn release(&mut self) -> Result<(), HeadsetError> {
        self.now = None;
        self.swapchain.release_image().map_err(HeadsetError::of("xrReleaseSwapchainImage"))
    }

    /// Depth information of an eye for the runtime.
    pub fn info(&self, eye: usize) -> sys::CompositionLayerDepthInfoKHR {
        let extent = openxr::Extent2Di { width: self.size.0 as i32, height: self.size.1 as i32 };
        let image_rect = openxr::Rect2Di { offset: openxr::Offset2Di::default(), extent };
        let part = openxr::SwapchainSubImage::new().swapchain(&self.swapchain).image_array_index(eye as u32);
        let [near_z, far_z] = EyeView::DEPTHS.map(|distance| distance as f32);
        sys::CompositionLayerDepthInfoKHR {
            ty: sys::CompositionLayerDepthInfoKHR::TYPE,
            next: std::ptr::null(),
            sub_image: part.image_rect(image_rect).into_raw(),
            min_depth: 0.0,
            max_depth: 1.0,
            near_z,
            far_z,
        }
    }
}
