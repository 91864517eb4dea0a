use super::OBJECT;
use crate::assets::Scene;
use crate::math::Vec3;

/// Minimum lift height for success, mm.
const LIFTED: f64 = 50.0;

/// Result of the demo.
#[derive(Debug, Default)]
pub struct DemoEnding {
    /// Lift height of the ball, mm.
    lift: f64,
    /// Segments of the hand in contact with the ball.
    segments: usize,
    /// Sum of the normal forces, N.
    pressing: f64,
    /// Speed of the ball, mm/s.
    speed: f64,
    /// Deepest penetration over all steps, mm.
    deepest: f64,
    /// Median step time, ms.
    step: f64,
}

impl DemoEnding {
    /// Evaluates a scene; `start` is the initial position of the ball.
    pub fn of(scene: &Scene, start: &Vec3, deepest: f64, step: f64) -> Self {
        let Some(ball) = scene.rigid(OBJECT) else { return Self::default() };
        let body = &scene.world.bodies[ball];
        let held: Vec<_> = scene.world.touches().filter(|t| t.b.body == ball.id() && t.pressing > 0.01).collect();
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

    /// One-line result.
    pub fn reason(&self) -> String {
        let end = if self.success() { "and is held" } else { "and no farther" };
        format!("the ball was lifted by {:.1} mm {end}", self.lift)
    }

    /// All other values, with labels.
    pub fn lines(&self) -> [(&'static str, String); 5] {
        [
            ("segments in contact", self.segments.to_string()),
            ("normal force", format!("{:.1} N", self.pressing)),
            ("speed in the hand", format!("{:.4} mm/s", self.speed)),
            ("maximum penetration", format!("{:.2} mm", self.deepest)),
            ("step, median", format!("{:.2} ms", self.step)),
        ]
    }

    /// Prints the result as a small table.
    pub fn print(&self) {
        println!("{}: {}", if self.success() { "done" } else { "failed" }, self.reason());
        self.lines().iter().for_each(|(name, value)| println!("    {name:<22} {value:>12}"));
    }
}

/// The result card of the window.
#[cfg(feature = "viewer")]
pub fn summarize(scene: &Scene, run: &crate::runtime::live::RunStatistics) -> crate::viewer::window::Card {
    let start = scene.rigid(OBJECT).and_then(|ball| run.starts.get(&ball.id()).copied()).unwrap_or_default();
    let ending = DemoEnding::of(scene, &start, 1e3 * run.deepest, run.step_ms(0.5));
    crate::viewer::window::Card {
        title: "Ball grasp".into(),
        success: Some(ending.success()),
        reason: ending.reason(),
        lines: ending.lines().map(|(name, value)| (name.into(), value)).into(),
    }
}
