use std::time::{Duration, Instant};

use anyhow::bail;

use super::listen::{Ear, Silence};
use super::people::{Answer, People};
use super::{Arguments, OutputFile, Talk};
use crate::assets::{DeviceProfile, Port, load_device};
use crate::devices::calibration::{Calibration, PoseStep, Reason, Refusal, SensorCalibration, SensorPart, UserProfile};
use crate::protocol::{FlexReading, Sensor};

/// Time to detect which sensors send values, s.
const DETECTION_TIME: f64 = 0.5;
/// Time without motion after which the hand counts as still, s.
const STILL_TIME: f64 = 0.3;
/// Time limit for the hand to be still.
const FIDGETING: Duration = Duration::from_secs(5);
/// Minimum and maximum measuring time of a pose.
const MIN_POSE_TIME: Duration = Duration::from_secs(1);
const MAX_POSE_TIME: Duration = Duration::from_secs(8);
/// Attempts per pose without keyboard input.
const TRIES: usize = 6;
/// Poses that should agree are reported if they differ by more than this fraction of the span.
const UNLIKE: f64 = 0.1;

/// Runs the calibration and writes the profile.
pub fn run(
    arguments: &Arguments,
    profile: &DeviceProfile,
    target: &OutputFile,
    ear: &mut Ear,
    mut people: People,
    talk: Talk,
) -> anyhow::Result<()> {
    people.say(format_args!("Waiting for {} …", profile.name));
    ear.wait()?;
    let sensors = sensors(profile, ear)?;
    let steps = match (arguments.full, arguments.quick) {
        (true, _) => PoseStep::full(&sensors),
        (_, true) => PoseStep::basic(&sensors),
        _ => PoseStep::fitting(&sensors),
    };
    let mut calibration = Calibration::new(sensors, steps);
    people.say(format_args!("{} poses. Hold each until its bar is full.", calibration.steps().len()));
    guide(&mut calibration, ear, &mut people)?;
    let mut found = calibration.finish();
    tell(&found, talk);
    forget_old_crosstalk(profile, &mut found);
    let base = target.naming(&profile.file);
    let port = match (&profile.port, arguments.profile.contains('@')) {
        (Port::Named(port), true) => Some(port.as_str()),
        _ => None,
    };
    let text = UserProfile { base: &base, device: &profile.name, user: &arguments.user, port, sensors: &found }.text();
    target.write(&text, |file| load_device(file).map(drop))?;
    talk.say("Saved. To use it:");
    talk.say(format_args!("  fingerpad run SCENE --device {}", target.file.display()));
    println!("{}", target.file.display());
    Ok(())
}

