//! A material for drawing in software.
//!
//! kiss3d's own material branches on values in uniform buffers. Mesa's software driver (lavapipe) specialises such shaders for the values
//! it sees and keeps every variant: when the camera or a body moves, it compiles several shaders a frame and never frees them (measured:
//! 30 MB and 0.3 s a frame at 640 × 400). This material has no such branch, and lights vertices instead of pixels.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kiss3d::camera::Camera3d;
use kiss3d::context::Context;
use kiss3d::glamx::{Pose3, Vec3};
use kiss3d::light::{LightCollection, LightType};
use kiss3d::post_processing::{OIT_ACCUM_FORMAT, OIT_REVEAL_FORMAT};
use kiss3d::resource::{
    GpuData, GpuMesh3d, Material3d, MaterialManager3d, RenderContext, RenderPhase, Texture, multisample_state,
};
use kiss3d::scene::{InstancesBuffer3d, ObjectData3d};

/// A material that objects of kiss3d can share.
pub type SharedMaterial = Rc<RefCell<Box<dyn Material3d + 'static>>>;

/// Name among the materials of kiss3d, which notifies it when a frame starts.
const MATERIAL_NAME: &str = "fingerpad plain";
/// Number of lights used, and their layer.
const LIGHTS: usize = 3;
/// Stride of the object uniforms in bytes; sufficient for all devices.
const STRIDE: u64 = 256;

/// Vertex lighting without shadows.
pub struct Plain {
    opaque: wgpu::RenderPipeline,
    transparent: wgpu::RenderPipeline,
    layouts: [wgpu::BindGroupLayout; 3],
    frame: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    objects: wgpu::Buffer,
    objects_group: wgpu::BindGroup,
    /// Uniforms of the objects of this frame.
    bytes: Vec<u8>,
    frame_is_written: bool,
}

/// Per-object data of the material.
#[derive(Default)]
struct ObjectData {
    offset: u32,
    texture: Option<(Arc<Texture>, wgpu::BindGroup)>,
}

impl ObjectData {
    /// Binds a texture, if it is another one than before.
    fn follow_texture(&mut self, texture: &Arc<Texture>, layout: &wgpu::BindGroupLayout) {
        if self.texture.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, texture)) {
            return;
        }
        let group = Context::get().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(MATERIAL_NAME),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&texture.view) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&texture.sampler) },
            ],
        });
        self.texture = Some((Arc::clone(texture), group));
    }
}

impl GpuData for ObjectData {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Plain {
    /// The material, registered with kiss3d on this thread.
    pub fn shared() -> SharedMaterial {
        if let Some(known) = MaterialManager3d::get_global_manager(|manager| manager.get(MATERIAL_NAME)) {
            return known;
        }
        let material: SharedMaterial = Rc::new(RefCell::new(Box::new(Self::new())));
        MaterialManager3d::get_global_manager(|manager| manager.add(Rc::clone(&material), MATERIAL_NAME));
        material
    }

