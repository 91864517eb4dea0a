use gilrs::ff::{BaseEffect, BaseEffectType, Effect, EffectBuilder, Repeat, Replay, Ticks};
use gilrs::{GamepadId, Gilrs};

use crate::devices::haptics::Pulse;

/// The motors of a gamepad are told every 50 ms; a shorter pulse would be missed.
const SHORTEST: u32 = 100;

/// The motors of a gamepad, both as one.
pub(super) struct Rumble(Effect);

impl Rumble {
    /// Those of a gamepad; `None` if it has none.
    pub fn of(gilrs: &mut Gilrs, id: GamepadId) -> Option<Self> {
        if !gilrs.gamepad(id).is_ff_supported() {
            return None;
        }
        let scheduling = Replay { play_for: Ticks::from_ms(SHORTEST), ..Replay::default() };
        let motor = |kind| BaseEffect { kind, scheduling, ..BaseEffect::default() };
        let mut builder = EffectBuilder::new();
        builder
            .add_effect(motor(BaseEffectType::Strong { magnitude: u16::MAX }))
            .add_effect(motor(BaseEffectType::Weak { magnitude: u16::MAX }))
            .gamepads(&[id]);
        builder.finish(gilrs).ok().map(Self)
    }

    /// What goes wrong with a motor is not worth the gamepad.
    pub fn play(&self, pulse: &Pulse) {
        if pulse.amplitude <= 0.0 {
            let _ = self.0.stop();
            return;
        }
        let length = Ticks::from_ms(((1e3 * pulse.duration) as u32).max(SHORTEST));
        let _ = self.0.set_gain(pulse.amplitude.min(1.0) as f32);
        let _ = self.0.set_repeat(Repeat::For(length));
        let _ = self.0.play();
    }
}
