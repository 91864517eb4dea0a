use std::collections::BTreeMap;
use std::sync::Arc;

use super::callback::Callback;
use super::grasp::GraspMeter;

/// Goals and failure conditions of a script.
#[derive(Default)]
pub struct Task {
    /// Name; default: that of the script.
    pub name: Option<String>,
    /// Goals.
    pub goals: Vec<Goal>,
    /// Failure conditions.
    pub failures: Vec<(String, Arc<Callback>)>,
    /// Event handlers by kind of event.
    pub handlers: Vec<(String, Arc<Callback>)>,
    /// Time by which all goals must be reached, s.
    pub timeout: Option<f64>,
    /// Phases so far.
    pub phases: Vec<Phase>,
    /// The score, if there is one.
    pub score: Option<f64>,
    /// Reported metrics.
    pub metrics: BTreeMap<String, f64>,
    /// Number of trials, and of required successes.
    pub trials: Option<(u64, u64)>,
    /// Verdict and reason.
    pub verdict: Option<(bool, String)>,
    /// Grasp measurements.
    pub grasp: Option<GraspMeter>,
}

/// A goal.
pub struct Goal {
    /// Its name.
    pub name: String,
    /// Condition.
    pub condition: Arc<Callback>,
    /// State.
    pub state: GoalState,
}

/// State of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoalState {
    /// Required hold time, s.
    pub hold: f64,
    /// Start of the hold, s.
    pub since: Option<f64>,
    /// Time when it was reached, s.
    pub reached: Option<f64>,
}

impl GoalState {
    /// Updates it with the condition at a time.
    pub fn judge(&mut self, holds: bool, now: f64) {
        self.since = holds.then(|| self.since.unwrap_or(now));
        if self.since.is_some_and(|since| now - since >= self.hold - 1e-9) {
            self.reached = self.reached.or(Some(now));
        }
    }
}

/// A phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Start, s.
    pub start: f64,
    /// End, s.
    pub end: f64,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Whether it succeeded.
    pub success: bool,
    /// Reason.
    pub reason: String,
    /// The score, if the script keeps one.
    pub score: Option<f64>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// Phases.
    pub phases: Vec<Phase>,
}

/// Result of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOutcome {
    /// Its name.
    pub name: String,
    /// Whether enough trials succeeded.
    pub success: bool,
    /// Reason.
    pub reason: String,
    /// The mean score of the trials.
    pub score: Option<f64>,
    /// Mean metrics of the trials.
    pub metrics: BTreeMap<String, f64>,
    /// Phases of the last trial.
    pub phases: Vec<Phase>,
    /// Every trial.
    pub trials: Vec<TrialOutcome>,
}

impl Task {
    /// Whether anything must be evaluated after a step.
    pub fn has_rules(&self) -> bool {
        !(self.goals.is_empty() && self.failures.is_empty() && self.handlers.is_empty())
    }

    /// Goals that are not reached yet.
    pub fn open_goals(&self) -> Vec<(usize, String, Arc<Callback>)> {
        let open = self.goals.iter().enumerate().filter(|(_, goal)| goal.state.reached.is_none());
        open.map(|(place, goal)| (place, goal.name.clone(), goal.condition.clone())).collect()
    }

    /// Maximum hold time of an open goal, s; `None` if all are reached.
    pub fn longest_hold(&self) -> Option<f64> {
        let open = self.goals.iter().map(|goal| goal.state).filter(|state| state.reached.is_none());
        open.map(|state| state.hold).max_by(f64::total_cmp)
    }

    /// Starts a phase, and ends the previous one.
    pub fn begin_phase(&mut self, name: String, now: f64) {
        self.end_phase(now);
        self.phases.push(Phase { name, start: now, end: now });
    }

    /// Ends the last phase.
    pub fn end_phase(&mut self, now: f64) {
        if let Some(phase) = self.phases.last_mut() {
            phase.end = now;
        }
    }

    /// Names of the open goals, for messages.
    pub fn missing(&self) -> String {
        let open: Vec<String> =
            self.goals.iter().filter(|g| g.state.reached.is_none()).map(|g| format!("`{}`", g.name)).collect();
        match open.as_slice() {
            [only] => format!("goal {only}"),
            several => format!("goals {}", several.join(", ")),
        }
    }

    /// Its result.
    pub fn outcome(&self) -> TrialOutcome {
        let (success, reason) = self.verdict.clone().unwrap_or((true, "the script ended".into()));
        let mut metrics = self.grasp.as_ref().map(GraspMeter::metrics).unwrap_or_default();
        metrics.extend(self.metrics.clone());
        TrialOutcome { success, reason, score: self.score, metrics, phases: self.phases.clone() }
    }
}

impl TaskOutcome {
    /// Result of the trials of a task with a required number of successes.
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
    fn a_goal_must_hold_continuously() {
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
