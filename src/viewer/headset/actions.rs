use openxr::sys;

use super::geometry::{palm_of_grip, pose};
use super::panel::Ray;
use super::{Controller, HandPulse, Placement};
use crate::math::{Pose, Vec3};
use crate::tracking::Side;

/// Inputs of a controller.
struct Inputs {
    profile: &'static str,
    trigger: &'static str,
    squeeze: Option<&'static str>,
    /// Buttons that open the menu, left and right.
    menu: [Option<&'static str>; 2],
}

/// Interaction profiles. A runtime chooses the closest.
const CONTROLLERS: [Inputs; 4] = [
    Inputs {
        profile: "/interaction_profiles/khr/simple_controller",
        trigger: "input/select/click",
        squeeze: None,
        menu: [Some("input/menu/click"), Some("input/menu/click")],
    },
    Inputs {
        profile: "/interaction_profiles/valve/index_controller",
        trigger: "input/trigger/value",
        squeeze: Some("input/squeeze/value"),
        menu: [Some("input/b/click"), Some("input/b/click")],
    },
    Inputs {
        profile: "/interaction_profiles/oculus/touch_controller",
        trigger: "input/trigger/value",
        squeeze: Some("input/squeeze/value"),
        menu: [Some("input/menu/click"), Some("input/b/click")],
    },
    Inputs {
        profile: "/interaction_profiles/htc/vive_controller",
        trigger: "input/trigger/value",
        squeeze: Some("input/squeeze/click"),
        menu: [Some("input/menu/click"), Some("input/menu/click")],
    },
];

/// Part of the trigger that presses a button of the menu.
const PRESS: f32 = 0.6;

/// Controllers: pose, trigger, grip, menu button, vibration.
pub struct Actions {
    set: openxr::ActionSet,
    grip: openxr::Action<openxr::Posef>,
    aim: openxr::Action<openxr::Posef>,
    menu: openxr::Action<bool>,
    trigger: openxr::Action<f32>,
    squeeze: openxr::Action<f32>,
    vibration: openxr::Action<openxr::Haptic>,
    /// Left and right.
    hands: [openxr::Path; 2],
    spaces: [openxr::Space; 2],
    aims: [openxr::Space; 2],
}

impl Actions {
    pub fn new(instance: &openxr::Instance, session: &openxr::Session<openxr::Vulkan>) -> Result<Self, sys::Result> {
        let path = |name: &str| instance.string_to_path(name);
        let hands = [path(openxr::USER_HAND_LEFT)?, path(openxr::USER_HAND_RIGHT)?];
        let set = instance.create_action_set("hands", "Hands", 0)?;
        let grip = set.create_action("grip", "Hand pose", &hands)?;
        let aim = set.create_action("aim", "Pointing direction", &hands)?;
        let menu = set.create_action("menu", "Open or close the menu", &hands)?;
        let trigger = set.create_action("trigger", "Curl thumb and index finger", &hands)?;
        let squeeze = set.create_action("squeeze", "Curl the other fingers", &hands)?;
        let vibration = set.create_action("touch", "Contact", &hands)?;
        for controller in CONTROLLERS {
            let mut bindings = Vec::new();
            for (number, side) in ["left", "right"].into_iter().enumerate() {
                let input = |name: &str| path(&format!("/user/hand/{side}/{name}"));
                bindings.push(openxr::Binding::new(&grip, input("input/grip/pose")?));
                bindings.push(openxr::Binding::new(&aim, input("input/aim/pose")?));
                bindings.push(openxr::Binding::new(&trigger, input(controller.trigger)?));
                if let Some(press) = controller.squeeze {
                    bindings.push(openxr::Binding::new(&squeeze, input(press)?));
                }
                if let Some(button) = controller.menu[number] {
                    bindings.push(openxr::Binding::new(&menu, input(button)?));
                }
                bindings.push(openxr::Binding::new(&vibration, input("output/haptic")?));
            }
            // A runtime may support only some of the controllers.
            let _ = instance.suggest_interaction_profile_bindings(path(controller.profile)?, &bindings);
        }
        session.attach_action_sets(&[&set])?;
        let space =
            |action: &openxr::Action<openxr::Posef>, hand| action.create_space(session, hand, openxr::Posef::IDENTITY);
        let spaces = [space(&grip, hands[0])?, space(&grip, hands[1])?];
        let aims = [space(&aim, hands[0])?, space(&aim, hands[1])?];
        Ok(Self { set, grip, aim, menu, trigger, squeeze, vibration, hands, spaces, aims })
    }

