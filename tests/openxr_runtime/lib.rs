//! A small OpenXR runtime for tests: it tracks two hands whose joints stand in a file, and breaks as that file says. The
//! loader finds it through a manifest that the environment variable XR_RUNTIME_JSON names.
//!
//! It has what a program without pictures uses: instance, headset, session, events, hand trackers, the clock, and one
//! action for vibration. Other functions are there, as the loader wants them to be, and fail.

mod calls;
mod stage;

use std::ffi::{CStr, c_char};

use openxr::sys;
use openxr::sys::pfn;

/// The loader's first call.
///
/// # Safety
///
/// The loader passes valid pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn xrNegotiateLoaderRuntimeInterface(
    loader: *const sys::NegotiateLoaderInfo,
    request: *mut sys::NegotiateRuntimeRequest,
) -> sys::Result {
    // SAFETY: the loader's promise.
    let (loader, request) = unsafe { (&*loader, &mut *request) };
    if loader.struct_type != sys::NegotiateLoaderInfo::TYPE || loader.min_interface_version > 1 {
        return sys::Result::ERROR_INITIALIZATION_FAILED;
    }
    request.runtime_interface_version = 1;
    request.runtime_api_version = sys::Version::new(1, 0, 20);
    request.get_instance_proc_addr = Some(get_instance_proc_addr);
    sys::Result::SUCCESS
}

unsafe extern "system" fn get_instance_proc_addr(
    _: sys::Instance,
    name: *const c_char,
    function: *mut Option<pfn::VoidFunction>,
) -> sys::Result {
    // SAFETY: the caller passes a string and a place for the answer.
    unsafe {
        *function = CStr::from_ptr(name).to_str().ok().and_then(function_named);
        if (*function).is_some() { sys::Result::SUCCESS } else { sys::Result::ERROR_FUNCTION_UNSUPPORTED }
    }
}

/// A function as the type that all of them are handed out as, checked against its own first.
macro_rules! pointer {
    ($function:expr, $type:ty) => {{
        let function: $type = $function;
        // SAFETY: the caller turns it back into the type that its name stands for.
        unsafe { std::mem::transmute::<$type, pfn::VoidFunction>(function) }
    }};
}

fn function_named(name: &str) -> Option<pfn::VoidFunction> {
    Some(match name {
        "xrGetInstanceProcAddr" => pointer!(get_instance_proc_addr, pfn::GetInstanceProcAddr),
        "xrEnumerateInstanceExtensionProperties" => {
            pointer!(calls::enumerate_extensions, pfn::EnumerateInstanceExtensionProperties)
        }
        "xrCreateInstance" => pointer!(calls::create_instance, pfn::CreateInstance),
        "xrDestroyInstance" => pointer!(calls::destroy_instance, pfn::DestroyInstance),
        "xrGetInstanceProperties" => pointer!(calls::get_instance_properties, pfn::GetInstanceProperties),
        "xrGetSystem" => pointer!(calls::get_system, pfn::GetSystem),
        "xrGetSystemProperties" => pointer!(calls::get_system_properties, pfn::GetSystemProperties),
        "xrPollEvent" => pointer!(calls::poll_event, pfn::PollEvent),
        "xrCreateSession" => pointer!(calls::create_session, pfn::CreateSession),
        "xrDestroySession" => pointer!(calls::destroy_session, pfn::DestroySession),
        "xrBeginSession" => pointer!(calls::begin_session, pfn::BeginSession),
        "xrEndSession" => pointer!(calls::end_session, pfn::EndSession),
        "xrCreateReferenceSpace" => pointer!(calls::create_reference_space, pfn::CreateReferenceSpace),
        "xrDestroySpace" => pointer!(calls::destroy_space, pfn::DestroySpace),
        "xrCreateHandTrackerEXT" => pointer!(calls::create_hand_tracker, pfn::CreateHandTrackerEXT),
        "xrDestroyHandTrackerEXT" => pointer!(calls::destroy_hand_tracker, pfn::DestroyHandTrackerEXT),
        "xrLocateHandJointsEXT" => pointer!(calls::locate_hand_joints, pfn::LocateHandJointsEXT),
        "xrConvertTimespecTimeToTimeKHR" => pointer!(calls::convert_time, calls::ConvertTime),
        "xrStringToPath" => pointer!(calls::string_to_path, pfn::StringToPath),
        "xrCreateActionSet" => pointer!(calls::create_action_set, pfn::CreateActionSet),
        "xrDestroyActionSet" => pointer!(calls::destroy_action_set, pfn::DestroyActionSet),
        "xrCreateAction" => pointer!(calls::create_action, pfn::CreateAction),
        "xrDestroyAction" => pointer!(calls::destroy_action, pfn::DestroyAction),
        "xrSuggestInteractionProfileBindings" => {
            pointer!(calls::suggest_bindings, pfn::SuggestInteractionProfileBindings)
        }
        "xrAttachSessionActionSets" => pointer!(calls::attach_action_sets, pfn::AttachSessionActionSets),
        "xrSyncActions" => pointer!(calls::sync_actions, pfn::SyncActions),
        "xrApplyHapticFeedback" => pointer!(calls::apply_haptic_feedback, pfn::ApplyHapticFeedback),
        "xrStopHapticFeedback" => pointer!(calls::stop_haptic_feedback, pfn::StopHapticFeedback),
        name if ABSENT.contains(&name) => pointer!(absent, unsafe extern "system" fn() -> sys::Result),
        _ => return None,
    })
}

unsafe extern "system" fn absent() -> sys::Result {
    sys::Result::ERROR_FUNCTION_UNSUPPORTED
}

/// The other functions of the core and of the extensions, which nobody calls here.
const ABSENT: [&str; 31] = [
    "xrResultToString",
    "xrStructureTypeToString",
    "xrPathToString",
    "xrEnumerateSwapchainFormats",
    "xrCreateSwapchain",
    "xrDestroySwapchain",
    "xrEnumerateSwapchainImages",
    "xrAcquireSwapchainImage",
    "xrWaitSwapchainImage",
    "xrReleaseSwapchainImage",
    "xrRequestExitSession",
    "xrEnumerateReferenceSpaces",
    "xrGetReferenceSpaceBoundsRect",
    "xrCreateActionSpace",
    "xrLocateSpace",
    "xrEnumerateViewConfigurations",
    "xrEnumerateEnvironmentBlendModes",
    "xrGetViewConfigurationProperties",
    "xrEnumerateViewConfigurationViews",
    "xrLocateViews",
    "xrBeginFrame",
    "xrEndFrame",
    "xrWaitFrame",
    "xrGetActionStateBoolean",
    "xrGetActionStateFloat",
    "xrGetActionStateVector2f",
    "xrGetActionStatePose",
    "xrGetCurrentInteractionProfile",
    "xrEnumerateBoundSourcesForAction",
    "xrGetInputSourceLocalizedName",
    "xrConvertTimeToTimespecTimeKHR",
];
