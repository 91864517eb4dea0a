use std::sync::{Arc, Mutex};

use kiss3d::context::Context;

use super::ViewerError;

/// The graphics adapter and its first error.
pub(super) struct Adapter {
    fault: Arc<Mutex<Option<String>>>,
}

impl Adapter {
    /// Finds an adapter and passes it to kiss3d, which panics if it finds none itself. It belongs to this thread until
    /// the last surface on it is dropped.
    pub async fn open() -> Result<Self, ViewerError> {
        let (instance, adapter) = find().await?;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() })
            .await
            .map_err(|error| ViewerError::Failed(format!("{}: {error}", adapter.get_info().name)))?;

        let fault = watch(&device);
        Context::init(instance, device, queue, adapter, wgpu::TextureFormat::Rgba8Unorm);
        Ok(Self { fault })
    }

    /// Fails with the first driver error.
    pub fn check(&self) -> Result<(), ViewerError> {
        let fault = self.fault.lock().ok().and_then(|fault| fault.clone());
        fault.map_or(Ok(()), |message| Err(ViewerError::Failed(message)))
    }
}

/// Finds an adapter.
pub(super) async fn find() -> Result<(wgpu::Instance, wgpu::Adapter), ViewerError> {
    // OpenGL only if there is no Vulkan, Metal or Direct3D: without a display, EGL writes warnings to the terminal.
    let found = match request(wgpu::Backends::PRIMARY).await {
        Some(found) => Some(found),
        None => request(wgpu::Backends::GL).await,
    };
    found.ok_or(ViewerError::NoAdapter)
}

/// Keeps the first driver error, instead of wgpu's own handler, which panics.
pub(super) fn watch(device: &wgpu::Device) -> Arc<Mutex<Option<String>>> {
    let fault = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&fault);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        if let Ok(mut first) = seen.lock() {
            first.get_or_insert_with(|| error.to_string());
        }
    }));
    fault
}

async fn request(backends: wgpu::Backends) -> Option<(wgpu::Instance, wgpu::Adapter)> {
    let headless = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { backends, ..headless });
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await.ok()?;
    Some((instance, adapter))
}
