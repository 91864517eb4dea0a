use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::assets::{load_hand, load_hand_model, read_bounded};
use crate::cli::{Talk, outputs, write_file};
use crate::devices::joints::{JOINTS, WRIST, phalanx};
use crate::hand::{Measures, fit};
use crate::math::{OutOfRange, Range, Vec3};
use crate::tracking::Finger;

/// Arguments of `hand fit`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Length of the hand, wrist crease to the tip of the middle finger, m
    #[arg(long, value_name = "M", value_parser = length)]
    length: Option<f64>,
    /// Breadth across the knuckles of index and little finger, m
    #[arg(long, value_name = "M", value_parser = length)]
    breadth: Option<f64>,
    /// Thumb, from its base joint to the tip, m
    #[arg(long, value_name = "M", value_parser = length)]
    thumb: Option<f64>,
    /// Index finger, knuckle to tip, m
    #[arg(long, value_name = "M", value_parser = length)]
    index: Option<f64>,
    /// Middle finger, m
    #[arg(long, value_name = "M", value_parser = length)]
    middle: Option<f64>,
    /// Ring finger, m
    #[arg(long, value_name = "M", value_parser = length)]
    ring: Option<f64>,
    /// Little finger, m
    #[arg(long, value_name = "M", value_parser = length)]
    little: Option<f64>,
    /// Text file of tracked joints: x, y, z in metres of the 26 joints of OpenXR in their order, repeated for each measurement; the medians
    /// are used
    #[arg(long, value_name = "FILE")]
    joints: Option<PathBuf>,
    /// Side
    #[arg(long, default_value = "right", value_parser = ["right", "left"])]
    side: String,
    /// Name of the hand
    #[arg(long, default_value = "fitted")]
    name: String,
    /// The hand file to write
    #[arg(long)]
    out: PathBuf,
}

fn length(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.02, 0.35, "m").parse(text)
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    outputs::check_inputs("--out", &arguments.out, arguments.joints.as_slice())?;
    let mut measures = match &arguments.joints {
        Some(file) => of_joints(file)?,
        None => Measures::default(),
    };
    let Arguments { thumb, index, middle, ring, little, .. } = *arguments;
    measures.hand = arguments.length;
    measures.breadth = arguments.breadth;
    measures.fingers = [thumb, index, middle, ring, little];
    let base = format!("fingerpad:/hands/{}.toml", arguments.side);
    let own = load_hand(Path::new(&base))?;
    let hand = fit(&own, &measures)?;
    write_file(&arguments.out, hand.lengths_file(&base, &arguments.name).as_bytes())?;
    // What was written must be readable, and make a hand.
    load_hand_model(&arguments.out)?;
    let bones = |finger: &crate::hand::FingerDescription| 1e3 * (finger.lengths.iter().sum::<f64>() + finger.tip);
    let fingers: Vec<String> =
        hand.fingers.iter().zip(Finger::ALL).map(|(own, f)| format!("{} {:.0}", f.name(), bones(own))).collect();
    talk.say(format_args!("hand {:.0} mm long; knuckle to tip, mm: {}", 1e3 * hand.hand_length(), fingers.join(", ")));
    talk.say(format_args!("wrote {}; to use it, add to [hand.…] of a scene: file = \"{0}\"", arguments.out.display()));
    Ok(())
}

/// Lengths between the joints of a file: the medians of all its frames.
fn of_joints(file: &Path) -> anyhow::Result<Measures> {
    const MOST: u64 = 64 << 20;
    let bytes = read_bounded(file, MOST).with_context(|| file.display().to_string())?;
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not a text file", file.display()))?;
    let mut numbers = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split(|c: char| c == ',' || c == ';' || c.is_whitespace()).filter(|word| !word.is_empty()) {
            let x: f64 = word.parse().ok().filter(|x: &f64| x.abs() < 100.0).with_context(|| {
                format!(
                    "{}:{}: `{word}` is not a coordinate; expected numbers from -100 to 100 m",
                    file.display(),
                    i + 1
                )
            })?;
            numbers.push(x);
        }
    }
    let frame = 3 * JOINTS;
    if numbers.is_empty() || numbers.len() % frame != 0 {
        bail!(
            "{}: found {} numbers; expected a multiple of {frame}: x, y, z of {JOINTS} joints, as often as measured",
            file.display(),
            numbers.len()
        );
    }
    let between = |a: usize, b: usize| {
        let joint = |frame: &[f64], j: usize| Vec3::new(frame[3 * j], frame[3 * j + 1], frame[3 * j + 2]);
        let mut all: Vec<f64> = numbers.chunks_exact(frame).map(|f| (joint(f, a) - joint(f, b)).norm()).collect();
        all.sort_by(f64::total_cmp);
        Some(all[all.len() / 2])
    };
    let bones = Finger::ALL.map(|f| [0, 1, 2].map(|place| between(phalanx(f, place), phalanx(f, place + 1))));
    Ok(Measures {
        palm: between(WRIST, phalanx(Finger::Middle, 0)),
        knuckles: between(phalanx(Finger::Index, 0), phalanx(Finger::Little, 0)),
        bones,
        ..Measures::default()
    })
}
