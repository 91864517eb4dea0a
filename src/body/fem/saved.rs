use super::continuum::{Continuum, ContinuumState};
use super::elastic::Strains;
use super::lanes::Lanes;
use super::relaxation::Branches;
use crate::math::{Saved, StateFault, StateReader, StateWriter};

crate::saved_fields!(Strains: stretch, volume, limiting);
crate::saved_fields!(Branches: forces, last);

impl Saved for Lanes {
    fn save(&self, to: &mut StateWriter) {
        self.0.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.0.restore(from)
    }
}

impl Continuum {
    /// Saves a state of this body. The linearisation is part of it: it is that of an earlier step until an element has turned. The factor
    /// follows from it.
    pub(in crate::body) fn save(&self, state: &ContinuumState, to: &mut StateWriter) {
        state.displacement.save(to);
        state.velocity.save(to);
        state.turns.save(to);
        state.branches.save(to);
        (state.linearised, state.factored_h, state.factor.is_inverted()).save(to);
        [state.refactorisations, state.failures].save(to);
        if state.linearised {
            state.stiffness.blocks.save(to);
            state.stiffness_turns.save(to);
            state.stiffness_strains.save(to);
        }
    }

    /// Restores a state of this body, with its factor.
    pub(in crate::body) fn restore(
        &self,
        state: &mut ContinuumState,
        from: &mut StateReader<'_>,
    ) -> Result<(), StateFault> {
        state.displacement.restore(from)?;
        state.velocity.restore(from)?;
        state.turns.restore(from)?;
        state.branches.restore(from)?;
        let is_inverted: bool;
        (state.linearised, state.factored_h, is_inverted) = from.get()?;
        [state.refactorisations, state.failures] = from.get()?;
        if state.linearised {
            state.stiffness.blocks.restore(from)?;
            state.stiffness_turns.restore(from)?;
            state.stiffness_strains.restore(from)?;
            self.refactor(state, is_inverted);
        }
        Ok(())
    }
}
