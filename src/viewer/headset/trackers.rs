use std::ptr;

use openxr::sys::{self, Handle as _};

use super::geometry::{orientation, position};
use super::{HAND_JOINTS, JointPose, Placement, TrackedJoints, TrackingSource};
use crate::tracking::Side;

/// Hand trackers of a session, left and right.
pub struct Trackers {
    trackers: [openxr::HandTracker; 2],
    /// Whether the runtime names the source of the joints (XR_EXT_hand_tracking_data_source).
    names_source: bool,
    /// Whether it takes forces on the curl of fingers (XR_MNDX_force_feedback_curl).
    takes_forces: bool,
}

impl Trackers {
    /// `None` where the runtime tracks no hands.
    pub fn new(
        instance: &openxr::Instance,
        system: openxr::SystemId,
        session: &openxr::Session<openxr::Vulkan>,
    ) -> Option<Self> {
        let extensions = instance.exts();
        if extensions.ext_hand_tracking.is_none() || !instance.supports_hand_tracking(system).unwrap_or(false) {
            return None;
        }
        let names_source = extensions.ext_hand_tracking_data_source.is_some();
        let tracker = |hand| {
            let own = if names_source { with_sources(instance, session, hand) } else { None };
            own.or_else(|| session.create_hand_tracker(hand).ok())
        };
        let trackers = [tracker(openxr::Hand::LEFT)?, tracker(openxr::Hand::RIGHT)?];
        let takes_forces = extensions.mndx_force_feedback_curl.is_some() && has_force_feedback(instance, system);
        Some(Self { trackers, names_source, takes_forces })
    }

    /// The joints of a hand in the world at a time; `None` while it is not tracked.
    pub fn locate(
        &self,
        instance: &openxr::Instance,
        side: Side,
        room: &openxr::Space,
        time: openxr::Time,
        placement: &Placement,
    ) -> Result<Option<TrackedJoints>, sys::Result> {
        let Some(functions) = &instance.exts().ext_hand_tracking else { return Ok(None) };
        let wanted = sys::HandJointsLocateInfoEXT {
            ty: sys::HandJointsLocateInfoEXT::TYPE,
            next: ptr::null(),
            base_space: room.as_raw(),
            time,
        };
        let mut source = sys::HandTrackingDataSourceStateEXT {
            ty: sys::HandTrackingDataSourceStateEXT::TYPE,
            next: ptr::null_mut(),
            is_active: false.into(),
            data_source: sys::HandTrackingDataSourceEXT::UNOBSTRUCTED,
        };
        let mut joints = [openxr::HandJointLocation::default(); HAND_JOINTS];
        let mut found = sys::HandJointLocationsEXT {
            ty: sys::HandJointLocationsEXT::TYPE,
            next: if self.names_source { (&raw mut source).cast() } else { ptr::null_mut() },
            is_active: false.into(),
            joint_count: HAND_JOINTS as u32,
            joint_locations: joints.as_mut_ptr(),
        };
        // SAFETY: all structures outlive the call, with the number of joints of the default set.
        let result =
            unsafe { (functions.locate_hand_joints)(self.trackers[side as usize].as_raw(), &wanted, &mut found) };
        if result.into_raw() < 0 {
            return Err(result);
        }
        if !bool::from(found.is_active) {
            return Ok(None);
        }
        let source = if self.names_source && bool::from(source.is_active) {
            match source.data_source {
                sys::HandTrackingDataSourceEXT::UNOBSTRUCTED => Some(TrackingSource::Fingers),
                sys::HandTrackingDataSourceEXT::CONTROLLER => Some(TrackingSource::Controller),
                _ => None,
            }
        } else {
            None
        };
        let measured = openxr::SpaceLocationFlags::POSITION_TRACKED | openxr::SpaceLocationFlags::ORIENTATION_TRACKED;
        let count = joints.iter().filter(|joint| joint.location_flags.contains(measured)).count();
        let confidence = count as f64 / HAND_JOINTS as f64;
        Ok(Some(TrackedJoints { joints: joints.map(|joint| known(&joint, placement)), source, confidence }))
    }

