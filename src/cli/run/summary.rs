use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::assets::Scene;
use crate::body::{QuasiRigidBody, SoftBody};
use crate::sim::two_rate::HapticReport;
use crate::sim::{StageTimes, World};
use crate::tracking::PHALANGES;

/// Summary of a run.
#[derive(Default)]
pub struct Summary {
    contacts: Count,
    constraints: Count,
    iterations: Count,
    /// Stage times of each step.
    times: Vec<StageTimes>,
    step: Vec<f64>,
    penetration: f64,
    residual: f64,
    unconverged: usize,
    /// Total time of each stage and of all steps, s.
    spent: [f64; 7],
    spent_in_steps: f64,
    /// Wall time of the run, s.
    pub wall: f64,
}

/// A count sampled every step.
#[derive(Default)]
struct Count {
    sum: usize,
    max: usize,
}

impl Count {
    fn add(&mut self, count: usize) {
        self.sum += count;
        self.max = self.max.max(count);
    }

    fn mean(&self, steps: usize) -> f64 {
        self.sum as f64 / steps.max(1) as f64
    }
}

/// Statistics of times, ms.
pub struct TimeStatistics {
    pub median: f64,
    pub p99: f64,
    pub max: f64,
}

impl TimeStatistics {
    pub fn of(seconds: &[f64]) -> Self {
        let mut sorted = seconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
            1e3 * sorted.get(place).copied().unwrap_or(0.0)
        };
        Self { median: at(0.5), p99: at(0.99), max: at(1.0) }
    }

    pub fn as_json(&self) -> Value {
        json!({ "median": self.median, "p99": self.p99, "max": self.max })
    }
}

impl Summary {
    /// Adds a step of some duration, s.
    pub fn add(&mut self, world: &World, seconds: f64) {
        let statistics = world.statistics();
        self.contacts.add(statistics.contacts);
        self.constraints.add(statistics.constraints);
        self.iterations.add(statistics.iterations);
        self.times.push(*world.times());
        self.spent.iter_mut().zip(world.times().stages()).for_each(|(sum, time)| *sum += time);
        self.spent_in_steps += world.times().total;
        self.step.push(seconds);
        self.penetration = self.penetration.max(statistics.penetration);
        self.residual = self.residual.max(statistics.residual);
        self.unconverged += statistics.unconverged;
    }

    /// The object of `run --json`.
    pub fn as_json(&self, scene: &Scene) -> Value {
        let (world, steps) = (&scene.world, self.step.len());
        let count = |count: &Count| json!({ "mean": count.mean(steps), "max": count.max });
        json!({
            "scene": scene.name,
            "script": null,
            "method": world.parameters.contact.method.name(),
            "friction": world.parameters.contact.friction.name(),
            "dt": world.parameters.dt,
            "steps": steps,
            "sim_seconds": self.sim_seconds(world),
            "wall_seconds": self.wall,
            "realtime_factor": self.realtime_factor(world),
            "phalanges": PHALANGES * world.bodies.hand_ids().len(),
            "tetrahedra": tetrahedra(scene),
            "contacts": count(&self.contacts),
            "constraints": count(&self.constraints),
            "stages_ms": self.stages().map(|(name, spread)| (name.to_string(), spread.as_json())).collect::<Map<_, _>>(),
            "contact_ms": self.contact().as_json(),
            "step_ms": TimeStatistics::of(&self.step).as_json(),
            "max_penetration_mm": 1e3 * self.penetration,
            "solver": {
                "iterations_mean": self.iterations.mean(steps),
                "residual_max": self.residual,
                "not_converged": self.unconverged,
            },
            "haptic": scene.haptic.as_ref().map(|haptic| haptic_json(&haptic.figures(), haptic.is_live())),
            "task": null,
            "state_hash": format!("{:016x}", world.state_hash()),
        })
    }