/// The sensors of the profile that send values. Reports fingers without any.
fn sensors(profile: &DeviceProfile, ear: &Ear) -> anyhow::Result<Vec<Sensor>> {
    ear.forget();
    let samples = ear.for_seconds(DETECTION_TIME).map_err(|Silence(why)| anyhow::anyhow!("{why}"))?;
    let mut received = FlexReading::default();
    samples.iter().for_each(|sample| received.update(&sample.flex));
    let all: Vec<Sensor> = profile.sensors.iter().map(|map| map.sensor).collect();
    let speaks = |sensor: &Sensor| received.get(*sensor).is_some();
    let is_dumb = |sensor: &Sensor| {
        let part = SensorPart::of(*sensor);
        matches!(part, Some(SensorPart::Finger(_)))
            && !all.iter().any(|other| SensorPart::of(*other) == part && speaks(other))
    };
    let dumb: Vec<Refusal> = all
        .iter()
        .filter(|sensor| is_dumb(sensor))
        .map(|sensor| Refusal {
            step: PoseStep::Flat,
            sensor: Some(*sensor),
            reason: Reason::Silent { readings: 0, least: 1 },
        })
        .collect();
    if !dumb.is_empty() {
        bail!("{}", dumb.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    Ok(all.into_iter().filter(speaks).collect())
}

/// Measures all poses in order, repeating each until it is accepted.
fn guide(calibration: &mut Calibration, ear: &Ear, people: &mut People) -> anyhow::Result<()> {
    let mut tries = 0;
    while let Some(step) = calibration.current() {
        let progress = calibration.progress();
        people.say(format_args!("\n{} of {}: {step}\n  {}", progress.done + 1, progress.of, step.instruction()));
        match people.wait() {
            Answer::Ready => {}
            Answer::Back => {
                calibration.back();
                continue;
            }
            Answer::Quit => bail!("quit before the last pose; nothing was saved"),
        }
        let refused = match measure(calibration, ear, people) {
            Ok(readings) => {
                calibration.take(&readings).err().unwrap_or_default().iter().map(ToString::to_string).collect()
            }
            Err(Silence(why)) => {
                vec![format!("{why}; switch the device on or connect it, and try again")]
            }
        };
        if refused.is_empty() {
            tries = 0;
            people.say(format_args!("  {step}: taken"));
            continue;
        }
        tries += 1;
        if people.are_counted_down() && tries == TRIES {
            bail!("{step}: rejected {TRIES} times, the last time because of: {}", refused.join("; "));
        }
        people.say(format_args!("  {step}: rejected, try again"));
        refused.iter().for_each(|why| people.say(format_args!("  - {why}")));
    }
    Ok(())
}

/// Readings of a held pose: once the hand is still, for one second, or longer if they are noisy.
fn measure(calibration: &Calibration, ear: &Ear, people: &mut People) -> Result<Vec<FlexReading>, Silence> {
    ear.forget();
    let begin = Instant::now();
    loop {
        let window: Vec<FlexReading> = ear.for_seconds(STILL_TIME)?.iter().map(|sample| sample.flex).collect();
        if calibration.is_still(&window) || begin.elapsed() > FIDGETING {
            break;
        }
        people.show("  hold still …");
    }
    let (mut readings, begin) = (Vec::new(), Instant::now());
    let (mut wanted, mut judged) = (usize::MAX, 0);
    loop {
        let elapsed = begin.elapsed();
        // Checking all readings takes longer than reading one.
        if readings.len() >= judged + 25 || wanted == usize::MAX {
            (wanted, judged) = (calibration.wanted(&readings), readings.len());
        }
        if elapsed >= MAX_POSE_TIME || (elapsed >= MIN_POSE_TIME && readings.len() >= wanted) {
            return Ok(readings);
        }
        let by_count = readings.len() as f64 / wanted as f64;
        let by_time = elapsed.as_secs_f64() / MIN_POSE_TIME.as_secs_f64();
        people.show_bar(by_time.min(by_count), &format!("{} readings", readings.len()));
        readings.push(ear.next()?.flex);
    }
}

/// Prints the results as a table.
fn tell(found: &[SensorCalibration], talk: Talk) {
    talk.say(format_args!(
        "\n{:<18} {:>7} {:>7} {:>8} {:>8}   crosstalk",
        "sensor", "flat", "fist", "noise", "accuracy"
    ));
    for one in found {
        let most = one.crosstalk.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let most =
            most.map_or("none".into(), |(other, part)| format!("{:+.1} % of {} or less", 100.0 * part, other.name()));
        talk.say(format_args!(
            "{:<18} {:>7.4} {:>7.4} {:>6.2} % {:>6.1} %   {most}",
            one.sensor.name(),
            one.flat,
            one.fist,
            100.0 * one.noise,
            200.0 * one.error
        ));
    }
    for one in found.iter().filter(|one| one.misfit > UNLIKE) {
        let (name, misfit) = (one.sensor.name(), 100.0 * one.misfit);
        talk.say(format_args!(
            "{name}: bends differ by {misfit:.0} % between poses that should agree; calibrate again"
        ));
    }
}

/// The base profile may contain the crosstalk of an older calibration; entries that no longer apply are set to zero.
fn forget_old_crosstalk(profile: &DeviceProfile, found: &mut [SensorCalibration]) {
    for one in found {
        let old = profile.sensors.iter().find(|map| map.sensor == one.sensor);
        for (other, _) in old.iter().flat_map(|map| &map.crosstalk) {
            if !one.crosstalk.iter().any(|(own, _)| own == other) {
                one.crosstalk.push((*other, 0.0));
            }
        }
    }
}
