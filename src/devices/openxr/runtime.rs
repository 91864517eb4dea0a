use super::Failure;
use crate::devices::list::{ListedDevice, ListedKind};

/// A working runtime and its capabilities.
pub(super) struct Runtime {
    pub instance: openxr::Instance,
    available: openxr::ExtensionSet,
}

impl Runtime {
    /// Loads the loader, the runtime and its service.
    pub(super) fn open() -> Result<Self, Failure> {
        // SAFETY: the system's OpenXR loader is trusted like any linked library.
        let entry = unsafe { openxr::Entry::load(&()) }.map_err(|_| Failure::NoLoader)?;
        let available = entry.enumerate_extensions().map_err(Failure::without_runtime)?;
        let mut wanted = openxr::ExtensionSet::default();
        wanted.ext_hand_tracking = available.ext_hand_tracking;
        // Without it some runtimes return no system to a headless program.
        wanted.mnd_headless = available.mnd_headless;
        #[cfg(not(windows))]
        {
            wanted.khr_convert_timespec_time = available.khr_convert_timespec_time;
        }
        #[cfg(windows)]
        {
            wanted.khr_win32_convert_performance_counter_time = available.khr_win32_convert_performance_counter_time;
        }
        // Older loaders reject newer versions.
        let api_version = openxr::Version::new(1, 0, 0);
        let application = openxr::ApplicationInfo {
            application_name: "fingerpad",
            api_version,
            ..openxr::ApplicationInfo::default()
        };
        let instance = entry.create_instance(&application, &wanted, &[], &()).map_err(Failure::without_service)?;
        Ok(Self { instance, available })
    }

    /// The headset.
    pub(super) fn headset(&self) -> Result<openxr::SystemId, Failure> {
        self.instance.system(openxr::FormFactor::HEAD_MOUNTED_DISPLAY).map_err(Failure::without_headset)
    }

    /// Whether the headset tracks hands.
    pub(super) fn tracks_hands(&self, headset: openxr::SystemId) -> Result<(), Failure> {
        if !self.available.ext_hand_tracking {
            return Err(Failure::NoHandTracking);
        }
        match self.instance.supports_hand_tracking(headset) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::HandlessHeadset),
            Err(error) => Err(Failure::Unsure(error)),
        }
    }

    /// Whether it supports headless sessions and a clock without frames.
    pub(super) fn runs_without_pictures(&self) -> Result<(), Failure> {
        #[cfg(not(windows))]
        let clock = self.available.khr_convert_timespec_time;
        #[cfg(windows)]
        let clock = self.available.khr_win32_convert_performance_counter_time;
        match (self.available.mnd_headless, clock) {
            (false, _) => Err(Failure::NoHeadless),
            (true, false) => Err(Failure::NoClock),
            (true, true) => Ok(()),
        }
    }
}

/// The OpenXR runtime, and whether it tracks hands.
pub(in crate::devices) fn list() -> Vec<ListedDevice> {
    let mut found =
        ListedDevice { kind: ListedKind::OpenXr, name: String::new(), detail: String::new(), usb: None, problem: None };
    found.problem = look(&mut found).err().map(|failure| failure.to_string());
    vec![found]
}

/// Probes the loader, the runtime, the headset and its hand tracking, and notes the results as far as possible.
fn look(found: &mut ListedDevice) -> Result<(), Failure> {
    let runtime = Runtime::open()?;
    if let Ok(properties) = runtime.instance.properties() {
        found.name = properties.runtime_name;
        note(found, &format!("version {}", properties.runtime_version));
    }
    let headset = runtime.headset()?;
    if let Ok(properties) = runtime.instance.system_properties(headset) {
        note(found, &format!("headset {}", properties.system_name));
    }
    runtime.tracks_hands(headset)?;
    note(found, "tracks hands");
    Ok(())
}

fn note(found: &mut ListedDevice, text: &str) {
    if !found.detail.is_empty() {
        found.detail += ", ";
    }
    found.detail += text;
}
