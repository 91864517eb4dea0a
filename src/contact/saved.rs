use super::attachment::Attachment;
use super::condensed::Condensed;
use super::memory::{Memory, Remembered, RememberedContact};
use super::proximity::{Placed, Proximity};
use super::system::System;
use crate::math::{Saved, StateFault, StateReader, StateWriter};

crate::saved_fields!(Remembered: force, pressing, torque, sliding);
crate::saved_fields!(RememberedContact: pressure, bound, friction, part, shear);
crate::saved_fields!(Placed: weights, normal, area);

// Rows of `A⁻¹` are computed when they are first needed, with what the factor was then: solved with the inverse they differ in the last bit.
crate::saved_fields!(
    Condensed: part, epoch, stamp; lists: touched, rows, row_of, kept_compliance, compliance, kept, stiffness
);

impl<T: Saved + Default> Saved for Memory<T> {
    fn save(&self, to: &mut StateWriter) {
        to.list(self.0.iter());
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        from.list(&mut self.0)
    }
}

/// The state of contacts between vertices, which move and fade over several steps. Distances are found again.
impl Saved for Proximity {
    fn save(&self, to: &mut StateWriter) {
        self.between_before.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.contacts.clear();
        self.pairs.clear();
        self.forget_distances();
        self.between_before.restore(from)
    }
}

/// The forces of the last step, shear displacements, and cached compliances. The problems of the last step are not restored.
impl Saved for System {
    fn save(&self, to: &mut StateWriter) {
        self.memory.save(to);
        self.contact_memory.save(to);
        to.list(self.islands.link_forces.iter());
        to.list(self.islands.condensed.iter());
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.clear();
        self.memory.restore(from)?;
        self.contact_memory.restore(from)?;
        from.list(&mut self.islands.link_forces)?;
        from.list(&mut self.islands.condensed)
    }
}

/// The speed of its motor. Ends and joint are fixed when it is made.
impl Saved for Attachment {
    fn save(&self, to: &mut StateWriter) {
        self.motor_speed().save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        match (from.get()?, self.motor_speed()) {
            (Some(speed), Some(_)) => {
                self.set_motor_speed(speed);
                Ok(())
            }
            (None, None) => Ok(()),
            _ => Err(StateFault::Value("motor of an attachment")),
        }
    }
}
