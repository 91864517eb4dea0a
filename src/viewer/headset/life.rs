use openxr::SessionState;

/// What to do when the runtime changes the state of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeStep {
    /// Nothing.
    Wait,
    /// Begin the session: frames follow.
    Begin,
    /// End the session; it may begin again.
    End,
    /// Leave.
    Exit,
    /// The session is lost.
    Lose,
}

/// Follows the states of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Whether frames are to be made.
    pub is_running: bool,
    /// Whether the user's input goes to this program; otherwise the simulation pauses.
    pub is_focused: bool,
}

impl Life {
    /// Takes a state of the runtime.
    pub fn follow(&mut self, state: SessionState) -> LifeStep {
        self.is_focused = state == SessionState::FOCUSED;
        match state {
            SessionState::READY => {
                self.is_running = true;
                LifeStep::Begin
            }
            SessionState::STOPPING => {
                let was_running = std::mem::take(&mut self.is_running);
                if was_running { LifeStep::End } else { LifeStep::Wait }
            }
            SessionState::EXITING => {
                self.is_running = false;
                LifeStep::Exit
            }
            SessionState::LOSS_PENDING => {
                self.is_running = false;
                LifeStep::Lose
            }
            // IDLE, SYNCHRONIZED, VISIBLE, FOCUSED, and states of later versions.
            _ => LifeStep::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SessionState as S;

    #[test]
    fn a_session_begins_loses_focus_stops_and_begins_again() {
        let mut life = Life::default();
        let run = [
            (S::IDLE, LifeStep::Wait, false, false),
            (S::READY, LifeStep::Begin, true, false),
            (S::SYNCHRONIZED, LifeStep::Wait, true, false),
            (S::VISIBLE, LifeStep::Wait, true, false),
            (S::FOCUSED, LifeStep::Wait, true, true),
            (S::VISIBLE, LifeStep::Wait, true, false),
            (S::SYNCHRONIZED, LifeStep::Wait, true, false),
            (S::STOPPING, LifeStep::End, false, false),
            (S::IDLE, LifeStep::Wait, false, false),
            (S::READY, LifeStep::Begin, true, false),
            (S::FOCUSED, LifeStep::Wait, true, true),
            (S::STOPPING, LifeStep::End, false, false),
            (S::STOPPING, LifeStep::Wait, false, false),
            (S::EXITING, LifeStep::Exit, false, false),
        ];
        for (state, step, is_running, is_focused) in run {
            assert_eq!(life.follow(state), step, "{state:?}");
            assert_eq!(life, Life { is_running, is_focused }, "{state:?}");
        }
        assert_eq!(Life { is_running: true, is_focused: true }.follow(S::LOSS_PENDING), LifeStep::Lose);
    }
}