    fn new() -> Self {
        let context = Context::get();
        let uniform = |is_dynamic: bool| wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: is_dynamic,
            min_binding_size: None,
        };
        let entry = |binding: u32, ty: wgpu::BindingType| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty,
            count: None,
        };
        let image = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            context.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(MATERIAL_NAME), entries })
        };
        let layouts = [
            layout(&[entry(0, uniform(false))]),
            layout(&[entry(0, uniform(true))]),
            layout(&[entry(0, image), entry(1, sampler)]),
        ];
        let (opaque, transparent) = pipelines(&context, &layouts);
        let frame = buffer(&context, (4 * (16 + 4 * (3 + 2 * LIGHTS))) as u64);
        let frame_group = group(&context, &layouts[0], frame.as_entire_binding());
        let objects = buffer(&context, 64 * STRIDE);
        let objects_group = group(&context, &layouts[1], of_one_object(&objects));
        Self {
            opaque,
            transparent,
            layouts,
            frame,
            frame_group,
            objects,
            objects_group,
            bytes: Vec::new(),
            frame_is_written: false,
        }
    }

    fn write_frame(&mut self, camera: &dyn Camera3d, lights: &LightCollection) {
        let eye = camera.eye();
        let fog = &lights.fog;
        let [start, end] = match fog.mode {
            kiss3d::light::FogMode::Linear { start, end } => [start, end],
            _ => [f32::MAX, f32::MAX],
        };
        let ends = if end > start { 1.0 / (end - start) } else { 0.0 };
        let mut numbers: Vec<f32> = camera.transformation().to_cols_array().into();
        numbers.extend([eye.x, eye.y, eye.z, lights.ambient]);
        numbers.extend([fog.color.r, fog.color.g, fog.color.b, ends]);
        numbers.extend([start, 0.0, 0.0, 0.0]);
        let directional = lights.lights.iter().filter(|light| matches!(light.light_type, LightType::Directional(_)));
        // Objects and marks have the same lights, listed twice; they differ in their shadows.
        let own: Vec<_> = directional.filter(|light| light.layers & crate::viewer::draw::THINGS != 0).collect();
        let light = |i: usize| own.get(i);
        for i in 0..LIGHTS {
            let (towards, intensity) = light(i).map_or((Vec3::Y, 0.0), |l| (-l.world_direction, l.intensity));
            numbers.extend([towards.x, towards.y, towards.z, intensity]);
        }
        for i in 0..LIGHTS {
            let colour = light(i).map_or(Vec3::ONE, |l| l.color);
            numbers.extend([colour.x, colour.y, colour.z, 1.0]);
        }
        Context::get().write_buffer(&self.frame, 0, &bytes_of(&numbers));
    }
}

fn pipelines(context: &Context, layouts: &[wgpu::BindGroupLayout; 3]) -> (wgpu::RenderPipeline, wgpu::RenderPipeline) {
    let shader = context.create_shader_module(Some(MATERIAL_NAME), include_str!("plain.wgsl"));
    let layout = context.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(MATERIAL_NAME),
        bind_group_layouts: &[Some(&layouts[0]), Some(&layouts[1]), Some(&layouts[2])],
        immediate_size: 0,
    });
    let [places, uvs, normals] = [
        wgpu::vertex_attr_array![0 => Float32x3],
        wgpu::vertex_attr_array![1 => Float32x2],
        wgpu::vertex_attr_array![2 => Float32x3],
    ];
    let vertices = |attributes, floats: u64| {
        Some(wgpu::VertexBufferLayout { array_stride: 4 * floats, step_mode: wgpu::VertexStepMode::Vertex, attributes })
    };
    let buffers = [vertices(&places, 3), vertices(&uvs, 2), vertices(&normals, 3)];
    let build = |entry: &str, targets: &[Option<wgpu::ColorTargetState>], writes_depth: bool| {
        context.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(MATERIAL_NAME),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &shader,
                entry_point: Some("vertex"),
                buffers: &buffers,
                compilation_options: Default::default(),
            },
            fragment: Some(wgpu::FragmentState {
                module: &shader,
                entry_point: Some(entry),
                targets,
                compilation_options: Default::default(),
            }),
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: Context::depth_format(),
                depth_write_enabled: Some(writes_depth),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: multisample_state(1),
            multiview_mask: None,
            cache: None,
        })
    };
    let target = |format, blend| Some(wgpu::ColorTargetState { format, blend, write_mask: wgpu::ColorWrites::ALL });
    let blend = |src_factor, dst_factor| {
        let component = wgpu::BlendComponent { src_factor, dst_factor, operation: wgpu::BlendOperation::Add };
        Some(wgpu::BlendState { color: component, alpha: component })
    };
    use wgpu::BlendFactor::{One, OneMinusSrc, Zero};
    let opaque = build("opaque", &[target(Context::render_format(), None)], true);
    let weighted = [target(OIT_ACCUM_FORMAT, blend(One, One)), target(OIT_REVEAL_FORMAT, blend(Zero, OneMinusSrc))];
    (opaque, build("transparent", &weighted, false))
}

impl Material3d for Plain {
    fn create_gpu_data(&self) -> Box<dyn GpuData> {
        Box::new(ObjectData::default())
    }

    fn begin_frame(&mut self) {
        self.bytes.clear();
        self.frame_is_written = false;
    }

    fn renders_in_transparent_phase(&self) -> bool {
        true
    }

