//! Forces on a soft hand at the haptic rate, for the devices of that hand.

use super::error::Error;
use super::loop_thread::{LoopThread, PeriodicStep, SOLVER_BUDGET};
use crate::body::HandId;
use crate::devices::HandForces;
use crate::haptics::{LoopStatistics, Reader, Writer, latest};
use crate::sim::World;
use crate::sim::two_rate::{HandLoop, HapticReport, SegmentFeel};
use crate::tracking::Segment;

/// How long the fast loop goes on without a new step of the scene, s. The forces are zero afterwards.
const SCENE_SILENCE: f64 = 0.1;

/// A loop that computes what a soft hand feels beside a scene that the caller steps. After every step the scene hands its contact problem over through a triple
/// buffer; neither waits for the other. Stopping or dropping ends the thread and leaves the devices without force.
pub struct HandThread {
    hand: HandId,
    scene: HandLoop,
    newest: Writer<(HandLoop, HandForces)>,
    thread: LoopThread,
}

impl HandThread {
    /// Starts a loop at a rate, Hz, for a hand of a world. `feel` gets the forces in every period and must not wait. `None` if the contact method is not
    /// the convex problem, or if the world has another tool at the haptic rate.
    pub fn start(
        world: &mut World,
        hand: HandId,
        rate: f64,
        feel: impl FnMut(&HandForces) + Send + 'static,
    ) -> Result<Option<Self>, Error> {
        let Some(scene) = HandLoop::new(world, hand) else { return Ok(None) };
        let Some(body) = world.bodies.hand_ids().iter().position(|id| *id == hand) else { return Ok(None) };
        let side = world.bodies.hand(body).model().description.side;
        let nothing = HandForces { side, fingers: [0.0; 5], palm: 0.0, pressure: [0.0; 6], slip: [0.0; 6] };
        let period = 1.0 / rate;
        let (newest, problems) = latest(&(scene.clone(), nothing));
        let cost = LoopStatistics::new(period);
        let work = HandWork {
            problems,
            feel,
            nothing,
            has_problem: false,
            arrived: 0.0,
            period,
            periods: cost.clone(),
            cost,
            strongest: 0.0,
            unconverged: 0,
            aggregates: 0,
        };
        Ok(Some(Self { hand, scene, newest, thread: LoopThread::start(period, work)? }))
    }

    /// The hand.
    pub fn hand(&self) -> HandId {
        self.hand
    }

    /// Hands a step of the scene over that was just made. `felt` are the forces of the scene, of which the power of slip is passed on as it is.
    pub fn take_over(&mut self, world: &mut World, felt: &HandForces) {
        self.scene.take_over(world);
        let scene = &self.scene;
        self.newest.fill(|(slot, forces)| {
            slot.copy_from(scene);
            *forces = *felt;
        });
    }

    /// The figures so far.
    pub fn figures(&mut self) -> HapticReport {
        self.thread.figures()
    }

    /// Ends the loop and returns its figures.
    pub fn stop(self) -> Option<HapticReport> {
        self.thread.stop()
    }
}

impl std::fmt::Debug for HandThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandThread").field("hand", &self.hand).finish_non_exhaustive()
    }
}

/// What the thread owns.
struct HandWork<F> {
    problems: Reader<(HandLoop, HandForces)>,
    feel: F,
    nothing: HandForces,
    has_problem: bool,
    /// When the newest problem came, on the clock of the loop, s.
    arrived: f64,
    period: f64,
    periods: LoopStatistics,
    cost: LoopStatistics,
    strongest: f64,
    unconverged: u64,
    aggregates: usize,
}

impl<F: FnMut(&HandForces) + Send + 'static> PeriodicStep for HandWork<F> {
    fn step(&mut self, now: f64) {
        let began = std::time::Instant::now();
        self.periods.tick(now);
        if self.problems.take_new().is_some() {
            (self.has_problem, self.arrived) = (true, now);
        }
        let late = now - self.arrived;
        if !self.has_problem || late > SCENE_SILENCE {
            (self.feel)(&self.nothing);
            return;
        }
        let (hand, scene) = self.problems.last_mut();
        let budget = SOLVER_BUDGET * self.period;
        hand.step(hand.scene_time() + late, self.period, || began.elapsed().as_secs_f64() < budget);
        let forces = forces_of(hand.feel(), scene);
        self.unconverged += u64::from(!hand.has_converged());
        self.aggregates = self.aggregates.max(hand.aggregates());
        self.strongest = forces.fingers.iter().copied().fold(self.strongest.max(forces.palm), f64::max);
        (self.feel)(&forces);
        self.cost.record(began.elapsed().as_secs_f64());
    }

    fn release(&mut self) {
        (self.feel)(&self.nothing);
    }

    fn figures(&self) -> HapticReport {
        HapticReport {
            rate: 1.0 / self.period,
            periods: self.periods.report(),
            cost: self.cost.report(),
            faults: 0,
            least_energy: 0.0,
            device_force: self.strongest,
            unconverged: self.unconverged,
            constraints: self.aggregates,
        }
    }
}

/// Forces on fingers and palm from those on the segments. Forces that are not finite are zero.
fn forces_of(feel: &[SegmentFeel], scene: &HandForces) -> HandForces {
    let mut forces = HandForces { fingers: [0.0; 5], palm: 0.0, pressure: [0.0; 6], ..*scene };
    for (segment, feel) in Segment::all().zip(feel) {
        let (pressing, pressure) = (finite(feel.pressing), finite(feel.pressure));
        let part = segment.finger().map(|(finger, _)| finger as usize);
        match part {
            Some(finger) => forces.fingers[finger] += pressing,
            None => forces.palm += pressing,
        }
        let most = &mut forces.pressure[part.unwrap_or(5)];
        *most = most.max(pressure);
    }
    forces
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x.max(0.0) } else { 0.0 }
}
