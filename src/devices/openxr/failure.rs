use std::path::PathBuf;

use openxr::sys;

/// Why hands cannot be tracked with OpenXR and the remedy, one sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The loader library is not installed.
    #[error("no OpenXR loader was found; install one, such as the package libopenxr-loader1")]
    NoLoader,
    /// The environment names a missing or invalid runtime.
    #[error("XR_RUNTIME_JSON names {}, which is not a usable OpenXR runtime", .0.display())]
    BadRuntime(PathBuf),
    /// No runtime is installed.
    #[error("no OpenXR runtime is set up; install one, such as Monado or SteamVR, and make it active")]
    NoRuntime,
    /// The runtime library fails to load.
    #[error("the OpenXR runtime could not be loaded: {0}")]
    Unloadable(sys::Result),
    /// The runtime library is installed, but its service is not running.
    #[error("the OpenXR runtime does not respond; start its service, such as monado-service or SteamVR")]
    NoService,
    /// No instance.
    #[error("the OpenXR runtime refused to start: {0}")]
    Refused(sys::Result),
    /// No headset.
    #[error("no headset is connected")]
    NoHeadset,
    /// The runtime does not find its headset, for instance without a graphics driver.
    #[error("the runtime offers no headset: {0}")]
    NoSystem(sys::Result),
    /// The runtime cannot track hands.
    #[error("the runtime does not track hands (it lacks XR_EXT_hand_tracking)")]
    NoHandTracking,
    /// The headset cannot track hands.
    #[error("the headset does not track hands")]
    HandlessHeadset,
    /// Hand tracking support is unknown.
    #[error("cannot query the runtime for hand tracking: {0}")]
    Unsure(sys::Result),
    /// No headless sessions.
    #[error("the runtime has no headless sessions (it lacks XR_MND_headless)")]
    NoHeadless,
    /// No access to the runtime's clock.
    #[error("the runtime's clock cannot be read (it lacks {CLOCK})")]
    NoClock,
    /// No session.
    #[error("cannot create a session with hand tracking: {0}")]
    NoSession(sys::Result),
    /// The session has ended.
    #[error("the OpenXR session was lost")]
    SessionLost,
    /// The runtime has ended the session.
    #[error("the OpenXR runtime has closed the session")]
    Closed,
    /// The runtime has ended.
    #[error("the OpenXR runtime was lost")]
    InstanceLost,
    /// An unexpected error.
    #[error("the OpenXR runtime failed: {0}")]
    Failed(sys::Result),
}

/// The extension for time conversion.
const CLOCK: &str =
    if cfg!(windows) { "XR_KHR_win32_convert_performance_counter_time" } else { "XR_KHR_convert_timespec_time" };

impl Failure {
    /// The loader exists; its first call goes to the runtime library.
    pub(super) fn without_runtime(error: sys::Result) -> Self {
        match (error, std::env::var_os("XR_RUNTIME_JSON").filter(|path| !path.is_empty())) {
            (sys::Result::ERROR_RUNTIME_UNAVAILABLE, Some(path)) => Self::BadRuntime(path.into()),
            (sys::Result::ERROR_RUNTIME_UNAVAILABLE, None) => Self::NoRuntime,
            (error, _) => Self::Unloadable(error),
        }
    }

    /// The runtime library exists; an instance needs its service.
    pub(super) fn without_service(error: sys::Result) -> Self {
        match error {
            sys::Result::ERROR_RUNTIME_UNAVAILABLE => Self::NoService,
            error => Self::Refused(error),
        }
    }

    /// The runtime works; its headset may be missing.
    pub(super) fn without_headset(error: sys::Result) -> Self {
        match error {
            sys::Result::ERROR_FORM_FACTOR_UNAVAILABLE => Self::NoHeadset,
            error => Self::NoSystem(error),
        }
    }

    /// A session is being created.
    pub(super) fn without_session(error: sys::Result) -> Self {
        match Self::running(error) {
            Self::Failed(sys::Result::ERROR_FEATURE_UNSUPPORTED) => Self::HandlessHeadset,
            Self::Failed(error) => Self::NoSession(error),
            lost => lost,
        }
    }

    /// A session is running.
    pub(super) fn running(error: sys::Result) -> Self {
        match error {
            sys::Result::ERROR_SESSION_LOST => Self::SessionLost,
            sys::Result::ERROR_INSTANCE_LOST => Self::InstanceLost,
            error => Self::Failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_one_sentence() {
        let error = sys::Result::ERROR_OUT_OF_MEMORY;
        let all = [
            Failure::NoLoader,
            Failure::BadRuntime("/nowhere".into()),
            Failure::NoRuntime,
            Failure::Unloadable(error),
            Failure::NoService,
            Failure::Refused(error),
            Failure::NoHeadset,
            Failure::NoSystem(error),
            Failure::NoHandTracking,
            Failure::HandlessHeadset,
            Failure::Unsure(error),
            Failure::NoHeadless,
            Failure::NoClock,
            Failure::NoSession(error),
            Failure::SessionLost,
            Failure::Closed,
            Failure::InstanceLost,
            Failure::Failed(error),
        ];
        let sentences: std::collections::BTreeSet<_> = all.iter().map(Failure::to_string).collect();
        assert_eq!(sentences.len(), all.len(), "each has its own");
        for sentence in sentences {
            assert!(sentence.len() > 20 && !sentence.contains(['\n', '.']), "{sentence}");
        }
    }

    #[test]
    fn results_map_to_failures_by_origin() {
        use sys::Result as R;
        assert_eq!(Failure::without_service(R::ERROR_RUNTIME_UNAVAILABLE), Failure::NoService);
        assert_eq!(Failure::without_service(R::ERROR_LIMIT_REACHED), Failure::Refused(R::ERROR_LIMIT_REACHED));
        assert_eq!(Failure::without_headset(R::ERROR_FORM_FACTOR_UNAVAILABLE), Failure::NoHeadset);
        assert_eq!(Failure::without_session(R::ERROR_FEATURE_UNSUPPORTED), Failure::HandlessHeadset);
        assert_eq!(Failure::without_session(R::ERROR_INSTANCE_LOST), Failure::InstanceLost);
        assert_eq!(Failure::running(R::ERROR_SESSION_LOST), Failure::SessionLost);
        assert_eq!(Failure::running(R::ERROR_RUNTIME_FAILURE), Failure::Failed(R::ERROR_RUNTIME_FAILURE));
    }
}
