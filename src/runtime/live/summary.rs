use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::assets::Scene;
use crate::body::BodyId;
use crate::math::Vec3;
use crate::runtime::Session;
use crate::sim::World;
use crate::viewer::window::Card;

/// Makes the result card of a scene that has no task.
pub type Summarize = fn(&Scene, &RunStatistics) -> Card;

/// Number of messages kept.
const MAX_MESSAGES: usize = 8;

/// Statistics of a run.
#[derive(Default)]
pub struct RunStatistics {
    /// Centres of the bodies at the start, m.
    pub starts: BTreeMap<BodyId, Vec3>,
    /// Deepest penetration of all steps, m.
    pub deepest: f64,
    times: Vec<f64>,
}

impl RunStatistics {
    /// Steps made.
    pub fn steps(&self) -> usize {
        self.times.len()
    }

    /// A quantile of the step times, ms; `part` is from 0 to 1.
    pub fn step_ms(&self, part: f64) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        1e3 * sorted.get((sorted.len().saturating_sub(1) as f64 * part).round() as usize).copied().unwrap_or(0.0)
    }
}

/// Messages during a run, and its result at the end.
pub struct RunLog {
    /// The last messages.
    pub messages: Arc<[String]>,
    summarize: Option<Summarize>,
    statistics: RunStatistics,
}

impl RunLog {
    /// An empty log; without `summarize` the result card is a general one.
    pub fn new(summarize: Option<Summarize>) -> Self {
        Self { messages: Arc::default(), summarize, statistics: RunStatistics::default() }
    }

    /// Starts over with another session.
    pub fn begin(&mut self, session: &mut Session) {
        self.messages = Arc::default();
        let starts = session.scene().world.bodies.iter().map(|(id, body)| (id, body.centre())).collect();
        self.statistics = RunStatistics { starts, ..RunStatistics::default() };
        self.take_messages(session);
    }

    /// Takes the new messages of the script.
    pub fn take_messages(&mut self, session: &mut Session) {
        let new = session.take_messages();
        if !new.is_empty() {
            let all: Vec<String> = self.messages.iter().cloned().chain(new).collect();
            self.messages = all[all.len().saturating_sub(MAX_MESSAGES)..].into();
        }
    }

    /// Adds the last step.
    pub fn step(&mut self, world: &World) {
        self.statistics.times.push(world.times().total);
        self.statistics.deepest = self.statistics.deepest.max(world.statistics().penetration);
    }

    /// The result card, once the session is over.
    pub fn card(&self, session: &Session) -> Option<Card> {
        if !session.is_over() {
            return None;
        }
        if let Some(card) = task(session) {
            return Some(card);
        }
        let scene = session.scene();
        Some(match self.summarize {
            Some(summarize) => summarize(&scene, &self.statistics),
            None => general(&scene, &self.statistics),
        })
    }
}

/// The result card of a scene that has no task.
fn general(scene: &Scene, run: &RunStatistics) -> Card {
    Card {
        title: scene.name.clone(),
        success: None,
        reason: format!("{:.2} s in {} steps", scene.world.time(), run.steps()),
        lines: vec![
            ("step, median".into(), format!("{:.2} ms", run.step_ms(0.5))),
            ("step, 99th percentile".into(), format!("{:.2} ms", run.step_ms(0.99))),
            ("contacts at the end".into(), scene.world.statistics().contacts.to_string()),
            ("maximum penetration".into(), format!("{:.3} mm", 1e3 * run.deepest)),
        ],
    }
}

#[cfg(feature = "script")]
fn task(session: &Session) -> Option<Card> {
    let outcome = session.outcome()?;
    let score = outcome.score.map(|score| ("score".to_string(), format!("{score:.1}")));
    let metrics = outcome.metrics.iter().map(|(name, value)| (name.replace('_', " "), format!("{value:.2}")));
    Some(Card {
        title: outcome.name.clone(),
        success: Some(outcome.success),
        reason: outcome.reason.clone(),
        lines: score.into_iter().chain(metrics).collect(),
    })
}

#[cfg(not(feature = "script"))]
fn task(_session: &Session) -> Option<Card> {
    None
}

/// The current phase of a script.
#[cfg(feature = "script")]
pub fn phase(session: &Session) -> Option<String> {
    session.script()?.phase()
}

/// Without scripts there are none.
#[cfg(not(feature = "script"))]
pub fn phase(_session: &Session) -> Option<String> {
    None
}

/// Files that a script has read.
#[cfg(feature = "script")]
pub fn files(session: &Session) -> Vec<PathBuf> {
    session.script().map(|run| run.files()).unwrap_or_default()
}

/// Without scripts there are none.
#[cfg(not(feature = "script"))]
pub fn files(_session: &Session) -> Vec<PathBuf> {
    Vec::new()
}