    /// The same as text.
    pub fn print(&self, scene: &Scene) {
        let (world, steps) = (&scene.world, self.step.len());
        let contact = &world.parameters.contact;
        let bodies = &world.bodies;
        println!("{}: {steps} steps of {} ms", scene.name, 1e3 * world.parameters.dt);
        println!();
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        bodies.iter().for_each(|(_, body)| *kinds.entry(body.kind()).or_default() += 1);
        let counts: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let counts = counts.join(", ");
        println!("bodies          {counts}; tetrahedra {}", tetrahedra(scene));
        println!("contact         {}, friction {}", contact.method.name(), contact.friction.name());
        let factor = self.realtime_factor(world);
        println!("time            {:.3} s in {:.3} s, {factor:.1} × real time", self.sim_seconds(world), self.wall);
        println!("penetration     {:.4} mm at most", 1e3 * self.penetration);
        let (residual, unconverged) = (self.residual, self.unconverged);
        println!("solver          residual {residual:.1e} at most, {unconverged} times not converged");
        if let Some(haptic) = &scene.haptic {
            print_haptic(&haptic.figures(), haptic.is_live());
        }
        println!();
        println!("{:<15} {:>9} {:>9}", "per step", "mean", "max");
        for (name, count) in
            [("contacts", &self.contacts), ("constraints", &self.constraints), ("iterations", &self.iterations)]
        {
            println!("{name:<15} {:>9.1} {:>9}", count.mean(steps), count.max);
        }
        println!();
        println!("{:<15} {:>9} {:>9} {:>9}", "ms", "median", "p99", "max");
        let whole = [("contact", self.contact()), ("step", TimeStatistics::of(&self.step))];
        for (name, t) in self.stages().filter(|(_, t)| t.max > 0.0).chain(whole) {
            println!("{:<15} {:>9.4} {:>9.4} {:>9.4}", name.replace('_', " "), t.median, t.p99, t.max);
        }
        println!();
        let movable = || bodies.iter().filter(|(_, body)| body.mass().is_some());
        if movable().next().is_some() {
            println!("{:<15} {:>9} {:>9} {:>9}   velocity (m/s)", "at the end (m)", "x", "y", "z");
        }
        for (id, body) in movable() {
            let (name, p) = (bodies.name(id), body.pose().translation.vector);
            println!("{name:<15} {:>9.4} {:>9.4} {:>9.4}   {:.4}", p.x, p.y, p.z, body.centre_velocity().norm());
        }
        println!("state           {:016x}", world.state_hash());
    }

