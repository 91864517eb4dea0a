use super::friction::{Condition, StickSlide};
use super::object::{ContactStatus, ElasticObject};
use super::regions::{Carry, NO_REGION, Region, Tracker};
use crate::math::{Saved, StateFault, StateReader, StateWriter, saved_variants};

saved_variants!(Condition: Stuck, Stops, Slides, Breaks);
saved_variants!(ContactStatus: Unplaced, Free, Touching, StartedInside, BadPose);
crate::saved_fields!(StickSlide: shear, sliding, share, slid);
crate::saved_fields!(Carry: force, torque, normal_force);
crate::saved_fields!(
    Region: id, force, torque, normal_force, normal, stiffness, friction, condition, sliding, origin, displacement, depth, contacts, area, points,
    extent, place, stick, carry, cluster, is_new
);

/// The points of the tool that each region has are state: the next step follows regions by them.
impl Saved for Tracker {
    fn save(&self, to: &mut StateWriter) {
        to.list(self.regions.iter());
        self.labels.save(to);
        self.created.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        from.list(&mut self.regions)?;
        self.labels.restore(from)?;
        self.created.restore(from)?;
        let is_known = |label: &u32| *label == NO_REGION || (*label as usize) < self.regions.len();
        if self.labels.iter().all(is_known) { Ok(()) } else { Err(StateFault::Value("contact region")) }
    }
}

/// The deformed surface follows from the regions.
impl Saved for ElasticObject {
    fn save(&self, to: &mut StateWriter) {
        self.status.save(to);
        (self.tool_pose, self.last_tool_pose).save(to);
        self.tracker.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.status.restore(from)?;
        (self.tool_pose, self.last_tool_pose) = from.get()?;
        self.tracker.restore(from)?;
        self.spread_own_forces();
        self.reshape();
        Ok(())
    }
}
