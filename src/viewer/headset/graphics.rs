use std::ffi::{CStr, c_void};

use ash::vk::{self, Handle as _};
use wgpu::hal::api::Vulkan as Api;
use wgpu::hal::vulkan;

use super::HeadsetError;

/// The Vulkan device that the runtime made, as wgpu and OpenXR see it.
pub struct Graphics {
    pub instance: wgpu::Instance,
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub binding: openxr::vulkan::SessionCreateInfo,
}

/// Queue family that draws; the first that can.
fn drawing_family(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Option<u32> {
    // SAFETY: the physical device belongs to the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS)).map(|at| at as u32)
}

fn no_vulkan(error: impl std::fmt::Display) -> HeadsetError {
    HeadsetError::NoVulkan(error.to_string())
}

/// Creates instance and device through the runtime (XR_KHR_vulkan_enable2), with what wgpu needs.
pub fn create(xr: &openxr::Instance, system: openxr::SystemId) -> Result<Graphics, HeadsetError> {
    // The specification demands this call before the others.
    xr.graphics_requirements::<openxr::Vulkan>(system)
        .map_err(HeadsetError::of("xrGetVulkanGraphicsRequirements2KHR"))?;
    // SAFETY: the system's Vulkan loader is trusted like any linked library.
    let entry = unsafe { ash::Entry::load() }.map_err(no_vulkan)?;
    let version = vk::API_VERSION_1_3;
    let flags = wgpu::InstanceFlags::empty();
    let extensions = vulkan::Instance::desired_extensions(&entry, version, flags).map_err(no_vulkan)?;
    let (raw_instance, physical) = create_instance(xr, system, &entry, &extensions, version)?;
    // SAFETY: the instance was made with these extensions. wgpu owns it: it is destroyed with the last object of wgpu, after the
    // session, which is dropped before them.
    let hal_instance = unsafe {
        let budget = wgpu::MemoryBudgetThresholds::default();
        vulkan::Instance::from_raw(
            entry.clone(),
            raw_instance.clone(),
            version,
            0,
            None,
            extensions,
            flags,
            budget,
            false,
            None,
        )
    }
    .map_err(no_vulkan)?;
    let exposed = hal_instance.expose_adapter(physical).ok_or_else(|| no_vulkan("the device is too old"))?;
    let family = drawing_family(&raw_instance, physical).ok_or_else(|| no_vulkan("the device cannot draw"))?;
    let features = wgpu::Features::empty();
    let limits = exposed.capabilities.limits.clone();
    let enabled = exposed.adapter.required_device_extensions(features);
    let raw_device = create_device(xr, system, &entry, &raw_instance, physical, &exposed.adapter, &enabled, family)?;
    let hints = wgpu::MemoryHints::default();
    let device = raw_device.handle().as_raw();
    // SAFETY: the device was created from this adapter, with the family, extensions and features that it asks for.
    let open =
        unsafe { exposed.adapter.device_from_raw(raw_device, None, &enabled, features, &limits, &hints, family, 0) }
            .map_err(no_vulkan)?;
    let binding = openxr::vulkan::SessionCreateInfo {
        instance: raw_instance.handle().as_raw() as *const c_void,
        physical_device: physical.as_raw() as *const c_void,
        device: device as *const c_void,
        queue_family_index: family,
        queue_index: 0,
    };
    // SAFETY: instance, adapter and device belong together.
    unsafe {
        let instance = wgpu::Instance::from_hal::<Api>(hal_instance);
        let adapter = instance.create_adapter_from_hal(exposed);
        let wanted = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
        let (device, queue) = adapter.create_device_from_hal(open, &wanted).map_err(no_vulkan)?;
        Ok(Graphics { instance, adapter, device, queue, binding })
    }
}

/// The Vulkan instance, and the device that the headset is attached to.
fn create_instance(
    xr: &openxr::Instance,
    system: openxr::SystemId,
    entry: &ash::Entry,
    extensions: &[&'static CStr],
    version: u32,
) -> Result<(ash::Instance, vk::PhysicalDevice), HeadsetError> {
    let application = vk::ApplicationInfo::default().application_name(c"fingerpad").api_version(version);
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
    // SAFETY: the description and the function pointer are valid during the calls; a function pointer of Vulkan has the same
    // signature for both crates.
    unsafe {
        let get = std::mem::transmute::<vk::PFN_vkGetInstanceProcAddr, openxr::sys::platform::VkGetInstanceProcAddr>(
            entry.static_fn().get_instance_proc_addr,
        );
        let raw = xr
            .create_vulkan_instance(system, get, (&raw const info).cast())
            .map_err(HeadsetError::of("xrCreateVulkanInstanceKHR"))?
            .map_err(|code| no_vulkan(vk::Result::from_raw(code)))?;
        let instance = ash::Instance::load(entry.static_fn(), vk::Instance::from_raw(raw as u64));
        let physical =
            xr.vulkan_graphics_device(system, raw).map_err(HeadsetError::of("xrGetVulkanGraphicsDevice2KHR"))?;
        Ok((instance, vk::PhysicalDevice::from_raw(physical as u64)))
    }
}

#[expect(clippy::too_many_arguments, reason = "the handles that a device is made from")]
fn create_device(
    xr: &openxr::Instance,
    system: openxr::SystemId,
    entry: &ash::Entry,
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    adapter: &vulkan::Adapter,
    enabled: &[&'static CStr],
    family: u32,
) -> Result<ash::Device, HeadsetError> {
    let mut features = adapter.physical_device_features(enabled, wgpu::Features::empty());
    let names: Vec<_> = enabled.iter().map(|name| name.as_ptr()).collect();
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    let info = features.add_to_device_create(info);
    // SAFETY: as for the instance.
    unsafe {
        let get = std::mem::transmute::<vk::PFN_vkGetInstanceProcAddr, openxr::sys::platform::VkGetInstanceProcAddr>(
            entry.static_fn().get_instance_proc_addr,
        );
        let raw = xr
            .create_vulkan_device(system, get, physical.as_raw() as *const c_void, (&raw const info).cast())
            .map_err(HeadsetError::of("xrCreateVulkanDeviceKHR"))?
            .map_err(|code| no_vulkan(vk::Result::from_raw(code)))?;
        Ok(ash::Device::load(instance.fp_v1_0(), vk::Device::from_raw(raw as u64)))
    }
}

/// What an image of the runtime holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// kiss3d's bytes, already encoded for display.
    Colour,
    /// Depths of a projection.
    Depth,
}

impl Content {
    /// The format for wgpu.
    pub fn format(self) -> wgpu::TextureFormat {
        match self {
            Self::Colour => wgpu::TextureFormat::Rgba8UnormSrgb,
            Self::Depth => wgpu::TextureFormat::Depth32Float,
        }
    }

    /// The same format for the runtime.
    pub fn runtime_format(self) -> u32 {
        let format = match self {
            Self::Colour => vk::Format::R8G8B8A8_SRGB,
            Self::Depth => vk::Format::D32_SFLOAT,
        };
        format.as_raw() as u32
    }

    /// How the runtime's images are used.
    pub fn runtime_usage(self) -> openxr::SwapchainUsageFlags {
        let read = openxr::SwapchainUsageFlags::TRANSFER_SRC;
        match self {
            Self::Colour => {
                read | openxr::SwapchainUsageFlags::COLOR_ATTACHMENT | openxr::SwapchainUsageFlags::TRANSFER_DST
            }
            Self::Depth => read | openxr::SwapchainUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        }
    }

    /// The same for wgpu and its Vulkan layer.
    fn usages(self) -> (wgpu::TextureUsages, wgpu::TextureUses) {
        let (own, raw) = (wgpu::TextureUsages::COPY_SRC, wgpu::TextureUses::COPY_SRC);
        let (own, raw) = (own | wgpu::TextureUsages::RENDER_ATTACHMENT, raw);
        match self {
            Self::Colour => (
                own | wgpu::TextureUsages::COPY_DST,
                raw | wgpu::TextureUses::COPY_DST | wgpu::TextureUses::COLOR_TARGET,
            ),
            Self::Depth => (own, raw | wgpu::TextureUses::DEPTH_STENCIL_WRITE),
        }
    }
}

/// An image of the runtime as a texture. The runtime keeps the image.
pub fn texture(
    device: &wgpu::Device,
    image: u64,
    content: Content,
    size: (u32, u32),
    layers: u32,
) -> Option<wgpu::Texture> {
    let extent = wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: layers };
    let (usage, raw_usage) = content.usages();
    let hal_descriptor = wgpu::hal::TextureDescriptor {
        label: None,
        size: extent,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: content.format(),
        usage: raw_usage,
        memory_flags: wgpu::hal::MemoryFlags::empty(),
        view_formats: Vec::new(),
    };
    let descriptor = wgpu::TextureDescriptor {
        label: None,
        size: extent,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: content.format(),
        usage,
        view_formats: &[],
    };
    // SAFETY: the image has this description and lives as long as its swapchain. With a callback wgpu does not destroy it.
    unsafe {
        let hal = device.as_hal::<Api>()?;
        let keep: wgpu::hal::DropCallback = Box::new(|| {});
        let memory = vulkan::TextureMemory::External;
        let raw = hal.texture_from_raw(vk::Image::from_raw(image), &hal_descriptor, Some(keep), memory);
        drop(hal);
        Some(device.create_texture_from_hal::<Api>(raw, &descriptor, wgpu::TextureUses::UNINITIALIZED))
    }
}
