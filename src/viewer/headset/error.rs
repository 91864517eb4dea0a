use std::path::PathBuf;

use openxr::sys;

/// Why nothing can be shown in a headset, one sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadsetError {
    /// The loader library is not installed.
    #[error("no OpenXR loader was found; install one, such as the package libopenxr-loader1")]
    NoLoader,
    /// The environment names a missing or invalid runtime.
    #[error("XR_RUNTIME_JSON names {}, which is not a usable OpenXR runtime", .0.display())]
    BadRuntime(PathBuf),
    /// No runtime is installed.
    #[error("no OpenXR runtime is set up; install one, such as Monado or SteamVR, and make it active")]
    NoRuntime,
    /// The runtime library is installed, but its service is not running.
    #[error("the OpenXR runtime does not respond; start its service, such as monado-service or SteamVR")]
    NoService,
    /// No headset.
    #[error("no headset is connected")]
    NoHeadset,
    /// The runtime does not find its headset, for instance without a graphics driver.
    #[error("the runtime offers no headset: {0}")]
    NoSystem(sys::Result),
    /// The runtime draws with something else.
    #[error("the OpenXR runtime does not support Vulkan (it lacks XR_KHR_vulkan_enable2)")]
    NoVulkanRuntime,
    /// No Vulkan loader or driver.
    #[error(
        "no Vulkan driver was found for the headset ({0}); install one, or mesa-vulkan-drivers for drawing in software"
    )]
    NoVulkan(String),
    /// The headset shows no picture for each eye.
    #[error("the headset has no stereo view")]
    NoStereo,
    /// No format of the runtime fits.
    #[error("the OpenXR runtime offers no 8-bit sRGB images")]
    NoFormat,
    /// The mirror window.
    #[error("the mirror window cannot be opened: {0}")]
    NoMirror(String),
    /// The session has ended.
    #[error("the OpenXR session was lost")]
    SessionLost,
    /// The runtime has ended.
    #[error("the OpenXR runtime was lost")]
    InstanceLost,
    /// The renderer or the driver failed.
    #[error("drawing for the headset failed: {0}")]
    Drawing(String),
    /// An unexpected error.
    #[error("the OpenXR runtime failed in {0}: {1}")]
    Failed(&'static str, sys::Result),
}

impl HeadsetError {
    /// The loader exists; its first call goes to the runtime library.
    pub(super) fn without_runtime(error: sys::Result) -> Self {
        match (error, std::env::var_os("XR_RUNTIME_JSON").filter(|path| !path.is_empty())) {
            (sys::Result::ERROR_RUNTIME_UNAVAILABLE, Some(path)) => Self::BadRuntime(path.into()),
            (sys::Result::ERROR_RUNTIME_UNAVAILABLE, None) => Self::NoRuntime,
            (error, _) => Self::Failed("xrEnumerateInstanceExtensionProperties", error),
        }
    }

    /// The runtime library exists; an instance needs its service.
    pub(super) fn without_service(error: sys::Result) -> Self {
        match error {
            // Monado fails otherwise where a service that was killed has left its socket.
            sys::Result::ERROR_RUNTIME_UNAVAILABLE | sys::Result::ERROR_RUNTIME_FAILURE => Self::NoService,
            error => Self::Failed("xrCreateInstance", error),
        }
    }

    /// The runtime works; its headset may be missing.
    pub(super) fn without_headset(error: sys::Result) -> Self {
        match error {
            sys::Result::ERROR_FORM_FACTOR_UNAVAILABLE => Self::NoHeadset,
            error => Self::NoSystem(error),
        }
    }

    /// A failed call.
    pub(super) fn of(call: &'static str) -> impl Fn(sys::Result) -> Self {
        move |error| match error {
            sys::Result::ERROR_SESSION_LOST => Self::SessionLost,
            sys::Result::ERROR_INSTANCE_LOST => Self::InstanceLost,
            error => Self::Failed(call, error),
        }
    }

    /// Whether the runtime or the session went away.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::SessionLost | Self::InstanceLost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_map_to_sentences_by_origin() {
        use sys::Result as R;
        assert_eq!(HeadsetError::without_service(R::ERROR_RUNTIME_UNAVAILABLE), HeadsetError::NoService);
        assert_eq!(HeadsetError::without_service(R::ERROR_RUNTIME_FAILURE), HeadsetError::NoService);
        assert_eq!(HeadsetError::without_headset(R::ERROR_FORM_FACTOR_UNAVAILABLE), HeadsetError::NoHeadset);
        assert_eq!(HeadsetError::of("xrWaitFrame")(R::ERROR_INSTANCE_LOST), HeadsetError::InstanceLost);
        assert!(HeadsetError::of("xrWaitFrame")(R::ERROR_SESSION_LOST).is_loss());
        let failed = HeadsetError::of("xrEndFrame")(R::ERROR_POSE_INVALID);
        assert!(!failed.is_loss() && failed.to_string().contains("xrEndFrame"), "{failed}");
    }
}
