use super::*;
use crate::tracking::Side;

const SETTINGS: HapticSettings =
    HapticSettings { source: HapticSource::Force, full: 4.0, slip: 0.1, maximum: 0.8, rate: 50.0, watchdog: 0.1 };

fn touch(fingers: [f64; 5], palm: f64) -> HandForces {
    HandForces { side: Side::Right, fingers, palm, pressure: [0.0; 6], slip: [0.0; 6] }
}

/// A touch of the index finger alone.
fn pressed(force: f64) -> HandForces {
    touch([0.0, force, 0.0, 0.0, 0.0], 0.0)
}

#[test]
fn levels_are_relative_to_the_full_force_and_clamped() {
    let levels = Levels::of(&touch([1.0, 2.0, 3.0, 400.0, 0.0], 0.4), &SETTINGS);
    assert_eq!(levels, Levels { fingers: [0.25, 0.5, 0.75, 0.8, 0.0], palm: 0.1 });
    let pressure = HapticSettings { source: HapticSource::Pressure, full: 2e4, ..SETTINGS };
    let felt = HandForces { pressure: [0.0, 1e4, 0.0, 0.0, 1e9, 5e3], ..pressed(4.0) };
    assert_eq!(Levels::of(&felt, &pressure).all(), [0.0, 0.5, 0.0, 0.0, 0.8, 0.25]);
}

#[test]
fn nan_levels_are_zero() {
    let wrong = touch([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 2.0], f64::NAN);
    assert_eq!(Levels::of(&wrong, &SETTINGS), Levels { fingers: [0.0, 0.0, 0.0, 0.0, 0.5], palm: 0.0 });
    let mut vibration = VibrationDriver::new(SETTINGS);
    vibration.feel(&touch([f64::NAN; 5], f64::INFINITY), 0.0);
    assert_eq!(vibration.due(0.0), None);
    vibration.feel(&pressed(2.0), 0.001);
    let tap = vibration.due(0.001).expect("it is not spoilt");
    assert!((tap.amplitude - 0.55).abs() < 1e-12, "{tap:?}");
}

#[test]
fn commands_are_limited_to_the_rate() {
    let mut driver = LevelDriver::new(SETTINGS);
    assert_eq!(driver.due(0.0), Some(Levels::ZERO), "whatever it was left at");
    let mut sent = Vec::new();
    for step in 1..=1000 {
        let now = f64::from(step) * 1e-3;
        driver.feel(&pressed(1.0 + now), now);
        sent.extend(driver.due(now).map(|levels| (now, levels.fingers[1])));
    }
    assert_eq!(sent.len(), 50, "50 Hz for a second");
    assert!(sent.windows(2).all(|pair| pair[1].0 - pair[0].0 > 0.0199));
    assert!(sent.iter().all(|(at, level)| (level - (1.0 + at) / 4.0).abs() < 1e-12), "the newest is sent");
}

#[test]
fn unchanged_commands_are_repeated() {
    let mut driver = LevelDriver::new(SETTINGS);
    driver.due(0.0);
    let mut sent = 0;
    for step in 1..=4000 {
        let now = f64::from(step) * 1e-3;
        driver.feel(&pressed(2.0), now);
        sent += usize::from(driver.due(now).is_some_and(|levels| levels.fingers[1] == 0.5));
    }
    assert_eq!(sent, 8, "at 0.02 s and then every half second");
}

#[test]
fn a_stalled_simulation_releases_at_once_and_repeatedly() {
    // Once per second at most, except for a release.
    let mut driver = LevelDriver::new(HapticSettings { rate: 1.0, ..SETTINGS });
    driver.due(-2.0);
    driver.feel(&pressed(4.0), 0.0);
    assert_eq!(driver.due(0.0).expect("a level").fingers[1], 0.8);
    assert_eq!(driver.due(0.1), None, "it may come yet");
    assert_eq!(driver.due(0.101), Some(Levels::ZERO));
    assert_eq!(driver.due(0.3), None);
    assert_eq!(driver.due(0.602), Some(Levels::ZERO), "should the first have been lost");
    assert_eq!(driver.due(1.103), Some(Levels::ZERO));
    driver.feel(&pressed(2.0), 2.2);
    assert_eq!(driver.due(2.2).expect("it goes on").fingers[1], 0.5);
    assert_eq!(driver.stop(), Levels::ZERO);
    assert_eq!(driver.due(2.3), Some(Levels::ZERO), "and a driver that goes on begins at nothing");
}

