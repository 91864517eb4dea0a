use std::path::Path;

use proptest::prelude::*;

use super::frame::{after, put_frame, read_frame};
use super::recording::{FrameKind, RUN};
use super::*;
use crate::assets::Setting;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{ANGLES, Driven, HandSample};

fn inputs() -> Vec<Vec<Input>> {
    let palm = Pose::from_parts(Vec3::new(0.1, -0.0, 1e-300).into(), Quat::from_scaled_axis(Vec3::new(0.1, 0.2, 0.3)));
    let angles: [f64; ANGLES] = std::array::from_fn(|i| 0.1 * i as f64);
    let fov = [-0.9, 0.8, 0.7, -0.85];
    let sample = |sample| Input::Sample { hand: 1, sample: Box::new(sample) };
    vec![
        vec![],
        vec![sample(HandSample::full(0.01, palm, angles))],
        vec![
            sample(HandSample { time: 0.02, palm: None, angles: Some(angles) }),
            sample(HandSample { time: f64::INFINITY, palm: Some(palm), angles: None }),
            sample(HandSample { time: 0.03, palm: None, angles: None }),
        ],
        vec![
            Input::Button { name: "Auslöser".into(), pressed: true },
            Input::Eyes(Box::new([-0.03, 0.03].map(|x| Eye { pose: Pose::translation(x, 1.5, 0.2), fov }))),
            Input::CutShort { sweeps: 300 },
        ],
    ]
}

/// A glove on the right hand and a tracker on the left.
const DEVICE: Driven = Driven { palm: [true, false], fingers: [false, true] };

fn header() -> Header {
    Header::of(RunSource::Script, "scripts/x.rhai", &[Setting::new("dt", 0.005), Setting::new("seed", 3)], DEVICE)
}

fn files() -> Vec<(String, Vec<u8>)> {
    vec![("scripts/x.rhai".into(), "wait(1);\n".into()), ("hands/right.toml".into(), vec![0xff; 300])]
}

/// A small recording: its bytes, and where the start and each step end in them.
fn small(name: &str) -> (Vec<u8>, Vec<usize>) {
    let file = std::env::temp_dir().join(format!("fingerpad-{}-{name}.fpr", std::process::id()));
    let mut recorder = Recorder::create(&file, &header(), &files(), 77).expect("a recorder");
    assert_eq!(recorder.files(), 2);
    for (i, inputs) in inputs().iter().enumerate() {
        if i == 2 {
            recorder.add_files(&[("late.toml".into(), "later".into())]).expect("a file");
        }
        recorder.add_step(inputs, 1000 + i as u64).expect("a step");
    }
    recorder.finish(&Ending::Broken("it fell".into())).expect("an end");
    let bytes = std::fs::read(&file).expect("a recording");
    std::fs::remove_file(&file).expect("a file");
    let (mut ends, mut at) = (Vec::new(), 10);
    while let Some(frame) = read_frame(&bytes, at, 5).expect("sound frames") {
        at = after(&frame);
        if [FrameKind::Start as u8, FrameKind::Step as u8].contains(&frame.kind) {
            ends.push(at);
        }
    }
    (bytes, ends)
}

fn parse(bytes: &[u8]) -> Result<Recording, RecordError> {
    Recording::parse(Path::new("x.fpr"), bytes)
}

#[test]
fn written_records_round_trip() {
    let (bytes, _) = small("back");
    let recording = parse(&bytes).expect("a recording");
    assert_eq!(recording.header, header());
    assert_eq!(recording.files.len(), 3);
    assert_eq!(recording.files["late.toml"], b"later");
    assert_eq!(recording.files["hands/right.toml"], [0xff; 300], "contents need not be text");
    assert_eq!((recording.start, recording.steps.len()), (77, 4));
    let back: Vec<_> = recording.steps.iter().map(|step| step.inputs.clone()).collect();
    assert_eq!(back, inputs());
    assert_eq!(recording.steps.iter().map(|step| step.hash).collect::<Vec<_>>(), [1000, 1001, 1002, 1003]);
    assert_eq!(recording.ending, Ending::Broken("it fell".into()));
    let Input::Sample { sample, .. } = &back[1][0] else { panic!("a sample") };
    assert!(sample.palm.expect("a palm").translation.y.is_sign_negative(), "every bit comes back");
}

#[test]
fn a_step_takes_fifteen_bytes_and_228_more_with_a_full_sample() {
    let (_, ends) = small("size");
    assert_eq!((ends[1] - ends[0], ends[2] - ends[1]), (15, 243));
}

#[test]
fn the_bytes_of_a_step_match_the_documentation() {
    let mut frame = Vec::new();
    put_frame(&mut frame, FrameKind::Step as u8, &0x0123_4567_89ab_cdef_u64.to_le_bytes());
    // The checks were computed by other means.
    assert_eq!(frame, *b"\x04\x08\xc9\xef\xcd\xab\x89\x67\x45\x23\x01\xa7\x0a\xf4\xfd");
    let (bytes, _) = small("bytes");
    assert!(bytes.starts_with(b"\x89FPR\r\n\x1a\n\x02\x00\x01"));
}