    /// Reads the state of all inputs.
    pub fn sync(&self, session: &openxr::Session<openxr::Vulkan>) -> Result<(), sys::Result> {
        session.sync_actions(&[openxr::ActiveActionSet::new(&self.set)])
    }

    /// The controller of a hand at a time.
    pub fn controller(
        &self,
        session: &openxr::Session<openxr::Vulkan>,
        side: Side,
        room: &openxr::Space,
        time: openxr::Time,
        placement: &Placement,
    ) -> Result<Option<Controller>, sys::Result> {
        let hand = self.hands[side as usize];
        let active = self.grip.is_active(session, hand)?;
        let Some(grip) = located(&self.spaces[side as usize], active, room, time)? else { return Ok(None) };
        let value = |action: &openxr::Action<f32>| -> Result<f64, sys::Result> {
            let state = action.state(session, hand)?;
            Ok(if state.is_active { f64::from(state.current_state).clamp(0.0, 1.0) } else { 0.0 })
        };
        let palm = placement.pose(&palm_of_grip(&grip, side == Side::Right));
        Ok(Some(Controller { palm, trigger: value(&self.trigger)?, squeeze: value(&self.squeeze)? }))
    }

    /// Where a controller points in the world, and whether its trigger is pulled.
    pub fn ray(
        &self,
        session: &openxr::Session<openxr::Vulkan>,
        side: Side,
        room: &openxr::Space,
        time: openxr::Time,
        placement: &Placement,
    ) -> Result<Option<Ray>, sys::Result> {
        let hand = self.hands[side as usize];
        let active = self.aim.is_active(session, hand)?;
        let Some(aim) = located(&self.aims[side as usize], active, room, time)? else { return Ok(None) };
        let aim = placement.pose(&aim);
        let trigger = self.trigger.state(session, hand)?;
        let is_pressed = trigger.is_active && trigger.current_state > PRESS;
        Ok(Some(Ray { origin: aim.translation.vector, direction: aim.rotation * -Vec3::z(), is_pressed }))
    }

    /// Whether the button of the menu was pressed since the last look, on either side.
    pub fn menu_pressed(&self, session: &openxr::Session<openxr::Vulkan>) -> Result<bool, sys::Result> {
        let mut pressed = false;
        for hand in self.hands {
            let state = self.menu.state(session, hand)?;
            pressed |= state.is_active && state.current_state && state.changed_since_last_sync;
        }
        Ok(pressed)
    }

    /// Vibrates a controller. Success codes such as "not focused" are no errors.
    pub fn vibrate(&self, session: &openxr::Session<openxr::Vulkan>, pulse: &HandPulse) -> Result<(), sys::Result> {
        let hand = self.hands[pulse.side as usize];
        let duration = std::time::Duration::try_from_secs_f64(pulse.duration).unwrap_or_default();
        if pulse.amplitude <= 0.0 || duration.is_zero() {
            return self.vibration.stop_feedback(session, hand);
        }
        let duration = duration.try_into().unwrap_or(openxr::Duration::INFINITE);
        let event = openxr::HapticVibration::new()
            .amplitude(pulse.amplitude.min(1.0) as f32)
            .duration(duration)
            .frequency(openxr::FREQUENCY_UNSPECIFIED);
        self.vibration.apply_feedback(session, hand, &event)
    }
}

/// Pose of a space in another one, if it is known.
fn located(
    space: &openxr::Space,
    is_active: bool,
    room: &openxr::Space,
    time: openxr::Time,
) -> Result<Option<Pose>, sys::Result> {
    if !is_active {
        return Ok(None);
    }
    let location = space.locate(room, time)?;
    let valid = openxr::SpaceLocationFlags::POSITION_VALID | openxr::SpaceLocationFlags::ORIENTATION_VALID;
    Ok(pose(&location.pose).filter(|_| location.location_flags.contains(valid)))
}
