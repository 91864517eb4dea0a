//! The functions that an application calls. Pointers are the caller's and valid, as OpenXR demands of it.

use std::ffi::{CStr, c_char};

use openxr::sys::{self, Handle as _, Result};

use crate::stage::{Event, Phase, Script, log, stage};

const EXTENSIONS: [&str; 3] = ["XR_EXT_hand_tracking", "XR_MND_headless", "XR_KHR_convert_timespec_time"];

/// Copies a string with its end.
fn place(text: &str, into: &mut [c_char]) {
    for (to, from) in into.iter_mut().zip(text.bytes().chain([0])) {
        *to = from as c_char;
    }
}

pub unsafe extern "system" fn enumerate_extensions(
    _: *const c_char,
    capacity: u32,
    count: *mut u32,
    properties: *mut sys::ExtensionProperties,
) -> Result {
    let script = Script::now();
    let offered: Vec<_> = EXTENSIONS.into_iter().filter(|name| script.has(name)).collect();
    // SAFETY: `count` is a place for a number, `properties` has `capacity` places.
    unsafe {
        *count = offered.len() as u32;
        if capacity == 0 {
            return Result::SUCCESS;
        }
        if (capacity as usize) < offered.len() {
            return Result::ERROR_SIZE_INSUFFICIENT;
        }
        for (i, name) in offered.iter().enumerate() {
            let property = &mut *properties.add(i);
            place(name, &mut property.extension_name);
            property.extension_version = 1;
        }
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn create_instance(
    info: *const sys::InstanceCreateInfo,
    instance: *mut sys::Instance,
) -> Result {
    let script = Script::now();
    if !script.has("service") {
        return Result::ERROR_RUNTIME_UNAVAILABLE;
    }
    // SAFETY: `info` has as many names as it says.
    unsafe {
        let info = &*info;
        if info.application_info.api_version.major() != 1 || info.application_info.api_version.minor() != 0 {
            return Result::ERROR_API_VERSION_UNSUPPORTED;
        }
        for i in 0..info.enabled_extension_count as usize {
            let name = CStr::from_ptr(*info.enabled_extension_names.add(i)).to_string_lossy();
            if !(EXTENSIONS.contains(&&*name) && script.has(&name)) {
                return Result::ERROR_EXTENSION_NOT_PRESENT;
            }
        }
        *instance = stage().create("instance");
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_instance(instance: sys::Instance) -> Result {
    stage().destroy("instance", instance)
}

pub unsafe extern "system" fn get_instance_properties(
    _: sys::Instance,
    properties: *mut sys::InstanceProperties,
) -> Result {
    // SAFETY: a place for the answer.
    let properties = unsafe { &mut *properties };
    properties.runtime_version = sys::Version::new(0, 1, 0);
    place("fingerpad test runtime", &mut properties.runtime_name);
    Result::SUCCESS
}

pub unsafe extern "system" fn get_system(
    _: sys::Instance,
    info: *const sys::SystemGetInfo,
    system: *mut sys::SystemId,
) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe {
        if (*info).form_factor != sys::FormFactor::HEAD_MOUNTED_DISPLAY {
            return Result::ERROR_FORM_FACTOR_UNSUPPORTED;
        }
        if !Script::now().has("headset") {
            return Result::ERROR_FORM_FACTOR_UNAVAILABLE;
        }
        *system = sys::SystemId::from_raw(1);
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn get_system_properties(
    _: sys::Instance,
    system: sys::SystemId,
    properties: *mut sys::SystemProperties,
) -> Result {
    // SAFETY: a place for the answer, and a chain of further ones whose types say what they are.
    unsafe {
        (*properties).system_id = system;
        (*properties).vendor_id = 0;
        place("test headset", &mut (*properties).system_name);
        let mut next = (*properties).next.cast::<sys::BaseOutStructure>();
        while !next.is_null() {
            if (*next).ty == sys::SystemHandTrackingPropertiesEXT::TYPE {
                let hands = next.cast::<sys::SystemHandTrackingPropertiesEXT>();
                (*hands).supports_hand_tracking = Script::now().has("hands").into();
            }
            next = (*next).next;
        }
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn poll_event(_: sys::Instance, buffer: *mut sys::EventDataBuffer) -> Result {
    let script = Script::now();
    if script.ends("instance") {
        return Result::ERROR_INSTANCE_LOST;
    }
    let mut stage = stage();
    stage.follow(&script);
    let (next, time) = (std::ptr::null(), sys::Time::from_nanos(1));
    // SAFETY: the buffer has room for any event, and is aligned for it.
    unsafe {
        match stage.events.pop_front() {
            None => return Result::EVENT_UNAVAILABLE,
            Some(Event::Session(state)) => {
                type Change = sys::EventDataSessionStateChanged;
                let (ty, session) = (Change::TYPE, sys::Session::NULL);
                buffer.cast::<Change>().write(Change { ty, next, session, state, time });
            }
            Some(Event::InstanceLossPending) => {
                type Loss = sys::EventDataInstanceLossPending;
                let ty = Loss::TYPE;
                buffer.cast::<Loss>().write(Loss { ty, next, loss_time: time });
            }
        }
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn create_session(
    _: sys::Instance,
    info: *const sys::SessionCreateInfo,
    session: *mut sys::Session,
) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe {
        if (*info).system_id != sys::SystemId::from_raw(1) {
            return Result::ERROR_SYSTEM_INVALID;
        }
        let mut stage = stage();
        stage.phase = Phase::Idle;
        stage.events.clear();
        stage.is_attached = false;
        stage.events.push_back(Event::Session(sys::SessionState::IDLE));
        *session = stage.create("session");
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_session(session: sys::Session) -> Result {
    stage().destroy("session", session)
}

pub unsafe extern "system" fn begin_session(_: sys::Session, _: *const sys::SessionBeginInfo) -> Result {
    let mut stage = stage();
    if stage.phase != Phase::Ready {
        return Result::ERROR_SESSION_NOT_READY;
    }
    stage.phase = Phase::Running;
    for state in [sys::SessionState::SYNCHRONIZED, sys::SessionState::VISIBLE, sys::SessionState::FOCUSED] {
        stage.events.push_back(Event::Session(state));
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn end_session(_: sys::Session) -> Result {
    let mut stage = stage();
    if stage.phase != Phase::Stopping {
        return Result::ERROR_SESSION_NOT_STOPPING;
    }
    stage.phase = Phase::Idle;
    log("end session");
    stage.events.push_back(Event::Session(sys::SessionState::IDLE));
    Result::SUCCESS
}

pub unsafe extern "system" fn create_reference_space(
    _: sys::Session,
    info: *const sys::ReferenceSpaceCreateInfo,
    space: *mut sys::Space,
) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe {
        if (*info).reference_space_type != sys::ReferenceSpaceType::LOCAL {
            return Result::ERROR_REFERENCE_SPACE_UNSUPPORTED;
        }
        *space = stage().create("space");
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_space(space: sys::Space) -> Result {
    stage().destroy("space", space)
}

pub unsafe extern "system" fn create_hand_tracker(
    _: sys::Session,
    info: *const sys::HandTrackerCreateInfoEXT,
    tracker: *mut sys::HandTrackerEXT,
) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe {
        let side = match (*info).hand {
            sys::HandEXT::LEFT => 0,
            sys::HandEXT::RIGHT => 1,
            _ => return Result::ERROR_VALIDATION_FAILURE,
        };
        let mut stage = stage();
        *tracker = stage.create("tracker");
        stage.trackers.push(((*tracker).into_raw(), side));
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_hand_tracker(tracker: sys::HandTrackerEXT) -> Result {
    let mut stage = stage();
    stage.trackers.retain(|(handle, _)| *handle != tracker.into_raw());
    stage.destroy("tracker", tracker)
}

pub unsafe extern "system" fn locate_hand_joints(
    tracker: sys::HandTrackerEXT,
    info: *const sys::HandJointsLocateInfoEXT,
    locations: *mut sys::HandJointLocationsEXT,
) -> Result {
    let script = Script::now();
    if script.ends("session") {
        return Result::ERROR_SESSION_LOST;
    }
    let stage = stage();
    let Some((_, side)) = stage.trackers.iter().find(|(handle, _)| *handle == tracker.into_raw()) else {
        return Result::ERROR_HANDLE_INVALID;
    };
    // SAFETY: a question, and an answer with as many joints as it says.
    unsafe {
        let locations = &mut *locations;
        if (*info).time.as_nanos() <= 0 {
            return Result::ERROR_TIME_INVALID;
        }
        if locations.joint_count as usize != sys::HAND_JOINT_COUNT_EXT {
            return Result::ERROR_VALIDATION_FAILURE;
        }
        let hand = script.hands[*side].filter(|_| stage.phase == Phase::Running);
        locations.is_active = hand.is_some().into();
        for joint in 0..sys::HAND_JOINT_COUNT_EXT {
            let is_known = !script.unknown[*side].contains(&joint);
            let [x, y, z, a, b, c, w] = hand.filter(|_| is_known).map_or([f32::NAN; 7], |joints| joints[joint]);
            let flags = if hand.is_some() && is_known { 15 } else { 0 };
            locations.joint_locations.add(joint).write(sys::HandJointLocationEXT {
                location_flags: sys::SpaceLocationFlags::from_raw(flags),
                pose: sys::Posef {
                    orientation: sys::Quaternionf { x: a, y: b, z: c, w },
                    position: sys::Vector3f { x, y, z },
                },
                radius: 0.01,
            });
        }
    }
    Result::SUCCESS
}

/// A `timespec`.
#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

pub type ConvertTime = unsafe extern "system" fn(sys::Instance, *const Timespec, *mut sys::Time) -> Result;

pub unsafe extern "system" fn convert_time(_: sys::Instance, from: *const Timespec, to: *mut sys::Time) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe { *to = sys::Time::from_nanos((*from).seconds * 1_000_000_000 + (*from).nanoseconds) };
    Result::SUCCESS
}

pub unsafe extern "system" fn string_to_path(_: sys::Instance, text: *const c_char, path: *mut sys::Path) -> Result {
    let mut stage = stage();
    // SAFETY: a string and a place for the answer.
    unsafe {
        let text = CStr::from_ptr(text).to_string_lossy().into_owned();
        let place = stage.paths.iter().position(|known| *known == text).unwrap_or_else(|| {
            stage.paths.push(text);
            stage.paths.len() - 1
        });
        *path = sys::Path::from_raw(place as u64 + 1);
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn create_action_set(
    _: sys::Instance,
    _: *const sys::ActionSetCreateInfo,
    set: *mut sys::ActionSet,
) -> Result {
    if !Script::now().has("vibration") {
        return Result::ERROR_FUNCTION_UNSUPPORTED;
    }
    // SAFETY: a place for the answer.
    unsafe { *set = stage().create("action_set") };
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_action_set(set: sys::ActionSet) -> Result {
    stage().destroy("action_set", set)
}

pub unsafe extern "system" fn create_action(
    _: sys::ActionSet,
    info: *const sys::ActionCreateInfo,
    action: *mut sys::Action,
) -> Result {
    // SAFETY: a question and a place for the answer.
    unsafe {
        if (*info).action_type != sys::ActionType::VIBRATION_OUTPUT {
            return Result::ERROR_FUNCTION_UNSUPPORTED;
        }
        *action = stage().create("action");
    }
    Result::SUCCESS
}

pub unsafe extern "system" fn destroy_action(action: sys::Action) -> Result {
    stage().destroy("action", action)
}

pub unsafe extern "system" fn suggest_bindings(
    _: sys::Instance,
    bindings: *const sys::InteractionProfileSuggestedBinding,
) -> Result {
    // SAFETY: a question.
    let profile = unsafe { (*bindings).interaction_profile };
    match stage().paths.get(profile.into_raw() as usize - 1).map(String::as_str) {
        Some("/interaction_profiles/khr/simple_controller") => Result::SUCCESS,
        _ => Result::ERROR_PATH_UNSUPPORTED,
    }
}

pub unsafe extern "system" fn attach_action_sets(
    _: sys::Session,
    _: *const sys::SessionActionSetsAttachInfo,
) -> Result {
    stage().is_attached = true;
    Result::SUCCESS
}

pub unsafe extern "system" fn sync_actions(_: sys::Session, _: *const sys::ActionsSyncInfo) -> Result {
    if stage().is_attached { Result::SUCCESS } else { Result::ERROR_ACTIONSET_NOT_ATTACHED }
}

pub unsafe extern "system" fn apply_haptic_feedback(
    _: sys::Session,
    info: *const sys::HapticActionInfo,
    feedback: *const sys::HapticBaseHeader,
) -> Result {
    // SAFETY: a question, and a vibration if its type says so.
    unsafe {
        if (*feedback).ty != sys::HapticVibration::TYPE {
            return Result::ERROR_VALIDATION_FAILURE;
        }
        let vibration = &*feedback.cast::<sys::HapticVibration>();
        log_hand("vibrate", &*info, &format!("{} {}", vibration.amplitude, vibration.duration.as_nanos()))
    }
}

pub unsafe extern "system" fn stop_haptic_feedback(_: sys::Session, info: *const sys::HapticActionInfo) -> Result {
    // SAFETY: a question.
    unsafe { log_hand("still", &*info, "") }
}

fn log_hand(what: &str, info: &sys::HapticActionInfo, how: &str) -> Result {
    let stage = stage();
    let Some(hand) = stage.paths.get((info.subaction_path.into_raw() as usize).wrapping_sub(1)) else {
        return Result::ERROR_PATH_INVALID;
    };
    log(format!("{what} {hand} {how}").trim_end());
    Result::SUCCESS
}
