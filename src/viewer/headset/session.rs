use std::sync::Arc;

use openxr::{Event, ReferenceSpaceType, ViewConfigurationType};

use super::HeadsetError;
use super::actions::Actions;
use super::graphics::{self, Content, Graphics};
use super::life::{Life, LifeStep};
use super::trackers::Trackers;

/// One picture for each eye.
pub const STEREO: ViewConfigurationType = ViewConfigurationType::PRIMARY_STEREO;

/// A graphics session and what belongs to it. Fields are dropped in this order: the session before the device.
pub struct GraphicsSession {
    pub frames: openxr::FrameStream<openxr::Vulkan>,
    pub waiter: openxr::FrameWaiter,
    pub swapchain: openxr::Swapchain<openxr::Vulkan>,
    pub targets: Vec<wgpu::Texture>,
    pub space: openxr::Space,
    pub space_name: &'static str,
    pub head: openxr::Space,
    /// `None` where the runtime tracks no hands.
    pub trackers: Option<Arc<Trackers>>,
    pub actions: Option<Arc<Actions>>,
    pub session: openxr::Session<openxr::Vulkan>,
    pub graphics: Graphics,
    pub instance: openxr::Instance,
    pub blend: openxr::EnvironmentBlendMode,
    pub size: (u32, u32),
    pub runtime: String,
    pub headset: String,
    pub life: Life,
    events: openxr::EventDataBuffer,
}

/// Result of the pending events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// The session is to be left.
    pub exits: bool,
    /// The user recentred the space, or it was moved.
    pub recentres: bool,
}

impl GraphicsSession {
    pub fn open() -> Result<Self, HeadsetError> {
        let instance = open_instance()?;
        let form = openxr::FormFactor::HEAD_MOUNTED_DISPLAY;
        let system = instance.system(form).map_err(HeadsetError::without_headset)?;
        let size = stereo_size(&instance, system)?;
        let blends = instance.enumerate_environment_blend_modes(system, STEREO);
        let blend =
            blends.ok().and_then(|modes| modes.first().copied()).unwrap_or(openxr::EnvironmentBlendMode::OPAQUE);
        let graphics = graphics::create(&instance, system)?;
        // SAFETY: the handles are those of the device that the runtime made.
        let (session, waiter, frames) = unsafe { instance.create_session::<openxr::Vulkan>(system, &graphics.binding) }
            .map_err(HeadsetError::of("xrCreateSession"))?;
        let (space, space_name) = reference_space(&session)?;
        let view_space = session.create_reference_space(ReferenceSpaceType::VIEW, openxr::Posef::IDENTITY);
        let head = view_space.map_err(HeadsetError::of("xrCreateReferenceSpace"))?;
        let (swapchain, targets) = images(&session, &graphics, Content::Colour, size, 2)?;
        let trackers = Trackers::new(&instance, system, &session).map(Arc::new);
        let actions = Actions::new(&instance, &session).ok().map(Arc::new);
        let runtime =
            instance.properties().map(|p| format!("{} {}", p.runtime_name, p.runtime_version)).unwrap_or_default();
        let headset = instance.system_properties(system).map(|p| p.system_name).unwrap_or_default();
        let (life, events) = (Life::default(), openxr::EventDataBuffer::new());
        Ok(Self {
            frames,
            waiter,
            swapchain,
            targets,
            space,
            space_name,
            head,
            trackers,
            actions,
            session,
            graphics,
            instance,
            blend,
            size,
            runtime,
            headset,
            life,
            events,
        })
    }

    /// Follows the runtime's events.
    pub fn follow_events(&mut self) -> Result<SessionChange, HeadsetError> {
        let mut news = SessionChange::default();
        while let Some(event) = self.instance.poll_event(&mut self.events).map_err(HeadsetError::of("xrPollEvent"))? {
            let state = match event {
                Event::InstanceLossPending(_) => return Err(HeadsetError::InstanceLost),
                Event::ReferenceSpaceChangePending(_) => {
                    news.recentres = true;
                    continue;
                }
                Event::SessionStateChanged(change) => change.state(),
                _ => continue,
            };
            match self.life.follow(state) {
                LifeStep::Wait => {}
                LifeStep::Begin => drop(self.session.begin(STEREO).map_err(HeadsetError::of("xrBeginSession"))?),
                LifeStep::End => drop(self.session.end().map_err(HeadsetError::of("xrEndSession"))?),
                LifeStep::Exit => news.exits = true,
                LifeStep::Lose => return Err(HeadsetError::SessionLost),
            }
        }
        Ok(news)
    }
}