    /// Resists the curl of the fingers of a hand, thumb to little finger, 0 to 1.
    pub fn push(&self, instance: &openxr::Instance, side: Side, fingers: &[f64; 5]) -> Result<(), sys::Result> {
        let Some(functions) = instance.exts().mndx_force_feedback_curl.as_ref().filter(|_| self.takes_forces) else {
            return Ok(());
        };
        let mut locations: [_; 5] = std::array::from_fn(|finger| sys::ForceFeedbackCurlApplyLocationMNDX {
            location: sys::ForceFeedbackCurlLocationMNDX::from_raw(finger as i32),
            value: fingers[finger].clamp(0.0, 1.0) as f32,
        });
        let all = sys::ForceFeedbackCurlApplyLocationsMNDX {
            ty: sys::ForceFeedbackCurlApplyLocationsMNDX::TYPE,
            next: ptr::null(),
            location_count: locations.len() as u32,
            locations: locations.as_mut_ptr(),
        };
        // SAFETY: the list outlives the call.
        let result = unsafe { (functions.apply_force_feedback_curl)(self.trackers[side as usize].as_raw(), &all) };
        if result.into_raw() < 0 { Err(result) } else { Ok(()) }
    }
}

/// A tracker that may also infer joints from a controller. `None` if the runtime refuses.
fn with_sources(
    instance: &openxr::Instance,
    session: &openxr::Session<openxr::Vulkan>,
    hand: openxr::Hand,
) -> Option<openxr::HandTracker> {
    let functions = instance.exts().ext_hand_tracking.as_ref()?;
    let mut sources = [sys::HandTrackingDataSourceEXT::UNOBSTRUCTED, sys::HandTrackingDataSourceEXT::CONTROLLER];
    let wanted = sys::HandTrackingDataSourceInfoEXT {
        ty: sys::HandTrackingDataSourceInfoEXT::TYPE,
        next: ptr::null(),
        requested_data_source_count: sources.len() as u32,
        requested_data_sources: sources.as_mut_ptr(),
    };
    let info = sys::HandTrackerCreateInfoEXT {
        ty: sys::HandTrackerCreateInfoEXT::TYPE,
        next: (&raw const wanted).cast(),
        hand,
        hand_joint_set: sys::HandJointSetEXT::DEFAULT,
    };
    let mut tracker = sys::HandTrackerEXT::NULL;
    // SAFETY: the structures outlive the call; the handle belongs to the session.
    unsafe {
        let result = (functions.create_hand_tracker)(session.as_raw(), &info, &mut tracker);
        (result.into_raw() >= 0).then(|| openxr::HandTracker::from_raw(session, tracker))
    }
}

fn has_force_feedback(instance: &openxr::Instance, system: openxr::SystemId) -> bool {
    let mut forces = sys::SystemForceFeedbackCurlPropertiesMNDX {
        ty: sys::SystemForceFeedbackCurlPropertiesMNDX::TYPE,
        next: ptr::null_mut(),
        supports_force_feedback_curl: false.into(),
    };
    // SAFETY: the chain of structures outlives the call; zero is a valid value for the others.
    let result = unsafe {
        let mut properties: sys::SystemProperties = std::mem::zeroed();
        properties.ty = sys::SystemProperties::TYPE;
        properties.next = (&raw mut forces).cast();
        (instance.fp().get_system_properties)(instance.as_raw(), system, &mut properties)
    };
    result.into_raw() >= 0 && forces.supports_force_feedback_curl.into()
}

/// The valid parts of a joint in the world.
fn known(joint: &openxr::HandJointLocation, placement: &Placement) -> JointPose {
    let flags = joint.location_flags;
    let world = &placement.world_from_room;
    let at = position(&joint.pose.position).filter(|_| flags.contains(openxr::SpaceLocationFlags::POSITION_VALID));
    let turn = orientation(&joint.pose.orientation);
    let turn = turn.filter(|_| flags.contains(openxr::SpaceLocationFlags::ORIENTATION_VALID));
    (at.map(|p| (world * nalgebra::Point3::from(p)).coords), turn.map(|q| world.rotation * q))
}
