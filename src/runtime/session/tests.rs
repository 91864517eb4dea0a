use std::path::Path;

use super::*;
use crate::assets::Setting;
use crate::body::{RigidBody, RigidShape};
use crate::math::{Pose, Vec3};
use crate::tracking::ANGLES;

fn of(scene: Scene) -> Session {
    Session::of(Play::Scene(Box::new(scene)))
}

/// A file of this test's own.
fn file(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fingerpad-session-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

fn written(name: &str, text: &str) -> PathBuf {
    let file = file(name);
    std::fs::write(&file, text).expect("a file");
    file
}

fn play(session: &mut Session) -> Vec<u64> {
    let mut hashes = Vec::new();
    while !session.is_over() {
        session.step().expect("a step");
        hashes.push(session.state_hash());
    }
    hashes
}

/// What a person's hand might do: it moves, trembles, and is lost for a while.
fn sample(step: u64) -> Option<HandSample> {
    let time = 0.01 * step as f64 + 0.0013 * (step % 3) as f64;
    let palm = Pose::translation(0.01 * (9.0 * time).sin(), 0.1 - 0.1 * time, 0.0);
    let angles = std::array::from_fn(|i| 0.3 + 0.2 * (3.0 * time + i as f64).sin());
    match step % 7 {
        0 => None,
        1 => Some(HandSample { time, palm: Some(palm), angles: None }),
        2 => Some(HandSample { time, palm: None, angles: Some(angles) }),
        3 => Some(HandSample::full(f64::NAN, palm, angles)),
        _ => Some(HandSample::full(time, palm, angles)),
    }
}

#[test]
fn a_non_finite_state_ends_the_run() {
    let mut body = RigidBody::new(&RigidShape::Ball(0.1), 1000.0, Pose::identity()).expect("a body");
    body.set_velocity(Vec3::repeat(f64::INFINITY), Vec3::zeros());
    let mut scene = Scene { seconds: 1.0, ..Scene::default() };
    scene.world.add(body);
    let error = of(scene).step().expect_err("an end");
    assert_eq!(error.to_string(), "the state is not finite at 0.0100 s, in step 1");
}

#[test]
fn a_scene_ends_with_the_step_that_reaches_its_length() {
    for (seconds, steps) in [(0.03, 3), (0.031, 4), (0.3, 30), (0.0, 0)] {
        let mut session = of(Scene { seconds, ..Scene::default() });
        assert_eq!(session.length(), Some(steps), "{seconds} s");
        play(&mut session);
        assert_eq!(session.steps(), steps, "{seconds} s");
    }
}

const HAND: &str = "seconds = 0.4\n[body.box]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.04, 0.04, 0.04]\n[body.ground]\n\
                    kind = \"fixed\"\nshape = \"ground\"\n[hand.right]\nposition = [0, 0.1, 0]\n";

#[test]
fn samples_of_a_device_are_replayed_bit_for_bit() {
    let (scene, recording) = (written("device.toml", HAND), file("device.fpr"));
    let mut session = Session::load_with_devices(&scene, &[], Driven::ALL).expect("a scene");
    session.record(&recording).expect("a recording");
    let mut hashes = Vec::new();
    while !session.is_over() {
        let step = session.steps() + 1;
        if let Some(sample) = sample(step) {
            assert!(session.feed("right", sample).is_some());
        }
        // Two in one step are two.
        if step == 9 {
            assert!(
                session.feed("right", HandSample { time: 0.0999, palm: None, angles: Some([0.2; ANGLES]) }).is_some()
            );
        }
        session.step().expect("a step");
        hashes.push(session.state_hash());
    }
    assert_eq!(session.feed("left", sample(4).expect("a sample")), None);
    session.finish_recording().expect("a whole recording");
    let still = play(&mut Session::load_with_devices(&scene, &[], Driven::ALL).expect("a scene"));
    assert_ne!(hashes, still, "the samples moved the hand");
    std::fs::remove_file(&scene).expect("a file");

    let mut again = Session::load(&recording, &[]).expect("a recording");
    assert_eq!(again.length(), Some(40));
    assert_eq!(again.feed("right", sample(4).expect("a sample")), None, "the recording moves it");
    // What is played can be recorded again.
    let copy = file("copy.fpr");
    again.record(&copy).expect("a recording");
    assert_eq!(play(&mut again), hashes);
    assert_eq!(again.difference(), None);
    again.finish_recording().expect("a whole recording");
    let [original, copied] = [&recording, &copy].map(|file| std::fs::read(file).expect("a recording"));
    assert!(original == copied, "every byte");
    let first = Recording::read(&recording).expect("a recording");
    assert_eq!(first.ending, Ending::Over);
    assert!(first.steps[6].inputs.is_empty() && first.steps[8].inputs.len() == 2);

    let mut again = Session::load(&recording, &[]).expect("a recording");
    assert_eq!((again.steps(), again.is_over()), (0, false));
    assert_eq!(play(&mut again), hashes);
    let refused = Session::load(&recording, &[Setting::new("dt", 0.005)]).err().expect("an error");
    assert!(refused.to_string().contains("a recording is replayed without devices"), "{refused}");
}

/// A run with a device continues after the duration of the scene, and so does its recording, which also contains the eye poses.
#[test]
fn a_scene_that_went_on_is_replayed_to_its_last_step() {
    let recording = file("longer.fpr");
    let settings = [Setting::new("seconds", 0.1)];
    let mut session = Session::load(Path::new("rest"), &settings).expect("a scene");
    session.record(&recording).expect("a recording");
    let eye = |x| Eye { pose: Pose::translation(x, 0.4, 0.5), fov: [-0.8, 0.8, 0.7, -0.7] };
    let mut hashes = Vec::new();
    for step in 0..30 {
        if step == 12 {
            session.note_eyes([eye(-0.03), eye(0.03)]);
        }
        session.step().expect("a step");
        hashes.push(session.state_hash());
    }
    assert!(session.is_over());
    session.finish_recording().expect("a whole recording");
    let mut again = Session::load(&recording, &[]).expect("a recording");
    let mut seen = Vec::new();
    while !again.is_over() {
        again.step().expect("a step");
        seen.push((again.state_hash(), again.eyes().copied()));
    }
    assert_eq!(seen.iter().map(|(hash, _)| *hash).collect::<Vec<_>>(), hashes);
    assert_eq!(again.difference(), None);
    assert_eq!((seen[11].1, seen[29].1), (None, Some([eye(-0.03), eye(0.03)])));
}

#[test]
fn a_deadline_is_replayed() {
    let recording = file("deadline.fpr");
    // The least there may be: no ten boxes are solved in ten microseconds.
    let settings = [Setting::new("solver.deadline_ms", 0.01), Setting::new("seconds", 0.5)];
    let mut session = Session::load(Path::new("stack"), &settings).expect("a scene");
    session.record(&recording).expect("a recording");
    let hashes = play(&mut session);
    session.finish_recording().expect("a whole recording");
    let kept = Recording::read(&recording).expect("a recording");
    let cut = kept.steps.iter().filter(|step| matches!(step.inputs[..], [Input::CutShort { .. }])).count();
    assert!(cut > 0, "the clock decided nothing");
    let mut again = Session::load(&recording, &[]).expect("a recording");
    assert_eq!(play(&mut again), hashes);
}

#[test]
fn a_stopped_or_changed_run_is_reported() {
    let recording = file("stopped.fpr");
    let mut session = Session::load(Path::new("rest"), &[]).expect("a scene");
    session.record(&recording).expect("a recording");
    (0..5).for_each(|_| session.step().expect("a step"));
    assert!(session.record(&recording).is_err(), "too late");
    session.finish_recording().expect("a whole recording");
    let mut again = Session::load(&recording, &[]).expect("a recording");
    assert_eq!(again.recording().map(|r| r.ending.clone()), Some(Ending::Stopped));
    play(&mut again);
    assert_eq!((again.steps(), again.difference()), (5, None));
    let mut again = Session::load(&recording, &[]).expect("a recording");
    again.step().expect("a step");
    again.scene_mut().world.parameters.gravity.y = -9.0;
    play(&mut again);
    assert!(matches!(again.difference(), Some(Difference::Step { step: 2, .. })), "{:?}", again.difference());
}

#[cfg(feature = "script")]
#[test]
fn buttons_and_samples_of_a_script_are_replayed_through_its_trials() {
    let script = written(
        "device.rhai",
        "trials(2);\nscene(#{ hand: #{ right: #{} } });\nlet heard = random(0, 1);\n\
         on(\"button\", |e| if e.pressed { print(e.name); succeed(e.name) });\nwait(1);\nfail(\"nobody pressed\");",
    );
    let recording = file("script.fpr");
    let mut session = Session::load_with_devices(&script, &[], Driven::ALL).expect("a script");
    session.record(&recording).expect("a recording");
    let (mut hashes, mut said) = (Vec::new(), Vec::new());
    while !session.is_over() {
        let step = session.scene().world.steps() + 1;
        if let Some(sample) = sample(step) {
            assert!(session.feed("right", sample).is_some());
        }
        if session.steps() == 20 || session.steps() == 50 {
            session.press("trigger", true);
        }
        session.step().expect("a step");
        hashes.push(session.state_hash());
        said.extend(session.take_messages());
    }
    assert_eq!((session.steps(), said.len(), session.trial()), (51, 2, 2), "{said:?}");
    assert!(session.outcome().is_some_and(|outcome| outcome.success && outcome.trials.len() == 2));
    session.finish_recording().expect("a whole recording");
    std::fs::remove_file(&script).expect("a file");
    let mut again = Session::load(&recording, &[]).expect("a recording");
    assert_eq!(play(&mut again), hashes);
    assert_eq!((again.difference(), again.outcome()), (None, session.outcome()));
    assert_eq!(again.take_messages().len(), 1, "those of the last trial");
}

#[cfg(feature = "script")]
#[test]
fn trials_without_steps_are_replayed() {
    let script = written("short.rhai", "trials(3);\nif trial() == 1 { wait(0.05); }");
    let recording = file("short.fpr");
    let mut session = Session::load(&script, &[]).expect("a script");
    session.record(&recording).expect("a recording");
    while !session.is_over() {
        session.step().expect("a step");
    }
    session.finish_recording().expect("a whole recording");
    assert_eq!((session.steps(), session.outcome().map(|outcome| outcome.trials.len())), (5, Some(3)));
    let mut again = Session::load(&recording, &[]).expect("a recording");
    play(&mut again);
    assert_eq!((again.steps(), again.difference(), again.outcome()), (5, None, session.outcome()));
}