    fn prepare(
        &mut self,
        _pass: usize,
        _transform: Pose3,
        _scale: Vec3,
        camera: &mut dyn Camera3d,
        lights: &LightCollection,
        data: &ObjectData3d,
        gpu_data: &mut dyn GpuData,
        _width: u32,
        _height: u32,
    ) {
        if !self.frame_is_written {
            self.frame_is_written = true;
            self.write_frame(camera, lights);
        }
        let Some(own) = gpu_data.as_any_mut().downcast_mut::<ObjectData>() else { return };
        own.offset = self.bytes.len() as u32;
        let colour = data.color();
        let gloss = 1.0 - data.roughness();
        let numbers = [colour.r, colour.g, colour.b, colour.a, 0.08 * gloss, 4.0 + 60.0 * gloss, 0.0, 0.0];
        self.bytes.extend(bytes_of(&numbers));
        self.bytes.resize(own.offset as usize + STRIDE as usize, 0);
    }

    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let context = Context::get();
        if self.bytes.len() as u64 > self.objects.size() {
            self.objects = buffer(&context, (self.bytes.len() as u64).next_power_of_two());
            self.objects_group = group(&context, &self.layouts[1], of_one_object(&self.objects));
        }
        context.write_buffer(&self.objects, 0, &self.bytes);
    }

    fn render(
        &mut self,
        _pass: usize,
        _transform: Pose3,
        _scale: Vec3,
        _camera: &mut dyn Camera3d,
        _lights: &LightCollection,
        data: &ObjectData3d,
        mesh: &mut GpuMesh3d,
        _instances: &mut InstancesBuffer3d,
        gpu_data: &mut dyn GpuData,
        render_pass: &mut wgpu::RenderPass<'_>,
        context: &RenderContext,
    ) {
        let pipeline = match (context.phase, data.color().a < 1.0) {
            (RenderPhase::Opaque, false) => &self.opaque,
            (RenderPhase::Transparent, true) => &self.transparent,
            _ => return,
        };
        let Some(own) = gpu_data.as_any_mut().downcast_mut::<ObjectData>().filter(|_| data.surface_rendering_active())
        else {
            return;
        };
        own.follow_texture(data.texture(), &self.layouts[2]);
        let Some((_, image)) = &own.texture else { return };
        render_pass.set_pipeline(pipeline);
        render_pass.set_bind_group(0, &self.frame_group, &[]);
        render_pass.set_bind_group(1, &self.objects_group, &[own.offset]);
        render_pass.set_bind_group(2, image, &[]);
        draw(mesh, render_pass);
    }
}

/// Draws a mesh, if all of its buffers are on the GPU.
fn draw(mesh: &mut GpuMesh3d, render_pass: &mut wgpu::RenderPass<'_>) {
    let mut ready = true;
    let mut vertices = |slot: u32, buffer: Option<&wgpu::Buffer>| match buffer {
        Some(buffer) => render_pass.set_vertex_buffer(slot, buffer.slice(..)),
        None => ready = false,
    };
    if let Ok(mut list) = mesh.coords().write() {
        vertices(0, list.ensure_on_gpu());
    }
    if let Ok(mut list) = mesh.uvs().write() {
        vertices(1, list.ensure_on_gpu());
    }
    if let Ok(mut list) = mesh.normals().write() {
        vertices(2, list.ensure_on_gpu());
    }
    // Before the list is locked: this call locks it too.
    let count = mesh.num_indices();
    if let Ok(mut faces) = mesh.faces().write()
        && let Some(buffer) = faces.ensure_on_gpu().filter(|_| ready)
    {
        render_pass.set_index_buffer(buffer.slice(..), kiss3d::resource::vertex_index::VERTEX_INDEX_FORMAT);
        render_pass.draw_indexed(0..count, 0, 0..1);
    }
}

fn buffer(context: &Context, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    context.create_buffer(&wgpu::BufferDescriptor {
        label: Some(MATERIAL_NAME),
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn of_one_object(buffer: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size: std::num::NonZeroU64::new(STRIDE) })
}

fn group(context: &Context, layout: &wgpu::BindGroupLayout, resource: wgpu::BindingResource<'_>) -> wgpu::BindGroup {
    let entries = [wgpu::BindGroupEntry { binding: 0, resource }];
    context.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(MATERIAL_NAME), layout, entries: &entries })
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}
