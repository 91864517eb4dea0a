use openxr::sys;

use super::list::{Found, Kind};

/// The one OpenXR runtime, and whether it tracks hands.
pub(super) fn list() -> Vec<Found> {
    let mut found = Found { kind: Kind::OpenXr, name: String::new(), detail: String::new(), problem: None };
    found.problem = look(&mut found).err();
    vec![found]
}

/// Goes from the loader to the runtime to the headset to its hands, noting what it learns, as far as it comes.
fn look(found: &mut Found) -> Result<(), String> {
    // SAFETY: the system's OpenXR loader is trusted as any library that the program links is.
    let entry = unsafe { openxr::Entry::load(&()) }
        .map_err(|_| "no OpenXR loader was found; install one, such as the package libopenxr-loader1")?;
    let available = entry.enumerate_extensions().map_err(without_runtime)?;

    let mut wanted = openxr::ExtensionSet::default();
    wanted.ext_hand_tracking = available.ext_hand_tracking;
    // Without it some runtimes give no system to a program that draws nothing.
    wanted.mnd_headless = available.mnd_headless;
    let application = openxr::ApplicationInfo { application_name: "fingerpad", ..Default::default() };
    let instance = entry.create_instance(&application, &wanted, &[], &()).map_err(without_service)?;
    if let Ok(runtime) = instance.properties() {
        found.name = runtime.runtime_name;
        note(found, &format!("version {}", runtime.runtime_version));
    }

    let system = instance.system(openxr::FormFactor::HEAD_MOUNTED_DISPLAY).map_err(|error| match error {
        sys::Result::ERROR_FORM_FACTOR_UNAVAILABLE => "no headset is connected".into(),
        error => format!("the runtime offers no headset: {error}"),
    })?;
    if let Ok(headset) = instance.system_properties(system) {
        note(found, &format!("headset {}", headset.system_name));
    }
    if !available.ext_hand_tracking {
        return Err("the runtime does not track hands (it lacks XR_EXT_hand_tracking)".into());
    }
    match instance.supports_hand_tracking(system) {
        Ok(true) => {
            note(found, "tracks hands");
            Ok(())
        }
        Ok(false) => Err("the headset does not track hands".into()),
        Err(error) => Err(format!("the runtime does not say whether it tracks hands: {error}")),
    }
}

fn note(found: &mut Found, text: &str) {
    if !found.detail.is_empty() {
        found.detail += ", ";
    }
    found.detail += text;
}

/// The loader is there; its first question goes to the runtime's library.
fn without_runtime(error: sys::Result) -> String {
    match (error, std::env::var_os("XR_RUNTIME_JSON")) {
        (sys::Result::ERROR_RUNTIME_UNAVAILABLE, Some(path)) => {
            format!("XR_RUNTIME_JSON names {}, which leads to no usable OpenXR runtime", path.display())
        }
        (sys::Result::ERROR_RUNTIME_UNAVAILABLE, None) => {
            "no OpenXR runtime is set up; install one, such as Monado or SteamVR, and make it the active one".into()
        }
        (error, _) => format!("the OpenXR runtime could not be loaded: {error}"),
    }
}

/// The runtime's library is there; an instance needs its service.
fn without_service(error: sys::Result) -> String {
    match error {
        sys::Result::ERROR_RUNTIME_UNAVAILABLE => {
            "the OpenXR runtime does not answer; start its service, such as monado-service or SteamVR".into()
        }
        error => format!("the OpenXR runtime refused to start: {error}"),
    }
}
