#[cfg(feature = "viewer")]
mod drawing;

use crate::math::{OutOfRange, Range};
use std::path::PathBuf;

#[cfg(feature = "viewer")]
pub use drawing::{run, scene_figure};

/// Arguments of `render`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Scene (.toml), script (.rhai), recording (.fpr), hand file, or the name of a shipped scene, script or hand
    /// [default: the right hand]
    file: Option<PathBuf>,
    /// Simulated time to render, s
    #[arg(long, default_value_t = 0.0, value_parser = seconds, conflicts_with_all = ["from_time", "to"])]
    at: f64,
    /// Start of a range of times to render, s
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = seconds, requires = "to")]
    from_time: f64,
    /// End of a range of times to render, s; writes numbered pictures or an animation
    #[arg(long, value_name = "S", value_parser = seconds)]
    to: Option<f64>,
    /// Time between the pictures of a range, s
    #[arg(long, value_name = "S", default_value_t = 1.0 / 15.0, value_parser = seconds)]
    every: f64,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    /// Output file: PNG; for a range numbered PNG files, or one animated PNG if the name ends in .apng
    #[arg(long)]
    out: PathBuf,
    /// Write a range as one animated PNG, regardless of the file name
    #[arg(long, requires = "to")]
    animate: bool,
    /// Label the picture with its source, trial, time and task result
    #[arg(long)]
    caption: bool,
    /// Pose of a hand, by name
    #[arg(long, default_value = "rest")]
    pose: String,
    /// Camera position
    #[arg(long, value_enum, conflicts_with = "look")]
    from: Option<From>,
    /// Camera direction in degrees: azimuth (0 from +Z, 90 from +X) and elevation above the horizon
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = angles, allow_hyphen_values = true)]
    look: Option<[f64; 2]>,
    /// Draw what the user of a headset saw in a recording; the width of the picture follows from the field of view
    #[arg(long, value_enum, conflicts_with_all = ["from", "look"])]
    eye: Option<RenderEye>,
    /// Zoom factor relative to a view of everything, towards the contacts of the hands
    #[arg(long, default_value_t = 1.0, value_parser = zoom)]
    zoom: f64,
    /// Layers to show
    #[arg(long, value_enum, value_delimiter = ',', default_value = "skin")]
    show: Vec<PictureLayer>,
    /// Size in pixels
    #[arg(long, default_value = "1280x960", value_parser = |text: &str| super::picture_size(text, (16, 16)))]
    size: (u32, u32),
}

/// Camera position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum From {
    /// Above the back of the hand
    Back,
    /// Below the palm
    Palm,
    /// On the thumb's side
    Side,
    /// Oblique, from the thumb's side and the front
    Oblique,
}

/// Eye of the user of a headset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RenderEye {
    /// The left eye
    Left,
    /// The right eye
    Right,
    /// Both eyes, side by side
    Both,
}

/// Layer of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PictureLayer {
    /// Visual skin
    Skin,
    /// Pressure as a colour on the skin
    Pressure,
    /// Contact points
    Contacts,
    /// Centre and normal of aggregates
    Aggregates,
    /// Contact forces on the hands: normal and friction
    Forces,
    /// Normal forces only
    NormalForces,
    /// Friction forces only
    FrictionForces,
    /// Friction utilisation of each phalanx
    Slip,
    /// Tracked hand, transparent
    Tracked,
    /// Joints and their axes
    Joints,
    /// Bones
    Skeleton,
    /// Tetrahedra
    #[value(alias = "tets")]
    Tetrahedra,
    /// Collision skin
    Collision,
    /// Anchor points and beams of elastic objects
    Anchors,
}

fn seconds(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.0, 3600.0, "s").parse(text)
}

fn zoom(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.1, 50.0, "").parse(text)
}

fn angles(text: &str) -> Result<[f64; 2], String> {
    let (azimuth, elevation) = (Range::new(-360.0, 360.0, "°"), Range::new(-89.0, 89.0, "°"));
    let parsed = text.split_once(',').and_then(|(a, e)| Some([azimuth.parse(a).ok()?, elevation.parse(e).ok()?]));
    parsed.ok_or_else(|| "expected AZIMUTH,ELEVATION in degrees, the elevation from -89 to 89, as in -125,22".into())
}

#[cfg(not(feature = "viewer"))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<()> {
    anyhow::bail!("pictures need the Cargo feature `viewer`, which this build does not have")
}