    /// Statistics of the stages by name.
    fn stages(&self) -> impl Iterator<Item = (&'static str, TimeStatistics)> + '_ {
        let samples = |place: usize| self.times.iter().map(|t| t.stages()[place]).collect::<Vec<_>>();
        StageTimes::NAMES.into_iter().enumerate().map(move |(place, name)| (name, TimeStatistics::of(&samples(place))))
    }

    /// Statistics of all stages except free motion and proximity.
    fn contact(&self) -> TimeStatistics {
        TimeStatistics::of(&self.times.iter().map(StageTimes::contact).collect::<Vec<_>>())
    }

    /// Means of the stages, of contact and of the whole step, ms.
    pub fn means(&self) -> Value {
        let mean = |of: &dyn Fn(&StageTimes) -> f64| {
            json!(1e3 * self.times.iter().map(of).sum::<f64>() / self.times.len().max(1) as f64)
        };
        let stages = StageTimes::NAMES.into_iter().enumerate();
        let mut means: Map<_, _> =
            stages.map(|(place, name)| (name.to_string(), mean(&|t| t.stages()[place]))).collect();
        means.insert("contact".into(), mean(&StageTimes::contact));
        means.insert("step".into(), json!(1e3 * self.step.iter().sum::<f64>() / self.step.len().max(1) as f64));
        Value::Object(means)
    }

    /// What takes the time of a run that is far slower than real time; `None` for other runs.
    pub fn slow(&self, world: &World) -> Option<String> {
        let what = slow_stage(self.spent_in_steps, self.sim_seconds(world), &self.spent)?;
        let statistics = world.statistics();
        let (contacts, constraints) = (statistics.contacts, statistics.constraints);
        Some(format!("{what}; the last step has {contacts} contacts and {constraints} constraints"))
    }

    fn realtime_factor(&self, world: &World) -> f64 {
        self.sim_seconds(world) / self.wall.max(f64::MIN_POSITIVE)
    }

    /// Simulated time of all steps, s; the time of a script's trial starts at zero.
    fn sim_seconds(&self, world: &World) -> f64 {
        self.step.len() as f64 * world.parameters.dt
    }
}

/// The haptic loop in `run --json`.
fn haptic_json(figures: &HapticReport, live: bool) -> Value {
    let (periods, cost) = (&figures.periods, &figures.cost);
    // In lockstep the period is always the nominal one.
    let period = live.then(|| {
        json!({
            "median": 1e3 * periods.median, "p99": 1e3 * periods.p99, "p999": 1e3 * periods.p999,
            "max": 1e3 * periods.longest,
        })
    });
    let missed = if live { periods } else { cost }.missed_deadlines;
    json!({
        "rate": figures.rate,
        "steps": cost.count,
        "force_difference": periods.force_difference,
        "peak_force": periods.peak_force,
        "device_force": figures.device_force,
        "least_energy": figures.least_energy,
        "faults": figures.faults,
        "constraints_max": figures.constraints,
        "not_converged": figures.unconverged,
        "step_ms": { "median": 1e3 * cost.median, "p99": 1e3 * cost.p99, "max": 1e3 * cost.longest },
        "period_ms": period,
        "missed_deadlines": missed,
    })
}

/// The haptic loop as text.
fn print_haptic(figures: &HapticReport, live: bool) {
    let (periods, cost) = (&figures.periods, &figures.cost);
    let (rate, difference, peak) = (figures.rate, periods.force_difference, periods.peak_force);
    println!(
        "haptic loop     {rate:.0} Hz, forces of both loops differ by {difference:.4} N at most, peak {peak:.4} N"
    );
    let (median, p99, longest) = (1e3 * cost.median, 1e3 * cost.p99, 1e3 * cost.longest);
    println!("haptic step     median {median:.4} ms, p99 {p99:.4} ms, max {longest:.4} ms");
    if live {
        let (median, p99, longest) = (1e3 * periods.median, 1e3 * periods.p99, 1e3 * periods.longest);
        println!("haptic period   median {median:.3} ms, p99 {p99:.3} ms, max {longest:.3} ms");
        let (missed, faults, energy) = (periods.missed_deadlines, figures.faults, figures.least_energy);
        println!("haptic device   {missed} deadlines missed, {faults} faults, least energy {energy:.2e} J");
    }
}

/// Number of elements of phalanges, soft and quasi-rigid bodies.
fn tetrahedra(scene: &Scene) -> usize {
    let phalanges = scene.models().flat_map(|model| &model.meshes[1..]).map(|mesh| mesh.tissue.tets.len());
    let soft = scene.world.bodies.of::<SoftBody>().map(|(_, body)| body.model().elements().len());
    let quasi_rigid = scene.world.bodies.of::<QuasiRigidBody>().map(|(_, body)| body.size()[1]);
    phalanges.chain(soft).chain(quasi_rigid).sum()
}

/// Message that names the slowest stage, if the run was far slower than real time. Times are in seconds.
fn slow_stage(spent: f64, simulated: f64, stages: &[f64; 7]) -> Option<String> {
    const FAR: f64 = 3.0;
    const LONG: f64 = 2.0;
    let (name, most) = StageTimes::NAMES.into_iter().zip(stages).max_by(|a, b| a.1.total_cmp(b.1))?;
    (spent > LONG && spent > FAR * simulated).then(|| {
        format!(
            "the run is far slower than real time: {simulated:.2} s simulated in {spent:.1} s, {:.0} % of it in `{name}`",
            100.0 * most / spent
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands that begin in the same place took seconds a step, and nothing said why.
    #[test]
    fn a_slow_run_says_what_takes_the_time() {
        let stages = [0.1, 0.4, 0.0, 0.0, 7.5, 0.0, 0.0];
        let message = slow_stage(8.0, 0.2, &stages).expect("it is slow");
        assert!(message.contains("0.20 s simulated in 8.0 s, 94 % of it in `solve`"), "{message}");
        assert_eq!(slow_stage(8.0, 5.0, &stages), None, "somewhat slower than real time");
        assert_eq!(slow_stage(1.5, 0.1, &stages), None, "short");
    }
}