/// An instance of the system's runtime, with the extensions that it has of those that are used.
fn open_instance() -> Result<openxr::Instance, HeadsetError> {
    // SAFETY: the system's OpenXR loader is trusted like any linked library.
    let entry = unsafe { openxr::Entry::load(&()) }.map_err(|_| HeadsetError::NoLoader)?;
    let available = entry.enumerate_extensions().map_err(HeadsetError::without_runtime)?;
    if !available.khr_vulkan_enable2 {
        return Err(HeadsetError::NoVulkanRuntime);
    }
    let mut wanted = openxr::ExtensionSet::default();
    wanted.khr_vulkan_enable2 = true;
    wanted.ext_hand_tracking = available.ext_hand_tracking;
    wanted.ext_hand_tracking_data_source = available.ext_hand_tracking && available.ext_hand_tracking_data_source;
    wanted.khr_composition_layer_depth = available.khr_composition_layer_depth;
    wanted.mndx_force_feedback_curl = available.ext_hand_tracking && available.mndx_force_feedback_curl;
    let application = openxr::ApplicationInfo {
        application_name: "fingerpad",
        // Older loaders reject newer versions.
        api_version: openxr::Version::new(1, 0, 0),
        ..openxr::ApplicationInfo::default()
    };
    entry.create_instance(&application, &wanted, &[], &()).map_err(HeadsetError::without_service)
}

/// Size of the image of an eye: that of the larger one, as both eyes are layers of one image.
fn stereo_size(instance: &openxr::Instance, system: openxr::SystemId) -> Result<(u32, u32), HeadsetError> {
    let views = instance
        .enumerate_view_configuration_views(system, STEREO)
        .ok()
        .filter(|views| views.len() == 2)
        .ok_or(HeadsetError::NoStereo)?;
    let most = |side: fn(&openxr::ViewConfigurationView) -> u32| views.iter().map(side).max().unwrap_or(0);
    Ok((most(|v| v.recommended_image_rect_width), most(|v| v.recommended_image_rect_height)))
}

/// The stage, with its origin on the floor, or else the local space.
pub fn reference_space(
    session: &openxr::Session<openxr::Vulkan>,
) -> Result<(openxr::Space, &'static str), HeadsetError> {
    let spaces = session.enumerate_reference_spaces().map_err(HeadsetError::of("xrEnumerateReferenceSpaces"))?;
    let (kind, name) = if spaces.contains(&ReferenceSpaceType::STAGE) {
        (ReferenceSpaceType::STAGE, "stage")
    } else {
        (ReferenceSpaceType::LOCAL, "local")
    };
    let space = session.create_reference_space(kind, openxr::Posef::IDENTITY);
    Ok((space.map_err(HeadsetError::of("xrCreateReferenceSpace"))?, name))
}

/// Whether the runtime has images for a content.
pub fn offers(session: &openxr::Session<openxr::Vulkan>, content: Content) -> Result<bool, HeadsetError> {
    let formats = session.enumerate_swapchain_formats().map_err(HeadsetError::of("xrEnumerateSwapchainFormats"))?;
    Ok(formats.contains(&content.runtime_format()))
}

type Images = (openxr::Swapchain<openxr::Vulkan>, Vec<wgpu::Texture>);

/// Images that the runtime shows.
pub fn images(
    session: &openxr::Session<openxr::Vulkan>,
    graphics: &Graphics,
    content: Content,
    size: (u32, u32),
    layers: u32,
) -> Result<Images, HeadsetError> {
    if !offers(session, content)? {
        return Err(HeadsetError::NoFormat);
    }
    let info = openxr::SwapchainCreateInfo {
        create_flags: openxr::SwapchainCreateFlags::EMPTY,
        usage_flags: content.runtime_usage(),
        format: content.runtime_format(),
        sample_count: 1,
        width: size.0,
        height: size.1,
        face_count: 1,
        array_size: layers,
        mip_count: 1,
    };
    let swapchain = session.create_swapchain(&info).map_err(HeadsetError::of("xrCreateSwapchain"))?;
    let images = swapchain.enumerate_images().map_err(HeadsetError::of("xrEnumerateSwapchainImages"))?;
    let texture = |image| graphics::texture(&graphics.device, image, content, size, layers);
    let textures: Option<Vec<_>> = images.into_iter().map(texture).collect();
    let textures = textures.ok_or_else(|| HeadsetError::Drawing("the images of the runtime cannot be used".into()))?;
    Ok((swapchain, textures))
}