#[test]
fn a_truncated_recording_has_all_complete_steps() {
    let (bytes, ends) = small("cut");
    for length in 0..bytes.len() {
        let steps = ends.iter().filter(|end| **end <= length).count();
        match parse(&bytes[..length]) {
            Ok(recording) => {
                assert_eq!(recording.steps.len() + 1, steps, "cut at {length}");
                let Ending::CutOff { offset } = recording.ending else { panic!("cut at {length}") };
                assert!(offset <= length && ends[steps - 1] <= offset);
            }
            Err(RecordError::TooShort { offset, .. }) => assert!(steps == 0 && offset == length, "cut at {length}"),
            Err(RecordError::NoRecording { .. }) => assert_eq!(length, 0),
            Err(error) => panic!("cut at {length}: {error}"),
        }
        // A file system may preallocate unwritten space.
        let mut padded = bytes[..length].to_vec();
        padded.resize(length + 4096, 0);
        if steps > 0 && ends.contains(&length) {
            assert_eq!(parse(&padded).expect("what is there").steps.len() + 1, steps);
        }
    }
}

/// A killed program loses buffered data.
#[test]
fn a_step_is_written_at_once() {
    let file = std::env::temp_dir().join(format!("fingerpad-{}-at-once.fpr", std::process::id()));
    let mut recorder = Recorder::create(&file, &header(), &files(), 77).expect("a recorder");
    for (i, inputs) in inputs().iter().enumerate() {
        recorder.add_step(inputs, i as u64).expect("a step");
        let so_far = Recording::read(&file).expect("what is there");
        assert_eq!((so_far.steps.len(), &so_far.steps[i].inputs), (i + 1, inputs));
    }
    drop(recorder);
    std::fs::remove_file(&file).expect("a file");
}

#[test]
fn every_flipped_bit_is_detected_with_its_offset() {
    let (bytes, _) = small("flip");
    for bit in 0..8 * bytes.len() {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        match parse(&bad).expect_err("an error") {
            RecordError::NoRecording { .. } => assert!(bit / 8 < 8),
            RecordError::OtherFormat { .. } => assert!(bit / 8 == 8 || bit / 8 == 9),
            RecordError::Damaged { offset, .. } => assert!((10..=bit / 8).contains(&offset), "bit {bit} at {offset}"),
            other => panic!("bit {bit}: {other}"),
        }
    }
}

#[test]
fn other_files_are_rejected_with_a_reason() {
    let (mut bytes, _) = small("format");
    let message = |bytes: &[u8]| parse(bytes).expect_err("an error").to_string();
    assert_eq!(message(b"seconds = 2"), "x.fpr: this is no recording; expected a file written by `run --record`");
    assert_eq!(message(b""), "x.fpr: this is no recording; expected a file written by `run --record`");
    bytes[8] = 1;
    assert_eq!(
        message(&bytes),
        "x.fpr: this recording has format 1, this program reads format 2; replay it with the version that wrote it"
    );
    bytes[8] = 2;
    assert!(
        message(&bytes[..40]).ends_with("ends at byte 40, before its first step could begin; nothing can be played")
    );
    let more = [&bytes[..], b"!"].concat();
    let end = bytes.len();
    assert!(
        message(&more).starts_with(&format!("x.fpr: the recording is damaged at byte {end}: ")),
        "{}",
        message(&more)
    );
    let twice = [&bytes[..], &bytes[10..]].concat();
    assert!(message(&twice).contains("a frame of kind 1 has no place here"), "{}", message(&twice));
    let missing = Recording::read(Path::new("nowhere.fpr")).expect_err("an error").to_string();
    assert!(missing.starts_with("nowhere.fpr: cannot be read: "), "{missing}");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let nowhere = Path::new("/nowhere/at/all/x.fpr");
    let error = Recorder::create(nowhere, &header(), &[], 0).expect_err("an error").to_string();
    assert!(error.starts_with("cannot write /nowhere/at/all/x.fpr: "), "{error}");
    // Every write to it fails with a full disk.
    if cfg!(target_os = "linux") {
        let error = Recorder::create(Path::new("/dev/full"), &header(), &[], 0).expect_err("an error").to_string();
        assert!(error.starts_with("cannot write /dev/full: "), "{error}");
    }
}

/// Valid frames with arbitrary content.
fn framed(frames: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = [&RUN.magic[..], &FORMAT.to_le_bytes()].concat();
    for (kind, payload) in frames {
        let kinds = [FrameKind::Header, FrameKind::File, FrameKind::Start, FrameKind::Step, FrameKind::End];
        put_frame(&mut bytes, kinds[*kind as usize % 5] as u8, payload);
    }
    bytes
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(tail in proptest::collection::vec(any::<u8>(), 0..400), cut in 0usize..900) {
        let _ = parse(&tail);
        let (mut bytes, _) = small(&format!("tail{cut}"));
        bytes.truncate(cut.max(10));
        bytes.extend(&tail);
        let _ = parse(&bytes);
    }

    #[test]
    fn no_payload_makes_it_panic(
        frames in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..6)
    ) {
        let _ = parse(&framed(&frames));
    }

    #[test]
    fn any_header_is_handled(settings in proptest::collection::vec((".{0,20}", ".{0,20}"), 0..5), file in ".{0,40}") {
        let settings: Vec<Setting> = settings.into_iter().map(|(key, value)| Setting { key, value }).collect();
        let header = Header::of(RunSource::Scene, &file, &settings, Driven::default());
        let mut payload = Vec::new();
        header.put(&mut payload);
        let recording = parse(&framed(&[(0, payload), (2, vec![0; 8])])).expect("a recording");
        prop_assert_eq!(recording.header, header);
    }
}
