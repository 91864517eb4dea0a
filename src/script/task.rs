use std::collections::BTreeMap;
use std::sync::Arc;

use super::callback::Callback;
use super::grasp::GraspMeter;

/// What a script wants to come true, and what must not.
#[derive(Default)]
pub struct Task {
    /// Its name; the script's if it gives none.
    pub name: Option<String>,
    /// What must come true.
    pub goals: Vec<Goal>,
    /// What must not.
    pub failures: Vec<(String, Arc<Callback>)>,
    /// Closures that are called on events, by the kind of event.
    pub handlers: Vec<(String, Arc<Callback>)>,
    /// Time by which all goals must be reached, s.
    pub timeout: Option<f64>,
    /// The parts of the story so far.
    pub phases: Vec<Phase>,
    /// The score, if there is one.
    pub score: Option<f64>,
    /// Numbers that the script reports.
    pub metrics: BTreeMap<String, f64>,
    /// How often it is to be tried, and how often it has to succeed.
    pub trials: Option<(u64, u64)>,
    /// Whether it succeeded, and why.
    pub verdict: Option<(bool, String)>,
    /// What is measured of a grasp.
    pub grasp: Option<GraspMeter>,
}

/// Something that must come true.
pub struct Goal {
    /// Its name.
    pub name: String,
    /// When it holds.
    pub condition: Arc<Callback>,
    /// How it stands.
    pub state: GoalState,
}

/// How a goal stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoalState {
    /// For how long it must hold without a break, s.
    pub hold: f64,
    /// Since when it holds, s.
    pub since: Option<f64>,
    /// When it was reached, s.
    pub reached: Option<f64>,
}

impl GoalState {
    /// Takes in whether it holds at a time.
    pub fn judge(&mut self, holds: bool, now: f64) {
        self.since = holds.then(|| self.since.unwrap_or(now));
        if self.since.is_some_and(|since| now - since >= self.hold - 1e-9) {
            self.reached = self.reached.or(Some(now));
        }
    }
}

/// A part of the story.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began, s.
    pub start: f64,
    /// When it ended, s.
    pub end: f64,
}

/// How a trial of a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Whether it succeeded.
    pub success: bool,
    /// Why, in words.
    pub reason: String,
    /// The score, if the script keeps one.
    pub score: Option<f64>,
    /// What was measured.
    pub metrics: BTreeMap<String, f64>,
    /// The parts of the story.
    pub phases: Vec<Phase>,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOutcome {
    /// Its name.
    pub name: String,
    /// Whether it succeeded, in as many trials as it had to.
    pub success: bool,
    /// Why, in words.
    pub reason: String,
    /// The mean score of the trials.
    pub score: Option<f64>,
    /// The means of what was measured in the trials.
    pub metrics: BTreeMap<String, f64>,
    /// The parts of the story of the last trial.
    pub phases: Vec<Phase>,
    /// Every trial.
    pub trials: Vec<TrialOutcome>,
}

impl Task {
    /// Whether there is anything to be looked at after a step.
    pub fn has_rules(&self) -> bool {
        !(self.goals.is_empty() && self.failures.is_empty() && self.handlers.is_empty())
    }

    /// Goals that are not reached yet.
    pub fn open_goals(&self) -> Vec<(usize, String, Arc<Callback>)> {
        let open = self.goals.iter().enumerate().filter(|(_, goal)| goal.state.reached.is_none());
        open.map(|(place, goal)| (place, goal.name.clone(), goal.condition.clone())).collect()
    }

    /// The longest time for which an open goal must hold, s; `None` if all are reached.
    pub fn longest_hold(&self) -> Option<f64> {
        let open = self.goals.iter().map(|goal| goal.state).filter(|state| state.reached.is_none());
        open.map(|state| state.hold).max_by(f64::total_cmp)
    }

    /// Begins a part of the story, and ends the one before.
    pub fn begin_phase(&mut self, name: String, now: f64) {
        self.end_phase(now);
        self.phases.push(Phase { name, start: now, end: now });
    }

    /// Ends the last part of the story.
    pub fn end_phase(&mut self, now: f64) {
        if let Some(phase) = self.phases.last_mut() {
            phase.end = now;
        }
    }

    /// Names of the goals that are not reached, for people.
    pub fn missing(&self) -> String {
        let open: Vec<String> =
            self.goals.iter().filter(|g| g.state.reached.is_none()).map(|g| format!("`{}`", g.name)).collect();
        match open.as_slice() {
            [only] => format!("goal {only}"),
            several => format!("goals {}", several.join(", ")),
        }
    }

    /// How it ended.
    pub fn outcome(&self) -> TrialOutcome {
        let (success, reason) = self.verdict.clone().unwrap_or((true, "the script came to its end".into()));
        let mut metrics = self.grasp.as_ref().map(GraspMeter::metrics).unwrap_or_default();
        metrics.extend(self.metrics.clone());
        TrialOutcome { success, reason, score: self.score, metrics, phases: self.phases.clone() }
    }
}

impl TaskOutcome {
    /// What a task's trials come to; it has to succeed in so many of them.
    pub fn of(name: String, trials: Vec<TrialOutcome>, needed: u64) -> Self {
        let good = trials.iter().filter(|trial| trial.success).count();
        let last = trials.last();
        let reason = match trials.as_slice() {
            [only] => only.reason.clone(),
            _ => {
                let first = trials.iter().position(|trial| !trial.success);
                let first = first.map(|i| format!("; trial {}: {}", i + 1, trials[i].reason)).unwrap_or_default();
                format!("{good} of {} trials succeeded, {needed} had to{first}", trials.len())
            }
        };
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for (key, value) in trials.iter().flat_map(|trial| &trial.metrics) {
            let (sum, count) = sums.entry(key.clone()).or_default();
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        let scores: Vec<f64> = trials.iter().filter_map(|trial| trial.score).collect();
        Self {
            name,
            success: good as u64 >= needed,
            reason,
            score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
            metrics: sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect(),
            phases: last.map(|trial| trial.phases.clone()).unwrap_or_default(),
            trials,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_must_hold_without_a_break() {
        let mut goal = GoalState { hold: 0.03, ..GoalState::default() };
        for (i, holds) in [true, true, false, true, true, true].into_iter().enumerate() {
            goal.judge(holds, 0.01 * i as f64);
        }
        assert_eq!((goal.since, goal.reached), (Some(0.03), None));
        goal.judge(true, 0.06);
        assert_eq!(goal.reached, Some(0.06));
        goal.judge(false, 0.07);
        assert_eq!(goal.reached, Some(0.06), "what was reached stays reached");
    }

    #[test]
    fn trials_are_counted_and_their_metrics_averaged() {
        let trial = |success, lift| TrialOutcome {
            success,
            reason: "because".into(),
            score: None,
            metrics: BTreeMap::from([("lift_mm".to_string(), lift)]),
            phases: Vec::new(),
        };
        let outcome = TaskOutcome::of("t".into(), vec![trial(true, 1.0), trial(false, 2.0), trial(true, 6.0)], 2);
        assert!(outcome.success);
        assert_eq!(outcome.metrics["lift_mm"], 3.0);
        assert_eq!(outcome.reason, "2 of 3 trials succeeded, 2 had to; trial 2: because");
        assert_eq!(TaskOutcome::of("t".into(), vec![trial(false, 1.0)], 1).reason, "because");
    }
}
