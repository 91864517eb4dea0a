//! Passes that copy one image to another.

/// What is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// Depths, pixel by pixel.
    Depth,
    /// Colours, to a picture of another size.
    Colour(wgpu::TextureFormat),
}

/// A pass that copies an image.
pub struct CopyPass {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    /// Colours are interpolated.
    sampler: Option<wgpu::Sampler>,
}

impl CopyPass {
    pub fn new(device: &wgpu::Device, copied: Copied) -> Self {
        let entry = |binding: u32, ty: wgpu::BindingType| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let image = |sample_type: wgpu::TextureSampleType| wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let entries = match copied {
            Copied::Depth => vec![entry(0, image(wgpu::TextureSampleType::Depth))],
            Copied::Colour(_) => vec![
                entry(0, image(wgpu::TextureSampleType::Float { filterable: true })),
                entry(1, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)),
            ],
        };
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let sampler = matches!(copied, Copied::Colour(_)).then(|| {
            device.create_sampler(&wgpu::SamplerDescriptor {
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            })
        });
        Self { pipeline: pipeline(device, copied, &layout), layout, sampler }
    }

    /// Draws the image in a pass with the right target.
    pub fn draw(&self, device: &wgpu::Device, pass: &mut wgpu::RenderPass<'_>, image: &wgpu::TextureView) {
        let entry = |binding: u32, resource| wgpu::BindGroupEntry { binding, resource };
        let mut entries = vec![entry(0, wgpu::BindingResource::TextureView(image))];
        entries.extend(self.sampler.as_ref().map(|sampler| entry(1, wgpu::BindingResource::Sampler(sampler))));
        let layout = &self.layout;
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }
}

fn pipeline(device: &wgpu::Device, copied: Copied, layout: &wgpu::BindGroupLayout) -> wgpu::RenderPipeline {
    let shader = device.create_shader_module(wgpu::include_wgsl!("fullscreen.wgsl"));
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    let (entry_point, targets, depth_stencil) = match copied {
        Copied::Depth => {
            let depth = wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            };
            ("depth", Vec::new(), Some(depth))
        }
        Copied::Colour(format) => ("colour", vec![Some(wgpu::ColorTargetState::from(format))], None),
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &shader,
            entry_point: Some("vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        fragment: Some(wgpu::FragmentState {
            module: &shader,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &targets,
        }),
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil,
        multisample: wgpu::MultisampleState::default(),
        multiview_mask: None,
        cache: None,
    })
}