/// Keeps the same levels from a time on; returns the commanded amplitudes and their times.
fn sent(driver: &mut VibrationDriver, touch: &HandForces, from: f64, seconds: f64) -> Vec<(f64, f64)> {
    let mut sent = Vec::new();
    for step in 0..(seconds * 1e3) as u32 {
        let now = from + f64::from(step) * 1e-3;
        driver.feel(touch, now);
        sent.extend(driver.due(now).map(|pulse| (now, pulse.amplitude)));
    }
    sent
}

#[test]
fn a_vibration_pulses_fades_and_pulses_at_the_end() {
    let mut driver = VibrationDriver::new(SETTINGS);
    assert!(sent(&mut driver, &pressed(0.0), 0.0, 0.5).is_empty(), "nothing is felt");
    let begins = sent(&mut driver, &pressed(2.0), 0.5, 1.0);
    assert!((begins[0].1 - 0.55).abs() < 1e-12, "all of the change and a little of the level: {:?}", begins[0]);
    assert!(begins.windows(2).all(|pair| pair[1].1 <= pair[0].1), "it fades");
    let at = |time: f64| begins.iter().find(|(t, _)| *t >= 0.5 + time).expect("it was sent").1;
    let known = |time: f64| 0.05 + 0.5 * (-time / FADE).exp();
    // The largest since the last command, 20 ms before.
    assert!((at(0.1) - known(0.08)).abs() < 0.01, "{} {}", at(0.1), known(0.08));
    assert!((begins.last().expect("sent").1 - 0.05).abs() < 1e-3, "a tenth of the level goes on");
    assert_eq!(begins.len(), 50, "sent again before it ends, and no more often than the rate");
    // A second finger joins: rendered although the first presses harder.
    let joins = sent(&mut driver, &touch([1.0, 2.0, 0.0, 0.0, 0.0], 0.0), 1.5, 1.0);
    assert!((joins[0].1.max(joins[1].1) - 0.3).abs() < 0.01, "{:?}", &joins[..2]);
    let ends = sent(&mut driver, &pressed(0.0), 2.5, 1.0);
    assert!((ends[0].1.max(ends[1].1) - 0.5).abs() < 0.01, "{:?}", &ends[..2]);
    assert_eq!(ends.last().expect("sent").1, 0.0);
    assert!(ends.iter().filter(|(_, amplitude)| *amplitude == 0.0).count() == 1, "and then it is left alone");
}

/// Slip vibrates as long as it lasts; a held grasp that creeps does not.
#[test]
fn slip_vibrates_while_it_lasts() {
    let slips = |power: f64| HandForces { slip: [0.0, 0.0, power, 0.0, 0.0, f64::NAN], ..pressed(2.0) };
    let mut driver = VibrationDriver::new(SETTINGS);
    let held = sent(&mut driver, &slips(0.0), 0.0, 2.0);
    let creeps = sent(&mut driver, &slips(1e-6), 2.0, 0.5);
    let still = held.last().expect("sent").1;
    assert!(creeps.iter().all(|(_, amplitude)| (amplitude - still).abs() < 1e-4), "{still} {creeps:?}");
    let half = sent(&mut driver, &slips(0.05), 2.5, 2.0);
    assert!(half[1..].iter().all(|(_, amplitude)| (amplitude - 0.5).abs() < 1e-9), "{half:?}");
    let most = sent(&mut driver, &slips(5.0), 4.5, 0.5);
    assert!(most[1..].iter().all(|(_, amplitude)| *amplitude == 0.8), "{most:?}");
    let after = sent(&mut driver, &slips(0.0), 5.0, 0.5);
    assert!(after[1..].iter().all(|(_, amplitude)| (amplitude - still).abs() < 1e-4), "{after:?}");
}

#[test]
fn a_vibration_is_clamped_and_lasts_until_the_next() {
    let mut driver = VibrationDriver::new(SETTINGS);
    driver.feel(&pressed(1e9), 0.0);
    assert_eq!(driver.due(0.0), Some(Pulse { amplitude: 0.8, duration: 0.04 }));
}

#[test]
fn a_vibration_ends_when_the_simulation_stalls_or_stops() {
    let mut driver = VibrationDriver::new(SETTINGS);
    driver.feel(&pressed(2.0), 0.0);
    assert!(driver.due(0.0).is_some());
    assert!(driver.due(0.05).is_some(), "still alive");
    assert_eq!(driver.due(0.11).map(|pulse| pulse.amplitude), Some(0.0));
    assert_eq!(driver.due(0.2), None, "it ends by itself too; once is enough");
    assert_eq!(driver.stop(), None);
    driver.feel(&pressed(2.0), 1.0);
    assert!(driver.due(1.0).is_some());
    assert_eq!(driver.stop().map(|pulse| pulse.amplitude), Some(0.0));
    assert_eq!(driver.due(1.0), None);
}
