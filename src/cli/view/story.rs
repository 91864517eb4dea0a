use std::path::PathBuf;
use std::sync::Arc;

use crate::assets::Scene;
use crate::cli::player::Player;
use crate::math::Vec3;
use crate::sim::World;
use crate::viewer::window::Card;

/// What is told about a scene when it has come to its end.
pub type Teller = fn(&Scene, &Tale) -> Card;

/// Messages that are kept.
const MESSAGES: usize = 8;

/// What is remembered of a play.
#[derive(Default)]
pub struct Tale {
    /// Where the rigid bodies were at the start, m.
    pub starts: Vec<Vec3>,
    /// Deepest penetration of all steps, m.
    pub deepest: f64,
    times: Vec<f64>,
}

impl Tale {
    /// Steps made.
    pub fn steps(&self) -> usize {
        self.times.len()
    }

    /// The time that a part of the steps, from 0 to 1, stayed below, ms.
    pub fn step_ms(&self, part: f64) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        1e3 * sorted.get((sorted.len().saturating_sub(1) as f64 * part).round() as usize).copied().unwrap_or(0.0)
    }
}

/// What is said during a play, and at its end.
pub struct Story {
    /// The last messages.
    pub messages: Arc<[String]>,
    teller: Option<Teller>,
    tale: Tale,
}

impl Story {
    /// A story with an end of its own, if there is somebody who tells it.
    pub fn new(teller: Option<Teller>) -> Self {
        Self { messages: Arc::default(), teller, tale: Tale::default() }
    }

    /// From the start.
    pub fn begin(&mut self, player: &mut Player) {
        self.messages = Arc::default();
        let starts = player.scene().world.bodies.rigid.iter().map(|body| *body.centre()).collect();
        self.tale = Tale { starts, ..Tale::default() };
        self.listen(player);
    }

    /// Takes in what was said.
    pub fn listen(&mut self, player: &mut Player) {
        let new = player.take_messages();
        if !new.is_empty() {
            let all: Vec<String> = self.messages.iter().cloned().chain(new).collect();
            self.messages = all[all.len().saturating_sub(MESSAGES)..].into();
        }
    }

    /// Takes a step in.
    pub fn step(&mut self, world: &World) {
        self.tale.times.push(world.times().total);
        self.tale.deepest = self.tale.deepest.max(world.statistics().penetration);
    }

    /// How it ended.
    pub fn card(&self, player: &Player) -> Option<Card> {
        if !player.is_over() {
            return None;
        }
        if let Some(card) = task(player) {
            return Some(card);
        }
        let scene = player.scene();
        Some(match self.teller {
            Some(teller) => teller(&scene, &self.tale),
            None => plain(&scene, &self.tale),
        })
    }
}

/// The end of a scene that has no task.
fn plain(scene: &Scene, tale: &Tale) -> Card {
    Card {
        title: scene.name.clone(),
        success: None,
        reason: format!("{:.2} s in {} steps", scene.world.time(), tale.steps()),
        lines: vec![
            ("step, median".into(), format!("{:.2} ms", tale.step_ms(0.5))),
            ("step, 99 of 100 below".into(), format!("{:.2} ms", tale.step_ms(0.99))),
            ("contacts at the end".into(), scene.world.statistics().contacts.to_string()),
            ("deepest at any time".into(), format!("{:.3} mm", 1e3 * tale.deepest)),
        ],
    }
}

#[cfg(feature = "script")]
fn task(player: &Player) -> Option<Card> {
    let outcome = player.outcome()?;
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
fn task(_player: &Player) -> Option<Card> {
    None
}

/// The part of the story that a script is in.
#[cfg(feature = "script")]
pub fn phase(player: &Player) -> Option<String> {
    player.script()?.phase()
}

/// There are no scripts.
#[cfg(not(feature = "script"))]
pub fn phase(_player: &Player) -> Option<String> {
    None
}

/// Files that a script reads besides its own.
#[cfg(feature = "script")]
pub fn files(player: &Player) -> Vec<PathBuf> {
    player.script().map(|run| run.files()).unwrap_or_default()
}

/// There are no scripts.
#[cfg(not(feature = "script"))]
pub fn files(_player: &Player) -> Vec<PathBuf> {
    Vec::new()
}
