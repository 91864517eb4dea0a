use gilrs::ff::{BaseEffect, BaseEffectType, Effect, EffectBuilder, Repeat, Replay, Ticks};
use gilrs::{GamepadId, Gilrs};

use crate::devices::haptics::Pulse;

/// Update interval of the motors: gamepads miss pulses shorter than 50 ms.
const PULSE_INTERVAL: u32 = 100;

/// The motors of a gamepad, driven together.
pub(super) struct Rumble(Effect);

impl Rumble {
    /// Those of a gamepad; `None` if it has none.
    pub fn of(gilrs: &mut Gilrs, id: GamepadId) -> Option<Self> {
        if !gilrs.gamepad(id).is_ff_supported() {
            return None;
        }
        let scheduling = Replay { play_for: Ticks::from_ms(PULSE_INTERVAL), ..Replay::default() };
        let motor = |kind| BaseEffect { kind, scheduling, ..BaseEffect::default() };
        let mut builder = EffectBuilder::new();
        builder
            .add_effect(motor(BaseEffectType::Strong { magnitude: u16::MAX }))
            .add_effect(motor(BaseEffectType::Weak { magnitude: u16::MAX }))
            .gamepads(&[id]);
        builder.finish(gilrs).ok().map(Self)
    }

    /// Motor errors are ignored.
    pub fn play(&self, pulse: &Pulse) {
        if pulse.amplitude <= 0.0 {
            let _ = self.0.stop();
            return;
        }
        let length = Ticks::from_ms(((1e3 * pulse.duration) as u32).max(PULSE_INTERVAL));
        let _ = self.0.set_gain(pulse.amplitude.min(1.0) as f32);
        let _ = self.0.set_repeat(Repeat::For(length));
        let _ = self.0.play();
    }
}
