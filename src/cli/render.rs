#[cfg(feature = "viewer")]
mod drawing;

use std::path::PathBuf;

#[cfg(feature = "viewer")]
pub use drawing::{run, scene_figure};

/// A picture to draw.
#[derive(clap::Args)]
pub struct Arguments {
    /// A scene (.toml), a script (.rhai), a recording (.fpr), the name of a shipped scene, script or hand, or a hand file; the average
    /// right hand if left out.
    file: Option<PathBuf>,
    /// Time to draw, s.
    #[arg(long, default_value_t = 0.0, value_parser = seconds, conflicts_with_all = ["from_time", "to"])]
    at: f64,
    /// Begin of a range of times to draw, s.
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = seconds, requires = "to")]
    from_time: f64,
    /// End of a range of times to draw, s: numbered pictures, or an animation.
    #[arg(long, value_name = "S", value_parser = seconds)]
    to: Option<f64>,
    /// Time between the pictures of a range, s.
    #[arg(long, value_name = "S", default_value_t = 1.0 / 15.0, value_parser = seconds)]
    every: f64,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    /// Where to write: a PNG; of a range numbered ones, or one animated PNG if it ends in .apng.
    #[arg(long)]
    out: PathBuf,
    /// Write a range into one animated PNG, whatever its name ends in.
    #[arg(long, requires = "to")]
    animate: bool,
    /// Write what is played, the trial, the time, and how a task ended into the picture.
    #[arg(long)]
    caption: bool,
    /// Pose of a hand from a hand file, by name.
    #[arg(long, default_value = "rest")]
    pose: String,
    /// Where to look from.
    #[arg(long, value_enum, conflicts_with = "look")]
    from: Option<From>,
    /// Where to look from, in degrees: turn about the vertical, 0 from +Z and 90 from +X, and height over the horizon.
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = angles, allow_hyphen_values = true)]
    look: Option<[f64; 2]>,
    /// How many times nearer to go than to see everything; towards where hands touch things.
    #[arg(long, default_value_t = 1.0, value_parser = zoom)]
    zoom: f64,
    /// Layers to show.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "skin")]
    show: Vec<Layer>,
    /// Size in pixels.
    #[arg(long, default_value = "1280x960", value_parser = |text: &str| super::picture_size(text, (16, 16)))]
    size: (u32, u32),
}

/// Where the camera stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum From {
    /// Above the back of the hand.
    Back,
    /// Below the palm.
    Palm,
    /// On the thumb's side.
    Side,
    /// Obliquely, from the thumb's side and the front.
    Oblique,
}

/// A layer of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Layer {
    /// The visual skin.
    Skin,
    /// Pressure, as a colour on the skin.
    Pressure,
    /// Points that touch.
    Contacts,
    /// Centre and normal of what stands for many contacts.
    Aggregates,
    /// Forces of contact on the hands: normal and friction forces.
    Forces,
    /// Normal forces alone.
    NormalForces,
    /// Friction forces alone.
    FrictionForces,
    /// How much of its friction each phalanx uses.
    Slip,
    /// The tracked hand, as a ghost.
    Tracked,
    /// Joints and their axes.
    Joints,
    /// Bones.
    Skeleton,
    /// The tetrahedra.
    #[value(alias = "tets")]
    Tetrahedra,
    /// The collision skin.
    Collision,
}

fn seconds(text: &str) -> Result<f64, String> {
    number(text, 0.0..=3600.0).ok_or_else(|| "expected a time in seconds, 0 to 3600".into())
}

fn zoom(text: &str) -> Result<f64, String> {
    number(text, 0.1..=50.0).ok_or_else(|| "expected a factor, 0.1 to 50".into())
}

fn angles(text: &str) -> Result<[f64; 2], String> {
    let parsed = text.split_once(',').and_then(|(a, e)| Some([number(a, -360.0..=360.0)?, number(e, -89.0..=89.0)?]));
    parsed.ok_or_else(|| "expected AZIMUTH,ELEVATION in degrees, the elevation from -89 to 89, as in -125,22".into())
}

fn number(text: &str, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
    text.trim().parse().ok().filter(|x| range.contains(x))
}

#[cfg(not(feature = "viewer"))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<()> {
    anyhow::bail!("pictures need the feature `viewer`, and this program was built without it")
}
