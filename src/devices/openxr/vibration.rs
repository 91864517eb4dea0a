use openxr::sys;

use crate::devices::source::Vibration;
use crate::tracking::Side;

/// Interaction profiles of vibrating controllers. A runtime chooses the closest.
const VIBRATING_CONTROLLERS: [&str; 4] = [
    "/interaction_profiles/khr/simple_controller",
    "/interaction_profiles/valve/index_controller",
    "/interaction_profiles/oculus/touch_controller",
    "/interaction_profiles/htc/vive_controller",
];

/// Vibrates the controller of the user, or a glove that acts as one.
pub(super) struct Vibrator {
    set: openxr::ActionSet,
    action: openxr::Action<openxr::Haptic>,
    /// Left and right.
    hands: [openxr::Path; 2],
}

impl Vibrator {
    /// Must be called before other actions are attached to the session.
    pub(super) fn new(
        instance: &openxr::Instance,
        session: &openxr::Session<openxr::Headless>,
    ) -> Result<Self, sys::Result> {
        let path = |name: &str| instance.string_to_path(name);
        let hands = [path(openxr::USER_HAND_LEFT)?, path(openxr::USER_HAND_RIGHT)?];
        let set = instance.create_action_set("hands", "Hands", 0)?;
        let action = set.create_action("touch", "HandForces", &hands)?;
        let outputs = [Side::Left, Side::Right].map(|side| path(&format!("/user/hand/{}/output/haptic", side.name())));
        let [left, right] = outputs;
        let bindings = [openxr::Binding::new(&action, left?), openxr::Binding::new(&action, right?)];
        for controller in VIBRATING_CONTROLLERS {
            // A runtime may support only some of the controllers.
            let _ = instance.suggest_interaction_profile_bindings(path(controller)?, &bindings);
        }
        session.attach_action_sets(&[&set])?;
        Ok(Self { set, action, hands })
    }

    pub(super) fn vibrate(
        &self,
        session: &openxr::Session<openxr::Headless>,
        vibration: &Vibration,
    ) -> Result<(), sys::Result> {
        session.sync_actions(&[openxr::ActiveActionSet::new(&self.set)])?;
        let hand = self.hands[vibration.side as usize];
        let is_felt = vibration.amplitude > 0.0 && !vibration.duration.is_zero();
        if !is_felt {
            return self.action.stop_feedback(session, hand);
        }
        let duration = vibration.duration.try_into().unwrap_or(openxr::Duration::INFINITE);
        let event = openxr::HapticVibration::new()
            .amplitude(vibration.amplitude.min(1.0) as f32)
            .duration(duration)
            .frequency(openxr::FREQUENCY_UNSPECIFIED);
        self.action.apply_feedback(session, hand, &event)
    }
}
