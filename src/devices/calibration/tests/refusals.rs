//! What is refused, and in which words.

use super::*;

/// A calibration that has taken the flat hand and the fist.
fn after_fist(user: &mut User) -> Calibration {
    let mut calibration = Calibration::new(user.sensors.clone(), PoseStep::full(&user.sensors.clone()));
    for step in [PoseStep::Flat, PoseStep::Fist] {
        assert_eq!(calibration.current(), Some(step));
        let readings = user.readings(&calibration, step);
        calibration.take(&readings).expect("a good hand");
    }
    calibration
}

#[test]
fn a_rejected_step_is_repeated_and_others_are_kept() {
    let mut user = User::new(curls(), 0.002, 3);
    let mut calibration = after_fist(&mut user);
    // The index finger stays bent.
    let mut bends = user.bends(PoseStep::ThumbIn);
    bends[1] = 0.9;
    let wrong: Vec<_> = (0..200).map(|_| user.reading(&bends)).collect();
    let refusals = calibration.take(&wrong).expect_err("not the pose");
    assert_eq!((calibration.current(), calibration.progress().done), (Some(PoseStep::ThumbIn), 2));
    let text = refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(text.starts_with("index finger: bent to ") && text.contains("where it should be straight"), "{text}");
    let right = user.readings(&calibration, PoseStep::ThumbIn);
    assert_eq!(calibration.take(&right).map(|p| p.done), Ok(3));
    calibration.back();
    assert_eq!(calibration.current(), Some(PoseStep::ThumbIn));
}

#[test]
fn a_straight_thumb_is_reported() {
    let mut user = User::new(curls(), 0.002, 4);
    let mut calibration = after_fist(&mut user);
    let flat = user.readings(&calibration, PoseStep::Flat);
    let refusals = calibration.take(&flat).expect_err("the flat hand again");
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].sensor, Some(Sensor::Curl(Finger::Thumb)));
    assert!(refusals[0].to_string().starts_with("thumb: bent only to "), "{}", refusals[0]);
}

#[test]
fn a_missing_fist_is_one_rejection() {
    let mut user = User::new(curls(), 0.002, 5);
    let mut calibration = Calibration::new(curls(), PoseStep::full(&curls()));
    let flat = user.readings(&calibration, PoseStep::Flat);
    calibration.take(&flat).expect("a flat hand");
    let refusals = calibration.take(&flat).expect_err("no fist");
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(refusals[0].to_string().starts_with("the fist looks like the flat hand"), "{}", refusals[0]);
}

#[test]
fn noise_drift_and_silence_are_distinguished() {
    let mut user = User::new(curls(), 0.002, 6);
    let calibration = Calibration::new(curls(), PoseStep::full(&curls()));
    let flat = user.readings(&calibration, PoseStep::Flat);
    let ring = Sensor::Curl(Finger::Ring);
    let refused = |change: &dyn Fn(usize, f64) -> Option<f64>| {
        let spoil = |(i, reading): (usize, &FlexReading)| {
            let others = reading.iter().filter(|(sensor, _)| *sensor != ring);
            let changed = reading.get(ring).and_then(|value| change(i, value));
            FlexReading::of(others.chain(changed.map(|value| (ring, value))))
        };
        let spoiled: Vec<_> = flat.iter().enumerate().map(spoil).collect();
        let refusals = calibration.clone().take(&spoiled).expect_err("a step to refuse");
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        let text = refusals[0].to_string();
        assert!(text.starts_with("ring finger: "), "{text}");
        (refusals[0].reason, text)
    };
    let count = flat.len();
    assert!(matches!(refused(&|i, _| Some(if i % 2 == 0 { 0.3 } else { 0.5 })).0, Reason::Noisy { .. }));
    assert!(matches!(refused(&|i, v| Some(v + 0.1 * i as f64 / count as f64)).0, Reason::Moved { .. }));
    let (jumped, text) = refused(&|i, _| Some(if 3 * i < count { 0.2 } else { 0.6 }));
    assert!(matches!(jumped, Reason::Moved { .. }) && text.contains("by 40 %"), "{text}");
    assert_eq!(refused(&|_, _| None).0, Reason::Silent { readings: 0, least: 30 });
    assert_eq!(refused(&|i, v| (i < 10).then_some(v)).0, Reason::Silent { readings: 10, least: 30 });
    // A few readings far off are no reason.
    assert!(
        !calibration.is_still(
            &flat
                .iter()
                .enumerate()
                .map(|(i, r)| { FlexReading::of(r.iter().map(|(s, v)| (s, v + 0.2 * i as f64 / count as f64))) })
                .collect::<Vec<_>>()
        )
    );
    assert!(calibration.is_still(&flat));
}

#[test]
fn a_span_within_the_noise_is_refused() {
    let mut user = User::new(curls(), 0.012, 8);
    user.span[2] = 0.08;
    user.crosstalk[2] = vec![0.0; 5];
    let refusals = user.calibrate(PoseStep::full(&curls())).expect_err("noise");
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(matches!(refusals[0].reason, Reason::Buried { .. }), "{refusals:?}");
    assert!(refusals[0].to_string().starts_with("middle finger: "), "{}", refusals[0]);
}
