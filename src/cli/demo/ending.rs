use super::OBJECT;
use crate::assets::Scene;
use crate::body::BodyKind;
use crate::math::Vec3;

/// The ball counts as lifted from here on, mm.
const LIFTED: f64 = 50.0;

/// How the demo ended.
#[derive(Debug, Default)]
pub struct Ending {
    /// How far the ball was lifted, mm.
    lift: f64,
    /// Segments of the hand that press on it.
    segments: usize,
    /// Sum of their normal forces, N.
    pressing: f64,
    /// How fast it moves, mm/s.
    speed: f64,
    /// Deepest penetration of all steps, mm.
    deepest: f64,
    /// Median time of a step, ms.
    step: f64,
}

impl Ending {
    /// The end of a scene whose ball was somewhere at its start.
    pub fn of(scene: &Scene, start: &Vec3, deepest: f64, step: f64) -> Self {
        let Some(ball) = scene.rigid(OBJECT) else { return Self::default() };
        let body = &scene.world.bodies.rigid[ball];
        let held: Vec<_> =
            scene.world.touches().filter(|t| t.b == BodyKind::Rigid(ball) && t.pressing > 0.01).collect();
        Self {
            lift: 1e3 * (body.centre().y - start.y),
            segments: held.iter().map(|touch| touch.a).collect::<std::collections::BTreeSet<_>>().len(),
            pressing: held.iter().map(|touch| touch.pressing).sum(),
            speed: 1e3 * body.linear_velocity().norm(),
            deepest,
            step,
        }
    }

    /// Whether the ball was lifted.
    pub fn success(&self) -> bool {
        self.lift > LIFTED
    }

    /// What became of the ball.
    pub fn reason(&self) -> String {
        let end = if self.success() { "and is held" } else { "and no farther" };
        format!("the ball was lifted by {:.1} mm {end}", self.lift)
    }

    /// Everything else, with names.
    pub fn lines(&self) -> [(&'static str, String); 5] {
        [
            ("segments that press", self.segments.to_string()),
            ("normal force", format!("{:.1} N", self.pressing)),
            ("speed in the hand", format!("{:.4} mm/s", self.speed)),
            ("deepest at any time", format!("{:.2} mm", self.deepest)),
            ("step, median", format!("{:.2} ms", self.step)),
        ]
    }

    /// Says it in a small table.
    pub fn print(&self) {
        println!("{}: {}", if self.success() { "done" } else { "failed" }, self.reason());
        self.lines().iter().for_each(|(name, value)| println!("    {name:<22} {value:>12}"));
    }
}

/// The same on a card.
#[cfg(feature = "viewer")]
pub fn tell(scene: &Scene, tale: &crate::cli::view::Tale) -> crate::viewer::window::Card {
    let start = scene.rigid(OBJECT).and_then(|ball| tale.starts.get(ball).copied()).unwrap_or_default();
    let ending = Ending::of(scene, &start, 1e3 * tale.deepest, tale.step_ms(0.5));
    crate::viewer::window::Card {
        title: "The ball grasp".into(),
        success: Some(ending.success()),
        reason: ending.reason(),
        lines: ending.lines().map(|(name, value)| (name.into(), value)).into(),
    }
}
